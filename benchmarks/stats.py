"""Statistics of paired samples: the median of ratios, its bootstrap interval, and what counts as a tie."""
import random
import statistics

RESAMPLES = 1000


def bootstrap_median(values, seed=0, resamples=RESAMPLES):
    """Low and high end of the 95 % interval of the median, by resampling. Seeded, so that equal samples give equal
    intervals."""
    rng = random.Random(seed)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(resamples))
    return medians[int(0.025 * resamples)], medians[int(0.975 * resamples) - 1]


def compare(numerator, denominator):
    """{"ratio", "interval"} of samples taken pairwise, round by round."""
    if len(numerator) != len(denominator) or not numerator:
        raise ValueError("paired samples come in equal numbers, at least one")
    if not all(t > 0 for t in [*numerator, *denominator]):
        raise ValueError("a time is a positive number")
    ratios = [n / d for n, d in zip(numerator, denominator)]
    low, high = bootstrap_median(ratios)
    return {"ratio": statistics.median(ratios), "interval": [low, high]}


def spread(same, again):
    """How far from 1 the ratio of a thing to itself may lie: the farther end of its interval."""
    low, high = compare(again, same)["interval"]
    return max(abs(low - 1), abs(high - 1))


def verdict(comparison, width):
    """`faster` and `slower` need the whole interval on one side of 1 and the ratio outside the A/A spread."""
    low, high = comparison["interval"]
    if low > 1 and comparison["ratio"] > 1 + width:
        return "faster"
    if high < 1 and comparison["ratio"] < 1 - width:
        return "slower"
    return "tie"
