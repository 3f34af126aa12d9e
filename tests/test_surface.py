"""The surface of every learner: what goes in, what grows, what is refused, what stays to the last bit.

Long, for it is one list of promises, each held against every learner.
"""

import copy
import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from conftest import SUPERVISED
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import FeatureHasher

import tauten as tt
from tauten.second_order import SecondOrder

LEARNERS = SUPERVISED
CLASSIFIERS = [name for name in LEARNERS if tt.learners()[name].kind == "classifier"]
REGRESSORS = [name for name in LEARNERS if name not in CLASSIFIERS]
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in LEARNERS},
    **{f"{name} averaged": (name, {"average": True}) for name in LEARNERS},
    "pa1 without intercept": ("pa1", {"fit_intercept": False, "C": 0.3}),
    "pa2 balanced": ("pa2", {"class_weight": "balanced"}),
    "paum uneven": ("paum", {"tau_plus": 2.0, "tau_minus": -0.5, "eta": 0.3}),
    "cspa balanced": ("cspa", {"rho": "balanced"}),
    "pamean1 far": ("pamean1", {"gamma": 3.0, "anchor_scale": 2.0}),
    "pameanw1 weighted": ("pameanw1", {"window": 3, "window_weights": [1.0, 2.0, 5.0]}),
}
CLASSIFYING = [key for key, (name, _) in CONFIGS.items() if name in CLASSIFIERS]
NAMES = [f"word{j}" for j in range(6)]
SIZE = 40
ROUNDING = {"rtol": 1e-12, "atol": 1e-12}  # of sums of the same numbers in another order


def make(key: str, **more: Any) -> Any:
    name, parameters = CONFIGS[key]
    return tt.make(name, **{**parameters, **more})


def everything(model: Any) -> dict[str, Any]:
    """All that a model has, parameters and learned values, arrays as bytes."""
    found = {name: value for name, value in model.__getstate__().items() if name != "state_"}
    if "state_" in vars(model):
        state = model.state_
        found |= {
            name: getattr(state, name) for name in (*state.header, "n_rounds", "n_moves")
        } | state.arrays()
    return {
        name: (value.shape, value.dtype.kind, value.tolist() if value.dtype.kind in "UO" else value.tobytes())
        if isinstance(value, np.ndarray)
        else copy.deepcopy(value)
        for name, value in found.items()
    }


def counts(n_rows: int = SIZE, n_features: int = len(NAMES), seed: int = 0) -> Any:
    """Rows of small whole numbers, many of them 0, which every type of number holds."""
    random = np.random.default_rng(seed)
    present = random.integers(0, 2, (n_rows, n_features))
    return present * random.integers(0, 4, (n_rows, n_features)).astype(float)


def answers(key: str, n_rows: int = SIZE, labels: Any = (0, 1), seed: int = 1) -> Any:
    """Labels, noisy so that every learner moves now and then, or real targets."""
    random = np.random.default_rng(seed)
    if CONFIGS[key][0] in REGRESSORS:
        return random.normal(size=n_rows)
    return np.asarray(labels)[random.integers(0, len(labels), n_rows)]


def as_dicts(X: Any, names: Any = NAMES) -> list[dict[str, float]]:
    return [{names[j]: row[j] for j in np.flatnonzero(row)} for row in X]


def trained(key: str, X: Any = None, labels: Any = (0, 1), **more: Any) -> Any:
    X = counts() if X is None else X
    return make(key, **more).partial_fit(X, answers(key, labels=labels))


def read_only(X: Any) -> Any:
    X = X.copy()
    X.flags.writeable = False
    return X


SAME_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "float32": np.float32,
    "float16": np.float16,
    "int8": lambda X: X.astype(np.int8),
    "uint64": lambda X: X.astype(np.uint64),
    "objects": lambda X: X.astype(object),
    "big-endian": lambda X: X.astype(">f8"),
    "lists": lambda X: X.tolist(),
    "Fortran order": np.asfortranarray,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, mixed types": lambda X: pd.DataFrame(X, columns=NAMES).astype(
        {NAMES[0]: "int32", NAMES[1]: "float32"}
    ),
    "pandas, numbered columns": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
}


@pytest.mark.parametrize("key", CONFIGS)
def test_dense_forms_are_one(key: str) -> None:
    """The same numbers in any dense form leave the same model and get the same scores, bit for bit."""
    X, y = counts(), answers(key)
    expected = make(key).partial_fit(X, y)
    assert expected.n_updates_ > 0
    for form, convert in SAME_NUMBERS.items():
        model = make(key).partial_fit(convert(X), y)
        assert np.array_equal(model.coef_, expected.coef_), form
        assert np.array_equal(model.intercept_, expected.intercept_), form
        assert np.array_equal(model.decision_function(convert(X)), expected.decision_function(X)), form


@pytest.mark.parametrize("key", CONFIGS)
def test_bool_rows_are_numbers(key: str) -> None:
    """True and False are 1 and 0, in a matrix and in a frame."""
    X, y = counts() > 0, answers(key)
    expected = everything(make(key).partial_fit(X.astype(float), y))
    assert everything(make(key).partial_fit(X, y)) == expected
    frame = make(key).partial_fit(pd.DataFrame(X, columns=NAMES), y)
    named = everything(frame)
    assert {name: named[name] for name in named.keys() - {"_feature_index", "_n_framed"}} == expected


def _unsorted(X: Any) -> Any:
    """Row by row the columns from the last to the first."""
    parts = [X[i].indices[::-1] for i in range(X.shape[0])], [X[i].data[::-1] for i in range(X.shape[0])]
    return sp.csr_matrix((np.concatenate(parts[1]), np.concatenate(parts[0]), X.indptr), shape=X.shape)


