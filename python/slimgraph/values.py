"""Results: a value for each vertex."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas

_SIDES = ("left", "right")


class VertexValues:
    """A value for each vertex, in ascending order of ids.

    `values` and `ids` are NumPy arrays over the memory of the native result, without a copy. They
    cannot be changed, and stay valid when the graph and its session are gone. With several compute
    nodes, results arrive at node 0 and are empty on the others.

    >>> import slimgraph as sg
    >>> hops = sg.Graph.from_edges([10, 20], [20, 30]).bfs(10)
    >>> hops.ids, hops.values
    (array([10, 20, 30], dtype=uint64), array([0, 1, 2], dtype=uint32))
    >>> hops[30]
    2
    """

    def __init__(
        self, ids: np.ndarray, values: np.ndarray, name: str, report: dict[str, Any]
    ) -> None:
        self.ids = ids[: len(values)]
        self.values = values
        self.name = name
        self.report = report
        """About the call that has made it, as the command's --json."""

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, vertex: int) -> Any:
        return self.values[_position(self.ids, vertex)].item()

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids.tolist())

    def __contains__(self, vertex: object) -> bool:
        return _find(self.ids, vertex) is not None

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def to_dict(self) -> dict[int, Any]:
        """A dictionary from ids to values, as Python's own numbers."""
        return dict(zip(self.ids.tolist(), self.values.tolist()))

    def to_pandas(self) -> pandas.Series:
        """A Series whose index has the ids."""
        import pandas

        index = pandas.Index(self.ids, name="vertex", copy=False)
        return pandas.Series(self.values, index=index, name=self.name, copy=False)

    def __repr__(self) -> str:
        return f"<slimgraph.VertexValues {self.name!r}: {len(self)} vertices>"


class LocalCounts:
    """What lies around each vertex: `degree`, `triangles` and `clustering`, by ascending id.

    >>> import slimgraph as sg
    >>> counts = sg.Graph.from_edges([1, 2, 3, 3], [2, 3, 1, 4]).local_counts()
    >>> counts.triangles
    array([1, 1, 1, 0], dtype=uint64)
    >>> counts[3]
    {'degree': 3, 'triangles': 1, 'clustering': 0.3333333333333333}
    """

    def __init__(
        self, ids: np.ndarray, columns: tuple[np.ndarray, ...], report: dict[str, Any]
    ) -> None:
        self.report = report
        self.degree, self.triangles, self.clustering = columns
        self.ids = ids[: len(self.degree)]

    def __len__(self) -> int:
        return len(self.degree)

    def __getitem__(self, vertex: int) -> dict[str, Any]:
        at = _position(self.ids, vertex)
        return {name: column[at].item() for name, column in self._columns().items()}

    def _columns(self) -> dict[str, np.ndarray]:
        return {
            "degree": self.degree,
            "triangles": self.triangles,
            "clustering": self.clustering,
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a row for each vertex."""
        import pandas

        return pandas.DataFrame(self._columns(), index=pandas.Index(self.ids, name="vertex"))

    def __repr__(self) -> str:
        return f"<slimgraph.LocalCounts: {len(self)} vertices>"


class EdgeValues:
    """A value for each edge, once. `source` is below `target`; edges ascend by source, then target.

    >>> import slimgraph as sg
    >>> truss = sg.Graph.from_edges([1, 2, 3], [2, 3, 1]).trussness()
    >>> truss.source, truss.target
    (array([1, 1, 2], dtype=uint64), array([2, 3, 3], dtype=uint64))
    >>> truss.values
    array([3, 3, 3], dtype=uint32)
    """

    def __init__(
        self,
        source: np.ndarray,
        target: np.ndarray,
        values: np.ndarray,
        name: str,
        report: dict[str, Any],
    ) -> None:
        self.source = source
        self.target = target
        self.values = values
        self.name = name
        self.report = report

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, edge: tuple[int, int]) -> Any:
        a, b = min(edge), max(edge)
        if not (0 <= a and b < 2**64):
            raise KeyError(edge)
        low, high = (int(np.searchsorted(self.source, np.uint64(a), side)) for side in _SIDES)
        at = low + int(np.searchsorted(self.target[low:high], np.uint64(b)))
        if at == high or self.target[at] != np.uint64(b):
            raise KeyError(edge)
        return self.values[at].item()

    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a row for each edge: source, target and the value."""
        import pandas

        columns = {"source": self.source, "target": self.target, self.name: self.values}
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        return f"<slimgraph.EdgeValues {self.name!r}: {len(self)} edges>"


def _find(ids: np.ndarray, vertex: object) -> int | None:
    if not isinstance(vertex, (int, np.integer)) or not 0 <= vertex < 2**64:
        return None
    at = int(np.searchsorted(ids, np.uint64(vertex)))
    return at if at < len(ids) and ids[at] == np.uint64(vertex) else None


def _position(ids: np.ndarray, vertex: object) -> int:
    at = _find(ids, vertex)
    if at is None:
        raise KeyError(vertex)
    return at
