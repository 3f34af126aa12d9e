"""What is read as an example, a name or a label, and that an error leaves nothing of what was read."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import SUPERVISED
from test_surface import assert_refused, everything

import tauten as tt

NAMES = ["a", "b", "c", "d"]
FIRST_ORDER = [name for name in SUPERVISED if not hasattr(tt.make(name), "covariance")]


def rows(n_rows: int = 30) -> tuple[Any, Any]:
    """Rows and labels that follow the first column."""
    X = np.random.default_rng(0).standard_normal((n_rows, len(NAMES)))
    return X, (X[:, 0] > 0).astype(int)


def single_rows(frame: pd.DataFrame, row: int) -> list[Any]:
    """One row of a frame in the forms that have names."""
    return [frame.iloc[row], frame.iloc[row].astype(object), frame[row : row + 1]]


def test_a_row_of_a_frame_has_names() -> None:
    """learn_one and predict_one take a Series or a frame of one row as fit and predict take the frame."""
    X, y = rows()
    frame = pd.DataFrame(X, columns=NAMES)
    expected = tt.PAClassifier().partial_fit(frame, y)
    for form in range(3):
        model = tt.PAClassifier()
        for i, label in enumerate(y):
            model.learn_one(single_rows(frame, i)[form], label)
        assert everything(model) == everything(expected)
        assert [model.predict_one(single_rows(frame, i)[form]) for i in range(len(y))] == (
            expected.predict(frame).tolist()
        )


def test_a_row_of_a_frame_in_another_order_is_refused() -> None:
    """Where predict refuses the frame, predict_one and learn_one refuse its rows."""
    X, y = rows()
    model = tt.PAClassifier().fit(pd.DataFrame(X, columns=NAMES), y)
    for names in (NAMES[::-1], [*NAMES[:3], "e"]):
        for x in single_rows(pd.DataFrame(X, columns=names), 0):
            assert_refused(model, model.predict_one, "feature names", x=x)
            assert_refused(model, model.learn_one, "feature names", x=x, y=1)


@pytest.mark.parametrize("name", SUPERVISED)
def test_frames_are_aligned_once_dicts_brought_names(name: str, tmp_path: Any) -> None:
    """After a dict with a new name, frames count by name, in any order, as the dicts of their rows do."""
    X, y = rows()
    frame = pd.DataFrame(X, columns=NAMES)
    part = frame[["c", "a"]]
    dicts = part.to_dict("records")
    model = tt.make(name).fit(frame, y)
    assert_refused(model, model.predict, "feature names", X=part)
    model.learn_one({"a": 1.0, "new": 2.0}, 1)
    model.save(tmp_path / "model.tt")
    twin = tt.load(tmp_path / "model.tt")
    np.testing.assert_allclose(model.decision_function(part), twin.decision_function(dicts), rtol=1e-12)
    assert model.predict_one(part.iloc[0]) == pytest.approx(twin.predict_one(dicts[0]), rel=1e-12)
    model.partial_fit(part, y).learn_one(part.iloc[1], y[1])
    twin.partial_fit(dicts, y).learn_one(dicts[1], y[1])
    np.testing.assert_allclose(model.coef_, twin.coef_, rtol=1e-9, atol=1e-12)
    assert_refused(model, model.predict, "unknown feature names", X=frame.rename(columns={"b": "other"}))
    assert_refused(model, model.partial_fit, "unknown feature names", X=frame.rename(columns={"b": "z"}), y=y)
    assert_refused(model, model.predict, "several columns named 'a'", X=frame[["a", "a"]])


def test_columns_with_one_name_are_refused() -> None:
    """A frame in which two columns have one name is refused."""
    X, y = rows()
    model = tt.PAClassifier()
    assert_refused(model, model.fit, "'a'", X=pd.DataFrame(X, columns=["a", "b", "a", "d"]), y=y)


@pytest.mark.parametrize("options", [{}, {"hash_bits": 3}])
def test_dicts_in_an_array_or_a_series(options: dict[str, Any]) -> None:
    """An array or a Series of dicts is read as a list of them."""
    X, y = rows()
    dicts = [dict(zip(NAMES, x.tolist(), strict=True)) for x in X]
    expected = tt.PAClassifier(**options).fit(dicts, y)
    for held in (np.array(dicts, dtype=object), pd.Series(dicts), pd.Series(dicts, index=range(5, 35))):
        assert everything(tt.PAClassifier(**options).fit(held, y)) == everything(expected)
        assert expected.predict(held).tolist() == expected.predict(dicts).tolist()


@pytest.mark.parametrize("options", [{}, {"hash_bits": 4}])
def test_a_class_that_cannot_be_leaves_no_trace(options: dict[str, Any]) -> None:
    """A third label that rho rules out leaves nothing of the rows before it, however small the batch."""
    learned = [{"a": 1.0, "b": 1, "c": 2, "d": 1}, {"a": -1.0}], ["p", "q"]
    model = tt.CPAClassifier(rho=2.0, **options).partial_fit(*learned)
    batch = {"X": [{"a": -1.0, "z": 1.0}, {"a": 1.0, "y": 2}], "y": ["p", "r"]}
    assert_refused(model, model.partial_fit, "rho", **batch)
    assert_refused(model, model.partial_fit, "rho", **batch, classes=["p", "r"])
    assert_refused(model, model.set_params(warm_start=True, epochs=2).fit, "rho", **batch)


BIG = [
    ([2**63, 2**63 + 1], [-1]),
    ([2**53, 2**53 + 1, 0], [1.0]),
    ([2.0**53, 0.0], [2**53 + 1]),
    ([2**63 - 1, 0], [0.5 * 2**40]),
]


@pytest.mark.parametrize(("first", "then"), BIG)
def test_labels_are_never_rounded(first: list[Any], then: list[Any]) -> None:
    """Labels that would become others beside those known are refused, in a batch, as classes, one by one."""
    X, _ = rows(len(first))
    model = tt.PAClassifier().partial_fit(X, first)
    for label in (then, np.array(then)):
        assert_refused(model, model.partial_fit, "of one type", X=X[:1], y=label)
        assert_refused(model, model.partial_fit, "of one type", X=X, y=first, classes=label)
    assert_refused(model, model.learn_one, "of one type", x=X[0], y=then[0])
    assert_refused(model, model.set_params(warm_start=True).fit, "of one type", X=X[:1], y=then)


def test_labels_of_several_types_that_fit_together() -> None:
    """Whole floats join whole numbers where each stays what it is; odd types are kept in plain ones."""
    X, y = rows()
    model = tt.PAClassifier().partial_fit(X, y).partial_fit(X, y + 1.0).partial_fit(X, y > 0)
    assert model.classes_.tolist() == [0, 1, 2] and model.class_count_.tolist() == [
        2 * (y == 0).sum(), 2 * (y == 1).sum() + (y == 0).sum(), (y == 1).sum(),
    ]  # fmt: skip
    for kind in (">i4", ">f8", np.float16):
        assert tt.PAClassifier().partial_fit(X, y.astype(kind)).classes_.dtype.str[0] in "<|=", kind
        assert tt.PAClassifier().partial_fit(X, y.astype(kind)).classes_.dtype != np.float16


@pytest.mark.parametrize(
    "classes", [[0, np.nan], [0, "a"], [0, None], [[0], [1, 2]], 3, "ab", [b"a"], [0.5, 1]]
)
def test_classes_are_read_as_labels_are(classes: Any) -> None:
    """A class that y could not hold is refused as a class, wherever it is given."""
    X, y = rows()
    model = tt.PAClassifier()
    assert_refused(model, model.partial_fit, "class|label", X=X, y=y, classes=classes)
    given = tt.PAClassifier(classes=classes)
    assert_refused(given, given.partial_fit, "class|label", X=X, y=y)
    assert_refused(given, given.predict_one, "class|label", x={"a": 1.0})


def test_window_weights_can_be_taken_back() -> None:
    """window_weights=None after learning weighs all classifiers alike again."""
    X, y = rows()
    options = {"window": 3, "gamma": 0.5}
    model = tt.ClassMeanPAClassifier(window_weights=[1.0, 2.0, 5.0], **options).partial_fit(X, y)
    model.set_params(window_weights=None)
    equal = tt.ClassMeanPAClassifier(window_weights=[1.0, 2.0, 5.0], **options).partial_fit(X, y)
    equal.set_params(window_weights=[1.0, 1.0, 1.0])
    assert np.array_equal(model.partial_fit(X, y).coef_, equal.partial_fit(X, y).coef_)


def test_merge_makes_a_model_that_works() -> None:
    """What is no list of models, and a union of classes that the parameters rule out, is refused."""
    X, y = rows()
    one, two = tt.CPAClassifier(rho=2.0).fit(X, y), tt.CPAClassifier(rho=2.0).fit(X, y + 1)
    for models, words in (
        ([one, two], "rho"),
        ([3, one], "Model 0 is 3"),
        ([one, "pa1"], "Model 1 is 'pa1'"),
        (one, "list"),
    ):
        with pytest.raises(ValueError, match=words):
            tt.merge(models)
    merged = tt.merge([one, one], weights=[1e308, 1e308])
    np.testing.assert_allclose(merged.coef_, one.coef_, rtol=1e-12)


EXTREME: dict[str, dict[str, Any]] = {
    **{name: {} for name in FIRST_ORDER},
    "paum": {"eta": 1e200, "tau_plus": 1e300},
    "ogd": {"eta": 1e308, "power": 0.0},
    "pa1": {"C": 1e308},
    "cpa": {"rho": {0: 1e308, 1: 1e308, 2: 1e308}, "C": 1e300},
    "cspa": {"rho": 1e308, "variant": "hard"},
    "pamean1": {"gamma": 1e30, "anchor_scale": 1e30, "C": 1e308},
    "pameanw1": {"gamma": 1e30, "anchor_scale": 1e30, "C": 1e308, "window": 3},
    "pa-reg": {"epsilon": 0.0, "fit_intercept": False},
}


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("name", FIRST_ORDER)
def test_no_weight_becomes_infinite(name: str, average: bool) -> None:
    """Finite rows, targets and parameters, however large, leave finite weights; batch and loop agree."""
    random = np.random.default_rng(1)
    X = random.choice([1.0, -1.0], (120, 3)) * 10.0 ** random.integers(-150, 151, (120, 1))
    X[:4] = [[1.0, 0, 0], [0.6, 0, 0], [1e120, 0, 0], [-1e120, 0, 0]]
    for n_classes in (2, 3):
        y: Any = random.integers(0, n_classes, 120)
        if name.endswith("reg"):
            y = random.choice([-1.0, 1.0], 120) * 10.0 ** random.integers(-300, 308, 120)
            y[:2] = 1e308, 1.2e308
        dicts = [{n: v for n, v in zip("abc", x.tolist(), strict=True) if v} for x in X]
        for form in (X, sp.csr_matrix(X), dicts):
            batch, loop = (tt.make(name, average=average, **EXTREME[name]) for _ in range(2))
            batch.partial_fit(form, y)
            for i in range(120):
                loop.learn_one(form[i], y[i])
            assert everything(batch) == everything(loop)
            for part, array in {"coef_": batch.coef_, **batch.state_.arrays()}.items():
                assert np.isfinite(array).all(), part
