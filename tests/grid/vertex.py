"""Points of vertex programs: checked by --verify, and compared with serial programs in Python."""
import heapq
import math
from collections import Counter, deque

import graphs
import shapes
from command import Wrong

UNREACHED = "9223372036854775807"


def draw_edge_cache(random):
    return random.choice([[], [], ["0%"], ["0"], ["1%"], ["5%"], ["30%"], ["60%"], ["100%"],
                          ["64K"]])


def draw_default(random):
    """Draws what a new user would run: a skewed graph, one compute node, default options."""
    program = random.choice(["sssp", "sssp", "bfs", "cc"])
    weights = "small" if program == "sssp" else None
    words = ["gen", "kron", "-s", random.choice([11, 12, 13]), "--seed", random.randint(1, 10**6)]
    words += ["--weights", "1..255"] if weights else []
    return {"family": "vertex", "program": program, "mode": "auto", "words": [],
            "graph": {"kind": "kron", "words": words, "directed": False, "weights": weights},
            "shape": ["--nodes", random.choice([2, 3, 4]), "--compute", 1],
            "choice": random.random(), "sources": 1}


def draw_served(random):
    """Draws weights of eight bytes, in lists that memory nodes gather."""
    recipe = graphs.draw(random, random.random() < 0.4, random.choice(["int64", "float64"]),
                         (8, 10, 11, 12))
    nodes = random.choice([2, 3, 4])
    return {"family": "vertex", "program": "sssp", "mode": "auto", "graph": recipe,
            "words": ["--memory-side", "serve", "--edge-cache", random.choice(["0", "5%", "64K"])],
            "shape": ["--nodes", nodes, "--compute", random.randint(1, nodes - 1)],
            "choice": random.random(), "sources": 1}


def draw_heavy(random):
    """Draws a graph of many short lists, which takes more memory than the process itself."""
    program = random.choice(["bfs", "khop", "sssp", "pagerank", "cc", "cdlp", "kcore", "mis"])
    kind = random.choice(["kron", "kron", "uniform", "grid"])
    degree = ["-k", random.choice([2, 4, 8])] if kind != "grid" else []
    words = ["gen", kind, "-s", random.choice([17, 18, 19]), *degree,
             "--seed", random.randint(1, 10**6)]
    words += ["--weights", "1..255"] if program == "sssp" else []
    options = {"khop": ["--hops", random.randint(1, 9)], "cdlp": ["--iterations", 5],
               "pagerank": ["--iterations", 6]}.get(program, [])
    options += random.choice([[], ["--edge-cache", random.choice(["0", "5%", "30%", "100%"])]])
    options += random.choice([[], [], ["--memory-side", "serve"], ["--memory-side", "auto"]])
    recipe = {"kind": kind, "words": words, "directed": False,
              "weights": "small" if program == "sssp" else None}
    return {"family": "vertex", "program": program, "mode": "auto", "graph": recipe,
            "words": options, "shape": shapes.draw(random, 6), "heavy": True}


def draw(random):
    first = random.random()
    if first < 0.03:
        return draw_heavy(random)
    if first < 0.15:
        return draw_default(random)
    if first < 0.22:
        return draw_served(random)
    program = random.choice(["bfs", "sssp", "sssp", "sssp", "pagerank", "cc", "bc", "cdlp",
                             "kcore", "khop", "mis"])
    weights = random.choice(graphs.WEIGHTS) if program == "sssp" or random.random() < 0.2 else None
    # Large graphs too: a step processes many vertices in another way than few.
    scales = (0, 3, 6, 9) if program in ("pagerank", "bc") else (0, 3, 6, 8, 9, 10, 11, 12, 12)
    recipe = graphs.draw(random, random.random() < 0.4, weights, scales)
    if random.random() < 0.25:
        recipe["order"] = random.choice(["degree", "rcm"])
    mode = random.choice(["push", "pull", "auto", "auto"])
    if recipe["directed"] and random.random() < 0.15:
        recipe["no-reverse"] = True
    words = ["--mode", mode]
    if random.random() < 0.7:
        words += ["--cache", random.choice(["none", "bitmap", "index", "edge"])]
    for size in draw_edge_cache(random):
        words += ["--edge-cache", size]
    words += ["--memory-side", random.choice(["strict", "serve", "reduce", "auto"])]
    if random.random() < 0.2:
        words += ["--delegate", "node"]
    if random.random() < 0.1:
        words += ["--repeat", random.randint(2, 3)]
    if program == "sssp" and random.random() < 0.6:
        # From many narrow buckets to a single one; weights are mostly below 256.
        words += ["--delta", random.choice(["0.5", "1", "3", "17", "100", "1e4", "1e9", "1e30"])]
        if weights == "int64":
            words[-1] = random.choice(["1e10", "1e11", "1e12", "1e30"])
    if program == "sssp" and random.random() < 0.2:
        words += ["--unit-weights"]
    if program == "pagerank":
        words += random.choice([["--iterations", random.randint(0, 20)], []])
        words += random.choice([["--damping", random.choice([0, 0.3, 1])], []])
        words += random.choice([["--precision", "float"], [], []])
        if random.random() < 0.4:
            words += ["--source", None]
    if program == "khop":
        words += ["--hops", random.randint(0, 6)]
    if program == "mis":
        words += random.choice([["--seed", random.randint(0, 99)], []])
    if program == "cdlp":
        words += random.choice([["--iterations", random.randint(0, 12)], []])
    return {"family": "vertex", "program": program, "graph": recipe, "mode": mode,
            "words": words, "shape": shapes.draw(random), "choice": random.random(),
            "sources": random.randint(1, 5)}


