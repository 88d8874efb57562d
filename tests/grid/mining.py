"""Points of pattern mining: small graphs are compared with brute force, larger ones with another
shape of the job."""
from itertools import combinations

import graphs
import shapes
from command import Wrong

STEPS = 400_000  # limit of brute force; beyond it, compare with another shape


def path(k):
    return [(v, v + 1) for v in range(k - 1)]


def clique(k):
    return list(combinations(range(k), 2))


NAMED = {"edge": path(2), "wedge": path(3), "triangle": clique(3),
         "tailed-triangle": clique(3) + [(2, 3)], "diamond": clique(3) + [(0, 3), (1, 3)],
         "house": [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)],
         "bull": [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4)],
         "butterfly": clique(3) + [(0, 3), (0, 4), (3, 4)], "4-cycle": path(4) + [(0, 3)],
         "5-cycle": path(5) + [(0, 4)], "4-path": path(4), "5-path": path(5),
         "3-star": [(0, 1), (0, 2), (0, 3)], "4-star": [(0, v) for v in range(1, 5)],
         "4-clique": clique(4), "5-clique": clique(5)}
MOTIFS = {3: ["triangle", "wedge"],
          4: ["4-clique", "diamond", "4-cycle", "tailed-triangle", "3-star", "4-path"]}
BYTES = ["0", "4K", "64K", "1M", "64M"]


def draw_pattern(random):
    """Draws a random connected pattern as a list of edges."""
    k = random.randint(3, 6)
    edges = {(random.randrange(v), v) for v in range(1, k)}
    edges |= {edge for edge in clique(k) if random.random() < 0.4}
    return sorted(edges)


def draw_options(random):
    words = []
    for name, values in (("--edge-cache", BYTES), ("--chunk-memory", BYTES),
                         ("--reuse", ["none", "chunk", "global"]), ("--steal", ["on", "off"]),
                         ("--fetch", ["request", "read"])):
        if random.random() < 0.6:
            words += [name, random.choice(values)]
    return words


def draw_heavy(random):
    """Draws a graph whose lists use more memory than the process itself, and a fast command."""
    words = random.choice([["triangles"], ["cliques", "-k", 3], ["cliques", "-k", 4],
                           ["match", "--pattern", "wedge"], ["match", "--pattern", "edge"]])
    kind = random.choice(["kron", "uniform", "web"])
    # The 4-cliques of a web graph of scale 18 take half a minute with little room.
    scale = 17 if kind == "web" else random.choice([17, 18, 18])
    recipe = {"kind": kind, "directed": False, "weights": None,
              "words": ["gen", kind, "-s", scale, "--seed", random.randint(1, 10**6)]}
    # With a smaller edge cache there are so many passes over the graph that they take minutes.
    options = random.choice([[], [], ["--chunk-memory", "0"],
                             ["--chunk-memory", "0", "--edge-cache", "4M"],
                             ["--chunk-memory", "16M", "--edge-cache", "2M"]])
    if words[-1] == 4:  # with so small an edge cache, 4-cliques take a minute over tcp
        options = options[:2] if options[:2] != ["--chunk-memory", "16M"] else []
    return {"family": "mining", "command": words[0], "graph": recipe, "words": words[1:],
            "pattern": None, "list": False, "heavy": True, "options": options,
            "shape": shapes.draw(random, most_nodes=4)}


def draw_shared(random):
    """Draws a search on several compute nodes, which take parts of each other's work."""
    name = random.choice(["4-cycle", "5-cycle", "house", "bull", "butterfly", "5-path", "diamond"])
    nodes = random.randint(2, 6)
    return {"family": "mining", "command": "match", "pattern": NAMED[name], "list": False,
            "graph": graphs.draw_generated(random, False, None, (6, 7, 8)), "large": True,
            "words": ["--pattern", name, "--induced", random.choice(["edge", "vertex"]),
                      "--no-formulae"],
            "options": ["--chunk-memory", random.choice(["0", "4K", "64K"]), "--steal", "on"],
            "shape": ["--nodes", nodes, "--compute", random.randint(2, nodes),
                      "--threads", random.choice([1, 2, 3]), "--transport", "shm"]}


