"""Traces against loops and scikit-learn's metrics; sweeps against single models; comparisons."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import SUPERVISED
from scipy.stats import ttest_rel
from sklearn import metrics
from sklearn.linear_model import SGDClassifier

import tauten as tt


def rows(n_classes=2, n_rows=400, seed=0):
    """Noisy rows of some classes."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, 6))
    scores = X @ random.standard_normal((6, n_classes)) + random.standard_normal((n_rows, n_classes))
    return X, np.array(["ant", "bee", "cow"])[scores.argmax(axis=1)]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"average": True}], ids=str)
@pytest.mark.parametrize("name", [name for name in SUPERVISED if tt.learners()[name].kind == "classifier"])
def test_trace_is_predict_then_learn(name, options, n_classes):
    """A trace's errors, scores and updates are those of a loop of decision_function, predict_one and
    learn_one.
    """
    X, y = rows(n_classes)
    loop = tt.make(name, classes=np.unique(y).tolist(), **options)
    loop.learn_one(X[0], y[0])
    trace = tt.progressive(tt.make(name, **options), X, y)
    for i in range(1, len(X)):
        np.testing.assert_allclose(
            loop.decision_function(X[i : i + 1])[0], trace.scores[i], rtol=1e-9, atol=1e-9
        )
        assert (loop.predict_one(X[i]) != y[i]) == trace.errors[i]
        moves = loop.n_updates_
        loop.learn_one(X[i], y[i])
        assert (loop.n_updates_ > moves) == trace.updates[i]
    assert trace.asked.all() and trace.errors.dtype == trace.updates.dtype == trace.asked.dtype == bool


