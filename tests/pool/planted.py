#!/usr/bin/env python3
"""planted.py [NAME…]: tests that the tests of pools find each defect of planted/.

Each patch is applied to a copy of the tree, built there on top of existing objects, and reverted. A
defect is found when a test fails: tests/pool, those of confined processes (tests/base), of hosts'
caches (tests/fabric), jobs on pools (tests/apps), or kills at random moments. The last line counts
the defects.
"""
import os
import re
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))
from patched_copy import PatchedCopy, planted_options  # noqa: E402

COMMAND, POOL_TEST, BASE_TEST, FABRIC_TEST, APPS_TEST = (
    "build/release/" + name
    for name in ("slimgraph", "tests/pool_test", "tests/base_test", "tests/fabric_test",
                 "tests/apps_test"))
FAILED = re.compile(r"^\[ +FAILED +\] (\S+) \(\d+ ms\)$|^(point \d+ .*)$", re.M)
LIMIT_S = 300


def kill_all_of(root):
    """Kills all processes whose program is in this folder: nodes of pools outlive the tests."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/exe").startswith(root + "/"):
                os.kill(int(name), signal.SIGKILL)
        except OSError:  # it has ended, or is another user's
            pass


def main():
    options = planted_options(__doc__)
    copy = PatchedCopy(HERE, "release", ("bench", "plain"))
    tests = [[POOL_TEST], [BASE_TEST, "--gtest_filter=Confined*"],
             [FABRIC_TEST, "--gtest_filter=HostCache*"],
             [APPS_TEST, "--gtest_filter=Pool*:SharedPool*:Resizing*:Surviving*"],
             [sys.executable, "tests/pool/kills_test.py", "--points", "60"]]

    def find(_):
        command = os.path.join(copy.root, COMMAND)
        for words in tests:
            try:
                done = subprocess.run(words, cwd=copy.root, capture_output=True, text=True,
                                      timeout=LIMIT_S, check=False,
                                      env=os.environ | {"TEST_SLIMGRAPH_COMMAND": command})
            except subprocess.TimeoutExpired:
                return f"{words[0]}: not done after {LIMIT_S} s"
            finally:
                kill_all_of(copy.root)
            if done.returncode != 0:
                failed = FAILED.search(done.stdout)
                return next(filter(None, failed.groups())) if failed else f"{words[0]} ends early"
        return ""

    programs = [COMMAND, POOL_TEST, BASE_TEST, FABRIC_TEST, APPS_TEST]
    return copy.try_all(options.names, [*options.make.split(), *programs], find)


if __name__ == "__main__":
    sys.exit(main())
