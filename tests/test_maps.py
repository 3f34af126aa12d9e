"""Feature maps against the kernels they stand for, and what learns behind them against literal twins."""

import copy
import pickle
from typing import Any

import numpy as np
import oracle_maps
import pytest
import scipy.sparse as sp
from conftest import SUPERVISED, load_svmlight
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_promises import too_far

import tauten as tt
from tauten import checks
from tauten.kernels.mappings import Waves
from tauten.kernels.state import Dense
from tauten.learners.pa import VARIANTS

LABELS = np.array(["ant", "bee", "cat"])
CLASSIFIERS = [name for name in SUPERVISED if tt.learners()[name].kind == "classifier"]
MAPS = {
    "fourier": tt.FourierMap(gamma=0.2, n_components=31, random_state=5),
    "nystrom": tt.NystromMap(n_landmarks=12, gamma=0.2),
    "layer": tt.LayerMap(n_hidden=9, activation="tanh", random_state=5),
}
PROMISED: dict[str, Any] = {
    "fogd": tt.make("fogd"),
    "nogd": tt.make("nogd"),
    "nogd, turned": tt.make("nogd", n_landmarks=20, rank=8),
    "oselm": tt.make("oselm", n_hidden=12),
    "pa1 on waves": tt.MappedClassifier(tt.make("pa1"), tt.FourierMap(n_components=101)),
    "pam2 on landmarks": tt.MappedClassifier(tt.make("pam2"), tt.NystromMap(n_landmarks=15)),
    "cspa on a layer": tt.MappedClassifier(tt.make("cspa", rho=3.0), tt.LayerMap(activation="relu")),
    "pa2 on landmarks, averaged": tt.MappedClassifier(
        tt.make("pa2", average=True), tt.NystromMap(n_landmarks=30)
    ),
    "pa1-reg on waves": tt.MappedRegressor(tt.make("pa1-reg"), tt.FourierMap()),
}


