"""The stored runs of an experiment: one line of JSON for each. A line is appended as soon as its
run ends, so an aborted experiment keeps what it has measured."""
import glob
import json
import os
from dataclasses import dataclass, field

from slimgraph.lab.failure import ENVIRONMENT, INPUT, Failure, os_failure


@dataclass
class RawRun:
    study: str = ""
    point: str = ""  # its command line, without the program
    build: str = ""  # stamp of the program that ran
    inputs: str = ""  # stamp of the graph's file
    began: str = ""  # UTC
    seconds: float = 0  # from start to end, including loading
    verified: bool = False  # an earlier run has verified the point's result
    report: dict = field(default_factory=dict)  # what the run printed with --json


FIELDS = [name for name in RawRun.__dataclass_fields__ if name != "report"]


def _from_line(line):
    if "report" not in line:
        return RawRun(report=line)
    return RawRun(report=line["report"], **{name: line[name] for name in FIELDS if name in line})


def parse_json(text, what):
    try:
        value = json.loads(text)
    except ValueError as reason:
        raise Failure(INPUT, f"{what} is not JSON: {reason}") from None
    if not isinstance(value, dict):
        raise Failure(INPUT, f"{what} is not JSON of a report: expected an object")
    return value


def _parse_lines(path, text):
    return [_from_line(parse_json(line, f"{path}:{number}"))
            for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _read_file(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError as reason:
        raise Failure(INPUT, f"{path}: {reason.strerror}") from None
    try:
        return [_from_line(parse_json(text, path))]  # one object, perhaps over many lines
    except Failure:
        pass
    of_experiment = text.startswith('{"schema":') and '"study":' in text[:100]
    return _parse_lines(path, text[:text.rfind("\n") + 1] if of_experiment else text)


def read_runs(path):
    """Every run in `path`: one report, one JSON object per line, or the folder of an experiment. In
    an experiment's file, an incomplete last line is ignored: the experiment was interrupted while
    it wrote the line."""
    if not os.path.isdir(path):
        return _read_file(path)
    files = sorted(glob.glob(os.path.join(glob.escape(path), "raw", "*.jsonl")))
    if not files:
        raise Failure(INPUT, f"{path} is not the folder of an experiment: no raw/*.jsonl")
    return [run for file in files for run in _read_file(file)]


class RunLog:
    """The file of one study in an experiment's folder. Opening it cuts off an incomplete last line;
    `runs` are those that were stored."""

    def __init__(self, folder, study):
        raw = os.path.join(folder, "raw")
        self.path = os.path.join(raw, study + ".jsonl")
        try:
            os.makedirs(raw, exist_ok=True)
            self.file = open(self.path, "a+b", buffering=0)
            self.file.seek(0)
            text = self.file.read()
            self.bytes = text.rfind(b"\n") + 1
            self.runs = _parse_lines(self.path, text[:self.bytes].decode(errors="replace"))
            self.file.truncate(self.bytes)
        except OSError as reason:
            raise os_failure(f"cannot write {self.path}", reason) from None

    def add(self, head, run, report):
        """Stores a run, whose report is the line that it printed. `head`: how each report of this
        program begins. If the disk is full, no part of the line is left in the file."""
        line = json.dumps({**head, **{name: getattr(run, name) for name in FIELDS}},
                          separators=(",", ":"), ensure_ascii=False)
        data = f'{line[:-1]},"report":{report}}}\n'.encode()
        written = 0
        try:
            while written < len(data):
                written += self.file.write(data[written:])
        except OSError as reason:
            self.file.truncate(self.bytes)
            raise Failure(ENVIRONMENT, f"cannot write {self.path}: {reason.strerror}; earlier runs "
                          "are kept in it") from None
        self.bytes += len(data)

    def close(self):
        self.file.close()
