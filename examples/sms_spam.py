"""Learn a stream of text messages, each predicted before it is learned, with several learners side by side.

python examples/sms_spam.py [--plot FILE]
"""

import argparse

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import tauten as tt
from tauten.data import sms_spam, words

LEARNERS = {
    "perceptron": tt.make("perceptron"),
    "perceptron, averaged": tt.make("perceptron", average=True),
    "paum": tt.make("paum", tau_plus=2.0, tau_minus=1.0),
    "pa": tt.make("pa"),
    "pa1": tt.make("pa1", C=0.1),
    "pa2": tt.make("pa2", C=0.1),
    "cspa, balanced": tt.make("cspa", C=0.1, rho="balanced"),
    "pamean1": tt.make("pamean1", C=0.1, gamma=0.001),
}


def run(console: Console) -> dict[str, tt.Trace]:
    """Each learner's trace over the stream."""
    texts, labels = sms_spam()
    rows = [words(text) for text in texts]
    (
        tt.make("pamean1").fit(rows[:50], labels[:50]),
        tt.make("pa1", average=True).fit(rows[:50], labels[:50]),
    )  # compile first
    traces = {}
    columns = (
        TextColumn("{task.description:22}"),
        BarColumn(),
        TextColumn("{task.completed:>5,} messages"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bars:
        for name, model in LEARNERS.items():
            bar = bars.add_task(name, total=len(rows))
            traces[name] = tt.progressive(
                model, rows, labels, progress=lambda done, _, bar=bar: bars.update(bar, completed=done)
            )
    return traces


def table(traces: dict[str, tt.Trace]) -> Table:
    """One line a learner, the fewest errors first."""
    view = Table(title="SMS Spam Collection: predict, then learn, one pass")
    view.add_column("learner")
    for heading in ("error rate", "F1 of spam", "updates", "time"):
        view.add_column(heading, justify="right")
    for name, trace in sorted(traces.items(), key=lambda item: item[1].error_rate):
        updates = f"{int(trace.updates.sum()):,}"
        view.add_row(
            name,
            f"{trace.error_rate:.2%}",
            f"{trace.f1('spam'):.3f}",
            updates,
            f"{trace.seconds * 1e3:.0f} ms",
        )
    return view


def main() -> None:
    """Run, print the table and the words that weigh most, and draw the curve where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--plot", metavar="FILE", help="write the error of the best learner over time as a picture"
    )
    arguments = parser.parse_args()
    console = Console()
    traces = run(console)
    console.print(table(traces))
    best = min(traces, key=lambda name: traces[name].error_rate)
    weights = sorted(
        zip(LEARNERS[best].coef_[0], LEARNERS[best].feature_names_in_, strict=True), reverse=True
    )
    console.print(f"What {best} takes for spam: " + ", ".join(repr(name) for _, name in weights[:12]))
    if arguments.plot:
        traces[best].plot(window=500).figure.savefig(arguments.plot, dpi=150)
        console.print(f"Wrote {arguments.plot}")


if __name__ == "__main__":
    main()
