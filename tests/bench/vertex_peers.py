"""Published engines of vertex programs that are already built: runs each on a graph and returns the
seconds of the computation by the engine's own clock. The folder of graphs has each graph in every
format that export_graph writes, with and without weights."""
import os
import re
import statistics
import subprocess

ITERATIONS = 20  # of PageRank
LABEL_ITERATIONS = 10  # of label propagation


def seconds_in(out, pattern):
    return statistics.median(float(one) for one in re.findall(pattern, out))


class Gapbs:
    is_published = True
    name = "GAPBS"
    PROGRAMS = {"bfs": "bfs", "sssp": "sssp", "pagerank": "pr", "cc": "cc", "bc": "bc"}

    def __init__(self, home, threads):
        self.home = home
        self.threads = threads

    def seconds(self, graph, application):
        if application not in self.PROGRAMS:
            return None
        words = [os.path.join(self.home, self.PROGRAMS[application]), "-n", "3"]
        words += ["-f", graph.prefix(application) + (".wsg" if application == "sssp" else ".sg")]
        words += {
            "bfs": ["-r", graph.source],
            "bc": ["-r", graph.source, "-i", "1"],
            "sssp": ["-r", graph.source, "-d", graph.gapbs_delta],
            "pagerank": ["-i", str(ITERATIONS), "-t", "0"],
        }.get(application, [])
        return seconds_in(run(words, self.threads), r"Trial Time:\s*([\d.e-]+)")


class Ligra:
    is_published = True
    name = "Ligra"
    PROGRAMS = {"bfs": "BFS", "sssp": "BellmanFord", "pagerank": "PageRank", "cc": "Components",
                "bc": "BC"}

    def __init__(self, home, threads):
        self.home = home
        self.threads = threads

    def seconds(self, graph, application):
        if application not in self.PROGRAMS:
            return None
        words = [os.path.join(self.home, "apps", self.PROGRAMS[application]), "-s", "-b"]
        words += ["-rounds", "3", "-r", graph.source, "-maxiters", str(ITERATIONS)]
        out = run(words + [graph.prefix(application)], self.threads)
        return seconds_in(out, r"Running time : ([\d.e-]+)")


class Gemini:
    """Started by GEMINI_MPIEXEC; the number of threads is fixed when Gemini is built."""
    is_published = True

    def __init__(self, home, processes, threads):
        self.name = f"Gemini {processes} x {threads}"
        self.home = home
        self.processes = processes
        self.mpiexec = os.environ.get("GEMINI_MPIEXEC", "mpiexec.hydra").split()

    def seconds(self, graph, application):
        if application in ("cdlp", "kcore", "mis"):
            return None
        edges = graph.prefix(application) + (".once" if application == "cc" else ".pairs")
        words = self.mpiexec + ["-n", str(self.processes)]
        words += [os.path.join(self.home, "toolkits", application), edges, str(graph.vertices)]
        words += {"cc": [], "pagerank": [str(ITERATIONS)]}.get(application, [graph.source])
        # Gemini may exit with an error after it has printed its times.
        return seconds_in(run(words, 1, must_succeed=False), r"exec_time=([\d.e-]+)")


class Networkit:
    """A Python package; `python` is an interpreter that has it."""
    is_published = True
    name = "NetworKit"
    PROGRAM = """
import sys, time
import networkit, numpy
networkit.setNumberOfThreads(int(sys.argv[3]))
ends = numpy.fromfile(sys.argv[1], dtype=numpy.uint32).astype(numpy.uint64).reshape(-1, 2)
graph = networkit.GraphFromCoo((ends[:, 0], ends[:, 1]), n=int(sys.argv[2]))
for _ in range(3):
    cores = networkit.centrality.CoreDecomposition(graph)
    start_s = time.monotonic()
    cores.run()
    print("seconds", time.monotonic() - start_s)
"""

    def __init__(self, python, threads):
        self.python = python
        self.threads = threads

    def seconds(self, graph, application):
        if application != "kcore":
            return None
        words = [self.python, "-c", self.PROGRAM, graph.prefix(application) + ".once",
                 str(graph.vertices), str(self.threads)]
        return seconds_in(run(words, self.threads), r"seconds ([\d.e-]+)")


class Serial:
    """The simple serial code that verifies our results."""
    is_published = False
    name = "serial"

    def __init__(self, build):
        self.program = os.path.join(build, "bench", "serial_codes")

    def seconds(self, graph, application):
        iterations = LABEL_ITERATIONS if application == "cdlp" else ITERATIONS
        words = [self.program, graph.path(application), application, graph.source, str(iterations)]
        return float(run(words, 1))


def run(words, threads, must_succeed=True):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=120,
                          stdin=subprocess.DEVNULL, check=False)
    if must_succeed and done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def peers_on_one_node(threads):
    peers = []
    if os.environ.get("GAPBS"):
        peers.append(Gapbs(os.environ["GAPBS"], threads))
    if os.environ.get("LIGRA"):
        peers.append(Ligra(os.environ["LIGRA"], threads))
    if os.environ.get("GEMINI"):
        peers.append(Gemini(os.environ["GEMINI"], 1, threads))
    if os.environ.get("NETWORKIT"):
        peers.append(Networkit(os.environ["NETWORKIT"], threads))
    return peers


def peers_on_four_nodes():
    if os.environ.get("GEMINI_1"):
        return [Gemini(os.environ["GEMINI_1"], 4, 1)]
    return []
