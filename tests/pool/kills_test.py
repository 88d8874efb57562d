#!/usr/bin/python3
"""kills_test.py [--points N] [--seed S] [--point K]: kills and stops at random moments.

Each point attaches a job to a pool, or loads a graph into it, and kills or stops one of the
processes at a random moment. Another job runs beside, and must give the right answer. Afterwards
nothing may be left of the first: no process, no graph that is half loaded, no job in the pool's
status; and its command must have ended well, or with one line. Where a node of the pool was killed,
`pool start` must bring it back. The last line counts the points.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

COMMAND = os.environ.get("TEST_SLIMGRAPH_COMMAND", "build/release/slimgraph")
NODES = 2
LIMIT_S = 60  # for a command
GONE_S = 20  # until what is left of a job is gone
PROGRAMS = {"pagerank": ["--iterations", "10"], "bfs": ["--source", "1"], "cc": [],
            "bc": ["--sources", "1,2"]}
COUNTS = {"triangles": [], "cliques": ["-k", "5"], "motifs": ["-k", "4"],
          "match": ["--pattern", "4-cycle", "--no-formulae"]}
NOT_ERRORS = re.compile(r"slimgraph: (the job takes|\d+ compute nodes? instead of) ")


class Wrong(Exception):
    pass


class Bench:
    """A pool with a graph, in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        os.environ["SLIMGRAPH_POOLS"] = os.path.join(folder, "pools")
        self.program = os.path.realpath(COMMAND)
        self.graph = os.path.join(folder, "kron.slim")
        self.run("gen", "kron", "-s", "12", "-o", self.graph)
        self.start()
        self.run("pool", "load", "p", self.graph, "--as", "g")
        report = json.loads(self.run("cc", "p:g", "--verify", "--json"))
        self.components = report["result"]["components"]
        self.run("triangles", self.graph, "--verify", "--json")
        self.counts = {name: json.loads(self.run(name, self.graph, *words, "--json"))["result"]
                       for name, words in COUNTS.items()}
        self.triangles = self.counts["triangles"]["count"]

    def command(self, *words):
        return subprocess.Popen([self.program, *map(str, words)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words):
        child = self.command(*words)
        out, err = end_of(child, words)
        if child.returncode != 0:
            raise Wrong(f"{' '.join(map(str, words))}: exit code {child.returncode}: {err}")
        return out

    def start(self):
        self.run("pool", "start", "p", "--nodes", NODES)

    def status(self):
        return json.loads(self.run("pool", "status", "p", "--json"))["result"]

    def nodes(self):
        return [node["process"] for node in self.status()["nodes"]]

    def processes(self, *words):
        """All processes of the program that have these words in their command lines."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/cmdline", encoding="utf-8") as file:
                    line = file.read().split("\0")
                if os.path.realpath(f"/proc/{name}/exe") == self.program and \
                        all(word in line for word in words):
                    found.append(int(name))
            except OSError:  # it has ended
                pass
        return found

    def nodes_of(self, child, *words):
        """The processes of a job. Without those between fork and exec, which look like the command:
        such a process does not notice that the command dies if it is stopped."""
        nodes = set(self.processes("/proc/self/exe", *words))
        return sorted(nodes | {child.pid})


def end_of(child, words):
    try:
        return child.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        child.kill()
        try:  # others may still have its output open
            child.communicate(timeout=GONE_S)
        except subprocess.TimeoutExpired:
            pass
        raise Wrong(f"{' '.join(map(str, words))}: not done after {LIMIT_S} s") from None


def send(process, number):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


def await_none(find, what):
    start = time.monotonic()
    while left := find():
        if time.monotonic() - start > GONE_S:
            raise Wrong(f"{what}: {left}")
        time.sleep(0.02)


def check_end(code, err, killed):
    """The command ends well, by the signal, or with one line."""
    if code in (0, -signal.SIGKILL) or (code == -signal.SIGPIPE and killed):
        return
    lines = [line for line in err.splitlines() if not NOT_ERRORS.match(line)]
    if code != 4 or len(lines) != 1 or not lines[0].startswith("slimgraph: "):
        raise Wrong(f"exit code {code}, and said:\n{err}")


def kill_in_job(bench, draw):
    """Kills or stops a process of a job: of its compute nodes, or those that serve it."""
    program = draw.choice(list(PROGRAMS))
    mark = str(draw.randrange(3, 30))  # runs; tells the job's processes from others
    words = [program, "p:g", *PROGRAMS[program], "--compute", draw.choice([1, 2, 3]), "--transport",
             draw.choice(["shm", "tcp"]), "--memory-side", draw.choice(["strict", "serve"]),
             "--edge-cache", draw.choice(["0", "5%", "100%"]), "--repeat", mark, "--json"]
    delay_s, stops = draw.random() * 0.3, draw.random() < 0.3
    beside = bench.command("cc", "p:g", "--compute", draw.choice([1, 2]), "--repeat", "2", "--json")
    child = bench.command(*words)
    time.sleep(delay_s)
    victim = draw.choice(bench.nodes_of(child, program, "--repeat", mark))
    send(victim, signal.SIGSTOP if stops else signal.SIGKILL)
    if stops:  # after a while, the user gives up
        time.sleep(draw.random() * 0.1)
        send(child.pid, signal.SIGKILL)
    _, err = end_of(child, words)
    check_end(child.returncode, err, victim)
    out, err = end_of(beside, ["the job beside"])
    if beside.returncode != 0 or json.loads(out)["result"]["components"] != bench.components:
        raise Wrong(f"the job beside: exit code {beside.returncode}: {err}{out}")
    await_none(lambda: bench.processes(program, "--repeat", mark), "left behind")


def kill_while_resized(bench, draw):
    """Kills or stops a process of a job whose compute nodes change all the time."""
    mark = str(draw.randrange(200, 400))  # iterations; tells the job's processes from others
    steps = sorted(draw.sample(range(1, 100), 20))
    schedule = ",".join(f"{draw.choice([1, 2, 3])}@{step}" for step in [0, *steps])
    words = ["pagerank", "p:g", "--iterations", mark, "--compute-schedule", schedule,
             "--transport", draw.choice(["shm", "tcp"]), "--verify", "--json"]
    child = bench.command(*words)
    time.sleep(draw.random() * 1.2)
    victim = draw.choice(bench.nodes_of(child, "pagerank", "--iterations", mark))
    stops = draw.random() < 0.3
    send(victim, signal.SIGSTOP if stops else signal.SIGKILL)
    if stops:  # after a while, the user gives up
        time.sleep(draw.random() * 0.1)
        send(child.pid, signal.SIGKILL)
    out, err = end_of(child, words)
    check_end(child.returncode, err, victim)
    if child.returncode == 0 and not json.loads(out)["verified"]:
        raise Wrong(f"the resized job has ended with {out}")
    await_none(lambda: bench.processes("pagerank", "--iterations", mark), "left behind")


def kill_survivor(bench, draw):
    """Kills processes of a job that survives them: compute nodes, with node 0, and deputies."""
    counts = draw.random() < 0.4
    program = draw.choice(list(COUNTS if counts else PROGRAMS))
    # The mark tells the job's processes: in a processor's percent, or bytes.
    option, mark = (("--chunk-memory", str(draw.randrange(10**7, 10**8))) if counts else
                    ("--memory-cpu", str(draw.randrange(20, 300))))
    words = [program, "p:g", *(COUNTS if counts else PROGRAMS)[program], "--compute-schedule",
             draw.choice(["1@0", "2@0", "3@0", "2@0,3@2,1@4,2@6", "3@0,1@20,2@60"]),
             "--transport", draw.choice(["shm", "tcp"]), option, mark, "--survive", "--json"]
    words += [] if counts else ["--verify"]
    child = bench.command(*words)
    for _ in range(draw.choice([1, 1, 2])):
        time.sleep(draw.random() * 0.25)
        victims = set(bench.processes(program, option, mark)) - {child.pid}
        if victims:
            send(draw.choice(sorted(victims)), signal.SIGKILL)
    out, err = end_of(child, words)
    report = json.loads(out) if child.returncode == 0 else {}
    right = report.get("result") == bench.counts[program] if counts else report.get("verified")
    if not right:
        raise Wrong(f"a job that survives: exit code {child.returncode}: {err}{out}")
    await_none(lambda: bench.processes(program, option, mark), "left behind")


def kill_while_loading(bench, draw):
    """Kills or stops the command that loads a graph, or a process that loads a part."""
    words = ["pool", "load", "p", bench.graph, "--as", "half"]
    child = bench.command(*words)
    time.sleep(draw.random() * 0.15)
    victim = draw.choice([child.pid, *bench.processes("pool-loader")])
    stops = draw.random() < 0.3
    send(victim, signal.SIGSTOP if stops else signal.SIGKILL)
    if stops:
        time.sleep(draw.random() * 0.1)
        send(child.pid, signal.SIGKILL)
    _, err = end_of(child, words)
    check_end(child.returncode, err, victim)
    await_none(lambda: bench.processes("pool-loader"), "left behind")
    await_none(lambda: [graph for graph in bench.status()["graphs"] if not graph["ready"]],
               "half loaded")
    if any(graph["name"] == "half" for graph in bench.status()["graphs"]):
        bench.run("pool", "drop", "p", "half")


def kill_while_a_view_is_made(bench, draw):
    """Kills or stops the command that has a view made, or a process that makes a part of it."""
    bench.run("pool", "load", "p", bench.graph, "--as", "mined")
    words = ["triangles", "p:mined", "--compute", draw.choice([1, 2]), "--json"]
    child = bench.command(*words)
    time.sleep(draw.random() * 0.02)
    beside = bench.command(*words[:-1], "--reuse", "chunk", "--json")
    time.sleep(draw.random() * 0.1)
    loaders = bench.processes("pool-loader")
    kills_loader = bool(loaders) and draw.random() < 0.5
    stops = not kills_loader and draw.random() < 0.5
    send(draw.choice(loaders) if kills_loader else child.pid,
         signal.SIGSTOP if stops else signal.SIGKILL)
    out, err = end_of(beside, ["the job beside"])
    check_end(beside.returncode, err, None)
    if beside.returncode != 0 and not kills_loader:
        raise Wrong(f"the job beside: exit code {beside.returncode}: {err}")
    if beside.returncode == 0 and json.loads(out)["result"]["count"] != bench.triangles:
        raise Wrong(f"the job beside has found {out}")
    if stops:
        send(child.pid, signal.SIGKILL)
    out, err = end_of(child, words)
    check_end(child.returncode, err, child.pid)
    await_none(lambda: bench.processes("pool-loader"), "left behind")
    await_none(lambda: [graph for graph in bench.status()["graphs"] if not graph["ready"]],
               "half made")
    count = json.loads(bench.run("triangles", "p:mined", "--json"))["result"]["count"]
    if count != bench.triangles:
        raise Wrong(f"afterwards there are {count} triangles, not {bench.triangles}")
    bench.run("pool", "drop", "p", "mined")


def kill_node(bench, draw):
    """Kills a node of the pool under a job, and brings it back."""
    words = ["pagerank", "p:g", "--compute", "2", "--repeat", "20", "--transport",
             draw.choice(["shm", "tcp"])]
    child = bench.command(*words)
    time.sleep(draw.random() * 0.2)
    send(draw.choice(bench.nodes()), signal.SIGKILL)
    _, err = end_of(child, words)
    check_end(child.returncode, err, None)
    await_none(lambda: bench.processes("pagerank", "--repeat"), "left behind")
    bench.start()


def run_point(bench, seed, point):
    draw = random.Random(f"{seed}:{point}")
    kind = draw.choices([kill_in_job, kill_while_resized, kill_survivor, kill_while_loading,
                         kill_while_a_view_is_made, kill_node], [6, 3, 4, 2, 2, 1])[0]
    kind(bench, draw)
    await_none(lambda: bench.status()["jobs"], "still attached")
    report = json.loads(bench.run("cc", "p:g", "--json"))
    if report["result"]["components"] != bench.components:
        raise Wrong(f"afterwards there are {report['result']['components']} components, not "
                    f"{bench.components}")
    nodes = set(bench.nodes())
    await_none(lambda: set(bench.processes()) - nodes, "left behind")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--point", type=int, help="this one alone")
    options = parser.parse_args()
    points = range(options.points) if options.point is None else [options.point]
    print(f"seed {options.seed}", flush=True)
    passed = failed = 0
    folder = tempfile.mkdtemp(prefix="slimgraph-kills-")
    bench = Bench(folder)
    for point in points:
        try:
            run_point(bench, options.seed, point)
            passed += 1
        except Wrong as wrong:
            failed += 1
            print(f"point {point} (again: --seed {options.seed} --point {point}): {wrong}",
                  flush=True)
            for process in bench.processes():
                send(process, signal.SIGKILL)
            bench.start()
            bench.run("pool", "load", "p", bench.graph, "--as", "g")
    for process in bench.processes():
        send(process, signal.SIGKILL)
    shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
