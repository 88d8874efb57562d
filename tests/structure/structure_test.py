#!/usr/bin/env python3
"""Checks the tree's structure: includes go down or sideways, internals stay inside, files short.

Every rule is a function from {path: text} to a list of complaints. It is applied to the tree and to
a made-up tree that breaks it, so that a rule that detects nothing fails as well.
"""
import fnmatch
import os
import re
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
# From the bottom up; folders in one row do not include each other.
LAYERS = [["slimgraph/base"], ["slimgraph/files"], ["slimgraph/stats"], ["slimgraph/launch"],
          ["slimgraph/fabric"],
          ["slimgraph/cluster"], ["slimgraph/graph"], ["slimgraph/remote"], ["slimgraph/pool"],
          ["dgemini", "dkudu", "txnlayer"], ["slimgraph/session"],
          ["apps", "examples", "python/src"], ["tests"]]
# The rooms (folders) of txnlayer, from the bottom up. Its top-level headers belong to `engine`.
ROOMS = ["store", "execution", "stages", "locks", "graph_model", "disk", "durability",
         "replication", "engine", "protocol", "ordered", "graph", "workload", "replay"]
RANK = {folder: rank for rank, row in enumerate(LAYERS) for folder in row}
# Libraries that only one file may include, so that they can be replaced.
ONE_OWNER = {"CLI11": "<CLI/", "nlohmann": "<nlohmann/", "MPI": "<mpi.h>",
             "libsodium": "<sodium"}
# System interfaces that only base/ may use: threads, clocks, poll, address resolution, randomness.
SYSTEM = re.compile(r"std::(?:recursive_|shared_)?mutex\b|std::condition_variable|std::j?thread\b|"
                    r"std::this_thread|std::call_once|std::once_flag|::p?poll\(|::epoll_\w+\(|"
                    r"::eventfd\(|steady_clock::now|system_clock::now|::clock_gettime\(|::usleep\(|"
                    r"std::time\(|__rdtsc|"
                    r"::getrandom\(|random_device|::getaddrinfo\(|::inet_pton\(")
# Connections between nodes.
NETWORK = re.compile(r"(?<!std)::(?:socket|bind|listen|accept4?|connect|send|sendto|sendmsg|recv|"
                     r"recvfrom|recvmsg|shutdown)\(")
# The launcher and its nodes, which are processes of one host and pass descriptors to each other; a
# bench that compares with bare sockets.
HAVE_OWN_SOCKETS = ("slimgraph/launch/internal/launcher_link.cc",
                    "apps/measure/bench_fabric_bars.cc")
# Files that stay. Reading others' files by std::ifstream is not meant, nor are processes and pipes.
FILES = re.compile(r"(?<!std)(?<!filesystem)::(?:open|openat|creat|opendir|readdir|mkdir|mkdirat|"
                   r"rmdir|rename|renameat2?|unlink|unlinkat|link|linkat|symlink|fsync|fdatasync|"
                   r"sync|syncfs|msync|sync_file_range|truncate|ftruncate|fallocate|flock|l?f?stat|"
                   r"access|pread|pwrite|preadv|pwritev|copy_file_range|mkstemp|mkdtemp)\(|"
                   r"std::o?fstream\b|std::filesystem::\w+|\bfopen\(|std::(?:rename|remove)\(")
# In these trees, base/files.h alone calls the system, so that a simulation can take its place.
KEEP_FILES = ("slimgraph/", "dgemini/", "dkudu/", "txnlayer/")
# Control groups, shared memory and /dev/null are no files that stay.
HAVE_OWN_FILES = ("slimgraph/base/files.h", "slimgraph/base/control_group.cc",
                  "slimgraph/base/shared_memory.cc", "slimgraph/launch/node_limits.cc",
                  "slimgraph/launch/local_job.cc")
MAX_LINES = 450
MAX_COLUMNS = 100
README_LINES = 15

INCLUDE = re.compile(r'^\s*#\s*include\s+(<[^>]+>|"[^"]+")', re.M)


def layer_of(path):
    return next((folder for folder in RANK if path.startswith(folder + "/")), None)


def is_code(path):
    return path.endswith((".cc", ".h"))


