"""The same results by plain serial code, over sets."""

from collections import Counter, deque
from itertools import combinations


def lists_of(u, v, directed, vertices=()):
    """The neighbours of each vertex, without self-loops and duplicates."""
    lists = {int(x): set() for x in [*u, *v, *vertices]}
    for a, b in zip(u, v):
        if a == b:
            continue
        lists[int(a)].add(int(b))
        if not directed:
            lists[int(b)].add(int(a))
    return lists


def hops_from(lists, source):
    hops = {source: 0}
    queue = deque([source])
    while queue:
        a = queue.popleft()
        for b in lists[a]:
            if b not in hops:
                hops[b] = hops[a] + 1
                queue.append(b)
    return hops


def distances_from(edges, source):
    """Bellman and Ford, over a dictionary of arcs."""
    distances = {source: 0.0}
    changed = True
    while changed:
        changed = False
        for (a, b), weight in edges.items():
            if a in distances and distances[a] + weight < distances.get(b, float("inf")):
                distances[b] = distances[a] + weight
                changed = True
    return distances


def ranks_after(lists, iterations, damping=0.85):
    ranks = {v: 1 / len(lists) for v in lists}
    for _ in range(iterations):
        dangling = sum(ranks[v] for v in lists if not lists[v])
        following = {v: (1 - damping + damping * dangling) / len(lists) for v in lists}
        for v, out in lists.items():
            for w in out:
                following[w] += damping * ranks[v] / len(out)
        ranks = following
    return ranks


def triangles_at(lists):
    return {
        v: sum(b in lists[a] for a, b in combinations(sorted(out), 2)) for v, out in lists.items()
    }


def betweenness_of(lists):
    """Counts paths over all triples of vertices."""
    hops = {v: hops_from(lists, v) for v in lists}
    paths = {}
    for s in lists:
        paths[s] = {s: 1}
        for v in sorted(hops[s], key=hops[s].get):
            if v != s:
                paths[s][v] = sum(
                    paths[s].get(a, 0)
                    for a in hops[s]
                    if v in lists[a] and hops[s][a] == hops[s][v] - 1
                )
    result = dict.fromkeys(lists, 0.0)
    for s in lists:
        for t in hops[s]:
            for v in hops[s]:
                if s != v != t != s and t in hops[v] and hops[s][v] + hops[v][t] == hops[s][t]:
                    result[v] += paths[s][v] * paths[v][t] / paths[s][t]
    return result


def core_numbers_of(lists):
    """Removes vertices of the lowest degree, one after the other."""
    lists = {v: set(out) for v, out in lists.items()}
    cores, least = {}, 0
    while lists:
        v = min(lists, key=lambda a: len(lists[a]))
        least = max(least, len(lists[v]))
        cores[v] = least
        for a in lists.pop(v):
            lists[a].discard(v)
    return cores


def trussness_of(lists):
    """Removes edges that are in too few triangles, for each k."""
    lists = {v: set(out) for v, out in lists.items()}
    edges = {(a, b) for a in lists for b in lists[a] if a < b}
    trussness, k = {}, 2
    while edges:
        few = {(a, b) for a, b in edges if len(lists[a] & lists[b]) <= k - 2}
        for a, b in few:
            trussness[a, b] = k
            lists[a].discard(b)
            lists[b].discard(a)
        edges -= few
        k += not few
    return trussness


def labels_after(u, v, directed, vertices, iterations):
    """A neighbour with edges both ways counts twice in a directed graph."""
    out = lists_of(u, v, directed, vertices)
    votes = {a: list(out[a]) for a in out}
    if directed:
        for a in out:
            for b in out[a]:
                votes[b].append(a)
    labels = {a: a for a in out}
    for _ in range(iterations):
        following = {}
        for a in out:
            counts = Counter(labels[b] for b in votes[a])
            most = max(counts.values(), default=0)
            following[a] = min((x for x, n in counts.items() if n == most), default=labels[a])
        labels = following
    return labels


def clustering_of(lists, both):
    """The share of ordered pairs of neighbours that an edge joins."""
    return {
        a: (
            sum(c in lists[b] for b in near for c in near if b != c)
            / (len(near) * (len(near) - 1))
            if len(near) > 1
            else 0.0
        )
        for a, near in both.items()
    }
