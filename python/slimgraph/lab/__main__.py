"""`slimgraph experiment` and `slimgraph compare` start this module with one argument, an object in
JSON: how their report begins (with the command and its options), and under /invocation what the lab
must know of the program. `bench FILE …` runs a bench (bench.py), `beside K …` jobs side by side
(beside.py), and `scale PAGE COMMAND` draws a page about the CSV of `simulate scale`."""
import importlib.util
import json
import os
import subprocess
import sys

from slimgraph.lab.child import StopSignals
from slimgraph.lab.failure import ENVIRONMENT, KINDS, USAGE, Failure

NEEDED = {"matplotlib": "python3-matplotlib", "jinja2": "python3-jinja2",
          "pandas": "python3-pandas"}
SYSTEM_PYTHON = "/usr/bin/python3"


def write_result(text):
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as reason:
        # What is left in the buffer must not be written again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Failure(ENVIRONMENT, "cannot write the result to standard output: "
                      f"{reason.strerror}") from None


def missing_packages():
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]


def check_packages(what):
    """Fails if a package is missing, before anything is measured. Debian's packages belong to
    Debian's interpreter: if another one comes first in PATH, the lab continues with Debian's."""
    missing = missing_packages()
    if missing and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON):
        has_all = "import sys; from slimgraph.lab.__main__ import missing_packages as missing; " \
            "sys.exit(len(missing()))"
        try:
            if subprocess.run([SYSTEM_PYTHON, "-B", "-c", has_all], stderr=subprocess.DEVNULL,
                              check=False).returncode == 0:
                os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-B", "-m", "slimgraph.lab", *sys.argv[1:]])
        except OSError:
            pass
    if missing:
        raise Failure(ENVIRONMENT, f"{what} needs {' and '.join(missing)} for {sys.executable}; "
                      f"install {' '.join(NEEDED[name] for name in missing)} (apt), or "
                      '"slimgraph[lab]" (pip)')


def run_experiment_command(head, about):
    from slimgraph.lab.experiment import run_experiment, to_json
    from slimgraph.lab.spread import format_seconds
    check_packages("slimgraph experiment")
    options = head["options"]
    outcome = run_experiment(options["NAME"], options, about, head)
    totals = outcome.totals
    stopped = totals.end == "stopped"
    if totals.measured == 0 and not stopped and (totals.too_long or totals.end == "spent"):
        raise Failure(USAGE, "the budget ended before any point was measured; give --budget more")
    for warning in outcome.warnings:
        print(f"slimgraph: {warning}", file=sys.stderr)
    if stopped:
        raise Failure(128 + StopSignals.received, "stopped; run the same command again to continue")
    if totals.measured == 0:
        raise Failure(ENVIRONMENT, "nothing could be measured")
    if options["json"]:
        write_result(to_json(outcome.summary) + "\n")
    else:
        write_result("".join(f"{answer}\n" for answer in outcome.answers) +
                     f"{totals.measured} of {totals.points} points measured in {totals.runs} runs "
                     f"over {format_seconds(totals.spent_s)}: {outcome.page}\n")
    return 0


def run_compare_command(head, about):
    from slimgraph.lab.compare import as_report, compare, describe
    options, threshold = head["options"], about["threshold"]
    found = compare(options["BEFORE"], options["AFTER"], threshold)
    if options["json"]:
        write_result(json.dumps({**head, "result": as_report(found, threshold)},
                                separators=(",", ":"), ensure_ascii=False) + "\n")
    else:
        write_result(describe(found, threshold))
    return 1 if found.failures(threshold) else 0


def run_scale(path, command):
    try:
        check_packages("make scale")
        from slimgraph.lab.scale import scale_page
        scale_page(sys.stdin, path, command)
    except Failure as failure:
        print(f"slimgraph: {failure}", file=sys.stderr)
        return failure.code
    return 0


def main():
    if sys.version_info < (3, 11):
        print(f"slimgraph: the lab needs Python 3.11 or later, but {sys.executable} is "
              f"{sys.version.split()[0]}", file=sys.stderr)
        return ENVIRONMENT
    if sys.argv[1:2] == ["bench"]:
        from slimgraph.lab.bench import run_bench
        return run_bench(sys.argv[2:])
    if sys.argv[1:2] == ["beside"]:
        from slimgraph.lab.beside import run_beside
        return run_beside(sys.argv[2:])
    if sys.argv[1:2] == ["scale"] and len(sys.argv) == 4:
        return run_scale(*sys.argv[2:])
    if len(sys.argv) != 2 or not sys.argv[1].startswith("{"):
        print("slimgraph: start `slimgraph experiment` or `slimgraph compare`, or "
              "python3 -m slimgraph.lab bench FILE", file=sys.stderr)
        return USAGE
    head = json.loads(sys.argv[1])
    about = head.pop("invocation")
    run = {"experiment": run_experiment_command, "compare": run_compare_command}[head["command"]]
    with StopSignals():
        try:
            return run(head, about)
        except Failure as failure:
            print(f"slimgraph: {failure}", file=sys.stderr)
            if head["options"].get("json"):
                try:
                    write_result(json.dumps({**head, "error": {
                        "kind": KINDS.get(failure.code, "interrupted"), "exit_code": failure.code,
                        "message": str(failure)}}, separators=(",", ":")) + "\n")
                except Failure:
                    pass
            return failure.code


if __name__ == "__main__":
    sys.exit(main())
