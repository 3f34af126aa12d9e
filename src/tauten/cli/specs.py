"""Learners as they are named on the command line: `pa1`, `pa1:C=0.1`, `pa1:C=0.1:average=true`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import click

from tauten.cli.errors import Wrong, as_given, nearest
from tauten.cli.values import assignments, split, value_of

if TYPE_CHECKING:
    from tauten.evaluate import Trained
    from tauten.registry import Entry

OF_FIT = ("epochs", "shuffle", "warm_start")  # parameters that only `fit` goes by

parameter_option = click.option(
    "-p", "--parameter", "parameters", multiple=True, metavar="NAME=VALUE",
    help="A parameter, such as C=0.1, 2^-5, true, none or [ham,spam]; goes to every learner that has it.",
)  # fmt: skip


def learner_option(several: bool, required: bool = True) -> Callable[..., Any]:
    """The option that names a learner, or some."""
    some = "Learners, such as pa1,pam2 or pa1:C=0.1,pa1:C=1"
    one = "The learner, such as pa1 or pa1:C=0.1"
    return click.option(
        "-l",
        "--learner",
        "learners" if several else "learner",
        multiple=several,
        required=required,
        metavar="NAMES" if several else "NAME",
        help=f"{some if several else one}; `tauten list` shows all.",
    )


@dataclass(frozen=True)
class Spec:
    """A learner as it was named: its registry entry, and the parameters that were given with it."""

    text: str
    entry: "Entry"
    own: dict[str, str]

    @property
    def allowed(self) -> list[str]:
        """The parameters that it has, and that something here goes by."""
        return [name for name in self.entry.owners() if name not in OF_FIT]

    @classmethod
    def of(cls, text: str) -> Self:
        """What a text names."""
        from tauten.registry import learners

        with as_given():
            name, *rest = split(text, ":")
            own = assignments(rest)
        if name not in learners():
            raise Wrong(f"There is no learner {name!r}; {nearest(name, learners(), 'tauten list')}.")
        spec = cls(text, learners()[name], own)
        for parameter in own:
            spec.check(parameter)
        return spec

    def check(self, parameter: str) -> None:
        """Raise where it has no such parameter, or nothing here goes by it."""
        if parameter in OF_FIT:
            raise Wrong(f"{parameter} is a parameter of fit, which is not called here; expected others.")
        if parameter not in self.allowed:
            name = self.entry.name
            raise Wrong(f"{name} has no parameter {parameter!r}; {nearest(parameter, self.allowed)}.")

    def values(self, shared: Mapping[str, str]) -> dict[str, Any]:
        """The values of its parameters; those given with it come before shared ones."""
        given = {name: text for name, text in shared.items() if name in self.allowed} | self.own
        with as_given():
            return {name: value_of(text) for name, text in given.items()}

    def make(self, values: Mapping[str, Any]) -> "Trained":
        """The learner with these parameters, checked."""
        from tauten import parameters
        from tauten.evaluate import Trained
        from tauten.wrappers.active import ActiveClassifier

        with as_given():
            model = self.entry.make(values)
            if not isinstance(model, Trained):
                raise Wrong(f"{self.entry.name} ({self.entry.kind}) does not learn from rows with labels.")
            active = isinstance(model, ActiveClassifier)
            for part in [model.learner, model.rule, model] if active else [model]:
                parameters.check(part)
        return model


def one_spec(text: str) -> Spec:
    """The one learner that was named."""
    with as_given():
        texts = split(text, ",")
    if len(texts) > 1:
        raise Wrong(f"-l got {text!r}; expected one learner (`tauten compare` runs several).")
    return Spec.of(text.strip())


def one_learner(text: str, parameters: Sequence[str]) -> "Trained":
    """The one learner that was named, with the parameters that were given."""
    spec = one_spec(text)
    return spec.make(spec.values(shared([spec], parameters)))


def several_learners(texts: Sequence[str], parameters: Sequence[str]) -> dict[str, "Trained"]:
    """The learners that were named, each by what was written; parameters go to those that have them."""
    with as_given():
        names = [name.strip() for text in texts for name in split(text, ",") if name.strip()]
    specs = [Spec.of(name) for name in dict.fromkeys(names)]
    if not specs:
        raise Wrong("-l names no learner; expected one or more, such as pa1,pam2.")
    given = shared(specs, parameters)
    return {spec.text: spec.make(spec.values(given)) for spec in specs}


def shared(specs: Sequence[Spec], parameters: Sequence[str]) -> dict[str, str]:
    """Parameters for all learners that have them; raises for one that none of them has."""
    with as_given():
        given = assignments(parameters)
    for parameter in given:
        if not any(parameter in spec.allowed for spec in specs):
            if len(specs) == 1 or parameter in OF_FIT:
                specs[0].check(parameter)
            known = dict.fromkeys(name for spec in specs for name in spec.allowed)
            raise Wrong(f"None of the learners has a parameter {parameter!r}; {nearest(parameter, known)}.")
    return given
