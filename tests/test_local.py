"""Local online learning against its literal twin, its promises, and what it is for."""

from typing import Any

import numpy as np
import oracle_local
import pytest
import scipy.sparse as sp
from test_promises import too_far, too_short

import tauten as tt
from tauten import checks
from tauten.learners.pa import VARIANTS

LABELS = np.array(["ant", "bee", "cat"])
PROMISED: dict[str, Any] = {
    "lol": tt.make("lol"),
    "ilol": tt.make("ilol"),
    "lol, hard": tt.make("lol", variant="hard", n_prototypes=3),
    "lol, damped": tt.make("lol", variant="II", C=0.3, share=0.25, fit_intercept=False),
}
QUICK = [promise for promise in checks.PROMISES if promise is not checks.without_jit]


def rows(n_classes: int, n: int = 200, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Rows in rings around the middle, some of the labels at random, one row of zeros, one row twice."""
    random = np.random.default_rng([7, n_classes])
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.8)
    codes = np.digitize((X**2).sum(axis=1), [2.0, 4.5][: n_classes - 1])
    codes = np.where(random.random(n) < 0.1, random.integers(n_classes, size=n), codes)
    X[n // 2], X[3] = 0.0, X[1]
    return X, codes


@pytest.mark.parametrize("promise", QUICK, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("name", PROMISED)
def test_promise(name: str, promise: Any) -> None:
    """LOL and I-LOL keep each promise."""
    promise(PROMISED[name])


@pytest.mark.parametrize("wrong", [too_far, too_short])
@pytest.mark.parametrize("name", ["lol", "ilol"])
def test_a_check_can_fail(monkeypatch: Any, name: str, wrong: Any) -> None:
    """A step that goes a hundredth too far, or not far enough, is caught."""
    monkeypatch.setitem(VARIANTS, "I", VARIANTS["I"]._replace(step=wrong))
    with pytest.raises(AssertionError, match="optimality"):
        checks.optimality(tt.make(name))


def test_same_without_jit() -> None:
    """Compiled code and plain Python come to the same."""
    checks.same_without_jit(list(PROMISED.values()))


@pytest.mark.parametrize("fit_intercept", [False, True], ids=["plain", "bias"])
@pytest.mark.parametrize("variant", ["hard", "I", "II"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("n_prototypes", "share"), [(1, 1.0), (7, 0.3), (12, None)])
def test_equals_twin(
    n_prototypes: int, share: float | None, n_classes: int, variant: str, fit_intercept: bool
) -> None:
    """Scores, moves, weights and prototypes are the twin's, dense and sparse, weights of examples counted."""
    X, codes = rows(n_classes)
    options = {"n_prototypes": n_prototypes, "C": 0.4, "variant": variant, "fit_intercept": fit_intercept}
    options |= {"shared": share is not None, "share": share or 1.0}
    weights = None if variant == "hard" else np.random.default_rng(0).exponential(size=len(X))
    twin = oracle_local.LOL(X.shape[1], n_classes, n_prototypes, share or 0.0, 0.4, variant, fit_intercept)
    scores, moved = [], []
    for i, (x, k) in enumerate(zip(X, codes, strict=True)):
        scores.append(twin.scores(x))
        moved.append(twin.learn(x, k, 1.0 if weights is None else weights[i]))
    dense = tt.make("lol", **options).fit(X, LABELS[codes], sample_weight=weights)
    for form in (X, sp.csr_matrix(X)):
        model = tt.make("lol", **options)
        trace = tt.progressive(model, form, LABELS[codes], sample_weight=weights)
        np.testing.assert_allclose(trace.scores.reshape(len(X), -1), scores, rtol=1e-9, atol=1e-9)
        assert trace.updates.tolist() == moved
        assert np.array_equal(model.coef_, dense.coef_)  # to the last bit, for ties are broken alike
        np.testing.assert_allclose(model.prototypes_, twin.centres, rtol=1e-10, atol=1e-10)
        found = np.dstack([np.reshape(model.coef_, (len(twin.own), twin.width, -1))])
        d = X.shape[1]
        for place, own in enumerate(twin.own):
            np.testing.assert_allclose(found[place], (twin.common + own)[:, :d], rtol=1e-9, atol=1e-9)
        after = np.array([twin.scores(x) for x in X]).reshape(model.decision_function(form).shape)
        np.testing.assert_allclose(model.decision_function(form), after, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_prototype_alone_is_pa(n_classes: int) -> None:
    """With a single prototype and nothing in common, I-LOL is PA; with a common part, PA along √(1 + s)·x."""
    X, codes = rows(n_classes)
    plain = tt.make("pa1", C=0.3).fit(X, LABELS[codes])
    alone = tt.make("ilol", C=0.3, n_prototypes=1).fit(X, LABELS[codes])
    np.testing.assert_allclose(np.squeeze(alone.coef_), np.squeeze(plain.coef_), rtol=1e-10, atol=1e-10)
    longer = tt.make("pa1", C=0.3, fit_intercept=False).fit(2.0 * X, LABELS[codes])
    common = tt.make("lol", C=0.3, n_prototypes=1, share=3.0, fit_intercept=False).fit(X, LABELS[codes])
    np.testing.assert_allclose(common.decision_function(X), longer.decision_function(2.0 * X), atol=1e-9)


def test_regions_have_planes_of_their_own() -> None:
    """Where no plane separates, as in XOR, regions do, sooner with a common part where they are alike."""
    random = np.random.default_rng(0)
    centres = np.array([[2.0, 2.0], [-2.0, -2.0], [2.0, -2.0], [-2.0, 2.0]])
    which = random.integers(4, size=2000)
    X, y = centres[which] + random.normal(size=(2000, 2)), which < 2
    errors = {name: tt.progressive(tt.make(name), X, y).error_rate for name in ("pa1", "ilol", "lol")}
    assert max(errors["ilol"], errors["lol"]) < 0.12 and errors["pa1"] > 0.4


def test_what_was_learned_can_be_seen_and_not_merged() -> None:
    """New labels and names keep the regions; a number of regions that changes, and a merge, are refused."""
    model = tt.LocalPAClassifier(n_prototypes=2)
    model.learn_one({"a": 1.0}, "x").learn_one({"a": -1.0}, "y").learn_one({"b": 3.0, "a": -1.0}, "z")
    assert model.prototypes_.tolist() == [[1.0, 0.0], [-1.0, 1.5]]
    assert model.coef_.shape == (2, 3, 2) and model.intercept_.shape == (2, 3)
    with pytest.raises(ValueError, match="cannot be merged"):
        tt.merge([model, model])
    with pytest.raises(ValueError, match="n_prototypes was changed after learning began"):
        model.set_params(n_prototypes=3).learn_one({"a": 1.0}, "x")


def test_asks_for_labels_and_saves(tmp_path: Any) -> None:
    """A row that is not asked leaves regions and planes alone; an asked model is loaded and goes on."""
    X, codes = rows(3)
    model = tt.ActiveClassifier(tt.make("lol"), tt.MarginAsk(delta=0.2), random_state=3).partial_fit(X, codes)
    assert model.n_asked_ == model.t_ == model.learner_.state_.tallies[:, 0].sum() < len(X)
    model.save(tmp_path / "model.tt")
    resumed = tt.load(tmp_path / "model.tt")
    for each in (model, resumed):
        each.partial_fit(X[::-1], codes[::-1])
    assert np.array_equal(resumed.decision_function(X), model.decision_function(X))


def test_damaged_files_are_refused(tmp_path: Any) -> None:
    """A file whose parts do not fit together is no model."""
    from tauten.io import model_file

    header, arrays = tt.make("lol").fit(*rows(2)).parts()
    changes = {
        "memory": lambda a: a + 1.0, "tallies": lambda a: a * 0.0, "sums": lambda a: a[1:],
        "planes": lambda a: a * np.inf,
    }  # fmt: skip
    for name, change in changes.items():
        with np.errstate(invalid="ignore"):
            model_file.write(tmp_path / "model.tt", header, {**arrays, name: change(arrays[name])})
        with pytest.raises(tt.ModelFileError):
            tt.load(tmp_path / "model.tt")
