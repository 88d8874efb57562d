"""Points of `txn run`: checks histories, and compares exported graphs with applied updates. And of
`txn sweep`, which runs at several values of an option, one after the other."""
import os

import graphs
from command import Wrong
from shapes import MPI_NODES

LOCKING = ["nowait", "waitdie", "boundedwait"]
STAGES = {**{name: 5 for name in LOCKING}, "occ": 6, "to": 5, "mvcc": 5,
          "sundial": 6, "calvin": 4}
STAGE_NAMES = {**{name: ["read", "lock", "log", "commit", "release"] for name in LOCKING},
               "occ": ["read", "lock", "validate", "log", "commit", "release"],
               "to": ["read", "lock", "log", "commit", "release"],
               "mvcc": ["read", "lock", "log", "commit", "release"],
               "sundial": ["read", "lock", "log", "commit", "release", "renew"],
               "calvin": ["read", "lock", "log", "commit"]}
STRICT = {*LOCKING, "occ", "calvin"}
TIMED = {*LOCKING, "occ", "mvcc"}
LEVELS = ["serializable", "repeatable-read", "read-committed"]
ON_GRAPHS = ["graph-append", "index-append"]
HISTORIES = ["list-append", *ON_GRAPHS]
YCSB_MIXES = ["ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f"]
TABLES = ["smallbank", "ycsb", "tpcc", "tpcc-neworder"]
ON_STORES = ["linkbench", "tao", "snb-updates", "graph-churn", "edge-updates"]
ANALYTICS = ["pagerank", "bfs", "cc", "triangles", "cliques:4", "sssp", "cdlp:3", "kcore", "mis:7",
             "lcc", "ktruss"]
NEED_UNDIRECTED = {"triangles", "cliques:4", "ktruss"}
# The command that computes the same, and what to compare.
ALONE = {"cc": (["cc", "--verify"], "components"),
         "triangles": (["triangles", "--verify"], "count"),
         "cliques:4": (["cliques", "-k", 4, "--verify"], "count"),
         "cdlp:3": (["cdlp", "--iterations", 3, "--verify"], "communities"),
         "kcore": (["kcore", "--verify"], "largest_core_vertices"),
         "mis:7": (["mis", "--seed", 7, "--verify"], "members"),
         "lcc": (["lcc", "--verify"], "mean_clustering"),
         "ktruss": (["ktruss", "--verify"], "largest_truss_edges")}


def draw_protocol(random):
    """Draws a protocol. Returns its name, and the words for it and its stage code."""
    protocol = random.choice(list(STAGES))
    code = "".join(random.choice("01") for _ in range(STAGES[protocol]))
    words = ["--protocol", protocol, "--stages", random.choice([code] * 4 + ["rpc", "one-sided"])]
    if protocol == "boundedwait":
        words += ["--lock-timeout", random.choice(["100us", "2ms", "2ms", "20ms"])]
    if protocol in TIMED and random.random() < 0.5:
        others = [] if protocol == "mvcc" else ["global", "vector"]
        words += ["--timestamps", random.choice(["dst", "dst", "dst", *others])]
        if random.random() < 0.3:
            words += ["--version-memory", random.choice(["64K", "1M"])]
    return protocol, words


def draw_level(random, protocol, words):
    """Draws a level of isolation for a workload on tables. Returns it, and the words for it."""
    if protocol not in LOCKING or "--timestamps" in words or random.random() < 0.3:
        return "serializable", []
    level = random.choice(LEVELS)
    return level, ["--isolation", level]


def level_of_history(spec):
    if spec.get("level", "serializable") != "serializable":
        return spec["level"]
    return "strict" if is_strict(spec["protocol"], spec["words"]) else "serializable"


def is_strict(protocol, words):
    return protocol in STRICT and "--timestamps" not in words


def draw_shape(random, transports, least=1):
    transport = random.choice(transports)
    # Two jobs over MPI, side by side, hardly go on if they have many more threads than processors.
    over_mpi = transport == "mpi"
    nodes = random.randint(least, MPI_NODES if over_mpi else 5)
    compute = random.choice([1, nodes, nodes, random.randint(1, nodes)])
    threads = 1 if over_mpi else random.choice([1, 1, 2, 3])
    return nodes, ["--nodes", nodes, "--compute", compute, "--threads", threads,
                   "--coroutines", random.choice([1, 2, 8, 16, "auto"]), "--transport", transport]


def draw_death(random, protocol, nodes, replicas):
    victim = random.randint(1, nodes - 1)
    death = f"{victim}@{random.choice(STAGE_NAMES[protocol])}:{random.randint(1, 60)}"
    others = [node for node in range(1, nodes) if node != victim]
    if replicas > 2 and others and random.random() < 0.4:
        death += f",{random.choice(others)}@repair:{random.randint(1, 4)}"
    return ["--die", death]