def draw(random):
    kind = random.random()
    if kind < 0.06:
        return draw_heavy(random)
    if kind < 0.2:
        return draw_shared(random)
    command = random.choice(["triangles", "cliques", "motifs", "match", "match", "local",
                             "lcc", "ktruss"])
    large = random.random() < 0.35
    directed = random.random() < (0.5 if command == "lcc" else 0.02)
    if large:
        recipe = graphs.draw_generated(random, directed, None, (9, 10, 11, 12))
    elif random.random() < 0.5:
        recipe = graphs.draw_generated(random, directed, None, (0, 2, 3, 4, 5))
    else:
        recipe = graphs.draw_listed(random, directed, None, most=40)
    words, pattern = [], None
    if command == "cliques":
        words = ["-k", random.randint(3, 8)]
    elif command == "motifs":
        words = ["-k", random.randint(3, 4)]
    elif command == "local":
        words = [random.choice(["--triangles", "--clustering"])]
    elif command == "lcc":
        words = ["--verify"]
    elif command == "ktruss":
        words = ["-k", random.choice([2, 2, 3, 5]), "--verify"]
        if large:  # it takes many rounds, each a walk over all edges
            recipe = graphs.draw_generated(random, directed, None, (6, 7, 8))
    elif command == "match":
        name = random.choice(list(NAMED))
        pattern = NAMED[name]
        if random.random() < 0.3 and not large:
            name, pattern = "own", draw_pattern(random)
        if large and max(map(max, pattern)) > 3:
            # On larger graphs and with little memory, patterns of five vertices take minutes.
            recipe = graphs.draw_generated(random, directed, None, (7, 8, 9))
        words = ["--pattern", name, "--induced", random.choice(["edge", "vertex"])]
        words += random.choice([[], ["--no-formulae"]])
    # The serial computation counts match by match, which takes minutes on larger graphs.
    if command == "triangles" or (command in ("cliques", "motifs", "match") and not large):
        words += random.choice([[], ["--verify"]])
    if random.random() < 0.25:
        recipe["order"] = random.choice(["degree", "rcm"])
    if not directed and random.random() < 0.4:
        recipe["coded"] = True
    return {"family": "mining", "command": command, "graph": recipe, "words": words,
            "pattern": pattern, "list": not large and random.random() < 0.3, "large": large,
            "options": draw_options(random), "shape": shapes.draw(random)}


def check_heavy(spec, workshop):
    """Too large for Python: compares the count with that of one node, and checks memory."""
    workshop.run(spec["graph"]["words"] + ["-o", "g.slim"]).expect(0)
    command = [spec["command"], "g.slim"] + spec["words"] + ["--json"]
    report = workshop.run(command + spec["options"] + spec["shape"]).report()
    shapes.expect_memory_held(report)
    other = workshop.run(command + shapes.SINGLE).report()
    expect("on so many nodes", report["result"]["count"], other["result"]["count"])


def check(spec, workshop):
    if spec.get("heavy"):
        check_heavy(spec, workshop)
        return
    graph = graphs.make(spec["graph"], workshop)
    command = [spec["command"], "g.slim"] + spec["words"] + ["--json"]
    if "own" in command:
        workshop.write("own", "".join(f"{u} {v}\n" for u, v in spec["pattern"]))
    figures = spec["command"] in ("local", "lcc", "ktruss")
    if figures:
        command += ["--output", "result.txt"]
    lists = spec["command"] == "match" and spec["list"]
    if lists:
        command += ["--list", "result.txt"]
    end = workshop.run(command + spec["options"] + spec["shape"])
    if end.code == 2 and "too little for the longest lists" in end.err:
        options = dict(zip(spec["options"][::2], spec["options"][1::2]))
        options["--chunk-memory"] = "0"
        end = workshop.run(command + sum(map(list, options.items()), []) + spec["shape"])
    takes_directed = spec["command"] == "lcc" or "--clustering" in spec["words"]
    if (graph.directed and not takes_directed) or not graph.ids:
        end.expect(3, "the graph is empty" if not graph.ids else "directed")
        return
    report = end.report()
    shapes.expect_memory_held(report)
    result = report["result"]
    try:
        compare(spec, neighbours_of(graph), result, workshop, graph)
    except OutOfSteps:
        def found_in(result):
            return workshop.read_lines("result.txt") if figures else \
                result["count"] if lists else result
        found = found_in(result)
        expected = found_in(
            workshop.run(command + shapes.SINGLE + ["--reuse", "none"]).report()["result"])
        if found != expected:
            raise Wrong(f"{str(found)[:100]}, and on one node {str(expected)[:100]}") from None


def neighbours_of(graph):
    """Sets of neighbours, in a directed graph along arcs, without self-loops and parallel edges."""
    return [set(neighbours) - {v} for v, neighbours in enumerate(graph.lists)]


def compare(spec, adjacent, result, workshop, graph):
    command = spec["command"]
    if command == "motifs":
        for name in MOTIFS[spec["words"][1]]:
            expect(name, result["counts"][name], count(NAMED[name], adjacent, "vertex"))
    elif command in ("local", "lcc"):
        compare_local(spec, adjacent, workshop.read_lines("result.txt"), graph)
    elif command == "ktruss":
        compare_truss(spec["words"][1], adjacent, result, workshop.read_lines("result.txt"), graph)
    elif command == "match":
        expected = count(spec["pattern"], adjacent, spec["words"][3])
        expect("match", result["count"], expected)
        if spec["list"]:
            compare_list(spec, adjacent, workshop.read_lines("result.txt"), graph, expected)
    else:
        k = 3 if command == "triangles" else spec["words"][1]
        expect(command, result["count"], count_cliques(k, adjacent))


