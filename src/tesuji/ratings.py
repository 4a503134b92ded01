"""What results say about strength: Elo with error bars, a sequential test, ratings of many players.

Games come in pairs (one opening, sides swapped). The two games of a pair are not independent, since the opening may
favour a side, so the pair is the unit: five counts, of pairs in which A made 0, ½, 1, 1½ and 2 points.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "Rating", "Sprt", "bradley_terry", "elo_of", "estimate", "llr", "score_of", "sprt"]

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a pair's points
_Z = 1.959964  # 95 % of a normal distribution lie within so many standard deviations
_SCALE = 400 / math.log(10)  # Elo in one unit of the logistic curve


def elo_of(score: float) -> float:
    """The Elo difference at which that score is expected; infinite at 0 and 1."""
    if score <= 0 or score >= 1:
        return math.inf if score >= 1 else -math.inf
    return _SCALE * math.log(score / (1 - score))


def score_of(elo: float) -> float:
    """The score that is expected at an Elo difference."""
    return 1 / (1 + math.exp(-elo / _SCALE))


@dataclass(frozen=True, slots=True)
class Estimate:
    """How much stronger A is than B, with 95 % certainty between ``low`` and ``high``."""

    score: float
    elo: float  # at a score of 0 or 1: the bound that is known (after fewer than five pairs, that says nothing: 0)
    error: float  # half of the interval; infinite where one end is open
    low: float
    high: float


def estimate(pairs: Sequence[int]) -> Estimate:
    """From the five counts of pairs.

    The variance is that between pairs, with one more pair of two independent games thrown in, so that few pairs, or
    pairs that all went alike, do not look certain. The interval is Wilson's, for as many independent games as would
    have that variance. Where one side won everything it is one-sided: were the true score s, all n pairs would be won
    with a probability of at most s^n.
    """
    n = sum(pairs)
    if n == 0:
        return Estimate(0.5, 0.0, math.inf, -math.inf, math.inf)
    mean = sum(share * count for share, count in zip(_SHARES, pairs, strict=True)) / n
    if mean in (0.0, 1.0):
        bound = elo_of(0.05 ** (1 / n))
        if mean == 0.0:
            return Estimate(mean, min(0.0, -bound), math.inf, -math.inf, -bound)
        return Estimate(mean, max(0.0, bound), math.inf, bound, math.inf)
    alone = mean * (1 - mean)  # the variance of one game without draws
    spread = sum(count * (share - mean) ** 2 for share, count in zip(_SHARES, pairs, strict=True))
    variance = (spread + alone / 2) / n**2  # of the mean
    games = alone / variance
    middle = (mean + _Z**2 / (2 * games)) / (1 + _Z**2 / games)
    half = _Z * math.sqrt(alone / games + _Z**2 / (4 * games**2)) / (1 + _Z**2 / games)
    low, high = elo_of(middle - half), elo_of(middle + half)
    return Estimate(mean, elo_of(mean), (high - low) / 2, low, high)


# ── The sequential test ──


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test of "A is elo1 stronger" against "A is elo0 stronger", each wrongly chosen in 5 % of matches."""

    elo0: float
    elo1: float
    llr: float
    bound: float  # the test ends outside ±bound
    verdict: str  # "accepted" (elo1), "rejected" (elo0) or "undecided"


def sprt(pairs: Sequence[int], elo0: float, elo1: float, *, error: float = 0.05) -> Sprt:
    """Where the test stands after these pairs."""
    bound = math.log((1 - error) / error)
    value = llr(pairs, elo0, elo1)
    verdict = "accepted" if value >= bound else "rejected" if value <= -bound else "undecided"
    return Sprt(elo0, elo1, value, bound, verdict)


def llr(pairs: Sequence[int], elo0: float, elo1: float) -> float:
    """The generalised log-likelihood ratio of elo1 against elo0.

    Each hypothesis fixes the mean only, and takes the likeliest distribution over the five kinds of pairs with that
    mean. So a short run of wins is weak evidence, as it should be, and draws and lopsided openings need no model.
    """
    if sum(pairs) == 0:
        return 0.0
    counts = [max(count, 1e-3) for count in pairs]
    below, above = (_likeliest(counts, score_of(elo)) for elo in (elo0, elo1))
    return sum(count * math.log(p1 / p0) for count, p0, p1 in zip(counts, below, above, strict=True))


def _likeliest(counts: Sequence[float], mean: float) -> list[float]:
    """The distribution with that mean under which the counts are likeliest: p = n / N / (1 + x (share − mean))."""
    total = sum(counts)
    shares = [count / total for count in counts]
    offsets = [share - mean for share in _SHARES]
    low, high = -1 / (1 - mean), 1 / mean  # the ends where a p would be infinite
    for _ in range(50):
        x = (low + high) / 2
        if sum(p * offset / (1 + x * offset) for p, offset in zip(shares, offsets, strict=True)) > 0:
            low = x
        else:
            high = x
    return [p / (1 + x * offset) for p, offset in zip(shares, offsets, strict=True)]


# ── Many players ──


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's strength; the mean of all players is 0."""

    elo: float
    error: float  # 95 %, against that mean


def bradley_terry(points: Sequence[Sequence[float]], *, prior: float = 0.5) -> list[Rating]:
    """Ratings from a table of points: ``points[i][j]`` are i's against j, a draw being half a point to each.

    The likeliest strengths r, where i beats j with probability 1 / (1 + exp(r_j − r_i)). Each player also has so many
    wins and losses against an average one (the prior), which keeps a player that won or lost everything finite. Error
    bars come from the curvature there; draws make them a little too wide.
    """
    won: NDArray[np.float64] = np.array(points, dtype=np.float64)
    np.fill_diagonal(won, 0.0)
    count = len(won)
    games = won + won.T
    strength: NDArray[np.float64] = np.zeros(count)
    curvature: NDArray[np.float64] = np.eye(count)
    for _ in range(100):
        chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))  # [i, j]: i beats j
        average = 1 / (1 + np.exp(-strength))
        slope = (won - games * chance).sum(axis=1) + prior * (1 - 2 * average)
        weight = games * chance * (1 - chance)
        curvature = np.diag(weight.sum(axis=1) + 2 * prior * average * (1 - average)) - weight
        step = np.linalg.solve(curvature, slope)
        strength = strength + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-10:
            break
    centre = np.eye(count) - 1 / count
    strength = centre @ strength
    variance = np.diag(centre @ np.linalg.inv(curvature) @ centre.T)
    return [
        Rating(float(_SCALE * r), float(_SCALE * _Z * math.sqrt(max(v, 0.0))))
        for r, v in zip(strength, variance, strict=True)
    ]
