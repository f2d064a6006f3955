"""Prints figures.json: agreement by scikit-learn 1.9.1, statsmodels 0.15.0 and krippendorff 0.9.0, of generated ratings.

    pip install scikit-learn==1.9.1 statsmodels==0.15.0 krippendorff==0.9.0 && python figures.py > figures.json
"""

import json
import random
import warnings

import krippendorff
import numpy
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

warnings.simplefilter("ignore")
draw = random.Random(20260801)


def rated(size, values, agreement):
    """Ratings of `size` targets by two raters; the second one is off by a step or two with some probability."""
    pairs = []
    for _ in range(size):
        left = draw.randrange(values)
        right = left if draw.random() < agreement else min(values - 1, max(0, left + draw.choice([-2, -1, 1, 2])))
        pairs.append([left, right])
    return pairs


def kappa(size, values, agreement, weights):
    pairs = rated(size, values, agreement)
    table = numpy.zeros((values, values))
    for left, right in pairs:
        table[left, right] += 1
    lefts, rights = [left for left, _ in pairs], [right for _, right in pairs]
    name = None if weights == "none" else weights
    score = cohen_kappa_score(lefts, rights, labels=list(range(values)), weights=name)
    found = cohens_kappa(table, wt=name)
    assert abs(found.kappa - score) < 1e-9
    return {
        "weights": weights,
        "pairs": " ".join(f"{left}-{right}" for left, right in pairs),
        "kappa": score,
        "standardError": float(numpy.sqrt(found.var_kappa)),
    }


def alpha(raters, targets, values, missing, metric):
    data = []
    truth = [draw.randrange(values) for _ in range(targets)]
    for _ in range(raters):
        row = []
        for value in truth:
            if draw.random() < missing:
                row.append(None)
            else:
                row.append(value if draw.random() < 0.7 else draw.randrange(values))
        data.append(row)
    numbers = [[numpy.nan if value is None else value for value in row] for row in data]
    found = krippendorff.alpha(reliability_data=numbers, level_of_measurement=metric)
    return {"metric": metric, "ratings": [" ".join("." if value is None else str(value) for value in row) for row in data], "alpha": float(found)}


print(
    json.dumps(
        {
            "kappa": [
                kappa(size, values, agreement, weights)
                for weights in ("none", "linear", "quadratic")
                for size, values, agreement in ((20, 3, 0.7), (60, 5, 0.5), (200, 11, 0.2))
            ],
            "alpha": [
                alpha(raters, targets, values, missing, metric)
                for metric in ("nominal", "ordinal", "interval")
                for raters, targets, values, missing in ((3, 12, 3, 0), (4, 40, 5, 0.3), (7, 60, 9, 0.6))
            ],
        },
        indent=2,
    )
)
