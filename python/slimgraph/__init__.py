"""Graph algorithms and pattern counts over the memory of several nodes.

>>> import slimgraph as sg
>>> graph = sg.Graph.from_edges([1, 2, 3, 3], [2, 3, 1, 4])
>>> graph
<slimgraph.Graph: 4 vertices, 4 edges, undirected>
>>> graph.bfs(1).to_dict()
{1: 0, 2: 1, 3: 1, 4: 2}
>>> graph.count("triangle")
1

Without a session of your own, everything runs in this process. `sg.Session(nodes=4)` distributes
graphs over four.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import (
    AbortedError,
    Error,
    InputError,
    JobError,
    UnknownOutcomeError,
    UsageError,
    VerificationError,
)

if TYPE_CHECKING:
    from ._transactions import Outcome, TransactionFuture
    from .graph import NO_HOPS, Graph
    from .pattern import Pattern, pattern_names
    from .session import Session, attach, default_session
    from .store import EdgeData, Neighbours, ReadTransaction, Store, WriteTransaction
    from .values import EdgeValues, LocalCounts, VertexValues

__version__ = "0.1.0"

# The native module is loaded when one of these is used, so that `slimgraph.lab` works without it.
_LAZY = {
    "NO_HOPS": "graph",
    "EdgeData": "store",
    "Graph": "graph",
    "EdgeValues": "values",
    "LocalCounts": "values",
    "Neighbours": "store",
    "Outcome": "_transactions",
    "Pattern": "pattern",
    "ReadTransaction": "store",
    "Session": "session",
    "Store": "store",
    "TransactionFuture": "_transactions",
    "VertexValues": "values",
    "WriteTransaction": "store",
    "attach": "session",
    "default_session": "session",
    "pattern_names": "pattern",
}

__all__ = [
    "AbortedError",
    "Error",
    "InputError",
    "JobError",
    "UnknownOutcomeError",
    "UsageError",
    "VerificationError",
    *_LAZY,
]


def __getattr__(name: str):
    if name not in _LAZY:
        raise AttributeError(f"module 'slimgraph' has no attribute {name!r}")
    value = getattr(import_module("." + _LAZY[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
