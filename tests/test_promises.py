"""Every promise of the design over every learner of the registry, and over options that change the state."""

import numpy as np
import pytest
from conftest import ACTIVE, SUPERVISED

import tauten as tt
from tauten import checks
from tauten.kernels.pointers import rule
from tauten.learners.pa import VARIANTS
from tauten.parameters import above

OPTIONS = ({"average": True}, {"fit_intercept": False})
IN_ONE_PROCESS = [promise for promise in checks.PROMISES if promise is not checks.without_jit]


@pytest.mark.parametrize("promise", IN_ONE_PROCESS, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("name", SUPERVISED)
def test_promise(name, promise):
    """Each learner as its paper names it keeps each promise."""
    promise(tt.make(name))


@pytest.mark.parametrize("promise", IN_ONE_PROCESS, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("name", ACTIVE)
def test_promise_of_active_learners(name, promise):
    """So does each that asks for its labels."""
    if promise is not checks.optimality:  # that of the learner in it, which is checked above
        promise(tt.make(name))


ASKING = {
    "budget": tt.ActiveClassifier(tt.PAClassifier(), tt.BudgetAsk()),
    "decaying": tt.ActiveClassifier(tt.ClassMeanPAClassifier(C=0.1), tt.DecayingAsk(delta=50.0)),
    "always": tt.ActiveClassifier(tt.make("paum"), tt.AlwaysAsk()),
    "variance": tt.ActiveClassifier(tt.make("arow-diag"), tt.VarianceAsk(delta=0.3)),
    "paa on PAM": tt.ActiveClassifier(tt.make("pam2"), tt.MarginAsk()),
    "running costs": tt.ActiveClassifier(tt.make("cspa", rho="balanced"), tt.MarginAsk(offset=1.0)),
    "class weights": tt.ActiveClassifier(tt.make("pa1", class_weight="balanced"), tt.MarginAsk()),
}


@pytest.mark.parametrize("learner", ASKING.values(), ids=ASKING)
def test_check_learner_runs_on_active_learners(learner):
    """Other rules on other learners keep every promise too."""
    tt.check_learner(learner, skip=["without_jit", "optimality"])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", [*SUPERVISED, *ACTIVE])
def test_promises_with_options(name, options):
    """Averages and models without a bias keep the promises about state."""
    learner = tt.make(name, **options)
    for promise in (
        checks.batch_is_loop,
        checks.one_result_by_every_road,
        checks.extreme_rows,
        checks.asking,
        checks.keeping,
        checks.bad_input,
    ):
        promise(learner)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("pa1", {"C": 0.05}),
        ("pa2", {"C": 0.05}),
        ("pa1-reg", {"C": 0.05, "epsilon": 0.3}),
        ("paum", {"tau_plus": 2.0, "tau_minus": -0.5, "eta": 0.3}),
        ("cpa", {"C": 0.2, "rho": 4.0}),
        ("cspa", {"C": 2.0, "rho": 5.0}),
        ("cspa", {"rho": "balanced", "variant": "II"}),
        ("pamean1", {"C": 0.1, "gamma": 0.5, "anchor_scale": 20.0}),
        ("pamean2", {"C": 0.1, "gamma": 2.0, "anchor_scale": 0.1}),
        ("pameanw1", {"C": 0.1, "gamma": 0.3, "window": 3, "window_weights": [1.0, 2.0, 4.0]}),
    ],
)
def test_optimal_and_alike_with_other_parameters(name, parameters):
    """Steps are optimal, and batches are loops, away from the default parameters too."""
    learner = tt.make(name, **parameters)
    if name != "cpa" or "rho" not in parameters:
        checks.optimality(learner)
    if name == "cpa":
        learner.set_params(rho={"class 0": 2.0, "class 1": 0.5})
    checks.batch_is_loop(learner)
    checks.one_result_by_every_road(learner)
    checks.keeping(learner)


def test_same_without_jit():
    """Compiled code and plain Python come to the same, for all learners and options, in one process without
    the JIT.
    """
    learners = [tt.make(name, **options) for name in SUPERVISED for options in ({}, *OPTIONS)]
    checks.same_without_jit([*learners, *(tt.make(name) for name in ACTIVE), *ASKING.values()])


@rule
def too_far(loss, sqnorm, C):
    """A hundredth more than PA-I."""
    return 1.01 * min(C, loss / sqnorm)


@rule
def too_short(loss, sqnorm, C):
    """A hundredth less than PA-I."""
    return 0.99 * min(C, loss / sqnorm)


@pytest.mark.parametrize("wrong", [too_far, too_short])
def test_a_check_can_fail(monkeypatch, wrong):
    """A step that goes a hundredth too far, or not far enough, is caught."""
    monkeypatch.setitem(VARIANTS, "I", VARIANTS["I"]._replace(step=wrong))
    with pytest.raises(AssertionError, match="optimality"):
        checks.optimality(tt.make("pa1"))


def test_check_learner_runs_on_a_learner_of_ones_own():
    """A user's own class, one rule and a docstring, is checked like ours."""
    from dataclasses import dataclass

    @dataclass(eq=False, repr=False)
    class Mine(tt.PAClassifier):
        """PA-I under another name.

        Parameters
        ----------
        patience : float, above 0
            Not used by the step.

        >>> 1
        1
        """

        patience: float = above(0, default=1.0)

    checks.check_learner(Mine(), skip=["without_jit", "keeping", "bad_input", "scikit_learn"])
    with pytest.raises(ValueError, match="There is no promise 'optimal'"):
        checks.check_learner(Mine(), skip=["optimal"])


@pytest.mark.parametrize("seed", range(5))
def test_loss_bound_of_pa(seed):
    """Σℓ² ≤ R²·‖u‖² on rows that u separates with margin 1 (Crammer et al., theorem 2)."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((2000, 8))
    u = random.standard_normal(8)
    X = X[np.abs(X @ u) > 0.5]
    u /= np.abs(X @ u).min()
    y = X @ u > 0
    trace = tt.progressive(tt.make("pa", fit_intercept=False), X, y)
    losses = np.maximum(0.0, 1.0 - np.where(y, 1, -1) * trace.scores)
    assert (losses**2).sum() <= (X**2).sum(axis=1).max() * (u @ u)


@pytest.mark.parametrize("seed", range(5))
def test_mistake_bound_of_perceptron(seed):
    """At most (R·‖u‖)² updates on rows that u separates with margin 1 (Novikoff)."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((2000, 5))
    u = random.standard_normal(5)
    X = X[np.abs(X @ u) > 0.3]
    u /= np.abs(X @ u).min()
    trace = tt.progressive(tt.make("perceptron", fit_intercept=False), X, X @ u > 0)
    assert trace.updates.sum() <= (X**2).sum(axis=1).max() * (u @ u)
