"""Runs the slimgraph command for benches."""
import json
import os
import subprocess


class NotAllowed(Exception):
    """Nodes cannot be limited to shares of processors here; the message says why."""


def command_path():
    return os.environ.get("TEST_SLIMGRAPH_COMMAND", "build/release/slimgraph")


def run_with_shares(nodes, percent, words, timeout_s=600):
    """Returns the --json report of a job whose nodes each have the same share of a processor. So
    a node's speed does not depend on the number of compute nodes, even on one machine."""
    done = subprocess.run(
        [command_path(), *words, "--nodes", str(nodes), "--cpu-share", str(percent), "--json"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s, check=False)
    if done.returncode == 4 and "nodes cannot be limited here" in done.stderr:
        raise NotAllowed(done.stderr.strip())
    if done.returncode != 0:
        raise RuntimeError(f"slimgraph {' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)
