"""The median of repeated measurements, how precise it is, and how numbers are written."""
import math
import re
import statistics
from dataclasses import dataclass

TRUST = 0.9
TIGHT = 0.05
LEAST_SAMPLES = 3


@dataclass(frozen=True)
class Spread:
    """`low` … `high` contains the true median with a probability of at least 0.9 for any
    distribution, from five samples on (order statistics, by the binomial distribution). With fewer
    samples it is the range of all samples."""
    median: float
    low: float
    high: float
    samples: int

    def overlaps(self, other):
        return self.low <= other.high and other.low <= self.high

    def is_tight(self):
        """Whether there are at least three samples, in a range at most 10 % of the median wide."""
        half = (self.high - self.low) / 2
        return self.samples >= LEAST_SAMPLES and half <= TIGHT * abs(self.median)


def _leave_out(count):
    """How many samples may be left out at each end so that the rest contains the median with the
    probability TRUST. The median is below the k-th smallest sample with the probability of fewer
    than k heads in `count` throws of a coin."""
    heads, below = 0.5 ** count, 0.0  # heads: the probability of exactly k heads
    for k in range(count // 2):
        below += heads
        if 1 - 2 * below < TRUST:
            return max(k - 1, 0)
        heads *= (count - k) / (k + 1)
    return 0


def spread_of(samples):
    """Needs at least one sample."""
    ordered = sorted(samples)
    out = _leave_out(len(ordered))
    return Spread(statistics.median(ordered), ordered[out], ordered[-1 - out], len(ordered))


def short_number(value):
    """1234567 -> "1.23 M", 0.00012 -> "0.00012"; short, for axes and tables."""
    size = abs(value)
    for least, unit, name in ((1e9, 1e9, " G"), (1e6, 1e6, " M"), (1e4, 1e3, " k")):
        if size >= least:
            return f"{value / unit:.3g}{name}"
    if size >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if size >= 1e-4 or size == 0 else f"{value:.1e}"


def plain_number(value):
    """All digits, without ".0"."""
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def format_seconds(seconds):
    for limit, factor, form in ((1e-3, 1e6, "{:.1f} us"), (1, 1e3, "{:.1f} ms"),
                                (300, 1, "{:.2f} s"), (math.inf, 1 / 60, "{:.1f} min")):
        if seconds < limit:
            break
    return form.format(seconds * factor)


def format_bytes(count):
    value, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1023.95 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f"{count} B" if count < 1024 else f"{value:.1f} {units[0]}"


def parse_bytes(text):
    """ "64KiB", "1.5G", "4096": bytes; None if the text is no size."""
    found = re.fullmatch(r"(\d+\.?\d*)([KMGT]?)(iB|B)?", text, re.IGNORECASE)
    return float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ") if found else None
