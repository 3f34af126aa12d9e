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
UCI = "https://archive.ics.uci.edu/datasets"
PRTOOLS = "the data sets of PRTools, http://prtools.tudelft.nl"
SVM = "as train.svm and test.svm (or data.svm), svmlight with indices from 1"
CSV = "as data.csv (or train.csv and test.csv) with a header, the label last, ? for what is missing"
TSV = "as train.tsv and test.tsv with the header label, text"
ORIGINS = {  # where a set comes from, and the form it is read in
    **dict.fromkeys("a8a a9a dna ijcnn1 letter sector svmguide1 w3a w7a w8a webspam".split(), (LIBSVM, SVM)),
    **dict.fromkeys("balance breast_w bupa covtype crx ecoli glass ionosphere mfeat_mor".split(), (UCI, CSV)),
    **dict.fromkeys("phishing_websites satellite segment soybean_large spambase".split(), (UCI, CSV)),
    **dict.fromkeys("vowel wine".split(), (UCI, CSV)),
    **dict.fromkeys("chromosomes soybean2_prtools".split(), (PRTOOLS, CSV)),
    **dict.fromkeys("20newsgroups reuters_r8".split(), ("https://ana.cachopo.org/datasets", TSV)),
    "cbcl": ("http://cbcl.mit.edu/software-datasets/FaceData2.html", SVM),
    "mnist": ("http://yann.lecun.com/exdb/mnist", "the four files as they are"),
    "rcv1_small": ("the tests of Vowpal Wabbit", SVM),
    "usps": ("https://hastie.su.domains/ElemStatLearn, zip code", CSV),
    "webkb877": ("https://linqs.org/datasets, WebKB", SVM),
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
            self.missing[name] = _advice(name)
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
    home, form = ORIGINS[name]
    return f"put it into a folder {name} beside the others: from {home}, {form}; packed by gzip or not."


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
