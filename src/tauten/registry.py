"""Every learner by name: what the checks, the docs and `make` are driven by."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from types import MappingProxyType
from typing import Any

from tauten.base import OnlineLearner
from tauten.classifier import OnlineClassifier
from tauten.io import model_file
from tauten.learners.arow import AROWClassifier
from tauten.learners.arow_regressor import AROWRegressor
from tauten.learners.cpa import CPAClassifier
from tauten.learners.cspa import CostSensitivePAClassifier
from tauten.learners.cw import CWClassifier
from tauten.learners.nherd import NHERDClassifier
from tauten.learners.pa import PAClassifier
from tauten.learners.pa_regressor import PARegressor
from tauten.learners.pam import MahalanobisPAClassifier
from tauten.learners.pam_regressor import MahalanobisPARegressor
from tauten.learners.pamean import ClassMeanPAClassifier
from tauten.learners.paum import PAUMClassifier
from tauten.learners.perceptron import PerceptronClassifier
from tauten.learners.scw import SCWClassifier
from tauten.learners.sop import SecondOrderPerceptronClassifier


@dataclass(frozen=True)
class Entry:
    """A name, the class behind it with the parameters that make it that algorithm, where it comes from, one
    line.
    """

    name: str
    learner: type[OnlineLearner]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    paper: str = ""
    line: str = ""

    @property
    def kind(self) -> str:
        return "classifier" if issubclass(self.learner, OnlineClassifier) else "regressor"


CRAMMER = "Crammer et al., JMLR 2006"
TSAI = "Tsai, Tseng, Lee, Pao"
PAM = "Passive-Aggressive Mahalanobis"
AROW = "Crammer, Kulesza, Dredze, NIPS 2009"
SCW = "Wang, Zhao, Hoi, ICML 2012"
WINDOW = 10

_SECOND_ORDER = (
    Entry("pam", MahalanobisPAClassifier, {"variant": "hard"}, PAM, "PA along Σx, whole"),
    Entry("pam1", MahalanobisPAClassifier, {"variant": "I"}, PAM, "PA along Σx, at most C"),
    Entry("pam2", MahalanobisPAClassifier, {"variant": "II"}, PAM, "PA along Σx, damped: the first to try"),
    Entry(
        "sop",
        SecondOrderPerceptronClassifier,
        {},
        "Cesa-Bianchi et al., 2005",
        "ridge regression on mistakes",
    ),
    Entry(
        "cw", CWClassifier, {}, "Crammer, Dredze, Pereira, NIPS 2008", "each label as probable as was asked"
    ),
    Entry("arow", AROWClassifier, {}, AROW, "each example a measurement with noise r"),
    Entry("scw1", SCWClassifier, {"variant": "I"}, SCW, "CW that moves at most C along Σx"),
    Entry("scw2", SCWClassifier, {"variant": "II"}, SCW, "CW that damps every move"),
    Entry("nherd", NHERDClassifier, {}, "Crammer, Lee, NIPS 2010", "herds a cloud of weights"),
    Entry("pam-reg", MahalanobisPARegressor, {"variant": "hard"}, PAM, "regression along Σx, whole"),
    Entry("pam1-reg", MahalanobisPARegressor, {"variant": "I"}, PAM, "regression along Σx, at most C"),
    Entry("pam2-reg", MahalanobisPARegressor, {"variant": "II"}, PAM, "regression along Σx, damped"),
    Entry("arow-reg", AROWRegressor, {}, AROW, "least squares that forgives errors up to ε"),
)


def _diagonal(entry: Entry) -> Entry:
    """The same algorithm with the diagonal of Σ, which is named before the kind of task."""
    name, *task = entry.name.split("-")
    return replace(
        entry,
        name="-".join([name, "diag", *task]),
        parameters={**entry.parameters, "covariance": "diag"},
        line=f"{entry.line}; Σ diagonal",
    )


_FIRST_ORDER = (
    Entry("perceptron", PerceptronClassifier, {}, "Rosenblatt, 1958", "adds the example on a mistake"),
    Entry(
        "pa", PAClassifier, {"variant": "hard"}, CRAMMER, "fixes every mistake whole: for data without noise"
    ),
    Entry("pa1", PAClassifier, {"variant": "I"}, CRAMMER, "moves at most C along x: the first choice"),
    Entry("pa2", PAClassifier, {"variant": "II"}, CRAMMER, "damps every move"),
    Entry(
        "paum", PAUMClassifier, {}, "Li et al., ICML 2002", "Perceptron with a margin of its own on each side"
    ),
    Entry("cpa", CPAClassifier, {}, CRAMMER, "mistakes only, margin √ρ by what they cost"),
    Entry(
        "cspa", CostSensitivePAClassifier, {}, "Lu, Zhao, Hoi, 2016", "asks the rare class for a margin of ρ"
    ),
    Entry("pamean", ClassMeanPAClassifier, {"variant": "hard"}, TSAI, "PAm: leans toward the class means"),
    Entry("pamean1", ClassMeanPAClassifier, {"variant": "I"}, TSAI, "PAm-1: the same, at most C along x"),
    Entry("pamean2", ClassMeanPAClassifier, {"variant": "II"}, TSAI, "PAm-2: the same, damped"),
    Entry(
        "pameanw",
        ClassMeanPAClassifier,
        {"variant": "hard", "window": WINDOW},
        TSAI,
        "PAmW: from the mean of the last 10",
    ),
    Entry(
        "pameanw1",
        ClassMeanPAClassifier,
        {"variant": "I", "window": WINDOW},
        TSAI,
        "PAmW-1: the same, at most C along x",
    ),
    Entry(
        "pameanw2",
        ClassMeanPAClassifier,
        {"variant": "II", "window": WINDOW},
        TSAI,
        "PAmW-2: the same, damped",
    ),
    Entry("pa-reg", PARegressor, {"variant": "hard"}, CRAMMER, "regression: meets every target within ε"),
    Entry("pa1-reg", PARegressor, {"variant": "I"}, CRAMMER, "regression: moves at most C along x"),
    Entry("pa2-reg", PARegressor, {"variant": "II"}, CRAMMER, "regression: damps every move"),
)
_ENTRIES = (*_FIRST_ORDER, *_SECOND_ORDER, *map(_diagonal, _SECOND_ORDER))
_BY_NAME: Mapping[str, Entry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})


def learners() -> Mapping[str, Entry]:
    """All learners by registry name, with class, fixed parameters, paper and a line on each.

    >>> import tauten as tt
    >>> tt.learners()["pa1"].line
    'moves at most C along x: the first choice'
    """
    return _BY_NAME


def make(name: str, **parameters: Any) -> OnlineLearner:
    """The learner of a registry name, with further parameters.

    >>> import tauten as tt
    >>> tt.make("pa2", C=0.5)
    PAClassifier(C=0.5, variant='II')
    """
    if name not in _BY_NAME:
        raise ValueError(f"There is no learner {name!r}; expected one of {', '.join(_BY_NAME)}.")
    entry = _BY_NAME[name]
    allowed = [parameter.name for parameter in fields(entry.learner)]
    for unknown in parameters.keys() - set(allowed):
        raise ValueError(f"{name} has no parameter {unknown!r}; expected one of {', '.join(allowed)}.")
    return entry.learner(**{**entry.parameters, **parameters})


def load(path: str | PathLike[str]) -> OnlineLearner:
    """Read a model that `save` wrote; it learns on as if it had never stopped.

    A file that is damaged, hostile or of a later version raises a ValueError and runs nothing. Models of a
    class of your own are read by that class: `MyLearner.load(path)`.
    """
    header, arrays = model_file.read(path)
    for entry in _ENTRIES:
        if entry.learner.__name__ == header.get("class"):
            return entry.learner.from_file(path, header, arrays)
    raise model_file.ModelFileError(f"{path} holds a {header.get('class')!r}, which tauten does not know.")
