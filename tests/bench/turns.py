"""What is compared is measured in turn: each once a round, so that all meet the same machine."""
import statistics
import time

SLOW_S = 10  # what takes longer is run once


def in_turn(measures, rounds, limit_s=float("inf")):
    """Calls each measure once a round; the median of each. None stands for: cannot do that. Rounds
    after the first are those that end within `limit_s`, as far as the one before them tells.
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
