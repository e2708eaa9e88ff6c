"""Interleaved timings, and ratios of them with a confidence interval. Plain functions; tests/scripts/test_gpu_check.py holds
them to values from the books."""
import math
import statistics

# Student's t, two-sided 95 %, for 1, 2, ... degrees of freedom; beyond the table the last value, which is a bit wide.
T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
        2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)
FEWEST_ROUNDS = 3


def interleaved(variants, rounds, run, has_time=lambda: True):
    """{variant: [run(variant) of each round]}: A B C A B C ..., so that a drift of the machine meets all alike. Rounds are
    whole, and some fewer where there is no time."""
    samples = {variant: [] for variant in variants}
    for done in range(rounds):
        if done >= FEWEST_ROUNDS and not has_time():
            break
        for variant in variants:
            samples[variant].append(run(variant))
    return samples


def mean_interval(values):
    """(mean, (low, high)) with 95 %; the interval is None for fewer than two values."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None
    half = T_95[min(len(values) - 1, len(T_95)) - 1] * statistics.stdev(values) / math.sqrt(len(values))
    return mean, (mean - half, mean + half)


def ratio(samples, base):
    """(ratio, (low, high)) of two lists that were measured round by round: the geometric mean of each round's ratio and
    Student's interval of its logarithm; the interval is None for one round."""
    logs = [math.log(one / other) for one, other in zip(samples, base)]
    mean, interval = mean_interval(logs)
    return math.exp(mean), interval and tuple(map(math.exp, interval))


def slope(points):
    """The least-squares slope of (x, y) points: growth of y per x."""
    middle_x, middle_y = (statistics.fmean(axis) for axis in zip(*points))
    above = sum((x - middle_x) * (y - middle_y) for x, y in points)
    return above / sum((x - middle_x) ** 2 for x, _ in points)
