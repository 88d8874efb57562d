"""The graphs and stores of an experiment, and facts of the machine that a reader needs."""
import hashlib
import os
import re
import shutil
import subprocess
import tempfile

from slimgraph.lab.child import run_slimgraph
from slimgraph.lab.failure import INPUT, USAGE, Failure, os_failure
from slimgraph.lab.raw import parse_json
from slimgraph.lab.spread import format_bytes
from slimgraph.lab.study import Graph

POOL = "lab"  # the name of an experiment's pool
CACHE_BYTES = "64G"  # a limit above all graphs; only what jobs read takes memory
STAMPED_BYTES = 4096  # the first page of a .slim file has checksums of all other pages


def stamp(path, size=-1):
    """A checksum of the first `size` bytes of a file, or of all."""
    try:
        with open(path, "rb") as file:
            return hashlib.blake2b(file.read(size), digest_size=8).hexdigest()
    except OSError as reason:
        raise Failure(INPUT, f"{path}: {reason.strerror}") from None


def inspect_graphs(files, program):
    graphs = []
    for file in files:
        info = parse_json(run_slimgraph([program, "info", file, "--json"]), "slimgraph info")
        name = os.path.splitext(os.path.basename(file))[0]
        other = next((graph.path for graph in graphs if graph.name == name), None)
        if other is not None:
            raise Failure(USAGE, f"{other} and {file} would have the same name on the page")
        about = info["graph"]
        graphs.append(Graph(file, name, stamp(file, STAMPED_BYTES),
                            str(info["result"].get("max_degree_id", 0)), about["edges"],
                            about["directed"], about.get("weights", "none") not in ("", "none")))
    return graphs


def _make_folder(folder):
    path = os.path.join(folder, "graphs")
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as reason:
        raise os_failure(f"cannot make {path}", reason) from None
    return path


def make_graph(folder, small, program):
    """Makes a graph in the folder unless it exists, and returns its file."""
    scale = "13" if small else "17"
    file = os.path.join(folder, "graphs", f"kron{scale}.slim")
    if not os.path.exists(file):
        _make_folder(folder)
        run_slimgraph([program, "gen", "kron", "-s", scale, "--weights", "1..255", "-o", file])
    return file


def make_store(folder, graph, program):
    """Makes a store of the graph unless it exists, and returns its path."""
    if graph.directed:
        raise Failure(INPUT, f"{graph.path}: the graph is directed, but triangles need an "
                      "undirected one")
    name = os.path.join(_make_folder(folder), f"{graph.name}-{graph.stamp}")
    store, source = name + ".store", graph.path
    if os.path.exists(store):
        return store
    try:
        if graph.weighted:
            source = name + ".slim"
            run_slimgraph([program, "convert", graph.path, source, "--drop-weights"])
        run_slimgraph([program, "store", "create", source, "--vertex-bytes", "128", "--edge-bytes",
                       "8", "-o", store])
    finally:
        if graph.weighted and os.path.exists(source):
            os.remove(source)
    return store


def name_in_pool(graph):
    return re.sub(r"[^A-Za-z0-9_-]", "-", graph.name)


class StandingPool:
    """A pool of the experiment's own, with all its graphs; it ends with this context."""

    def __init__(self, nodes, program):
        self.nodes, self.program = nodes, program

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="slimgraph-lab-")
        os.environ["SLIMGRAPH_POOLS"] = os.path.join(self.folder, "pools")
        return self

    def load(self, graphs):
        """`graphs`: pairs of a name in the pool and a file."""
        run_slimgraph([self.program, "pool", "start", POOL, "--nodes", str(self.nodes),
                       "--host-cache", CACHE_BYTES])
        for name, file in graphs:
            run_slimgraph([self.program, "pool", "load", POOL, file, "--as", name, "--prepare",
                           "mining"])

    def __exit__(self, *_):
        # Also after a signal, when run_slimgraph() runs nothing any more.
        subprocess.run([self.program, "pool", "stop", POOL, "--now"], stdin=subprocess.DEVNULL,
                       capture_output=True, check=False)
        del os.environ["SLIMGRAPH_POOLS"]
        shutil.rmtree(self.folder)


def processors():
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def machine_facts(build):
    """`build`: pairs about the program."""
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    system = os.uname()
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return [("processor", f"{model} ({processors()} processors)"), ("memory", format_bytes(memory)),
            ("system", f"{system.sysname} {system.release} on {system.machine}"), *build]
