"""Points of jobs on a standing pool, whose compute nodes may change while they run: points of
vertex programs and of mining, on a graph that a pool has loaded. Some are those of somebody with
whom the pool is shared."""
import ctypes
import os

import mining
import vertex

COUNTS = ("triangles", "cliques", "motifs", "match")  # their compute nodes may change
ON_FILES = ("gen", "convert", "info")


def can_confine():
    """Whether the system has Landlock, without which pools refuse those jobs."""
    create_ruleset = 444
    return ctypes.CDLL(None).syscall(create_ruleset, None, ctypes.c_size_t(0), 1) > 0


def draw_job(random):
    """Draws a point of another family that can run on a pool."""
    while True:
        spec = random.choice([vertex, mining]).draw(random)
        recipe = spec["graph"]
        is_long = spec.get("heavy") and spec["family"] == "mining"
        if is_long or recipe["kind"] == "empty" or recipe.get("no-reverse") or \
                (recipe["directed"] and spec["family"] == "mining"):
            continue
        return spec


def draw_shape(random, nodes, may_move, steps):
    transport = random.choice(["shm", "shm", "tcp"])
    words = ["--threads", random.choice([1, 1, 2, 3]), "--transport", transport]
    words += random.choice([[], ["--access", "read"],
                            ["--host-of", random.randrange(nodes)] if transport == "shm" else []])
    if not may_move or random.random() < 0.2:
        return words + ["--compute", random.randint(1, 4)]
    longest = random.choice([2, 5, 30])
    at, schedule = 0, []
    while at < steps:
        schedule.append(f"{random.randint(1, 4)}@{at}")
        at += random.randint(1, longest)
    return words + ["--compute-schedule", ",".join(schedule)]


def draw_host_cache(random, shape):
    """Its size; None: none. It serves jobs that read lists, and is harmless for others."""
    reads = {"tcp", "--access", "--host-of"} & set(shape)
    return random.choice([None, "16K", "300K", "64M"]) if reads else None


def draw(random):
    spec = draw_job(random)
    if spec["family"] == "mining":
        may_move, steps = spec["command"] in COUNTS and not spec["list"], 200
    else:
        may_move, steps = "--repeat" not in spec["words"], 30
    nodes = random.randint(1, 4)
    shape = draw_shape(random, nodes, may_move, steps)
    return {**spec, "of": spec["family"], "family": "pools", "nodes": nodes,
            "copies": random.choice([1, 1, 2]) if nodes > 1 else 1,
            "survives": may_move and random.random() < 0.3,
            "encrypts": random.random() < 0.3,
            "shared": "tcp" in shape and random.random() < 0.5,
            "host-cache": draw_host_cache(random, shape), "shape": shape}


class PoolWorkshop:
    """Runs jobs on g.slim in a pool, unless they say how many nodes they have."""

    def __init__(self, workshop, spec):
        self.workshop, self.spec, self.is_loaded = workshop, spec, False
        self.enter("pools")

    def __getattr__(self, name):
        return getattr(self.workshop, name)

    def enter(self, folder):
        """Changes the folder of descriptors."""
        self.workshop.environment = {**os.environ, "SLIMGRAPH_POOLS": self.workshop.path(folder)}
        self.workshop.lines.append(f"export SLIMGRAPH_POOLS=$PWD/{folder}")

    def share(self):
        self.workshop.run(["pool", "share", "p", "p.shared"]).expect(0)
        self.enter("readers")
        self.workshop.run(["pool", "add", "p.shared"]).expect(0)

    def run(self, words):
        if words[0] in ON_FILES or "--nodes" in words:
            return self.workshop.run(words)
        if not self.is_loaded:
            self.workshop.run(["pool", "start", "p", "--nodes", self.spec["nodes"],
                               "--copies", self.spec["copies"],
                               *(["--encrypt"] if self.spec["encrypts"] else []),
                               *(["--host-cache", self.spec["host-cache"]]
                                 if self.spec["host-cache"] else [])]).expect(0)
            self.workshop.run(["pool", "load", "p", "g.slim", "--as", "g"]).expect(0)
            self.is_loaded = True
            if self.spec["shared"] and can_confine():
                self.share()
        survives = ["--survive"] if self.spec["survives"] else []
        return self.workshop.run([words[0], "p:g", *words[2:], *survives])

    def stop(self):
        if self.is_loaded:
            self.enter("pools")
            self.workshop.run(["pool", "stop", "p", "--now"]).expect(0)


def check(spec, workshop):
    pool = PoolWorkshop(workshop, spec)
    try:
        {"vertex": vertex, "mining": mining}[spec["of"]].check(spec, pool)
    finally:
        pool.stop()
