"""Every learner of the registry against its literal twin, and the twins against the papers' problems."""

from typing import Any

import numpy as np
import oracle
import oracle_second_order
import pytest
from conftest import SUPERVISED
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tauten as tt

Options = dict[str, Any]
Data = tuple[np.ndarray, np.ndarray]

oracle.TWINS.update(oracle_second_order.TWINS)

LABELS = np.array(["ant", "bee", "cat", "dog", "eel"])
RHO = [1.0, 7.0, 0.5, 2.0, 3.0]  # cost of missing each of LABELS
CLASS_WEIGHT = [0.4, 2.5, 1.0, 1.0, 1.0]  # factor of each of LABELS
# Twin and compiled loop add the same numbers in another order, and PAm's loop keeps w as a sum of parts.
TOLERANCE = {"rtol": 1e-10, "atol": 1e-10}

OPTIONS: dict[str, list[Options]] = {
    "pa1": [{}, {"C": 0.03}],
    "pa2": [{}, {"C": 0.03}],
    "ogd": [{}, {"eta": 0.1, "power": 0.0}],
    "rls": [{}, {"C": 0.03}],
    "paum": [{}, {"tau_plus": 2.9, "tau_minus": -0.7, "eta": 0.3}],
    "cpa": [{}, {"C": 0.05}, {"C": 0.3, "rho": RHO}, {"C": 10.0, "rho": RHO}],
    "cspa": [
        {},
        {"C": 0.05, "rho": 3.0},
        {"C": 0.3, "rho": 0.4, "variant": "II"},
        {"rho": 3.0, "variant": "hard"},
        {"C": 0.3, "rho": "balanced"},
        {"C": 0.3, "rho": "balanced", "variant": "II"},
        {"rho": "balanced", "variant": "hard"},
    ],
    "pamean": [{}, {"gamma": 1.5, "anchor_scale": 0.2}],
    "pamean1": [{"C": 0.03}, {"gamma": 0.3, "anchor_scale": 4.0}],
    "pamean2": [{"C": 0.03}, {"gamma": 0.3, "anchor_scale": 4.0}],
    "pameanw": [{}, {"gamma": 0.5, "window": 3, "window_weights": [1.0, 2.0, 5.0]}],
    "pameanw1": [{"C": 0.03}, {"C": 0.2, "gamma": 0.2, "window": 1}],
    "pameanw2": [
        {"C": 0.03},
        {"C": 0.2, "window": 4, "window_weights": [5.0, 0.5, 2.0, 1.0], "anchor_scale": 3.0},
    ],
    "pa1-reg": [{}, {"C": 0.03, "epsilon": 0.5}],
    "pa2-reg": [{}, {"C": 0.03, "epsilon": 0.0}],
}
SECOND_ORDER: dict[str, list[Options]] = {
    "pam": [{}],
    "pam1": [{}, {"C": 0.03}],
    "pam2": [{}, {"C": 0.03}],
    "sop": [{}, {"a": 0.2}],
    # Not more: without slack, wrong labels square Σ again and again, to 1e-300 in fifty rows at φ = 1.3.
    "cw": [{}, {"eta": 0.6}, {"phi": 0.3}],
    "arow": [{}, {"r": 0.1}, {"r": 30.0}],
    "scw1": [{}, {"C": 0.05, "eta": 0.9}, {"phi": 1.5}],
    "scw2": [{}, {"C": 0.05, "eta": 0.9}, {"phi": 1.5}],
    "nherd": [{}, {"C": 0.05}],
    "pam-reg": [{}],
    "pam1-reg": [{}, {"C": 0.03, "epsilon": 0.5}],
    "pam2-reg": [{}, {"C": 0.03, "epsilon": 0.0}],
    "arow-reg": [{}, {"r": 0.1, "epsilon": 0.5}],
}
OPTIONS |= {name: SECOND_ORDER[name.replace("-diag", "")] for name in oracle_second_order.TWINS}
GRIDS: dict[str, dict[str, list[Any]]] = {
    "ogd": {"eta": [0.1, 0.7], "power": [0.0, 0.5]},
    "paum": {"tau_plus": [0.5, 2.0], "tau_minus": [-0.5, 0.3], "eta": [0.3, 1.0]},
    "cpa": {"C": [0.03, 0.3, 3.0], "rho": [{"bee": 4.0}, {"ant": 0.3}]},
    "cspa": {"C": [0.03, 0.3, 3.0], "rho": [0.4, 3.0, "balanced"], "variant": ["I", "II"]},
    "pa1": {"C": [0.03, 0.1, 0.3, 1.0, 3.0], "average": [False, True]},
    "pa2": {"C": [0.03, 0.1, 0.3, 1.0, 3.0], "average": [False, True]},
    "pa-reg": {"epsilon": [0.0, 0.1, 0.7]},
    "pa1-reg": {"C": [0.03, 0.3, 3.0], "epsilon": [0.0, 0.7]},
    "pa2-reg": {"C": [0.03, 0.3, 3.0], "epsilon": [0.0, 0.7]},
    "pam2": {"C": [0.03, 0.3], "covariance": ["full", "diag"], "average": [False, True]},
    "scw1": {"C": [0.03, 0.3], "eta": [0.6, 0.9]},
    "arow-reg": {"r": [0.1, 1.0], "epsilon": [0.0, 0.7]},
}
MODES = ["fit", "two epochs", "partial_fit"]