def _halved(X: Any) -> Any:
    """Every value as two entries of half of it."""
    return sp.csr_matrix((np.repeat(X.data, 2) / 2, np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


def _long_indices(X: Any) -> Any:
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


SPARSE: dict[str, Callable[[Any], Any]] = {
    **{
        f"{form}_{kind}": getattr(sp, f"{form}_{kind}")
        for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
        for kind in ("matrix", "array")
    },
    "unsorted": _unsorted,
    "repeated": _halved,
    "unsorted and repeated": lambda X: _unsorted(_halved(X)),
    "int64 indices": _long_indices,
    "float32": lambda X: X.astype(np.float32),
    "int16": lambda X: X.astype(np.int16),
}


@pytest.mark.parametrize("key", CONFIGS)
def test_sparse_forms_are_one(key: str) -> None:
    """Every sparse form leaves the model of plain CSR to the last bit, and is itself left as it was."""
    X, y = counts(), answers(key)
    plain, dense = make(key).partial_fit(sp.csr_matrix(X), y), make(key).partial_fit(X, y)
    np.testing.assert_allclose(plain.coef_, dense.coef_, **ROUNDING)
    for form, convert in SPARSE.items():
        given, kept = convert(sp.csr_matrix(X)), convert(sp.csr_matrix(X))
        model = make(key).partial_fit(given, y)
        assert everything(model) == everything(plain), form
        np.testing.assert_allclose(
            model.decision_function(given), dense.decision_function(X), **ROUNDING, err_msg=form
        )
        for part in {"indices", "indptr", "data"} & vars(kept).keys():
            assert np.array_equal(getattr(given, part), getattr(kept, part)), (form, part)


@pytest.mark.parametrize("key", CONFIGS)
def test_zeros_that_are_stored_change_nothing(key: str) -> None:
    """A sparse matrix that stores zeros leaves the model of one that does not, to rounding."""
    X, y = counts(), answers(key)
    full = sp.csr_matrix((X.ravel(), np.tile(np.arange(len(NAMES)), SIZE), np.arange(SIZE + 1) * len(NAMES)))
    np.testing.assert_allclose(
        make(key).partial_fit(full, y).coef_, make(key).partial_fit(sp.csr_matrix(X), y).coef_, **ROUNDING
    )


@pytest.mark.parametrize("key", CONFIGS)
def test_dicts_and_frames_share_names(key: str) -> None:
    """A list of dicts leaves the weights of a frame under the same names; each model scores both forms."""
    X, y = counts(), answers(key)
    frame = pd.DataFrame(X, columns=NAMES)
    from_frame, from_dicts = make(key).partial_fit(frame, y), make(key).partial_fit(as_dicts(X), y)
    assert from_frame.feature_names_in_.tolist() == NAMES
    assert sorted(from_dicts.feature_names_in_) == NAMES
    order = [from_dicts.feature_names_in_.tolist().index(name) for name in NAMES]
    np.testing.assert_allclose(from_dicts.coef_[..., order], from_frame.coef_, **ROUNDING)
    np.testing.assert_allclose(
        from_frame.decision_function(as_dicts(X)), from_frame.decision_function(frame), **ROUNDING
    )
    np.testing.assert_allclose(
        from_dicts.decision_function(as_dicts(X)), from_frame.decision_function(frame), **ROUNDING
    )
    mapping = from_frame.predict_one(as_dicts(X)[0])
    np.testing.assert_allclose(mapping, from_frame.predict(frame[:1])[0], **ROUNDING)


@pytest.mark.parametrize("key", CONFIGS)
def test_hashed_dicts_are_hashed_rows(key: str) -> None:
    """hash_bits learns dicts, in a batch and one by one, as the rows that FeatureHasher makes of them."""
    dicts, y = as_dicts(counts()), answers(key)
    hashed = FeatureHasher(8).transform(dicts)
    expected = make(key).partial_fit(hashed, y)
    batch, loop = make(key, hash_bits=3).partial_fit(dicts, y), make(key, hash_bits=3)
    for example, answer in zip(dicts, y, strict=True):
        loop.learn_one(example, answer)
    assert everything(loop) == everything(batch)
    assert np.array_equal(batch.coef_, expected.coef_)
    assert batch.n_features_in_ == 8
    assert not hasattr(batch, "feature_names_in_")
    assert np.array_equal(
        batch.decision_function([{"never seen": 1.0}]),
        expected.decision_function(FeatureHasher(8).transform([{"never seen": 1.0}])),
    )


def test_names_are_kept_as_scikit_learn_keeps_them() -> None:
    """Names come from frames with text for columns, are held against later frames, or are missing."""
    X, y = counts(), answers("pa1")
    for frame in (pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES)):
        model = make("pa1").fit(frame, y)
        assert model.feature_names_in_.dtype == object
        assert model.feature_names_in_.tolist() == NAMES
        for learn_or_predict in (lambda X, model=model: model.partial_fit(X, y), model.predict):
            before = everything(model)
            with pytest.raises(ValueError, match="feature names"):
                learn_or_predict(pd.DataFrame(X, columns=NAMES[::-1]))
            with pytest.raises(ValueError, match="feature names"):
                learn_or_predict(pd.DataFrame(X, columns=[*NAMES[1:], "other"]))
            assert everything(model) == before
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.predict(X)
        assert not hasattr(model.fit(X, y), "feature_names_in_")
    assert not hasattr(make("pa1").fit(pd.DataFrame(X), y), "feature_names_in_")


ONE_ROW: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: x,
    "list": lambda x: x.tolist(),
    "float32": np.float32,
    "int": lambda x: x.astype(int),
    "strided": lambda x: np.repeat(x, 2)[::2],
    "matrix of one row": lambda x: x[None],
}
ONE_SPARSE_ROW: dict[str, Callable[[Any], Any]] = {
    "csr_matrix": lambda x: sp.csr_matrix(x[None]),
    "csr_array": lambda x: sp.csr_array(x[None]),
    "coo_matrix": lambda x: sp.coo_matrix(x[None]),
    "coo_array, 1-D": sp.coo_array,
    "lil_matrix": lambda x: sp.lil_matrix(x[None]),
}


@pytest.mark.parametrize("key", CONFIGS)
def test_one_example_in_any_form(key: str) -> None:
    """learn_one in any form leaves what the batch leaves, and predict_one says what predict says."""
    X, y = counts(20), answers(key, 20)
    for forms, batch in ((ONE_ROW, X), (ONE_SPARSE_ROW, sp.csr_matrix(X))):
        expected = make(key).partial_fit(batch, y)
        for form, convert in forms.items():
            model = make(key)
            for x, answer in zip(X, y, strict=True):
                assert model.learn_one(convert(x), answer) is model
            assert everything(model) == everything(expected), form
            clear = np.abs(expected.decision_function(batch)) > 1e-9  # elsewhere rounding decides
            single = np.array([model.predict_one(convert(x)) for x in X])
            np.testing.assert_allclose(
                single[clear], expected.predict(batch)[clear], **ROUNDING, err_msg=form
            )


FORMS = ("dense", "sparse", "dicts")


def a_growing_stream(key: str, form: str) -> tuple[Any, list[Any]]:
    """Rows whose labels turn up late and out of order, after eight rows of one label; words late, too."""
    n_rows = 64
    stages = [["m"] * 8, ["c"] * 3 + ["m", "c"] * 5, ["t", "m", "a", "c"] * 6, list("zamtc") * 4]
    labels: Any = [label for stage in stages for label in stage][:n_rows]
    X = counts(n_rows, 9, seed=3)
    if CONFIGS[key][0] in REGRESSORS:
        labels = answers(key, n_rows).tolist()
    if form == "dicts":
        late = np.arange(n_rows)[:, None] < 8 * np.arange(9)  # word j appears from row 8j on
        return as_dicts(np.where(late, 0.0, X), [f"w{j}" for j in range(9)]), labels
    return (sp.csr_matrix(X) if form == "sparse" else X), labels


