"""Passive-Aggressive Max-Out: tables 1 and 2, the sensitivity to C and α, curves, an XOR that turns."""

from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

import tauten as tt
from tauten.kernels.state import Floats
from tauten.papers.drawing import Drawing, Looks, curves, lines, panels, surface
from tauten.papers.protocol import ALL_CORES, Orders, Setting, orders
from tauten.papers.report import Cell, Figure, Part, Report, Table
from tauten.papers.sets import Rows, Sets, joined
from tauten.sweeping import in_threads

AS_FED = (
    "Linear learners stand twice: on rows as they come and without a constant, by which the published "
    "figures come out, and on the standardised rows with a constant that PAMO gets."
)
PAMO = {"PAMO-I": "pamo1", "PAMO-II": "pamo2"}
POWERS = (2.0 ** np.arange(-8, 5, 2)).tolist()
ETAS = [0.55, 0.65, 0.75, 0.85, 0.95]
LINEAR = {
    "PA-I": Setting("pa1", {"C": POWERS}),
    "PA-II": Setting("pa2", {"C": POWERS}),
    "CW": Setting("cw", {"eta": ETAS}),
    "AROW": Setting("arow", {"r": POWERS}),
    "SCW-I": Setting("scw1", {"C": POWERS, "eta": [0.75, 0.9]}),
    "SCW-II": Setting("scw2", {"C": POWERS, "eta": [0.75, 0.9]}),
}
CS: Floats = 2.0 ** np.arange(-4.0, 5.0)
ALPHAS: Floats = np.arange(1, 10) / 10
N_ORDERS, N_CURVES, N_TRIED = 20, 5, 2
HUNDREDS, ANGLE = 10, np.deg2rad(20)


@dataclass(frozen=True)
class Tested:
    """A column of table 1: a data set, the planes of its PAMO, and its published errors."""

    name: str
    n_features: int
    shape: dict[str, int]
    published: dict[str, tuple[float, float]]
    n_train: int | None = None  # rows for training of a set in one part


TABLE_1 = {
    "svmguide1": Tested("svmguide1", 4, {"n_units": 64, "n_pieces": 2}, {
        "PA-I": (25.19, 7.12), "PA-II": (25.84, 4.50), "CW": (22.92, 2.34), "AROW": (20.99, 0.09),
        "SCW-I": (21.08, 0.20), "SCW-II": (21.29, 0.18), "PAMO-I": (4.13, 0.59), "PAMO-II": (4.35, 0.67),
    }),
    "CBCL Face": Tested("cbcl", 361, {"n_units": 64, "n_pieces": 4}, {
        "PA-I": (3.75, 1.31), "PA-II": (3.43, 0.80), "CW": (3.09, 0.15), "AROW": (2.88, 0.09),
        "SCW-I": (2.73, 0.09), "SCW-II": (2.64, 0.06), "PAMO-I": (1.99, 0.09), "PAMO-II": (1.79, 0.08),
    }),
    "ijcnn1": Tested("ijcnn1", 22, {"n_units": 256, "n_pieces": 2}, {
        "PA-I": (7.85, 0.33), "PA-II": (8.07, 0.39), "CW": (11.20, 2.09), "AROW": (8.22, 0.08),
        "SCW-I": (6.44, 0.08), "SCW-II": (6.93, 0.15), "PAMO-I": (2.77, 0.32), "PAMO-II": (2.53, 0.23),
    }),
    "webspam": Tested("webspam", 254, {"n_units": 256, "n_pieces": 2}, {
        "PA-I": (7.94, 0.72), "PA-II": (8.27, 0.55), "CW": (10.62, 0.79), "AROW": (7.28, 0.01),
        "SCW-I": (6.58, 0.02), "SCW-II": (6.59, 0.04), "PAMO-I": (2.19, 0.47), "PAMO-II": (1.82, 0.09),
    }, n_train=200_000),
}  # fmt: skip
TABLE_2 = {
    "a9a": {"PAMO-I": (16.99, 0.07), "PAMO-II": (17.11, 0.10)},
    "w7a": {"PAMO-I": (1.72, 0.04), "PAMO-II": (1.76, 0.04)},
    "w8a": {"PAMO-I": (1.47, 0.02), "PAMO-II": (1.53, 0.01)},
    "ijcnn1": {"PAMO-I": (2.87, 0.05), "PAMO-II": (3.09, 0.11)},
}
USED = {"a9a": (123, 2), "w7a": (300, 1), "w8a": (300, 2), "ijcnn1": (22, 2)}  # features, and parts


