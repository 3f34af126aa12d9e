"""From an svmlight file to a trained model, beside scikit-learn and Vowpal Wabbit; time and memory.

Method: a file of 100,000 rows of 75 non-zeros in 50,000 columns, six digits a value, is written to a
temporary folder, as svmlight and in Vowpal Wabbit's own format. Each contender turns it into a model, in
turn, seven rounds after one that does not count; the best of each stands. Files are in the system's cache.

    in a process    the call alone, with all that is imported already
    new process     the whole command, from its start to its end, the model written to a file
    memory          peak resident size of a new process, on that file and on ten of it in one

tauten:         tt.run, PA-I, test-then-train, one thread that reads ahead
scikit-learn:   load_svmlight_file, then SGDClassifier(learning_rate="pa1") in one pass
Vowpal Wabbit:  --loss_function hinge, its own settings otherwise
"""

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier
from speed import best_of

import tauten as tt

ROWS, COLUMNS, NON_ZEROS = 100_000, 50_000, 75
TIMES = 10  # the large file over the small one
HAS_VW = find_spec("vowpalwabbit") is not None

TAUTEN = """
import sys, tauten as tt
model = tt.PAClassifier(C=0.1)
tt.run(model, sys.argv[1])
model.save(sys.argv[2])
"""
IDLE = """
import tauten as tt
tt.PAClassifier().fit([[1.0], [0.0]], [1, 0])
"""
PEAK = """
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""
SCIKIT_LEARN = """
import pickle, sys
sys.path.insert(0, sys.argv[3])
from files import scikit_learn
with open(sys.argv[2], "wb") as file:
    pickle.dump(scikit_learn(sys.argv[1]), file)
"""


def write(folder: Path) -> tuple[str, str, str]:
    """The small file as svmlight and for Vowpal Wabbit, and the large one as svmlight."""
    random = np.random.default_rng(0)
    plane = random.standard_normal(COLUMNS)
    small, wabbit, large = (folder / name for name in ("small.svm", "small.vw", "large.svm"))
    with small.open("w") as svmlight, wabbit.open("w") as vw:
        for _ in range(ROWS):
            columns = np.unique(random.integers(COLUMNS, size=NON_ZEROS))
            values = random.random(len(columns)).round(6)
            noisy = plane[columns] @ values + 2.0 * random.standard_normal()
            pairs = " ".join(f"{column + 1}:{value:g}" for column, value in zip(columns, values, strict=True))
            label = "1" if noisy > 0 else "-1"
            svmlight.write(f"{label} {pairs}\n")
            vw.write(f"{label} | {pairs}\n")
    with large.open("wb") as file:
        for _ in range(TIMES):
            file.write(small.read_bytes())
    return str(small), str(wabbit), str(large)


def tauten(path: str) -> tt.Tally:
    """tauten's way."""
    return tt.run(tt.PAClassifier(C=0.1), path)


def scikit_learn(path: str) -> Any:
    """scikit-learn's way; what it loads has wide indices, which its classifier does not take."""
    X, y = load_svmlight_file(path)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    model = SGDClassifier(
        loss="hinge", penalty=None, learning_rate="pa1", eta0=0.1, shuffle=False, max_iter=1, tol=None
    )
    return model.partial_fit(X, y, classes=[-1, 1])


def vowpal_wabbit(path: str) -> None:
    """Vowpal Wabbit's way."""
    from vowpalwabbit import Workspace

    Workspace(f"--loss_function hinge --quiet -d {path}").finish()


def command(program: str, path: str, folder: Path) -> list[str]:
    """A new process that turns a file into a model file."""
    model = str(folder / "model")
    if program == "vw":
        options = ["--loss_function", "hinge", "--quiet", "-d", path, "-f", model]
        return [sys.executable, "-m", "vowpalwabbit", *options]
    return [sys.executable, "-c", program, path, model, str(Path(__file__).parent)]


def peak(program: str, path: str, folder: Path) -> float:
    """The largest resident size of a new process, in megabytes, by its own account."""
    arguments = command(program + PEAK, path, folder)
    return int(subprocess.run(arguments, check=True, capture_output=True).stdout.split()[-1]) / 1024


def main() -> None:
    """Run everything and print the ratios."""
    console = Console(width=120)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, wabbit, large = write(folder)
        size, large_size = os.path.getsize(small) / 1e6, os.path.getsize(large) / 1e6
        jobs = [lambda: tauten(small), lambda: scikit_learn(small), lambda: vowpal_wabbit(wabbit)]
        inside = best_of(*jobs[: 2 + HAS_VW])
        files = {TAUTEN: small, SCIKIT_LEARN: small, **({"vw": wabbit} if HAS_VW else {})}
        commands = [command(program, path, folder) for program, path in files.items()]
        whole = best_of(
            *(lambda run=run: subprocess.run(run, check=True, capture_output=True) for run in commands)
        )
        table = Table(title=f"{ROWS:,} rows × {NON_ZEROS}, {size:.0f} MB of svmlight, to a model")
        for heading in ("", "in a process", "ratio", "new process", "ratio"):
            table.add_column(heading, justify="right" if heading else "left")
        for title, call, process in zip(
            ("tauten", "scikit-learn", "Vowpal Wabbit"), inside, whole, strict=False
        ):
            ratios = f"{call / inside[0]:.1f}", f"{process / whole[0]:.1f}"
            table.add_row(title, f"{call:.2f} s", ratios[0], f"{process:.2f} s", ratios[1])
        console.print(table)
        if not HAS_VW:
            console.print("Vowpal Wabbit is not installed: pip install vowpalwabbit (the group bench).")
        tall = best_of(lambda: tauten(large))[0]
        console.print(f"{large_size:.0f} MB: {tall:.2f} s, {large_size / tall:.0f} MB/s")
        if not sys.platform.startswith("linux"):
            console.print("Peak memory is read from /proc, which only Linux has.")
            return
        small_peak, large_peak = (peak(TAUTEN, path, folder) for path in (small, large))
        idle, theirs = peak(IDLE, small, folder), peak(SCIKIT_LEARN, small, folder)
        console.print(
            f"peak memory: tauten {small_peak:.0f} MB with the small file, {large_peak:.0f} with the large, "
            f"{idle:.0f} with none; scikit-learn {theirs:.0f} MB with the small one"
        )


if __name__ == "__main__":
    main()