@pytest.mark.parametrize("key", CONFIGS)
def test_batch_is_the_loop(key: str) -> None:
    """However a stream with new classes and new words is cut, the model is that of learn_one, bit for bit."""
    for form in FORMS:
        X, y = a_growing_stream(key, form)
        loop = make(key)
        for i, answer in enumerate(y):
            loop.learn_one(X[i], answer)
        expected = everything(loop)
        for size in (1, 7, len(y)):
            model = make(key)
            for i in range(0, len(y), size):
                model.partial_fit(X[i : i + size], y[i : i + size])
            assert everything(model) == expected, (form, size)
        if key in CLASSIFYING:
            assert loop.classes_.tolist() == sorted(set(y))
            assert loop.class_count_.tolist() == [y.count(label) for label in sorted(set(y))]
        assert loop.t_ == len(y)


@pytest.mark.parametrize("key", [key for key in CONFIGS if make(key).takes_weights])
def test_weighted_batch_is_the_loop(key: str) -> None:
    """The same with a weight for each row, some of them 0."""
    for form in FORMS:
        X, y = a_growing_stream(key, form)
        weights = np.random.default_rng(5).integers(0, 5, len(y)) / 2
        loop = make(key)
        for i, answer in enumerate(y):
            loop.learn_one(X[i], answer, sample_weight=weights[i])
        assert everything(make(key).partial_fit(X, y, sample_weight=weights)) == everything(loop), form


@pytest.mark.parametrize("key", CLASSIFYING)
def test_one_label_moves_nothing(key: str) -> None:
    """While a single label is known, the model predicts it, its scores are 0, and it has not moved."""
    X = counts()
    model = make(key).partial_fit(X, ["only"] * SIZE)
    assert (model.n_updates_, model.t_) == (0, SIZE)
    assert set(model.predict(X)) == {"only"} == {model.predict_one(X[0])}
    assert not model.decision_function(X).any()


@pytest.mark.parametrize("key", CLASSIFYING)
def test_classes_beforehand(key: str) -> None:
    """classes= may be any sequence, as a parameter or with the first batch, and holds from the first row."""
    X, y = counts(), answers(key)
    expected = make(key).partial_fit(X, y, classes=[0, 1, 2])
    for classes in ([2, 0, 1], (0, 1, 2), np.array([1, 2, 0])):
        model = make(key, classes=classes).partial_fit(X, y)
        assert model.classes_.tolist() == [0, 1, 2]
        assert np.array_equal(model.coef_, expected.coef_)
    assert expected.coef_.shape == (3, len(NAMES))


@pytest.mark.parametrize("key", CONFIGS)
def test_before_anything_is_learned(key: str) -> None:
    """A model that has seen nothing predicts None (a regressor 0) for one example and refuses a batch."""
    model = make(key)
    expected = None if key in CLASSIFYING else 0.0
    assert model.predict_one({"free": 1}) == model.predict_one(counts()[0]) == expected
    with pytest.raises(NotFittedError):
        model.predict(counts())
    assert everything(model) == everything(make(key))
    if key in CLASSIFYING:
        assert make(key, classes=["b", "a"]).predict_one({"free": 1}) == "a"


@pytest.mark.parametrize("key", CONFIGS)
def test_unknown_names_count_for_nothing_in_prediction(key: str) -> None:
    """A name never learned is left out of a prediction, and predicting makes nothing known."""
    model = trained(key, as_dicts(counts()))
    before = everything(model)
    known = {NAMES[0]: 2.0, NAMES[3]: 1.0}
    np.testing.assert_allclose(model.predict_one({**known, "new": 1e9}), model.predict_one(known), **ROUNDING)
    assert np.array_equal(
        model.decision_function([{"new": 5.0, **known}, {}]), model.decision_function([known, {"newer": 1.0}])
    )
    assert everything(model) == before


LABELS: dict[str, tuple[Any, type]] = {
    "ints": (np.array([3, -1]), int),
    "text": (np.array(["spam", "ham"]), str),
    "bools": (np.array([True, False]), bool),
    "whole floats": (np.array([1.0, 2.0]), float),
    "uint8": (np.array([7, 250], dtype=np.uint8), int),
    "text objects": (np.array(["spam", "no such thing"], dtype=object), str),
}


def test_a_batch_may_be_small_beside_its_classes() -> None:
    """Labels as floats, most of them different: no warning, and a warning is an error here."""
    labels = np.arange(30.0)
    model = tt.PAClassifier(classes=labels).partial_fit(np.eye(30), labels)
    assert model.classes_.tolist() == labels.tolist()


@pytest.mark.parametrize("key", CLASSIFIERS)
def test_labels_of_every_kind(key: str) -> None:
    """Labels come back as they went in, whatever holds them, and batch, list, series and loop agree."""
    for kind, (labels, python_type) in LABELS.items():
        X, y = counts(), answers(key, labels=labels)
        expected, loop = make(key).partial_fit(X, y), make(key)
        for x, label in zip(X, y.tolist(), strict=True):
            loop.learn_one(x, label)
        for held in (y.tolist(), pd.Series(y), pl.Series(y.tolist())):
            assert np.array_equal(make(key).partial_fit(X, held).coef_, expected.coef_), kind
        assert np.array_equal(loop.coef_, expected.coef_), kind
        assert expected.classes_.tolist() == sorted(labels.tolist())
        assert type(expected.predict_one(X[0])) is python_type, kind
        assert expected.predict(X).tolist() == [expected.predict_one(x) for x in X]


def with_value(X: Any, row: int, column: int, value: Any) -> Any:
    X = X.copy()
    X[row, column] = value
    return X


def damaged(X: Any, **members: Any) -> Any:
    """A CSR matrix with members changed behind scipy's back; functions get the old ones."""
    X = sp.csr_matrix(X)
    for name, change in members.items():
        setattr(X, name, change(getattr(X, name)))
    return X


def last(value: Any) -> Callable[[Any], Any]:
    return lambda array: np.append(array[:-1], np.array([value], dtype=array.dtype))


# What to change among the arguments of fit, given good X and y, and the words that name the fault, {row} the
# last row.
Bad = tuple[Callable[[Any, Any], dict[str, Any]], str | None]

