"""Where tauten and scikit-learn take the same steps, and where and why they do not."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import load_svmlight
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tauten as tt

RATES = {"I": "pa1", "II": "pa2"}


def sgd(variant, C, fit_intercept=False):
    """scikit-learn's passive-aggressive classifier as it is spelt since 1.8, one pass in order."""
    return SGDClassifier(
        loss="hinge", penalty=None, learning_rate=RATES[variant], eta0=C,
        shuffle=False, max_iter=1, tol=None, fit_intercept=fit_intercept,
    )  # fmt: skip


@pytest.mark.parametrize("variant", ["I", "II"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_same_weights_without_intercept(variant, C, sparse):
    """Without a bias and in the same order, PA-I and PA-II leave scikit-learn's weights."""
    random = np.random.default_rng(0)
    X = random.standard_normal((500, 10)) * (random.random((500, 10)) < 0.6)
    X = sp.csr_matrix(X) if sparse else X
    y = np.asarray(X @ random.standard_normal(10)) + random.standard_normal(500) > 0
    theirs = sgd(variant, C).partial_fit(X, y, classes=[False, True])
    ours = tt.PAClassifier(C=C, variant=variant, fit_intercept=False).partial_fit(X, y, classes=[False, True])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("variant", ["I", "II"])
def test_same_weights_in_regression(variant):
    """The regressors agree in the same way."""
    random = np.random.default_rng(0)
    X = random.standard_normal((500, 10))
    y = X @ random.standard_normal(10) + random.standard_normal(500)
    theirs = SGDRegressor(
        loss="epsilon_insensitive", penalty=None, learning_rate=RATES[variant], eta0=0.3,
        epsilon=0.1, shuffle=False, max_iter=1, tol=None, fit_intercept=False,
    ).partial_fit(X, y)  # fmt: skip
    ours = tt.PARegressor(C=0.3, variant=variant, fit_intercept=False).partial_fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-9)


def test_intercept_differs_as_documented():
    """With a bias, our step meets the margin it aims at; scikit-learn's, which leaves the 1 out of ‖x‖²,
    overshoots.
    """
    x, y = np.array([[0.5, -0.5]]), [1]
    ours = tt.PAClassifier(variant="hard", classes=[0, 1]).partial_fit(x, y)
    theirs = sgd("I", 1e9, fit_intercept=True).partial_fit(x, y, classes=[0, 1])
    assert ours.decision_function(x)[0] == pytest.approx(1.0)
    assert theirs.decision_function(x)[0] == pytest.approx((0.5 + 1.0) / 0.5)  # (‖x‖² + 1) / ‖x‖²


def test_intercept_on_real_data():
    """On a9a with a constant feature of their own both agree; with the intercept option they part, ours no
    worse.
    """
    (X, y), (X_test, y_test) = load_svmlight("a9a", 123, constant=True)
    theirs = sgd("II", 0.01).partial_fit(X, y, classes=[-1, 1])
    ours = tt.PAClassifier(C=0.01, variant="II", fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-7)
    bare, bare_test = X[:, :-1], X_test[:, :-1]
    with_bias = tt.PAClassifier(C=0.01, variant="II").fit(bare, y)
    np.testing.assert_allclose(
        np.append(with_bias.coef_[0], with_bias.intercept_), ours.coef_[0], rtol=1e-7, atol=1e-7
    )
    overshooting = sgd("II", 0.01, fit_intercept=True).partial_fit(bare, y, classes=[-1, 1])
    assert np.abs(with_bias.coef_ - overshooting.coef_).max() > 1e-3
    assert with_bias.score(bare_test, y_test) >= overshooting.score(bare_test, y_test) - 0.02


def test_pipelines_and_searches():
    """Learners work in pipelines, cross-validation and grid searches."""
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 5)) * [1, 10, 100, 1, 1] + 3
    y = (X - 3) @ [1, 0.1, 0.01, 1, -1] > 0
    pipeline = make_pipeline(StandardScaler(), tt.PAClassifier(epochs=3))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(pipeline, {"paclassifier__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