def is_regressor(name: str) -> bool:
    return tt.learners()[name].kind == "regressor"


def parameters_of(options: Options, n_classes: int) -> tuple[Options, Options]:
    """The options by label, costs of 1 left out, and by code, which is how the twin knows classes."""
    if not isinstance(options.get("rho"), list):
        return options, options
    costs = options["rho"][:n_classes]
    by_label = {LABELS[k].item(): cost for k, cost in enumerate(costs) if cost != 1}
    return {**options, "rho": by_label}, {**options, "rho": costs}


def is_hard(name: str, options: Options) -> bool:
    return not tt.make(name, **parameters_of(options, 2)[0]).takes_weights


def named(*cases: Any) -> list[Any]:
    """Cases as pytest parameters whose ids can be read."""
    return [
        pytest.param(*case, id="-".join(str(part) for part in case if part not in ({}, 0))) for case in cases
    ]


CASES = [(name, options) for name in SUPERVISED for options in OPTIONS.get(name, [{}])]
TASKS = [(name, options, k) for name, options in CASES for k in ([0] if is_regressor(name) else [2, 3])]
SOFT = [task for task in TASKS if not is_hard(*task[:2])]
every_task = pytest.mark.parametrize(("name", "options", "n_classes"), named(*TASKS))
soft_task = pytest.mark.parametrize(("name", "options", "n_classes"), named(*SOFT))
hard_case = pytest.mark.parametrize(("name", "options"), named(*[case for case in CASES if is_hard(*case)]))
any_average = pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
any_bias = pytest.mark.parametrize("fit_intercept", [False, True], ids=["plain", "bias"])
any_mode = pytest.mark.parametrize("mode", MODES)