BAD_ROWS: dict[str, Bad] = {
    "NaN": (lambda X, y: {"X": with_value(X, -1, 3, np.nan)}, r"NaN.*row {row}.*column 3"),
    "inf": (lambda X, y: {"X": with_value(X, -1, 0, np.inf)}, r"inf.*row {row}.*column 0"),
    "-inf, float32": (
        lambda X, y: {"X": with_value(X, -1, 5, -np.inf).astype(np.float32)},
        r"-inf.*row {row}.*column 5",
    ),
    "NaN in a frame": (
        lambda X, y: {"X": pd.DataFrame(with_value(X, -1, 3, np.nan))},
        r"NaN.*row {row}.*column 3",
    ),
    "NaN in CSR": (
        lambda X, y: {"X": sp.csr_matrix(with_value(X, -1, 3, np.nan))},
        r"NaN.*row {row}.*column 3",
    ),
    "inf in CSC": (
        lambda X, y: {"X": sp.csc_matrix(with_value(X, -1, 2, np.inf))},
        r"inf.*row {row}.*column 2",
    ),
    "text": (lambda X, y: {"X": with_value(X.astype(object), -1, 3, "free")}, "free"),
    "all text": (lambda X, y: {"X": X.astype(str)}, "strings|text"),
    "complex": (lambda X, y: {"X": X.astype(complex)}, "[Cc]omplex"),
    "one dimension": (lambda X, y: {"X": X[:, 0]}, "1D|2D"),
    "three dimensions": (lambda X, y: {"X": X[None]}, None),
    "no rows": (lambda X, y: {"X": X[:0], "y": y[:0]}, "0 sample"),
    "a single dict": (lambda X, y: {"X": {"free": 1.0}}, None),
    "an index too large": (lambda X, y: {"X": damaged(X, indices=last(len(NAMES)))}, "[Rr]ow {row}"),
    "an index below 0": (lambda X, y: {"X": damaged(X, indices=last(-1))}, "[Rr]ow {row}"),
    "an index that wraps": (
        lambda X, y: {
            "X": damaged(X, indices=lambda old: last(2**32 + len(NAMES) - 1)(old.astype(np.int64)))
        },
        "[Rr]ow {row}",
    ),
    "too few starts": (lambda X, y: {"X": damaged(X, indptr=lambda old: old[:-1])}, "row starts"),
    "starts that fall": (
        lambda X, y: {"X": damaged(X, indptr=lambda old: old[[0, 2, 1, *range(3, len(old))]])},
        None,
    ),
    "y too short": (lambda X, y: {"y": y[:-1]}, "inconsistent"),
    "y of two columns": (lambda X, y: {"y": np.stack([y, y], axis=1)}, "y|shape"),
    "y with NaN": (lambda X, y: {"y": last(np.nan)(y.astype(float))}, "NaN"),
    "y with inf": (lambda X, y: {"y": last(np.inf)(y.astype(float))}, "inf"),
    "no y": (lambda X, y: {"y": None}, "y"),
    "y with a list": (lambda X, y: {"y": [*y[:-1].tolist(), [1]]}, None),
}
BAD_LABELS: dict[str, Bad] = {
    "mixed in a list": (lambda X, y: {"y": [*y[:-1].tolist(), "spam"]}, "[Ll]abel|mix"),
    "mixed objects": (lambda X, y: {"y": np.array([*y[:-1].tolist(), "spam"], dtype=object)}, "[Ll]abel|mix"),
    "None": (lambda X, y: {"y": [*y[:-1].tolist(), None]}, "y|[Ll]abel|None"),
    "fractions": (lambda X, y: {"y": last(0.5)(y.astype(float))}, "[Ll]abel"),
    "dates": (lambda X, y: {"y": y.astype("datetime64[D]")}, "numbers or text"),
    "bytes": (lambda X, y: {"y": y.astype("S")}, "numbers or text"),
    "byte objects": (lambda X, y: {"y": y.astype("S").astype(object)}, "numbers or text"),
    "rounded in a list": (
        lambda X, y: {"y": [*y[:-1].astype(float).tolist(), 2**53 + 1]},
        "9007199254740993",
    ),
}
BAD_FOR_THE_MODEL: dict[str, Bad] = {
    "wider": (lambda X, y: {"X": np.hstack([X, X])}, "12 features.*6 features"),
    "narrower, CSR": (lambda X, y: {"X": sp.csr_matrix(X[:, :5])}, "5 features.*6 features"),
    "dicts": (lambda X, y: {"X": as_dicts(X)}, "6 .*columns.*array"),
}
BAD_WEIGHTS: dict[str, Bad] = {
    "negative": (lambda X, y: {"sample_weight": last(-1.0)(np.ones(len(y)))}, "sample_weight.*-1.*row {row}"),
    "NaN": (lambda X, y: {"sample_weight": last(np.nan)(np.ones(len(y)))}, "sample_weight.*nan.*row {row}"),
    "inf": (lambda X, y: {"sample_weight": last(np.inf)(np.ones(len(y)))}, "sample_weight.*inf.*row {row}"),
    "too many": (lambda X, y: {"sample_weight": np.ones(len(y) + 1)}, "sample_weight"),
    "a column": (lambda X, y: {"sample_weight": np.ones((len(y), 1))}, "sample_weight"),
    "text": (lambda X, y: {"sample_weight": ["heavy"] * len(y)}, "sample_weight"),
}


def assert_refused(model: Any, call: Callable[..., Any], words: str | None, **arguments: Any) -> None:
    """A call fails with a ValueError that holds the words, and the model is as before."""
    before = everything(model)
    try:
        with pytest.raises(ValueError, match=words):
            call(**arguments)
        assert everything(model) == before
    except BaseException as error:
        error.add_note(f"at {call}")
        raise


def calls(key: str, relative: bool) -> Iterator[tuple[Any, Callable[..., Any]]]:
    """Models that have learned and one that has not, with every way to learn a batch."""
    for model in (trained(key), trained(key, labels=(0, 1, 2)), make(key)):
        if not relative:
            shuffling = copy.deepcopy(model).set_params(shuffle=True, random_state=0)
            yield shuffling, shuffling.fit
            yield model, model.fit
        if "state_" in vars(model):
            warm = copy.deepcopy(model).set_params(warm_start=True, epochs=2)
            yield warm, warm.fit
        if "state_" in vars(model) or not relative:
            yield model, model.partial_fit


def check_bad_batches(key: str, bad: Bad, relative: bool = False) -> None:
    """Batches smaller and larger than the model itself, all good but for what is bad."""
    change, words = bad
    for X in (np.eye(3, 6), counts(60, seed=9) + 1.0):
        n_rows = len(X)
        y = answers(key, n_rows, seed=9)
        for model, call in calls(key, relative):
            assert_refused(
                model, call, words and words.format(row=n_rows - 1), **{"X": X, "y": y, **change(X, y)}
            )


@pytest.mark.parametrize("bad", BAD_ROWS)
def test_bad_batches_leave_no_trace(bad: str) -> None:
    """A batch whose last row is bad, small or large, is refused by name; the model is exactly as it was."""
    for key in LEARNERS:
        check_bad_batches(key, BAD_ROWS[bad])


@pytest.mark.parametrize("bad", BAD_LABELS)
def test_bad_labels_leave_no_trace(bad: str) -> None:
    """Labels of two kinds, missing or fractional ones are refused, and the model is as it was."""
    for key in CLASSIFIERS:
        check_bad_batches(key, BAD_LABELS[bad])


@pytest.mark.parametrize("bad", BAD_FOR_THE_MODEL)
def test_batches_of_another_shape_leave_no_trace(bad: str) -> None:
    """A batch that does not fit what the model has learned is refused, and the model is as it was."""
    for key in LEARNERS:
        check_bad_batches(key, BAD_FOR_THE_MODEL[bad], relative=True)