def rows(n_classes: int = 2, n: int = 150, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows in rings around the middle, some of the labels at random, one row of zeros, one row twice."""
    random = np.random.default_rng([seed, n_classes])
    X = random.normal(size=(n, d))
    codes = np.digitize((X**2).sum(axis=1), [2.5, 5.0][: n_classes - 1])
    codes = np.where(random.random(n) < 0.1, random.integers(n_classes, size=n), codes)
    X[n // 2], X[7] = 0.0, X[3]
    codes[:n_classes] = range(n_classes)
    return X, codes


def mapped(name: str, kind: str, **parameters: Any) -> Any:
    """A learner of the registry behind one of MAPS."""
    learner = tt.make(name, **parameters)
    wrapper = tt.MappedRegressor if tt.learners()[name].kind == "regressor" else tt.MappedClassifier
    return wrapper(learner, MAPS[kind])


# ---- the maps


@pytest.mark.parametrize("gamma", [0.02, 0.3, 2.0])
def test_waves_approximate_the_kernel(gamma: float) -> None:
    """z·z' is k(x, x') within five standard errors √(1/D), ‖z‖ = 1; four times the waves halve the error."""
    X, _ = rows(n=60)
    exact = oracle_maps.gram(oracle_maps.rbf(gamma), X, X)
    means = []
    for n in (500, 2000, 8000):
        errors = []
        for seed in range(5):
            model = tt.FourierOGDClassifier(gamma=gamma, n_components=n, random_state=seed).fit(
                X, X[:, 0] > 0
            )
            Z = model.mapped(X)
            np.testing.assert_allclose((Z**2).sum(axis=1), 1.0, rtol=1e-12)
            errors.append(np.abs(Z @ Z.T - exact))
            assert errors[-1].max() <= 5 / np.sqrt(n)
        means.append(np.mean(errors))
    assert means[2] < 0.7 * means[1] < 0.49 * means[0]


@pytest.mark.parametrize("n_components", [1, 2, 7, 40])
def test_waves_equal_the_twin(n_components: int) -> None:
    """Frequencies are those of the generator as it is defined, a number a (seed, feature, wave)."""
    X, _ = rows(n=20, d=5)
    model = tt.FourierOGDClassifier(gamma=0.7, n_components=n_components, random_state=2**32 - 1)
    Z = model.fit(X, X[:, 0] > 0).mapped(X)
    np.testing.assert_allclose(Z, oracle_maps.waves(X, n_components, 0.7, 2**32 - 1), rtol=0, atol=1e-13)


def test_cosines_are_right_at_every_phase() -> None:
    """Cosine and sine are within 2 ulp of numpy's up to phases of 1e5, and to rounding up to 1e15; beyond, z
    is 0.
    """
    waves = Waves(1, 2, 0, 0.5)
    omega = waves.matrix()[0, 0]
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, 20000) * 10.0 ** random.uniform(-9, 15, 20000) / abs(omega)
    phases = x * omega
    done, Z = waves.write(Dense(x[:, None]))
    assert done == len(x)
    exact = np.column_stack([np.cos(phases), np.sin(phases)])
    assert np.abs(Z - exact).max() < 5e-16
    for far in (1e17, 1e200, 1.7e308):
        assert not waves.write(Dense(np.array([[far], [-far]])))[1].any()


@pytest.mark.parametrize("activation", ["sigmoid", "tanh", "relu"])
def test_layers_equal_the_twin(activation: str) -> None:
    """Neurons are g(a·x + b) with the weights of the generator as it is defined."""
    X, _ = rows(n=20, d=5)
    model = tt.OSELMClassifier(n_hidden=35, activation=activation, random_state=9).fit(X, X[:, 0] > 0)
    np.testing.assert_allclose(model.mapped(X), oracle_maps.layer(X, 35, activation, 9), atol=1e-13)


@pytest.mark.parametrize(
    ("options", "kernel"),
    [
        ({"gamma": 0.3}, oracle_maps.rbf(0.3)),
        (
            {"kernel": "polynomial", "degree": 2, "coef0": 0.5, "gamma": 0.3},
            oracle_maps.polynomial(0.3, 2, 0.5),
        ),
        ({"kernel": "linear"}, oracle_maps.polynomial(1.0, 1, 0.0)),
    ],
    ids=str,
)
def test_landmarks_span_the_kernel(options: dict[str, Any], kernel: Any) -> None:
    """z·z' is k(x)ᵀK⁺k(x'), and so k itself on landmarks, before they are complete and after."""
    X, codes = rows()
    for n_rows in (9, 150):
        model = tt.MappedClassifier(tt.make("pa"), tt.NystromMap(n_landmarks=14, **options))
        model.partial_fit(X[:n_rows], codes[:n_rows], classes=[0, 1])
        landmarks = model.state_.mapping.landmarks()
        assert len(landmarks) <= 14 and all(any((x == row).all() for row in X) for x in landmarks)
        K, columns = oracle_maps.gram(kernel, landmarks, landmarks), oracle_maps.gram(kernel, X, landmarks)
        Z = model.mapped(X)
        np.testing.assert_allclose(Z @ Z.T, columns @ np.linalg.pinv(K) @ columns.T, rtol=1e-8, atol=1e-8)
        Z = model.mapped(landmarks)
        np.testing.assert_allclose(Z @ Z.T, K, rtol=1e-9, atol=1e-9)
    if options.get("kernel") == "linear":
        assert len(landmarks) == 4  # no row is outside what four have spanned


def test_landmarks_are_rows_that_moved() -> None:
    """A row that moves nothing, or that was there before, is no landmark, and the map stays as it was."""
    model = tt.NystromOGDClassifier(n_landmarks=5, gamma=1.0, eta=2.0, fit_intercept=False, classes=[0, 1])
    row, far = np.array([1.0, 0.0]), np.array([9.0, 9.0])
    model.learn_one(row, 1).learn_one(row, 1).learn_one(row, 0)  # moves, is right by far, moves again
    assert model.n_updates_ == 2 and len(model.state_.mapping.landmarks()) == 1
    model.learn_one(row, 0).learn_one(far, 0).learn_one(far, 0)
    assert model.state_.mapping.landmarks().tolist() == [[1.0, 0.0], [9.0, 9.0]]


# ---- what learns behind them


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("name", SUPERVISED)
def test_any_learner_learns_the_mapped_rows(name: str, kind: str) -> None:
    """Behind a map that stays as it is, a learner ends bit for bit as it does on the mapped rows alone."""
    X, codes = rows(3)
    y = X[:, 0] ** 2 if tt.learners()[name].kind == "regressor" else LABELS[codes]
    model = mapped(name, kind)
    if kind == "nystrom":  # all landmarks are there before the rows that count
        model.partial_fit(X[::-1], y[::-1])
        if not model.state_.mapping.settled:
            pytest.skip("moves too seldom to fill the landmarks")
        first = copy.deepcopy(model.learner_)
        model.partial_fit(X, y)
        alone = first.partial_fit(model.mapped(X), y)
    else:
        model.fit(X, y)
        alone = clone(model.learner).fit(model.mapped(X), y)
    assert np.array_equal(model.learner_.coef_, alone.coef_)
    assert np.array_equal(model.learner_.intercept_, alone.intercept_)
    assert (model.t_, model.n_updates_) == (alone.t_, alone.n_updates_)
    np.testing.assert_allclose(
        model.decision_function(X), alone.decision_function(model.mapped(X)), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("fit_intercept", [False, True], ids=["plain", "bias"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("budget", [25, 1000], ids=["budget", "all rows"])
@pytest.mark.parametrize("rank", [None, 6])
def test_nogd_equals_its_twin(rank: int | None, budget: int, n_classes: int, fit_intercept: bool) -> None:
    """Scores and moves are those of the kernel stage, and of the paper's Nyström features from B on."""
    X, codes = rows(n_classes)
    X[7] += 0.3  # no row is there twice: the paper's K would have no inverse
    model = tt.NystromOGDClassifier(
        eta=0.3, gamma=0.4, n_landmarks=budget, rank=rank, fit_intercept=fit_intercept
    )
    trace = tt.progressive(model, X, LABELS[codes])
    twin = oracle_maps.NOGD(oracle_maps.rbf(0.4), n_classes, 0.3, fit_intercept, budget, rank)
    scores, moved = oracle_maps.run(twin, X, codes)
    assert trace.updates.tolist() == moved.tolist()
    np.testing.assert_allclose(trace.scores.reshape(scores.shape), scores, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["pa1", "ogd"])
