"""Every learner of the registry against its literal twin in `oracle.py`, and the twins against the papers' problems."""

from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tauten as tt

LABELS = np.array(["ant", "bee", "cat", "dog", "eel"])
RHO = [1.0, 7.0, 0.5, 2.0, 3.0]  # cost of missing each of LABELS
CLASS_WEIGHT = [0.4, 2.5, 1.0, 1.0, 1.0]  # a dict may leave out classes whose factor is 1
# Twin and compiled loop add the same numbers in another order; PAm's loop moreover keeps w as a sum of parts.
TOLERANCE = {"rtol": 1e-10, "atol": 1e-10}

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "pa1": [{}, {"C": 0.03}],
    "pa2": [{}, {"C": 0.03}],
    "paum": [{}, {"tau_plus": 3.0, "tau_minus": -0.7, "eta": 0.3}],
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
    "pameanw2": [{"C": 0.03}, {"C": 0.2, "window": 4, "window_weights": [5.0, 0.5, 2.0, 1.0], "anchor_scale": 3.0}],
    "pa1-reg": [{}, {"C": 0.03, "epsilon": 0.5}],
    "pa2-reg": [{}, {"C": 0.03, "epsilon": 0.0}],
}
WEIGHINGS = ["sample", "class", "balanced", "both"]
MODES = ["fit", "two epochs", "partial_fit"]


def is_regressor(name: str) -> bool:
    return tt.learners()[name].kind == "regressor"


def is_hard(name: str, options: dict[str, Any]) -> bool:
    return {**tt.learners()[name].parameters, **options}.get("variant") == "hard"


CASES = [(name, options) for name in tt.learners() for options in OPTIONS.get(name, [{}])]
TASKS = [(name, options, k) for name, options in CASES for k in ([0] if is_regressor(name) else [2, 3])]
SOFT = [task for task in TASKS if not is_hard(task[0], task[1]) and not is_regressor(task[0])]


def stream(n_classes: int, n: int = 120, d: int = 6, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Uneven classes that overlap, a seventh of the labels random, rows of all lengths, three of zeros."""
    rng = np.random.default_rng([seed, n_classes, n, d])
    if n_classes == 0:
        X = rng.normal(size=(n, d))
        targets = X @ rng.normal(size=d) + 0.7 + rng.normal(scale=0.5, size=n)
    else:
        shares = np.arange(n_classes, 0, -1) ** 1.5
        targets = rng.choice(n_classes, size=n, p=shares / shares.sum())
        X = rng.normal(size=(n_classes, d))[targets] + rng.normal(size=(n, d))
        random = rng.random(n) < 1 / 7
        targets[random] = rng.integers(n_classes, size=random.sum())
    X *= 10 ** rng.uniform(-1, 1, size=(n, 1))
    X[[n // 7, n // 2, n - 20]] = 0
    return X, targets


def labels_of(targets: np.ndarray, n_classes: int) -> np.ndarray:
    return LABELS[targets] if n_classes else targets


def parameters_of(options: dict[str, Any], n_classes: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options in our users' words and in the twin's, which knows classes by code."""
    if not isinstance(options.get("rho"), list):
        return options, options
    costs = options["rho"][:n_classes]
    named = {label: cost for label, cost in zip(LABELS.tolist(), costs, strict=False) if cost != 1}
    return {**options, "rho": named}, {**options, "rho": costs}


def compare(
    name: str,
    options: dict[str, Any],
    n_classes: int,
    mode: str = "fit",
    fit_intercept: bool = True,
    average: bool = False,
    weighing: str = "none",
    data: tuple[np.ndarray, np.ndarray] | None = None,
    tolerance: dict[str, float] = TOLERANCE,
) -> None:
    """Learn one stream with the learner and with its twin, and compare all that can be seen."""
    X, targets = data or stream(n_classes)
    epochs = 2 if mode == "two epochs" else 1
    ours, literal = parameters_of(options, n_classes)
    general: dict[str, Any] = {"fit_intercept": fit_intercept, "average": average}
    weights, sample_weight, class_weight = np.ones(len(X)), None, None
    if weighing in ("sample", "both"):
        sample_weight = np.random.default_rng(9).exponential(size=len(X))
        weights = sample_weight
    if weighing in ("class", "both"):
        class_weight = CLASS_WEIGHT[:n_classes]
        general["class_weight"] = {LABELS[k]: factor for k, factor in enumerate(class_weight) if factor != 1}
    if weighing == "balanced":
        general["class_weight"] = class_weight = "balanced"
    if n_classes:
        weights = weights * oracle.class_factors(targets, n_classes, class_weight, running=mode == "partial_fit")
    model = learn(tt.make(name, epochs=epochs, **general, **ours), X, targets, n_classes, mode, sample_weight)
    twin = oracle.twin(name, X.shape[1] + fit_intercept, n_classes, **literal)
    expected = oracle.run(twin, X, targets, weights, epochs, average, fit_intercept)
    np.testing.assert_allclose(np.atleast_2d(model.coef_), expected.coef, **tolerance)
    np.testing.assert_allclose(model.intercept_, expected.intercept, **tolerance)
    assert model.t_ == expected.rounds
    assert model.n_updates_ == expected.moves


def learn(
    model: Any, X: np.ndarray, targets: np.ndarray, n_classes: int, mode: str, sample_weight: np.ndarray | None
) -> Any:
    """The whole stream at once, or in three batches of different sizes, with all classes known beforehand."""
    y = labels_of(targets, n_classes)
    if mode != "partial_fit":
        return model.fit(X, y, sample_weight=sample_weight)
    if n_classes:
        model.set_params(classes=LABELS[:n_classes].tolist())
    for part in np.split(np.arange(len(X)), [1, len(X) // 3]):
        model.partial_fit(X[part], y[part], sample_weight=None if sample_weight is None else sample_weight[part])
    return model


def test_registry_has_twins() -> None:
    """Every learner of the registry has a twin, and every twin a learner."""
    assert tt.learners().keys() == oracle.TWINS.keys()


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize("fit_intercept", [False, True], ids=["no-bias", "bias"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "options", "n_classes"), TASKS)
def test_equals_twin(
    name: str, options: dict[str, Any], n_classes: int, mode: str, fit_intercept: bool, average: bool
) -> None:
    """Weights, rounds and moves equal the twin's, whole, averaged, with and without bias, however the rows arrive."""
    if not n_classes and not is_regressor(name):
        pytest.fail("a classifier needs classes")
    compare(name, options, n_classes, mode, fit_intercept, average)


@pytest.mark.parametrize("weighing", WEIGHINGS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "options", "n_classes"), SOFT)
def test_weighted_equals_twin(name: str, options: dict[str, Any], n_classes: int, mode: str, weighing: str) -> None:
    """Example weights and class weights multiply C (the step where there is no C), as in the twin."""
    compare(name, options, n_classes, mode, weighing=weighing)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize(("name", "options"), [c for c in CASES if is_regressor(c[0]) and not is_hard(*c)])
def test_weighted_regression_equals_twin(name: str, options: dict[str, Any], average: bool, mode: str) -> None:
    """Example weights multiply C in regression too."""
    compare(name, options, 0, mode, average=average, weighing="sample")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "options", "n_classes"), TASKS)