@pytest.mark.parametrize("key", CLASSIFIERS)
def test_labels_of_another_kind_leave_no_trace(key: str) -> None:
    """Text after numbers, numbers after text, and classes= of another kind than the labels are refused."""
    X, y = counts(), answers(key)
    for first, then in ((y, y.astype(str)), (y.astype(str), y)):
        model = make(key).partial_fit(X, first)
        for call in (model.partial_fit, lambda X, y, model=model: model.learn_one(X[0], y[0])):
            assert_refused(model, call, "[Ll]abel", X=X, y=then)
        assert_refused(model, model.partial_fit, "[Ll]abel", X=X, y=first, classes=np.unique(then))
    model = make(key)
    assert_refused(model, model.partial_fit, "[Ll]abel", X=X, y=y, classes=["ham", "spam"])
    model = make(key, classes=["ham", "spam"])
    assert_refused(model, model.partial_fit, "[Ll]abel", X=X, y=y)
    assert_refused(model, model.fit, "[Ll]abel", X=X, y=y)


@pytest.mark.parametrize("bad", BAD_WEIGHTS)
def test_bad_weights_leave_no_trace(bad: str) -> None:
    """A weight that is negative, not finite or too many names sample_weight; without a C any is refused."""
    change, words = BAD_WEIGHTS[bad]
    for key in LEARNERS:
        check_bad_batches(key, (change, words if make(key).takes_weights else "has no C for weights"))


BAD_DICTS: dict[str, tuple[dict[Any, Any], str]] = {
    "NaN": ({"new": 1.0, "word3": np.nan}, "[Rr]ow {row}.*'word3'"),
    "inf": ({"new": 1.0, "newer": np.inf}, "[Rr]ow {row}.*'newer'"),
    "text": ({"new": 1.0, "word3": "free"}, "[Rr]ow {row}.*'word3'.*'free'"),
    "None": ({"new": 1.0, "word3": None}, "[Rr]ow {row}.*'word3'"),
    "list": ({"new": 1.0, "word3": [1.0]}, "[Rr]ow {row}.*'word3'"),
    "array": ({"new": 1.0, "word3": np.array([1.0])}, "[Rr]ow {row}.*'word3'.*number"),
    "date": ({"new": 1.0, "word3": np.datetime64("2020-01-01")}, "[Rr]ow {row}.*'word3'.*number"),
    "complex": ({"new": 1.0, "word3": np.complex64(1.0)}, "[Rr]ow {row}.*'word3'.*number"),
    "a number too large": ({"new": 1.0, "word3": 10**400}, "[Rr]ow {row}.*'word3'"),
    "a name that is a number": ({"new": 1.0, 3: 1.0}, "[Rr]ow {row}.*3"),
    "a name that is None": ({None: 1.0}, "[Rr]ow {row}.*None"),
}


@pytest.mark.parametrize("bad", BAD_DICTS)
def test_bad_dicts_leave_no_trace(bad: str) -> None:
    """A bad dict after good ones that bring new words and a new class leaves neither behind."""
    example, words = BAD_DICTS[bad]
    for key in LEARNERS:
        label = 0.5 if key in REGRESSORS else 7
        for model in (
            trained(key, as_dicts(counts())),
            make(key),
            make(key, hash_bits=4),
            trained(key, as_dicts(counts()), hash_bits=4),
        ):
            for n_rows in (1, 3, 60):
                X = [{"brand new": 1.0, "word1": 2.0}] * (n_rows - 1) + [example]
                for call in (model.partial_fit, model.fit):
                    assert_refused(model, call, words.format(row=n_rows - 1), X=X, y=[label] * n_rows)
            for _ in range(2):  # the second time after a prediction, which readies the short cuts
                assert_refused(model, model.learn_one, words.format(row=0), x=example, y=label)
                model.predict_one({"word1": 1.0})


@pytest.mark.parametrize("key", LEARNERS)
def test_new_words_do_not_outlive_an_error(key: str) -> None:
    """Good dicts with new words and a new class leave no trace where the batch has something else wrong."""
    label = 0.5 if key in REGRESSORS else 7
    X, y = [{"brand new": 1.0}, {"newer": 2.0}], [label, label]
    for model in (trained(key, as_dicts(counts())), trained(key, as_dicts(counts()), warm_start=True)):
        for call in (model.partial_fit, model.fit):
            assert_refused(model, call, None, X=[*X, "no dict"], y=[label] * 3)
            assert_refused(model, call, None, X=X, y=y[:1])
            assert_refused(model, call, None, X=X, y=[label, np.nan])
            assert_refused(model, call, "sample_weight|variant", X=X, y=y, sample_weight=[1.0, -1.0])
        assert_refused(model, model.learn_one, "sample_weight|variant", x=X[0], y=label, sample_weight=-1.0)
        assert_refused(model, model.learn_one, None, x=X[0], y=np.nan)
        assert_refused(model, model.learn_one, None, x=X[0], y=[1, 2])
        model.set_params(average=True)
        assert_refused(model, model.partial_fit, "average", X=X, y=y)
        assert_refused(model, model.learn_one, "average", x=X[0], y=label)


BAD_EXAMPLES: dict[str, tuple[Any, str]] = {
    "NaN": (with_value(counts()[:1], 0, 2, np.nan)[0], "NaN.*column 2"),
    "inf": (with_value(counts()[:1], 0, 2, np.inf)[0].tolist(), "inf.*column 2"),
    "NaN in CSR": (sp.csr_matrix(with_value(counts()[:1], 0, 2, np.nan)), "NaN.*column 2"),
    "too long": (np.ones(7), "7 features.*6 features"),
    "too short": (np.ones(5, dtype=np.float32), "5 features.*6 features"),
    "a number": (3.0, "one example"),
    "text": ("free offer", "one example"),
    "None": (None, "one example"),
    "a list of dicts": ([{"free": 1.0}], "one example"),
    "a column": (np.ones((6, 1)), "one example"),
    "two rows": (np.ones((2, 3)), "one example"),
    "two rows in CSR": (sp.csr_matrix(np.ones((2, 6))), "one example"),
    "two rows in a frame": (pd.DataFrame(np.ones((2, 6))), "one example"),
    "no rows": (np.ones((0, 6)), "one example"),
    "dict": ({"free": 1.0}, "6 .*columns.*array"),
}


@pytest.mark.parametrize("bad", BAD_EXAMPLES)
def test_bad_examples_leave_no_trace(bad: str) -> None:
    """A bad example is refused by learn_one and predict_one, before and after their short cuts are ready."""
    x, words = BAD_EXAMPLES[bad]
    for key in LEARNERS:
        model = trained(key)
        for _ in range(2):
            assert_refused(model, model.learn_one, words, x=x, y=1)
            assert_refused(model, model.predict_one, words, x=x)


@pytest.mark.parametrize(
    "bad", ["NaN", "-inf, float32", "NaN in CSR", "text", "one dimension", "an index too large"]
)
def test_bad_batches_get_no_prediction(bad: str) -> None:
    """Predicting refuses the rows that learning refuses, in the same words."""
    change, words = BAD_ROWS[bad]
    for key in LEARNERS:
        model = trained(key)
        X, y = counts(3, seed=9) + 1.0, answers(key, 3)
        for call in (model.predict, model.decision_function):
            assert_refused(model, call, words.format(row=2), X=change(X, y)["X"])


