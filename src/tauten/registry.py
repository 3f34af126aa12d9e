"""Every learner by name: what the checks, the docs and `make` are driven by."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from types import MappingProxyType
from typing import Any

from tauten.ask import AdaptiveAsk, AskRule, MarginAsk, RandomAsk, SecondOrderAsk
from tauten.base import OnlineLearner
from tauten.classifier import OnlineClassifier
from tauten.io import model_file
from tauten.learners.arow import AROWClassifier
from tauten.learners.arow_regressor import AROWRegressor
from tauten.learners.bogd import BudgetOGDClassifier
from tauten.learners.bpa import BudgetPAClassifier
from tauten.learners.bsgd import BudgetSGDClassifier
from tauten.learners.cpa import CPAClassifier
from tauten.learners.cspa import CostSensitivePAClassifier
from tauten.learners.cw import CWClassifier
from tauten.learners.fogd import FourierOGDClassifier
from tauten.learners.forgetron import ForgetronClassifier
from tauten.learners.lol import LocalPAClassifier
from tauten.learners.nherd import NHERDClassifier
from tauten.learners.nogd import NystromOGDClassifier
from tauten.learners.ogd import OGDClassifier
from tauten.learners.oselm import OSELMClassifier
from tauten.learners.pa import PAClassifier
from tauten.learners.pa_metric import PAMetric
from tauten.learners.pa_regressor import PARegressor
from tauten.learners.pam import MahalanobisPAClassifier
from tauten.learners.pam_regressor import MahalanobisPARegressor
from tauten.learners.pamean import ClassMeanPAClassifier
from tauten.learners.pamo import MaxOutPAClassifier
from tauten.learners.paum import PAUMClassifier
from tauten.learners.perceptron import PerceptronClassifier
from tauten.learners.projectron import ProjectronClassifier
from tauten.learners.rbp import BudgetPerceptronClassifier
from tauten.learners.rls import RLSClassifier
from tauten.learners.scw import SCWClassifier
from tauten.learners.sop import SecondOrderPerceptronClassifier
from tauten.metric import Metric, OnlineMetric
from tauten.wrappers.active import ActiveClassifier
from tauten.wrappers.itml import ITMLMetric
from tauten.wrappers.mapped import MappedClassifier, MappedRegressor


@dataclass(frozen=True)
class Entry:
    """A name, the class behind it with the parameters that make it that algorithm, where it comes from, one
    line; for active learning also what asks.
    """

    name: str
    learner: type[OnlineLearner | Metric]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    paper: str = ""
    line: str = ""
    ask: type[AskRule] | None = None

    @property
    def kind(self) -> str:
        if self.ask is not None:
            return "active"
        if issubclass(self.learner, Metric):
            return "metric"
        return "classifier" if issubclass(self.learner, OnlineClassifier) else "regressor"

    def owners(self) -> dict[str, type]:
        """The class that each parameter belongs to."""
        owned = {field.name: self.learner for field in fields(self.learner)}
        if self.ask is None:
            return owned
        for owner in (self.ask, ActiveClassifier):
            owned |= {field.name: owner for field in fields(owner) if field.name not in ("learner", "ask")}
        return owned

    def make(self, parameters: Mapping[str, Any]) -> OnlineLearner | ActiveClassifier | Metric:
        """The algorithm, with further parameters."""
        given: dict[Any, dict[str, Any]] = {self.learner: {}, self.ask: {}, ActiveClassifier: {}}
        owners = self.owners()
        for name, value in {**self.parameters, **parameters}.items():
            given[owners[name]][name] = value
        learner = self.learner(**given[self.learner])
        if self.ask is None:
            return learner
        return ActiveClassifier(learner, self.ask(**given[self.ask]), **given[ActiveClassifier])


CRAMMER = "Crammer et al., JMLR 2006"
TSAI = "Tsai, Tseng, Lee, Pao"
PAM = "Passive-Aggressive Mahalanobis"
AROW = "Crammer, Kulesza, Dredze, NIPS 2009"
SCW = "Wang, Zhao, Hoi, ICML 2012"
PAMO = "Jorge, Paredes, 2018"
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
    Entry("ogd", OGDClassifier, {}, "Zinkevich, ICML 2003", "gradient descent at a rate that falls"),
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
_MAX_OUT = (
    Entry("pamo1", MaxOutPAClassifier, {"variant": "I"}, PAMO, "max-out units that learn from losses"),
    Entry("pamo2", MaxOutPAClassifier, {"variant": "II"}, PAMO, "max-out units that learn from every row"),
)
ORABONA = "Orabona, Keshet, Caputo, JMLR 2009"
ZHAO = "Zhao et al., ICML 2012"

_BUDGET = (
    Entry(
        "rbp",
        BudgetPerceptronClassifier,
        {},
        "Cavallanti, Cesa-Bianchi, Gentile, 2007",
        "kernel Perceptron; support vectors leave at random",
    ),
    Entry(
        "forgetron",
        ForgetronClassifier,
        {},
        "Dekel, Shalev-Shwartz, Singer, 2008",
        "kernel Perceptron that forgets: for drift",
    ),
    Entry("projectron", ProjectronClassifier, {}, ORABONA, "projects mistakes onto what it has"),
    Entry("projectron++", ProjectronClassifier, {"plus": True}, ORABONA, "projects small margins too"),
    Entry(
        "bpas",
        BudgetPAClassifier,
        {},
        "Wang, Vucetic, AISTATS 2010",
        "PA on a budget: the first to try with a kernel",
    ),
    Entry("bogd", BudgetOGDClassifier, {}, ZHAO, "kernel gradient descent, unbiased in the mean"),
    Entry("bogd++", BudgetOGDClassifier, {"plus": True}, ZHAO, "the same; light support vectors leave first"),
    Entry(
        "bsgd",
        BudgetSGDClassifier,
        {},
        "Wang, Crammer, Vucetic, JMLR 2012",
        "SVM by gradient descent; support vectors merge",
    ),
)
LU = "Lu et al., JMLR 2016"
ZHOU = "Zhou et al., Pattern Recognition 2016"

_MAPPED = (
    Entry("fogd", FourierOGDClassifier, {}, LU, "gradient descent on Fourier features"),
    Entry("nogd", NystromOGDClassifier, {}, LU, "gradient descent on Nyström features"),
)
_LEAST_SQUARES = (
    Entry("rls", RLSClassifier, {}, "Plackett, 1950", "ridge regression on the labels of all rows"),
    Entry("oselm", OSELMClassifier, {}, "Liang et al., IEEE TNN 2006", "rls on random neurons"),
)
_LOCAL = (
    Entry("lol", LocalPAClassifier, {"shared": True}, ZHOU, "PA around each prototype, and a common part"),
    Entry("ilol", LocalPAClassifier, {"shared": False}, ZHOU, "PA around each prototype, each on its own"),
)
PAA = "Lu, Zhao, Hoi, 2016"
SELECTIVE = "Cesa-Bianchi, Gentile, Zaniboni, JMLR 2006"


def _active(name: str, base: str, ask: type[AskRule], paper: str, line: str) -> Entry:
    """A learner of another name, asked for its labels."""
    (entry,) = (entry for entry in (*_FIRST_ORDER, *_SECOND_ORDER) if entry.name == base)
    return replace(entry, name=name, ask=ask, paper=paper, line=line)


_ACTIVE = (
    _active("rpe", "perceptron", RandomAsk, PAA, "Perceptron, labels asked at random"),
    _active("rpa", "pa", RandomAsk, PAA, "PA, labels asked at random"),
    _active("rpa1", "pa1", RandomAsk, PAA, "PA-I, labels asked at random"),
    _active("rpa2", "pa2", RandomAsk, PAA, "PA-II, labels asked at random"),
    _active("pea", "perceptron", MarginAsk, SELECTIVE, "Perceptron, asked where unsure (LEPE)"),
    _active("sel-ada", "perceptron", AdaptiveAsk, SELECTIVE, "Perceptron, asked by a scale it finds"),
    _active("sel-2nd", "sop", SecondOrderAsk, SELECTIVE, "second-order Perceptron, asked by its variance"),
    _active("paa", "pa", MarginAsk, PAA, "PA, asked where unsure"),
    _active("paa1", "pa1", MarginAsk, PAA, "PA-I, asked where unsure: the first choice for dear labels"),
    _active("paa2", "pa2", MarginAsk, PAA, "PA-II, asked where unsure"),
    _active("cspaa", "cspa", MarginAsk, PAA, "cost-sensitive PA, asked where unsure"),
    _active("csrnd", "cspa", RandomAsk, PAA, "cost-sensitive PA, labels asked at random"),
)

PEREZ_SUAY = "Perez-Suay et al., Progress in AI 2013"
_KEPT_POSITIVE = {"+": ("always", "M ⪰ 0 after every move"), "-": ("end", "M made ⪰ 0 at the end")}


def _metrics(name: str, variant: str, line: str) -> tuple[Entry, ...]:
    """A metric learner's version + and its version −."""
    return tuple(
        Entry(
            f"{name}{sign}", PAMetric, {"variant": variant, "psd": psd}, PEREZ_SUAY, f"metric: {line}; {kept}"
        )
        for sign, (psd, kept) in _KEPT_POSITIVE.items()
    )


