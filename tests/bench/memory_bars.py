"""Checks the memory that runs announce. On each node, the peak must be at most 1.1 x the
announced memory plus 8 MiB. If a run visits all lists, it must announce at most twice the peak."""
import json
import os
import subprocess

from command import command_path

SHAPES = [(1, 1), (4, 4), (4, 2), (4, 1)]
MIB = 1 << 20
LIMIT_S = int(os.environ.get("MEMORY_LIMIT_S", "180"))  # a longer run is aborted


def memory_of(words):
    """The announced memory and the peak of each node; None if the run takes too long."""
    try:
        done = subprocess.run([command_path(), *words, "--json"], capture_output=True, text=True,
                              check=False, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        raise SystemExit(f"slimgraph {' '.join(words)}: {done.stderr.strip()}")
    memory = json.loads(done.stdout)["memory"]
    return list(zip(memory["announced_bytes"], memory["peak_bytes"]))


def print_memory(title, graph, rows):
    """Prints a line for each command and shape, with the nodes nearest to the two bars. Returns the
    number of missed bars. `rows`: a command's words without its graph, and whether it visits all
    lists."""
    print(f"== memory, {title}: MiB announced and peak MiB, of the node that exceeds its announced "
          "memory most (bar 1.1 x + 8 MiB), and of the one that announces too much (bar 2 x)")
    missed = 0
    for words, visits_all in rows:
        for nodes, compute in SHAPES:
            name = " ".join(word for word in words if not os.path.isabs(word))
            name = f"{name:40} ({nodes},{compute})"
            held = memory_of([words[0], graph, *words[1:], "--nodes", str(nodes),
                              "--compute", str(compute)])
            if held is None:
                print(f"{name}   takes more than {LIMIT_S} s", flush=True)
                continue
            most = max(held, key=lambda one: one[1] - 1.1 * one[0])
            least = max(held, key=lambda one: one[0] / one[1])
            kept = most[1] <= 1.1 * most[0] + 8 * MIB
            close = not visits_all or least[0] <= 2 * least[1]
            missed += (not kept) + (not close)
            print(name + "".join(f"   {announced / MIB:8.1f} {peak / MIB:8.1f} = "
                                 f"{announced / peak:5.2f}" for announced, peak in (most, least))
                  + ("" if kept else "   TOOK MORE") + ("" if close else "   ANNOUNCED FAR MORE"),
                  flush=True)
    return missed