BAD_PARAMETERS: dict[str, list[Any]] = {
    "C": [0, -1.0, np.nan, np.inf, "1", None, True, 10**400],
    "variant": ["III", "i", None, 1],
    "epsilon": [-0.1, np.nan, "0"],
    "covariance": ["diagonal", None, 1],
    "a": [0, -1.0, np.nan],
    "r": [0, -1.0, np.inf, "1"],
    "phi": [0, -0.5, np.nan, "1"],
    "eta": [0, -1, np.inf],
    "power": [-0.1, 1.5, np.nan, None],
    "tau_plus": [np.nan, "1", None],
    "tau_minus": [np.inf],
    "rho": [0, -1, "even", {0: 0.0}, {0: "1"}, None, np.array([1.0, 2.0])],
    "gamma": [0, -1, np.nan, "1", 1e31],
    "anchor_scale": [0, np.inf, 1e31],
    "window": [-1, 1.5, "10", None],
    "window_weights": [[1.0], [0.0] * 10, "abc", 3.0, [[1.0], [2.0, 3.0]]],
    "fit_intercept": ["yes", 1, None],
    "average": ["yes", 0],
    "epochs": [0, -1, 1.5, "2", None],
    "shuffle": [1, "no"],
    "random_state": [-1, 1.5, "seed", 2**40],
    "warm_start": [1],
    "hash_bits": [0, 31, 2.0, "8"],
    "classes": ["ab", 3, {"a": 1}, [[1, 2]], [[1], [2, 3]], [0, None], [0, np.nan], [0, "a"], [b"a"]],
    "class_weight": ["even", {0: -1.0}, {0: np.nan}, 2.0, [1.0, 2.0], np.array([1.0, 2.0])],
}


@pytest.mark.parametrize("key", LEARNERS)
def test_bad_parameters_are_named(key: str) -> None:
    """A parameter out of range is named by whatever learns next, on new models and on trained ones."""
    X, y = counts(), answers(key)
    for name in make(key).get_params():
        for value in BAD_PARAMETERS[name]:
            for model in (make(key), trained(key)):
                model.set_params(**{name: value})
                for call in (model.fit, model.partial_fit):
                    assert_refused(model, call, rf"\b{name}\b", X=X, y=y)
                assert_refused(model, model.learn_one, rf"\b{name}\b", x=X[0], y=y[0])


def test_unknown_names_are_refused() -> None:
    """A learner or parameter that does not exist is named, beside those that do."""
    with pytest.raises(ValueError, match=r"'pa9'.*pa1"):
        tt.make("pa9")
    with pytest.raises(ValueError, match=r"'c'.*C"):
        tt.make("pa1", c=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        tt.make("pa1").set_params(c=1.0)


def test_costs_for_two_classes_refuse_a_third() -> None:
    """CPA with one number for rho refuses a third label in a batch of any size, and forgets it."""
    for X in (counts(), counts()[:1], sp.csr_matrix(counts()[:3])):
        model = tt.CPAClassifier(rho=2.0).partial_fit(counts(), answers("cpa"))
        y = [2] * X.shape[0]
        for call in (model.partial_fit, model.set_params(warm_start=True).fit):
            assert_refused(model, call, "rho", X=X, y=y)
        assert_refused(model, model.learn_one, "rho", x=X[0], y=2)


@pytest.mark.parametrize(
    "key", ["pa1", "pa1 averaged", "pa2", "cpa", "cspa", "pamean1", "pameanw1", "pa1-reg"]
)
def test_a_new_C_holds_from_the_next_example(key: str) -> None:
    """set_params(C=...) between two examples is what the next move uses, one by one as in a batch."""
    X, y = counts(), answers(key)
    half = SIZE // 2
    loop, batch, old = (make(key).partial_fit(X[:half], y[:half]) for _ in range(3))
    for x, answer in zip(X[:half], y[:half], strict=True):
        loop.predict_one(x)
        loop.learn_one(x, answer)
    for model in (batch, old):
        model.partial_fit(X[:half], y[:half])
    loop.set_params(C=0.001)
    batch.C = 0.001
    for x, answer in zip(X[half:], y[half:], strict=True):
        loop.learn_one(x, answer)
    batch.partial_fit(X[half:], y[half:])
    assert everything(loop) == everything(batch)
    assert not np.array_equal(batch.coef_, old.partial_fit(X[half:], y[half:]).coef_)


def test_a_new_C_bounds_the_move() -> None:
    """PA-I moves by exactly C·y·x where the cap binds, whatever C was before."""
    model = tt.PAClassifier(C=10.0, fit_intercept=False).partial_fit([[1.0, 0.0], [0.0, 1.0]], [1, 0])
    before = model.coef_
    model.set_params(C=0.25).learn_one([1.0, 0.0], 0)
    assert (model.coef_ - before).tolist() == [[-0.25, 0.0]]


CHANGES: dict[str, dict[str, Any]] = {
    "pa1": {"C": 0.01, "variant": "II"},
    "pa2": {"fit_intercept": False},
    "cspa": {"rho": "balanced"},
    "paum": {"tau_plus": 3.0, "eta": 0.1},
    "pamean1": {"gamma": 2.0, "anchor_scale": 5.0},
    "pameanw1": {"window_weights": [float(k) for k in range(1, 11)]},
    "perceptron": {"classes": [0, 1, 2]},
    "pa1-reg": {"epsilon": 0.5},
}


@pytest.mark.parametrize("key", CHANGES)
def test_asking_makes_no_difference(key: str) -> None:
    """predict_one between a change of parameters and the next example changes nothing of what is learned."""
    X, y = counts(), answers(key)
    asked, batch = (trained(key).set_params(**CHANGES[key]) for _ in range(2))
    for x, answer in zip(X, y, strict=True):
        asked.predict_one(x)
        asked.learn_one(x, answer)
    assert everything(asked) == everything(batch.partial_fit(X, y))


@pytest.mark.parametrize("key", CONFIGS)
def test_the_loop_after_several_epochs(key: str) -> None:
    """After a fit of several epochs learn_one and partial_fit still do the same."""
    X, y = counts(), answers(key)
    loop, batch = (make(key, epochs=3).fit(X, y) for _ in range(2))
    for x, answer in zip(X, y, strict=True):
        loop.predict_one(x)
        loop.learn_one(x, answer)
    assert everything(loop) == everything(batch.partial_fit(X, y))


SHAPING = [("average", True), ("hash_bits", 3), ("window", 4), ("window", 0)]


@pytest.mark.parametrize("key", LEARNERS)
def test_what_shapes_the_state_cannot_change(key: str) -> None:
    """average, window and hash_bits are refused once something was learned; a new fit takes them."""
    dicts, y = as_dicts(counts()), answers(key)
    now = make(key).get_params()
    for name, value in [(name, value) for name, value in SHAPING if now.get(name, value) != value]:
        for warm_start in (False, True):
            model = trained(key, dicts, warm_start=warm_start).set_params(**{name: value})
            for n_rows in (1, SIZE):
                assert_refused(model, model.partial_fit, name, X=dicts[:n_rows], y=y[:n_rows])
            assert_refused(model, model.learn_one, name, x=dicts[0], y=y[0])
            if warm_start:
                assert_refused(model, model.fit, name, X=dicts, y=y)
            else:
                assert everything(model.fit(dicts, y)) == everything(make(key, **{name: value}).fit(dicts, y))


@pytest.mark.parametrize("key", CONFIGS)
def test_fit_starts_anew(key: str) -> None:
    """fit forgets what was learned, whatever its width, names and classes, and leaves parameters alone."""
    X, y = counts(), answers(key)
    model = make(key).fit(
        pd.DataFrame(counts(SIZE, 3), columns=NAMES[:3]), answers(key, labels=["a", "b", "c"])
    )
    parameters = model.get_params()
    assert everything(model.fit(X, y)) == everything(make(key).fit(X, y))
    assert model.get_params() == parameters


@pytest.mark.parametrize("key", [key for key in CONFIGS if CONFIGS[key][1].get("class_weight") is None])
def test_fit_of_known_classes_is_partial_fit(key: str) -> None:
    """One epoch of fit is partial_fit with all classes given, and a second fit with warm_start goes on."""
    X, y = counts(), answers(key, labels=(0, 1, 2))
    known = {"classes": [0, 1, 2]} if key in CLASSIFYING else {}
    batch, warm = make(key), make(key, warm_start=True)
    for _ in range(2):
        batch.partial_fit(X, y, **known)
        warm.fit(X, y)
        assert everything(batch.set_params(warm_start=True)) == everything(warm)


@pytest.mark.parametrize(
    "key",
    [key for key, (name, more) in CONFIGS.items() if "mean" not in name and not more.get("class_weight")],
)
def test_epochs_are_passes(key: str) -> None:
    """fit with three epochs is three passes of partial_fit, class means apart, which freeze."""
    X, y = counts(), answers(key)
    passes = make(key, epochs=3)
    for _ in range(3):
        passes.partial_fit(X, y, **({"classes": [0, 1]} if key in CLASSIFYING else {}))
    assert everything(make(key, epochs=3).fit(X, y)) == everything(passes)


@pytest.mark.parametrize("key", CONFIGS)
def test_shuffles_repeat(key: str) -> None:
    """shuffle with a seed gives one model every time, another with another seed, by an order of the rows."""
    X, y = counts(), answers(key)

    for form in (np.asarray, sp.csr_matrix, as_dicts):
        first, again, other, generator = (
            make(key, shuffle=True, random_state=seed).fit(form(X), y)
            for seed in (3, 3, 4, np.random.RandomState(3))
        )
        assert everything(first) == everything(again), form
        assert np.array_equal(first.coef_, generator.coef_), form
        assert not np.array_equal(first.coef_, other.coef_), form
        if form is not as_dicts and CONFIGS[key][1].get("class_weight") is None:
            order = np.random.RandomState(3).permutation(SIZE)
            assert np.array_equal(make(key).fit(form(X[order]), y[order]).coef_, first.coef_), form


@pytest.mark.parametrize("key", CLASSIFYING)
def test_a_class_without_rows(key: str, recwarn: pytest.WarningsRecorder) -> None:
    """A class that is announced but has no rows is known, has a column, and sets off no warning."""
    model = make(key, classes=[0, 1, 5]).fit(counts(), answers(key))
    assert model.classes_.tolist() == [0, 1, 5]
    assert model.class_count_[2] == 0
    assert np.isfinite(model.coef_).all()
    assert not recwarn.list


COPIES: tuple[Callable[[Any], Any], ...] = (copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)))


