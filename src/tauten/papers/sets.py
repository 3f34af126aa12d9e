"""Public data sets for the papers, from a folder that holds a folder for each; what is missing is noted."""

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

Rows = tuple[Any, NDArray[Any]]
PARTS = ("train", "test", "data")
ENDS = (".svm.gz", ".svm", ".csv.gz", ".csv", ".tsv.gz", ".tsv")
IDX_HEADS = {"images": 16, "labels": 8}  # bytes before the numbers of an IDX file
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
UCI = "https://archive.ics.uci.edu"
ORIGINS = {  # of sets that are in few collections
    "mnist": "http://yann.lecun.com/exdb/mnist, the four files as they are",
    "cbcl": "http://cbcl.mit.edu/software-datasets/FaceData2.html, as train.svm and test.svm",
    "satellite": f"{UCI}/dataset/146, as data.csv with a header, the label last",
    "spambase": f"{UCI}/dataset/94, as data.csv with a header, the label last",
    "soybean_large": f"{UCI}/dataset/90, as data.csv with a header, the label last",
}


@dataclass
class Sets:
    """A folder of data sets: NAME/train.svm.gz, NAME/data.csv.gz and the like, packed or not."""

    folder: Path
    missing: dict[str, str] = field(default_factory=dict)

    def load(self, name: str, n_features: int | None = None) -> Rows | None:
        """All rows of a data set, of both parts where it has two, in order; None where it is not there."""
        parts = self.parts(name, n_features)
        return None if parts is None else joined(parts)

    def parts(self, name: str, n_features: int | None = None) -> list[Rows] | None:
        """The parts of a data set: training and test rows, or all in one."""
        folder = self.folder / name
        if any(folder.glob("*idx3*")):
            return [_idx(folder, "train"), _idx(folder, "t10k")]
        files = [_file(folder, part) for part in PARTS]
        found = [_read(path, n_features) for path in files if path is not None]
        if not found:
            self.missing[name] = f"not in {self.folder}; {_advice(name)}"
        return found or None

    def lack(self, name: str, reason: str) -> None:
        """Note a data set of the paper that nobody can get."""
        self.missing[name] = reason


def joined(parts: list[Rows]) -> Rows:
    """The rows of all parts, one after the other."""
    X, y = zip(*parts, strict=True)
    stacked = sp.vstack(X).tocsr() if sp.issparse(X[0]) else np.concatenate(X)
    return narrow(stacked), np.concatenate(y)


def _advice(name: str) -> str:
    origin = ORIGINS.get(name, f"{LIBSVM}, as train.svm and test.svm")
    return f"put it into the folder {name} there: from {origin}, packed by gzip or not."


def _file(folder: Path, part: str) -> Path | None:
    return next((path for end in ENDS if (path := folder / (part + end)).is_file()), None)


def _read(path: Path, n_features: int | None) -> Rows:
    """One file: svmlight, a CSV with the label last, or a label and a text.

    Of a CSV rows with missing values are dropped, and nominal columns become one for each value.
    """
    if ".svm" in path.name:
        X, y = load_svmlight_file(str(path), n_features=n_features)
        return narrow(X), y
    if ".tsv" in path.name:
        frame = pd.read_csv(path, sep="\t", quoting=3, keep_default_na=False)
        return frame.iloc[:, -1].to_numpy(), frame.iloc[:, 0].to_numpy(dtype=str)
    frame = pd.read_csv(path, na_values="?").dropna()
    rows = pd.get_dummies(frame.iloc[:, :-1], dtype=float).to_numpy()
    return rows, frame.iloc[:, -1].to_numpy(dtype=str)


def narrow(X: Any) -> Any:
    """Sparse rows with indices as scikit-learn's linear models want them."""
    if sp.issparse(X):
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _idx(folder: Path, part: str) -> Rows:
    """Images and labels in the form of MNIST, scaled to [0, 1]."""
    images, labels = (
        np.frombuffer(_unpacked(next(folder.glob(f"{part}-{kind}*"))), np.uint8, offset=skip)
        for kind, skip in IDX_HEADS.items()
    )
    return images.reshape(len(labels), -1) / 255.0, labels.astype(int)


def _unpacked(path: Path) -> bytes:
    packed = path.read_bytes()
    return gzip.decompress(packed) if path.suffix == ".gz" else packed


def with_constant(X: Any) -> Any:
    """Rows with a constant feature."""
    one = np.ones((X.shape[0], 1))
    return narrow(sp.hstack([X, one]).tocsr()) if sp.issparse(X) else np.hstack([X, one])
