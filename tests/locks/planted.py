#!/usr/bin/env python3
"""planted.py [NAME…]: tests that tests/locks finds each defect of planted/.

Each patch is applied to a copy of the tree, built there on top of existing objects, and reverted.
The last line counts the defects.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))
from patched_copy import PatchedCopy, planted_options  # noqa: E402

TEST = "build/release/tests/locks_test"
FAILED = re.compile(r"^\[ +FAILED +\] (\S+) \(\d+ ms\)$", re.M)


def main():
    options = planted_options(__doc__)
    copy = PatchedCopy(HERE, "release", ("bench", "plain"))

    def find(_):
        try:
            done = subprocess.run([TEST], cwd=copy.root, capture_output=True, text=True,
                                  timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return "it does not end"
        failed = FAILED.search(done.stdout)
        return failed.group(1) if failed else "it ends early" if done.returncode else ""

    return copy.try_all(options.names, [*options.make.split(), TEST], find)


if __name__ == "__main__":
    sys.exit(main())
