"""Random graphs of every kind as .slim files, and an independent reader of these files.

A recipe is a dictionary: either the words of `slimgraph gen`, or a list of edges for `slimgraph
convert`. The graph that convert writes is compared with that list.
"""
import os
import struct
from array import array

from command import Wrong

# Most are kron: real graphs have skewed degrees, and most code of the engines is for these.
GENERATED = ["kron"] * 4 + ["web", "uniform", "grid", "small-world", "chain", "star",
                           "complete"]
LISTED = ["empty", "single", "random", "tree", "hubs", "parts", "matching", "thick"]
WEIGHT_TYPES = ["none", "int32", "int64", "float32", "float64"]  # by their number in the file
WEIGHTS = ["small", "zeros", "int64", "float32", "float64"]


class Graph:
    """Adjacency lists by dense id; `ids` has the original ids in ascending order."""

    def __init__(self, ids, lists, weights, directed, weight_type="none"):
        self.ids, self.lists, self.weights, self.directed = ids, lists, weights, directed
        self.weight_type = weight_type
        self.number = {v: i for i, v in enumerate(ids)}

    def arcs(self):
        return sum(map(len, self.lists))

    def edges(self):
        """Yields (u, v, weight or None) by original id; an undirected edge once."""
        for u, neighbours in enumerate(self.lists):
            for i, v in enumerate(neighbours):
                if self.directed or u <= v:
                    yield (self.ids[u], self.ids[v], self.weights[u][i] if self.weights else None)


def transpose(graph):
    lists = [[] for _ in graph.lists]
    weights = [[] for _ in graph.lists] if graph.weights else None
    for u, neighbours in enumerate(graph.lists):
        for i, v in enumerate(neighbours):
            lists[v].append(u)
            if weights:
                weights[v].append(graph.weights[u][i])
    return lists, weights


def read_slim(path):
    """Reads a Graph from a .slim file, which slimgraph/files/slim_format.h describes."""
    with open(path, "rb") as file:
        data = file.read()
    magic, _, _, flags, weight_type, vertices, _, arcs, first_id, _, count = struct.unpack_from(
        "<8sIIII6Q", data)
    if magic != b"SLIMGRPH":
        raise Wrong(f"{path} is no .slim file")
    sections = {}
    for i in range(count):
        kind, _, offset, size = struct.unpack_from("<IIQQ", data, 72 + 24 * i)
        sections[kind] = data[offset:offset + size]

    def elements(kind, code):
        return array(code, sections[kind]) if kind in sections else None

    number = {0: None, 1: "i", 2: "q", 3: "f", 4: "d"}[weight_type]

    def cut(first_kind):
        offsets = elements(first_kind, "Q")
        all_weights = elements(first_kind + 2, number) if number else None
        neighbours = elements(first_kind + 1, "I")
        lists = [list(neighbours[offsets[v]:offsets[v + 1]]) for v in range(vertices)]
        weights = number and [list(all_weights[offsets[v]:offsets[v + 1]])
                              for v in range(vertices)]
        return lists, weights

    ids = list(elements(7, "Q")) if 7 in sections else list(range(first_id, first_id + vertices))
    lists, weights = cut(1)
    graph = Graph(ids, lists, weights, bool(flags & 1), WEIGHT_TYPES[weight_type])
    if graph.arcs() != arcs:
        raise Wrong(f"{path}: {graph.arcs()} arcs, and its header says {arcs}")
    if 4 in sections and sorted_lists(cut(4)) != sorted_lists(transpose(graph)):
        raise Wrong(f"{path}: the incoming lists are not those of the outgoing ones")
    return graph


def sorted_lists(lists_and_weights):
    """Sorts lists of (neighbour, weight), because parallel edges may be in any order."""
    lists, weights = lists_and_weights
    return [sorted(zip(one, weights[v] if weights else one)) for v, one in enumerate(lists)]


def draw_weight(random, kind):
    return {"small": lambda: random.randint(1, 255), "zeros": lambda: random.randint(0, 3),
            "int64": lambda: random.randint(1, 1 << 40),
            "float32": lambda: random.randint(0, 64) / 8,
            "float64": lambda: random.random() * 10}[kind]()