def stream(n_classes: int, n: int = 120, d: int = 6, seed: int = 5) -> Data:
    """Uneven, overlapping classes by code (of 0 classes: targets), a seventh at random; one row of zeros.

    One only: a second one meets a margin that the first left exactly, and rounding decides whether it moves.
    """
    rng = np.random.default_rng([seed, n_classes, n, d])
    X = rng.normal(size=(n, d))
    if n_classes == 0:
        targets = X @ rng.normal(size=d) + 0.7 + rng.normal(scale=0.5, size=n)
    else:
        shares = np.arange(n_classes, 0, -1)
        targets = rng.choice(n_classes, size=n, p=shares / shares.sum())
        X += 0.6 * rng.normal(size=(n_classes, d))[targets]
        targets = np.where(rng.random(n) < 1 / 7, rng.integers(n_classes, size=n), targets)
        targets[:n_classes] = np.arange(n_classes)
    X *= 10 ** rng.uniform(-1, 0.5, size=(n, 1))
    X[n // 2] = 0
    return X, targets


def labels_of(targets: np.ndarray, n_classes: int) -> np.ndarray:
    return LABELS[targets] if n_classes else targets


def assert_same(model: Any, expected: oracle.Outcome, tolerance: dict[str, float] = TOLERANCE) -> None:
    """A model's weights, rounds and moves are the twin's."""
    np.testing.assert_allclose(np.atleast_2d(model.coef_), expected.coef, **tolerance)
    np.testing.assert_allclose(model.intercept_, expected.intercept, **tolerance)
    assert model.t_ == len(expected.moved)
    assert model.n_updates_ == expected.moved.sum()


def learn(model: Any, data: Data, n_classes: int, mode: str, sample_weight: np.ndarray | None = None) -> Any:
    """The whole stream at once, or in three batches of different sizes; all classes known beforehand."""
    X, y = data[0], labels_of(data[1], n_classes)
    if mode != "partial_fit":
        return model.set_params(epochs=1 + (mode == "two epochs")).fit(X, y, sample_weight=sample_weight)
    if n_classes:
        model.set_params(classes=LABELS[:n_classes].tolist())
    for part in (slice(0, 1), slice(1, 17), slice(17, None)):
        weights = None if sample_weight is None else sample_weight[part]
        model.partial_fit(X[part], y[part], sample_weight=weights)
    return model


def compare(
    name: str,
    options: Options,
    n_classes: int,
    data: Data,
    mode: str = "fit",
    fit_intercept: bool = True,
    average: bool = False,
    tolerance: dict[str, float] = TOLERANCE,
) -> None:
    """Learn one stream with a learner and with its twin, and compare what they have become."""
    ours, literal = parameters_of(options, n_classes)
    model = tt.make(name, fit_intercept=fit_intercept, average=average, **ours)
    twin = oracle.twin(name, data[0].shape[1] + fit_intercept, n_classes, **literal)
    epochs = 1 + (mode == "two epochs")
    expected = oracle.run(twin, *data, epochs=epochs, average=average, fit_intercept=fit_intercept)
    assert_same(learn(model, data, n_classes, mode), expected, tolerance)


def test_registry_has_twins() -> None:
    """Every learner of the registry has a twin, and every twin a learner."""
    assert set(SUPERVISED) == oracle.TWINS.keys()


@any_average
@any_bias
@any_mode
@every_task
def test_equals_twin(
    name: str, options: Options, n_classes: int, mode: str, fit_intercept: bool, average: bool
) -> None:
    """Weights, rounds and moves equal the twin's: averaged or not, with bias or without, in parts or not."""
    compare(name, options, n_classes, stream(n_classes), mode, fit_intercept, average)


@any_average
@any_mode
@soft_task
def test_sample_weight_equals_twin(
    name: str, options: Options, n_classes: int, mode: str, average: bool
) -> None:
    """Example weights multiply C (the step, where there is no C)."""
    X, targets = stream(n_classes)
    weights = np.random.default_rng(9).exponential(size=len(X))
    ours, literal = parameters_of(options, n_classes)
    model = learn(tt.make(name, average=average, **ours), (X, targets), n_classes, mode, weights)
    twin = oracle.twin(name, X.shape[1] + 1, n_classes, **literal)
    assert_same(model, oracle.run(twin, X, targets, weights, 1 + (mode == "two epochs"), average))


@pytest.mark.parametrize("class_weight", ["dict", "balanced"])
@pytest.mark.parametrize("weighted", [False, True], ids=["alone", "times sample_weight"])
@any_mode
@pytest.mark.parametrize(("name", "options", "n_classes"), named(*[task for task in SOFT if task[2]]))
def test_class_weight_equals_twin(
    name: str, options: Options, n_classes: int, mode: str, weighted: bool, class_weight: str
) -> None:
    """Class weights multiply C too; "balanced" counts all rows in fit, and those so far in partial_fit."""
    X, targets = stream(n_classes)
    sample_weight = np.random.default_rng(9).exponential(size=len(X)) if weighted else None
    factors = CLASS_WEIGHT if class_weight == "dict" else "balanced"
    weights = oracle.class_factors(targets, n_classes, factors, running=mode == "partial_fit")
    if weighted:
        weights = weights * sample_weight
    ours, literal = parameters_of(options, n_classes)
    by_label = {LABELS[k].item(): CLASS_WEIGHT[k] for k in range(2)}  # the other factors are 1
    model = tt.make(name, class_weight=by_label if class_weight == "dict" else "balanced", **ours)
    twin = oracle.twin(name, X.shape[1] + 1, n_classes, **literal)
    expected = oracle.run(twin, X, targets, weights, 1 + (mode == "two epochs"))
    assert_same(learn(model, (X, targets), n_classes, mode, sample_weight), expected)


@pytest.mark.filterwarnings("error")
@soft_task
def test_weight_zero(name: str, options: Options, n_classes: int) -> None:
    """A weight of 0 makes C 0: nothing moves along x, and nothing is complained of."""
    X, targets = stream(n_classes)
    weights = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.5)
    ours, literal = parameters_of(options, n_classes)
    model = learn(tt.make(name, **ours), (X, targets), n_classes, "fit", weights)
    twin = oracle.twin(name, X.shape[1] + 1, n_classes, **literal)
    assert_same(model, oracle.run(twin, X, targets, weights))