def run(sets: Sets, quick: bool, seed: int) -> Report:
    """Everything that the paper reports of the data sets that are there."""
    n_orders = 3 if quick else N_ORDERS
    errors, mistakes = test_errors(sets, n_orders, seed), mistake_rates(sets, n_orders, quick, seed)
    parts: list[Part] = [errors, mistakes]
    if (split := loaded_split(sets, TABLE_1["svmguide1"])) is not None:
        some = orders(len(split[0][1]), 1 if quick else N_CURVES, seed)
        grid = (CS[::4], ALPHAS[::4]) if quick else (CS, ALPHAS)
        fed = scaled(*split)
        parts += [sensitivity(fed, some, *grid), over_parameters(fed[0], some)]
    if not quick and (drawn := so_far(sets, seed)):
        parts.append(panels("Mistakes so far (figure 9)", drawn, f"Mean and one sd over {N_CURVES} orders."))
    parts += turning_xor(seed, 2 if quick else 20)
    return Report.of("pamo", parts, findings(errors, mistakes), sets.missing)


def scaled(*parts: Rows) -> list[Rows]:
    """Rows standardised by the first part."""
    dense = [(X.toarray() if hasattr(X, "toarray") else X, y) for X, y in parts]
    scaler = StandardScaler().fit(dense[0][0])
    return [(scaler.transform(X), y) for X, y in dense]


def loaded_split(sets: Sets, task: Tested) -> list[Rows] | None:
    """Training and test rows."""
    parts = sets.parts(task.name, task.n_features)
    if parts is None:
        return None
    if len(parts) == 1 and task.n_train is not None:
        X, y = parts[0]
        parts = [(X[: task.n_train], y[: task.n_train]), (X[task.n_train :], y[task.n_train :])]
    return [(X.toarray() if hasattr(X, "toarray") else X, y) for X, y in parts]


def test_errors(sets: Sets, n_orders: int, seed: int) -> Table:
    """Table 1: linear learners on rows as they come and without a bias, as published, and as PAMO is fed."""
    found = {
        title: split for title, task in TABLE_1.items() if (split := loaded_split(sets, task)) is not None
    }
    table = Table("Test error, % (table 1)", list(found), note=AS_FED)
    fed = {title: scaled(*split) for title, split in found.items()}
    some = {title: orders(len(split[0][1]), n_orders, seed) for title, split in found.items()}

    def row(name: str, splits: dict[str, list[Rows]], bias: bool, published: bool) -> list[Cell]:
        cells = []
        for title, split in splits.items():
            made = made_for(name, TABLE_1[title], split[0], some[title][:N_TRIED], bias)
            beside = TABLE_1[title].published[name] if published else ()
            cells.append(Cell.of(errors_on_test(made, split, some[title]), *beside))
        return cells

    for name in LINEAR:
        table.rows[name] = row(name, found, bias=False, published=True)
    for name in LINEAR:
        table.rows[f"{name}, fed as PAMO"] = row(name, fed, bias=True, published=False)
    for name in PAMO:
        table.rows[name] = row(name, fed, bias=True, published=True)
    return table


def made_for(name: str, task: Tested, train: Rows, some: Orders, bias: bool) -> Any:
    """A learner: PAMO with the shape of the paper, a linear one at its best over the training rows."""
    if name in PAMO:
        return tt.make(PAMO[name], **task.shape)
    setting = LINEAR[name]
    return best_by_mistakes(Setting(setting.name, setting.grid, {"fit_intercept": bias}), train, some)


def best_by_mistakes(setting: Setting, train: Rows, some: Orders) -> Any:
    """The learner with the fewest mistakes over the training rows."""
    X, y = train
    jobs = list(product(setting.points(), some))
    made = [tt.make(setting.name, **point) for point in setting.points()]

    def mistakes(point: dict[str, Any], order: NDArray[np.intp]) -> float:
        return tt.progressive(tt.make(setting.name, **point), X[order], y[order]).error_rate

    rates = np.array(in_threads(mistakes, jobs, ALL_CORES)).reshape(len(made), -1)
    return made[int(rates.mean(axis=1).argmin())]


