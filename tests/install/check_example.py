#!/usr/bin/env python3
"""check_example.py COMMAND EXAMPLE: runs an example on random graphs, on one node, on four nodes of
which it starts three, and on four nodes of which two compute. Compares what it prints with serial
code. TEST_SEED draws the same graphs again."""
import collections
import itertools
import os
import random
import subprocess
import sys
import tempfile


def random_graph(draw):
    """Lists by vertex; some vertices have many edges."""
    vertices = draw.randint(20, 200)
    ids = draw.sample(range(10 ** 6), vertices)
    lists = {}
    for _ in range(draw.randint(vertices, 5 * vertices)):
        u = draw.choice(ids[:5] if draw.random() < 0.3 else ids)
        v = draw.choice(ids)
        if u != v:
            lists.setdefault(u, set()).add(v)
            lists.setdefault(v, set()).add(u)
    return lists


def hops_from(lists, source):
    hops, queue = {source: 0}, collections.deque([source])
    while queue:
        u = queue.popleft()
        for v in lists[u]:
            if v not in hops:
                hops[v] = hops[u] + 1
                queue.append(v)
    return hops


def khop(lists, draw):
    source = draw.choice(sorted(lists))
    at = collections.Counter(hops_from(lists, source).values())
    return [str(source), "3"], [f"{hops} hops: {at[hops]}" for hops in range(4)]


def kcore(lists, _):
    left = {v: set(those) for v, those in lists.items()}
    core, k = {}, 0
    while left:
        v = min(left, key=lambda one: len(left[one]))
        k = max(k, len(left[v]))
        core[v] = k
        for u in left.pop(v):
            left[u].discard(v)
    counts = collections.Counter(core.values())
    return [], [f"core {k}: {counts[k]}" for k in sorted(counts)]


def label_propagation(lists, _):
    labels = {v: v for v in lists}
    for _ in range(4):
        counts = {v: collections.Counter(labels[u] for u in those) for v, those in lists.items()}
        labels = {v: min(label for label, count in of.items() if count == max(of.values()))
                  for v, of in counts.items()}
    members = sorted(collections.Counter(labels.values()).items(), key=lambda m: (-m[1], m[0]))
    return ["4"], [f"label {label}: {count}" for label, count in members[:5]]


def pagerank_delta(lists, _):
    rank = {v: 1.0 for v in lists}
    for _ in range(200):
        rank = {v: 0.15 + 0.85 * sum(rank[u] / len(lists[u]) for u in those)
                for v, those in lists.items()}
    best = sorted(lists, key=lambda v: -rank[v])[:5]
    return ["1e-9"], [f"{v} {rank[v]:.4f}" for v in best]


def count_pattern(lists, _):
    triangles = sum(1 for v in lists for a, b in itertools.combinations(lists[v], 2)
                    if b in lists[a]) // 3
    return ["triangle"], [f"triangle: {triangles} counted, {triangles} visited"]


def edges_of(command, store, folder):
    """The lists of a store's graph."""
    graph, edges = os.path.join(folder, "now.slim"), os.path.join(folder, "now.txt")
    output_of([command, "store", "export", store, "-o", graph])
    subprocess.run([command, "match", graph, "--pattern", "edge", "--list", edges], check=True,
                   capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    lists = collections.defaultdict(set)
    with open(edges, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                continue
            u, v = (int(word) for word in line.split()[:2])
            lists[u].add(v)
            lists[v].add(u)
    return lists


def check_friends(command, example, start, nodes, before, draw, folder):
    """Which edges are added depends on the order of transactions, so this checks conditions."""
    limit = draw.randint(3, 12)
    text, graph = os.path.join(folder, "friends.txt"), os.path.join(folder, "friends.slim")
    with open(text, "w", encoding="utf-8") as file:
        file.writelines(f"{u} {v}\n" for u, those in before.items() for v in those)
    output_of([command, "convert", "--undirected", text, graph])
    store = os.path.join(tempfile.mkdtemp(dir=folder), "store")
    output_of([command, "store", "create", graph, "-o", store])
    printed = output_of([*start, example, store, str(limit), *nodes])
    after = edges_of(command, store, folder)
    for u, those in after.items():
        added = those - before[u]
        if before[u] - those:
            return f"{u} has lost a friend"
        if added and len(those) > limit:
            return f"{u} has {len(those)} friends"
        if any(not after[u] & after[v] for v in added):
            return f"{u} has a new friend without a common one"
        if not added and len(those) < limit and any(
                len(after[w]) < limit and w != u and w not in those
                for v in before[u] for w in before[v]):
            return f"{u} has got no new friend"
    rank = {v: 1 / len(after) for v in after}
    for _ in range(100):
        rank = {v: 0.15 / len(after) + 0.85 * sum(rank[u] / len(after[u]) for u in those)
                for v, those in after.items()}
    best = sorted(rank.values(), reverse=True)[:5]
    shown = [(rank[int(line.split()[0])], float(line.split()[1])) for line in printed]
    if len(best) != len(shown) or any(
            abs(wanted - value) + abs(of_vertex - value) > 4e-6
            for wanted, (of_vertex, value) in zip(best, shown)):
        return f"printed {printed}, not {best}"
    return None


SERIAL = {"khop": khop, "kcore": kcore, "label_propagation": label_propagation,
          "pagerank_delta": pagerank_delta, "count_pattern": count_pattern}


def alike(printed, expected):
    """Whether lines are equal, but for the last digit of numbers, which may be rounded."""
    def words(lines):
        return [word for line in lines for word in [*line.split(), "\n"]]
    return len(printed) == len(expected) and len(words(printed)) == len(words(expected)) and all(
        one == other or ("." in other and abs(float(one) - float(other)) < 1.5e-4)
        for one, other in zip(words(printed), words(expected)))


def output_of(words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def main():
    command, example = sys.argv[1:]
    seed = int(os.environ.get("TEST_SEED", random.randrange(10 ** 9)))
    draw = random.Random(seed)
    serial = SERIAL.get(os.path.basename(example))
    starts = (([], []), ([], ["4"]),
              ([command, "launch", "--nodes", "4", "--compute", "2", "--"], []))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(4):
            lists = random_graph(draw)
            for start, nodes in starts if serial is None else ():
                wrong = check_friends(command, example, start, nodes, lists, draw, folder)
                if wrong:
                    sys.exit(f"TEST_SEED={seed}: {' '.join([*start, example, *nodes])}: {wrong}")
            if serial is None:
                continue
            path = os.path.join(folder, f"graph{number}.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{u} {v}\n" for u, those in lists.items() for v in those)
            words, expected = serial(lists, draw)
            for start, nodes in starts:
                printed = output_of([*start, example, path, *words, *nodes])
                if not alike(printed, expected):
                    sys.exit(f"TEST_SEED={seed}: {' '.join([*start, example, *words, *nodes])} on "
                             f"graph {number} printed {printed}, not {expected}")


if __name__ == "__main__":
    main()
