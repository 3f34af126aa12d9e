"""`tt.plot_boundary`: the lines it draws are where predictions change."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import tauten as tt

matplotlib = pytest.importorskip("matplotlib", reason="plots are an extra")
matplotlib.use("Agg")


@pytest.fixture
def axes() -> Any:
    """Axes that are closed afterwards."""
    from matplotlib import pyplot

    figure, ax = pyplot.subplots()
    yield ax
    pyplot.close(figure)


def lines_of(ax: Any) -> np.ndarray:
    """Corners of the drawn boundaries."""
    paths = [
        path for c in ax.collections if list(getattr(c, "levels", [])) == [0.0] for path in c.get_paths()
    ]
    return np.vstack([path.vertices for path in paths])


def plane(X: np.ndarray) -> np.ndarray:
    """Two classes on the two sides of a line."""
    return np.where(X @ [1.0, -2.0] > 0.5, "up", "down")


MODELS = {
    "linear": tt.make("pa1"),
    "pipeline": make_pipeline(StandardScaler(), tt.make("pamo1", n_units=8)),
    "asked": tt.ActiveClassifier(tt.make("pa1"), tt.RandomAsk(rate=0.9), random_state=0),
    "no scores": DecisionTreeClassifier(max_depth=3, random_state=0),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_lines_are_where_predictions_change(model: Any, n_classes: int, axes: Any) -> None:
    """A step to one side or the other of each drawn line changes what is predicted."""
    X = np.random.default_rng(0).standard_normal((400, 2))
    y = plane(X) if n_classes == 2 else np.where(X[:, 1] > 1, "third", plane(X))
    model.fit(X, y)
    tt.plot_boundary(model, X, y, ax=axes, resolution=150)
    corners = lines_of(axes)
    reach = 0.1 * np.array(
        [(0, 1), (1, 0), (0, -1), (-1, 0), (0.7, 0.7), (-0.7, 0.7), (0.7, -0.7), (-0.7, -0.7)]
    )
    around = np.array([model.predict(corners + step) for step in reach])
    assert (around != around[0]).any(axis=0).mean() > 0.98
    assert {text.get_label() for text in axes.collections if text.get_label() in set(y)} == set(y)
    assert axes.get_xlim()[0] < X[:, 0].min() and axes.get_ylim()[1] > X[:, 1].max()


def test_names_and_bare_models(axes: Any) -> None:
    """Axes have the names of the features; without rows the plot spans ±3 or the limits that are given."""
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((100, 2)), columns=["height", "weight"])
    model = tt.make("pamo1").fit(X, plane(X.to_numpy()))
    tt.plot_boundary(model, ax=axes, resolution=20)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("height", "weight")
    assert axes.get_xlim() == axes.get_ylim() == (-3.0, 3.0)
    tt.plot_boundary(model, X, limits=((0, 1), (2, 3)), ax=axes, resolution=20)
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 1), (2, 3))


def test_what_has_no_boundary_is_refused() -> None:
    """Other than two features, models without classes and labels without rows are named."""
    X = np.random.default_rng(0).standard_normal((50, 3))
    model = tt.make("pa1").fit(X, X[:, 0] > 0)
    flat = tt.make("pa1").fit(X[:, :2], X[:, 0] > 0)
    for call, words in (
        (lambda: tt.plot_boundary(model), "expected a trained classifier of two features"),
        (lambda: tt.plot_boundary(tt.make("pa1")), "expected a trained classifier of two features"),
        (lambda: tt.plot_boundary(flat, X), r"X of shape \(50, 3\); expected two columns"),
        (lambda: tt.plot_boundary(flat, X[:, :2], [1]), "1 labels; expected X with a row for each"),
        (lambda: tt.plot_boundary(flat, y=[1]), "1 labels; expected X with a row for each"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