def draw(random):
    kind = random.choice(["history", "history", "table", "sweep", "store", "durable", "durable",
                          "replay"])
    if kind == "replay":
        return draw_replay(random)
    replicated = kind not in ("durable", "sweep") and random.random() < 0.4
    transports = ["shm", "tcp"] if replicated else ["shm", "shm", "tcp", "mpi"]
    nodes, shape = draw_shape(random, transports, 2 if replicated else 1)
    protocol, words = draw_protocol(random)
    words += ["--seed", random.randint(1, 10**6)]
    if replicated:
        replicas = random.randint(2, min(nodes, 3))
        words += ["--replicas", replicas]
        if random.random() < 0.7:
            words += draw_death(random, protocol, nodes, replicas)
    if random.random() < 0.2:
        words += ["--without", random.choice(["outstanding", "doorbells", "passive", "speculation",
                                              "cache", "own-home", "passive,speculation"])]
    if random.random() < 0.1:
        words += ["--delay-us", random.choice([5, 20])]
    spec = {"family": "transactions", "kind": kind, "protocol": protocol, "words": words,
            "shape": shape}
    if kind == "history":
        spec["workload"] = random.choice(HISTORIES)
        if spec["workload"] == "list-append":
            spec["level"], more = draw_level(random, protocol, words)
            words += more
        words += ["--transactions", random.randint(20, 200), "--seconds", 1]
        if random.random() < 0.5:
            words += ["--rows", random.choice([1, 2, 4, 10])]
        if spec["workload"] in ON_GRAPHS and random.random() < 0.7:
            words += ["--fold", random.choice(["0.01", "0.1", "0"])]
    elif kind == "table":
        spec["workload"] = random.choice([*TABLES, *random.sample(YCSB_MIXES, 2)])
        words += ["--seconds", 0.1] + draw_rows(random, spec["workload"])
        words += draw_level(random, protocol, words)[1]
        if spec["workload"] in YCSB_MIXES:
            draw_lookup(random, spec)
    elif kind == "sweep":
        draw_sweep(random, spec)
    elif kind == "store":
        draw_on_store(random, spec)
    else:
        draw_durable(random, spec)
    return spec


def draw_replay(random):
    protocol = random.choice([*LOCKING, "to"])
    words = ["--protocol", protocol, "--cores", 2 * random.choice([1, 2, 5, 16, 64]),
             "--cores-per-node", 2 * random.choice([1, 2, 16]),
             "--copies", random.choice([1, 1, 3, 10]), "--seconds", 0.003,
             "--record", random.choice([200, 2000]), "--seed", random.randint(1, 10**6),
             "--isolation", random.choice(["serializable", "read-committed"]),
             "--delay", random.choice(["0us", "2us", "100us"])]
    words += ["--rows", random.choice([1, 2, 5]), "--population", random.choice([0.002, 0.02])]
    if random.random() < 0.3:
        words.append("--separate-servers")
    if protocol == "boundedwait":
        words += ["--lock-timeout", random.choice(["20us", "1ms"])]
    if protocol != "to":
        words += random.choice([[], ["--no-intentions"],
                                ["--escalate", random.choice([1, 5, 50])]])
    return {"family": "transactions", "kind": "replay", "protocol": protocol, "words": words,
            "workload": random.choice(["tpcc", "tpcc-neworder"]), "shape": []}


def draw_sweep(random, spec):
    protocol = spec["protocol"]
    code = "".join(random.choice("01") for _ in range(STAGES[protocol]))
    values = {"coroutines": [1, 2, 5, 8, 16], "hot": [0, 0.5, 0.99], "qps": [1000, 20000],
              "stages": ["rpc", "one-sided", code]}
    over = random.choice(list(values))
    spec["workload"] = "ycsb" if over == "hot" else random.choice(
        ["smallbank", "ycsb", *ON_GRAPHS, *random.sample(YCSB_MIXES, 2)])
    if spec["workload"] in YCSB_MIXES:
        spec["words"] += ["--lookup", random.choice(["hash", "leaf"])]
    spec["values"] = [str(random.choice(values[over])) for _ in range(random.randint(2, 5))]
    spec["words"] += ["--over", over, "--values", ",".join(spec["values"]), "--seconds", 0.1]
    if spec["workload"] not in ON_GRAPHS:
        spec["words"] += draw_rows(random, spec["workload"])
        spec["words"] += draw_level(random, protocol, spec["words"])[1]


def draw_rows(random, workload):
    if workload.startswith("tpcc"):
        return ["--rows", random.choice([1, 2, 4]),
                "--population", random.choice([0.002, 0.02, 0.2])]
    words = ["--rows", random.choice([20, 500, 5000])]
    if workload in YCSB_MIXES:
        words += ["--writes", random.choice([0, 0.1, 0.5, 1]), "--theta", random.choice([0, 0.9]),
                  "--operations", random.randint(1, 4), "--record-bytes", random.choice([8, 100]),
                  "--scan-length", random.choice([1, 30])]
    return words


