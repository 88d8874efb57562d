#!/usr/bin/env python3
"""Checks the documentation: links, options, error messages, commands and their output.

Each check is a function from pages {path: text} to a list of complaints. It also runs on a made-up
page that breaks it, so that a check that detects nothing fails too.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
COMMAND = os.environ.get("TEST_SLIMGRAPH_COMMAND",
                         os.path.join(ROOT, "build/release/slimgraph"))
README_LINES = 150
# Options of other programs that the pages show.
FOREIGN_OPTIONS = {"--mpi", "--jobid", "--overlap", "--no-shell", "--cpunodebind", "--membind",
                   "--convert", "--cflags", "--libs"}


def pages():
    paths = ["README.md"] + sorted(os.path.relpath(p, ROOT) for p in glob.glob(f"{ROOT}/docs/*.md"))
    return {path: open(os.path.join(ROOT, path), encoding="utf-8").read() for path in paths}


def without_blocks(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def links(text):
    return re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", without_blocks(text))


def links_lead_somewhere(texts):
    complaints = []
    for path, text in texts.items():
        for link in links(text):
            if not re.match(r"[a-z]+:", link):
                target = os.path.join(ROOT, os.path.dirname(path), link)
                if not os.path.exists(target):
                    complaints.append(f"{path}: the link to {link} leads nowhere")
    return complaints


def pages_link_both_ways(texts):
    index = texts.get("docs/README.md", "")
    complaints = []
    for path, text in texts.items():
        name = os.path.basename(path)
        if path.startswith("docs/") and name != "README.md":
            if name not in links(index):
                complaints.append(f"{path}: docs/README.md does not link to it")
            if "README.md" not in links(text):
                complaints.append(f"{path}: does not link back to README.md")
    return complaints


def readme_is_short(texts):
    lines = len(texts.get("README.md", "").splitlines())
    return [f"README.md: {lines} lines, more than {README_LINES}"] if lines > README_LINES else []


def run(words):
    result = subprocess.run([COMMAND] + words, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=60)
    return result.stdout + result.stderr


def subcommands(text):
    """The names below "Subcommands:" in a help text."""
    below = text.partition("Subcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z]\S*)", below, re.M)


def help_texts():
    """Returns {command: its help} for every command and subcommand."""
    texts = {"": run(["--help"])}
    for name in subcommands(texts[""]):
        texts[name] = run([name, "--help"])
        for inner in subcommands(texts[name]):
            texts[f"{name} {inner}"] = run([name, inner, "--help"])
    return texts


HELP = help_texts()


def options_exist(texts):
    known = set(re.findall(r"--[a-z][a-z-]*", "\n".join(HELP.values()))) | FOREIGN_OPTIONS
    known.add("--help")
    return [f"{path}: no command has the option {option}" for path, text in texts.items()
            for option in sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) - known)]


def every_command_is_in_the_readme(texts):
    readme = texts.get("README.md", "")
    return [f"README.md: does not name the command '{name}'" for name in HELP
            if name and not subcommands(HELP[name]) and f"`{name}`" not in readme
            and f"`{name.split()[0]}`" not in readme]


def source_strings():
    """All string literals of the sources, one a line. Adjacent literals are joined."""
    texts = []
    for folder in ("apps", "slimgraph", "dgemini", "dkudu", "txnlayer"):
        for path in glob.glob(f"{ROOT}/{folder}/**/*.cc", recursive=True) + \
                glob.glob(f"{ROOT}/{folder}/**/*.h", recursive=True):
            text = re.sub(r'"\s*\n\s*"', "", open(path, encoding="utf-8").read())
            texts += re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)
    return "\n".join(texts)


STRINGS = source_strings()


def error_messages_exist(texts):
    """The first column of a table quotes messages as `… text … text`: each text must be part of one
    in the sources."""
    complaints = []
    for path, text in texts.items():
        if not path.endswith("troubleshooting.md"):
            continue
        for row in re.findall(r"^\| (`.*?) \|", text, re.M):
            for quoted in re.findall(r"`([^`]+)`", row):
                for piece in (piece.strip() for piece in quoted.split("…")):
                    if piece not in STRINGS:
                        complaints.append(f"{path}: no source says '{piece}'")
    return complaints


def masked(output):
    """Masks what differs from run to run: times, rates, memory, traffic and processes."""
    output = re.sub(r"^crossed the fabric: .*$", "crossed the fabric: …", output, flags=re.M)
    output = re.sub(r"^aborted: .*$", "aborted: …", output, flags=re.M)
    output = re.sub(r"[\d.,]+ (us|ms|s|KiB|MiB|GiB|B)\b", "#", output)
    output = re.sub(r"[\d,]+ transactions in", "# transactions in", output)
    output = re.sub(r"[\d.,]+ (M edges/s|per second)", r"# \1", output)
    output = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "#", output)
    output = re.sub(r"\d{12,}|(?<=process )\d+", "#", output)
    return output.strip()


def sessions(text):
    """[(command, shown output)] of the page's console blocks."""
    steps = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = step.partition("\n")
            steps.append((command, output))
    return steps


def commands_print_what_is_shown(texts):
    complaints = []
    for path, text in texts.items():
        environment = dict(os.environ, PATH=os.path.dirname(COMMAND) + ":" + os.environ["PATH"])
        with tempfile.TemporaryDirectory() as scratch:
            environment["SLIMGRAPH_POOLS"] = f"{scratch}/pools"
            for command, shown in sessions(text):
                result = subprocess.run(["bash", "-c", command], cwd=scratch, env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, timeout=120)
                # Ignore the announcement of memory on standard error.
                real = result.stdout + re.sub(r"^slimgraph: the \w+ takes .*\n", "", result.stderr,
                                              flags=re.M)
                if result.returncode:
                    real += f"[exit code {result.returncode}]\n"
                real = real.replace(f"{os.path.realpath(scratch)}/", "/home/me/")
                if masked(real) != masked(shown):
                    complaints.append(f"{path}: '{command}' prints\n{real}instead of\n{shown}")
    return complaints


# (check, a made-up page that breaks it, how many complaints that makes)
CHECKS = [
    (links_lead_somewhere, {"docs/a.md": "[b](no-such-page.md)"}, 1),
    (pages_link_both_ways, {"docs/README.md": "", "docs/a.md": "text"}, 2),
    (readme_is_short, {"README.md": "line\n" * (README_LINES + 1)}, 1),
    (options_exist, {"docs/a.md": "say `--no-such-option`"}, 1),
    (every_command_is_in_the_readme, {"README.md": "nothing"},
     sum(1 for name in HELP if name and not subcommands(HELP[name]))),
    (error_messages_exist, {"docs/troubleshooting.md": "| `no such message` | |\n"}, 1),
    (commands_print_what_is_shown,
     {"docs/a.md": "```console\n$ echo one\ntwo\n$ false\n[exit code 1]\n```\n"}, 1),
]


def main():
    passed, failed = 0, 0
    texts = pages()
    for check, broken, expected in CHECKS:
        found, made_up = check(texts), check(broken)
        if len(made_up) != expected:
            found.append(f"{len(made_up)} complaints about the made-up page, not {expected}")
        passed, failed = passed + (not found), failed + bool(found)
        for complaint in found:
            print(f"FAILED: {check.__name__}: {complaint}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