@pytest.mark.parametrize("method", ["fit", "partial_fit", "learn_one"])
@hard_case
def test_hard_variants_refuse_sample_weight(name: str, options: Options, method: str) -> None:
    """Where there is no C to scale, example weights are an error."""
    n_classes = 0 if is_regressor(name) else 2
    X, targets = stream(n_classes)
    y = labels_of(targets, n_classes)
    model = tt.make(name, **options)
    with pytest.raises(ValueError, match="weights"):
        if method == "learn_one":
            model.learn_one(X[0], y[0], sample_weight=2.0)
        else:
            getattr(model, method)(X, y, sample_weight=np.full(len(X), 2.0))


@pytest.mark.parametrize("class_weight", [{"ant": 2.0}, "balanced"], ids=["dict", "balanced"])
@pytest.mark.parametrize("method", ["fit", "partial_fit", "learn_one"])
@pytest.mark.parametrize(
    ("name", "options"), named(*[case for case in CASES if is_hard(*case) and not is_regressor(case[0])])
)
def test_hard_variants_refuse_class_weight(
    name: str, options: Options, method: str, class_weight: Any
) -> None:
    """Where there is no C to scale, class weights are an error."""
    X, targets = stream(2)
    model = tt.make(name, class_weight=class_weight, **options)
    first = (X[0], LABELS[0]) if method == "learn_one" else (X, LABELS[targets])
    with pytest.raises(ValueError, match="class_weight"):
        getattr(model, method)(*first)


@any_average
@every_task
def test_learn_one_scores_equal_twin(name: str, options: Options, n_classes: int, average: bool) -> None:
    """Example by example, the scores of each before it is learned equal the twin's."""
    X, targets = stream(n_classes, n=60)
    y = labels_of(targets, n_classes)
    ours, literal = parameters_of(options, n_classes)
    model = tt.make(name, average=average, **ours)
    if n_classes:
        model.set_params(classes=LABELS[:n_classes].tolist())
    twin = oracle.twin(name, X.shape[1] + 1, n_classes, **literal)
    expected = oracle.run(twin, X, targets, average=average)
    model.learn_one(X[0], y[0])
    for row, label, scores in zip(X[1:], y[1:], expected.scores[1:], strict=True):
        np.testing.assert_allclose(np.atleast_1d(model.decision_function([row])[0]), scores, **TOLERANCE)
        model.learn_one(row, label)
    assert_same(model, expected)


