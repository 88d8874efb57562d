"""What is compared is measured in turn: each once a round, so that all meet the same machine."""
import statistics

SLOW_S = 10  # what takes longer is run once


def in_turn(measures, rounds):
    """Calls each measure once a round; the median of each. None stands for: cannot do that."""
    taken = {name: [] for name in measures}
    for round_number in range(rounds):
        for name, measure in measures.items():
            if round_number > 0 and (taken[name][0] is None or taken[name][0] > SLOW_S):
                continue
            taken[name].append(measure())
    return {name: None if values[0] is None else statistics.median(values)
            for name, values in taken.items()}