def includes(files):
    """Yields (path, included name) for each include with quotes."""
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


def room_of(path):
    parts = [part for part in path.split("/") if part != "internal"]
    return None if parts[0] != "txnlayer" else "engine" if len(parts) == 2 else parts[1]


def every_room_has_its_place(files):
    rooms = {room_of(path) for path in files if is_code(path)} - {None}
    return [f"txnlayer/{room}: is not in ROOMS; add it"
            for room in sorted(rooms - set(ROOMS))]


def rooms_have_a_readme_and_two_files(files):
    complaints = []
    rooms = {room_of(path) for path in files if is_code(path)} - {None}
    for room in sorted(rooms):
        inside = any(path.startswith(f"txnlayer/internal/{room}/") for path in files)
        folder = f"txnlayer/internal/{room}/" if inside else f"txnlayer/{room}/"
        if not re.search(r"\w+\.h\b", files.get(folder + "README.md", "")):
            complaints.append(f"{folder}README.md: names no header to open first")
        if sum(path.startswith(folder) and is_code(path) for path in files) < 2:
            complaints.append(f"{folder}: a folder for one file")
    return complaints


def includes_go_down_between_rooms(files):
    complaints = []
    for path, name in includes(files):
        here, there = room_of(path), room_of(name)
        if here not in ROOMS or there not in ROOMS or ROOMS.index(there) <= ROOMS.index(here):
            continue
        complaints.append(f'{path}: "{name}" goes up to the room {there}')
    return complaints


def internals_stay_inside(files):
    return [f'{path}: "{name}" is internal to {name.split("/internal/")[0]}'
            for path, name in includes(files) if "/internal/" in name
            and not path.startswith((name.split("/internal/")[0] + "/", "tests/"))]


def base_alone_meets_the_system(files):
    return [f"{path}: only slimgraph/base/ may use {found.group()}"
            for path, text in files.items()
            if is_code(path) and not path.startswith(("slimgraph/base/", "tests/"))
            for rule in ([SYSTEM] if path in HAVE_OWN_SOCKETS else [SYSTEM, NETWORK])
            for found in rule.finditer(text)]


def one_header_calls_the_system_on_files(files):
    return [f"{path}: only slimgraph/base/files.h may use {found.group()}"
            for path, text in files.items()
            if is_code(path) and path.startswith(KEEP_FILES) and path not in HAVE_OWN_FILES
            for found in FILES.finditer(text)]


def libraries_have_one_owner(files):
    complaints = []
    for library, sign in ONE_OWNER.items():
        owners = [path for path, text in files.items() if is_code(path)
                  and any(name.startswith(sign) for name in INCLUDE.findall(text))]
        if len(owners) > 1:
            complaints.append(f"{library} is included by more than one file: {', '.join(owners)}")
    return complaints


def headers_are_guarded(files):
    return [f"{path}: no #pragma once" for path, text in files.items()
            if path.endswith(".h") and "\n#pragma once\n" not in "\n" + text]


def files_are_short(files):
    return [f"{path}: {len(text.splitlines())} lines, more than {MAX_LINES}"
            for path, text in files.items() if len(text.splitlines()) > MAX_LINES]


def lines_are_short(files):
    return [f"{path}:{number}: {len(line)} columns, more than {MAX_COLUMNS}"
            for path, text in files.items() if not path.endswith((".md", ".mk", ".patch"))
            for number, line in enumerate(text.splitlines(), 1) if len(line) > MAX_COLUMNS]


def folders_have_a_readme(files):
    complaints = []
    folders = {layer_of(path) for path in files if is_code(path)} - {None, "tests", "apps",
                                                                     "examples"}
    for folder in sorted(folders):
        text = files.get(folder + "/README.md")
        if text is None:
            complaints.append(f"{folder}: no README.md")
        elif len(text.splitlines()) > README_LINES:
            complaints.append(f"{folder}/README.md: more than {README_LINES} lines")
        elif not any(f"{folder}/{name}" in files for name in re.findall(r"\w+\.h\b", text)):
            complaints.append(f"{folder}/README.md: names no header of the folder to open first")
    return complaints