def test_before_the_landmarks_are_full_a_learner_is_the_kernel_machine(rule: str, n_classes: int) -> None:
    """With room for all rows, PA-I and gradient descent on Nyström features are those with the kernel."""
    X, codes = rows(n_classes)
    rate = {"C": 0.3} if rule == "pa1" else {"eta": 0.3, "power": 0.0}
    model = tt.MappedClassifier(tt.make(rule, **rate), tt.NystromMap(n_landmarks=150, gamma=0.4))
    trace = tt.progressive(model, X, LABELS[codes])
    twin = oracle_maps.KernelMachine(oracle_maps.rbf(0.4), n_classes, rule, 0.3, True)
    scores, moved = oracle_maps.run(twin, X, codes)
    assert trace.updates.tolist() == moved.tolist()
    np.testing.assert_allclose(trace.scores.reshape(scores.shape), scores, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fogd_equals_its_twin(n_classes: int) -> None:
    """Weights are those of gradient descent on the twin's waves, the rate falling or not."""
    import oracle

    X, codes = rows(n_classes)
    Z = oracle_maps.waves(X, 30, 0.4, 3)
    for power in (0.0, 0.5):
        model = tt.FourierOGDClassifier(eta=0.7, power=power, gamma=0.4, n_components=30, random_state=3)
        model.fit(X, LABELS[codes])
        twin = oracle.run(oracle.twin("ogd", 31, n_classes, eta=0.7, power=power), Z, codes)
        np.testing.assert_allclose(model.learner_.coef_, twin.coef, atol=1e-10)
        np.testing.assert_allclose(model.learner_.intercept_, twin.intercept, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [0.1, 1000.0])
def test_oselm_is_batch_ridge(C: float, n_classes: int, weighted: bool) -> None:
    """At any time the output weights are those of the ridge regression of all rows on the hidden features."""
    X, codes = rows(n_classes)
    weights = np.random.default_rng(1).exponential(size=len(X)) if weighted else np.ones(len(X))
    model = tt.OSELMClassifier(C=C, n_hidden=15, classes=LABELS[:n_classes].tolist(), random_state=4)
    H = np.column_stack([oracle_maps.layer(X, 15, "sigmoid", 4), np.ones(len(X))])
    T = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
    for part in (slice(0, 40), slice(40, 150)):
        model.partial_fit(X[part], LABELS[codes[part]], sample_weight=weights[part] if weighted else None)
        so_far = slice(0, part.stop)
        beta = oracle_maps.ridge(H[so_far], T[so_far], weights[so_far], C).T[-model.state_.n_columns :]
        found = np.column_stack([model.learner_.coef_, model.learner_.intercept_])
        np.testing.assert_allclose(found, beta, rtol=1e-6, atol=1e-8 * np.abs(beta).max())
    P = model.learner_.covariance_
    np.testing.assert_array_equal(P, P.T)


def test_turning_keeps_what_was_learned() -> None:
    """With as many directions as landmarks turning changes no score; with fewer f is the nearest one."""
    X, codes = rows()
    plain, turned, fewer = (
        tt.MappedClassifier(tt.make("pa1", C=0.2), tt.NystromMap(20, gamma=0.2, rank=rank))
        for rank in (None, 20, 5)
    )
    models = [model.partial_fit(X[:20], codes[:20], classes=[0, 1]) for model in (plain, turned, fewer)]
    rest = iter(range(20, 150))
    while not models[0].state_.mapping.settled:
        i = next(rest)
        for model in models:
            model.learn_one(X[i], codes[i])
    np.testing.assert_allclose(turned.decision_function(X), plain.decision_function(X), atol=1e-8)
    landmarks = plain.state_.mapping.landmarks()
    values, vectors = np.linalg.eigh(oracle_maps.gram(oracle_maps.rbf(0.2), landmarks, landmarks))
    best = vectors[:, -5:]  # projecting on the best directions keeps f at the landmarks but for the rest of K
    bias = plain.learner_.intercept_
    f = plain.decision_function(landmarks) - bias
    np.testing.assert_allclose(fewer.decision_function(landmarks) - bias, best @ best.T @ f, atol=1e-8)
    assert fewer.learner_.coef_.shape == (1, 5) and values[0] > 0


def test_only_vectors_can_be_turned() -> None:
    """A rank is refused for learners with a covariance or a window, and above the number of landmarks."""
    X, codes = rows()
    for name in ("pam1", "pam-diag", "pameanw1"):
        model = tt.MappedClassifier(tt.make(name), tt.NystromMap(rank=5))
        with pytest.raises(ValueError, match="expected rank=None"):
            model.fit(X, codes)
    with pytest.raises(ValueError, match="rank is 9; expected at most n_landmarks, 5"):
        tt.make("nogd", n_landmarks=5, rank=9).fit(X, codes)


@pytest.mark.parametrize(
    ("data", "model", "published", "sd"),
    [
        ("a9a", tt.make("nogd", gamma=0.03, eta=0.1, rank=20), 17.4, 0.2),
        ("w7a", tt.make("nogd", gamma=0.3, eta=1.0, rank=20), 2.98, 0.07),
        ("w7a", tt.make("fogd", gamma=0.1, eta=1.0), 2.75, 0.04),
    ],
    ids=["nogd a9a", "nogd w7a", "fogd w7a"],
)
def test_published_figures(data: str, model: Any, published: float, sd: float) -> None:
    """Mistakes in one pass are those published, within 2 sd of ours or theirs (Max-Out paper, table 2)."""
    parts = load_svmlight(data, {"a9a": 123, "w7a": 300}[data], constant=False)
    X, y = parts[0]
    if data == "a9a":
        X, y = sp.vstack([X, parts[1][0]]).tocsr(), np.concatenate([y, parts[1][1]])
    orders = (np.random.default_rng(seed).permutation(len(y)) for seed in range(5))
    errors = [100 * tt.progressive(clone(model), X[order], y[order]).error_rate for order in orders]
    assert abs(np.mean(errors) - published) <= 2 * sd


# ---- the surface

QUICK = [promise for promise in checks.PROMISES if promise is not checks.without_jit]


@pytest.mark.parametrize("promise", QUICK, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("name", PROMISED)
def test_promise(name: str, promise: Any) -> None:
    """Learners behind maps keep each promise."""
    promise(PROMISED[name])


@pytest.mark.parametrize("kind", MAPS)
def test_a_check_can_fail(monkeypatch: Any, kind: str) -> None:
    """Behind a map too, a step that goes a hundredth too far is caught."""
    monkeypatch.setitem(VARIANTS, "I", VARIANTS["I"]._replace(step=too_far))
    with pytest.raises(AssertionError, match="optimality"):
        checks.optimality(mapped("pa1", kind))


def test_same_without_jit() -> None:
    """Compiled code and plain Python come to the same."""
    checks.same_without_jit(list(PROMISED.values()))


@pytest.mark.parametrize("kind", MAPS)
def test_features_met_later_change_nothing(kind: str) -> None:
    """New names in dicts leave what was learned: the model is that of all columns known from the start."""
    X, codes = rows(3, d=6)
    X[np.arange(150)[:, None] < 20 * np.arange(6)] = 0.0
    dicts = [{f"f{j}": row[j] for j in np.flatnonzero(row)} or {"f0": 0.0} for row in X]
    late, early = mapped("pa1", kind), mapped("pa1", kind)
    for row, label in zip(dicts, LABELS[codes], strict=True):
        late.learn_one(row, label)
    early.partial_fit(X, LABELS[codes])
    assert late.feature_names_in_.tolist() == [f"f{j}" for j in range(6)]
    np.testing.assert_allclose(
        late.decision_function(dicts), early.decision_function(X), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("classes", [None, ["ant", "bee", "cat"]], ids=["as they come", "beforehand"])
@pytest.mark.parametrize("kind", MAPS)
def test_a_bad_row_leaves_the_map_alone(kind: str, classes: Any) -> None:
    """Rows that are good before one that is not, and labels that are new, leave no landmark behind."""
    X, codes = rows(3)
    model = mapped("pa1", kind).partial_fit(X[:5], LABELS[codes[:5] % 2])
    before, scores = pickle.dumps(model), model.decision_function(X)
    X[60, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X, LABELS[codes], classes=classes)
    assert pickle.dumps(model) == before
    assert np.array_equal(model.decision_function(np.nan_to_num(X)[:50]), scores[:50])


@pytest.mark.parametrize("kind", MAPS)
def test_rows_without_a_name(kind: str) -> None:
    """A stream may begin with empty dicts: the bias learns from them, and the map waits for names."""
    model = mapped("pa1", kind, classes=["a", "b"])
    model.learn_one({}, "b").learn_one({"x": 1.0}, "a").partial_fit([{}, {"y": 2.0}], ["b", "a"])
    assert model.feature_names_in_.tolist() == ["x", "y"] and model.t_ == 4
    assert model.predict_one({"x": 1.0, "unknown": 3.0}) == model.predict_one({"x": 1.0})


@pytest.mark.parametrize("kind", MAPS)
def test_files_hold_learner_and_map(kind: str, tmp_path: Any) -> None:
    """tt.load gives back either wrapper, asked for labels or not, and it goes on as if never stopped."""
    X, codes = rows(3)
    y = LABELS[codes]
    blank = mapped("pa1", kind).partial_fit(X[:5], ["ant"] * 5)  # nothing has moved, no landmark is there
    blank.save(tmp_path / "model.tt")
    assert tt.load(tmp_path / "model.tt").t_ == 5
    asked = tt.ActiveClassifier(mapped("pa1", kind), tt.MarginAsk(delta=0.3), random_state=0)
    for model, targets in ((mapped("pam1", kind), y), (mapped("pa1-reg", kind), X[:, 0]), (asked, y)):
        model.partial_fit(X[:8], targets[:8])
        model.save(tmp_path / "model.tt")
        resumed = tt.load(tmp_path / "model.tt")
        assert type(resumed) is type(model)
        for each in (model, resumed):
            each.partial_fit(X[8:], targets[8:])
        assert np.array_equal(resumed.decision_function(X), model.decision_function(X))


def test_damaged_landmarks_are_refused(tmp_path: Any) -> None:
    """A file whose landmarks are not finite, or do not fit the basis or the weights, is no model."""
    from tauten.io import model_file

    X, codes = rows()
    model = mapped("pa1", "nystrom").fit(X, codes)
    header, arrays = model.parts()
    path = tmp_path / "model.tt"
    for name, change in {
        "landmarks": lambda a: a * np.nan,
        "basis": lambda a: a[:, 1:],
        "lengths": lambda a: a[1:],
        "table": lambda a: a[:-1],
    }.items():
        model_file.write(path, header, {**arrays, name: change(arrays[name])})
        with pytest.raises(tt.ModelFileError):
            tt.load(path)
    for part, kind in (("learner", "NystromMap"), ("map", "PAClassifier")):
        broken = copy.deepcopy(header)
        broken["parameters"][part]["class"] = kind
        model_file.write(path, broken, arrays)
        with pytest.raises(tt.ModelFileError):
            tt.load(path)


def test_shards_with_one_map_are_merged() -> None:
    """Models of one drawn map merge as their learners do; others are refused, and say why."""
    X, codes = rows(3)
    y = LABELS[codes]
    shards = [mapped("pam1", "fourier").partial_fit(X[part::2], y[part::2]) for part in (0, 1)]
    merged = tt.merge(shards)
    alone = tt.merge([shard.learner_ for shard in shards])
    assert np.array_equal(merged.learner_.coef_, alone.coef_) and merged.t_ == 150
    np.testing.assert_allclose(merged.learner_.covariance_, alone.covariance_)

    seeds = [tt.make("fogd", random_state=seed).fit(X, y) for seed in (1, 2)]
    with pytest.raises(ValueError, match="Model 1 has another"):
        tt.merge(seeds)
    names = [tt.make("fogd").fit([{a: 1.0, b: 2.0}, {a: 0.0, b: 1.0}], [0, 1]) for a, b in ("xy", "yx")]
    with pytest.raises(ValueError, match="another order"):
        tt.merge(names)
    own = [mapped("pa1", "nystrom").partial_fit(X[part::2], y[part::2]) for part in (0, 1)]
    with pytest.raises(ValueError, match="landmarks of their own"):
        tt.merge(own)
    branches = [copy.deepcopy(own[0]).partial_fit(X[part::2], y[part::2]) for part in (0, 1)]
    assert tt.merge(branches).t_ == own[0].t_ * 2 + 150


def test_parameters_of_parts() -> None:
    """The learner's parameters hold from the next row on, a changed map is refused, parts stay as given."""
    X, codes = rows()
    model = mapped("pa1", "fourier", C=1.0)
    given = model.learner
    model.partial_fit(X[:50], codes[:50]).set_params(learner__C=0.01).partial_fit(X[50:], codes[50:])
    first = tt.make("pa1", C=1.0)
    Z = model.mapped(X)
    first.partial_fit(Z[:50], codes[:50]).set_params(C=0.01).partial_fit(Z[50:], codes[50:])
    assert np.array_equal(model.learner_.coef_, first.coef_)
    assert model.learner is given and not given.__sklearn_is_fitted__()
    for change in ({"map__gamma": 0.5}, {"map__n_components": 8}, {"learner__average": True}):
        other = pickle.loads(pickle.dumps(model)).set_params(**change)
        with pytest.raises(ValueError, match="was changed after learning began"):
            other.learn_one(X[0], codes[0])
    MAPS["fourier"].set_params(gamma=0.2)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: tt.MappedClassifier(tt.make("pa1-reg"), tt.FourierMap()), "expected a classifier of tauten"),
        (lambda: tt.MappedRegressor(tt.make("pa1"), tt.FourierMap()), "expected a regressor of tauten"),
        (lambda: tt.MappedClassifier(tt.make("pa1"), None), "expected a feature map"),
        (lambda: tt.MappedClassifier(tt.make("fogd"), tt.FourierMap()), "has a map; expected"),
        (lambda: tt.MappedClassifier(tt.make("pa1", C=-1), tt.FourierMap()), "C is -1"),
        (lambda: tt.MappedClassifier(tt.make("pa1"), tt.FourierMap(gamma=0)), "gamma is 0"),
        (lambda: tt.MappedClassifier(tt.make("pa1"), tt.FourierMap(n_components=0)), "n_components is 0"),
        (
            lambda: tt.MappedClassifier(tt.make("pa1"), tt.FourierMap(random_state=-1)),
            "random_state is -1",
        ),
        (lambda: tt.MappedClassifier(tt.make("pa1"), tt.NystromMap(kernel="cosine")), "kernel is 'cosine'"),
        (lambda: tt.MappedClassifier(tt.make("pa1"), tt.LayerMap(activation="step")), "activation is 'step'"),
        (lambda: tt.make("fogd", random_state=np.random.RandomState(0)), "random_state is RandomState"),
        (lambda: tt.make("nogd", rank=0), "rank is 0"),
        (lambda: tt.make("oselm", C=0), "C is 0"),
    ],
)
def test_bad_parameters_are_named(model: Any, message: str) -> None:
    """What is not allowed of the wrapper, the learner or the map is named when learning begins."""
    X, codes = rows()
    y = X[:, 0] if message.startswith("expected a reg") else codes
    with pytest.raises(ValueError, match=message):
        model().fit(X, y)


