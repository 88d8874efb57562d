"""The performance bars of graphs that change.

Runs that are compared alternate, and medians are shown. Rates are per second of wall-clock time.
Beside each rate is the rate per second of processor time, which other load hardly affects. Some
bars are the speed of another engine, measured on two cores: GDI-RMA 242,000 LinkBench queries/s on
two ranks (kron 16), LiveGraph 22,000 single-edge transactions/s."""
import filecmp
import os
import random
import shutil
import statistics
import subprocess
import time

GDI_RMA_QUERIES = 242_000
LIVEGRAPH_EDGES = 22_000
UPDATES = 2_000_000


def declare(parser):
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--protocol", default="occ")


def create(bench, graph, store, *more):
    bench.run("store", "create", bench.file(graph), "-o", bench.file(store), *more)


def set_up(bench):
    bench.run("gen", "kron", "-s", str(bench.options.scale), "-o", bench.file("g.slim"))
    create(bench, "g.slim", "bare")
    create(bench, "g.slim", "linked", "--vertex-bytes", "128", "--edge-bytes", "8")


# --- analytics on a store that was folded and exported, compared with the same graph's plain
# file
def instructions(bench, words):
    """The instructions of the command on one node: by the processor's counters, or else under
    valgrind, which is deterministic."""
    out = bench.file("counted")
    if shutil.which("perf") is not None:
        done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "-o", out,
                               bench.command, *words], capture_output=True, check=False)
        with open(out, encoding="utf-8") as file:
            counts = [line.split(",")[0] for line in file if "instructions" in line]
        if done.returncode == 0 and counts and counts[0].isdigit():
            return int(counts[0])
    if shutil.which("valgrind") is None:
        return None
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
                           bench.command, *words], capture_output=True, timeout=600, check=False)
    if done.returncode != 0:
        return None
    with open(out, encoding="utf-8") as file:
        counts = [line.split()[1] for line in file if line.startswith(("summary:", "totals:"))]
    return int(counts[0]) if counts else None


def verify(bench, commands):
    """Runs once, outside the measured time: with --verify, or by comparing the counts."""
    verifies = [words[0] == "pagerank" for words in commands]
    reports = [bench.cost(*words, *(["--verify"] if verifies[0] else []))[0]
               for words in commands]
    if verifies[0]:
        right = all(report.get("verified") for report in reports)
    else:
        right = all(report["result"] == reports[0]["result"] for report in reports)
    if not right:
        bench.end(f"{' and '.join(' '.join(words) for words in commands)}: a result is wrong")


def analytics(bench):
    chooser, vertices = random.Random(2), 1 << bench.options.scale
    names = ("all.txt", "most.txt", "rest.txt")
    with open(bench.file(names[0]), "w", encoding="utf-8") as everything, \
            open(bench.file(names[1]), "w", encoding="utf-8") as most, \
            open(bench.file(names[2]), "w", encoding="utf-8") as rest:
        for _ in range(16 * vertices):  # degrees are skewed
            one, other = int(vertices * chooser.random() ** 3), chooser.randrange(vertices)
            line = f"{one} {other if other != one else (one + 1) % vertices}\n"
            everything.write(line)
            if chooser.randrange(10) == 0:
                rest.write("+ " + line)
            else:
                most.write(line)
    for text, slim in (("all.txt", "plain.slim"), ("most.txt", "most.slim")):
        bench.cost("convert", "--undirected", bench.file(text), bench.file(slim))
    create(bench, "most.slim", "grown")
    bench.cost("store", "apply", bench.file("grown"), "--from", bench.file("rest.txt"))
    bench.cost("store", "export", bench.file("grown"), "-o", bench.file("grown.slim"))
    same = filecmp.cmp(bench.file("plain.slim"), bench.file("grown.slim"), shallow=False)
    print(f"       the exported file is {'' if same else 'not '}identical to the plain file")
    for name, more in (("pagerank", ["--iterations", "100"]), ("triangles", [])):
        words = {which: [name, bench.file(which), *more, "--nodes", "2"]
                 for which in ("plain.slim", "grown.slim")}
        verify(bench, words.values())
        times = bench.in_turn({which: lambda w=w: bench.cost(*w)[0]["time"]["run_s"]
                         for which, w in words.items()}, 3 * bench.rounds)
        bench.tell(f"{name} on a folded store against the plain file, time",
                  times["grown.slim"] / times["plain.slim"], 1.05, False)
        # Instruction counts hardly vary between runs and take long, so one run suffices.
        few = ["--iterations", "3"] if more else []
        counts = {which: instructions(bench, [name, bench.file(which), *few, "--nodes", "1"])
                  for which in words}
        if None in counts.values():
            print(f"       {name}, instructions: neither perf nor valgrind counts them here")
            continue
        bench.tell(f"{name} on a folded store against the plain file, instructions",
                  counts["grown.slim"] / counts["plain.slim"], 1.05, False)


