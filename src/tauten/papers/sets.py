"""Public data sets for the papers, from a folder that holds one folder each; what is missing is noted."""

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

Rows = tuple[Any, NDArray[Any]]
PARTS = ("train", "test", "data")
IDX_HEADS = {"images": 16, "labels": 8}  # bytes before the numbers of an IDX file


@dataclass
class Sets:
    """A folder of data sets, laid out as `docs/papers.md` says."""

    folder: Path
    missing: dict[str, str] = field(default_factory=dict)

    def load(self, name: str, n_features: int | None = None) -> Rows | None:
        """All rows of a data set, of both parts where it has two, in order; None where it is not there."""
        parts = self.parts(name, n_features)
        if parts is None:
            return None
        if len(parts) == 1:
            return parts[0]
        from scipy import sparse

        X = [rows for rows, _ in parts]
        stacked = sparse.vstack(X).tocsr() if sparse.issparse(X[0]) else np.concatenate(X)
        return stacked, np.concatenate([labels for _, labels in parts])

    def parts(self, name: str, n_features: int | None = None) -> list[Rows] | None:
        """The parts of a data set: training and test rows, or all in one."""
        folder = self.folder / name
        if not folder.is_dir():
            self.missing[name] = f"Put it into the folder {name} of {self.folder}; see docs/papers.md."
            return None
        if any(folder.glob("*idx3*")):
            return [_idx(folder, "train"), _idx(folder, "t10k")]
        found = [path for part in PARTS for path in sorted(folder.glob(f"{part}.*"))]
        return [_read(path, n_features) for path in found]


def _read(path: Path, n_features: int | None) -> Rows:
    """One file: svmlight, CSV with the label last, or a label and a text."""
    if ".svm" in path.name:
        return load_svmlight_file(str(path), n_features=n_features)  # type: ignore[no-any-return]
    if ".tsv" in path.name:
        frame = pd.read_csv(path, sep="\t", quoting=3, keep_default_na=False)
        return frame.iloc[:, -1].to_numpy(), frame.iloc[:, 0].astype(str).to_numpy()
    frame = pd.read_csv(path, na_values="?").dropna()
    rows = pd.get_dummies(frame.iloc[:, :-1], dtype=float).to_numpy()
    return rows, frame.iloc[:, -1].astype(str).to_numpy()


def _idx(folder: Path, part: str) -> Rows:
    images, labels = (
        np.frombuffer(
            gzip.decompress(next(folder.glob(f"{part}-{kind}*")).read_bytes()), np.uint8, offset=skip
        )
        for kind, skip in IDX_HEADS.items()
    )
    return images.reshape(len(labels), -1) / 255.0, labels.astype(int)


def one_against_sample(X: Any, y: NDArray[Any], positive: Any, random: np.random.Generator) -> Rows:
    """A class, and as many rows of all others."""
    inside, outside = np.flatnonzero(y == positive), np.flatnonzero(y != positive)
    rows = np.concatenate(
        [inside, random.choice(outside, size=min(len(inside), len(outside)), replace=False)]
    )
    return X[rows], np.where(y[rows] == positive, 1, -1)