def sources_of(spec, graph):
    """The sources as original ids. Ids that the point already has are kept."""
    if "source_ids" not in spec:
        count = 1 if spec["program"] != "bc" else spec["sources"]
        step = spec["choice"] * max(1, len(graph.ids))
        spec["source_ids"] = [graph.ids[int(step * (1 + i) % len(graph.ids))]
                              for i in range(count)] if graph.ids else [0]
    return spec["source_ids"]


def check_heavy(spec, workshop):
    """Too large for Python. Memory for the verification would hide what else is taken."""
    workshop.run(spec["graph"]["words"] + ["-o", "g.slim"]).expect(0)
    words = [spec["program"], "g.slim"] + spec["words"] + spec["shape"] + ["--json"]
    if spec["program"] in ("bfs", "khop", "sssp"):
        words += ["--source", 1]
    shapes.expect_memory_held(workshop.run(words).report())
    workshop.run(words + ["--verify"]).expect(0)


def check(spec, workshop):
    if spec.get("heavy"):
        check_heavy(spec, workshop)
        return
    graph = graphs.make(spec["graph"], workshop)
    program, words = spec["program"], list(spec["words"])
    sources = []
    if program in ("bfs", "khop", "sssp", "bc") or "--source" in words:
        sources = sources_of(spec, graph)
        if "--source" in words:
            del words[-2:]
        words += ["--sources", ",".join(map(str, sources))] if program == "bc" else \
                 ["--source", sources[0]]
    spec["keep"] = sources
    end = workshop.run([program, "g.slim"] + words + spec["shape"]
                       + ["--verify", "--json", "--output", "result.txt"])
    if sources and not graph.ids:
        end.expect(3, "the graph has no vertices")
        return
    needs_reverse = program in ("cdlp", "kcore", "mis") or \
        (spec["mode"] != "push" and program != "cc")
    if spec["graph"].get("no-reverse") and needs_reverse:
        end.expect(3, "has no incoming lists")
        return
    if end.code == 3 and "no room for the longest list" in end.err:
        return
    report = end.report()
    if report.get("verified") is not True:
        raise Wrong("the report does not say that the result was verified")
    shapes.expect_memory_held(report)
    lines = [line.split() for line in workshop.read_lines("result.txt")]
    if [int(line[0]) for line in lines] != graph.ids:
        raise Wrong("the result is not one line for each vertex, in the order of ids")
    compare(program, graph, sources, spec, [line[1] for line in lines])


def compare(program, graph, sources, spec, found):
    numbers = [graph.number[v] for v in sources]
    if program == "cc":
        expected = [str(graph.ids[v]) for v in components(graph)]
    elif program == "cdlp":
        expected = [str(graph.ids[v]) for v in communities(graph, spec["words"])]
    elif program == "mis":
        return expect_maximal(graph, found)
    elif program == "kcore":
        expected = [str(core) for core in cores(graph)]
    elif program in ("bfs", "khop"):
        most = spec["words"][-1] if program == "khop" else math.inf
        expected = [UNREACHED if d is None or d > most else str(d)
                    for d in bfs(graph, numbers[0])[0]]
    else:
        if program == "sssp" and "--unit-weights" in spec["words"]:
            depths = bfs(graph, numbers[0])[0]
            values = [math.inf if depth is None else depth for depth in depths]
        elif program == "sssp":
            values = sssp(graph, numbers[0])
        elif program == "bc":
            values = centrality(graph, numbers)
        else:
            values = pagerank(graph, spec["words"], numbers)
        relative = 1e-6 if program == "bc" or "float" in spec["words"] else 1e-9
        for v, value in enumerate(values):
            number = float(found[v].replace("Infinity", "inf"))
            if not math.isclose(number, value, rel_tol=relative):
                raise Wrong(f"vertex {graph.ids[v]} has {found[v]}, and should have {value!r}")
        return
    for v, value in enumerate(expected):
        if found[v] != value:
            raise Wrong(f"vertex {graph.ids[v]} has {found[v]}, and should have {value}")


