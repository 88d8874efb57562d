#!/usr/bin/env python3
"""planted.py [NAME…]: tests that the grid finds each defect of planted/ within two minutes.

Each patch is applied to a copy of the tree, built there on top of existing objects, and reverted.
A defect is found when a point fails with the patch and passes three times without it. The last line
counts the defects.
"""
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))
from patched_copy import PatchedCopy, planted_options  # noqa: E402

LIMIT_S = 120
FAILED = re.compile(r"^FAILED point (\d+) \((\w+)\): (.*)$", re.M)
SEED = re.compile(r"^grid: seed (\d+)", re.M)


def grid(command, checker, *words):
    folder = os.path.join(os.path.dirname(command), "points")
    done = subprocess.run([sys.executable, os.path.join(HERE, "grid.py"), "--command", command,
                           "--checker", checker, "--folder", folder,
                           "--shrink-seconds", "0", *words], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def find_defect(planted, sound, checker):
    """Runs the grid. Returns a line about the point that shows the defect, or None. `sound` is the
    command without a patch."""
    start = time.monotonic()
    while time.monotonic() - start < LIMIT_S:
        left = LIMIT_S - (time.monotonic() - start)
        code, text = grid(planted, checker, "--seconds", str(left), "--failures", "1")
        failed, seed = FAILED.search(text), SEED.search(text)
        if code == 0 or not failed:
            if code != 0:
                print(f"  the grid itself failed: {text[-500:]}", flush=True)
            return None
        words = ["--seed", seed[1], "--point", failed[1]]
        if all(grid(sound, checker, *words)[0] == 0 for _ in range(3)):
            return f"{failed[2]}: {failed[3][:120]}, after {time.monotonic() - start:.0f} s"
        print(f"  {' '.join(words)} fails without the patch too: {failed[3][:100]}", flush=True)
    return None


def main():
    options = planted_options(__doc__, checker={"required": True})
    copy = PatchedCopy(HERE, "release", ("tests", "bench", "plain"))
    planted = os.path.join(copy.root, "build/release/slimgraph")
    sound = os.path.join(copy.root, "build/sound")
    shutil.copy2(planted, sound)
    checker = os.path.abspath(options.checker)
    return copy.try_all(options.names, [*options.make.split(), "all"],
                        lambda _name: find_defect(planted, sound, checker))


if __name__ == "__main__":
    sys.exit(main())
