"""When a label is worth asking for: one file a rule, pure functions of what is known before the label."""

from collections.abc import Mapping

from tauten.ask.adaptive import AdaptiveAsk
from tauten.ask.always import AlwaysAsk
from tauten.ask.budget import BudgetAsk
from tauten.ask.decaying import DecayingAsk
from tauten.ask.margin import MarginAsk
from tauten.ask.random import RandomAsk
from tauten.ask.rule import AskRule
from tauten.ask.second_order import SecondOrderAsk
from tauten.ask.variance import VarianceAsk

__all__ = [
    "RULES",
    "AdaptiveAsk",
    "AlwaysAsk",
    "AskRule",
    "BudgetAsk",
    "DecayingAsk",
    "MarginAsk",
    "RandomAsk",
    "SecondOrderAsk",
    "VarianceAsk",
]

RULES: Mapping[str, type[AskRule]] = {
    rule.__name__: rule
    for rule in (
        AdaptiveAsk,
        AlwaysAsk,
        BudgetAsk,
        DecayingAsk,
        MarginAsk,
        RandomAsk,
        SecondOrderAsk,
        VarianceAsk,
    )
}
