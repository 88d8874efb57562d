"""Points of stores: random updates, killed at random, compared with a model in Python."""
import graphs
from command import Wrong


class Model:
    """The expected contents of a store: vertices, and edges with their weights."""

    def __init__(self, directed, ids=(), edges=(), weights=None):
        self.directed = directed
        self.weights = weights  # how they are drawn
        self.ids = set(ids)
        self.edges = {self.key(u, v): w for u, v, w in edges}

    def key(self, u, v):
        return (u, v) if self.directed or u <= v else (v, u)

    def copy(self):
        other = Model(self.directed, weights=self.weights)
        other.ids, other.edges = set(self.ids), dict(self.edges)
        return other

    def apply(self, update):
        kind, u, v, weight = update
        if kind == "+":
            self.edges[self.key(u, v)] = weight
        elif kind == "-":
            self.edges.pop(self.key(u, v), None)
        elif kind == "+v":
            self.ids.add(u)
        else:
            self.ids.discard(u)
            self.edges = {key: w for key, w in self.edges.items() if u not in key}

    def allows(self, update):
        kind, u, v, _ = update
        return kind == "+v" or (u in self.ids and (kind == "-v" or v in self.ids))

    def contents(self):
        return sorted(self.ids), sorted(self.edges.items())


def draw(random):
    directed = random.random() < 0.4
    weights = random.choice([None, None, "small", "float64"])
    recipe = None
    if random.random() < 0.7:
        recipe = graphs.draw(random, directed, weights, (0, 2, 4, 6), simple=True)
    spec = {"family": "stores", "graph": recipe, "directed": directed, "weights": weights,
            "vertex-bytes": random.choice([0, 0, 4]), "edge-bytes": random.choice([0, 0, 3]),
            "seed": random.randrange(1 << 30), "files": [], "steps": []}
    for _ in range(random.randint(1, 4)):
        spec["files"].append(random.choice([1, 5, 40, 400]))
    for _ in range(random.randint(1, 6)):
        file = random.randrange(len(spec["files"]))
        least = max(1, spec["files"][file] // 15)  # each batch is synced, so limit their number
        spec["steps"].append({"file": file, "batch": random.choice([least, 3 * least, 1000]),
                              "kill": random.choice([None, None, random.uniform(0.001, 0.02)])})
    return spec


# Weight type → a kind of random weights (graphs.WEIGHTS) that fits the type.
DRAWN = {"none": None, "int32": "small", "int64": "int64", "float32": "float32",
         "float64": "float64"}


def draw_updates(random, model, count):
    """Draws a sequence of updates that are valid for a store with the contents of `model`."""
    model = model.copy()
    updates = []
    while len(updates) < count:
        ids = sorted(model.ids)
        few = ids[:8] if random.random() < 0.5 else ids
        kind = random.choice(["+"] * 6 + ["-"] * 3 + ["+v"] * 2 + ["-v"])
        known = sorted(model.edges)
        if kind == "+v" or not ids:
            top = ids[-1] if ids else 0
            update = ("+v", random.choice([top + 1, random.randrange(top + 10)]), None, None)
        elif kind == "-v":
            update = ("-v", random.choice(ids), None, None)
        elif kind == "-" and known and random.random() < 0.8:
            update = ("-", *random.choice(known), None)
        else:
            weight = graphs.draw_weight(random, model.weights) if model.weights else None
            update = (kind, random.choice(few), random.choice(ids), weight if kind == "+" else None)
        model.apply(update)
        updates.append(update)
    return updates


def line_of(update):
    kind, u, v, weight = update
    return " ".join([kind, str(u)] + ([] if v is None else [str(v)])
                    + ([] if weight is None else [repr(weight)]))


def first_model(spec, workshop):
    create = ["--vertex-bytes", spec["vertex-bytes"], "--edge-bytes", spec["edge-bytes"],
              *(["--index", "a=1:u16"] if spec["vertex-bytes"] else []), "-o", "store"]
    if spec["graph"]:
        graph = graphs.make(spec["graph"], workshop)
        workshop.run(["store", "create", "g.slim"] + create).expect(0)
        return Model(spec["directed"], graph.ids, graph.edges(), DRAWN[graph.weight_type])
    weights = next(name for name, drawn in DRAWN.items() if drawn == spec["weights"])
    workshop.run(["store", "create", "--empty", "--weights", weights] + create
                 + (["--directed"] if spec["directed"] else [])).expect(0)
    return Model(spec["directed"], weights=spec["weights"])


def exported(workshop, directed, at=None):
    workshop.run(["store", "export", "store", "-o", "now.slim"]
                 + (["--at", at] if at else [])).expect(0)
    graph = graphs.read_slim(workshop.path("now.slim"))
    return Model(directed, graph.ids, graph.edges())


def expect_same(found, model, when):
    if found.contents() == model.contents():
        return
    missing = sorted(set(model.edges.items()) - set(found.edges.items()))[:3]
    more = sorted(set(found.edges.items()) - set(model.edges.items()))[:3]
    raise Wrong(f"{when}: {len(found.ids)} vertices of {len(model.ids)}, {len(found.edges)} edges "
                f"of {len(model.edges)}; missing {missing}, too many {more}")


def check(spec, workshop):
    from random import Random
    random = Random(spec["seed"])
    model = first_model(spec, workshop)
    expect_same(exported(workshop, spec["directed"]), model, "after create")
    if "updates" not in spec:
        spec["updates"] = [draw_updates(random, model, n) for n in spec["files"]]
    for number, updates in enumerate(spec["updates"]):
        workshop.write(f"updates{number}", "".join(line_of(one) + "\n" for one in updates))
    past = []  # (time, model)
    for number, step in enumerate(spec["steps"]):
        model = take_step(spec, workshop, step, model, past, f"step {number}")
    if past:
        time, then = random.choice(past)
        expect_same(exported(workshop, spec["directed"], time), then, f"at time {time}")


def take_step(spec, workshop, step, model, past, name):
    """Applies a file; if the command is killed, applies it again. Returns the expected model."""
    updates = spec["updates"][step["file"]]
    words = ["store", "apply", "store", "--from", f"updates{step['file']}",
             "--batch", step["batch"], "--json"]
    states = [model]
    for update in updates:
        if not states[-1].allows(update):
            workshop.run(words).expect(3)  # the whole file is refused
            expect_same(exported(workshop, spec["directed"]), model, f"{name}, refused")
            return model
        states.append(states[-1].copy())
        states[-1].apply(update)
    killed = False
    if step["kill"]:
        end = workshop.run(words, step["kill"])
        killed = end.code < 0
        if killed:
            found = exported(workshop, spec["directed"])
            batches = [states[i] for i in range(0, len(updates), step["batch"])] + [states[-1]]
            if found.contents() not in [one.contents() for one in batches]:
                raise Wrong(f"{name}, killed: the store holds what no batch has left")
        else:
            end.expect(0)
    if killed or not step["kill"]:
        end = workshop.run(words)
        # The killed command may have applied the file completely; then it may fail now.
        if not (killed and end.code == 3):
            past.append((end.report()["result"]["time"], states[-1]))
    expect_same(exported(workshop, spec["directed"]), states[-1], name)
    return states[-1]