# A pattern that matches no test leaves its tests out without a word. Of a pattern like
# '*/Suite.Name*/parameter', the part with the suite is looked up.
def filters_find_tests(files):
    tests = {f"{suite}.{name}" for path, text in files.items() if path.endswith("_test.cc")
             for suite, name in re.findall(r"\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\)", text)}
    complaints = []
    for path, text in files.items():
        for line in re.findall(r"^RACE_(?!TESTS|FILTER)\w+ *:= *(.*)$", text, re.M):
            for pattern in line.split(":"):
                parts = [part for part in pattern.split("/")
                         if "." in part or re.search(r"\w\*$", part)]
                if parts and not any(fnmatch.fnmatchcase(name, parts[0] + "*")
                                     or fnmatch.fnmatchcase(name, parts[0]) for name in tests):
                    complaints.append(f"{path}: no test is called {pattern}")
    return complaints


# A file that is named in a page, or with its folder in a comment, exists: the name is the end of a
# path. FAMILY/NAME.cc and file_name.cc stand for any file.
def planted_defects_apply(files):
    """What a patch replaces is in the file that it names."""
    complaints = []
    for path in sorted(files):
        if not path.endswith(".patch"):
            continue
        target = None
        for part in re.split(r"^(?=\+\+\+ |@@ )", files[path], flags=re.M):
            head, _, body = part.partition("\n")
            if head.startswith("+++ "):
                target = head[len("+++ b/"):].split("\t")[0]
            elif head.startswith("@@ "):
                body = re.split(r"^--- ", body, flags=re.M)[0]
                old = "".join(line[1:] or "\n" for line in body.splitlines(True)
                              if line[0] in " -\n")
                if old not in files.get(target, ""):
                    complaints.append(f"{path}: {target} has not what the patch replaces")
    return complaints


def named_files_exist(files):
    complaints = []
    ends = {"/".join(path.split("/")[i:]) for path in files for i in range(path.count("/") + 1)}
    for path, text in files.items():
        names = []
        if path.endswith(".md"):
            names = re.findall(r"`((?:[\w-]+/|\.\./)*[\w-]+\.(?:h|cc|py|mk))`", text)
        elif is_code(path):
            for comment in re.findall(r"//.*", text):
                names += re.findall(r"(?<![\w./])((?:\w+/)+\w+\.(?:h|cc))\b", comment)
        complaints += [f"{path}: there is no {name}" for name in names
                       if re.sub(r"^(\.\./)+", "", name) not in ends
                       and not re.search(r"[A-Z]{3}|file_name", name)]
    return complaints


