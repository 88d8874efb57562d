"""Sessions: the nodes on which graphs lie and programs run."""

from __future__ import annotations

import atexit
import os
import resource
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native, _progress, _transactions

if TYPE_CHECKING:
    from .graph import Graph
    from .store import Store


class Session:
    """The nodes that work together. It opens at its first call.

    nodes       how many processes hold graphs; 0: as many as a launcher has started, otherwise 1
    compute     how many of them compute; the others only hold memory
    threads     of each compute node; None: one for each processor that this process may use
    transport   "shm", "tcp" or "verbs"; "": shm on one machine, tcp across machines
    network     imitate a network: "fdr", "edr", "efa" or "tcp10"
    cache       what compute nodes keep of memory nodes' lists: "none", "bitmap", "index" or "edge";
                "naive" fetches one list after the other, for comparison
    edge_cache  the memory for it: "512MiB", "5%" or "auto"
    memory_side "strict": memory nodes do nothing; "serve": they send lists
    access      on a pool over shm: "in-place": lists are used where they are; "read": they are
                copied as from another host, which counts their bytes
    host_of     on a pool over shm: work as on the host of that node of the pool, whose lists are
                used where they are, while those of all other nodes are copied
    progress    show the name, time and share done of calls of more than two seconds
    pool_graph  "NAME:GRAPH": attach to this graph of a standing pool, as attach() does

    A session can be used by several threads; their calls run one after the other. Ctrl-C ends the
    call under way and the nodes; the next call starts them again.

    >>> import slimgraph as sg
    >>> with sg.Session(nodes=2) as session:
    ...     graph = session.from_edges([0, 1], [1, 2])
    ...     graph.connected_components().to_dict()
    {0: 0, 1: 0, 2: 0}
    """

    def __init__(
        self,
        nodes: int = 0,
        compute: int = 0,
        *,
        threads: int | None = None,
        transport: str = "",
        network: str = "none",
        cache: str = "edge",
        edge_cache: str = "100%",
        memory_side: str = "strict",
        access: str = "in-place",
        host_of: int | None = None,
        progress: bool = True,
        pool_graph: str = "",
    ) -> None:
        if threads is None:
            threads = len(os.sched_getaffinity(0))
        program = Path(_native.__file__).parent / "bin" / "slimgraph"
        self._native = _native.Session(
            nodes,
            compute,
            threads,
            transport,
            network,
            cache,
            edge_cache,
            memory_side,
            access,
            host_of,
            str(program),
            pool_graph,
        )
        self.progress = progress
        self.last_report: dict[str, Any] = {}
        self._asked = {"transport": transport, "network": network}
        _open_sessions.add(self)

    def open(self, path, directed=None, *, weighted=False, format="") -> Graph:
        """Graph.open() in this session."""
        from .graph import Graph

        return Graph.open(path, directed, weighted=weighted, format=format, session=self)

    def from_edges(self, u, v, weights=None, *, directed=False, vertices=None) -> Graph:
        """Graph.from_edges() in this session."""
        from .graph import Graph

        return Graph.from_edges(u, v, weights, directed=directed, vertices=vertices, session=self)

    def open_store(self, path, **options) -> Store:
        """Store.open() in this session."""
        from .store import Store

        return Store.open(path, session=self, **options)

    def _call(self, command: str, options: dict[str, Any], native: Callable[[], Any]) -> Any:
        """Makes a call of native code, with progress, and reports about it."""
        _transactions.refuse_in_body(self, command)
        start = time.perf_counter()
        cpu = time.process_time()
        with _progress.shown(command, self.progress):
            value = native()
        self.last_report = {
            "schema": 2,
            "command": command,
            "version": _native.version,
            "options": options,
            "cluster": {
                "nodes": self._native.nodes,
                "compute": self._native.compute,
                "threads": self.threads,
                **{name: text for name, text in self._asked.items() if text},
            },
            "time": {"call_s": time.perf_counter() - start},
            "cpu_s": time.process_time() - cpu,
            "memory": {"peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024},
        }
        return value

    def _attach(self):
        return _native.Graph.of_pool(self._native)

    def start(self) -> Session:
        """Opens the session now, instead of at the first call."""
        self._native.open()
        return self

    def close(self) -> None:
        """Closes its stores and ends the nodes. Its graphs cannot be used any more; results can."""
        _transactions.refuse_in_body(self, "close()")
        try:
            self._native.close()
        finally:
            for store in list(_open_stores):
                if store.session is self:
                    _open_stores.discard(store)

    @property
    def node(self) -> int:
        """The number of this process. Results arrive at node 0."""
        return self.start()._native.node

    @property
    def nodes(self) -> int:
        return self.start()._native.nodes

    @property
    def compute(self) -> int:
        return self.start()._native.compute

    @property
    def threads(self) -> int:
        return self._native.threads

    def __enter__(self) -> Session:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()


def attach(pool_graph: str, compute: int = 1, **options) -> Graph:
    """A graph that stands in a pool: "NAME:GRAPH", after `slimgraph pool load`.

    Nothing is loaded: its lists are read where they stand. The pool's nodes are the memory nodes of
    a new session, graph.session; `options` are those of Session. Closing that session lets go.
    To count patterns, the session's nodes load the graph's file.
    """
    from .graph import Graph

    session = Session(0, compute, pool_graph=pool_graph, **options)
    try:
        return Graph(session._call("attach", {"pool_graph": pool_graph}, session._attach), session)
    except BaseException:
        session.close()
        raise


# Threads of an open store use it and its session. So both stay alive until the store is closed.
_open_stores: set[Store] = set()
_open_sessions: weakref.WeakSet[Session] = weakref.WeakSet()
_default: Session | None = None
_default_lock = threading.Lock()


def default_session() -> Session:
    """The session of graphs that name none: one node, in this process."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Session()
        return _default


@atexit.register
def _close_all() -> None:
    for session in list(_open_sessions):
        try:
            session.close()
        except Exception:  # it was over already
            pass
