#!/usr/bin/env python3
"""Tests datasets/validate on two small data sets, and on ones with wrong references."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
VALIDATE = os.path.join(ROOT, "datasets/validate")
COMMAND = os.path.abspath(os.environ.get("TEST_SLIMGRAPH_COMMAND", "build/release/slimgraph"))
NEVER = "9223372036854775807"

#   directed:   1 -> 2 -> 3 -> 1    2 -> 1    3 -> 4    5 -> 6
#   undirected: 2 - 3 - 5 - 2    5 - 7    8
# One iteration of PageRank with damping 0.5, computed by hand.
SETS = {
    "directed": {
        "vertices": [1, 2, 3, 4, 5, 6],
        "edges": [(1, 2, 2), (2, 3, 1.5), (3, 1, 1), (2, 1, 0.25), (3, 4, 4), (5, 6, 3)],
        "bfs": [0, 1, 2, 3, NEVER, NEVER],
        "pr": [1 / 6 * (0.5 + 0.5 * (1 + 2 / 6)), 1 / 6 * (0.5 + 0.5 * (1 + 2 / 6)),
               1 / 6 * (0.5 + 0.5 * (0.5 + 2 / 6)), 1 / 6 * (0.5 + 0.5 * (0.5 + 2 / 6)),
               1 / 6 * (0.5 + 0.5 * 2 / 6), 1 / 6 * (0.5 + 0.5 * (1 + 2 / 6))],
        "wcc": [1, 1, 1, 1, 5, 5],
        "cdlp": [2, 1, 1, 3, 6, 5],  # after one iteration
        "lcc": [1 / 2, 1 / 2, 2 / 6, 0, 0, 0],
        "sssp": [0, 2, 3.5, 7.5, "Infinity", "Infinity"],
    },
    "undirected": {
        "vertices": [2, 3, 5, 7, 8],
        "edges": [(2, 3, 1), (3, 5, 1), (2, 5, 2.5), (5, 7, 0.5)],
        "bfs": [0, 1, 1, 2, NEVER],
        "pr": [0.1 + 0.5 * (0.1 + 0.2 / 3 + 0.04), 0.1 + 0.5 * (0.1 + 0.2 / 3 + 0.04),
               0.1 + 0.5 * (0.2 + 0.2 + 0.04), 0.1 + 0.5 * (0.2 / 3 + 0.04), 0.1 + 0.5 * 0.04],
        "wcc": [2, 2, 2, 2, 8],
        "cdlp": [3, 2, 2, 5, 8],
        "lcc": [1, 1, 1 / 3, 0, 0],
        "sssp": [0, 1, 2, 2.5, "Infinity"],
    },
}


def write(path, lines):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def write_set(folder, name, data, **changed):
    data = {**data, **changed}
    source = data["vertices"][0]
    values = {"vertex-file": f"{name}.v", "edge-file": f"{name}.e",
              "directed": str(name == "directed").lower(),
              "edge-properties.names": "weight", "algorithms": "bfs, pr, wcc, cdlp, lcc, sssp",
              "bfs.source-vertex": source, "sssp.source-vertex": source,
              "cdlp.max-iterations": 1, "pr.damping-factor": 0.5, "pr.num-iterations": 1}
    write(f"{folder}/{name}.properties",
          ["# a data set"] + [f"graph.{name}.{key} = {value}" for key, value in values.items()])
    write(f"{folder}/{name}/{name}.v", map(str, data["vertices"]))
    write(f"{folder}/{name}/{name}.e", [f"{u} {v} {w}" for u, v, w in data["edges"]])
    for algorithm in ("bfs", "pr", "wcc", "cdlp", "lcc", "sssp"):
        write(f"{folder}/{name}/{name}-{algorithm.upper()}",
              [f"{v} {value}" for v, value in zip(data["vertices"], data[algorithm])])


def validate(folder, *words):
    return subprocess.run([VALIDATE, *words, folder], capture_output=True, text=True, check=False,
                          env={**os.environ, "SLIMGRAPH": COMMAND})


def expect(what, condition, done):
    if not condition:
        sys.exit(f"validate_test: {what}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


def main():
    with tempfile.TemporaryDirectory(prefix="slimgraph-test-") as folder:
        for name, data in SETS.items():
            write_set(folder, name, data)
        done = validate(folder)
        expect("all match", done.returncode == 0 and "24 of 24 outputs match" in done.stdout, done)
        done = validate(folder, "--shape", "3,1")
        expect("a shape", done.returncode == 0 and "12 of 12 outputs match" in done.stdout, done)
        done = validate(folder, "--shape", "3")
        expect("no shape", done.returncode == 2 and "N,C" in done.stderr, done)
    # Another name of a component is right; every other change is wrong.
    wrong = {"bfs": (0, 1), "pr": (2, 0.139), "cdlp": (1, 2), "lcc": (2, 0.334), "sssp": (3, 7.49)}
    for algorithm, (place, value) in [*wrong.items(), ("wcc", (0, 4)), ("wcc", (4, 1))]:
        changed = list(SETS["directed"][algorithm])
        changed[place] = value
        with tempfile.TemporaryDirectory(prefix="slimgraph-test-") as folder:
            write_set(folder, "directed", SETS["directed"], **{algorithm: changed})
            done = validate(folder, "--shape", "1,1")
            expect(f"a wrong {algorithm}",
                   done.returncode == 1 and "5 of 6 outputs match" in done.stdout, done)
    renamed = [7 if value == 1 else value for value in SETS["directed"]["wcc"]]
    with tempfile.TemporaryDirectory(prefix="slimgraph-test-") as folder:
        write_set(folder, "directed", SETS["directed"], wcc=renamed)
        done = validate(folder, "--shape", "1,1")
        expect("another name of a component", done.returncode == 0, done)
        os.remove(f"{folder}/directed/directed-LCC")
        done = validate(folder)
        expect("a missing reference", done.returncode == 1
               and "has no file directed-LCC" in done.stderr, done)
    with tempfile.TemporaryDirectory(prefix="slimgraph-test-") as folder:
        done = validate(folder)
        expect("no data set", done.returncode == 1 and "no .properties files" in done.stderr, done)
    print("validate_test: all passed")


if __name__ == "__main__":
    main()
