"""The measured numbers of a report, which a run of slimgraph prints with --json."""
from dataclasses import dataclass

LESS_IS_BETTER = {"time/run_s", "time/load_s", "traffic/bytes", "traffic/operations",
                  "traffic/round_trips", "load_traffic/bytes", "cpu_s/compute", "cpu_s/memory",
                  "memory/peak_bytes"}
# These describe how the engine computed the answer, which may vary.
NO_ANSWERS = ("result/steps", "result/pulls")


@dataclass
class Measure:
    path: str  # such as time/run_s
    less_is_better: bool
    samples: list  # several if the run repeated the computation


def find(report, path):
    """The value under a path like "/time/run_s" or "/result/rows/0/value"; None if there is
    none."""
    for name in path.strip("/").split("/"):
        if isinstance(report, list):
            report = report[int(name)] if name.isdigit() and int(name) < len(report) else None
        else:
            report = report.get(name) if isinstance(report, dict) else None
        if report is None:
            return None
    return report


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _numbers(value):
    return [one for one in (value if isinstance(value, list) else [value]) if is_number(one)]


def _over_nodes(path, numbers):
    """Combines the numbers of all nodes: the maximum for memory peaks, otherwise the sum."""
    return max(numbers) if path == "memory/peak_bytes" else sum(numbers)


def value_at(report, path):
    """The number at a path such as "/time/run_s", combined over nodes; None if there is none. Of
    "/cpu_s" it is the sum over compute nodes and memory nodes."""
    if path == "/cpu_s":
        compute = value_at(report, "/cpu_s/compute")
        return None if compute is None else compute + (value_at(report, "/cpu_s/memory") or 0)
    numbers = _numbers(find(report, path))
    return _over_nodes(path[1:], numbers) if numbers else None


def leaves(value, path=""):
    """(path, value) of everything that has no parts. A list of numbers is one value."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list) and value and not is_number(value[0]):
        parts = enumerate(value)
    else:
        yield path, value
        return
    for name, part in parts:
        yield from leaves(part, f"{path}/{name}" if path else str(name))


def _less_is_better(path):
    """None if the path is not a measure."""
    if path.endswith(("throughput_per_s", "operations_per_s")):
        return False
    of_transactions = path.startswith("result/") and (
        "latency_us" in path or "/stage_us/" in path or "/per_transaction/" in path
        or path.endswith("/abort_rate"))
    return True if path in LESS_IS_BETTER or path.startswith("time/stages/") or of_transactions \
        else None


def measures_of(report):
    """Every measure of a report for which smaller or larger is better."""
    for path, value in leaves(report):
        less, numbers = _less_is_better(path), _numbers(value)
        if less is None or not numbers:
            continue
        runs = _numbers(find(report, "/time/runs_s")) if path == "time/run_s" else []
        yield Measure(path, less, runs or [_over_nodes(path, numbers)])


def answers_of(report):
    """The result's numbers that do not depend on the run, by path. The results of transactions and
    benches are measurements, not answers."""
    if not report.get("result") or report.get("command", "").startswith(("txn", "bench")):
        return {}
    return {path: value for path, value in leaves(report["result"], "result")
            if is_number(value) and path not in NO_ANSWERS}


def flatten(report):
    """Every number, text and flag of a report by its path; lists are combined over nodes."""
    for path, value in leaves(report):
        numbers = _numbers(value)
        if isinstance(value, (str, bool)):
            yield path, value
        elif numbers:
            yield path, _over_nodes(path, numbers) if isinstance(value, list) else value