# --- analytics on snapshots of a graph in memory that has changed or is changing
def snapshots(bench, workload, *more):
    """The results on snapshots during the run, and on the last one, whose graph is exported."""
    result = transactions(bench, workload, "bare", "--analytics", "pagerank,triangles",
                               "--export", bench.file("changed.slim"), *more)
    found = result[5]["analytics"]
    if isinstance(found, dict):
        found = list(found.values())
    return ([one for one in found if one["in_run"]],
            [one for one in found if not one["in_run"]])


def expect_same(bench, found, report):
    """Triangles on a snapshot and on its export must agree. Ranks are not compared, because
    their last digits vary; the data that they are computed from was verified."""
    if found["name"] == "triangles" and found["result"]["count"] != report["result"]["count"]:
        bench.end(f"{found['result']} triangles on a snapshot, and on its export "
                 f"{report['result']}")


def unfolded(bench):
    each = edges_of_graph(bench) // 320
    taken = {}
    for _ in range(bench.rounds):
        last = snapshots(bench, "edge-updates", "--seconds", "60", "--transactions", str(each),
                              "--rows", str(320 * each), "--fold", "0")[1]
        for one in last:
            report = bench.cost(one["name"], bench.file("changed.slim"), "--nodes", "2")[0]
            plain = report["time"]
            expect_same(bench, one, report)
            changed = one["gather_s"] + one["load_s"] + one["run_s"]
            taken.setdefault(one["name"], []).append(
                (one["run_s"] / plain["run_s"], changed / (plain["load_s"] + plain["run_s"])))
    for name, ratios in taken.items():
        claim = f"{name} with 10 % of the edges rewritten, not folded, against the plain file"
        bench.tell(f"{claim}, running", statistics.median(r[0] for r in ratios), 1.3, False)
        bench.tell(f"{claim}, with the snapshot and loading",
                  statistics.median(r[1] for r in ratios), 1.3, False)


def beside(bench):
    """Two nodes write at full speed while two run analytics, on the available processors. Times
    are divided by the number of edges, because the graph grows."""
    processors = len(os.sched_getaffinity(0))
    share = (2 + 2) / min(processors, 4)  # slowdown if all threads get equal time
    taken = {}
    for _ in range(bench.rounds):
        meanwhile, after = snapshots(bench, "edge-updates", "--seconds",
                                          str(2 * bench.options.seconds))
        for one in after:
            each = [other["run_s"] / other["edges"] for other in meanwhile
                    if other["name"] == one["name"]]
            taken.setdefault(one["name"], []).append(
                statistics.median(each) / (one["run_s"] / one["edges"]))
    for name, ratios in taken.items():
        bench.tell(f"{name} beside writers of a thread on each node, against none, running",
                  statistics.median(ratios), share, False, " x",
                  f"; {processors} processors for four threads")


# --- transactions
def transactions(bench, workload, store, *more):
    """Commits/s, commits per second of processor time, retries, commits, result, report."""
    report, cpu_s = bench.cost(
        "txn", "run", "--workload", workload, "--store", bench.file(store), "--protocol",
        bench.options.protocol, "--nodes", "2", "--coroutines", "16", *more)
    result = report["result"]
    return (result["throughput_per_s"], result["committed"] / cpu_s, result["aborted"],
            result["committed"], result, report)


def rates(bench, measures):
    """The medians of the first four values of each measure, by name."""
    taken = {name: [] for name in measures}
    for _ in range(bench.rounds):
        for name, measure in measures.items():
            taken[name].append(measure())
    return {name: [statistics.median(one[i] for one in runs) for i in range(4)]
            for name, runs in taken.items()}


def linkbench(bench):
    seconds = ["--seconds", str(bench.options.seconds)]
    rate = rates(bench, {"mix": lambda: transactions(bench, "linkbench", "linked", *seconds)})
    a_second, a_cpu_second, aborted, committed = rate["mix"]
    # A transaction that conflicts is retried until it commits, so none fails.
    bench.tell("LinkBench mix on two nodes", a_second, 2 * GDI_RMA_QUERIES, True, "/s",
              f"; {a_cpu_second:,.0f} for each second of processor time, 0 failed, "
              f"{100 * aborted / committed:.2f} % retried")


