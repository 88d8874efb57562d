"""A job whose nodes are each held to the same share of a processor, so that on one machine a node
has as much as any other however many of them compute. A control group for each node, of version 1
or 2.

    with CpuShares(nodes=4, percent=25) as shares:
        report = shares.run_job(["triangles", "g.slim", "--compute", "2"])     # its --json

Where this process may not make control groups, entering raises NotAllowed, which says why.
"""
import json
import os
import shutil
import subprocess
import tempfile

PERIOD_US = 10_000  # short, so that a share is smooth against runs of a tenth of a second

# A node enters its group before it becomes the program.
ENTER = 'echo $$ >"$1/node$PMI_RANK/cgroup.procs" && shift && exec "$@"'


class NotAllowed(Exception):
    """Processors cannot be shared out here."""


def command_path():
    return os.environ.get("TEST_SLIMGRAPH_COMMAND", "build/release/slimgraph")


class CpuShares:
    def __init__(self, nodes, percent):
        self.nodes = nodes
        self.percent = percent
        self.group = None
        self.version = None

    def __enter__(self):
        try:
            self._make_groups()
        except OSError as error:
            self.__exit__()
            raise NotAllowed(f"control groups: {error.strerror}: {error.filename}") from error
        return self

    def __exit__(self, *_):
        for node in range(self.nodes):
            _remove(os.path.join(self.group or "", f"node{node}"))
        _remove(self.group or "")

    def run(self, words, **options):
        """The command as a job under these shares; everything else is subprocess.run's."""
        mpiexec = ["mpiexec.hydra", "-disable-auto-cleanup", "-launcher", "fork",
                   "-hosts", f"localhost:{self.nodes}", "-n", str(self.nodes)]
        node = ["sh", "-c", ENTER, "sh", self.group, command_path()]
        return subprocess.run(mpiexec + node + words, stdin=subprocess.DEVNULL, **options)

    def run_job(self, words, timeout_s=600):
        """The object that the command prints with --json."""
        done = self.run(words + ["--json"], capture_output=True, text=True, timeout=timeout_s)
        if done.returncode != 0:
            raise RuntimeError(f"slimgraph {' '.join(words)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def _make_groups(self):
        self.version, parent = _processor_groups()
        if self.version == 2:
            _write(os.path.join(parent, "cgroup.subtree_control"), "+cpu")
        self.group = tempfile.mkdtemp(prefix="slimgraph-bench-", dir=parent)
        if self.version == 2:
            _write(os.path.join(self.group, "cgroup.subtree_control"), "+cpu")
        quota_us = PERIOD_US * self.percent // 100
        for node in range(self.nodes):
            group = os.path.join(self.group, f"node{node}")
            os.mkdir(group)
            if self.version == 1:
                _write(os.path.join(group, "cpu.cfs_period_us"), PERIOD_US)
                _write(os.path.join(group, "cpu.cfs_quota_us"), quota_us)
            else:
                _write(os.path.join(group, "cpu.max"), f"{quota_us} {PERIOD_US}")


def _processor_groups():
    """The version, and this process's own group where that is visible, else the root."""
    if shutil.which("mpiexec.hydra") is None:
        raise NotAllowed("mpiexec.hydra is not installed")
    unified = None
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            _, where, kind, options = line.split()[:4]
            if kind == "cgroup" and "cpu" in options.split(","):
                return 1, _own_group(where, lambda controllers: "cpu" in controllers.split(","))
            if kind == "cgroup2":
                unified = where
    if unified is None:
        raise NotAllowed("no control groups are mounted")
    return 2, _own_group(unified, lambda controllers: controllers == "")


def _own_group(mount, is_it):
    with open("/proc/self/cgroup", encoding="utf-8") as groups:
        for line in groups:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            own = mount + path.rstrip("/")
            if is_it(controllers) and os.path.isdir(own):
                return own
    return mount


def _write(path, value):
    # Python's own buffer would report a refusal when it is closed, without the file's name.
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, str(value).encode())
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    finally:
        os.close(descriptor)


def _remove(group):
    try:
        os.rmdir(group)
    except OSError:
        pass  # never made
