#!/usr/bin/env python3
"""run.py [--seed N] [--planted] [--compile WORDS] [--link WORDS] PROGRAM…: runs checks under
relacy, each of which must pass. With --planted, it then tests that each finds the weaker orders of
planted/NAME/*.patch.

A patch is applied to copies of the files that it changes. The check is compiled with these before
the tree, and must fail. The last line counts checks and patches.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
LIMIT_S = 300  # for one program, on a slow and busy machine
CHANGED = re.compile(r"^\+\+\+ b/(\S+)", re.M)
FAILED = re.compile(r"^(.*): FAILED: (.*)$", re.M)


def run(program, words):
    """Runs a check. Returns its output, or in words why there is none, and its exit code."""
    try:
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False,
                              timeout=LIMIT_S)
        return done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired:
        return f"not done after {LIMIT_S} s", 2


def check(program, words):
    """Returns whether a check passes, and what to print."""
    start = time.monotonic()
    output, code = run(program, words)
    name = os.path.basename(program)
    mark = "passed" if code == 0 else "FAILED"
    return code == 0, f"  {mark}  {name}: {time.monotonic() - start:.0f} s\n{output.rstrip()}"


def build_planted(name, patch, folder, options):
    """Applies a patch and compiles the check `name` with it. Returns the program's path, and what
    has gone wrong or an empty string."""
    shutil.rmtree(folder, ignore_errors=True)
    with open(patch, encoding="utf-8") as file:
        changes = file.read()
    for path in CHANGED.findall(changes):
        os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
        shutil.copy(os.path.join(ROOT, path), os.path.join(folder, path))
    applied = subprocess.run(["patch", "-p1", "--force", "--no-backup-if-mismatch", "-r", "-"],
                             cwd=folder, input=changes, capture_output=True, text=True, check=False)
    if applied.returncode != 0:
        return "", f"its patch no longer applies: {applied.stdout.strip().splitlines()[-1:]}"
    program = os.path.join(folder, name)
    compiled = subprocess.run(
        [*shlex.split(options.compile), "-iquote", folder, os.path.join(HERE, name + ".cc"),
         *shlex.split(options.link), "-o", program],
        cwd=ROOT, capture_output=True, text=True, check=False)
    return program, "it does not build: " + compiled.stderr[-2000:] if compiled.returncode else ""


def find_planted(name, patch, options, words):
    """Returns whether the check `name` finds a planted defect, and what to print."""
    label = name + "/" + os.path.basename(patch)[:-len(".patch")]
    folder = os.path.join(options.scratch, label)
    program, wrong = build_planted(name, patch, folder, options)
    found = None
    if not wrong:
        output, code = run(program, words)
        found = FAILED.search(output) if code == 1 else None
        wrong = "" if found else f"not found (exit code {code})"
    said = f"{found.group(2)} ({found.group(1)})" if found else wrong
    return bool(found), f"  {'found' if found else 'FAILED':6}  {label}: {said}"


def patches_of(name):
    folder = os.path.join(HERE, "planted", name)
    return sorted(os.path.join(folder, file) for file in os.listdir(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed")
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--compile", default="g++", metavar="WORDS")
    parser.add_argument("--link", default="", metavar="WORDS")
    parser.add_argument("--scratch", default=os.path.join(ROOT, "build/relacy/planted"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    options = parser.parse_args()
    words = ["--seed", options.seed] if options.seed else []
    names = [os.path.basename(program) for program in options.programs]
    counts = [0, 0]
    with ThreadPoolExecutor(options.jobs) as pool:
        results = [pool.submit(check, os.path.abspath(program), words)
                   for program in options.programs]
        results += [pool.submit(find_planted, name, patch, options, words)
                    for name in names if options.planted for patch in patches_of(name)]
        for result in results:
            good, said = result.result()
            print(said, flush=True)
            counts[not good] += 1
    print(f"{counts[0]} passed, {counts[1]} failed")
    return 1 if counts[1] else 0


if __name__ == "__main__":
    sys.exit(main())