def bfs(graph, source):
    """Returns depths (None: not reached), and vertices in the order of the search."""
    depth = [None] * len(graph.lists)
    depth[source] = 0
    order, queue = [], deque([source])
    while queue:
        u = queue.popleft()
        order.append(u)
        for v in graph.lists[u]:
            if depth[v] is None:
                depth[v] = depth[u] + 1
                queue.append(v)
    return depth, order


def sssp(graph, source):
    distance = [math.inf] * len(graph.lists)
    distance[source] = 0
    heap = [(0, source)]
    while heap:
        so_far, u = heapq.heappop(heap)
        if so_far > distance[u]:
            continue
        for v, weight in zip(graph.lists[u], graph.weights[u]):
            if so_far + weight < distance[v]:
                distance[v] = so_far + weight
                heapq.heappush(heap, (distance[v], v))
    return distance


def components(graph):
    """For each vertex, the least vertex of its component."""
    label = list(range(len(graph.lists)))

    def root(v):
        while label[v] != v:
            label[v] = label[label[v]]
            v = label[v]
        return v

    for u, neighbours in enumerate(graph.lists):
        for v in neighbours:
            one, other = root(u), root(v)
            label[max(one, other)] = min(one, other)
    return [root(v) for v in range(len(label))]


def all_neighbours(graph):
    """Lists of neighbours: in a directed graph those of both directions, a vertex once for each."""
    if not graph.directed:
        return graph.lists
    reverse, _ = graphs.transpose(graph)
    return [out + into for out, into in zip(graph.lists, reverse)]


def communities(graph, words):
    """Labels after label propagation, as vertices: vertices are in the order of ids."""
    options = dict(zip(words[::2], words[1::2]))
    label, lists = list(range(len(graph.lists))), all_neighbours(graph)
    for _ in range(int(options.get("--iterations", 10))):
        counts = [Counter(label[u] for u in neighbours) for neighbours in lists]
        label = [max(count, key=lambda one, c=count: (c[one], -one)) if count else label[v]
                 for v, count in enumerate(counts)]
    return label


def cores(graph):
    """Core numbers by the definition: removes vertices with fewer than k neighbours for each k."""
    left = {v: set(neighbours) - {v} for v, neighbours in enumerate(all_neighbours(graph))}
    core, k = [0] * len(left), 0
    while left:
        k += 1
        few = [v for v, neighbours in left.items() if len(neighbours) < k]
        while few:
            v = few.pop()
            if v not in left:
                continue
            core[v] = k - 1
            for u in left.pop(v):
                left[u].discard(v)
                if len(left[u]) < k:
                    few.append(u)
    return core


def expect_maximal(graph, found):
    """A vertex is in the set if and only if no other neighbour is."""
    for v, neighbours in enumerate(all_neighbours(graph)):
        if (found[v] == "1") == any(found[u] == "1" for u in neighbours if u != v):
            raise Wrong(f"vertex {graph.ids[v]} has {found[v]} in a set that is not maximal, or "
                        "not independent")


def pagerank(graph, words, sources):
    """What edges do not give goes to the source, or else to all vertices alike."""
    options = dict(zip(words[::2], words[1::2]))
    damping, n = float(options.get("--damping", 0.85)), len(graph.lists)
    restart = [1 / n] * n if n and not sources else [float(v in sources) for v in range(n)]
    rank = list(restart)
    for _ in range(int(options.get("--iterations", 20))):
        following = [0.0] * n
        dangling = 0.0
        for u, neighbours in enumerate(graph.lists):
            if not neighbours:
                dangling += rank[u]
                continue
            share = rank[u] / len(neighbours)
            for v in neighbours:
                following[v] += share
        rank = [(1 - damping + damping * dangling) * part + damping * value
                for part, value in zip(restart, following)]
    return rank


def centrality(graph, sources):
    """Brandes' algorithm; each parallel edge counts as a path of its own."""
    score = [0.0] * len(graph.lists)
    for source in sources:
        depth, order = bfs(graph, source)
        paths = [0] * len(score)
        paths[source] = 1
        for u in order:
            for v in graph.lists[u]:
                if depth[v] == depth[u] + 1:
                    paths[v] += paths[u]
        depends = [0.0] * len(score)
        for u in reversed(order):
            for v in graph.lists[u]:
                if depth[v] == depth[u] + 1:
                    depends[u] += paths[u] / paths[v] * (1 + depends[v])
            if u != source:
                score[u] += depends[u]
    return score