@pytest.mark.parametrize("key", CONFIGS)
def test_copies_learn_on_alike(key: str) -> None:
    """A copy is the same to the last bit, learns on as the model does, and neither touches the other."""
    for form, copied in itertools.product(("dense", "dicts"), COPIES):
        X, y = a_growing_stream(key, form)
        model = make(key)
        for i in range(30):
            model.learn_one(X[i], y[i])
        twin = copied(model)
        before = everything(model)
        assert everything(twin) == before
        for i in range(30, len(y)):
            twin.learn_one(X[i], y[i])
        assert everything(model) == before, form
        assert everything(model.partial_fit(X[30:], y[30:])) == everything(twin), form


@pytest.mark.parametrize("key", CONFIGS)
def test_clones_have_learned_nothing(key: str) -> None:
    """clone keeps parameters and nothing else."""
    model = trained(key, as_dicts(counts()))
    assert everything(clone(model)) == everything(make(key))
    assert clone(model).get_params() == model.get_params()


MERGING = [key for key in CONFIGS if "balanced" not in key]


@pytest.mark.parametrize("key", MERGING)
def test_merged_weights_are_the_mean(key: str) -> None:
    """Merged weights are the weighted mean, rounds and moves add up, and the models merged are untouched.

    The weights of second-order learners merge otherwise: see test_second_order.
    """
    X, y = counts(), answers(key)
    models = [
        make(key).partial_fit(X[part], y[part]) for part in (slice(0, 15), slice(10, 25), slice(25, 40))
    ]
    before = [everything(model) for model in models]
    for weights in (None, [1.0, 2.0, 5.0], np.array([0.0, 0.0, 3.0])):
        merged = tt.merge(models, weights=weights)
        shares = np.ones(3) / 3 if weights is None else np.array(weights) / np.sum(weights)
        mean = sum(share * model.coef_ for share, model in zip(shares, models, strict=True))
        intercept = sum(share * model.intercept_ for share, model in zip(shares, models, strict=True))
        if not isinstance(models[0], SecondOrder):
            np.testing.assert_allclose(merged.coef_, mean, **ROUNDING)
            np.testing.assert_allclose(merged.intercept_, intercept, **ROUNDING)
        assert merged.t_ == sum(model.t_ for model in models)
        assert merged.n_updates_ == sum(model.n_updates_ for model in models)
        assert type(merged) is type(models[0])
        assert merged.get_params() == models[0].get_params()
        assert everything(models[0].merge(*models[1:], weights=weights)) == everything(merged)
        merged.partial_fit(X, y).learn_one(X[0], y[0])
    assert [everything(model) for model in models] == before


@pytest.mark.parametrize("key", MERGING)
def test_a_model_merged_with_itself(key: str) -> None:
    """The mean of a model and itself predicts as it does; where information adds up, it is told twice."""
    model = trained(key, labels=(0, 1, 2))
    second_order = isinstance(model, SecondOrder)
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if second_order else ROUNDING  # Σ is inverted, and back
    for models in ([model], [model, model])[: 1 if second_order and model.additive else 2]:
        np.testing.assert_allclose(tt.merge(models).coef_, model.coef_, **tolerance)


FIRST_ORDER_MERGING = [key for key in MERGING if not isinstance(make(key), SecondOrder)]


