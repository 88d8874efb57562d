#!/usr/bin/env python3
"""planted.py [NAME…]: tests that `make sim` finds each defect of planted/ within some seeds.

Each patch is applied to a copy of the tree, built there on top of existing objects, and reverted. A
defect is found when one of the scenarios fails that the first line of its patch names; the line may
have options of `simulate` too. The last line counts the defects.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))
from patched_copy import PatchedCopy, planted_options  # noqa: E402

FAILED = re.compile(r"^(\S+) +\d+ seeds passed.*\n  FAILED (seed \d+: .*)$", re.M)


def main():
    options = planted_options(__doc__, seeds={"default": "5000"})
    copy = PatchedCopy(HERE, "sim", ("planted",))
    program = "build/sim/tests/simulate"

    def find(name):
        with open(os.path.join(copy.patches, name + ".patch"), encoding="utf-8") as file:
            scenarios = file.readline().removeprefix("Scenarios:").split()
        done = subprocess.run([os.path.join(copy.root, program), "--seeds", options.seeds,
                               "--until-failure", *scenarios],
                              capture_output=True, text=True, check=False)
        return "; ".join(f"{scenario}: {what[:100]}"
                         for scenario, what in FAILED.findall(done.stdout))

    return copy.try_all(options.names, [*options.make.split(), "MODE=sim", program], find)


if __name__ == "__main__":
    sys.exit(main())