_METRICS = (
    *_metrics("metric-pa", "hard", "fixes every wrong pair whole (+ is POLA)"),
    *_metrics("metric-pa1", "I", "moves at most C"),
    *_metrics("metric-pa2", "II", "damps every move"),
    *_metrics("metric-ls", "LS", "PALS, distances of b ± 1 in the mean square"),
    Entry("itml", ITMLMetric, {}, "Davis et al., ICML 2007", "metric: ITML of the package metric-learn"),
)

_ENTRIES = (
    *_FIRST_ORDER,
    *_SECOND_ORDER,
    *map(_diagonal, _SECOND_ORDER),
    *_MAX_OUT,
    *_BUDGET,
    *_LEAST_SQUARES,
    *_MAPPED,
    *_LOCAL,
    *_ACTIVE,
    *_METRICS,
)
_BY_NAME: Mapping[str, Entry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})


def learners() -> Mapping[str, Entry]:
    """All learners by registry name, with class, fixed parameters, paper and a line on each.

    >>> import tauten as tt
    >>> tt.learners()["pa1"].line
    'moves at most C along x: the first choice'
    """
    return _BY_NAME


def make(name: str, **parameters: Any) -> Any:
    """The learner of a registry name, with further parameters.

    >>> import tauten as tt
    >>> tt.make("pa2", C=0.5)
    PAClassifier(C=0.5, variant='II')
    """
    if name not in _BY_NAME:
        raise ValueError(f"There is no learner {name!r}; expected one of {', '.join(_BY_NAME)}.")
    entry = _BY_NAME[name]
    allowed = list(entry.owners())
    for unknown in parameters.keys() - set(allowed):
        raise ValueError(f"{name} has no parameter {unknown!r}; expected one of {', '.join(allowed)}.")
    return entry.make(parameters)


