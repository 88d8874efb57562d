#!/usr/bin/env python3
"""The tree keeps to its shape: includes go down or sideways, internals stay inside, files short.

Every rule is a function from {path: text} to a list of complaints. It is held against the tree, and
against a made-up one that breaks it, so that a rule that sees nothing fails as well.
"""
import os
import re
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
# From the bottom up; those in one row know nothing of each other.
LAYERS = [["slimgraph/base"], ["slimgraph/stats"], ["slimgraph/launch"], ["slimgraph/fabric"],
          ["slimgraph/cluster"], ["slimgraph/graph"], ["slimgraph/remote"],
          ["dgemini", "dkudu", "txnlayer", "experiment"], ["apps"], ["tests"]]
RANK = {folder: rank for rank, row in enumerate(LAYERS) for folder in row}
# Libraries of which one file of ours knows, so that they can be replaced.
ONE_OWNER = {"CLI11": "<CLI/", "nlohmann": "<nlohmann/", "MPI": "<mpi.h>"}
MAX_LINES = 450
MAX_COLUMNS = 100
README_LINES = 15

INCLUDE = re.compile(r'^\s*#\s*include\s+(<[^>]+>|"[^"]+")', re.M)


def layer_of(path):
    return next((folder for folder in RANK if path.startswith(folder + "/")), None)


def is_code(path):
    return path.endswith((".cc", ".h"))


def includes(files):
    """(path, what stands between the quotes) for each include of a file of ours."""
    for path, text in files.items():
        if is_code(path):
            for name in INCLUDE.findall(text):
                if name.startswith('"'):
                    yield path, name.strip('"')


def every_file_is_in_a_layer(files):
    return [f"{path}: in no layer; add its folder to LAYERS" for path in files
            if is_code(path) and layer_of(path) is None]


def included_files_exist(files):
    return [f'{path}: "{name}" is not a path from the top of the tree'
            for path, name in includes(files) if name not in files]


def includes_go_down_or_sideways(files):
    complaints = []
    for path, name in includes(files):
        here, there = layer_of(path), layer_of(name)
        if here and there and here != there and RANK[there] >= RANK[here]:
            way = "up to" if RANK[there] > RANK[here] else "across to"
            complaints.append(f'{path}: "{name}" goes {way} {there}')
    return complaints


def internals_stay_inside(files):
    return [f'{path}: "{name}" is internal to {name.split("/internal/")[0]}'
            for path, name in includes(files) if "/internal/" in name
            and not path.startswith((name.split("/internal/")[0] + "/", "tests/"))]


def libraries_have_one_owner(files):
    complaints = []
    for library, sign in ONE_OWNER.items():
        owners = [path for path, text in files.items() if is_code(path)
                  and any(name.startswith(sign) for name in INCLUDE.findall(text))]
        if len(owners) > 1:
            complaints.append(f"{library} is included by more than one: {', '.join(owners)}")
    return complaints


def headers_are_guarded(files):
    return [f"{path}: no #pragma once" for path, text in files.items()
            if path.endswith(".h") and "\n#pragma once\n" not in "\n" + text]


def files_are_short(files):
    return [f"{path}: {len(text.splitlines())} lines, more than {MAX_LINES}"
            for path, text in files.items() if len(text.splitlines()) > MAX_LINES]


def lines_are_short(files):
    return [f"{path}:{number}: {len(line)} columns, more than {MAX_COLUMNS}"
            for path, text in files.items() if not path.endswith(".md")
            for number, line in enumerate(text.splitlines(), 1) if len(line) > MAX_COLUMNS]


def folders_have_a_readme(files):
    complaints = []
    folders = {layer_of(path) for path in files if is_code(path)} - {None, "tests", "apps"}
    for folder in sorted(folders):
        text = files.get(folder + "/README.md")
        if text is None:
            complaints.append(f"{folder}: no README.md")
        elif len(text.splitlines()) > README_LINES:
            complaints.append(f"{folder}/README.md: more than {README_LINES} lines")
        elif not any(f"{folder}/{name}" in files for name in re.findall(r"\w+\.h\b", text)):
            complaints.append(f"{folder}/README.md: names no header of the folder to open first")
    return complaints


# A tree that breaks each rule, and how often.
CODE = "#pragma once\n"
MADE_UP = [
    (every_file_is_in_a_layer, {"elsewhere/a.cc": "", "slimgraph/other/b.h": CODE}, 2),
    (included_files_exist, {"apps/a.cc": '#include "b.h"\n#include <vector>\n'}, 1),
    (includes_go_down_or_sideways,
     {"slimgraph/base/a.h": '#include "slimgraph/stats/b.h"\n', "slimgraph/stats/b.h": CODE,
      "dkudu/c.cc": '  #  include "dgemini/d.h"\n#include "dkudu/c.h"\n', "dgemini/d.h": CODE,
      "slimgraph/fabric/e.cc": '#include "slimgraph/stats/b.h"\n#include "slimgraph/graph/g.h"\n',
      "apps/f.cc": '#include "tests/support/f.h"\n#include "dgemini/d.h"\n',
      "tests/base/h.cc": '#include "apps/f.h"\n'}, 4),
    (internals_stay_inside,
     {"slimgraph/fabric/a.cc": '#include "slimgraph/launch/internal/b.h"\n',
      "slimgraph/launch/c.cc": '#include "slimgraph/launch/internal/b.h"\n',
      "slimgraph/launch/internal/d.cc": '#include "slimgraph/launch/internal/b.h"\n',
      "tests/launch/e.cc": '#include "slimgraph/launch/internal/b.h"\n'}, 1),
    (libraries_have_one_owner,
     {"apps/a.cc": "#include <CLI/CLI.hpp>\n", "apps/b.cc": "#include <CLI/App.hpp>\n",
      "slimgraph/fabric/c.cc": "#include <mpi.h>\n"}, 1),
    (headers_are_guarded, {"apps/a.h": "// #pragma once\n", "apps/b.h": "// why\n" + CODE}, 1),
    (files_are_short, {"apps/a.cc": "\n" * 451, "apps/b.cc": "\n" * 450}, 1),
    (lines_are_short, {"apps/a.cc": "é" * 100 + "\n" + "x" * 101, "apps/b.md": "x" * 101}, 1),
    (folders_have_a_readme,
     {"dgemini/a.h": CODE, "dkudu/b.h": CODE, "dkudu/README.md": "Open c.h first.\n",
      "txnlayer/d.h": CODE, "txnlayer/README.md": "Open d.h first.\n",
      "slimgraph/base/e.h": CODE, "slimgraph/base/README.md": "e.h\n" * 16}, 3),
]


def read_tree():
    files = {}
    for top in ("apps", "slimgraph", "dgemini", "dkudu", "txnlayer", "experiment", "tests",
                "datasets", ".ci"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                if is_code(path) or name.endswith((".md", ".py", ".sh")) or name == "run":
                    with open(os.path.join(ROOT, path), encoding="utf-8",
                              errors="replace") as file:
                        files[path] = file.read()
    return files


def main():
    tree = read_tree()
    counts = [0, 0]
    for rule, broken, times in MADE_UP:
        complaints = rule(tree)
        seen = len(rule(broken))
        if seen != times:
            complaints.append(f"the rule is blind: it sees {seen} of {times} made-up faults")
        if complaints:
            print(f"FAILED: {rule.__name__}", *complaints, sep="\n  ")
        counts[bool(complaints)] += 1
    print(f"{counts[0]} passed, {counts[1]} failed")
    return 1 if counts[1] else 0


sys.exit(main())