def edges(bench):
    each = ["--transactions", "20000", "--seconds", "60", "--rows", "2000000"]
    rate = rates(bench, {hot: lambda hot=hot: transactions(bench, 
        "edge-updates", "linked", *each, "--hot", hot) for hot in ("0", "0.99")})
    a_second, a_cpu_second, *_ = rate["0"]
    bench.tell("single-edge transactions on two nodes", a_second, 10 * LIVEGRAPH_EDGES, True,
              "/s", f"; {a_cpu_second:,.0f} for each second of processor time")
    bench.tell("the slowdown with 99 % of them at one vertex, by time",
              a_second / rate["0.99"][0], 2, False, " x",
              f"; by processor time {a_cpu_second / rate['0.99'][1]:.2f} x")


def edge(one, other):
    one, other = int(one), int(other)
    return min(one, other) << 32 | max(one, other)


def edges_of(bench, graph):
    bench.cost("match", bench.file(graph), "--pattern", "edge", "--list", bench.file("edges.txt"))
    with open(bench.file("edges.txt"), encoding="ascii") as file:
        return {edge(*line.split()) for line in file if line[0] != "#"}


def apply(bench):
    chooser, path = random.Random(1), bench.file("updates.txt")
    vertices = 1 << bench.options.scale
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(UPDATES):
            file.write(f"+ {chooser.randrange(vertices)} {chooser.randrange(vertices)}\n")

    def once(*words):
        start, cpu_s = time.monotonic(), bench.cost("store", *words)[1]
        return UPDATES / (time.monotonic() - start), UPDATES / cpu_s, 0, UPDATES

    def verify():
        """Checks that the updates added each of their edges, and no other edge."""
        apply()
        bench.cost("store", "export", bench.file("applied"), "-o", bench.file("applied.slim"))
        bench.cost("info", bench.file("applied.slim"), "--check")
        wanted = edges_of(bench, "g.slim")
        with open(path, encoding="ascii") as file:
            wanted |= {edge(*line.split()[1:]) for line in file}
        loops = {edge(v, v) for v in range(vertices)}  # not in the list of edges
        if edges_of(bench, "applied.slim") != wanted - loops:
            bench.end("store apply: the edges afterwards are wrong")

    def apply():
        shutil.rmtree(bench.file("applied"), ignore_errors=True)
        create(bench, "g.slim", "applied")
        return once("apply", bench.file("applied"), "--from", path)

    verify()
    taken = rates(bench, {"apply": apply, "merge": lambda: once(
        "export", bench.file("applied"), "-o", bench.file("applied.slim"))})
    a_second, a_cpu_second, *_ = taken["apply"]
    bench.tell("store apply of 2 million edges", a_second, 2_000_000, True, "/s",
              f"; {a_cpu_second:,.0f} for each second of processor time")
    both, by_cpu = (1 / (1 / taken["apply"][i] + 1 / taken["merge"][i]) for i in range(2))
    bench.tell("the same, merged with the base too", both, 2_000_000, True, "/s",
              f"; {by_cpu:,.0f} for each second of processor time")


# --- memory, without properties
def edges_of_graph(bench):
    return bench.cost("info", bench.file("g.slim"))[0]["graph"]["edges"]


def memory(bench):
    edges = edges_of_graph(bench)
    for claim, each, more in (("as loaded", 1, []),
                              ("with 10 % of the edges rewritten", edges // 320, []),
                              ("the same, never folded", edges // 320, ["--fold", "0"])):
        result = transactions(bench, "edge-updates", "bare", "--seconds", "60", "--transactions",
                                   str(each), "--rows", str(edges // 10), *more)[4]
        ratio, parts = against_csr(result)
        if more:
            print(f"       {claim}: {ratio:.3g} x; {parts}", flush=True)
            continue
        folds = result["folding"]
        bench.tell(f"memory of the store, {claim}, against CSR", ratio, 1.5, False, " x",
                  f"; {parts}; {folds['folds']} folds, which stopped transactions for "
                  f"{1e3 * folds['longest_pause_s']:.1f} ms at most")


    # A read of an absent key leaves a tuple behind, because absence is protected like any
    # value.
    seconds = str(5 * bench.options.seconds)
    result = transactions(bench, "tao", "bare", "--seconds", seconds)[4]
    ratio, parts = against_csr(result)
    count = result["committed"]
    print(f"       under TAO's mix, {count:,} transactions: {ratio:.3g} x; {parts}",
          flush=True)


def against_csr(result):
    taken = dict(result["memory_bytes"])
    csr = taken.pop("csr")
    parts = ", ".join(f"{what} {part / csr:.2f}" for what, part in taken.items() if part)
    return sum(taken.values()) / csr, parts


PARTS = {part.__name__: part for part in (analytics, unfolded, beside, linkbench, edges, apply,
                                          memory)}