def test_weight_zero(name: str, options: dict[str, Any], n_classes: int) -> None:
    """A weight of 0 is C = 0, in the loss rules' limit and without a complaint."""
    if is_hard(name, options):
        pytest.skip("hard variants refuse weights")
    X, targets = stream(n_classes)
    weights = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.5)
    ours, literal = parameters_of(options, n_classes)
    model = tt.make(name, **ours).fit(X, labels_of(targets, n_classes), sample_weight=weights)
    expected = oracle.run(oracle.twin(name, X.shape[1] + 1, n_classes, **literal), X, targets, weights)
    np.testing.assert_allclose(np.atleast_2d(model.coef_), expected.coef, **TOLERANCE)
    np.testing.assert_allclose(model.intercept_, expected.intercept, **TOLERANCE)


@pytest.mark.parametrize("average", [False, True], ids=["last", "average"])
@pytest.mark.parametrize(("name", "options", "n_classes"), TASKS)
def test_scores_before_each_row(name: str, options: dict[str, Any], n_classes: int, average: bool) -> None:
    """Row by row, the score of each example before it is learned equals the twin's."""
    X, targets = stream(n_classes, n=60)
    y = labels_of(targets, n_classes)
    ours, literal = parameters_of(options, n_classes)
    model = tt.make(name, average=average, **ours)
    if n_classes:
        model.set_params(classes=LABELS[:n_classes].tolist())
    twin = oracle.twin(name, X.shape[1] + 1, n_classes, **literal)
    expected = oracle.run(twin, X, targets, average=average).scores
    model.learn_one(X[0], y[0])
    for row, label, scores in zip(X[1:], y[1:], expected[1:], strict=True):
        np.testing.assert_allclose(model.decision_function([row])[0], np.squeeze(scores), **TOLERANCE)
        model.learn_one(row, label)


