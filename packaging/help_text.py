"""Reads what `slimgraph … --help` prints. Man pages and completions are made of it."""
import re
import subprocess


def help_of(program, words):
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True,
                          stdin=subprocess.DEVNULL).stdout


def version_of(program):
    return subprocess.run([program, "--version"], capture_output=True, text=True,
                          check=True).stdout.split()[-1]


def section(text, name):
    """The lines below "NAME:", up to the next empty line."""
    return text.partition(f"\n{name}:\n")[2].partition("\n\n")[0].splitlines()


def subcommands(text):
    return [match[1] for line in section(text, "Subcommands")
            if (match := re.match(r"  ([a-z]\S*)", line))]


def entries(lines):
    """(name, meaning) of each line "  NAME   meaning"; lines further right go on with the last."""
    result = []
    for line in lines:
        match = re.match(r"  (\S.*?)(?:\s{2,}(.*))?$", line)
        if match:
            result.append([match[1], match[2] or ""])
        elif result:
            result[-1][1] = (result[-1][1] + " " + line.strip()).strip()
    return result