def expect(what, found, expected):
    if found != expected:
        raise Wrong(f"{what}: {found}, and should be {expected}")


def compare_local(spec, successors, lines, graph):
    steps = Steps()
    if [int(line.split()[0]) for line in lines] != graph.ids:
        raise Wrong("the result is not one line for each vertex, in the order of ids")
    around = [set(one) for one in successors]
    for v, one in enumerate(successors):
        for u in one:
            around[u].add(v)
    for v, line in enumerate(lines):
        steps.take(len(around[v]))
        arcs = sum(len(successors[u] & around[v]) for u in around[v])
        pairs = len(around[v]) * (len(around[v]) - 1)
        share = arcs / pairs if pairs else 0
        expected = arcs // 2 if spec["words"][0] == "--triangles" else share
        if abs(float(line.split()[1]) - expected) > 1e-5:
            raise Wrong(f"vertex {graph.ids[v]} has {line.split()[1]}, and should have {expected}")


def compare_truss(k, adjacent, result, lines, graph):
    """Checks that the edges with numbers of at least t are the t-truss, for each t from k on."""
    steps = Steps()
    rows = [tuple(map(int, line.split())) for line in lines]
    if rows != sorted(rows) or any(a >= b for a, b, _ in rows):
        raise Wrong("the edges do not ascend by their ids")
    expect("lines", len(rows), result["count"])
    left = [set(one) for one in adjacent]
    for t in range(2, max([t for _, _, t in rows], default=1) + 2):
        removed = True
        while removed:
            removed = False
            for v, one in enumerate(left):
                for u in [u for u in one if u > v]:
                    steps.take(min(len(one), len(left[u])))
                    if len(one & left[u]) < t - 2:
                        one.discard(u)
                        left[u].discard(v)
                        removed = True
        if t < k:
            continue
        edges = {(graph.ids[v], graph.ids[u]) for v, one in enumerate(left) for u in one if u > v}
        expect(f"edges of the {t}-truss", {(a, b) for a, b, to in rows if to >= t},
               {(min(edge), max(edge)) for edge in edges})


def compare_list(spec, adjacent, lines, graph, expected):
    """Checks that each line is an embedding, and that no embedding is listed twice."""
    rows = [tuple(graph.number[int(v)] for v in line.split()) for line in lines
            if not line.startswith("#")]
    expect("lines", len(rows), expected)
    induced = spec["words"][3] == "vertex"
    seen = set()
    edges = set(spec["pattern"])
    for row in rows:
        images = set()
        for u, v in combinations(range(len(row)), 2):
            joined = row[v] in adjacent[row[u]]
            wanted = (u, v) in edges or (v, u) in edges
            if row[u] == row[v] or (wanted and not joined) or (induced and joined and not wanted):
                raise Wrong(f"{row} is no embedding")
            if wanted:
                images.add((min(row[u], row[v]), max(row[u], row[v])))
        seen.add(frozenset(images))
    expect("different embeddings", len(seen), expected)


class OutOfSteps(Exception):
    """Brute force would take too long."""


class Steps:
    def __init__(self):
        self.left = STEPS

    def take(self, number):
        self.left -= number
        if self.left < 0:
            raise OutOfSteps


def count_cliques(k, adjacent):
    steps = Steps()

    def extend(left, candidates):
        steps.take(len(candidates) + 1)
        if left == 1:
            return len(candidates)
        return sum(extend(left - 1, {u for u in candidates & adjacent[v] if u > v})
                   for v in candidates)

    return extend(k, set(range(len(adjacent))))


def count(edges, adjacent, induced):
    """The number of embeddings: injective maps that keep edges, divided by automorphisms."""
    k = 1 + max(v for edge in edges for v in edge)
    own = [set() for _ in range(k)]
    for u, v in edges:
        own[u].add(v)
        own[v].add(u)
    return maps(own, adjacent, induced) // maps(own, own, induced)


def maps(own, adjacent, induced):
    steps = Steps()
    order = [0]
    while len(order) < len(own):  # each has a neighbour among the vertices before it
        order.append(next(v for v in range(len(own)) if v not in order and own[v] & set(order)))
    image = {}

    def extend(level):
        v = order[level]
        known = [image[u] for u in own[v] if u in image]
        candidates = set.intersection(*(adjacent[u] for u in known)) if known else \
            set(range(len(adjacent)))
        candidates = candidates - set(image.values())
        if induced == "vertex":
            for u, place in image.items():
                if u not in own[v]:
                    candidates = candidates - adjacent[place]
        steps.take(len(candidates) + 1)
        if level + 1 == len(order):
            return len(candidates)
        total = 0
        for candidate in candidates:
            image[v] = candidate
            total += extend(level + 1)
            del image[v]
        return total

    return extend(0)
