"""Every learner by name: what the checks, the docs and `make` are driven by."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from types import MappingProxyType
from typing import Any

from tauten.base import OnlineLearner
from tauten.classifier import OnlineClassifier
from tauten.io import model_file
from tauten.learners.cpa import CPAClassifier
from tauten.learners.cspa import CostSensitivePAClassifier
from tauten.learners.pa import PAClassifier
from tauten.learners.pa_regressor import PARegressor
from tauten.learners.pamean import ClassMeanPAClassifier
from tauten.learners.paum import PAUMClassifier
from tauten.learners.perceptron import PerceptronClassifier


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
WINDOW = 10

_ENTRIES = (
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