def load(path: str | PathLike[str]) -> OnlineLearner | ActiveClassifier | OnlineMetric:
    """Read a model that `save` wrote; it learns on as if it had never stopped.

    A file that is damaged, hostile or of a later version raises a ValueError and runs nothing. Models of a
    class of your own are read by that class: `MyLearner.load(path)`.
    """
    return load_parts(path, *model_file.read(path))


def load_parts(
    path: str | PathLike[str], header: dict[str, Any], arrays: dict[str, Any]
) -> OnlineLearner | ActiveClassifier:
    """The model that was read from a file as header and arrays."""
    kind = str(header.get("class"))
    if kind == ActiveClassifier.__name__:
        with model_file.readable(path):
            learner = learner_class(header["learner"]["class"])
            if not issubclass(learner, OnlineClassifier):
                raise ValueError(f"it holds a {learner.__name__}, expected a classifier")
            return ActiveClassifier.restore(header, arrays, learner)
    if kind not in _CLASSES:
        raise model_file.ModelFileError(
            f"{path} holds a {header.get('class')!r}, which tauten does not know."
        )
    return _CLASSES[kind].from_file(path, header, arrays)


_CLASSES: Mapping[str, type[OnlineLearner]] = {
    kind.__name__: kind
    for kind in (*(entry.learner for entry in _ENTRIES), MappedClassifier, MappedRegressor)
    if issubclass(kind, OnlineLearner | OnlineMetric)  # others have no files
}


def learner_class(name: str) -> type[OnlineLearner]:
    """The class of a learner by its name, as model files have it."""
    if name not in _CLASSES:
        raise ValueError(f"it holds a {name!r}, which tauten does not know")
    return _CLASSES[name]
