"""Alternates measures that are compared: each runs once per round, under the same conditions."""
import statistics
import time

SLOW_S = 10  # measures that take longer are run once


def in_turn(measures, rounds, limit_s=float("inf")):
    """Calls each measure once per round and returns the medians. A measure returns None if it is
    not supported. No round starts that would exceed `limit_s` if it took as long as the one before.
    """
    taken = {name: [] for name in measures}
    start_s = time.monotonic()
    for round_number in range(rounds):
        round_s = time.monotonic()
        for name, measure in measures.items():
            if round_number > 0 and (taken[name][0] is None or taken[name][0] > SLOW_S):
                continue
            taken[name].append(measure())
        now_s = time.monotonic()
        if now_s - start_s + (now_s - round_s) > limit_s:
            break
    return {name: None if values[0] is None else statistics.median(values)
            for name, values in taken.items()}