@any_average
@every_task
def test_trace_equals_twin(name: str, options: Options, n_classes: int, average: bool) -> None:
    """A trace's scores, predictions and moves equal the twin's at every row."""
    X, targets = stream(n_classes)
    ours, literal = parameters_of(options, n_classes)
    trace = tt.progressive(tt.make(name, average=average, **ours), X, labels_of(targets, n_classes))
    twin = oracle.twin(name, X.shape[1] + 1, n_classes, **literal)
    expected = oracle.run(twin, X, targets, average=average)
    np.testing.assert_allclose(np.reshape(trace.scores, expected.scores.shape), expected.scores, **TOLERANCE)
    np.testing.assert_array_equal(trace.updates, expected.moved)
    if n_classes:
        np.testing.assert_array_equal(trace.predicted, LABELS[expected.predicted()])


@pytest.mark.parametrize(("name", "n_classes"), sorted({(name, k) for name, _, k in TASKS}))
def test_sweep_equals_twins(name: str, n_classes: int) -> None:
    """Every model of a grid, trained side by side with the others, equals its own twin."""
    X, targets = stream(n_classes)
    grid = GRIDS.get(name, {"average": [False, True]})
    sweep = tt.sweep(name, grid, X, labels_of(targets, n_classes))
    assert len(sweep.learners) == np.prod([len(values) for values in grid.values()])
    for model in sweep.learners:
        literal = {key: getattr(model, key) for key in grid if key != "average"}
        if isinstance(literal.get("rho"), dict):
            literal["rho"] = [literal["rho"].get(label, 1.0) for label in LABELS[:n_classes]]
        twin = oracle.twin(name, X.shape[1] + 1, n_classes, **literal)
        assert_same(model, oracle.run(twin, X, targets, average=model.average))


@st.composite
def options_of(draw: st.DrawFn, name: str) -> Options:
    """A learner's own parameters, drawn over their useful range."""
    window = draw(st.integers(1, 6))
    choices = {
        "C": st.floats(-3, 2).map(lambda z: 10**z),
        "tau_plus": st.floats(0, 5),
        "tau_minus": st.floats(-3, 3),
        "eta": st.floats(0.01, 3),
        "epsilon": st.floats(0, 1),
        "power": st.floats(0, 1),
        "gamma": st.floats(-3, 1).map(lambda z: 10**z),
        "anchor_scale": st.floats(-1, 1).map(lambda z: 10**z),
        "rho": st.just(RHO) if name == "cpa" else st.one_of(st.floats(0.2, 20), st.just("balanced")),
    }
    if name.startswith("pameanw"):
        choices["window"] = st.just(window)
        choices["window_weights"] = st.lists(st.floats(0.1, 10), min_size=window, max_size=window)
    if name in oracle_second_order.TWINS:
        choices |= {"eta": st.floats(0.51, 0.7), "a": choices["C"], "r": choices["C"]}
    allowed = tt.learners()[name].learner.__dataclass_fields__
    return {key: draw(values) for key, values in choices.items() if key in allowed}


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.data())
def test_any_stream_equals_twin(data: st.DataObject) -> None:
    """Any learner with any parameters equals its twin on streams of any shape.

    But CW: wrong labels bring its variances below 1e-200 in some rows, and twins part before that. SCW sees
    three features at least: on a line every row of a class meets φ√V just as the last one left it.
    """
    name = data.draw(st.sampled_from([name for name in SUPERVISED if name not in ("cw", "cw-diag")]))
    n_classes = 0 if is_regressor(name) else data.draw(st.integers(2, 5))
    width = st.integers(3 if "scw" in name else 1, 9)
    shape = data.draw(st.tuples(st.integers(30, 70), width, st.integers(0, 10**6)))
    compare(
        name,
        data.draw(options_of(name)),
        n_classes,
        stream(n_classes, *shape),
        data.draw(st.sampled_from(["fit", "partial_fit"])),
        data.draw(st.booleans()),
        data.draw(st.booleans()),
    )