@pytest.mark.parametrize("key", [key for key in FIRST_ORDER_MERGING if key in CLASSIFYING])
def test_merge_over_the_union(key: str) -> None:
    """Models of other words and classes merge over the union; what one never saw counts as 0 there."""
    X = counts()
    one = make(key).partial_fit(as_dicts(X[:, :4], NAMES[:4]), answers(key, labels=("a", "c")))
    two = make(key).partial_fit(as_dicts(X[:, 2:], NAMES[2:]), answers(key, labels=("b", "c", "d"), seed=4))
    merged = tt.merge([one, two], weights=[3, 1])
    assert merged.classes_.tolist() == list("abcd")
    assert sorted(merged.feature_names_in_) == NAMES
    assert merged.n_features_in_ == len(NAMES)

    def spread(model: Any, columns: Any) -> Any:
        """The weights for all words and classes; two classes that compete share the margin."""
        share = 0.5 if model.coupled else 1.0
        rows = columns if len(columns) > 2 else np.concatenate([-share * columns, share * columns])
        full = np.zeros((4, len(NAMES)))
        places = ["abcd".index(label) for label in model.classes_]
        full[np.ix_(places, [NAMES.index(name) for name in model.feature_names_in_])] = rows
        return full

    expected = 0.75 * spread(one, one.coef_) + 0.25 * spread(two, two.coef_)
    order = [merged.feature_names_in_.tolist().index(name) for name in NAMES]
    np.testing.assert_allclose(merged.coef_[:, order], expected, **ROUNDING)
    count = {label: 0 for label in "abcd"}
    for model in (one, two):
        for label, number in zip(model.classes_, model.class_count_, strict=True):
            count[label] += number
    assert merged.class_count_.tolist() == list(count.values())


@pytest.mark.parametrize("key", [key for key in MERGING if "mean" in key])
def test_merged_class_means_are_those_of_all_rows(key: str) -> None:
    """Sums and counts of the classes add up, whatever the weights: the anchor is that of all rows."""
    X, y = counts(), answers(key)
    parts = [
        make(key).partial_fit(X[part], y[part], classes=[0, 1]) for part in (slice(0, 12), slice(12, 40))
    ]
    merged = tt.merge(parts, weights=[5.0, 1.0])
    difference = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    np.testing.assert_allclose(merged.anchor_[0, 1:], make(key).anchor_scale * difference, **ROUNDING)


def test_merge_refuses_what_does_not_fit() -> None:
    """Models that differ in what shapes them, none at all, and weights that make no mean are refused."""
    X, y = counts(), answers("pa1")
    model, named = trained("pa1"), trained("pa1", as_dicts(X))
    refused = {
        "no models": ([], None),
        "Model 1 is a PerceptronClassifier": ([model, trained("perceptron")], None),
        "Model 1 .*average": ([model, trained("pa1 averaged")], None),
        "Model 1 .*fit_intercept": ([model, trained("pa1 without intercept")], None),
        "columns": ([model, make("pa1").partial_fit(X[:, :5], y)], None),
        "names": ([model, named], None),
        "hash_bits": ([named, trained("pa1", as_dicts(X), hash_bits=4)], None),
        "not fitted": ([model, make("pa1")], None),
        "[Ll]abel|classes": ([model, make("pa1").partial_fit(X, y.astype(str))], None),
    }
    bad_weights = ([1.0], [1.0, -1.0], [0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [[1.0, 1.0]], ["a", "b"])
    cases = [*refused.items(), *(("weights", ([model, model], weights)) for weights in bad_weights)]
    before = everything(model), everything(named)
    for words, (models, weights) in cases:
        with pytest.raises(ValueError, match=words):
            tt.merge(models, weights=weights)
    assert (everything(model), everything(named)) == before
    with pytest.raises(ValueError, match="window"):
        tt.merge([trained("pameanw1"), trained("pameanw1 weighted")])


EXTREMES = [1e150, 1e200, 1e308, -1e308, 1e154, 1e-160, 1e-320, -1e-308, 0.0]


def extreme_rows() -> Any:
    """Plain rows with huge, tiny and zero ones among them, each scale twice in two patterns."""
    X = counts(8 * len(EXTREMES), seed=6)
    for k, value in enumerate(EXTREMES * 2):
        X[4 * k + 1] = value
        X[4 * k + 2] *= value / 4
    return np.vstack([X, counts(10, seed=8)])


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
@pytest.mark.parametrize("key", CONFIGS)
def test_extreme_rows_are_survived(key: str) -> None:
    """Rows of 1e308, 1e-320 and 0 leave the model finite and sane, in a batch exactly as in the loop."""
    for n_classes, form in itertools.product((2, 3), (np.asarray, sp.csr_matrix)):
        X = form(extreme_rows())
        y = answers(key, X.shape[0], labels=range(n_classes))
        batch, loop = make(key).partial_fit(X, y), make(key)
        for i in range(X.shape[0]):
            loop.learn_one(X[i], y[i])
        assert everything(loop) == everything(batch), form
        learned = {"coef_": batch.coef_, "intercept_": batch.intercept_, **batch.state_.arrays()}
        for name, array in learned.items():
            assert np.isfinite(array).all(), (form, n_classes, name)
        plain = counts(30, seed=11)
        scores = batch.partial_fit(plain, answers(key, 30)).decision_function(plain)
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("key", CONFIGS)
def test_rows_without_a_length_are_passed_over(key: str) -> None:
    """A row whose squared length overflows, or is 0 without an intercept, moves no weight."""
    for value in (1e200, 1e308, 1e-170, 0.0):
        model = trained(key, fit_intercept=False)
        before, moves = model.coef_, model.n_updates_
        for label in (0, 1) * 3:
            model.learn_one(np.full(len(NAMES), value), label)
        if not make(key).average:
            np.testing.assert_allclose(model.coef_, before, **ROUNDING, err_msg=str(value))
        assert model.n_updates_ == moves, value
        assert np.isfinite(model.coef_).all(), value


@pytest.mark.parametrize("key", [key for key in CONFIGS if key not in CLASSIFYING])
def test_extreme_targets_are_survived(key: str) -> None:
    """Targets near the largest float leave the weights finite, in a batch exactly as in the loop."""
    X = counts()
    for target in (1e150, 1e300, -1e300, 1e-320):
        y = np.where(np.arange(SIZE) % 3 == 0, target, answers(key))
        loop = make(key)
        for x, answer in zip(X, y, strict=True):
            loop.learn_one(x, answer)
        assert everything(make(key).partial_fit(X, y)) == everything(loop), target
        assert np.isfinite(loop.coef_).all(), target


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("key", [key for key in CONFIGS if make(key).takes_weights])
def test_extreme_weights_are_survived(key: str) -> None:
    """Weights near the ends of the floats leave the model finite."""
    for weight in (1e-320, 1e300):
        model = make(key).partial_fit(counts(), answers(key), sample_weight=np.full(SIZE, weight))
        assert np.isfinite(model.coef_).all(), weight