def draw_lookup(random, spec):
    lookup = random.choice(["hash", "hash", "leaf", "tree"])
    spec["words"] += ["--lookup", lookup]
    if lookup == "tree":
        spec["words"][spec["words"].index("--stages") + 1] = "rpc"


def draw_store_graph(random, scales=(3, 5, 7, 8)):
    directed = random.random() < 0.4
    weights = random.choice([None, None, "small", "float64"])
    recipe = graphs.draw_generated(random, directed, weights, scales, simple=True)
    vertex_bytes = random.choice([0, 8, 128])
    indexes = random.choice([[], ["--index", "a=0:u8"], ["--index", "a=3:f32,b=0:i64"]])
    return {**recipe, "vertex-bytes": vertex_bytes, "edge-bytes": random.choice([0, 8]),
            "indexes": indexes if vertex_bytes else []}


def draw_on_store(random, spec):
    spec["workload"] = random.choice(ON_STORES)
    spec["graph"] = draw_store_graph(random)
    spec["words"] += ["--seconds", 0.2, "--transactions", random.choice([20, 100, 400]),
                      "--rows", random.choice([20, 1000, 100_000]),
                      "--fold", random.choice(["0", "0.02", "0.25"])]
    if random.random() < 0.5:
        recipe = spec["graph"]
        able = [name for name in ANALYTICS if (name != "sssp" or recipe["weights"])
                and not (recipe["directed"] and name in NEED_UNDIRECTED)]
        spec["words"] += ["--analytics", ",".join(random.sample(able, random.randint(1, 3)))]


def draw_commit_log(random, shape):
    if "mpi" in shape or random.random() < 0.5:
        return []
    words = ["--commit-log", "remote", "--flush", random.choice(["home", "read"])]
    if random.random() < 0.5:
        words += ["--log-memory", random.choice(["64K", "256K"])]
    return words


def draw_durable(random, spec):
    spec["workload"] = random.choice(["smallbank", "ycsb", "ycsb-e", "tpcc", "list-append",
                                      "list-append", "linkbench"])
    spec["rows"] = draw_rows(random, spec["workload"])
    if spec["workload"] == "list-append":
        spec["rows"] = ["--rows", random.choice([2, 6])]
        spec["words"] += ["--transactions", 50]
    elif spec["workload"] == "linkbench":
        # A run may delete all vertices of a smaller graph. The next run would be refused.
        spec["graph"] = draw_store_graph(random, (10,))
        while {"--width", "complete"} & set(spec["graph"]["words"]):
            spec["graph"] = draw_store_graph(random, (10,))
        spec["rows"] = ["--rows", random.choice([100, 100_000]),
                        "--fold", random.choice(["0", "0.02", "0.25"])]
    # Runs before the last are killed or end by themselves. Each recovers from the one before.
    spec["kills"] = [random.choice([None, None, random.uniform(0.05, 0.4)])
                     for _ in range(random.randint(1, 3))]
    if "graph" in spec:  # `store apply --durable` after each run; a time: it is killed then
        at_any_time = random.uniform(0.005, 0.05)
        spec["applies"] = [random.choice([None, 0, at_any_time]) for _ in spec["kills"]]
        spec["applies"].append(random.choice([0, at_any_time]))
    spec["words"] += draw_commit_log(random, spec["shape"])
    protocol, words = draw_protocol(random)
    shape = draw_shape(random, ["shm", "tcp"])[1]
    spec["last"] = words + shape + draw_commit_log(random, shape) + ["--seconds", 0.1]
    spec["last_protocol"] = protocol


def check(spec, workshop):
    {"history": check_history, "table": check_table, "sweep": check_sweep,
     "store": check_on_store, "durable": check_durable,
     "replay": check_replay}[spec["kind"]](spec, workshop)


def run(spec, workshop, more, words=None, kill_after_s=None, command="run"):
    end = workshop.run(["txn", command, "--workload", spec["workload"]]
                       + (words or spec["words"] + spec["shape"]) + more + ["--json"], kill_after_s)
    if kill_after_s and end.code < 0:
        return None
    report = end.report()
    if report.get("verified") is not True:
        raise Wrong("the report does not say that the data was verified")
    return report


def check_history(spec, workshop):
    run(spec, workshop, ["--history", "history"])
    workshop.check_history("history", level_of_history(spec))


def check_table(spec, workshop):
    run(spec, workshop, [])


def check_replay(spec, workshop):
    run(spec, workshop, [], command="replay")


