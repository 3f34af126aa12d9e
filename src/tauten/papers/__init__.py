"""The papers behind the library, reproduced: each module runs the protocol of one and reports on it."""

import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tauten.papers.report import Report

PAPERS = ("pam", "paa", "pamo", "pamean", "metric")


def reproduce(name: str, folder: str | Path, quick: bool = False, seed: int = 0) -> "Report":
    """Run the protocol of a paper on the data sets that are in a folder: NAME/train.svm.gz and the like."""
    from tauten.papers.sets import Sets

    if name not in PAPERS:
        raise ValueError(f"There is no paper {name!r}; expected one of {', '.join(PAPERS)}.")
    if find_spec("matplotlib") is None:
        raise ImportError("Reports draw figures; install matplotlib with: pip install 'tauten[plot]'.")
    started = time.perf_counter()
    report: Report = import_module(f"tauten.papers.{name}").run(Sets(Path(folder)), quick, seed)
    report.seconds, report.seed, report.quick = time.perf_counter() - started, seed, quick
    return report
