"""Prints figures.json: the figures of committees by numpy 2.4.6, scipy 1.17.1 and statsmodels 0.15.0, of generated votes.

    pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0 && python figures.py > figures.json
"""

import json

import numpy
from scipy import stats
from statsmodels.api import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

draw = numpy.random.default_rng(20261130)
RESAMPLES = 40_000


def expanded(table):
    """The two features of each run of a table: both, left only, right only, neither."""
    both, left, right, neither = table
    return (
        numpy.array([1] * both + [1] * left + [0] * right + [0] * neither),
        numpy.array([1] * both + [0] * left + [1] * right + [0] * neither),
    )


def phi(table):
    left, right = expanded(table)
    data = numpy.stack([left, right], axis=1)
    found = stats.bootstrap(
        (left, right),
        lambda one, other, axis: correlation(one, other, axis),
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        method="percentile",
        random_state=draw,
        batch=500,
    ).confidence_interval
    p, q = sorted(data.mean(axis=0))
    return {
        "table": list(table),
        "phi": float(numpy.corrcoef(left, right)[0, 1]),
        # The rarer error occurs only with the other one.
        "largest": float(numpy.corrcoef(*expanded(largest(table)))[0, 1]),
        "low": float(found.low),
        "high": float(found.high),
    }


def largest(table):
    both, left, right, neither = table
    one, other, n = both + left, both + right, sum(table)
    together = min(one, other)
    return together, one - together, other - together, n - one - other + together


def correlation(one, other, axis):
    one = one - one.mean(axis=axis, keepdims=True)
    other = other - other.mean(axis=axis, keepdims=True)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        return (one * other).sum(axis=axis) / numpy.sqrt((one**2).sum(axis=axis) * (other**2).sum(axis=axis))


def mean_correlation(errors):
    """Over the pairs that have a correlation; a seat without a value in a run is NaN there."""
    seats = errors.shape[1]
    found = []
    for left in range(seats):
        for right in range(left + 1, seats):
            shared = ~numpy.isnan(errors[:, left]) & ~numpy.isnan(errors[:, right])
            one, other = errors[shared, left], errors[shared, right]
            if len(one) > 0 and 0 < one.mean() < 1 and 0 < other.mean() < 1:
                found.append(numpy.corrcoef(one, other)[0, 1])
    return numpy.mean(found)


def committee(seats, cases, repeats, accuracy, correlation, missing):
    """Errors that share a rate in each case; each case is run once or several times."""
    size = 1 / correlation - 1
    rows = []
    for case in range(cases):
        rate = draw.beta((1 - accuracy) * size, accuracy * size)
        for _ in range(draw.integers(1, repeats + 1)):
            errors = (draw.random(seats) < rate).astype(float)
            errors[draw.random(seats) < missing] = numpy.nan
            rows.append((case, errors))
    names = numpy.array([case for case, _ in rows])
    errors = numpy.array([one for _, one in rows])
    value = mean_correlation(errors)
    by_case = [errors[names == case] for case in range(cases)]
    means = [
        mean_correlation(numpy.concatenate([by_case[case] for case in draw.integers(0, cases, cases)]))
        for _ in range(4_000)
    ]
    low, high = numpy.percentile(means, [2.5, 97.5])
    effective = lambda mean: seats / (1 + (seats - 1) * mean)
    share = OLS(1 - errors[:, 0][~numpy.isnan(errors[:, 0])], numpy.ones((~numpy.isnan(errors[:, 0])).sum())).fit(
        cov_type="cluster", cov_kwds={"groups": names[~numpy.isnan(errors[:, 0])]}
    )
    return {
        "seats": seats,
        "runs": [
            f"{case} " + "".join("." if numpy.isnan(one) else str(int(one)) for one in errors)
            for case, errors in rows
        ],
        "meanCorrelation": float(value),
        "low": float(low),
        "high": float(high),
        "effective": float(effective(value)),
        "accuracy": float(share.params[0]),
        "standardError": float(share.bse[0]),
    }


def bound(count, n, alpha):
    return {
        "count": count,
        "n": n,
        "alpha": alpha,
        "low": float(stats.beta.ppf(alpha, count, n - count + 1)) if count > 0 else 0.0,
        "high": float(stats.beta.ppf(1 - alpha, count + 1, n - count)) if count < n else 1.0,
    }


def paired(first, second):
    return {
        "firstOnly": first,
        "secondOnly": second,
        "p": float(min(1, mcnemar([[0, first], [second, 0]], exact=True).pvalue)),
    }


def power(n, discordance, difference, alpha):
    """The chance of a p-value of at most alpha, over all numbers of discordant pairs and their splits."""
    better = (discordance + difference) / (2 * discordance)
    total = 0.0
    for m in range(n + 1):
        splits = numpy.arange(m + 1)
        p = numpy.minimum(1, 2 * stats.binom.cdf(numpy.minimum(splits, m - splits), m, 0.5))
        chance = stats.binom.pmf(splits, m, better)[p <= alpha].sum()
        total += stats.binom.pmf(m, n, discordance) * chance
    return {"n": n, "discordance": discordance, "difference": difference, "alpha": alpha, "power": float(total)}


def difference(after, n_after, before, n_before):
    low, high = confint_proportions_2indep(after, n_after, before, n_before, method="newcomb")
    return {"after": [after, n_after], "before": [before, n_before], "low": float(low), "high": float(high)}


def copula(left, right, latent):
    """The correlation of two errors, where normal numbers with a latent correlation are below a threshold."""
    p, q = 1 - left, 1 - right
    thresholds = stats.norm.ppf([p, q])
    both = stats.multivariate_normal([0, 0], [[1, latent], [latent, 1]]).cdf(thresholds)
    return {
        "accuracies": [left, right],
        "latent": latent,
        "phi": float((both - p * q) / numpy.sqrt(p * (1 - p) * q * (1 - q))),
    }


print(
    json.dumps(
        {
            "phi": [phi(table) for table in ((20, 10, 15, 155), (5, 40, 35, 120), (30, 2, 28, 340))],
            "committees": [
                committee(*one) for one in ((3, 150, 1, 0.75, 0.4, 0), (5, 120, 3, 0.7, 0.3, 0.1), (6, 200, 1, 0.8, 0.1, 0))
            ],
            "bounds": [
                bound(*one)
                for one in ((0, 300, 0.05), (149, 149, 0.05), (993, 1000, 0.05), (3, 20, 0.01), (9_950, 10_000, 0.05))
            ],
            "mcnemar": [paired(*one) for one in ((0, 0), (0, 6), (5, 15), (7, 8), (40, 75), (300, 371))],
            "power": [
                power(*one)
                for one in ((60, 0.3, 0.2, 0.05), (200, 0.1, 0.06, 0.05), (400, 0.05, 0.03, 0.01), (150, 0.5, 0, 0.05))
            ],
            "difference": [difference(*one) for one in ((56, 70, 48, 80), (9, 10, 3, 10), (0, 40, 5, 60))],
            "copula": [copula(*one) for one in ((0.55, 0.95, 0.5), (0.75, 0.75, 0.2), (0.65, 0.9, 0.8))],
        },
        indent=2,
    )
)
