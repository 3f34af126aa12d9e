"""What a learner must keep to, whoever wrote it: `check_learner` runs every promise over it.

A promise is a function that takes a learner and raises an AssertionError with one sentence where it is
broken. `PROMISES` lists them in the order of the design: (a) optimality, (c) scikit-learn, (d) one result by
every road, asking, (e) learning, (f) keeping, (g) the same without the compiler, (h) documentation, (i) bad
input. That a learner equals a slow twin (b) takes a twin, and so belongs to the tests of the learner.

An active learner keeps the same promises; its loop asks for the label of each row, and its steps are those of
the learner in it. (Longer than other files, for it is one list.)
"""

import copy
import inspect
import os
import pickle
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.exceptions import SkipTestWarning

from tauten.base import OnlineLearner
from tauten.classifier import OnlineClassifier
from tauten.kernels.state import Floats
from tauten.linear import Linear
from tauten.mapped import Mapped
from tauten.second_order import SecondOrder
from tauten.wrappers.active import ActiveClassifier, seeded

Learner = OnlineLearner | ActiveClassifier
Promise = Callable[[Any], None]  # of a Learner
N_POINTS = 300


def check_learner(learner: Learner, skip: Sequence[str] = ()) -> None:
    """Raise an AssertionError for the first promise that a learner breaks.

    `learner` is a learner with its parameters set; it is not changed. `skip` names promises to leave out.

    >>> import tauten as tt
    >>> tt.check_learner(tt.PAClassifier(C=0.5), skip=["scikit_learn", "without_jit"])
    """
    if not isinstance(learner, Learner):
        raise ValueError(f"check_learner got {learner!r}; expected a learner that takes rows one by one.")
    names = [promise.__name__ for promise in PROMISES]
    for unknown in set(skip) - set(names):
        raise ValueError(f"There is no promise {unknown!r}; expected one of {', '.join(names)}.")
    for promise in PROMISES:
        if promise.__name__ not in skip:
            promise(learner)


