"""Parameter studies: a function over values and seeds, in processes of their own, with intervals."""
import concurrent.futures
import itertools
import math
import multiprocessing
import os
import statistics

from ._library import ArgumentError


class Study:
    """What a study found: rows, a dict for each call with its parameters, its seed and what the function returned."""

    def __init__(self, rows, parameters):
        self.rows, self.parameters = rows, parameters

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def summary(self, key, confidence=0.95):
        """A dict for each set of parameters with count, mean and the half width of its interval of confidence.

        >>> rows = [{"mu": 0.5, "seed": seed, "angle": angle} for seed, angle in enumerate([20, 22, 24])]
        >>> round(Study(rows, ["mu"]).summary("angle")[0]["half"], 2)
        4.97
        """
        groups = {}
        for row in self.rows:
            groups.setdefault(tuple(row[name] for name in self.parameters), []).append(float(row[key]))
        return [{**dict(zip(self.parameters, group)), "count": len(values), "mean": statistics.fmean(values),
                 "half": half_width(values, confidence)} for group, values in groups.items()]

    def table(self):
        """All rows as a pandas table."""
        import pandas
        return pandas.DataFrame(self.rows)


def study(function, parameters, *, seeds=(0,), processes=None, progress=None) -> Study:
    """Calls function(seed=…, **values) for all combinations of parameters and seeds, each in another process.

    function: a function of a module (processes are started anew and import it), which returns a dict of numbers.
    parameters: {'mu': [0.3, 0.5], 'rpm': [10, 20]}. processes: by default as many as there are cores.
    An error in one call ends the study and is raised. Rows are in the order of the combinations, whoever is first.
    """
    names = list(parameters)
    calls = [{**dict(zip(names, values)), "seed": seed}
             for values in itertools.product(*(list(parameters[name]) for name in names)) for seed in seeds]
    if not calls:
        raise ArgumentError("a study needs at least one value of every parameter, and a seed")
    count = processes or len(os.sched_getaffinity(0))
    if count == 1:
        rows = [{**call, **function(**call)} for call in calls]
        return Study(rows, names)
    # processes that were forked would share locks with threads that they do not have
    with concurrent.futures.ProcessPoolExecutor(min(count, len(calls)), multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(function, **call) for call in calls]
        try:
            rows = [{**call, **future.result()} for call, future in zip(calls, futures)]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return Study(rows, names)


def half_width(values, confidence=0.95):
    """Half of Student's interval for the mean of independent values; NaN of one alone."""
    if not 0 < confidence < 1:
        raise ArgumentError(f"confidence: {confidence:g}, expected between 0 and 1")
    if len(values) < 2:
        return math.nan
    return student_quantile((1 + confidence) / 2, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def student_quantile(share, freedoms):
    """t with P(T ≤ t) = share > 1/2, by bisection on the distribution.

    >>> round(student_quantile(0.975, 4), 4)
    2.7764
    """
    low, high = 0.0, 2.0
    while student_share(high, freedoms) < share:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_share(middle, freedoms) < share else (low, middle)
    return (low + high) / 2


def student_share(t, freedoms):
    """P(T ≤ t) for whole numbers of freedoms: a finite sum in θ = atan(t/√ν)."""
    theta = math.atan(t / math.sqrt(freedoms))
    sine, cosine = math.sin(theta), math.cos(theta)
    if freedoms % 2:
        term, total = cosine, cosine if freedoms > 1 else 0.0
        for k in range(3, freedoms - 1, 2):
            term *= cosine**2 * (k - 1) / k
            total += term
        return 0.5 + (theta + sine * total) / math.pi
    term = total = 1.0
    for k in range(2, freedoms - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    return 0.5 + sine * total / 2