# (rule, a made-up tree that breaks it, how many complaints that makes)
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
    (every_room_has_its_place, {"txnlayer/cellar/a.h": CODE, "txnlayer/b.h": CODE}, 1),
    (rooms_have_a_readme_and_two_files,
     {"txnlayer/store/a.h": CODE, "txnlayer/store/b.h": CODE, "txnlayer/store/README.md": "a.h",
      "txnlayer/disk/c.h": CODE, "txnlayer/disk/c.cc": "", "txnlayer/graph/d.h": CODE,
      "txnlayer/graph/README.md": "Open d.h first.\n"}, 2),
    (includes_go_down_between_rooms,
     {"txnlayer/store/a.h": '#include "txnlayer/engine.h"\n',
      "txnlayer/engine.h": '#include "txnlayer/store/a.h"\n#include "txnlayer/graph/b.h"\n',
      "txnlayer/replication/c.h": '#include "txnlayer/engine.h"\n',
      "txnlayer/graph/b.h": '#include "txnlayer/graph/b.h"\n'}, 3),
    (internals_stay_inside,
     {"slimgraph/fabric/a.cc": '#include "slimgraph/launch/internal/b.h"\n',
      "slimgraph/launch/c.cc": '#include "slimgraph/launch/internal/b.h"\n',
      "slimgraph/launch/internal/d.cc": '#include "slimgraph/launch/internal/b.h"\n',
      "tests/launch/e.cc": '#include "slimgraph/launch/internal/b.h"\n'}, 1),
    (base_alone_meets_the_system,
     {"apps/a.cc": "std::mutex a; std::unique_lock<Mutex> b; ::poll(waits, 1, 0); poll(1);",
      "dkudu/b.cc": "std::shared_mutex a; SleepFor(b); std::thread::id c; __rdtsc();",
      "slimgraph/base/c.cc": "std::mutex a;", "tests/base/d.cc": "std::thread a;"}, 5),
    (one_header_calls_the_system_on_files,
     {"txnlayer/disk/a.cc": "::fdatasync(fd); file.Open(path); Store::Open(path); ::rename(a, b);",
      "slimgraph/launch/b.cc": "if (::open(path, O_RDONLY) < 0) std::ofstream file(path);",
      "slimgraph/base/c.cc": "files::Sync(fd); (::unlink(p)); std::ifstream file(path);",
      "dkudu/d.h": "std::filesystem::rename(a, b); std::remove_if(a, b, c); std::remove(path);",
      "dgemini/e.cc": "::mkdir(path, 0777); ::lstat(path, &info); std::fopen(path); lines.sync();",
      "slimgraph/base/files.h": "::open(path, flags);", "apps/f.cc": "::fsync(fd);"}, 10),
    (libraries_have_one_owner,
     {"apps/a.cc": "#include <CLI/CLI.hpp>\n", "apps/b.cc": "#include <CLI/App.hpp>\n",
      "slimgraph/fabric/c.cc": "#include <mpi.h>\n"}, 1),
    (headers_are_guarded, {"apps/a.h": "// #pragma once\n", "apps/b.h": "// why\n" + CODE}, 1),
    (files_are_short, {"apps/a.cc": "\n" * 451, "apps/b.cc": "\n" * 450}, 1),
    (lines_are_short, {"apps/a.cc": "é" * 100 + "\n" + "x" * 101, "apps/b.md": "x" * 101}, 1),
    (filters_find_tests,
     {"make/a.mk": "RACE_A := */shm2:Suite.Na*:*/Suite.Other*/x:None*:All/None.Name/x\n",
      "tests/base/a_test.cc": "TEST_P(Suite, Name) {}\nTEST(Suite,\n  OtherName) {}"}, 2),
    (named_files_exist,
     {"docs/a.md": "`base/b.h` `b.h` `../b.h` `c.h` `apps/FAMILY/NAME.cc`",
      "slimgraph/base/b.h": CODE, "apps/c.cc": "// see base/b.h and base/d.h, or e.h\n"}, 2),
    (folders_have_a_readme,
     {"dgemini/a.h": CODE, "dkudu/b.h": CODE, "dkudu/README.md": "Open c.h first.\n",
      "txnlayer/d.h": CODE, "txnlayer/README.md": "Open d.h first.\n",
      "slimgraph/base/e.h": CODE, "slimgraph/base/README.md": "e.h\n" * 16}, 3),
    (planted_defects_apply,
     {"tests/sim/planted/a.patch": "--- a/x/y.cc\n+++ b/x/y.cc\n@@ -1,1 +1,1 @@\n-one\n+two\n"
                                   "@@ -3,1 +3,1 @@\n-three\n+four\n",
      "x/y.cc": "one\n"}, 1),
]


def read_tree():
    files = {}
    for top in ("apps", "examples", "slimgraph", "dgemini", "dkudu", "txnlayer", "tests",
                "datasets", "docs", ".ci", "make", "python"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                if is_code(path) or name == "run" or name.endswith(
                        (".md", ".mk", ".py", ".sh", ".patch")):
                    with open(os.path.join(ROOT, path), encoding="utf-8",
                              errors="replace") as file:
                        files[path] = file.read()
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            files[name] = file.read()
    return files


def main():
    tree = read_tree()
    counts = [0, 0]
    for rule, broken, times in MADE_UP:
        complaints = rule(tree)
        seen = len(rule(broken))
        if seen != times:
            complaints.append(f"the rule detects {seen} of {times} made-up faults")
        if complaints:
            print(f"FAILED: {rule.__name__}", *complaints, sep="\n  ")
        counts[bool(complaints)] += 1
    print(f"{counts[0]} passed, {counts[1]} failed")
    return 1 if counts[1] else 0


sys.exit(main())