def check_sweep(spec, workshop):
    report = run(spec, workshop, [], command="sweep")
    rows = report["result"]["rows"]
    if [row["value"] for row in rows] != spec["values"]:
        raise Wrong(f"there are rows for {[row['value'] for row in rows]}")
    for row in rows:
        if row["committed"] + row["aborted"] == 0:
            raise Wrong(f"nothing was done at {row['value']}")


def make_store(spec, workshop):
    graph = graphs.make(spec["graph"], workshop)
    workshop.run(["store", "create", "g.slim", "--vertex-bytes", spec["graph"]["vertex-bytes"],
                  "--edge-bytes", spec["graph"]["edge-bytes"], *spec["graph"]["indexes"],
                  "-o", "store"]).expect(0)
    return graph


def check_on_store(spec, workshop):
    """Checks that the exported graph equals the store after the run's updates are applied."""
    graph = make_store(spec, workshop)
    if graph.arcs() == 0:
        return
    files = ["--store", "store", "--export", "after.slim"]
    if "--die" in spec["words"]:  # the updates of a dead node are lost
        run(spec, workshop, files)
        graphs.read_slim(workshop.path("after.slim"))
        return
    report = run(spec, workshop, files + ["--updates", "updates"])
    workshop.run(["store", "apply", "store", "--from", "updates"]).expect(0)
    compare_with_store(workshop, "its updates")
    compare_with_commands(workshop, report.get("analytics", []))


def compare_with_commands(workshop, analytics):
    """Compares what was found on the last snapshot, whose graph was exported, with commands."""
    last = {found["name"]: found.get("result", {}) for found in analytics}
    for name, found in last.items():
        words, figure = ALONE.get(name, (None, None))
        if words is None or figure not in found:  # the graph is empty
            continue
        command = workshop.run([*words, "after.slim", "--json"]).expect(0).report()
        if command["result"][figure] != found[figure]:
            raise Wrong(f"{name}: {figure} of the last snapshot is {found[figure]}, and of the "
                        f"exported graph {command['result'][figure]}")


def compare_with_store(workshop, what):
    """Compares the exported graph of a run with the store, which has taken `what`."""
    workshop.run(["store", "export", "store", "-o", "applied.slim"]).expect(0)
    after = graphs.read_slim(workshop.path("after.slim"))
    applied = graphs.read_slim(workshop.path("applied.slim"))
    if after.ids != applied.ids:
        raise Wrong(f"the run exports {len(after.ids)} vertices, {what} make "
                    f"{len(applied.ids)}, or others")
    if sorted(after.edges()) != sorted(applied.edges()):
        raise Wrong(f"the run exports {after.arcs()} arcs, {what} make {applied.arcs()}, "
                    "or others")


def apply_commits(workshop, kill_after_s):
    if not os.path.isdir(workshop.path("logs")):  # the run was killed before it had logs
        return
    words = ["store", "apply", "store", "--durable", "logs"]
    if kill_after_s:
        end = workshop.run(words, kill_after_s)
        if end.code >= 0:
            end.expect(0)
    else:
        workshop.run(words).expect(0)


def check_durable(spec, workshop):
    """Runs that may be killed, then a last run that recovers their commits."""
    more = ["--durable", "logs"] + spec["rows"]
    if "graph" in spec:
        if make_store(spec, workshop).arcs() == 0:
            return
        more += ["--store", "store"]
    histories, runs = [], 0
    for number, kill_after_s in enumerate(spec["kills"]):
        words = spec["words"] + spec["shape"] + ["--seconds", 60 if kill_after_s else 0.1]
        if spec["workload"] == "list-append":
            words += ["--history", f"history{runs}"]
            if kill_after_s:
                words.remove(50)  # no limit, so that the run does not end before the kill
                words.remove("--transactions")
        report = run(spec, workshop, more, words, kill_after_s)
        if report:
            histories.append(f"history{runs}")
        runs += 1
        if "graph" in spec and spec["applies"][number] is not None:
            apply_commits(workshop, spec["applies"][number])
    history = ["--history", "last"] if spec["workload"] == "list-append" else []
    export = ["--export", "after.slim"] if "graph" in spec else []
    run(spec, workshop, more + history + export, spec["last"])
    if "graph" in spec:
        apply_commits(workshop, spec["applies"][-1])
        apply_commits(workshop, None)  # nothing is left to do, unless the first was killed
        compare_with_store(workshop, "its commits")
    # A killed run writes no history, so its appended values would look wrong: check only if none
    # was killed.
    if history and not any(spec["kills"]):
        text = "".join(line + "\n" for name in histories + ["last"]
                       for line in workshop.read_lines(name))
        workshop.write("all", text)
        strict = (is_strict(spec["protocol"], spec["words"])
                  and is_strict(spec["last_protocol"], spec["last"]))
        workshop.check_history("all", "strict" if strict else "serializable")
