"""Runs slimgraph by command lines, with a time limit, and leaves no process behind."""
import json
import os
import shlex
import shutil
import signal
import subprocess
import time

LIMIT_S = 100  # for one command; a longer one counts as hung


class Wrong(Exception):
    """A point has failed; the message says what is wrong."""


def descendants(process):
    """All living descendants of `process`."""
    found = []
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
                children = [int(word) for word in file.read().split()]
        except OSError:
            continue
        for child in children:
            found += [child] + descendants(child)
    return found


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def kill_all(process):
    """Kills `process` and its descendants, and waits until all are dead."""
    everyone = [process] + descendants(process)
    for one in everyone:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            pass
    while any(map(is_alive, everyone)):
        time.sleep(0.001)


class End:
    """How a command ended. `code` is negative when a signal killed it."""

    def __init__(self, words, code, out, err):
        self.words, self.code, self.out, self.err = words, code, out, err

    def expect(self, code, message=""):
        if self.code != code or message not in self.err:
            raise Wrong(f"exit code {self.code}, expected {code}"
                        + (f" and '{message}'" if message else "") + f": {last_lines(self.err)}")
        return self

    def report(self):
        """The JSON object of a command that must have succeeded."""
        self.expect(0)
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise Wrong(f"its output is not JSON: {self.out[:200]!r}") from error


def last_lines(text):
    return " | ".join(text.strip().splitlines()[-3:]) or "(nothing on standard error)"


class Workshop:
    """The folder in which one point runs its commands. `lines` logs the command lines."""

    def __init__(self, folder, program, checker):
        self.folder, self.program, self.checker = folder, program, checker
        self.lines = []
        self.environment = None  # that of this process
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)
        return name

    def read_lines(self, name):
        with open(self.path(name), encoding="ascii") as file:
            return file.read().splitlines()

    def run(self, words, kill_after_s=None):
        """Runs slimgraph with `words`. Kills all its processes after `kill_after_s`, if given."""
        words = [str(word) for word in words]
        self.lines.append("slimgraph " + shlex.join(words)
                          + (f"  # killed after {kill_after_s:.3f} s" if kill_after_s else ""))
        return self.execute([self.program] + words, kill_after_s)

    def check_history(self, name, level):
        words = [self.checker, level, name]
        self.lines.append(shlex.join(words))
        end = self.execute(words)
        if end.code != 0:
            raise Wrong(f"the history {name}: {last_lines(end.out + end.err)}")

    def execute(self, words, kill_after_s=None):
        with open(self.path("out"), "wb") as out, open(self.path("err"), "wb") as err:
            child = subprocess.Popen(words, cwd=self.folder, env=self.environment,
                                     stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                     start_new_session=True)
            started = time.monotonic()
            try:
                code = child.wait(kill_after_s or LIMIT_S)
            except subprocess.TimeoutExpired:
                kill_all(child.pid)
                code = child.wait()
                if not kill_after_s:
                    raise Wrong(f"not done after {time.monotonic() - started:.0f} s") from None
        texts = []
        for name in ("out", "err"):
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
        return End(words, code, *texts)
