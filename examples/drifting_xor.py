"""Follow XOR while it turns: four Gaussians, opposite ones of one class, whose means rotate every 100 rows.

python examples/drifting_xor.py [--plot FILE] [--seed N]

PAMO with three units of two planes sees each of 1,000 rows once and predicts it before it learns it. C and α
are those with the fewest mistakes on another stream of the kind. Figure 8 of the paper has no numbers; here
the mistakes of each hundred are printed beside those of PA, which is linear.
"""

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table

import tauten as tt
from tauten.papers.pamo import HUNDREDS
from tauten.papers.pamo import xor_stream as stream

GRID = {"C": 2.0 ** np.arange(-4, 5), "C_r": 2.0 ** np.arange(-4, 5), "alpha": np.arange(1, 10) / 10}


def chosen(seed: int) -> dict[str, float]:
    """The grid point with the fewest mistakes on a stream of its own."""
    best = tt.sweep(tt.make("pamo1", n_units=3, n_pieces=2), GRID, *stream(seed)).best
    return {name: float(getattr(best, name)) for name in GRID}


def draw(parameters: dict[str, float], X: np.ndarray, y: np.ndarray, file: str) -> None:
    """A panel after each hundred rows: what the model predicts where, and the last hundred rows."""
    from matplotlib import pyplot

    model = tt.make("pamo1", n_units=3, n_pieces=2, classes=[0, 1], **parameters)
    figure, panels = pyplot.subplots(2, 5, figsize=(11, 4.6), sharex=True, sharey=True, layout="constrained")
    for turn, panel in enumerate(panels.flat):
        part = slice(100 * turn, 100 * (turn + 1))
        model.partial_fit(X[part], y[part])
        tt.plot_boundary(model, X[part], y[part], limits=[(-2.6, 2.6)] * 2, ax=panel)
        panel.set(title=f"after {part.stop} rows", xlabel="", ylabel="", aspect="equal")
    figure.savefig(file, dpi=80)


def main() -> None:
    """Run, print the mistakes, and draw the panels where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="write the ten panels as a picture")
    parser.add_argument("--seed", type=int, default=0, help="of the stream; its neighbour chooses C and α")
    arguments = parser.parse_args()
    parameters = chosen(arguments.seed + 1)
    X, y = stream(arguments.seed)
    learners = {
        "PAMO-I": tt.make("pamo1", n_units=3, n_pieces=2, **parameters),
        "PAMO-II": tt.make("pamo2", n_units=3, n_pieces=2, **parameters),
        "PA-I": tt.make("pa1"),
    }
    table = Table(title=f"mistakes in each hundred rows, {parameters}")
    for heading in ("learner", *(str(100 * turn) for turn in range(1, HUNDREDS + 1)), "all"):
        table.add_column(heading, justify="left" if heading == "learner" else "right")
    for name, model in learners.items():
        mistakes = tt.progressive(model, X, y).errors.reshape(HUNDREDS, 100).sum(axis=1)
        table.add_row(name, *map(str, mistakes), f"{mistakes.sum() / len(y):.1%}")
    console = Console()
    console.print(table)
    if arguments.plot:
        draw(parameters, X, y, arguments.plot)
        console.print(f"Wrote {arguments.plot}")


if __name__ == "__main__":
    main()
