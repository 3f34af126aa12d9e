"""PAMO: against its twin, its start, its limits, what it refuses, and every promise."""

import copy
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_maxout import PAMO, standardised

import tauten as tt
from tauten import checks
from tauten.kernels.maxout_loops import approach_rule
from tauten.kernels.pointers import rule
from tauten.learners import pamo

NAMES = ("pamo1", "pamo2")
LABELS = np.array(["ant", "bee", "cat", "dog"])
SMALL = {"n_units": 5, "n_pieces": 3}
Options = dict[str, Any]
OPTIONS: list[Options] = [
    {},
    {"C": 0.02, "C_r": 3.0, "alpha": 0.4, "epsilon": 0.05},
    {"C": 3.0, "C_r": 0.01, "moved_plane": "nearest", "epsilon": 0.01},
    {"alpha": 0.0, "C": 2.0},
    {"alpha": 1.0},
]
every_name = pytest.mark.parametrize("name", NAMES)
every_count = pytest.mark.parametrize("n_classes", [2, 3, 4])


def stream(n_classes: int = 2, n: int = 120, d: int = 5, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Rows of uneven lengths, some zeros among them, with labels that no plane separates."""
    random = np.random.default_rng([seed, n_classes])
    X = random.standard_normal((n, d)) * (random.random((n, d)) < 0.8) * 10.0 ** random.uniform(-1, 1, (n, 1))
    codes = (np.floor(2 * np.abs(X[:, 0] / (np.abs(X).max(axis=1) + 1e-9))) + (X[:, 1] > 0)).astype(int)
    return X, LABELS[np.where(random.random(n) < 0.1, random.integers(n_classes, size=n), codes % n_classes)]


def started(name: str, X: Any, y: Any, n_classes: int = 2, **options: Any) -> Any:
    """A model that knows its classes and has started, but not moved: its first row weighs nothing."""
    model = tt.make(name, classes=LABELS[:n_classes].tolist(), **{**SMALL, **options})
    return model.partial_fit(X[:1], y[:1], sample_weight=[0.0])


def twin_of(model: Any) -> PAMO:
    """A twin with the parameters of a model and what it has learned."""
    names = ("C", "C_r", "alpha", "variant", "epsilon", "moved_plane")
    return PAMO(model.planes_, model.weights_, **{name: getattr(model, name) for name in names})


def run(twin: PAMO, X: np.ndarray, y: Any, weights: Any = None, fit_intercept: bool = True) -> np.ndarray:
    """The scores of a twin before each row that it learns."""
    scores = []
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        x = np.append(x, np.ones(int(fit_intercept)))  # noqa: PLW2901  the constant feature
        scores.append(twin.scores(x))
        twin.learn(x, LABELS.tolist().index(label), 1.0 if weights is None else weights[i])
    return np.array(scores)


def assert_same(model: Any, twin: PAMO) -> None:
    """Planes and weights of a model are those of its twin; they add the same numbers in another order."""
    np.testing.assert_allclose(model.planes_, twin.planes, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.weights_, twin.weights, rtol=1e-9, atol=1e-10)


def everything(model: Any) -> list[Any]:
    """All that a model has learned."""
    state = model.state_
    counts = state.n_rounds, state.n_moves, model.classes_.tolist(), model.class_count_.tolist()
    return [*counts, *((name, array.tobytes()) for name, array in state.arrays().items())]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@every_count
@every_name
def test_equals_twin(name: str, n_classes: int, options: Options) -> None:
    """Planes, weights and the score before each row are those of algorithm 1, dense and sparse."""
    X, y = stream(n_classes)
    for rows in (X, sp.csr_matrix(X)):
        model = started(name, X, y, n_classes, **options)
        twin = twin_of(model)
        trace = tt.progressive(model, rows[1:], y[1:])
        scores = run(twin, X[1:], y[1:])
        assert_same(model, twin)
        np.testing.assert_allclose(trace.scores.reshape(scores.shape), scores, rtol=1e-9, atol=1e-10)


@every_count
@every_name
def test_equals_twin_with_weights_and_without_bias(name: str, n_classes: int) -> None:
    """Weights of examples and classes multiply C and C_r; a row of weight 0 moves nothing; no constant
    feature.
    """
    X, y = stream(n_classes)
    weights = np.random.default_rng(0).exponential(size=len(X)) * (np.arange(len(X)) % 4 > 0)
    model = started(name, X, y, n_classes, fit_intercept=False)
    twin = twin_of(model)
    model.set_params(class_weight={"ant": 0.3})
    model.partial_fit(X[1:], y[1:], sample_weight=weights[1:])
    run(twin, X[1:], y[1:], weights[1:] * np.where(y[1:] == "ant", 0.3, 1.0), fit_intercept=False)
    assert_same(model, twin)


@every_name
def test_equals_twin_where_rows_are_standardised(name: str) -> None:
    """With `standardize` a row is learned as it is by the mean and deviation of the rows before it."""
    X, y = stream()
    X = X * [1.0, 100.0, 1e-3, 1.0, 1.0] + [0.0, 1e4, 5.0, -3.0, 0.0]
    X[:, 4] = 7.0  # a feature that never varies
    for rows in (X, sp.csr_matrix(X)):
        model = started(name, X, y, standardize=True)
        twin = twin_of(model)
        model.partial_fit(rows[1:], y[1:])
        run(twin, standardised(X)[1:], y[1:])
        np.testing.assert_allclose(
            model.planes_, twin.planes, rtol=1e-6, atol=1e-8
        )  # sums of 1e4² lose digits
        np.testing.assert_allclose(model.weights_, twin.weights, rtol=1e-6, atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_equals_twin_anywhere(data: st.DataObject) -> None:
    """The same at random parameters, shapes and scales."""
    options = {
        "C": data.draw(st.floats(1e-3, 10)),
        "C_r": data.draw(st.floats(1e-3, 10)),
        "alpha": data.draw(st.floats(0, 1)),
        "epsilon": data.draw(st.sampled_from([0.0, 0.1])),
        "moved_plane": data.draw(st.sampled_from(["winner", "nearest"])),
        "n_units": data.draw(st.integers(1, 9)),
        "n_pieces": data.draw(st.integers(1, 4)),
        "random_state": data.draw(st.integers(0, 99)),
    }
    n_classes, name = data.draw(st.integers(2, 4)), data.draw(st.sampled_from(NAMES))
    X, y = stream(n_classes, 30, data.draw(st.integers(2, 4)), data.draw(st.integers(0, 99)))
    X = X * 10.0 ** data.draw(st.integers(-3, 3))
    model = started(name, X, y, n_classes, **options)
    twin = twin_of(model)
    model.partial_fit(X[1:], y[1:])
    run(twin, X[1:], y[1:])
    assert_same(model, twin)


@every_name
def test_where_something_is_zero(name: str) -> None:
    """Without a w step 2 is left out, without a z step 1; a row without a length moves nothing."""
    X, y = stream()
    for nothing in ("weights", "planes", "both"):
        model = started(name, X, y, alpha=1.0)  # so that step 1 does not make a w
        if nothing != "planes":
            model.state_.weights[:] = 0.0
        if nothing != "weights":
            model.state_.planes[:] = 0.0
        twin = twin_of(model)
        model.partial_fit(X[1:], y[1:])
        run(twin, X[1:], y[1:])
        assert_same(model, twin)
    model = started(name, X, y, fit_intercept=False)
    before = everything(model)
    model.learn_one(np.zeros(5), "bee")
    assert everything(model)[4:] == before[4:] and model.n_updates_ == 0 and model.t_ == 2
    assert model.decision_function(np.zeros((1, 5))).tolist() == [0.0]


@every_count
def test_target_is_where_the_margin_is_one(n_classes: int) -> None:
    """With planes free to move, the winning products of a row that had a loss become a z of margin 1."""
    X, y = stream(n_classes)
    model = started("pamo1", X, y, n_classes, C_r=1e9).partial_fit(X[1:60], y[1:60])
    checked = 0
    for x, label in zip(X[60:], y[60:], strict=True):
        direction = np.append(x, 1.0) / np.linalg.norm(np.append(x, 1.0))
        products = model.planes_ @ direction
        moves = model.n_updates_
        model.learn_one(x, label)
        if model.n_updates_ > moves:
            chosen = products.argmax(axis=1)[:, None]
            z = np.take_along_axis(model.planes_ @ direction, chosen, axis=1)[:, 0]
            scores, code = model.weights_ @ z, LABELS.tolist().index(label)
            if n_classes == 2:
                assert (2 * code - 1) * scores[0] == pytest.approx(1.0)
            else:  # against the class that was the best wrong one before the move; others were not asked
                assert (scores[code] - np.delete(scores, code) <= 1.0 + 1e-9).any()
                assert np.isclose(scores[code] - np.delete(scores, code), 1.0).any()
            checked += 1
    assert checked > 20


@every_count
@every_name
def test_alpha_0_is_pa_on_a_random_projection(name: str, n_classes: int) -> None:
    """With α = 0 planes stay, and the weights are those of PA-I on ẑ from the same start."""
    X, y = stream(n_classes)
    model = started(name, X, y, n_classes, alpha=0.0, C=0.3)
    planes = model.planes_
    rows = np.column_stack([X, np.ones(len(X))])
    Z = (rows @ planes.reshape(-1, 6).T).reshape(len(X), 5, 3).max(axis=2)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    pa = tt.PAClassifier(C=0.3, fit_intercept=False, classes=LABELS[:n_classes].tolist())
    pa.partial_fit(np.zeros((1, 5)), y[:1])
    pa.state_.used[1:] = model.weights_.T
    pa.partial_fit(Z[1:], y[1:])
    model.partial_fit(X[1:], y[1:])
    assert np.array_equal(model.planes_, planes)
    np.testing.assert_allclose(model.weights_, pa.coef_, rtol=1e-10, atol=1e-12)


@every_name
def test_alpha_1_learns_planes_only(name: str) -> None:
    """With α = 1 the weights stay as drawn, and XOR is learned all the same."""
    X = np.random.default_rng(0).standard_normal((4000, 2))
    y = X[:, 0] * X[:, 1] > 0
    model = tt.make(name, alpha=1.0, classes=[False, True]).partial_fit(X[:1], y[:1], sample_weight=[0.0])
    weights = model.weights_
    assert model.partial_fit(X, y).score(X, y) > 0.85
    assert np.array_equal(model.weights_, weights)


def test_one_piece_of_one_unit_is_a_plane() -> None:
    """With one unit of one plane ẑ is ±1, by the side of the plane."""
    X, y = stream()
    model = tt.make("pamo1", n_units=1, n_pieces=1).fit(X, y)
    sides = np.sign(model.planes_[0, 0] @ np.column_stack([X, np.ones(len(X))]).T)
    np.testing.assert_allclose(model.decision_function(X), model.weights_[0, 0] * sides)


@every_name
def test_follows_a_drift(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """XOR that turns by 20° every 100 rows is followed, by three units of two planes, where a plane is at a
    loss.
    """
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "examples"))
    from drifting_xor import stream as turning

    X, y = turning(0)
    model = tt.make(name, n_units=3, n_pieces=2, C=0.25, C_r=4.0, alpha=0.8)
    assert tt.progressive(model, X, y).errors[100:].mean() < 0.1
    assert tt.progressive(tt.make("pa1"), X, y).error_rate > 0.35


# ---- the start


def test_start_is_orthonormal_and_drawn_by_the_seed() -> None:
    """Planes of a unit are orthonormal, weights uniform in ±0.1; one seed is one start, None a new one."""
    X, y = stream(d=40)
    models = [
        started("pamo1", X, y, n_units=400, n_pieces=4, random_state=seed) for seed in (1, 1, 2, None, None)
    ]
    planes, weights = models[0].planes_, models[0].weights_[0]
    grams = np.einsum("ijd,ikd->ijk", planes, planes)
    np.testing.assert_allclose(grams, np.broadcast_to(np.eye(4), grams.shape), atol=1e-12)
    assert (
        np.abs(weights).max() <= 0.1 and np.abs(np.sort(weights) - np.linspace(-0.1, 0.1, 400)).max() < 0.015
    )
    starts = [model.planes_.tobytes() for model in models]
    assert starts[0] == starts[1] and len(set(starts)) == 4
    lengths = np.linalg.norm(started("pamo1", X[:, :1], y, n_units=4, n_pieces=7).planes_, axis=2)
    np.testing.assert_allclose(lengths, 1.0)  # seven planes in two dimensions


@every_name
def test_words_that_come_later(name: str) -> None:
    """Of dicts the first one's names start orthonormal, later ones uniform in ±0.1, in a batch as in the
    loop.
    """
    random = np.random.default_rng(1)
    rows = [{f"w{j}": 1.0 for j in random.integers(0, 8 + i, 4)} for i in range(60)]
    y = random.integers(0, 2, 60)
    for options in ({}, {"standardize": True}, {"classes": [0, 1]}):
        batch, loop, parts = (tt.make(name, **SMALL, **options) for _ in range(3))
        batch.partial_fit(rows, y)
        for row, label in zip(rows, y, strict=True):
            loop.learn_one(row, label)
        parts.partial_fit(rows[:7], y[:7]).partial_fit(rows[7:], y[7:])
        assert everything(batch) == everything(loop) == everything(parts)
        assert batch.n_features_in_ > 40
    blank = tt.make(name, n_units=300, classes=[0, 1]).partial_fit(rows, y, sample_weight=np.zeros(60))
    known = len(rows[0])
    first, later = blank.planes_[:, :, [*range(known), -1]], blank.planes_[:, :, known:-1]
    np.testing.assert_allclose(np.linalg.norm(first, axis=2), 1.0)
    assert 0.099 < np.abs(later).max() <= 0.1 and abs(later.std() - 0.1 / np.sqrt(3)) < 1e-3
    assert np.abs(np.corrcoef(later.reshape(600, -1), rowvar=False) - np.eye(later.shape[2])).max() < 0.2


def test_a_row_that_is_refused_leaves_no_word() -> None:
    """Names of a batch that is refused are forgotten, and start as ever when they come again."""
    rows, y = [{"a": 1.0, "b": 2.0}, {"c": 1.0}], [0, 1]
    model, clean = (tt.make("pamo1", **SMALL).partial_fit(rows, y) for _ in range(2))
    with pytest.raises(ValueError, match=r"row 1, column 'e'|feature 'e'"):
        model.partial_fit([{"d": 1.0}, {"e": np.nan}], y)
    assert everything(model) == everything(clean)
    later = [{"e": 1.0}, {"d": 2.0, "a": 1.0}]
    assert everything(model.partial_fit(later, y)) == everything(clean.partial_fit(later, y))


@every_name
def test_hashed_names_and_new_labels(name: str) -> None:
    """Hashed dicts are hashed rows; the margin between two labels outlives a third, which starts at 0."""
    random = np.random.default_rng(2)
    rows = [{f"w{j}": 1.0 for j in random.integers(0, 30, 5)} for _ in range(40)]
    y = random.integers(0, 2, 40)
    model = tt.make(name, hash_bits=5, **SMALL).partial_fit(rows, y)
    assert model.n_features_in_ == 32
    before, planes = model.decision_function(rows), model.planes_
    model.partial_fit(rows[:1], [7], sample_weight=[0.0])
    assert np.array_equal(model.planes_, planes)
    scores = model.decision_function(rows)
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], before, atol=1e-12)
    assert not scores[:, 2].any()


# ---- rows of any size


@every_name
def test_only_the_direction_of_a_row_counts(name: str) -> None:
    """Without a constant feature rows times any power of two, up to the ends of what floats hold, are the
    same.
    """
    X, y = stream()
    X = np.round(X, 3)
    scaled = np.ldexp(X, np.random.default_rng(0).choice([-1000, -300, 0, 500, 1000], (len(X), 1)))
    assert np.isfinite(scaled).all()
    plain, extreme = (
        tt.make(name, fit_intercept=False, **SMALL).partial_fit(rows, y) for rows in (X, scaled)
    )
    np.testing.assert_allclose(extreme.planes_, plain.planes_, rtol=1e-10, atol=1e-12)
    assert plain.n_updates_ > 30


@pytest.mark.parametrize("standardize", [False, True])
@every_name
def test_nothing_becomes_infinite(name: str, standardize: bool) -> None:
    """Finite rows, weights and parameters, however large, leave finite models; batch and loop agree."""
    random = np.random.default_rng(1)
    X = random.choice([1.0, -1.0], (200, 3)) * 10.0 ** random.integers(-320, 308, (200, 3))
    weights = 10.0 ** random.integers(-300, 300, 200)
    for n_classes in (2, 3):
        y = random.integers(0, n_classes, 200)
        for large in (1e-300, 1.0, 1e300):
            options = {"C": large, "C_r": large, "standardize": standardize, "fit_intercept": False, **SMALL}
            batch = tt.make(name, **options).partial_fit(X, y, sample_weight=weights)
            loop = tt.make(name, **options)
            for i in range(200):
                loop.learn_one(X[i], y[i], sample_weight=weights[i])
            assert all(np.isfinite(array).all() for array in batch.state_.arrays().values())
            assert np.isfinite(batch.decision_function(X)).all()
            assert everything(batch) == everything(loop)


# ---- merging


@pytest.mark.parametrize("standardize", [False, True])
def test_merged_planes_are_the_mean(standardize: bool) -> None:
    """Shards of one start: planes and weights are the mean, classes the union, moments those of all rows."""
    X, y = stream(3)
    shards = [slice(0, 50), slice(50, 120)]
    models = [
        tt.make("pamo1", standardize=standardize, **SMALL).partial_fit(X[part], y[part]) for part in shards
    ]
    merged = tt.merge(models, weights=[1, 3])
    np.testing.assert_allclose(merged.planes_, (models[0].planes_ + 3 * models[1].planes_) / 4)
    np.testing.assert_allclose(merged.weights_, (models[0].weights_ + 3 * models[1].weights_) / 4)
    assert merged.t_ == 120
    if standardize:
        means, squares = merged.state_.moments
        np.testing.assert_allclose(means, X.mean(axis=0))
        np.testing.assert_allclose(squares / 120, X.var(axis=0))
    same = tt.merge([models[0], models[0]])
    assert np.array_equal(same.planes_, models[0].planes_)
    assert merged.partial_fit(X, y).n_features_in_ == 5


def test_shards_of_one_model_with_words_of_their_own() -> None:
    """Copies of a model that each met new words are merged; what one never met counts as 0 there."""
    base = tt.make("pamo1", classes=[0, 1], **SMALL).learn_one({"a": 1.0, "b": 1.0}, 1)
    one, two = copy.deepcopy(base), copy.deepcopy(base)
    one.learn_one({"c": 1.0, "a": -1.0}, 0)
    two.learn_one({"d": 1.0}, 0).learn_one({"c": 1.0}, 1)
    merged = tt.merge([one, two])
    assert merged.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    mean = (one.planes_[:, :, [0, 1, 2, -1]] + two.planes_[:, :, [0, 1, 3, -1]]) / 2
    np.testing.assert_allclose(merged.planes_[:, :, [0, 1, 2, -1]], mean)
    np.testing.assert_allclose(merged.planes_[:, :, 3], two.planes_[:, :, 2] / 2)


def test_unlike_starts_are_not_merged() -> None:
    """Models of other seeds, of other first names or of another shape are refused in one sentence."""
    X, y = stream()
    model = tt.make("pamo1", **SMALL).partial_fit(X, y)
    with pytest.raises(ValueError, match="these began with other planes; expected one random_state, and"):
        tt.merge([model, tt.make("pamo1", random_state=1, **SMALL).partial_fit(X, y)])
    for names in ("ba", "ac"):
        dicts = [tt.make("pamo1", **SMALL).fit([dict.fromkeys(keys, 1.0)], [0]) for keys in ("ab", names)]
        with pytest.raises(ValueError, match="these began with other planes"):
            tt.merge(dicts)
    with pytest.raises(
        ValueError, match=r"Model 1 has another .*n_units, n_pieces or standardize than the first"
    ):
        tt.merge([model, tt.make("pamo1", n_units=4).partial_fit(X, y)])
    with pytest.raises(ValueError, match="n_units, n_pieces or standardize was changed after learning began"):
        model.set_params(n_units=6).learn_one(X[0], y[0])


# ---- files


HEADERS = {
    "units": [0, -5, 15, True, 5.0, 10**12],
    "pieces": [0, 1, "3"],
    "standardized": [True, 1, None],
    "n_features": [-1, 4, 6],
    "n_classes": [1, 3, -1],
}
VALUES: dict[str, Callable[[np.ndarray], Any]] = {
    "planes": lambda planes: np.put(planes, 3, np.inf),
    "weights": lambda weights: np.put(weights, 0, np.nan),
    "first": lambda first: np.put(first, 1, 0.5),
    "memory": lambda memory: np.put(memory, 0, -1.0),
    "moments": lambda moments: np.put(moments, -1, -1.0),
}


def test_hostile_files_are_refused(tmp_path: Path) -> None:
    """Headers that do not fit the arrays, and numbers that are not what they stand for, are refused."""
    X, y = stream()
    model = tt.make("pamo1", standardize=True, **SMALL).partial_fit(X, y)
    header, arrays = model.parts()
    restore = type(model).restore
    assert everything(restore(header, arrays)) == everything(model)
    for name, values in HEADERS.items():
        for value in values:
            wrong = {**header, "state": {**header["state"], name: value}}
            if header["state"][name] != value or type(header["state"][name]) is not type(value):
                with pytest.raises((ValueError, MemoryError)):
                    restore(wrong, arrays)
    for name, spoil in VALUES.items():
        broken = {key: array.copy() for key, array in arrays.items()}
        spoil(broken[name])
        with pytest.raises(ValueError, match=r"finite numbers|no count|negative"):
            restore(header, broken)
        with pytest.raises((ValueError, KeyError)):
            restore(header, {key: array for key, array in arrays.items() if key != name})
    parameters = {
        "dict": [[key, 10**9 if key == "n_units" else v] for key, v in header["parameters"]["dict"]]
    }
    with pytest.raises(ValueError, match="do not fit its planes"):
        restore({**header, "parameters": parameters}, arrays)
    model.save(tmp_path / "model.tt")
    with zipfile.ZipFile(tmp_path / "model.tt") as archive:
        assert json.loads(archive.read("header.json"))["class"] == "MaxOutPAClassifier"
    assert everything(tt.load(tmp_path / "model.tt").partial_fit(X, y)) == everything(model.partial_fit(X, y))


# ---- asking, sweeping, tracing


@every_count
def test_asked_in_the_loop_as_one_by_one(n_classes: int, tmp_path: Path) -> None:
    """A batch asks and learns as `ask_one` and `learn_one` do; a row that is not asked leaves no trace."""
    X, y = stream(n_classes)
    for options in ({}, {"standardize": True}):
        for ask in (tt.MarginAsk(delta=0.5), tt.RandomAsk(rate=0.4), tt.AdaptiveAsk(beta=0.1)):
            batch, loop = (
                tt.ActiveClassifier(tt.make("pamo2", **SMALL, **options), ask=ask, random_state=0)
                for _ in range(2)
            )
            batch.partial_fit(X, y)
            for x, label in zip(X, y, strict=True):
                if loop.ask_one(x):
                    loop.learn_one(x, label)
            assert everything(batch.learner_) == everything(loop.learner_)
            assert 5 < batch.n_asked_ < 120
    batch.save(tmp_path / "active.tt")
    assert everything(tt.load(tmp_path / "active.tt").learner_) == everything(batch.learner_)


def test_sweep_and_trace() -> None:
    """A sweep trains each model as alone; a trace holds what the model said before each row."""
    X, y = stream(3)
    swept = tt.sweep("pamo1", {"n_units": [3, 5], "C": [0.1, 1.0]}, X, y).to_frame()
    for row in swept.itertuples():
        alone = tt.make("pamo1", n_units=row.n_units, C=row.C)
        assert tt.progressive(alone, X, y).error_rate == row.error_rate
    model = tt.make("pamo2", classes=LABELS[:3].tolist(), **SMALL)
    trace = tt.progressive(pickle.loads(pickle.dumps(model)), X, y)
    model.learn_one(X[0], y[0])
    for i in range(1, len(X)):
        assert np.array_equal(model.decision_function(X[i : i + 1])[0], trace.scores[i])
        model.learn_one(X[i], y[i])


# ---- every promise


@pytest.mark.parametrize(
    "promise", [p for p in checks.PROMISES if p is not checks.without_jit], ids=lambda p: p.__name__
)
@every_name
def test_promise(name: str, promise: checks.Promise) -> None:
    """PAMO keeps every promise of the design."""
    promise(tt.make(name))


VARIED: list[Options] = [
    {"fit_intercept": False, "moved_plane": "nearest", "epsilon": 0.05, **SMALL},
    {"standardize": True, "C": 0.5, "C_r": 0.02, "alpha": 0.3, "n_units": 5},
    {"alpha": 0.0, "n_pieces": 1, "n_units": 9},
]


@pytest.mark.parametrize("options", VARIED, ids=str)
@every_name
def test_promises_with_options(name: str, options: Options) -> None:
    """Steps are optimal, and every road leads to one result, away from the default parameters too."""
    learner = tt.make(name, **options)
    for promise in (
        checks.optimality,
        checks.batch_is_loop,
        checks.one_result_by_every_road,
        checks.extreme_rows,
        checks.keeping,
        checks.bad_input,
    ):
        promise(learner)


def test_same_without_jit() -> None:
    """Compiled code and plain Python come to the same."""
    learners = [tt.make(name, **{**SMALL, **options}) for name in NAMES for options in ({}, *VARIED)]
    checks.same_without_jit(learners)


@rule
def too_far(loss, sqnorm, C):
    """A hundredth more than PA-I."""
    return 1.01 * min(C, loss / sqnorm)


@approach_rule
def loser(products, targets, units, n, C, epsilon, pull):
    """The plane that says least."""
    for i in range(units):
        worst = i
        for p in range(i + units, n, units):
            worst = p if products[p] < products[worst] else worst
        pull[worst] = targets[i] - products[worst]
    return 0.0


@approach_rule
def off_target(products, targets, units, n, C, epsilon, pull):
    """Winners, a thousandth of a unit off."""
    for i in range(units):
        best = i
        for p in range(i + units, n, units):
            best = p if products[p] > products[best] else best
        pull[best] = 1e-3 + targets[i] - products[best]
    return 0.0


WRONG = {
    "step 1": (tt.MaxOutPAClassifier, "step", too_far),
    "step 2": (pamo, "hard", too_far),
    "step 3": (pamo, "APPROACHES", {"winner": off_target}),
    "which plane": (pamo, "APPROACHES", {"winner": loser}),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_check_can_fail(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    """A rule of any of the three steps that is a little off is caught, and so is another plane that moves."""
    monkeypatch.setattr(*wrong)
    with pytest.raises(AssertionError, match="optimality"):
        checks.optimality(tt.make("pamo1", C_r=1e6, **SMALL))


BAD: dict[str, list[Any]] = {
    "C": [0, -1.0, np.nan, np.inf, "1", None],
    "C_r": [0, -1.0, np.inf, "1"],
    "alpha": [-0.1, 1.1, np.nan, None, "0"],
    "n_units": [0, 1.5, "64", None],
    "n_pieces": [0, -1, 2.0],
    "variant": ["hard", "III", None, 1],
    "epsilon": [-0.1, np.nan, "0"],
    "moved_plane": ["loser", None],
    "standardize": ["yes", 1, None],
    "random_state": [-1, 1.5, "seed"],
}


def test_bad_parameters_are_named() -> None:
    """A parameter out of range is named by whatever learns next."""
    X, y = stream()
    for name, values in BAD.items():
        for value in values:
            model = tt.make("pamo1").set_params(**{name: value})
            with pytest.raises(ValueError, match=rf"\b{name}\b"):
                model.fit(X, y)


@pytest.mark.parametrize("too_many", [{"n_units": 10**12}, {"n_pieces": 10**9}, {"hash_bits": 30}], ids=str)
def test_more_planes_than_fit_are_refused(too_many: Options) -> None:
    """More numbers than memory has are refused before anything is allocated."""
    with pytest.raises(
        ValueError, match=r"are more than 2,147,483,648 numbers; expected fewer units, pieces or"
    ):
        tt.make("pamo1", **too_many).partial_fit([{"a": 1.0}], [0])
