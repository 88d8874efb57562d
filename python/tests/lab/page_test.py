#!/usr/bin/env python3
"""Runs the small form of every experiment and checks its page in headless Chromium. Every plot's
marks and labels must be visible in light mode, dark mode and print, and the console must be silent.

    python/tests/lab/page_test.py [FOLDER]     # checks the page of an existing experiment
"""
import os
import subprocess
import sys
import tempfile

import browser

HERE = os.path.dirname(os.path.abspath(__file__))
COMMAND = os.environ.get("TEST_SLIMGRAPH_COMMAND", "build/release/slimgraph")
STUDIES = ["elasticity", "scalability", "caches", "volume", "protocols", "stages", "coroutines",
           "contention", "computation", "updates"]
BUDGET_S = 600  # on two idle processors, a first round takes a twentieth of it


def experiment(folder):
    done = subprocess.run(
        [COMMAND, "experiment", "all", "--small", "-o", folder, "--budget", f"{BUDGET_S}s",
         "--rounds", "1", "--csv"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BUDGET_S + 120,
        check=False)
    if done.returncode != 0:
        sys.exit(f"experiment all: exit code {done.returncode}: {done.stderr}")
    first = next(line for line in done.stdout.splitlines() if line.startswith("elasticity, "))
    if "N/C" not in first:
        sys.exit(f"the first line of elasticity has no ratio to N/C: {first}")
    for wrong in ("the budget was spent", "not done in"):
        if wrong in done.stderr:
            sys.exit(f"{wrong}: {done.stderr}")
    return done.stderr


def check_plots(page, what, complaints):
    with open(os.path.join(HERE, "check_plots.js"), encoding="utf-8") as script:
        seen = page.evaluate(script.read())
    complaints += [f"{what}: {one}" for one in seen["complaints"]]
    if seen["wide"]:
        complaints.append(f"{what}: the page is wider than the window")
    return seen


def main():
    if browser.find() is None:
        print("skipped: there is no chromium (apt-get install chromium)")
        return 77
    with tempfile.TemporaryDirectory(prefix="slimgraph-page-") as scratch:
        folder = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else scratch
        said = experiment(folder) if folder == scratch else ""
        complaints = []
        with browser.Browser() as page:
            page.open(f"file://{folder}/index.html")
            light = check_plots(page, "light", complaints)
            page.ask("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": "dark"}])
            dark = check_plots(page, "dark", complaints)
            if dark["paper"] == light["paper"] or dark["ink"] == light["ink"]:
                complaints.append("the page has the same colours in dark mode")
            page.ask("Emulation.setEmulatedMedia", media="print",
                     features=[{"name": "prefers-color-scheme", "value": "dark"}])
            if check_plots(page, "print", complaints)["paper"] != "rgb(255, 255, 255)":
                complaints.append("the page prints a dark background")
            complaints += [f"the console: {words}" for words in page.words]
            if folder == scratch:
                shown = page.evaluate(
                    "[...document.querySelectorAll('section')].filter(section => "
                    "section.querySelector('.mark')).map(section => section.id)")
                missing = [study for study in STUDIES if study not in shown]
                complaints += [f"{study}: no plot" for study in missing] + [said] * bool(missing)
        print(*sorted(set(complaints)), sep="\n")
        print(f"seen: {light['counts']}")
        return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
