"""Turns what users have into the arrays that the native module takes, without a loop over edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError, UsageError

_MOST_EXACT = 2**53  # integers up to here are exact as 64-bit floats


def as_vertex(vertex: Any) -> int:
    if not isinstance(vertex, (int, np.integer)) or not 0 <= vertex < 2**64:
        raise UsageError(f"{vertex!r} is no vertex: vertices are integers from 0 to 2^64-1")
    return int(vertex)


def as_number(value: Any, name: str) -> int | float:
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    raise UsageError(f"{name} is {value!r}: give a number")


def as_integer(value: Any, name: str, end: int) -> int:
    """An integer from 0 to end - 1; end is a power of 2."""
    if not isinstance(value, (int, np.integer)) or not 0 <= value < end:
        bits = end.bit_length() - 1
        raise UsageError(f"{name} is {value!r}: give an integer from 0 to 2^{bits}-1")
    return int(value)


def as_ids(data: Any, name: str) -> np.ndarray:
    """A contiguous array of uint64. Arrays of 64-bit integers are not copied."""
    array = _as_array(data, name)
    if array.dtype.kind not in "iu":
        if array.size == 0:
            return np.empty(0, np.uint64)
        raise UsageError(f"{name} has values of type {array.dtype}: vertices are integers")
    if array.dtype.kind == "i" and array.size > 0 and array.min() < 0:
        at = int(np.argmax(array < 0))
        raise InputError(f"{name}[{at}] is {array[at]}: vertices are 0 or more")
    if array.dtype == np.int64:
        array = array.view(np.uint64)
    return np.ascontiguousarray(array, dtype=np.uint64)


def as_weights(data: Any, name: str = "weights") -> np.ndarray:
    """A contiguous array of float64."""
    array = _as_array(data, name)
    if array.dtype.kind not in "iufb":
        if array.size == 0:
            return np.empty(0, np.float64)
        raise UsageError(f"{name} has values of type {array.dtype}: weights are numbers")
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size > 0:
        if int(array.max()) > _MOST_EXACT or int(array.min()) < -_MOST_EXACT:
            raise InputError(f"{name} has an integer beyond 2^53, which is not exact as a weight")
    return np.ascontiguousarray(array, dtype=np.float64)


def _as_array(data: Any, name: str) -> np.ndarray:
    # Arrow arrays and chunked arrays; pandas objects have to_numpy() as well.
    if hasattr(data, "null_count") and hasattr(data, "type"):
        if data.null_count > 0:
            raise InputError(f"{name} has {data.null_count} missing values")
        chunked = hasattr(data, "chunks")
        data = data.to_numpy() if chunked else data.to_numpy(zero_copy_only=False)
    elif hasattr(data, "to_numpy"):
        data = data.to_numpy()
    array = np.asarray(data)
    if array.ndim != 1:
        raise UsageError(f"{name} has {array.ndim} dimensions: give an array of one")
    return array


def columns_of(table: Any, names: list[str]) -> list[Any]:
    """Columns of a pandas frame or an Arrow table."""
    known = table.column_names if hasattr(table, "column_names") else list(table.columns)
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no column {name!r}: the columns are {', '.join(map(str, known))}"
            )
    return [table[name] for name in names]


def edges_of_csr(indptr: Any, indices: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """The sources and destinations of a compressed sparse row matrix, and its number of rows."""
    starts = as_ids(indptr, "indptr")
    destinations = as_ids(indices, "indices")
    if starts.size == 0 or starts[0] != 0 or int(starts[-1]) != destinations.size:
        raise UsageError(
            f"indptr must go from 0 to {destinations.size}, the number of entries of indices"
        )
    lengths = np.diff(starts.view(np.int64))
    if lengths.size > 0 and lengths.min() < 0:
        raise UsageError("indptr must not decrease")
    rows = starts.size - 1
    return np.repeat(np.arange(rows, dtype=np.uint64), lengths), destinations, rows