@pytest.mark.parametrize(("name", "options"), [case for case in CASES if is_hard(*case)])
@pytest.mark.parametrize("method", ["fit", "partial_fit", "learn_one"])
def test_hard_variants_refuse_weights(name: str, options: dict[str, Any], method: str) -> None:
    """Where no C stands for weights to scale, weights are an error."""
    X, targets = stream(0 if is_regressor(name) else 2)
    y = labels_of(targets, 0 if is_regressor(name) else 2)
    example = (X[1], y[1], 2.0) if method == "learn_one" else (X, y, np.full(len(X), 2.0))
    with pytest.raises(ValueError, match="weight"):
        getattr(tt.make(name, **options), method)(*example[:2], sample_weight=example[2])
    if not is_regressor(name):
        for class_weight in ({"ant": 2.0}, "balanced"):
            with pytest.raises(ValueError, match="class_weight"):
                getattr(tt.make(name, class_weight=class_weight, **options), method)(*example[:2])


@st.composite
def any_options(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Parameters of a learner, drawn over their whole useful range."""
    allowed = tt.learners()[name].learner.__dataclass_fields__
    window = draw(st.integers(1, 6))
    window_weights = st.lists(st.floats(0.1, 10), min_size=window, max_size=window)
    choices = {
        "C": st.floats(-3, 2).map(lambda z: 10**z),
        "tau_plus": st.floats(0, 5),
        "tau_minus": st.floats(-3, 3),
        "eta": st.floats(0.01, 3),
        "epsilon": st.floats(0, 1),
        "gamma": st.floats(-3, 1).map(lambda z: 10**z),
        "anchor_scale": st.floats(-1, 1).map(lambda z: 10**z),
        "rho": st.just(RHO) if name == "cpa" else st.one_of(st.floats(0.2, 20), st.just("balanced")),
    }
    if name.startswith("pameanw"):
        choices |= {"window": st.just(window), "window_weights": window_weights}
    return {key: draw(values) for key, values in choices.items() if key in allowed}


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.data())
def test_any_stream(data: st.DataObject) -> None:
    """Any learner with any parameters equals its twin on streams of any shape."""
    name = data.draw(st.sampled_from(list(tt.learners())))
    n_classes = 0 if is_regressor(name) else data.draw(st.integers(2, 5))
    n, d, seed = data.draw(st.tuples(st.integers(30, 70), st.integers(1, 9), st.integers(0, 10**6)))
    X, targets = stream(n_classes, n, d, seed)
    targets[:n_classes] = np.arange(n_classes)
    compare(
        name,
        data.draw(any_options(name)),
        n_classes,
        data.draw(st.sampled_from(MODES)),
        data.draw(st.booleans()),
        data.draw(st.booleans()),
        data=(X, targets),
    )


@settings(deadline=None, max_examples=150, derandomize=True)
@given(
    st.sampled_from(
        [
            ("perceptron", {}),
            ("paum", {"tau_plus": 2.0, "tau_minus": -1.0, "eta": 0.5}),
            ("cpa", {"C": 2.0**-6, "rho": [1.0, 4.0, 9.0, 16.0]}),
        ]
    ),
    st.integers(2, 4),
    st.booleans(),
    arrays(np.int64, st.tuples(st.integers(8, 40), st.just(4)), elements=st.integers(-2, 2)),
)
def test_ties(case: tuple[str, dict[str, Any]], n_classes: int, fit_intercept: bool, table: np.ndarray) -> None:
    """Where all arithmetic is exact, scores of 0, equal scores and margins just reached are decided as in the twin.

    CPA's rows are shorter than 1/C = 64 > ‖x‖²/ℓ, so that its steps are C, or weigh 2·13/1 < 64 between two classes.
    """
    X, targets = table[:, 1:].astype(float), table[:, 0] % n_classes
    targets[:n_classes] = np.arange(n_classes)
    exact = {"rtol": 0.0, "atol": 0.0}
    compare(case[0], case[1], n_classes, "fit", fit_intercept, data=(X, targets), tolerance=exact)


@pytest.mark.parametrize(("name", "options", "n_classes"), TASKS)
def test_zero_rows_move_nothing(name: str, options: dict[str, Any], n_classes: int) -> None:
    """Without the constant feature, a row of zeros leaves the weights bit for bit as they were."""
    X, targets = stream(n_classes)
    y = labels_of(targets, n_classes)
    ours, _ = parameters_of(options, n_classes)
    model = tt.make(name, fit_intercept=False, **ours).fit(X, y)
    before, moves = model.coef_.copy(), model.n_updates_
    model.partial_fit(np.zeros((9, X.shape[1])), y[:9])
    np.testing.assert_array_equal(model.coef_, before)
    assert (model.n_updates_, model.t_) == (moves, len(X) + 9)


def check_optimal(
    w: np.ndarray, start: np.ndarray, z: np.ndarray, margin: float, variant: str, C: float, gamma: float, anchor: Any
) -> None:
    """KKT of: minimise ½‖w − start‖² + γ/2·‖w − anchor‖² + slack subject to ⟨w, z⟩ ≥ margin − ξ; α is its multiplier."""
    pull = (w - start) + gamma * (w - anchor)
    alpha = (pull @ z) / (z @ z)
    xi = margin - w @ z
    near = {"rtol": 1e-7, "atol": 1e-7 * (1 + abs(margin) + np.abs(start).max())}
    np.testing.assert_allclose(pull, alpha * z, **near)
    if variant == "II":
        np.testing.assert_allclose(alpha, 2 * C * max(0.0, xi), **near)
        return
    cap = C if variant == "I" else np.inf
    np.testing.assert_allclose(alpha, np.clip(alpha, 0, cap), **near)
    if alpha > near["atol"]:
        assert xi > -near["atol"]
    if alpha < cap - near["atol"]:
        assert xi < near["atol"]


@pytest.mark.parametrize("variant", ["hard", "I", "II"])
@pytest.mark.parametrize("C", [0.02, 0.5])
@pytest.mark.parametrize("window", [0, 3])
def test_twin_of_means_is_optimal(variant: str, C: float, window: int) -> None:
    """Each step of the PAm twins solves the paper's problem, from the means and the queue recomputed from scratch."""
    X, targets = stream(2)
    signs = 2 * targets - 1
    kind = oracle.WindowedClassMeanPA if window else oracle.ClassMeanPA
    weights = {"window": window, "window_weights": [1.0, 2.0, 4.0]} if window else {}
    twin = kind(6, variant, C=C, gamma=0.3, anchor_scale=0.5, **weights)
    past, moves = [], 0
    for t, (x, y) in enumerate(zip(X, signs, strict=True)):
        before = twin.w
        twin.learn(x, y, 1.0)
        if y * (before @ x) >= 1 or not x.any():
            assert twin.w is before
            continue
        past.append(before)
        last = past[-window:] if window else past[-1:]
        start = np.average(last, axis=0, weights=[1.0, 2.0, 4.0][3 - len(last) :])
        seen = X[: t + 1], signs[: t + 1]
        means = [seen[0][seen[1] == side].mean(axis=0) if side in seen[1] else 0 for side in (1, -1)]
        check_optimal(twin.w, start, y * x, 1.0, variant, C, 0.3, 0.5 * (means[0] - means[1]))
        moves += 1
    assert moves > 30


@pytest.mark.parametrize("variant", ["hard", "I", "II"])
@pytest.mark.parametrize("kind", ["binary", "cost", "regression", "coupled", "cpa", "coupled cpa"])
def test_twin_of_pa_is_optimal(kind: str, variant: str) -> None:
    """Each step of the PA twins solves the paper's problem; the coupled ones over all classes' weights at once."""
    n_classes = {"regression": 0, "coupled": 3, "coupled cpa": 3}.get(kind, 2)
    X, targets = stream(n_classes)
    C, epsilon, rho = 0.1, 0.3, 3.0
    twin: Any = {
        "binary": lambda: oracle.PA(6, variant, C),
        "cost": lambda: oracle.CSPA(6, variant, C, rho),
        "regression": lambda: oracle.PARegression(6, variant, C, epsilon),
        "coupled": lambda: oracle.CoupledPA(6, 3, variant, C),
        "cpa": lambda: oracle.CPA(6, C, [1.0, rho]),
        "coupled cpa": lambda: oracle.CoupledCPA(6, 3, C, [1.0, rho, 2.0]),
    }[kind]()
    if "cpa" in kind and variant != "I":
        pytest.skip("CPA has the capped step only")
    moves = 0
    for x, target in zip(X, targets, strict=True):
        before = twin.W.copy()
        scores = before @ x
        y = int(target) if n_classes > 2 else 2 * int(target) - 1
        if kind == "regression":
            y = 1 if target > scores[0] else -1
        twin.learn(x, target if kind == "regression" else y, 1.0)
        if np.array_equal(before, twin.W):
            continue
        z = np.zeros_like(before)
        if n_classes > 2:
            rival = max((k for k in range(3) if k != y), key=lambda k, scores=scores: scores[k])
            z[y], z[rival] = x, -x
            margin = np.sqrt([1.0, rho, 2.0][y]) if kind == "coupled cpa" else 1.0
        else:
            z[0] = y * x
            plus = {"cost": rho, "cpa": np.sqrt(rho)}.get(kind, 1.0)
            margin = y * target - epsilon if kind == "regression" else (plus if y > 0 else 1.0)
        check_optimal(twin.W.ravel(), before.ravel(), z.ravel(), margin, variant, C, 0.0, 0.0)
        moves += 1
    assert moves > 20