def test_figures_are_those_of_scikit_learn():
    """Every figure of a binary trace equals scikit-learn's from the same predictions."""
    X, y = rows()
    trace = tt.progressive(tt.make("pa1", C=0.1), X, y)
    figures = trace.summary()
    assert figures["error_rate"] == pytest.approx(1 - metrics.accuracy_score(y, trace.predicted))
    assert figures["f1"] == pytest.approx(metrics.f1_score(y, trace.predicted, pos_label="bee"))
    assert figures["f1_first"] == pytest.approx(metrics.f1_score(y, trace.predicted, pos_label="ant"))
    assert figures["sensitivity"] == pytest.approx(metrics.recall_score(y, trace.predicted, pos_label="bee"))
    assert figures["specificity"] == pytest.approx(metrics.recall_score(y, trace.predicted, pos_label="ant"))
    assert figures["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, trace.predicted))
    assert figures["kappa"] == pytest.approx(metrics.cohen_kappa_score(y, trace.predicted))
    assert trace.class_counts() == {"ant": int((y == "ant").sum()), "bee": int((y == "bee").sum())}
    assert (figures["rows"], figures["asked"], figures["updates"]) == (400, 400, trace.updates.sum())
    three = tt.progressive(tt.make("pa1"), *rows(3))
    assert three.f1() == pytest.approx(metrics.f1_score(three.y, three.predicted, average="macro"))
    assert three.kappa == pytest.approx(metrics.cohen_kappa_score(three.y, three.predicted))
    with pytest.raises(ValueError, match="3 classes; name the label"):
        three.sensitivity()
    with pytest.raises(ValueError, match="'dog' is not a class"):
        three.f1("dog")


def test_windowed_error_is_the_mean_of_the_last_rows():
    """Each entry is the plain mean of its window, shorter at the start."""
    trace = tt.progressive(tt.make("pa1"), *rows())
    by_hand = [trace.errors[max(0, i - 49) : i + 1].mean() for i in range(len(trace))]
    np.testing.assert_allclose(trace.windowed_error(50), by_hand, atol=1e-12)
    np.testing.assert_allclose(trace.windowed_error(10**6), trace.cumulative_error(), atol=1e-12)


def test_frames_have_a_row_each():
    """`to_frame` has one row a row, with a score a class for three classes."""
    frame = tt.progressive(tt.make("pa1"), *rows(3)).to_frame()
    assert list(frame.columns) == [
        "y",
        "predicted",
        "score_ant",
        "score_bee",
        "score_cow",
        "error",
        "asked",
        "updated",
    ]
    assert len(frame) == 400


def test_regression_trace():
    """A regressor's errors are absolute, its figures those of scikit-learn, and it has no classes."""
    X, _ = rows()
    y = X @ np.arange(6.0)
    trace = tt.progressive(tt.make("pa1-reg"), X, y)
    assert trace.summary()["mean_absolute_error"] == pytest.approx(
        metrics.mean_absolute_error(y, trace.predicted)
    )
    assert trace.summary()["rmse"] == pytest.approx(metrics.root_mean_squared_error(y, trace.predicted))
    with pytest.raises(ValueError, match="no classes"):
        trace.f1()


def test_progress_changes_nothing_and_is_told_of_every_row():
    """With a listener the rows go in about a hundred steps, to the same trace."""
    X, y = rows()
    heard = []
    trace = tt.progressive(
        tt.make("cspa", rho="balanced"), X, y, progress=lambda done, of: heard.append((done, of))
    )
    assert heard == [(done, 400) for done in range(4, 401, 4)]
    np.testing.assert_array_equal(trace.scores, tt.progressive(tt.make("cspa", rho="balanced"), X, y).scores)


GRIDS = [
    ("pa1", {"C": [0.01, 0.1, 1.0, 10.0]}),
    ("pa2", {"C": [0.01, 0.1, 1.0], "average": [False, True]}),
    ("pa2", {"C": [0.1, 1.0], "fit_intercept": [False, True], "class_weight": [None, "balanced"]}),
    ("perceptron", {"average": [False, True]}),
    ("paum", {"tau_plus": [0.0, 1.0], "tau_minus": [-1.0, 0.0], "eta": [0.5, 1.0]}),
    ("cpa", {"C": [0.1, 1.0], "rho": [{"ant": 1.0}, {"ant": 4.0}]}),
    ("cspa", {"C": [0.1, 1.0], "rho": [0.5, 2.0, "balanced"], "variant": ["I", "II"]}),
    ("pamean1", {"gamma": [0.1, 1.0]}),
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("name", "grid"), GRIDS, ids=str)
def test_sweep_equals_single_models(name, grid, n_classes, sparse):
    """Each model of a sweep is the one trained alone, to 1e-12; so are its errors, updates and later
    learning.
    """
    X, y = rows(n_classes)
    X = sp.csr_matrix(X * (np.abs(X) > 0.5)) if sparse else X
    sweep = tt.sweep(name, grid, X, y, n_jobs=2)
    assert len(sweep.grid) == np.prod([len(values) for values in grid.values()])
    for point, learner, error, updates in zip(
        sweep.grid, sweep.learners, sweep.errors, sweep.updates, strict=True
    ):
        alone = tt.make(name, **point)
        trace = tt.progressive(alone, X, y)
        assert (error, updates) == (pytest.approx(trace.error_rate, abs=1e-12), trace.updates.sum())
        assert (learner.t_, learner.n_updates_) == (alone.t_, alone.n_updates_)
        for model in (learner, alone):
            model.partial_fit(X[:50], y[:50])
        np.testing.assert_allclose(
            learner.coef_, alone.coef_, rtol=0, atol=1e-12 * max(1, np.abs(alone.coef_).max())
        )
        np.testing.assert_array_equal(learner.class_count_, alone.class_count_)
    frame = sweep.to_frame()
    assert list(frame.columns) == [*grid, "error_rate", "updates"]
    assert sweep.best is sweep.learners[int(np.argmin(sweep.errors))]


def test_sweep_of_regressors_and_of_dicts():
    """C and ε of a regressor share a pass, and dicts are read once for all models."""
    X, _ = rows()
    y = X @ np.arange(6.0)
    dicts = [dict(zip("abcdef", row.tolist(), strict=True)) for row in X]
    sweep = tt.sweep(tt.PARegressor(), {"C": [0.1, 1.0], "epsilon": [0.0, 0.5]}, dicts, y)
    for point, learner in zip(sweep.grid, sweep.learners, strict=True):
        np.testing.assert_allclose(
            learner.coef_, tt.PARegressor(**point).partial_fit(dicts, y).coef_, atol=1e-12
        )
        assert learner.feature_names_in_.tolist() == list("abcdef")
    assert "mean_absolute_error" in sweep.to_frame()


def test_sweep_refuses_an_empty_grid_and_bad_values():
    """Errors name the parameter, before anything is learned."""
    X, y = rows()
    with pytest.raises(ValueError, match="grid has no points"):
        tt.sweep("pa1", {"C": []}, X, y)
    with pytest.raises(ValueError, match="C is 0, expected a finite number above 0"):
        tt.sweep("pa1", {"C": [1.0, 0]}, X, y)


def test_compare_uses_the_same_orders_for_all():
    """One learner under two names has the same errors; the table has mean, sd and scipy's paired test."""
    X, y = rows()
    result = tt.compare(
        {"one": "pa1", "two": tt.PAClassifier(), "other": "paum"}, X, y, repeats=4, random_state=1
    )
    np.testing.assert_array_equal(result.errors("one"), result.errors("two"))
    assert result.p_value("one", "two") == 1.0
    expected = ttest_rel(result.errors("one"), result.errors("other")).pvalue
    assert result.p_value("one", "other") == pytest.approx(expected)
    frame = result.to_frame()
    assert frame["error_rate"].is_monotonic_increasing and frame["p_value"].iloc[0] == 1.0
    assert frame.loc["one", "error_rate_sd"] == pytest.approx(result.errors("one").std(ddof=1))
    order = np.random.RandomState(1).permutation(len(y))
    assert tt.progressive(tt.make("pa1"), X[order], y[order]).error_rate == result.errors("one")[0]


def test_compare_reads_lists_of_dicts_and_frames():
    """Orders apply to anything that holds rows."""
    pd = pytest.importorskip("pandas")
    X, y = rows()
    dicts = [dict(zip("abcdef", row.tolist(), strict=True)) for row in X]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    a, b, c = (tt.compare(["pa1"], data, y, repeats=2).errors("pa1") for data in (X, dicts, frame))
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(a, c)


@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
@pytest.mark.parametrize("form", ["coo", "dia", "bsr", "csc", "lil"])
def test_compare_reads_every_sparse_form(form):
    """Any sparse form has the errors of CSR, and so has a Series of dicts those of a list."""
    pd = pytest.importorskip("pandas")
    X, y = rows()
    errors = [
        tt.compare(["pa1"], data, y, repeats=2).errors("pa1")
        for data in (sp.csr_matrix(X), getattr(sp, f"{form}_matrix")(X), getattr(sp, f"{form}_array")(X))
    ]
    assert errors[0].tolist() == errors[1].tolist() == errors[2].tolist()
    dicts = [dict(zip("abcdef", row.tolist(), strict=True)) for row in X]
    as_list, as_series = (
        tt.compare(["pa1"], d, y, repeats=2).errors("pa1") for d in (dicts, pd.Series(dicts))
    )
    assert as_list.tolist() == as_series.tolist()


def test_compare_takes_one_learner():
    """A registry name, or a learner, stands for a list of it."""
    X, y = rows()
    assert tt.compare("pa1", X, y, repeats=2).names == ["pa1"]
    assert tt.compare(tt.PAClassifier(), X, y, repeats=2).names == ["PAClassifier()"]


def test_what_cannot_be_evaluated_is_named():
    """y of another length, learners of two kinds or from elsewhere, single values in a grid, half windows."""
    X, y = rows()
    for part in (y[:-1], np.append(y, "ant")):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            tt.compare(["pa1"], X, part)
    with pytest.raises(ValueError, match="classifiers and regressors"):
        tt.compare(["pa1", "pa1-reg"], X, y)
    with pytest.raises(ValueError, match="mix text"):
        tt.compare(["pa1"], X, [*y[:-1].tolist(), 1])
    for model in ("pa1", SGDClassifier()):
        with pytest.raises(ValueError, match=r"progressive got .*expected a learner"):
            tt.progressive(model, X, y)
    for call in (
        lambda: tt.sweep(SGDClassifier(), {"C": [1.0]}, X, y),
        lambda: tt.compare([SGDClassifier()], X, y),
    ):
        with pytest.raises(ValueError, match="no learner of tauten"):
            call()
    for value in (1.0, "hard", np.array(1.0), {"hard": 1}):
        with pytest.raises(ValueError, match=r"for C; expected a list of values"):
            tt.sweep("pa1", {"C": value}, X, y)
    trace = tt.progressive(tt.make("pa1"), X, y)
    for window in (2.5, 0, "10", True):
        with pytest.raises(ValueError, match=r"window is .*expected a whole number"):
            trace.windowed_error(window)


def test_an_error_of_the_listener_leaves_the_model():
    """What `progress` raises passes, and the model is as it was, however few the rows."""
    X, y = rows()
    model = tt.make("pa1").partial_fit(sp.csr_matrix((400, 5000)), y)

    def interrupt(done, of):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tt.progressive(
            model,
            sp.csr_matrix((X[:, 0], (np.arange(400), np.zeros(400, int))), (400, 5000)),
            y,
            progress=interrupt,
        )
    assert (model.t_, model.class_count_.sum(), np.abs(model.coef_).sum()) == (400, 400, 0.0)


def test_plots_are_labelled():
    """Each picture has labelled axes; an empty sweep curve says why."""
    matplotlib = pytest.importorskip("matplotlib", reason="plots are an extra")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    X, y = rows()
    axes = [
        tt.progressive(tt.make("pa1"), X, y).plot(window=50),
        tt.sweep("pa1", {"C": [0.1, 1.0]}, X, y).plot(),
        (comparison := tt.compare(["pa1", "pa"], X, y, repeats=2)).plot(),
    ]
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in axes)
    worst_first = comparison.to_frame().index.tolist()[::-1]
    assert [text.get_text() for text in axes[2].get_legend().get_texts()] == worst_first
    with pytest.raises(ValueError, match="2 varying parameters has no curve"):
        tt.sweep("pa1", {"C": [0.1, 1.0], "average": [True, False]}, X, y).plot()
    pyplot.close("all")
