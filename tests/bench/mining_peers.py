"""Published pattern mining engines that are already built: runs each on a graph and returns the
processor seconds of its kernel. Some engines only print their kernel's wall-clock time. They run on
one thread, and the time is multiplied by the share of it in which the process used a processor."""
import array
import os
import re
import resource
import subprocess
import time

LIMIT_S = 100  # an engine that takes longer is aborted


def available_peers(graph, bench):
    kinds = {"GAPBS": Gapbs, "GRAPHMINER": GraphMiner, "KCLIST": KClist,
             "NETWORKIT": Networkit}
    wanted = {name: kind for name, kind in kinds.items() if os.environ.get(name)}
    if not wanted:
        return []
    edges = bench.file("edges.el")
    _write_edges(graph, edges, bench)
    return [kind(os.environ[name], edges) for name, kind in wanted.items()]


class Gapbs:
    name = "GAPBS"

    def __init__(self, home, edges):
        self.program = os.path.join(home, "tc")
        self.edges = edges

    def seconds(self, kernel):
        if kernel not in ("triangles", "3-motifs"):
            return None
        out, share = _run([self.program, "-s", "-f", self.edges, "-n", "3"])
        return share * float(re.search(r"Average Time:\s*([\d.]+)", out).group(1))


class GraphMiner:
    name = "GraphMiner"
    PROGRAMS = {
        "triangles": ["tc_omp_base"],
        "3-motifs": ["motif_omp_base", "3"],
        "4-cliques": ["clique_omp_base", "4"],
        "5-cliques": ["clique_omp_base", "5"],
        "4-motifs": ["motif_omp_base", "4"],
    }

    def __init__(self, home, edges):
        self.home = os.path.join(home, "bin")
        self.prefix = _write_binary_lists(edges)

    def seconds(self, kernel):
        if kernel not in self.PROGRAMS:
            return None
        program, *arguments = self.PROGRAMS[kernel]
        program = os.path.join(self.home, program)
        if not os.path.exists(program):
            return None
        out, share = _run([program, self.prefix, *arguments])
        return share * float(re.search(r"runtime \[[^\]]*\] = ([\d.e+-]+)", out).group(1))


class KClist:
    """kClist prints whole seconds only. So its time is the processor time of the whole process,
    minus that of a run for edges, which reads and orders the graph in the same way."""
    name = "kClist"

    def __init__(self, home, edges):
        self.program = os.path.join(home, "kClist")
        self.edges = edges

    def seconds(self, kernel):
        if not kernel.endswith("-cliques"):
            return None
        return self._whole(kernel[0]) - self._whole("2")

    def _whole(self, size):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _run([self.program, size, self.edges])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Networkit:
    """A Python package; `python` is an interpreter that has it."""
    name = "NetworKit"
    PROGRAM = """
import sys, time
import networkit
networkit.setNumberOfThreads(1)
graph = networkit.readGraph(sys.argv[1], networkit.Format.EdgeListSpaceZero)
clustering = networkit.centrality.LocalClusteringCoefficient(graph)
start_s = time.process_time()
clustering.run()
print("seconds", time.process_time() - start_s)
"""

    def __init__(self, python, edges):
        self.python = python
        self.edges = edges

    def seconds(self, kernel):
        if kernel != "lcc":
            return None
        out, _ = _run([self.python, "-c", self.PROGRAM, self.edges])
        return float(re.search(r"seconds ([\d.e-]+)", out).group(1))


def _run(words):
    """Returns the output, and the share of the wall-clock time in which a processor was used."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start_s = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment,
                          timeout=LIMIT_S)
    clock_s = time.monotonic() - start_s
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, min(1.0, processor_s / clock_s)


def _write_edges(graph, path, bench):
    """Writes a line "u v" for each edge, with dense ids."""
    listed = path + ".listed"
    bench.run("match", graph, "--pattern", "edge", "--list", listed)
    numbers = {}
    with open(listed, encoding="ascii") as lines, open(path, "w", encoding="ascii") as out:
        next(lines)
        for line in lines:
            u, v = (numbers.setdefault(word, len(numbers)) for word in line.split())
            out.write(f"{u} {v}\n")
    os.remove(listed)


def _write_binary_lists(edges):
    """Writes GraphMiner's files: 8-byte offsets, 4-byte neighbours, and a text file of sizes."""
    lists = {}
    with open(edges, encoding="ascii") as lines:
        for line in lines:
            u, v = map(int, line.split())
            lists.setdefault(u, []).append(v)
            lists.setdefault(v, []).append(u)
    offsets = array.array("Q", [0])
    neighbours = array.array("I")
    for vertex in range(len(lists)):
        neighbours.extend(sorted(lists[vertex]))
        offsets.append(len(neighbours))
    most = max(len(one) for one in lists.values())
    prefix = os.path.join(os.path.dirname(edges), "graph")
    with open(prefix + ".vertex.bin", "wb") as out:
        offsets.tofile(out)
    with open(prefix + ".edge.bin", "wb") as out:
        neighbours.tofile(out)
    with open(prefix + ".meta.txt", "w", encoding="ascii") as out:
        out.write(f"{len(lists)}\n{len(neighbours)}\n4 8 1 2\n{most}\n0\n0\n0\n")
    return prefix
