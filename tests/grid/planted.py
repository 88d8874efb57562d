#!/usr/bin/env python3
"""planted.py [NAME…]: tests that the grid finds each defect of planted/ within two minutes.

Each patch is applied to a copy of the tree, built there on top of existing objects, and reverted.
A defect is found when a point fails with the patch and passes three times without it. The last line
counts the defects.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
COPY = os.path.join(ROOT, "build/planted")
SOUND = os.path.join(COPY, "build/sound")  # the command without a patch
LIMIT_S = 120
FAILED = re.compile(r"^FAILED point (\d+) \((\w+)\): (.*)$", re.M)
SEED = re.compile(r"^grid: seed (\d+)", re.M)


def copy_tree():
    """Copies sources and objects with their times, so that make compiles only what changes."""
    shutil.rmtree(COPY, ignore_errors=True)
    built = os.path.join(ROOT, "build")

    def left_out(folder, names):
        if folder == ROOT:
            return [name for name in names if name in ("build", ".git")]
        return [name for name in names if name == "planted"] if folder == HERE else []

    shutil.copytree(ROOT, COPY, ignore=left_out, symlinks=True)
    for name in os.listdir(built):
        if name.startswith(".") and os.path.isfile(os.path.join(built, name)):
            os.makedirs(os.path.join(COPY, "build"), exist_ok=True)
            shutil.copy2(os.path.join(built, name), os.path.join(COPY, "build", name))
    shutil.copytree(os.path.join(built, "release"), os.path.join(COPY, "build/release"),
                    ignore=lambda folder, names: [name for name in names
                                                  if name in ("tests", "bench", "plain")])
    shutil.copy2(os.path.join(built, "release/slimgraph"), SOUND)


def patch(name, *words):
    with open(os.path.join(HERE, "planted", name + ".patch"), "rb") as file:
        return subprocess.run(["patch", "-p1", "--force", "--no-backup-if-mismatch", "-r", "-",
                               *words], cwd=COPY, stdin=file, capture_output=True,
                              text=True, check=False)


def build(make):
    done = subprocess.run([*make.split(), "all"], cwd=COPY, capture_output=True, text=True,
                          check=False)
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-2000:]


def grid(command, checker, *words):
    done = subprocess.run([sys.executable, os.path.join(HERE, "grid.py"), "--command", command,
                           "--checker", checker, "--folder", os.path.join(COPY, "build/grid"),
                           "--shrink-seconds", "0", *words], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def find_defect(checker):
    """Runs the grid. Returns a line about the point that shows the defect, or None."""
    start = time.monotonic()
    planted = os.path.join(COPY, "build/release/slimgraph")
    while time.monotonic() - start < LIMIT_S:
        left = LIMIT_S - (time.monotonic() - start)
        code, text = grid(planted, checker, "--seconds", str(left), "--failures", "1")
        failed, seed = FAILED.search(text), SEED.search(text)
        if code == 0 or not failed:
            return None if code == 0 else f"the grid itself failed: {text[-500:]}"
        words = ["--seed", seed[1], "--point", failed[1]]
        if all(grid(SOUND, checker, *words)[0] == 0 for _ in range(3)):
            return f"{failed[2]}: {failed[3][:120]}, after {time.monotonic() - start:.0f} s"
        print(f"  {' '.join(words)} fails without the patch too: {failed[3][:100]}", flush=True)
    return None


def try_one(name, options):
    applied = patch(name)
    if applied.returncode != 0:
        patch(name, "-R")
        return f"its patch no longer applies: {applied.stdout.strip().splitlines()[-1:]}", False
    try:
        wrong = build(options.make)
        if wrong:
            return f"it does not build: {wrong}", False
        found = find_defect(os.path.abspath(options.checker))
        return (found, True) if found else (f"not found within {LIMIT_S} s", False)
    finally:
        patch(name, "-R")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--make", default="make")
    parser.add_argument("--checker", required=True)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    names = options.names or sorted(name[:-len(".patch")] for name in
                                    os.listdir(os.path.join(HERE, "planted")))
    copy_tree()
    passed = 0
    for name in names:
        said, good = try_one(name, options)
        passed += good
        print(f"  {'found' if good else 'FAILED':6}  {name}: {said}", flush=True)
    print(f"{passed} passed, {len(names) - passed} failed")
    return 0 if passed == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
