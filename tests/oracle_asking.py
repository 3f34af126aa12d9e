"""Slow, literal twins of the asking rules, written from the papers' formulas and never from the compiled
loops.

`run` is algorithm 1 of Lu, Zhao, Hoi (2016) with any rule and any learner's twin: score the row, ask for its
label with the rule's probability, and only if it is asked let the learner see it.

"JMLR 2006" is Cesa-Bianchi, Gentile, Zaniboni; "PAA" Lu, Zhao, Hoi; "OA3" Zhang et al., KDD 2018.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, sqrt
from typing import Any

import numpy as np


def uniform(seed: int, t: int) -> Fraction:
    """The t-th number (from 0) of a seed: SplitMix64's output function at seed·A + (t + 1)·φ, 53 bits of it.

    Steele, Lea, Flood (OOPSLA 2014), figure 16, mix64 by Stafford's variant 13; φ = 2⁶⁴ over the golden
    ratio, odd. A keeps the seeds apart.
    """
    whole = 2**64
    z = (seed * 0xD1342543DE82EF95 + (t + 1) * 0x9E3779B97F4A7C15) % whole
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % whole
    z = (z ^ z >> 27) * 0x94D049BB133111EB % whole
    return Fraction((z ^ z >> 31) >> 11, 2**53)


@dataclass
class Seen:
    """What has happened before a row."""

    rows: int = 0
    asked: int = 0
    moves: int = 0
    lengths: list[float] = field(default_factory=list)  # of the rows that moved


Chance = Callable[[float, float, float, Seen], float]  # of |p| or the gap, v, ‖x‖, the past


def margin(delta: float = 1.0, offset: float = 0.0) -> Chance:
    """δ/(δ + |p|) (PAA, algorithms 2 to 4); theorem 4: δ/(δ + 1 + |p|)."""
    return lambda p, v, length, seen: delta / (delta + offset + p)


def decaying(delta: float = 2.0**14) -> Chance:
    """δₜ/(δₜ + |p|) with δₜ = δₜ₋₁·t/(t + 1), t = 1, 2, … (PAA, section 6.3, CSPAA(a))."""

    def chance(p: float, v: float, length: float, seen: Seen) -> float:
        delta_t = delta
        for t in range(1, seen.rows + 2):
            delta_t *= t / (t + 1)
        return delta_t / (delta_t + p)

    return chance


def random(rate: float = 0.1) -> Chance:
    """A fixed rate (PAA: RPE, RPA, CSRND)."""
    return lambda p, v, length, seen: rate


def always() -> Chance:
    """1."""
    return lambda p, v, length, seen: 1.0


def adaptive(beta: float = 1.0) -> Chance:
    """b/(b + |p|), b = β·X²·√(1 + K), X = max(‖x‖, lengths of the rows that moved) (JMLR 2006, figure 3)."""

    def chance(p: float, v: float, length: float, seen: Seen) -> float:
        b = beta * max([length, *seen.lengths]) ** 2 * sqrt(1 + seen.moves)
        return b / (b + p) if b > 0 else 1.0

    return chance


def second_order(b: float = 1.0) -> Chance:
    """b/(b + |p̂| + ½p̂²(1 + xᵀA⁻¹x)), p̂ = bᵀ(A + x xᵀ)⁻¹x = p/(1 + xᵀA⁻¹x) (JMLR 2006, figure 4)."""

    def chance(p: float, v: float, length: float, seen: Seen) -> float:
        hat = p / (1 + v)
        return b / (b + hat + hat**2 * (1 + v) / 2)

    return chance


def variance(delta: float = 1.0, eta: float = 1.0, gamma: float = 1.0) -> Chance:
    """q = |p| − (η/2)/(1/v + 1/γ); 1 where q ≤ 0, else δ/(δ + q) (SOAL, ICDM 2016; OA3 with ρ = 1)."""

    def chance(p: float, v: float, length: float, seen: Seen) -> float:
        q = p - (eta / 2 / (1 / v + 1 / gamma) if v > 0 else 0.0)
        return 1.0 if q <= 0 else delta / (delta + q)

    return chance


def budget(rate: float = 0.1, gain: float = 0.1) -> Chance:
    """δₜ/(δₜ + 2⁻¹⁰ + |p|), δₜ = r/(1 − r)·exp(g·(r·t − aₜ)), aₜ the labels asked (ours)."""

    def chance(p: float, v: float, length: float, seen: Seen) -> float:
        if rate in (0, 1):
            return rate
        delta = rate / (1 - rate) * exp(gain * (rate * seen.rows - seen.asked))
        return delta / (delta + 2**-10 + p)

    return chance


TWINS: dict[str, Callable[..., Chance]] = {
    "AdaptiveAsk": adaptive,
    "AlwaysAsk": always,
    "BudgetAsk": budget,
    "DecayingAsk": decaying,
    "MarginAsk": margin,
    "RandomAsk": random,
    "SecondOrderAsk": second_order,
    "VarianceAsk": variance,
}


@dataclass
class Outcome:
    """What a pass leaves: which labels were asked, and the twin's weights."""

    asked: np.ndarray
    W: np.ndarray


def variance_of(twin: Any, x: np.ndarray) -> float:
    """xᵀΣx of a twin that has a Σ, whole or its diagonal; of two classes the one column holds it."""
    holder = next(iter(twin.columns.values())) if hasattr(twin, "columns") else twin
    Sigma = getattr(holder, "Sigma", np.zeros(len(x)))
    return float(x @ Sigma @ x) if Sigma.ndim == 2 else float(x * x @ Sigma)


def run(
    twin: Any, chance: Chance, seed: int, X: np.ndarray, targets: Sequence[Any], average: bool = False
) -> Outcome:
    """Go through rows, the constant feature 1 appended; a mean of the weights after each label scores."""
    seen, asked = Seen(), []
    predicting, total = twin.W, np.zeros_like(twin.W)
    for x, target in zip(np.hstack([X, np.ones((len(X), 1))]), targets, strict=True):
        scores = np.sort(predicting @ x)
        p = abs(scores[0]) if len(scores) == 1 else scores[-1] - scores[-2]
        wanted = uniform(seed, seen.rows) < chance(float(p), variance_of(twin, x), sqrt(x @ x), seen)
        asked.append(wanted)
        seen.rows += 1
        seen.asked += wanted
        if wanted:
            before = twin.W.copy()
            twin.learn(x, target, 1.0)
            if not np.array_equal(before, twin.W):
                seen.moves += 1
                seen.lengths.append(sqrt(x @ x))
            total = total + twin.W
            predicting = total / seen.asked if average else twin.W.copy()
    return Outcome(np.array(asked), predicting)