def stream(
    learner: Learner, n_rows: int = 200, n_classes: int = 2, seed: int = 0
) -> tuple[Floats, NDArray[Any]]:
    """Rows of mixed scales, a third of their values zero, and labels (targets) that follow a plane, with some
    noise.
    """
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, 6)) * (random.random((n_rows, 6)) < 0.7)
    X[random.integers(n_rows, size=n_rows // 20)] = 0.0
    X[random.integers(n_rows, size=n_rows // 20)] *= 1e3
    scores = X @ random.standard_normal((6, n_classes)) + 0.3 * random.standard_normal((n_rows, n_classes))
    if not is_classifier(learner):
        return X, scores[:, 0]
    return X, np.array([f"class {k}" for k in range(n_classes)])[scores.argmax(axis=1)]


def _streams(learner: Learner) -> list[tuple[Floats, NDArray[Any]]]:
    counts = (2, 3) if is_classifier(learner) else (1,)
    return [stream(learner, n_classes=count) for count in counts]


def _weights(learner: Learner) -> Floats:
    """All weights, the bias in the last column; of learners that are not linear all that they keep.

    Behind a map, or asked for its labels, the learner's.
    """
    if isinstance(learner, ActiveClassifier | Mapped):
        return _weights(learner.learner_)
    if not isinstance(learner, Linear):
        return np.concatenate([array.ravel() for array in learner.state_.arrays().values()])[None]
    return np.column_stack([np.atleast_2d(learner.coef_), learner.intercept_])


def _same(first: Learner, second: Learner, what: str, tolerance: float = 0.0) -> None:
    a, b = _weights(first), _weights(second)
    assert a.shape == b.shape, f"{what}: weights of shape {a.shape} and {b.shape}"
    apart = float(np.abs(a - b).max()) / max(float(np.abs(a).max()), 1.0)
    assert apart <= tolerance, f"{what}: weights differ by {apart:.2e}, at most {tolerance:.0e} is allowed"
    assert _counts(first) == _counts(second), f"{what}: counts of rows, moves or questions differ"


def _with(learner: OnlineLearner, **parameters: Any) -> OnlineLearner:
    """A blank copy with other values of parameters, those that it has; of a wrapper the learner has them."""
    model: OnlineLearner = clone(learner)
    for name, value in parameters.items():
        place = name if name in model.get_params() else f"learner__{name}"
        if place in model.get_params():
            model.set_params(**{place: value})
    return model


def _inner(learner: Learner) -> OnlineLearner:
    """What learns."""
    return learner.learner if isinstance(learner, ActiveClassifier) else learner


def _rounding(learner: Learner) -> float:
    """What another order of a sum may change, relative to the largest weight."""
    return _inner(learner).rounding


def _counts(learner: Learner) -> list[int]:
    names = ("t_", "n_updates_", *(("n_seen_", "n_asked_") if isinstance(learner, ActiveClassifier) else ()))
    return [getattr(learner, name) for name in names]


def _fresh(learner: Learner) -> Any:
    """An untrained learner of the same parameters."""
    return seeded(clone(learner))


def _learned(learner: Learner, X: Any, y: Any) -> Any:
    return _fresh(learner).partial_fit(X, y)


def _looped(learner: Learner, X: Any, y: Any) -> Any:
    """The same row by row."""
    model = _fresh(learner)
    for x, label in zip(X, y, strict=True):
        if not isinstance(model, ActiveClassifier) or model.ask_one(x):
            model.learn_one(x, label)
    return model


def optimality(learner: Learner) -> None:
    """At 300 random points the step beats all others near it, along it and on the constraint's edge."""
    if isinstance(learner, ActiveClassifier):
        learner = learner.learner
    random = np.random.default_rng(1)
    for point in range(N_POINTS):
        n_classes = 3 if point % 2 and learner.moves_two_classes else 2
        X, y = stream(learner, n_rows=30, n_classes=n_classes, seed=point)
        X[-1] = random.standard_normal(6) * 10.0 ** random.uniform(-1, 1)
        labels = np.unique(y).tolist() if isinstance(learner, OnlineClassifier) else None
        model = _with(learner, average=False, classes=labels).partial_fit(X[:-1], y[:-1])
        before = copy.deepcopy(model)
        model.learn_one(X[-1], y[-1])
        for reached, others in _outcomes(model, before, X[-1], y[-1], random):
            assert np.isfinite(reached), f"optimality: the step at point {point} leaves the constraint unmet"
            for value in others:
                assert reached <= value + 1e-9 * max(1.0, abs(value)), (
                    f"optimality: at point {point} the step reaches {reached:.9g}, another move {value:.9g}"
                )


def _outcomes(
    model: OnlineLearner, before: OnlineLearner, x: Floats, y: Any, random: np.random.Generator
) -> Iterator[tuple[float, list[float]]]:
    """For each problem that a step solved what it reached, and what others would have."""
    if isinstance(model, Mapped) and isinstance(before, Mapped):  # the problem is that of what learns behind
        z = model.mapped([x])[0]
        if len(z) == len(before.mapped([x])[0]):  # else it was turned to other axes after the step
            yield from _outcomes(model.learner_, before.learner_, z, y, random)
        return
    if not isinstance(model, Linear):
        for problem in model.problems(before, x, y):
            others = _alternatives(problem.end, problem.start, problem.end - problem.start, random)
            yield problem.value(problem.end), [problem.value(other) for other in others]
        return
    move = _as_binary(model, before, x, y)
    if np.any(move.x):
        yield (_beliefs if isinstance(model, SecondOrder) else _moves)(model, before, move, random)  # type: ignore[arg-type]


@dataclass
class Move:
    """A step as one on a single vector, the bias last: of many classes the two that move, one after the
    other.
    """

    w: Floats
    start: Floats
    x: Floats
    y: float
    blocks: int = 1


def _as_binary(model: OnlineLearner, before: OnlineLearner, x: Floats, y: Any) -> Move:
    start, after, x = _weights(before), _weights(model), np.append(x, float(model.fit_intercept))
    if not isinstance(model, OnlineClassifier):
        return Move(after[0], start[0], x, float(y))
    code = model.classes_.tolist().index(y)
    if len(model.classes_) == 2:
        return Move(after[0], start[0], x, 2.0 * code - 1.0)
    scores = start @ x
    scores[code] = -np.inf
    rival = int(scores.argmax())
    side = 1.0 if code > rival else -1.0
    unmoved = [k for k in range(len(scores)) if k not in (code, rival)]
    assert np.array_equal(after[unmoved], start[unmoved]), "optimality: a class moved that has no part in it"
    two = [code, rival]
    return Move(after[two].ravel(), start[two].ravel(), np.concatenate([side * x, -side * x]), side, 2)


def _moves(
    model: OnlineLearner, before: OnlineLearner, move: Move, random: np.random.Generator
) -> tuple[float, list[float]]:
    """What the step reaches, and what other weights would."""
    others = _alternatives(move.w, move.start, move.x, random)
    values = [model.objective(w, move.start, move.x, move.y) for w in (move.w, *others)]
    return values[0], values[1:]


def _beliefs(
    model: SecondOrder, before: SecondOrder, move: Move, random: np.random.Generator
) -> tuple[float, list[float]]:
    """The same over weights and covariance; a diagonal one is held to be the projection of the best."""
    prior, spread = before.covariance_, model.covariance_
    size = len(prior)  # without the constant feature where there is none
    vectors = (move.w, move.start, move.x)
    w, start, x = (vector.reshape(move.blocks, -1)[:, :size].ravel() for vector in vectors)
    if np.array_equal(w, start):
        assert np.array_equal(prior, spread), "optimality: the covariance changed where the weights did not"
        return 0.0, []
    if prior.ndim == 1:
        gained = 1 / spread - 1 / prior
        largest = np.abs(x[:size]).argmax()
        c = gained[largest] / x[largest] ** 2
        same = np.allclose(gained, c * x[:size] ** 2, rtol=1e-6, atol=1e-9 * (1 / spread).max())
        assert same, "optimality: the precision does not grow by a multiple of x²"
        prior, spread = np.diag(prior), np.linalg.inv(np.diag(1 / prior) + c * np.outer(x[:size], x[:size]))
    half = np.linalg.cholesky(spread)

    def value(w: Floats, spread: Floats) -> float:
        blocks = np.eye(move.blocks)
        return model.objective_of_belief(
            w, np.kron(blocks, spread).astype(float), start, np.kron(blocks, prior).astype(float), x, move.y
        )

    spreads = [prior]
    for scale in (1e-4, 1e-2, 0.3):
        noise = random.standard_normal(half.shape)
        along = np.linalg.solve(half, x[:size])
        for direction in (noise + noise.T, np.outer(along, along), -np.outer(along, along), np.eye(size)):
            bent = np.eye(size) + scale * direction / np.linalg.norm(direction)
            spreads.append(half @ bent @ half.T)
    others = [value(other, spread) for other in _alternatives(w, start, x, random)]
    others += [value(w, other) for other in spreads]
    others += [value(other, bent) for other in _alternatives(w, start, x, random) for bent in spreads[:4]]
    # Σ is off by ε·condition in its narrowest direction, and a value near a minimum by the square of that.
    return value(w, spread) - (np.finfo(float).eps * np.linalg.cond(prior)) ** 2, others


def _alternatives(w: Floats, start: Floats, x: Floats, random: np.random.Generator) -> list[Floats]:
    length = max(float(np.linalg.norm(w - start)), 1e-3)
    others = [start, w + (w - start)]
    for scale in (1e-4, 1e-2, 1.0):
        noise = random.standard_normal(len(w))
        squared = float(x @ x) or 1.0
        sideways = noise - (noise @ x) / squared * x  # keeps the score, so it stays on the constraint's edge
        others += [
            w + scale * length * direction / (float(np.linalg.norm(direction)) or 1.0)
            for direction in (noise, -noise, sideways, x, -x)
        ]
        others += [w + scale * (w - start), w - scale * (w - start)]
    return others


def scikit_learn(learner: Learner) -> None:
    """scikit-learn's own checks hold, but for those that the learner names with a reason."""
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        results = check_estimator(
            clone(learner),
            on_fail=None,
            on_skip=None,
            expected_failed_checks=learner.expected_failed_checks(),
        )
    failed = [
        f"{result['check_name']}: {result['exception']!r}"
        for result in results
        if result["status"] == "failed"
    ]
    assert not failed, f"scikit_learn: {failed[0]}"


def batch_is_loop(learner: Learner) -> None:
    """`partial_fit` leaves, bit for bit, what `learn_one` row by row leaves; so for arrays and for dicts."""
    for X, y in _streams(learner):
        for rows in (X, [dict(zip("abcdef", row.tolist(), strict=True)) for row in X]):
            loop = _looped(learner, rows, y)
            _same(_learned(learner, rows, y), loop, "batch_is_loop")
            half = _learned(learner, rows[:77], y[:77]).partial_fit(rows[77:], y[77:])
            _same(half, loop, "batch_is_loop, in two batches")


def one_result_by_every_road(learner: Learner) -> None:
    """Dense, sparse and dict rows, other dtypes and another order of features come to the same, up to
    rounding; but for the order where something is drawn for each column.
    """
    for X, y in _streams(learner):
        X = X.astype(np.float32).astype(np.float64)  # noqa: PLW2901  values that both types hold
        model = _learned(learner, X, y)
        roads = {
            "CSR": sp.csr_matrix(X),
            "CSC": sp.csc_matrix(X),
            "float32": X.astype(np.float32),
            "columns first": np.asfortranarray(X),
            "dicts": [dict(zip("abcdef", row.tolist(), strict=True)) for row in X],
        }
        for road, rows in roads.items():
            _same(model, _learned(learner, rows, y), f"one_result_by_every_road, {road}", _rounding(learner))
        if _inner(learner).knows_columns:
            continue
        turned = _turned(learner, X, y)
        scores = model.decision_function(X)
        apart = np.abs(turned.decision_function(X[:, ::-1]) - scores).max() / max(1.0, np.abs(scores).max())
        assert apart <= _rounding(learner), (
            f"one_result_by_every_road, features reversed: scores differ by {apart:.2e}"
        )


def _turned(learner: Learner, X: Floats, y: NDArray[Any]) -> Any:
    """A model that learned the features in reverse order, with what was drawn where a start is random."""
    backwards = X[:, ::-1].copy()
    if isinstance(learner, ActiveClassifier):  # a first row that is not asked makes no state
        return _learned(learner, backwards, y)
    model = _learned(learner, X[:1], y[:1])
    model.state_.place_features(range(X.shape[1])[::-1], X.shape[1])
    return model.partial_fit(backwards[1:], y[1:])


def extreme_rows(learner: Learner) -> None:
    """Rows of zeros, of huge and of tiny values leave every weight finite, and are the same in a batch and a
    loop.
    """
    for X, y in _streams(learner):
        X = X.copy()  # noqa: PLW2901  the rows are changed below
        for position, scale in enumerate((0.0, 1e150, 1e200, 1e300, 1e-150, 1e-200, 1e-320)):
            X[20 + 10 * position] = scale
        model, loop = _learned(learner, X, y), _looped(learner, X, y)
        assert np.isfinite(_weights(model)).all(), "extreme_rows: a weight is not finite"
        _same(model, loop, "extreme_rows")


class Unread:
    """A label that must not be looked at."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("asking: a label was looked at that was not asked for")

    __hash__ = None  # type: ignore[assignment]
    __str__ = __repr__ = __bool__ = __float__ = __lt__ = __array__ = __eq__  # type: ignore[assignment]


def asking(learner: Learner) -> None:
    """Asked for its labels, it learns the rows asked as if there were no others, and looks at no other."""
    if not is_classifier(learner):
        return
    active = learner if isinstance(learner, ActiveClassifier) else ActiveClassifier(clone(learner))
    for X, y in _streams(learner):
        classes = np.unique(y).tolist()
        for rows in (X, sp.csr_matrix(X)):
            model = _fresh(active).partial_fit(rows, y, classes=classes)
            asked = model.asked_
            assert model.n_seen_ == len(y) and model.n_asked_ == asked.sum() > 0, "asking: miscounted"
            alone = clone(active.learner).partial_fit(rows[asked], y[asked], classes=classes)
            _same(alone, model.learner_, "asking")
            hidden = [label if wanted else Unread() for label, wanted in zip(y.tolist(), asked, strict=True)]
            _same(model, _fresh(active).partial_fit(rows, hidden, classes=classes), "asking, labels hidden")


def learns(learner: Learner) -> None:
    """After five passes over rows that a plane separates with room to spare, nearly all are right; an active
    learner has fifty, for it may ask for a tenth of the labels.
    """
    random = np.random.default_rng(3)
    X = random.standard_normal((600, 5))
    scores = X @ random.standard_normal(5)
    X, scores = X[np.abs(scores) > 0.7], scores[np.abs(scores) > 0.7]
    y = scores > 0 if is_classifier(learner) else scores
    if isinstance(learner, ActiveClassifier):
        model = _fresh(learner).set_params(learner=_with(learner.learner, average=False))
        for _ in range(50):
            model.partial_fit(X, y)
    else:
        model = _with(learner, average=False, epochs=5).fit(X, y)
    reached = model.score(X, y)
    assert reached > 0.93, f"learns: the score on separable rows is {reached:.3f}, above 0.93 was expected"


def keeping(learner: Learner) -> None:
    """Saved, pickled or copied in the middle and gone on with, a model ends as one that never stopped; clones
    are blank.
    """
    for X, y in _streams(learner):
        whole = _learned(learner, X, y)
        half = _learned(learner, X[:90], y[:90])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.tt"
            half.save(path)
            copies = {
                "save": type(learner).load(path),
                "pickle": pickle.loads(pickle.dumps(half)),
                "deepcopy": copy.deepcopy(half),
            }
        for way, resumed in copies.items():
            assert repr(resumed) == repr(half), f"keeping, {way}: parameters differ"
            _same(whole, resumed.partial_fit(X[90:], y[90:]), f"keeping, {way}")
        assert not clone(half).__sklearn_is_fitted__(), "keeping: a clone has learned something"


def without_jit(learner: Learner) -> None:
    """The same code, run as plain Python in another process, comes to the same weights up to rounding."""
    same_without_jit([learner])


def same_without_jit(learners: Sequence[Learner]) -> None:
    """`without_jit` for several learners in one process."""
    jobs = [(learner, X[:80], y[:80]) for learner in learners for X, y in _streams(learner)]
    with tempfile.TemporaryDirectory() as folder:
        task, result = Path(folder) / "task", Path(folder) / "result"
        task.write_bytes(pickle.dumps(jobs))
        program = "import sys; from tauten.checks import learn_task; learn_task(*sys.argv[1:])"
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", program, task, result], check=True, env=environment)
        plain = pickle.loads(result.read_bytes())
    for (learner, X, y), models in zip(jobs, plain, strict=True):
        for rows, model in zip((X, sp.csr_matrix(X)), models, strict=True):
            _same(_learned(learner, rows, y), model, f"without_jit, {learner!r}", _rounding(learner))


def learn_task(task: str, result: str) -> None:
    """What the process without the compiler does."""
    jobs = pickle.loads(Path(task).read_bytes())
    models = [[_learned(learner, rows, y) for rows in (X, sp.csr_matrix(X))] for learner, X, y in jobs]
    Path(result).write_bytes(pickle.dumps(models))


def documentation(learner: Learner) -> None:
    """The docstring describes the learner's own parameters, all and no others, and shows an example."""
    text = inspect.getdoc(type(learner)) or ""
    described = set(re.findall(r"^(\w+) : ", text.partition("\nAttributes\n")[0], flags=re.MULTILINE))
    shared = {
        name for base in type(learner).__mro__[1:] for name in getattr(base, "__dataclass_fields__", {})
    }
    own = set(learner.get_params(deep=False)) - shared
    assert described == own, (
        f"documentation: the docstring describes {sorted(described)}, expected {sorted(own)}"
    )
    assert ">>> " in text, "documentation: the docstring has no example"


def bad_input(learner: Learner) -> None:
    """Bad rows, labels, weights and parameters raise a ValueError, and leave the model exactly as it was."""
    X, y = _streams(learner)[-1]
    model = _learned(learner, X[:50], y[:50])
    before = pickle.dumps(model)
    broken = X[50:100].copy()
    broken[-1, 2] = np.nan
    infinite = sp.csr_matrix(np.where(np.isnan(broken), np.inf, broken))
    attempts: dict[str, Callable[[], Any]] = {
        "NaN in the last row": lambda: model.partial_fit(broken, y[50:100]),
        "infinity in a sparse row": lambda: model.partial_fit(infinite, y[50:100]),
        "NaN in one row": lambda: model.learn_one(broken[-1], y[0]),
        "a row too wide": lambda: model.partial_fit(np.ones((3, 7)), y[:3]),
        "fewer labels than rows": lambda: model.partial_fit(X[:5], y[:4]),
        "a negative weight": lambda: model.partial_fit(X[:3], y[:3], sample_weight=[1.0, -1.0, 1.0]),
        "no y": lambda: model.partial_fit(X[:3], None),
        "NaN in a row asked about": lambda: getattr(model, "ask_one", model.predict_one)(broken[-1]),
        "a bad first fit": lambda: model.fit(broken, y[50:100]),
    }
    for name, attempt in attempts.items():
        try:
            attempt()
        except ValueError:
            assert pickle.dumps(model) == before, f"bad_input: {name} changed the model"
        else:
            raise AssertionError(f"bad_input: {name} raised nothing")


PROMISES: tuple[Promise, ...] = (
    optimality,
    scikit_learn,
    batch_is_loop,
    one_result_by_every_road,
    extreme_rows,
    asking,
    learns,
    keeping,
    without_jit,
    documentation,
    bad_input,
)
