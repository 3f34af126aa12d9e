"""Many models into one: the weighted mean, over the union of their classes and features."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np


def merge(models: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
    """A new model whose weights are the mean of the models' weights; it learns on from there.

    Models must be of one class and agree on what shapes their state. A class or feature that a model has
    never seen counts as weights of 0 there. Rounds, moves and class counts add up; class means are those of
    all rows together. Parameters are the first model's. `weights` (default: all equal) need not add up to 1.

    >>> import tauten as tt
    >>> a = tt.PAClassifier(C=1.0).partial_fit([[1.0, 0.0], [-1.0, 0.0]], [1, 0])
    >>> b = tt.PAClassifier(C=1.0).partial_fit([[0.0, 1.0], [0.0, -1.0]], [1, 0])
    >>> tt.merge([a, b]).coef_.round(3).tolist()
    [[0.25, 0.25]]
    """
    if hasattr(models, "state_"):
        raise ValueError(f"merge got one {type(models).__name__}; expected a list of models.")
    models = list(models)
    if models and all("learner_" in getattr(model, "__dict__", ()) for model in models):
        merged = copy.deepcopy(models[0])
        merged.pool(models, merge([model.learner_ for model in models], weights))
        return merged
    shares = _shares(models, weights)
    _check_alike(models)
    parts = [copy.deepcopy(model) for model in models]
    _share_features(parts)
    if hasattr(parts[0], "classes_"):
        for part in parts:
            for other in models:
                part.know(other.classes_)
    merged = copy.deepcopy(parts[0])
    merged.pool([part.state_ for part in parts], shares)
    merged.state_.n_rounds = sum(part.t_ for part in parts)
    merged.state_.n_moves = sum(part.n_updates_ for part in parts)
    if hasattr(merged, "class_count_"):
        merged.class_count_ = np.sum([part.class_count_ for part in parts], axis=0)
    merged.plan()  # refuses parameters that do not go with all that was merged
    return merged


def _shares(models: Sequence[Any], weights: Sequence[float] | None) -> Any:
    if not models:
        raise ValueError("merge got no models; expected at least one.")
    try:
        shares = np.ones(len(models)) if weights is None else np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"merge got weights {weights!r}; expected a number for each model.") from error
    if shares.shape != (len(models),) or not (
        np.isfinite(shares).all() and (shares >= 0).all() and shares.any()
    ):
        raise ValueError(
            f"merge got weights {weights!r} for {len(models)} models; expected a number for each, 0 or above."
        )
    shares = shares / shares.max()  # a sum of large ones may be infinite
    return shares / shares.sum()


def _check_alike(models: Sequence[Any]) -> None:
    first = models[0]
    for position, model in enumerate(models):
        if not hasattr(model, "_need_fitted"):
            raise ValueError(f"Model {position} is {model!r:.50}; expected a learner.")
        if type(model) is not type(first):
            raise ValueError(
                f"Model {position} is a {type(model).__name__}; expected a {type(first).__name__}."
            )
        model._need_fitted()
        shape, expected = (
            (type(m.state_), m.state_.settings(), m.fit_intercept, m.hash_bits) for m in (model, first)
        )
        if shape != expected:
            raise ValueError(
                f"Model {position} has another fit_intercept, hash_bits, {first.shape_parameters} than the "
                "first."
            )


def _share_features(models: Sequence[Any]) -> None:
    """Give all models the columns of all."""
    indexes = [model.__dict__.get("_feature_index") for model in models]
    if any(index is None for index in indexes):
        widths = [model.n_features_in_ for model in models]
        if any(index is not None for index in indexes) or len(set(widths)) > 1:
            raise ValueError(
                f"Models have {widths} columns, not all of them named; expected names, or one width."
            )
        return
    union: dict[str, int] = {}
    for index in indexes:
        for name in index:
            union.setdefault(name, len(union))
    for model, index in zip(models, indexes, strict=True):
        columns = [union[name] for name in sorted(index, key=index.__getitem__)]
        model.state_.place_features(columns, len(union))
        model._feature_index = dict(union)
        model.n_features_in_ = len(union)
