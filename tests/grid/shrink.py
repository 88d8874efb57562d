"""Shrinks a point that fails: fewer edges, fewer vertices, fewer options."""
import copy
import time

import graphs
from command import Wrong


def fails(spec, family, workshop, tries):
    for _ in range(tries):
        try:
            family.check(copy.deepcopy(spec), workshop())
        except Wrong as wrong:
            return str(wrong)
        except Exception:  # a smaller point may make no sense
            return None
    return None


def without_parts(items, still_fails, until):
    """Removes parts of `items` as long as `still_fails` holds (ddmin)."""
    parts = 2
    while items and time.monotonic() < until:
        size = max(1, len(items) // parts)
        for begin in range(0, len(items), size):
            fewer = items[:begin] + items[begin + size:]
            if time.monotonic() >= until:
                return items
            if still_fails(fewer):
                items, parts = fewer, max(2, parts - 1)
                break
        else:
            if size == 1:
                return items
            parts = min(len(items), parts * 2)
    return items


def simpler_variants(spec):
    """Yields variants of the point with one option less, or with a smaller value of one."""
    for name in ("words", "options"):
        words = spec.get(name, [])
        for i in range(0, len(words) - 1):
            if str(words[i]) in ("--mode", "--cache", "--edge-cache", "--repeat", "--delta",
                                 "--chunk-memory", "--reuse", "--steal", "--fetch", "--without",
                                 "--delay-us", "--analytics", "--fold", "--memory-side",
                                 "--delegate"):
                yield {**spec, name: words[:i] + words[i + 2:]}
    if (spec.get("graph") or {}).get("order"):
        yield {**spec, "graph": {key: value for key, value in spec["graph"].items()
                                 if key != "order"}}
    shape = spec.get("shape", [])
    for i in range(0, len(shape), 2):
        value = shape[i + 1]
        least = {"--nodes": dict(zip(shape[::2], shape[1::2])).get("--compute", 1)}.get(shape[i], 1)
        if value == "auto":
            yield {**spec, "shape": shape[:i + 1] + [8] + shape[i + 2:]}
        elif shape[i] in ("--threads", "--compute", "--nodes", "--coroutines") and value > least:
            yield {**spec, "shape": shape[:i + 1] + [value - 1] + shape[i + 2:]}
        elif shape[i] == "--network" or (shape[i] == "--transport" and value != "shm"):
            yield {**spec, "shape": shape[:i] + shape[i + 2:]}


def shrink(spec, family, workshop, seconds):
    """Returns the smallest failing point found within `seconds`, and its failure."""
    until = time.monotonic() + seconds
    wrong = None
    # A point that fails only sometimes gets more tries.
    tries = 1 if all(fails(spec, family, workshop, 1) for _ in range(2)) else 4

    def keep(smaller):
        nonlocal spec, wrong
        said = fails(smaller, family, workshop, tries)
        if said:
            spec, wrong = smaller, said
        return bool(said)

    is_small = spec.get("graph") and not spec.get("heavy")
    if is_small and family.__name__ in ("vertex", "mining", "pools"):
        try:
            recipe = graphs.listed(spec["graph"], graphs.make(spec["graph"], workshop()))
        except Wrong:
            return spec, wrong
        recipe = {**recipe, "ids": sorted(recipe["ids"])}
        if keep({**spec, "graph": recipe, "large": False}):
            without_parts(recipe["edges"], lambda edges: keep(
                {**spec, "graph": {**spec["graph"], "edges": edges}}), until)
            kept = set(spec.get("keep", []))
            without_parts([v for v in spec["graph"]["ids"] if v not in kept], lambda ids: keep(
                {**spec, "graph": {**spec["graph"], "ids": sorted(kept | set(ids))}}), until)
    if "updates" in spec:
        without_parts(spec["steps"], lambda steps: keep({**spec, "steps": steps}), until)
        for number in range(len(spec["updates"])):
            def with_updates(updates, number=number):
                files = spec["updates"][:number] + [updates] + spec["updates"][number + 1:]
                return keep({**spec, "updates": files})
            without_parts(spec["updates"][number], with_updates, until)
    progress = True
    while progress and time.monotonic() < until:
        progress = any(keep(one) for one in simpler_variants(spec) if time.monotonic() < until)
    return spec, wrong