def started(model: Any, number: int) -> Any:
    """A copy with a start of its own, where it draws one."""
    copy = deepcopy(model)
    if "random_state" in copy.get_params():
        copy.set_params(random_state=number)
    return copy


def errors_on_test(model: Any, split: list[Rows], some: Orders) -> Floats:
    """Test error of each order, in %."""
    (X, y), test = split

    def error(number: int, order: NDArray[np.intp]) -> float:
        return 100 * (1 - started(model, number).fit(X[order], y[order]).score(*test))

    return np.array(in_threads(error, list(enumerate(some)), ALL_CORES))


def traces(model: Any, X: Any, y: NDArray[Any], some: Orders) -> list[tt.Trace]:
    """One pass over each order."""

    def trace(number: int, order: NDArray[np.intp]) -> tt.Trace:
        return tt.progressive(started(model, number), X[order], y[order])

    return in_threads(trace, list(enumerate(some)), ALL_CORES)


def used(sets: Sets, name: str) -> Rows | None:
    """The rows that table 2 counts mistakes over."""
    n_features, n_parts = USED[name]
    parts = sets.parts(name, n_features)
    return None if parts is None else scaled(joined(parts[:n_parts]))[0]


def mistake_rates(sets: Sets, n_orders: int, quick: bool, seed: int) -> Table:
    """Table 2, and PA-I on the same rows."""
    names = ("w7a",) if quick else tuple(TABLE_2)
    found = {name: rows for name in names if (rows := used(sets, name)) is not None}
    table = Table(
        "Mistakes over the rows, % (table 2)", list(found), {"PA-I": [], **{title: [] for title in PAMO}}
    )
    for data, rows in found.items():
        some = orders(len(rows[1]), n_orders, seed)
        for title, model in beside_pa(rows, some[:1]).items():
            errors = [100 * trace.error_rate for trace in traces(model, *rows, some)]
            table.rows[title] = [*table.rows[title], Cell.of(errors, *TABLE_2[data].get(title, ()))]
    return table


def beside_pa(rows: Rows, some: Orders) -> dict[str, Any]:
    """PAMO as the paper sets it, and PA-I at its best."""
    return {"PA-I": best_by_mistakes(LINEAR["PA-I"], rows, some)} | {
        name: tt.make(PAMO[name]) for name in PAMO
    }


def sensitivity(split: list[Rows], some: Orders, cs: Floats, alphas: Floats) -> Figure:
    """Figure 6: test error over C = C_r and α."""
    values = [
        errors_on_test(tt.make("pamo1", C=C, C_r=C, alpha=alpha), split, some).mean()
        for C, alpha in product(cs, alphas)
    ]
    shades = surface(cs.tolist(), alphas.tolist(), np.reshape(values, (len(cs), len(alphas))), "α", "C = C_r")
    return panels(
        "svmguide1: test error over C and α (figure 6)", {"PAMO-I, test error in %": shades}, columns=1
    )


def over_parameters(train: Rows, some: Orders) -> Figure:
    """Figure 7: mistakes so far for some α with C fixed, and the other way round."""
    X, y = train

    def drawn(points: dict[str, dict[str, float]]) -> Drawing:
        done = {name: traces(tt.make("pamo1", **point), X, y, some) for name, point in points.items()}
        return curves(
            {name: np.array([trace.cumulative_error() for trace in runs]) for name, runs in done.items()}
        )

    by_alpha = {f"α = {alpha}": {"alpha": alpha} for alpha in (0.1, 0.5, 0.9)}
    by_c = {f"C = {C}": {"C": C, "C_r": C} for C in (0.125, 1.0, 8.0)}
    drawings = {"C = 0.125": drawn(by_alpha), "α = 0.9": drawn(by_c)}
    return panels("svmguide1: mistakes so far over α and over C (figure 7)", drawings)


def so_far(sets: Sets, seed: int) -> dict[str, Drawing]:
    """Figure 9: mistakes so far of PAMO and PA-I."""
    drawings = {}
    for name in TABLE_2:
        if (rows := used(sets, name)) is not None:
            some = orders(len(rows[1]), N_CURVES, seed)
            made = beside_pa(rows, some[:1])
            done = {title: traces(model, *rows, some) for title, model in made.items()}
            drawings[name] = curves(
                {
                    title: np.array([trace.cumulative_error() for trace in runs])
                    for title, runs in done.items()
                }
            )
    return drawings