EXACT: list[tuple[str, Options]] = [
    ("perceptron", {}),
    ("paum", {"tau_plus": 2.0, "tau_minus": -1.0, "eta": 0.5}),
    ("cpa", {"C": 2.0**-6, "rho": [1.0, 4.0, 9.0, 16.0]}),
]


@settings(deadline=None, max_examples=200, derandomize=True)
@given(
    st.sampled_from(EXACT),
    st.integers(2, 4),
    st.booleans(),
    arrays(np.int64, st.tuples(st.integers(8, 40), st.just(4)), elements=st.integers(-2, 2)),
)
def test_ties_equal_twin(
    case: tuple[str, Options], n_classes: int, fit_intercept: bool, table: np.ndarray
) -> None:
    """Scores of 0, equal scores and margins just reached are decided as in the twin, in exact arithmetic.

    CPA's C is small enough for every step to be C, as ℓ/q ≥ 1/(2·13).
    """
    X, targets = table[:, 1:].astype(float), table[:, 0] % n_classes
    targets[:n_classes] = np.arange(n_classes)
    exact = {"rtol": 0.0, "atol": 0.0}
    compare(*case, n_classes, (X, targets), fit_intercept=fit_intercept, tolerance=exact)


@every_task
def test_zero_rows_move_nothing(name: str, options: Options, n_classes: int) -> None:
    """Without the constant feature, a row of zeros leaves the weights bit for bit as they were."""
    X, targets = stream(n_classes)
    ours, _ = parameters_of(options, n_classes)
    model = learn(tt.make(name, fit_intercept=False, **ours), (X, targets), n_classes, "fit")
    before, moves = model.coef_.copy(), model.n_updates_
    model.partial_fit(np.zeros((9, X.shape[1])), labels_of(targets, n_classes)[:9])
    np.testing.assert_array_equal(model.coef_, before)
    assert (model.n_updates_, model.t_) == (moves, len(X) + 9)


def assert_optimal(
    w: np.ndarray,
    start: np.ndarray,
    z: np.ndarray,
    margin: float,
    variant: str,
    C: float,
    gamma: float = 0.0,
    anchor: float | np.ndarray = 0.0,
) -> None:
    """KKT of: minimise ½‖w − start‖² + γ/2·‖w − anchor‖² + slack subject to ⟨w, z⟩ ≥ margin − ξ, ξ ≥ 0."""
    pull = (w - start) + gamma * (w - anchor)
    alpha = (pull @ z) / (z @ z)
    lacking = margin - w @ z
    tiny = 1e-9 * (1 + abs(margin) + np.abs(start).max() * np.abs(z).max())
    np.testing.assert_allclose(pull, alpha * z, rtol=0, atol=tiny)
    if variant == "II":
        assert alpha == pytest.approx(2 * C * max(0.0, lacking), abs=tiny)
        return
    cap = C if variant == "I" else np.inf
    assert -tiny <= alpha <= cap + tiny
    assert alpha < tiny or lacking > -tiny
    assert alpha > cap - tiny or lacking < tiny


@pytest.mark.parametrize("window", [0, 3])
@pytest.mark.parametrize("C", [0.02, 0.5])
@pytest.mark.parametrize("variant", ["hard", "I", "II"])
def test_twins_of_means_are_optimal(variant: str, C: float, window: int) -> None:
    """Each step of the PAm twins solves the paper's problem, the means and the queue worked out afresh."""
    X, targets = stream(2)
    y = 2 * targets - 1
    ages = np.array([1.0, 2.0, 4.0])
    parameters: Options = {"C": C, "gamma": 0.3, "anchor_scale": 0.5}
    twin = oracle.ClassMeanPA(6, variant, **parameters)
    if window:
        twin = oracle.WindowedClassMeanPA(6, variant, window, ages.tolist(), **parameters)
    past: list[np.ndarray] = []
    for t in range(len(X)):
        before, z = twin.w, y[t] * X[t]
        twin.learn(X[t], y[t], 1.0)
        if before @ z >= 1 or not z.any():
            assert twin.w is before
            continue
        past.append(before)
        last = past[-window or -1 :]
        start = np.average(last, axis=0, weights=ages[-len(last) :])
        plus, minus = X[: t + 1][y[: t + 1] > 0], X[: t + 1][y[: t + 1] < 0]
        anchor = 0.5 * (plus.sum(axis=0) / max(1, len(plus)) - minus.sum(axis=0) / max(1, len(minus)))
        assert_optimal(twin.w, start, z, 1.0, variant, C, 0.3, anchor)
    assert len(past) > 30


