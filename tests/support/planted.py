#!/usr/bin/env python3
"""planted.py FOLDER [NAME…]: the tests of tests/FOLDER find each defect of tests/FOLDER/planted.

Each patch is applied to a copy of the tree, built there on top of existing objects, and reverted.
If the first line of a patch is "tests: PATTERN", only these tests run. The last line counts the
defects.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from patched_copy import ROOT, PatchedCopy, planted_options  # noqa: E402

COMMAND = "build/release/slimgraph"
LIMIT_S = 120
PATTERN = re.compile(r"\Atests: (\S+)\n")
FAILED = re.compile(r"^\[ +FAILED +\] (\S+?)(?:, where .*)? \(\d+ ms\)$", re.M)


def main():
    options = planted_options(__doc__, folder=None)
    copy = PatchedCopy(os.path.join(ROOT, "tests", options.folder), "release", ("bench", "plain"))
    test = f"build/release/tests/{options.folder}_test"
    environment = os.environ | {"TEST_SLIMGRAPH_COMMAND": os.path.join(copy.root, COMMAND)}

    def find(name):
        with open(os.path.join(copy.patches, name + ".patch"), encoding="utf-8") as file:
            pattern = PATTERN.match(file.read())
        words = [test] + ([f"--gtest_filter={pattern[1]}"] if pattern else [])
        try:
            done = subprocess.run(words, cwd=copy.root, capture_output=True, text=True,
                                  timeout=LIMIT_S, check=False, env=environment)
        except subprocess.TimeoutExpired:
            return "it does not end"
        if " Running 0 tests " in done.stdout:
            sys.exit(f"{name}: there are no tests {pattern[1]}")
        failed = FAILED.search(done.stdout)
        return failed.group(1) if failed else "it ends early" if done.returncode else ""

    return copy.try_all(options.names, [*options.make.split(), test, COMMAND], find)


if __name__ == "__main__":
    sys.exit(main())