def xor_stream(seed: int) -> tuple[Floats, NDArray[np.int_]]:
    """Four Gaussians, opposite ones of one class, whose means turn counter-clockwise every hundred rows."""
    random = np.random.default_rng(seed)
    corner = random.integers(4, size=100 * HUNDREDS)
    turned = np.pi / 4 + corner * np.pi / 2 + np.repeat(np.arange(HUNDREDS), 100) * ANGLE
    means = np.sqrt(2) * 0.9 * np.column_stack([np.cos(turned), np.sin(turned)])
    return means + 0.35 * random.standard_normal(means.shape), corner % 2


def turning_xor(seed: int, n_streams: int) -> list[Part]:
    """Figure 8, and the mistakes of each hundred rows beside those of PA."""
    shape = {"n_units": 3, "n_pieces": 2}
    grid = {"C": CS[::2], "C_r": CS[::2], "alpha": ALPHAS[::2]}
    best = tt.sweep(tt.make("pamo1", **shape), grid, *xor_stream(seed)).best_params
    learners = {title: tt.make(name, **shape, **best) for title, name in PAMO.items()} | {
        "PA-I": tt.make("pa1")
    }
    mistakes: dict[str, Floats] = {}
    for name, model in learners.items():
        runs = [
            tt.progressive(started(model, number), *xor_stream(seed + 1 + number))
            for number in range(n_streams)
        ]
        mistakes[name] = np.array([trace.errors.reshape(HUNDREDS, 100).mean(axis=1) for trace in runs])
    table = Table("Turning XOR: mistakes, %", ["all rows", "last 500 rows"])
    for name, shares in mistakes.items():
        table.rows[name] = [Cell(100 * part.mean(axis=1)) for part in (shares, shares[:, HUNDREDS // 2 :])]
    by_hundred = lines(100 * np.arange(1, HUNDREDS + 1), mistakes, "rows", "mistakes in a hundred")
    over = {f"mean and one sd over {n_streams} streams": by_hundred}
    drawn = boundaries(learners["PAMO-I"], *xor_stream(seed + 1))
    return [table, drawn, panels("Turning XOR: mistakes of each hundred rows", over, columns=1)]


def boundaries(model: Any, X: Floats, y: NDArray[Any]) -> Figure:
    """A panel after each hundred rows: what the model predicts where, and those rows."""
    drawings: dict[str, Drawing] = {}
    for turn in range(HUNDREDS):
        part = slice(100 * turn, 100 * (turn + 1))
        model.partial_fit(X[part], y[part], classes=[0, 1])
        drawings[f"after {part.stop} rows"] = partial(boundary, deepcopy(model), X[part], y[part])
    caption = "PAMO-I with 3 units of 2 planes; each row is seen once."
    return panels("Turning XOR: boundaries after each hundred rows (figure 8)", drawings, caption, columns=5)


def boundary(model: Any, X: Floats, y: NDArray[Any], ax: Any, _: Looks) -> None:
    """One panel."""
    tt.plot_boundary(model, X, y, limits=[(-2.6, 2.6)] * 2, resolution=100, ax=ax)
    ax.set(xlabel="", ylabel="", aspect="equal")


def findings(errors: Table, mistakes: Table) -> list[str]:
    """What became of the claims."""
    told = []
    for title in errors.columns:
        means = {name: errors.means(name)[title] for name in errors.rows}
        best = min(LINEAR, key=lambda name: means[name])
        fed = min((f"{name}, fed as PAMO" for name in LINEAR), key=lambda name: means[name])
        told.append(
            f"{title}: PAMO-I errs {means['PAMO-I']:.2f} %, PAMO-II {means['PAMO-II']:.2f} %; of the linear "
            f"learners {best} {means[best]:.2f} %, {fed} {means[fed]:.2f} %."
        )
    for title in mistakes.columns:
        means = {name: mistakes.means(name)[title] for name in mistakes.rows}
        told.append(
            f"Mistakes on {title}: {', '.join(f'{name} {mean:.2f} %' for name, mean in means.items())}."
        )
    return told
