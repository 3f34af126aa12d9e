"""What the budget family keeps: support vectors that all classes share, and a coefficient a class of each.

The table of support vectors has a row a feature and a column a support vector (see `similarity`). Beside it
stands a list of the features that each has, so that one comes and goes at O(non-zeros). In a file there are
the lists and their values alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tauten.kernels.expansion import learn_expansion, score_expansion
from tauten.kernels.maintenance import DRAWS, IN_SPAN, MEMORY, MOVES, N_SUPPORT, ROUNDS, SEED, SERIAL, SPENT
from tauten.kernels.similarity import KERNELS
from tauten.kernels.state import Dense, Flags, Floats, Plan, Sparse, State, binary_to_columns

FIRST_ROOM = 16  # support vectors that there is room for at first


@dataclass(kw_only=True)
class BudgetPlan(Plan):
    """What the loop is told."""

    learning: bool
    rules: tuple[Any, ...]  # kernel, step, keep, judge, absorb, make room
    C: float
    numbers: Floats


class Expansion(State):
    """Support vectors with their coefficients, in tables with room for more."""

    header = ("n_features", "n_classes", "kernel", "gamma", "degree", "coef0", "bias", "budget", "inverted")

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        kernel: str,
        gamma: float,
        degree: int,
        coef0: float,
        bias: bool,
        budget: int | None,
        inverted: bool,
    ) -> None:
        """`inverted`: whether a root of the inverse of the kernel matrix is kept."""
        self.n_features, self.n_classes, self.inverted = n_features, n_classes, inverted
        self.kernel, self.gamma, self.degree, self.coef0 = kernel, float(gamma), int(degree), float(coef0)
        self.bias, self.budget = bool(bias), None if budget is None else int(budget)
        self.n_rounds = self.n_moves = 0
        self.memory = np.zeros(MEMORY)
        self.every = np.zeros(0, dtype=np.uint32)  # the columns of dense rows
        self._make_room(0, n_features)

    def _make_room(self, n_support: int, n_features: int) -> None:
        """Empty tables with room for more than `n_support`."""
        most = np.inf if self.budget is None else self.budget + 1
        capacity = int(min(max(2 * n_support, FIRST_ROOM), most))
        self.vectors = np.zeros((n_features, capacity))
        self.alpha = np.zeros((self.n_columns, capacity))
        self.marks = np.zeros((2, capacity))
        self.owns, self.sqnorms = np.zeros(capacity), np.zeros(capacity)
        self.near, self.scratch = np.zeros(capacity), np.zeros(2 * capacity)
        side = capacity if self.inverted else 1
        self.root = np.zeros((side, side))
        self.features = np.zeros((capacity, max(n_features, 1)), dtype=np.int64)
        self.lengths = np.zeros(capacity, dtype=np.int64)

    @property
    def n_support(self) -> int:
        """How many support vectors there are."""
        return int(self.memory[N_SUPPORT])

    @property
    def size(self) -> int:
        return int(self.lengths.sum()) + self.alpha.size + self.root.size

    def numbers(self, fade: float = 0.0, own: float = 0.0) -> Floats:
        """The vector that rules and kernels read."""
        budget = np.inf if self.budget is None else float(self.budget)
        return np.array([budget, self.gamma, self.degree, self.coef0, float(self.bias), fade, own])

    def _parts(self, rows: Dense | Sparse) -> tuple[Any, ...]:
        """Values, columns and starts of rows, and whether all have the same columns."""
        if isinstance(rows, Sparse):
            return rows.values, rows.indices, rows.starts, False
        n_rows, width = rows.X.shape
        if len(self.every) < width:
            self.every = np.arange(width, dtype=np.uint32)
        return (
            rows.X.reshape(-1),
            self.every[:width],
            np.arange(n_rows + 1, dtype=np.uint64) * np.uint64(width),
            True,
        )

    def run(
        self,
        rows: Dense | Sparse,
        plan: BudgetPlan,
        y: Floats,
        margins: Floats,
        importance: Floats,
        scores: Floats,
        moved: Flags,
        asked: Flags,
    ) -> int:
        if self.n_support == len(self.owns):
            self._take(self._compact(), self.n_features)
        done: int = learn_expansion.run(
            *self._parts(rows), isinstance(rows, Dense) or rows.trusted, y, importance, plan.C,
            self.vectors[: self.n_features], self.alpha, self.marks, self.owns, self.sqnorms, self.root,
            self.features, self.lengths, self.near, self.scratch, plan.numbers, self.memory,
            plan.learning, plan.rules, scores, moved, plan.ask, plan.asking, asked,
        )  # fmt: skip
        return done

    def score_rows(self, rows: Dense | Sparse, bias: float) -> Floats | None:
        return self._expand(rows, self.alpha)

    def compare(self, rows: Dense | Sparse) -> Floats | None:
        """The kernel of each row with each support vector."""
        return self._expand(rows, np.eye(self.n_support))

    def _expand(self, rows: Dense | Sparse, alpha: Floats) -> Floats | None:
        scores = np.zeros((len(rows), len(alpha)))
        done = score_expansion.run(
            *self._parts(rows), self.vectors[: self.n_features], alpha, self.sqnorms,
            np.empty(len(self.owns)), self.numbers(), self.n_support, KERNELS[self.kernel].handle, scores,
        )  # fmt: skip
        return scores if done == len(rows) else None

    def support(self) -> Sparse:
        """The support vectors as rows."""
        lists = [self.features[i, : self.lengths[i]] for i in range(self.n_support)]
        columns = np.concatenate([np.zeros(0, np.int64), *lists])
        owners = np.repeat(np.arange(self.n_support), self.lengths[: self.n_support])
        starts = np.concatenate([[0], np.cumsum(self.lengths[: self.n_support])])
        return Sparse(
            self.vectors[columns, owners], columns.astype(np.uint32), starts.astype(np.uint64), trusted=True
        )

    def _compact(self) -> dict[str, Floats]:
        """Everything learned, without the room for more."""
        n, rows = self.n_support, self.support()
        side = n if self.inverted else 0
        return {
            "values": rows.values,
            "columns": rows.indices.astype(np.float64),
            "starts": rows.starts.astype(np.float64),
            "alpha": self.alpha[:, :n].copy(),
            "marks": self.marks[:, :n].copy(),
            "norms": np.array([self.owns[:n], self.sqnorms[:n]]),
            "root": self.root[:side, :side].copy(),
            "memory": self.memory,
        }

    def _take(self, arrays: dict[str, Floats], n_features: int) -> None:
        """Put what `_compact` gave into tables with room for more."""
        self.memory, self.n_features = arrays["memory"].copy(), n_features
        n = self.n_support
        self._make_room(n, n_features)
        self.alpha[:, :n], self.marks[:, :n] = arrays["alpha"], arrays["marks"]
        self.owns[:n], self.sqnorms[:n] = arrays["norms"]
        side = n if self.inverted else 0
        self.root[:side, :side] = arrays["root"]
        columns, starts = arrays["columns"].astype(np.int64), arrays["starts"].astype(np.int64)
        self.lengths[:n] = np.diff(starts)
        self.vectors[columns, np.repeat(np.arange(n), np.diff(starts))] = arrays["values"]
        for i in range(n):
            self.features[i, : self.lengths[i]] = columns[starts[i] : starts[i + 1]]

    def __getstate__(self) -> dict[str, Any]:
        header = {name: getattr(self, name) for name in (*self.header, "n_rounds", "n_moves")}
        return {"header": header, "arrays": self._compact()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["header"], every=np.zeros(0, dtype=np.uint32))
        self._take({name: array.copy() for name, array in state["arrays"].items()}, self.n_features)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy of the tables as they are, unless they are wide and nearly empty."""
        twin = object.__new__(type(self))
        if self.vectors.size > 16 * max(int(self.lengths.sum()), FIRST_ROOM):
            twin.__setstate__(self.__getstate__())
            return twin
        for name, value in self.__dict__.items():
            setattr(twin, name, value.copy() if isinstance(value, np.ndarray) else value)
        return twin

    def arrays(self) -> dict[str, Floats]:
        return self._compact()

    def grow_features(self, n_features: int) -> None:
        room = len(self.vectors)
        if n_features > room:
            vectors = np.zeros((max(n_features, 2 * room), len(self.owns)))
            vectors[:room] = self.vectors
            features = np.zeros((len(self.owns), len(vectors)), dtype=np.int64)
            features[:, : self.features.shape[1]] = self.features
            self.vectors, self.features = vectors, features
        self.n_features = n_features

    def place_features(self, columns: Sequence[int], n_features: int) -> None:
        arrays = self._compact()
        arrays["columns"] = np.asarray(columns, dtype=np.float64)[arrays["columns"].astype(np.int64)]
        self._take(arrays, n_features)

    def _regrouped(self, order: Sequence[int]) -> "Expansion":
        settings = {name: getattr(self, name) for name in self.header}
        state = Expansion(**{**settings, "n_classes": len(order)})
        arrays = self._compact()
        state._take({**arrays, "alpha": binary_to_columns(arrays["alpha"].T, order, 0.5).T}, self.n_features)
        return state

    def mix(self, states: Sequence["Expansion"], shares: Floats) -> None:
        """The mean of the functions; of all support vectors the heaviest stay, as many as the budget has and
        none that the others span, and the rest is projected onto them.
        """
        parts = [state._compact() for state in states]
        rows = [
            (part["columns"][first:stop], part["values"][first:stop])
            for part in parts
            for first, stop in zip(
                *(part["starts"].astype(int)[cut] for cut in (slice(-1), slice(1, None))), strict=True
            )
        ]
        alpha = np.hstack([share * part["alpha"] for share, part in zip(shares, parts, strict=True)])
        norms, born = (np.hstack([part[name] for part in parts]) for name in ("norms", "marks"))
        order = np.argsort(-(alpha**2).sum(axis=0) * norms[0], kind="stable")
        rows, alpha, norms, born = [rows[i] for i in order], alpha[:, order], norms[:, order], born[0, order]
        memory = parts[0]["memory"].copy()
        for name in (ROUNDS, MOVES, SPENT):
            memory[name] = sum(part["memory"][name] for part in parts)
        memory[DRAWS] = max(part["memory"][DRAWS] for part in parts)
        everything = self._of_rows(rows, alpha, norms, memory)
        similar = everything.compare(everything.support())
        assert similar is not None
        stay, root = _heaviest(similar, len(rows) if self.budget is None else self.budget)
        gone = np.setdiff1d(np.arange(len(rows)), stay)
        alpha = alpha[:, stay] + alpha[:, gone] @ similar[gone][:, stay] @ root @ root.T
        chosen = self._of_rows([rows[i] for i in stay], alpha, norms[:, stay], memory)
        n = len(stay)
        chosen.marks[0, :n] = np.argsort(np.argsort(born[stay], kind="stable"), kind="stable")
        chosen.marks[1, :n] = np.sqrt((alpha**2).sum(axis=0) * norms[0, stay])
        side = n if self.inverted else 0
        chosen.root[:side, :side] = root[:side, :side]
        self._take(chosen._compact(), self.n_features)

    def _of_rows(
        self, rows: Sequence[tuple[Floats, Floats]], alpha: Floats, norms: Floats, memory: Floats
    ) -> Self:
        """A state of the same kind with other support vectors."""
        state = type(self)(**{name: getattr(self, name) for name in self.header})
        state.budget = None
        counts = memory.copy()
        counts[[N_SUPPORT, SERIAL]] = len(rows)
        empty = [np.zeros(0)]
        state._take(
            {
                "columns": np.concatenate(empty + [columns for columns, _ in rows]),
                "values": np.concatenate(empty + [values for _, values in rows]),
                "starts": np.cumsum([0, *(len(values) for _, values in rows)]).astype(np.float64),
                "alpha": alpha,
                "marks": np.zeros((2, len(rows))),
                "norms": norms,
                "root": np.zeros((len(rows), len(rows)) if self.inverted else (0, 0)),
                "memory": counts,
            },
            self.n_features,
        )
        return state

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, Floats]) -> Self:
        kinds = {"kernel": (str,), "gamma": (float,), "coef0": (float,), "bias": (bool,), "inverted": (bool,)}
        for name in cls.header:
            allowed = kinds.get(name, (int, type(None)) if name == "budget" else (int,))
            if type(header[name]) not in allowed:
                raise ValueError(f"{name} is {header[name]!r}, expected a {allowed[0].__name__}")
        alpha, memory, starts = arrays["alpha"], arrays["memory"], arrays["starts"]
        n = alpha.shape[-1]
        state = cls(**{**{name: header[name] for name in cls.header}, "n_features": 0, "n_classes": 0})
        most = n if state.budget is None else state.budget
        if state.kernel not in KERNELS or not state.n_support == 0 or n > most:
            raise ValueError(f"{n} support vectors with a budget of {state.budget}")
        side = n if state.inverted else 0
        state.n_features, state.n_classes = header["n_features"], header["n_classes"]
        shapes = {
            "values": (len(arrays["values"]),),
            "columns": (len(arrays["values"]),),
            "starts": (n + 1,),
            "alpha": (state.n_columns, n),
            "marks": (2, n),
            "norms": (2, n),
            "root": (side, side),
            "memory": (MEMORY,),
        }
        for name, shape in shapes.items():
            if arrays[name].shape != shape:
                raise ValueError(f"{name} has shape {arrays[name].shape}, expected {shape}")
            if not np.isfinite(arrays[name]).all():
                raise ValueError(f"a number in {name} is not finite")
        counts = np.concatenate([np.delete(memory, SPENT), starts, arrays["columns"], arrays["marks"][0]])
        if (counts != np.floor(counts)).any() or counts.min() < 0 or counts.max() >= 2**53:
            raise ValueError("a count is no count")
        if memory[N_SUPPORT] != n or memory[SEED] >= 2**32 or (arrays["norms"] < 0).any():
            raise ValueError(f"{memory[N_SUPPORT]:g} support vectors in memory, expected {n}")
        if (arrays["values"] == 0).any():
            raise ValueError("a list of the numbers that are not 0 holds one that is")
        if starts[0] != 0 or starts[-1] != len(arrays["values"]) or (np.diff(starts) < 0).any():
            raise ValueError("the support vectors do not begin where they end")
        places = np.repeat(np.arange(n), np.diff(starts).astype(int)), arrays["columns"]
        if (places[1] >= state.n_features).any() or len(np.unique(places, axis=1).T) != len(places[0]):
            raise ValueError(f"a support vector has a column twice, or one of more than {state.n_features}")
        state._take(arrays, state.n_features)
        return state


def _heaviest(similar: Floats, most: int) -> tuple[list[int], Floats]:
    """Of rows in order those that no earlier ones span, up to a number, and a root of K⁻¹."""
    stay: list[int] = []
    root = np.zeros((0, 0))
    for i in range(len(similar)):
        if len(stay) == most:
            break
        z = root.T @ similar[i, stay]
        apart = similar[i, i] - z @ z
        if apart > IN_SPAN * similar[i, i]:
            stay.append(i)
            root = np.pad(root, (0, 1))
            root[:, -1] = np.append(-root[:-1, :-1] @ z, 1.0) / np.sqrt(apart)
    return stay, root
