"""Stores: graphs on disk that transactions change while algorithms run on snapshots."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import _inputs, _native, _transactions
from ._transactions import TransactionFuture
from .errors import UsageError
from .graph import Graph
from .session import Session, _open_stores, default_session

T = TypeVar("T")
_LAST = 2**64 - 1


class EdgeData(NamedTuple):
    """What a store has about an edge. The weight is 1 in stores without weights."""

    weight: float
    properties: bytes


class Neighbours(NamedTuple):
    """Neighbours of a vertex and their edges, in ascending order of ids unless asked otherwise."""

    ids: np.ndarray
    weights: np.ndarray
    properties: np.ndarray
    """A row of bytes for each neighbour."""
    times: np.ndarray
    """When the edge was written: Outcome.time of that transaction, until it becomes part of the
    store. 0: with the store. 2^64-1: by this transaction."""


class ReadTransaction:
    """What the function of a read-only transaction gets.

    It can be used only in the thread that calls the function, and only until the function returns.
    `side` is "outgoing" or "incoming"; in an undirected graph both mean all edges.
    """

    def __init__(self, native: _native.Transaction) -> None:
        self._native = native

    def has_vertex(self, vertex: int) -> bool:
        return self._native.has_vertex(_inputs.as_vertex(vertex))

    def has_edge(self, u: int, v: int) -> bool:
        return self._native.has_edge(_inputs.as_vertex(u), _inputs.as_vertex(v))

    def vertex_properties(self, vertex: int) -> bytes:
        """An InputError if the vertex does not exist."""
        return self._native.vertex_properties(_inputs.as_vertex(vertex))

    def edge(self, u: int, v: int) -> EdgeData:
        """An InputError if the edge does not exist."""
        return EdgeData(*self._native.edge(_inputs.as_vertex(u), _inputs.as_vertex(v)))

    def degree(self, vertex: int, side: str = "outgoing") -> int:
        return self._native.degree(_inputs.as_vertex(vertex), _incoming(side))

    def neighbours(self, vertex: int, side: str = "outgoing") -> np.ndarray:
        """In ascending order."""
        return self._native.neighbours(_inputs.as_vertex(vertex), _incoming(side))

    def neighbours_with_data(
        self,
        vertex: int,
        side: str = "outgoing",
        *,
        newest_first: bool = False,
        most: int | None = None,
        since: int = 0,
        until: int | None = None,
    ) -> Neighbours:
        """Also by time: those whose edges were written from `since` to `until`, both included.

        `newest_first`: in the order of these times instead of ids. `most`: at most so many.
        """
        numbers = [
            _LAST if number is None else _inputs.as_integer(number, name, 2**64)
            for name, number in (("most", most), ("since", since), ("until", until))
        ]
        return Neighbours(
            *self._native.neighbours_with_data(
                _inputs.as_vertex(vertex), _incoming(side), bool(newest_first), *numbers
            )
        )

    def find_vertices(self, index: str, first: float, last: float | None = None) -> np.ndarray:
        """The vertices whose value in this index is from first to last, both included.

        Without `last`: those whose value is `first`. In ascending order of ids. Store.create()
        makes indexes.
        """
        last = first if last is None else last
        return self._native.find_vertices(
            index, _inputs.as_number(first, "first"), _inputs.as_number(last, "last")
        )


class WriteTransaction(ReadTransaction):
    """What the function of a transaction gets. It sees its own changes."""

    def add_vertex(self, vertex: int, properties: bytes = b"") -> bool:
        """False: the vertex exists already, and keeps its properties. b"" stands for zeros."""
        return self._native.add_vertex(_inputs.as_vertex(vertex), bytes(properties))

    def set_vertex(self, vertex: int, properties: bytes) -> None:
        """An InputError if the vertex does not exist."""
        self._native.set_vertex(_inputs.as_vertex(vertex), bytes(properties))

    def remove_vertex(self, vertex: int) -> bool:
        """Removes its edges too. False: there is no such vertex."""
        return self._native.remove_vertex(_inputs.as_vertex(vertex))

    def add_edge(self, u: int, v: int, weight: float = 1, properties: bytes = b"") -> None:
        """Adds the edge, or replaces its data. An InputError if one of the vertices is missing."""
        self._native.add_edge(
            _inputs.as_vertex(u), _inputs.as_vertex(v), float(weight), bytes(properties)
        )

    def remove_edge(self, u: int, v: int) -> bool:
        """False: there is no such edge."""
        return self._native.remove_edge(_inputs.as_vertex(u), _inputs.as_vertex(v))


class Store:
    """A graph on disk that transactions change while algorithms run on snapshots of it.

    Make one by create(), and open one by open(). Transactions are functions; they are serializable,
    and durable once their future is done.

    protocol        "occ", "nowait", "waitdie", "boundedwait", "to", "mvcc", "sundial" or "calvin"
    reads_at_a_time functions of submit_read_only() read the graph as it was at one moment, about
                    when they began. They are not begun anew because of others, and may miss
                    commits of the last instant on other nodes. Not with "to", "sundial" and
                    "calvin"
    body_threads    how many functions run at the same time, on each compute node
    attempts        after so many, a transaction that has met others each time is aborted
    first_wait_s    before the n-th retry a random time passes, at most first_wait_s * 2^(n-1)
    longest_wait_s  and at most this
    room_edges      for how many added or changed edges there is room before it grows; 0: half of
                    the store's edges, at least a million

    >>> import slimgraph as sg, tempfile
    >>> path = tempfile.mkdtemp() + "/friends.store"
    >>> with sg.Store.create(path, [1, 2], [2, 3]) as store:
    ...     def introduce(t):
    ...         if t.degree(1) >= 500:
    ...             raise ValueError("1 has enough friends")
    ...         t.add_edge(1, 3)
    ...         return t.neighbours(1).tolist()
    ...     store.run(introduce)
    ...     store.snapshot().triangles()
    [2, 3]
    1
    """

    def __init__(self, native: _native.Store, session: Session, path: str) -> None:
        self._native = native
        self._session = session
        self.path = path
        _open_stores.add(self)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        protocol: str = "occ",
        reads_at_a_time: bool = False,
        body_threads: int = 16,
        attempts: int = 100,
        first_wait_s: float = 20e-6,
        longest_wait_s: float = 0.01,
        room_edges: int = 0,
        session: Session | None = None,
    ) -> Store:
        """Opens a store of create() or `slimgraph store create`. It can be open once at a time.

        Commits of a process that did not close the store become part of it.
        """
        session = session or default_session()
        path = os.fspath(path)
        for name, seconds in ("first_wait_s", first_wait_s), ("longest_wait_s", longest_wait_s):
            if not 0 <= seconds <= 3600:
                raise UsageError(f"{name} is {seconds}: give 0 to 3600 seconds")
        options = {
            "protocol": protocol,
            "reads_at_a_time": bool(reads_at_a_time),
            "body_threads": _count(body_threads, "body_threads"),
            "attempts": _count(attempts, "attempts"),
            "first_wait_s": float(first_wait_s),
            "longest_wait_s": float(longest_wait_s),
            "room_edges": _inputs.as_integer(room_edges, "room_edges", 2**63),
        }
        native = session._call(
            "open_store",
            {"path": path, **options},
            lambda: _native.Store.open(session._native, path, **options),
        )
        return cls(native, session, path)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        u: Any = (),
        v: Any = (),
        weights: Any = None,
        *,
        directed: bool = False,
        vertices: Any = None,
        vertex_bytes: int = 0,
        edge_bytes: int = 0,
        weighted: bool = False,
        indexes: Mapping[str, tuple[int, str]] | None = None,
        session: Session | None = None,
        **options: Any,
    ) -> Store:
        """Makes a store of these edges and vertices, and opens it with the options of open().

        Edges are given as in Graph.from_edges(). `vertex_bytes` and `edge_bytes`: how many bytes
        of properties each vertex and each edge has, 0 to 256. `weighted`: a store that begins
        without edges has weights.

        `indexes`: by which parts of their properties transactions find vertices. A name of your
        choice stands for an offset in the properties and a type: {"age": (0, "u32")} is an index
        by the number of 4 bytes with which the properties begin. Types are u8, u16, u32, u64, i8,
        i16, i32, i64, f32 and f64.
        """
        session = session or default_session()
        path = os.fspath(path)
        shape = {
            "directed": bool(directed),
            "vertex_bytes": _count(vertex_bytes, "vertex_bytes"),
            "edge_bytes": _count(edge_bytes, "edge_bytes"),
            "weighted": bool(weighted),
            "indexes": [_index(name, what) for name, what in (indexes or {}).items()],
        }
        edges = (
            _inputs.as_ids(u, "u"),
            _inputs.as_ids(v, "v"),
            None if weights is None else _inputs.as_weights(weights),
        )
        vertices = None if vertices is None else _inputs.as_ids(vertices, "vertices")
        session._call(
            "create_store",
            {"path": path, **shape},
            lambda: _native.create_store(
                session._native, path, *edges, vertices=vertices, **shape
            ),
        )
        return cls.open(path, session=session, **options)

    session = property(lambda self: self._session)

    def submit(self, function: Callable[[WriteTransaction], Any]) -> TransactionFuture:
        """Runs the function in a transaction, on a thread of the store.

        If the transaction meets another one, it begins anew, and the function runs again. So the
        function must not change anything outside that a later run does not overwrite. If it raises
        an exception, the transaction is aborted, and the future raises it. It can be called from
        any thread.
        """
        return _transactions.submit(self._native, self._session, WriteTransaction, function, False)

    def submit_read_only(self, function: Callable[[ReadTransaction], Any]) -> TransactionFuture:
        """As submit(), for a function that only reads."""
        return _transactions.submit(self._native, self._session, ReadTransaction, function, True)

    def run(self, function: Callable[[WriteTransaction], T]) -> T:
        """As submit(), but waits and returns what the function has returned.

        Raises AbortedError if the transaction was aborted because of others, and
        UnknownOutcomeError if it is unknown whether it was committed. Ctrl-C ends the wait. The
        transaction is cancelled then, unless its function runs already.
        """
        return _result_of(self.submit(function))

    def run_read_only(self, function: Callable[[ReadTransaction], T]) -> T:
        """As run(), for a function that only reads."""
        return _result_of(self.submit_read_only(function))

    def snapshot(self) -> Graph:
        """The graph now, with all transactions that have been committed.

        It stays as it is, also after the store is closed, until its session ends.
        """
        native = self._session._call(
            "snapshot", {"path": self.path}, lambda: self._native.snapshot()
        )
        return Graph(native, self._session)

    def close(self) -> None:
        """Waits for all functions that were submitted, then makes all commits part of the store."""
        _transactions.refuse_in_body(self._session, "close()")
        try:
            self._native.close()
        finally:
            _open_stores.discard(self)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<slimgraph.Store {self.path!r}>"


def _result_of(future: TransactionFuture) -> Any:
    try:
        return future.result()
    finally:
        future.cancel()  # if Ctrl-C has ended the wait


def _incoming(side: str) -> bool:
    if side not in ("outgoing", "incoming"):
        raise UsageError(f"side={side!r} is unknown; there are outgoing, incoming")
    return side == "incoming"


def _index(name: str, what: Any) -> str:
    if not isinstance(what, tuple) or len(what) != 2:
        raise UsageError(f'index {name!r} is {what!r}: give offset and type, as in (0, "u32")')
    return f"{name}={what[0]}:{what[1]}"


def _count(value: Any, name: str) -> int:
    return _inputs.as_integer(value, name, 2**32)
