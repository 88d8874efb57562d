"""Controls headless Chromium over its debugging pipe, with Python's standard library alone."""
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--remote-debugging-pipe"]
LIMIT_S = 60


def find():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page. `words` collects the messages of the console and the log."""

    def __init__(self, width=1000, height=900):
        self.profile = tempfile.mkdtemp(prefix="slimgraph-browser-")
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def place():  # the browser reads at 3 and writes at 4
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [find(), *FLAGS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}",
             "about:blank"],
            preexec_fn=place, close_fds=False, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest = b""
        self.number = 0
        self.session = None
        self.words = []
        self.events = []
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page["targetId"],
                                flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.profile, ignore_errors=True)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, url):
        self.events.clear()
        self.ask("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self._read()

    def evaluate(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def _read(self):
        deadline = time.monotonic() + LIMIT_S
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.into], [], [], deadline - time.monotonic())
            piece = os.read(self.into, 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError(f"the browser has not answered within {LIMIT_S} s, or has ended")
            self.rest += piece
        line, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(line)
        method = message.get("method", "")
        self.events.append(method)
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.words.append(json.dumps(message["params"]))
        if method == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.words.append("requested " + url)
        return message
