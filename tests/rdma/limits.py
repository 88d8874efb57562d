#!/usr/bin/env python3
"""tests/rdma/limits.py: limits of nodes work under control groups of version 2. The command runs in
a session whose group contains processes, as on a stock Debian 12.

Runs only in the virtual machine, where nothing else uses control groups. TEST_SLIMGRAPH_COMMAND
names the command.
"""
import os, subprocess, sys, tempfile

TOP = "/sys/fs/cgroup"
COMMAND = os.environ["TEST_SLIMGRAPH_COMMAND"]
LIMIT_S = 120


def run(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False,
                          timeout=LIMIT_S)


def expect(done, code, words):
    if code in (None, done.returncode) and words in done.stdout + done.stderr:
        return True
    print(f"{' '.join(done.args)}: exit code {done.returncode}, not {code} with '{words}'")
    print(done.stdout + done.stderr)
    return False


if not os.environ.get("TEST_EMULATED"):
    print("not in the virtual machine")
    sys.exit(77)
subprocess.run(["mount", "-t", "cgroup2", "none", TOP], check=True)
session = os.path.join(TOP, "session.scope")
os.mkdir(session)
with open(os.path.join(session, "cgroup.procs"), "w", encoding="utf-8") as group:
    group.write(str(os.getpid()))
with tempfile.TemporaryDirectory() as scratch:
    graph = os.path.join(scratch, "kron10.slim")
    well = all([
        expect(run("gen", "kron", "-s", "10", "-o", graph), 0, ""),
        expect(run("doctor"), None, "--cpu-share and --node-memory work"),
        expect(run("scan", graph, "--nodes", "2", "--cpu-share", "50", "--node-memory", "512M"), 0,
               "every checksum"),
        expect(run("bench", "fabric", "--node-memory", "30M"), 4, "died: it took more than"),
    ])
left = [name for name in os.listdir(TOP) if name.startswith("slimgraph-")]
if left:
    print(f"left behind: {left}")
sys.exit(0 if well and not left else 1)