def draw_edges(random, kind, n):
    """Draws edges as pairs of numbers below n."""
    def pick():
        return random.randrange(n)
    if kind in ("empty", "single") or n < 2:
        return []
    if kind == "random":
        return [(pick(), pick()) for _ in range(random.randint(1, 4 * n))]
    if kind == "tree":
        return [(random.randrange(v), v) for v in range(1, n)]
    if kind == "hubs":
        hubs = [pick() for _ in range(random.randint(1, 3))]
        return [(random.choice(hubs), v) for v in range(n)] + [(pick(), pick()) for _ in range(n)]
    if kind == "parts":
        return [(v, v + random.randint(1, 3)) for v in range(n - 3) if random.random() < 0.8]
    if kind == "matching":
        return [(v, v + 1) for v in range(0, n - 1, 2)]
    size = min(n, random.randint(4, 20))  # "thick": a clique without a tenth of its edges
    return [(u, v) for v in range(size) for u in range(v) if random.random() < 0.9]


def draw_listed(random, directed, weights, most=200, simple=False):
    kind = random.choice(LISTED)
    n = {"empty": 0, "single": 1}.get(kind, random.randint(2, most))
    ids = random.choice([list(range(n)), list(range(1000, 1000 + n)),
                         sorted(random.sample(range(1 << 20), n)),
                         sorted(random.sample(range(1 << 39), n))])
    edges = [(ids[u], ids[v], draw_weight(random, weights) if weights else None)
             for u, v in draw_edges(random, kind, n)]
    if random.random() < 0.5:
        ids = sorted({v for edge in edges for v in edge[:2]})  # without isolated vertices
    random.shuffle(edges)
    return {"kind": kind, "edges": edges, "ids": ids, "directed": directed, "weights": weights,
            "self-loops": "drop" if simple else random.choice(["keep", "drop"]),
            "duplicates": "drop" if simple else random.choice(["keep", "drop"])}


def draw_generated(random, directed, weights, scales, simple=False):
    """`simple`: no self-loops or parallel edges."""
    kind = random.choice(GENERATED)
    scale = random.choice(scales)
    if kind == "complete":
        scale = min(scale, 6)
    if kind == "small-world":
        scale = max(scale, 4)  # its degree must be below twice its vertices
    words = ["gen", kind, "-s", scale, "--seed", random.randint(1, 10**6)]
    if kind in ("kron", "uniform", "small-world", "web"):
        words += ["-k", random.choice([2, 4, 8, 16])]
    if kind == "small-world":
        words += ["--rewire", random.choice([0, 0.1, 0.5, 1])]
    if kind == "grid" and random.random() < 0.5:
        words += ["--width", random.choice([1, 2, 7, 30]), "--height", random.choice([1, 3, 20])]
    if directed:
        words += ["--directed"]
    if weights:
        words += ["--weights", random.choice(["1..255", "1..1", "0..2", "1..1000000"])]
    if random.random() < 0.2 and not simple:
        words += ["--self-loops", "keep", "--duplicates", "keep"]
    return {"kind": kind, "words": words, "directed": directed, "weights": weights}


def draw(random, directed, weights, scales, simple=False):
    """Draws a recipe. `weights`: one of WEIGHTS, or None."""
    if random.random() < 0.6:
        return draw_generated(random, directed, weights, scales, simple)
    return draw_listed(random, directed, weights, simple=simple)


def make(recipe, workshop, name="g.slim"):
    """Writes the graph of a recipe to the file `name`, and returns it as a Graph in the order of
    ids. The file may have another order."""
    graph = make_in_id_order(recipe, workshop, name)
    if recipe.get("order") or recipe.get("coded"):
        convert_again(graph, recipe, workshop, name)
    return graph


