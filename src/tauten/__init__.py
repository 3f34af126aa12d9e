"""tauten: passive-aggressive online learning.

Each example pulls the model just taut: not at all when it is right by a margin, and otherwise by the smallest
move that makes it right.

Importing the package loads none of its parts; each public name loads what it needs when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tauten.ask import (
        AdaptiveAsk,
        AlwaysAsk,
        AskRule,
        BudgetAsk,
        DecayingAsk,
        MarginAsk,
        RandomAsk,
        SecondOrderAsk,
        VarianceAsk,
    )
    from tauten.checks import check_learner
    from tauten.curves import AskCurve, ask_curve, at_rate
    from tauten.evaluate import Comparison, Sweep, compare, progressive, sweep
    from tauten.files import Checkpoint, run
    from tauten.io.errors import ReadError
    from tauten.io.model_file import ModelFileError
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
    from tauten.maps import FourierMap, LayerMap, NystromMap
    from tauten.merging import merge
    from tauten.plots import plot_boundary
    from tauten.registry import learners, load, make
    from tauten.studying import MetricStudy, RankTest, metric_study, rank_test
    from tauten.tally import Tally
    from tauten.trace import Trace
    from tauten.wrappers.active import ActiveClassifier
    from tauten.wrappers.itml import ITMLMetric
    from tauten.wrappers.mapped import MappedClassifier, MappedRegressor

__version__ = "0.1.0"

_HOMES = {
    "AROWClassifier": "tauten.learners.arow",
    "AROWRegressor": "tauten.learners.arow_regressor",
    "ActiveClassifier": "tauten.wrappers.active",
    "AdaptiveAsk": "tauten.ask",
    "AlwaysAsk": "tauten.ask",
    "AskCurve": "tauten.curves",
    "AskRule": "tauten.ask",
    "BudgetAsk": "tauten.ask",
    "BudgetOGDClassifier": "tauten.learners.bogd",
    "BudgetPAClassifier": "tauten.learners.bpa",
    "BudgetPerceptronClassifier": "tauten.learners.rbp",
    "BudgetSGDClassifier": "tauten.learners.bsgd",
    "CPAClassifier": "tauten.learners.cpa",
    "CWClassifier": "tauten.learners.cw",
    "Checkpoint": "tauten.files",
    "ClassMeanPAClassifier": "tauten.learners.pamean",
    "Comparison": "tauten.evaluate",
    "CostSensitivePAClassifier": "tauten.learners.cspa",
    "DecayingAsk": "tauten.ask",
    "ForgetronClassifier": "tauten.learners.forgetron",
    "FourierMap": "tauten.maps",
    "FourierOGDClassifier": "tauten.learners.fogd",
    "ITMLMetric": "tauten.wrappers.itml",
    "LayerMap": "tauten.maps",
    "LocalPAClassifier": "tauten.learners.lol",
    "MahalanobisPAClassifier": "tauten.learners.pam",
    "MahalanobisPARegressor": "tauten.learners.pam_regressor",
    "MappedClassifier": "tauten.wrappers.mapped",
    "MappedRegressor": "tauten.wrappers.mapped",
    "MarginAsk": "tauten.ask",
    "MaxOutPAClassifier": "tauten.learners.pamo",
    "MetricStudy": "tauten.studying",
    "ModelFileError": "tauten.io.model_file",
    "NHERDClassifier": "tauten.learners.nherd",
    "NystromMap": "tauten.maps",
    "NystromOGDClassifier": "tauten.learners.nogd",
    "OGDClassifier": "tauten.learners.ogd",
    "OSELMClassifier": "tauten.learners.oselm",
    "PAClassifier": "tauten.learners.pa",
    "PAMetric": "tauten.learners.pa_metric",
    "PARegressor": "tauten.learners.pa_regressor",
    "PAUMClassifier": "tauten.learners.paum",
    "PerceptronClassifier": "tauten.learners.perceptron",
    "ProjectronClassifier": "tauten.learners.projectron",
    "RLSClassifier": "tauten.learners.rls",
    "RandomAsk": "tauten.ask",
    "RankTest": "tauten.studying",
    "ReadError": "tauten.io.errors",
    "SCWClassifier": "tauten.learners.scw",
    "SecondOrderAsk": "tauten.ask",
    "SecondOrderPerceptronClassifier": "tauten.learners.sop",
    "Sweep": "tauten.evaluate",
    "Tally": "tauten.tally",
    "Trace": "tauten.trace",
    "VarianceAsk": "tauten.ask",
    "ask_curve": "tauten.curves",
    "at_rate": "tauten.curves",
    "check_learner": "tauten.checks",
    "compare": "tauten.evaluate",
    "learners": "tauten.registry",
    "load": "tauten.registry",
    "make": "tauten.registry",
    "merge": "tauten.merging",
    "metric_study": "tauten.studying",
    "plot_boundary": "tauten.plots",
    "progressive": "tauten.evaluate",
    "rank_test": "tauten.studying",
    "run": "tauten.files",
    "sweep": "tauten.evaluate",
}

__all__ = [
    "AROWClassifier",
    "AROWRegressor",
    "ActiveClassifier",
    "AdaptiveAsk",
    "AlwaysAsk",
    "AskCurve",
    "AskRule",
    "BudgetAsk",
    "BudgetOGDClassifier",
    "BudgetPAClassifier",
    "BudgetPerceptronClassifier",
    "BudgetSGDClassifier",
    "CPAClassifier",
    "CWClassifier",
    "Checkpoint",
    "ClassMeanPAClassifier",
    "Comparison",
    "CostSensitivePAClassifier",
    "DecayingAsk",
    "ForgetronClassifier",
    "FourierMap",
    "FourierOGDClassifier",
    "ITMLMetric",
    "LayerMap",
    "LocalPAClassifier",
    "MahalanobisPAClassifier",
    "MahalanobisPARegressor",
    "MappedClassifier",
    "MappedRegressor",
    "MarginAsk",
    "MaxOutPAClassifier",
    "MetricStudy",
    "ModelFileError",
    "NHERDClassifier",
    "NystromMap",
    "NystromOGDClassifier",
    "OGDClassifier",
    "OSELMClassifier",
    "PAClassifier",
    "PAMetric",
    "PARegressor",
    "PAUMClassifier",
    "PerceptronClassifier",
    "ProjectronClassifier",
    "RLSClassifier",
    "RandomAsk",
    "RankTest",
    "ReadError",
    "SCWClassifier",
    "SecondOrderAsk",
    "SecondOrderPerceptronClassifier",
    "Sweep",
    "Tally",
    "Trace",
    "VarianceAsk",
    "ask_curve",
    "at_rate",
    "check_learner",
    "compare",
    "learners",
    "load",
    "make",
    "merge",
    "metric_study",
    "plot_boundary",
    "progressive",
    "rank_test",
    "run",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name == "io":
        return import_module("tauten.io")
    if name not in _HOMES:
        raise AttributeError(f"module 'tauten' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