@pytest.mark.parametrize("variant", ["hard", "I", "II"])
@pytest.mark.parametrize("rho", [1.0, 3.0])
def test_twins_of_pa_are_optimal(rho: float, variant: str) -> None:
    """Each step of the PA and CSPA twins solves the paper's problem, ρ the margin of the second class."""
    X, targets = stream(2)
    twin = oracle.CSPA(6, variant, 0.1, rho) if rho != 1 else oracle.PA(6, variant, 0.1)
    for x, y in zip(X, 2 * targets - 1, strict=True):
        before = twin.w
        twin.learn(x, y, 1.0)
        if x.any():
            assert_optimal(twin.w, before, y * x, rho if y > 0 else 1.0, variant, 0.1)


@pytest.mark.parametrize("variant", ["hard", "I", "II"])
def test_twins_of_regression_are_optimal(variant: str) -> None:
    """Each step of the regression twins solves the paper's problem on the side where the error is."""
    X, targets = stream(0)
    twin = oracle.PARegression(6, variant, 0.1, epsilon=0.3)
    for x, target in zip(X, targets, strict=True):
        before = twin.w
        twin.learn(x, target, 1.0)
        side = 1 if target > before @ x else -1
        if x.any():
            assert_optimal(twin.w, before, side * x, side * target - 0.3, variant, 0.1)


@pytest.mark.parametrize("variant", ["hard", "I", "II"])
def test_coupled_twins_are_optimal(variant: str) -> None:
    """Each multi-class PA step solves the problem over all weights, against the best wrong class."""
    X, targets = stream(3)
    twin = oracle.CoupledPA(6, 3, variant, 0.1)
    for x, k in zip(X, targets, strict=True):
        before = twin.W.copy()
        twin.learn(x, k, 1.0)
        scores = before @ x
        scores[k] = -np.inf
        z = np.zeros_like(before)
        z[k], z[np.argmax(scores)] = x, -x
        if x.any():
            assert_optimal(twin.W.ravel(), before.ravel(), z.ravel(), 1.0, variant, 0.1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_twins_of_cpa_are_optimal(n_classes: int) -> None:
    """CPA's twins stay where the prediction is right, and elsewhere solve PA-I's problem, the margin √ρ."""
    X, targets = stream(n_classes)
    C, rho = 0.1, RHO[:n_classes]
    twin: Any = oracle.CPA(6, C, rho) if n_classes == 2 else oracle.CoupledCPA(6, 3, C, rho)
    moves = 0
    for x, k in zip(X, targets, strict=True):
        before = twin.W.copy()
        scores = before @ x
        predicted = int(scores[0] > 0) if n_classes == 2 else int(np.argmax(scores))
        twin.learn(x, 2 * k - 1 if n_classes == 2 else k, 1.0)
        if predicted == k or not x.any():
            np.testing.assert_array_equal(twin.W, before)
            continue
        z = np.zeros_like(before)
        if n_classes == 2:
            z[0] = (2 * k - 1) * x
        else:
            z[k], z[predicted] = x, -x
        assert_optimal(twin.W.ravel(), before.ravel(), z.ravel(), np.sqrt(rho[k]), "I", C)
        moves += 1
    assert moves > 20