def convert_again(graph, recipe, workshop, name):
    """Gives the file another order, or lists for mining."""
    no_reverse = ["--no-reverse"] if recipe.get("no-reverse") else []
    order = recipe.get("order") or "ids"
    workshop.run(["convert", name, "ordered.slim", "--order", order, "--self-loops", "keep",
                  "--duplicates", "keep"] + (["--weighted"] if graph.weight_type != "none" else [])
                 + (["--coded"] if recipe.get("coded") else []) + no_reverse).expect(0)
    ordered = read_slim(workshop.path("ordered.slim"))
    if sorted(ordered.ids) != graph.ids:
        raise Wrong(f"convert --order {order}: other ids")
    if sorted_edges(ordered) != sorted_edges(graph):
        raise Wrong(f"convert --order {order}: other edges")
    degree = [len(out) for out in ordered.lists]
    if ordered.directed:
        for out in ordered.lists:
            for v in out:
                degree[v] += 1
    else:
        degree = [d + out.count(v) for v, (d, out) in enumerate(zip(degree, ordered.lists))]
    if order == "degree" and any(after > before for before, after in zip(degree, degree[1:])):
        raise Wrong("convert --order degree: degrees do not fall")
    if recipe.get("coded"):
        workshop.run(["info", "ordered.slim", "--check"]).expect(0)
    os.replace(workshop.path("ordered.slim"), workshop.path(name))


def sorted_edges(graph):
    def either_way(u, v):
        return (u, v) if graph.directed or u <= v else (v, u)
    return sorted((*either_way(u, v), weight or 0) for u, v, weight in graph.edges())


def make_in_id_order(recipe, workshop, name):
    no_reverse = ["--no-reverse"] if recipe.get("no-reverse") else []
    if "words" in recipe:
        workshop.run(recipe["words"] + no_reverse + ["-o", name]).expect(0)
        return read_slim(workshop.path(name))
    lines = [f"{u} {v}" + ("" if w is None else f" {w!r}") for u, v, w in recipe["edges"]]
    workshop.write("edges.txt", "".join(line + "\n" for line in lines))
    workshop.write("vertices.txt", "".join(f"{v}\n" for v in recipe["ids"]))
    workshop.run(["convert", "edges.txt", name, "--from", "snap", "--vertices", "vertices.txt",
                  "--directed" if recipe["directed"] else "--undirected",
                  "--self-loops", recipe["self-loops"], "--duplicates", recipe["duplicates"]]
                 + (["--weighted"] if recipe["weights"] else []) + no_reverse).expect(0)
    graph = read_slim(workshop.path(name))
    expect_converted(graph, recipe)
    return graph


def expect_converted(graph, recipe):
    directed = recipe["directed"]
    ids = sorted(set(recipe["ids"]) | {v for edge in recipe["edges"] for v in edge[:2]})
    edges = [(u, v, w) if directed or u <= v else (v, u, w) for u, v, w in recipe["edges"]]
    if recipe["self-loops"] == "drop":
        edges = [edge for edge in edges if edge[0] != edge[1]]
    if recipe["duplicates"] == "drop":
        lightest = {}
        for u, v, w in edges:
            lightest[u, v] = w if w is None else min(w, lightest.get((u, v), w))
        edges = [(u, v, w) for (u, v), w in lightest.items()]
    found = sorted(graph.edges(), key=repr)
    # Compare weights as the file's type: it may be float where the list has the integer 3.
    expected = sorted(((u, v, w if w is None else type(found[0][2])(w)) for u, v, w in edges),
                      key=repr) if found else edges
    if graph.ids != ids:
        raise Wrong(f"convert: {len(graph.ids)} vertices, or other ids, expected {len(ids)}")
    if found != expected:
        raise Wrong(f"convert: {len(found)} edges, or others, expected {len(expected)}")


def listed(recipe, graph):
    """The same graph as a recipe with a list of edges, from which edges can be removed."""
    if "edges" in recipe:
        return recipe
    plain = {"kind": recipe["kind"], "edges": list(graph.edges()), "ids": graph.ids,
             "self-loops": "keep", "duplicates": "keep"}
    kept = ("directed", "weights", "no-reverse", "order", "coded")
    return {**plain, **{key: recipe[key] for key in kept if key in recipe}}
