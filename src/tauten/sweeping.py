"""A grid of learners over one stream: those of one kind side by side in a single pass, mapped once.

The weights of all models of a feature lie next to each other, so SIMD runs across the models and each row is
read once. Every column takes the very steps that its model would take alone.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from tauten.base import OnlineLearner
from tauten.kernels.first_order import FirstOrder
from tauten.kernels.mapped import MappedState
from tauten.kernels.state import Floats, State
from tauten.stream import Decisions, Progress, Record, Stream, learn_rows

Outcome = tuple[Floats, NDArray[np.int64]]  # error and updates of each learner


def learn_together(
    learners: Sequence[OnlineLearner], X: Any, y: ArrayLike, sample_weight: ArrayLike | None, n_jobs: int
) -> Outcome:
    """Train untrained learners on the same rows: the error rate (mean absolute error) and updates of each."""
    groups: dict[Any, list[int]] = {}
    for position, learner in enumerate(learners):
        groups.setdefault(_kind(learner, position), []).append(position)
    streams = {}
    for group in groups.values():
        streams[group[0]] = learners[group[0]].read_once(X, y, sample_weight)
        for position in group[1:]:
            learners[position].join(learners[group[0]])
    n_threads = effective_n_jobs(n_jobs)
    jobs = [
        (streams[group[0]], part)
        for group in groups.values()
        for part in np.array_split(group, min(n_threads, len(group)))
    ]

    def run(stream: Stream, part: NDArray[np.intp]) -> Outcome:
        return _one_pass([learners[position] for position in part], stream)

    done = in_threads(run, jobs, n_jobs)
    errors, updates = np.zeros(len(learners)), np.zeros(len(learners), dtype=np.int64)
    for (_, part), outcome in zip(jobs, done, strict=True):
        errors[part], updates[part] = outcome
    return errors, updates


def in_threads(
    function: Callable[..., Any],
    jobs: Sequence[tuple[Any, ...]],
    n_jobs: int,
    progress: Progress | None = None,
) -> list[Any]:
    """A function's results for all jobs, in order; the loops let go of the interpreter while they run."""
    results = []
    with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool:
        try:
            for result in pool.map(lambda job: function(*job), jobs):
                results.append(result)
                if progress is not None:
                    progress(len(results), len(jobs))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # Ctrl-C waits for the jobs that have begun, not for all
            raise
    return results


def _kind(learner: OnlineLearner, position: int) -> Any:
    """The same for learners that one pass can train together."""
    if not isinstance(_behind_map(learner.new_state(1, 2)), FirstOrder):
        return position
    fixed = sorted(
        (name, repr(value))
        for name, value in learner.get_params().items()
        if name not in learner.sweepable and not hasattr(value, "get_params")
    )
    parts = [type(value) for value in learner.get_params().values() if hasattr(value, "get_params")]
    return type(learner), tuple(parts), tuple(fixed)


def _behind_map(state: State) -> State:
    """What learns behind a map, where models of the same parameters have the same map."""
    return state.inner if isinstance(state, MappedState) and state.mapping.settled else state


def _with(state: State, model: FirstOrder) -> State:
    """A model in the place of a state, behind its map if it has one."""
    return state.with_inner(model) if isinstance(state, MappedState) else model


def _one_pass(learners: Sequence[OnlineLearner], stream: Stream) -> Outcome:
    """Train learners of one kind in one pass, or a single learner of any kind."""
    errors, updates = np.zeros(len(learners)), np.zeros(len(learners), dtype=np.int64)
    shape = (len(learners), learners[0].state_.n_columns)

    def tally(start: int, record: Record) -> None:
        y = stream.y[start : start + len(record.scores)]
        errors[:] += learners[0].misses(record.scores.reshape(-1, *shape), y[:, None]).sum(axis=0)
        updates[:] += record.moved.reshape(len(y), len(learners), -1).any(axis=2).sum(axis=0)

    if len(learners) == 1:
        learners[0].learn_stream(stream, after=tally)
    else:
        _learn_stacked(learners, stream, tally)
        for learner, n_moves in zip(learners, updates.tolist(), strict=True):
            learner.state_.n_rounds, learner.state_.n_moves = len(stream.rows), n_moves
    return errors / len(stream.rows), updates


def _learn_stacked(learners: Sequence[OnlineLearner], stream: Stream, tally: Any) -> None:
    """Train learners side by side as the columns of one state."""
    single = _behind_map(learners[0].state_)
    assert isinstance(single, FirstOrder)
    state = FirstOrder(single.n_features, single.n_classes, single.coupled, single.averaged, len(learners))
    plans: list[Any] = [learner.plan() for learner in learners]
    plan = replace(
        plans[0], report=state.report(), decide=state.decide(), C=np.concatenate([p.C for p in plans])
    )

    tables = [learner.decision_tables() for learner in learners]
    known = [table for table in tables if table is not None]
    stacked = [np.hstack(parts) for parts in zip(*known, strict=True)] if len(known) == len(tables) else None

    def decisions(start: int, stop: int) -> Decisions:
        if stacked is not None:
            y, margins = (table.take(stream.y[start:stop], axis=0) for table in stacked)
            return y, margins, stream.importance[start:stop]
        each = [learner.stream_decisions(stream, start, stop) for learner in learners]
        return np.hstack([y for y, _, _ in each]), np.hstack([margins for _, margins, _ in each]), each[0][2]

    def after(start: int, record: Record) -> None:
        for learner in learners:
            learner.count(stream.y[start : start + len(record.moved)])
        tally(start, record)

    learn_rows(_with(learners[0].state_, state), plan, stream, (0, len(stream.rows)), decisions, after)
    for learner, model in zip(learners, state.split(), strict=True):
        learner.state_ = _with(learner.state_, model)
