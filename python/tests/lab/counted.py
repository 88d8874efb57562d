"""Runs the test cases of a script, and prints their counts as its last line for tests/run."""
import os
import sys
import unittest

TREE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
COMMAND = os.environ.get("TEST_SLIMGRAPH_COMMAND", f"{TREE}/build/release/slimgraph")
sys.path.insert(0, f"{TREE}/python")
sys.dont_write_bytecode = True


def main():
    result = unittest.main(verbosity=0, exit=False).result
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed"
          + f", {skipped} skipped" * bool(skipped))
    sys.exit(1 if failed or not result.testsRun else 0)
