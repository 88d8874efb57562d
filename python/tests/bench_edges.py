#!/usr/bin/env python3
"""Measures how long a graph of 16 million edges from arrays takes. The bar: 2 s, two processors."""

import os
import time

import numpy as np

import slimgraph as sg

EDGES = 16_000_000
VERTICES = 1 << 20
RUNS = 5


def main():
    random = np.random.default_rng(1)
    u = random.integers(0, VERTICES, EDGES)
    v = random.integers(0, VERTICES, EDGES)
    sources = {
        "int64": (u, v, None),
        "int32": (u.astype(np.int32), v.astype(np.int32), None),
        "int64, weights": (u, v, random.random(EDGES)),
    }
    processors = len(os.sched_getaffinity(0))
    print(f"{EDGES:,} edges between {VERTICES:,} vertices, on {processors} processors")
    for name, arrays in sources.items():
        seconds = []
        for _ in range(RUNS):
            start = time.perf_counter()
            graph = sg.Graph.from_edges(*arrays)
            seconds.append(time.perf_counter() - start)
            del graph
        seconds.sort()
        print(
            f"{name}: {seconds[RUNS // 2]:.2f} s, the median of {RUNS};"
            f" {seconds[0]:.2f} to {seconds[-1]:.2f} s"
        )


main()