def test_evaluating_asking_and_pipelines() -> None:
    """Sweeps over parameters of both parts, comparisons, all asking rules and pipelines take a map."""
    X, codes = rows(n=400)
    model = tt.MappedClassifier(tt.make("pa1"), tt.FourierMap(n_components=50))
    grid = {"learner__C": [0.1, 1.0], "map__gamma": [0.01, 0.3]}
    sweep = tt.sweep(model, grid, X, codes)
    assert sweep.to_frame().shape == (4, 4) and sweep.best_params["map__gamma"] == 0.3
    for point, swept, error in zip(sweep.grid, sweep.learners, sweep.errors, strict=True):
        single = clone(model).set_params(**point)
        assert tt.progressive(single, X, codes).error_rate == error
        np.testing.assert_allclose(single.learner_.coef_, swept.learner_.coef_, rtol=1e-12, atol=1e-12)
    model.set_params(**sweep.best_params)
    table = tt.compare(
        {"waves": clone(model), "fogd": "fogd", "plain": "pa1"}, X, codes, repeats=2
    ).to_frame()
    assert table.index[-1] == "plain"
    for ask, learner in (
        (tt.MarginAsk(0.2), "pa1"),
        (tt.SecondOrderAsk(), "sop"),
        (tt.VarianceAsk(), "pam1"),
    ):
        active = tt.ActiveClassifier(mapped(learner, "nystrom"), ask, random_state=1)
        loop = tt.ActiveClassifier(mapped(learner, "nystrom"), ask, random_state=1)
        active.partial_fit(X, codes)
        for x, label in zip(X, codes, strict=True):
            if loop.ask_one(x):
                loop.learn_one(x, label)
        assert 0 < active.n_asked_ < 400 and active.n_asked_ == loop.n_asked_ == active.t_
        assert np.array_equal(active.learner_.decision_function(X), loop.learner_.decision_function(X))
    pipeline = make_pipeline(StandardScaler(), mapped("pa1", "fourier")).fit(X, codes)
    scaled = StandardScaler().fit_transform(X)
    assert np.array_equal(pipeline.predict(X), mapped("pa1", "fourier").fit(scaled, codes).predict(scaled))


def test_weights_and_classes_are_the_learners() -> None:
    """What all learners share is given to the learner: classes, class weights, epochs, the bias, hashing."""
    X, codes = rows(3)
    given = {"classes": LABELS.tolist(), "class_weight": "balanced", "epochs": 2, "fit_intercept": False}
    model = mapped("pa1", "fourier", **given).fit(X, LABELS[codes])
    alone = tt.make("pa1", **given).fit(model.mapped(X), LABELS[codes])
    assert np.array_equal(model.learner_.coef_, alone.coef_) and model.t_ == 300
    hashed = mapped("pa1", "fourier", hash_bits=5)
    hashed.learn_one({"a": 1.0}, 0).learn_one({"b": 1.0}, 1)
    assert hashed.n_features_in_ == 32 and hashed.predict_one({"b": 1.0}) == 1
    with pytest.raises(ValueError, match="expected no sample_weight"):
        mapped("pa", "fourier").fit(X, codes, sample_weight=np.ones(150))
