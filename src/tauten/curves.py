"""What few labels cost in quality: figures against the share of labels asked."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, check_random_state

from tauten.ask import AskRule
from tauten.classifier import OnlineClassifier
from tauten.evaluate import Learner, fresh, progressive, reorderable, reordered
from tauten.stream import Progress
from tauten.sweeping import in_threads
from tauten.trace import Trace
from tauten.wrappers.active import ActiveClassifier

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Figure = str | Callable[[Trace], float]

SETTINGS: NDArray[np.float64] = np.exp2(np.arange(-10.0, 11.0))  # of δ, as in the paper
RATES: NDArray[np.float64] = np.exp2(np.arange(-10.0, 1.0))  # of rules whose parameter is the share itself
REACH, STRIDE = 40, 4  # how far a parameter is looked for, up and down from 1, in powers of two
HALVINGS = 20


@dataclass
class AskCurve:
    """Figures of active learners over random orders of one stream, for each setting of their rule."""

    figure: str
    runs: pd.DataFrame  # a row a learner, setting and order: name, setting, share_asked, the figure

    def to_frame(self) -> pd.DataFrame:
        """A row a learner and setting: mean and sd over the orders of the share asked and of the figure."""
        groups = self.runs.groupby(["learner", "setting"], sort=False)[["share_asked", self.figure]]
        means, spreads = groups.mean(), groups.std(ddof=1).add_suffix("_sd")
        return means.join(spreads).reset_index()

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the figure against the share of labels asked, mean and one sd over the orders."""
        from tauten import plots

        return plots.ask_curve(self, ax)


def ask_curve(
    learners: Sequence[Learner] | Mapping[str, Learner],
    X: Any,
    y: ArrayLike,
    figure: Figure = "f1",
    settings: Sequence[float] | NDArray[np.float64] | None = None,
    repeats: int = 20,
    random_state: int | None = 0,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> AskCurve:
    """Run active learners over `repeats` random orders of the rows, for each setting of their asking rule.

    `learners` are registry names or active classifiers, or a dict that gives them names. `figure` names one
    of `Trace` (f1, accuracy, error_rate, weighted_sum, sensitivity, …) or is a function of a trace.
    `settings` are values of the parameter by which a rule asks more (δ; for rules with a rate: the rate): by
    default 2**-10 to 2**10, for rates up to 1.

    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> curve = tt.ask_curve(["paa1", "rpa1"], X, X[:, 0] > 0, settings=[0.01, 0.1], repeats=2)
    >>> curve.to_frame().shape
    (4, 6)
    """
    named = learners if isinstance(learners, Mapping) else {str(learner): learner for learner in learners}
    actives = {name: _active(learner) for name, learner in named.items()}
    if not actives or repeats < 1:
        raise ValueError(
            f"ask_curve got {len(actives)} learners and {repeats} orders; expected some of each."
        )
    labels = next(iter(actives.values())).read_y(y)
    check_consistent_length(X, labels)
    X = reorderable(X, list(actives.values()))
    random = check_random_state(random_state)
    orders = [random.permutation(len(labels)) for _ in range(repeats)]
    jobs = [
        (name, float(setting), number)
        for name, active in actives.items()
        for setting, number in product(_settings(active, settings), range(repeats))
    ]
    what = figure if isinstance(figure, str) else getattr(figure, "__name__", "figure").strip("<>")

    def run(name: str, setting: float, number: int) -> dict[str, Any]:
        model = turned(actives[name], setting).set_params(random_state=number)
        order = orders[number]
        trace = progressive(model, reordered(X, order), labels[order])
        asked = {"learner": name, "setting": setting, "order": number, "share_asked": trace.share_asked}
        return {**asked, what: _value(trace, figure)}

    return AskCurve(what, pd.DataFrame(in_threads(run, jobs, n_jobs, progress)))


def at_rate(
    learner: OnlineClassifier | ActiveClassifier | str,
    ask: AskRule | None,
    X: Any,
    y: ArrayLike,
    rate: float = 0.1,
    random_state: int = 0,
) -> ActiveClassifier:
    """An untrained active learner whose rule asks for about the share `rate` of the labels of these rows.

    `learner` is a classifier and `ask` its rule, or `learner` is active already (or a registry name of one)
    and `ask` None. The rows are gone through once for each try, with `random_state`; a random or budget rule
    simply gets the rate. A share that the rule does not come near, whatever its parameter, is warned of.

    >>> import numpy as np, tauten as tt
    >>> X = np.random.default_rng(0).standard_normal((3000, 3))
    >>> active = tt.at_rate(tt.PAClassifier(), tt.MarginAsk(), X, X[:, 0] > 0, rate=0.1)
    >>> abs(tt.progressive(active, X, X[:, 0] > 0).share_asked - 0.1) < 0.01
    True
    """
    if not 0 < rate <= 1:
        raise ValueError(f"rate is {rate!r}; expected a number above 0 and up to 1.")
    active = _active(learner if ask is None else ActiveClassifier(learner, ask))
    active.set_params(random_state=random_state)
    X = reorderable(X, [active])
    if active.rule.knob == "rate":
        return turned(active, rate)

    @cache
    def asked(power: float) -> float:
        return progressive(turned(active, 2.0**power), X, y).share_asked

    low = high = 0.0
    while asked(low) > rate and low > -REACH:
        low -= STRIDE
    while asked(high) < rate and high < REACH:
        high += STRIDE
    tried = [low, high]
    for _ in range(HALVINGS):
        tried.append((low + high) / 2.0)
        low, high = (tried[-1], high) if asked(tried[-1]) < rate else (low, tried[-1])
        if abs(asked(tried[-1]) - rate) <= rate / 100:
            break
    best = min(tried, key=lambda power: abs(asked(power) - rate))
    if abs(asked(best) - rate) > rate / 5 + 1 / len(active.read_y(y)):
        warnings.warn(
            f"{active.rule!r} asks for {asked(best):.3g} of these labels, and comes no nearer to {rate:.3g}.",
            stacklevel=2,
        )
    return turned(active, 2.0**best)


def turned(active: ActiveClassifier, setting: float) -> ActiveClassifier:
    """A copy whose rule has another setting."""
    model: ActiveClassifier = clone(active)
    return model.set_params(ask=clone(active.rule).set_params(**{active.rule.knob: setting}))


def _active(learner: Any) -> ActiveClassifier:
    model = fresh(learner)
    if not isinstance(model, ActiveClassifier):
        raise ValueError(
            f"{learner!r} learns every label; expected an active learner, as tt.make('paa1') gives."
        )
    if not hasattr(model.rule, "knob"):
        raise ValueError(f"{type(model.rule).__name__} has no parameter by which it asks more or less.")
    return model


def _settings(active: ActiveClassifier, settings: Any) -> NDArray[np.float64]:
    given = np.zeros(0) if settings is None else np.asarray(settings, dtype=np.float64)
    if active.rule.knob == "rate":
        return RATES if settings is None else given[given <= 1.0]
    return SETTINGS if settings is None else given


def _value(trace: Trace, figure: Figure) -> float:
    if callable(figure):
        return float(figure(trace))
    value = getattr(trace, figure)
    return float(value() if callable(value) else value)
