"""`tauten list`: every learner, its paper, its parameters, as the registry has them."""

import inspect
import re
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import click

from tauten.cli.errors import Wrong, nearest
from tauten.cli.showing import Output, json_option, table

if TYPE_CHECKING:
    from rich.console import Console

    from tauten.registry import Entry


@click.command("list", short_help="Every learner, its paper, its parameters.")
@click.argument("name", required=False)
@click.option("--kind", metavar="KIND", help="Only those of a kind: classifier, regressor, active, …")
@json_option
def listing(name: str | None, kind: str | None, as_json: bool) -> None:
    """All learners, or the parameters of the one called NAME."""
    from tauten.registry import learners

    output = Output(as_json=as_json)
    if name is not None:
        if name not in learners():
            raise Wrong(f"There is no learner {name!r}; {nearest(name, learners(), 'tauten list')}.")
        entry = learners()[name]
        described = parameters_of(entry)
        output.result({**plain(entry), "parameters": described}, lambda view: _show(view, entry, described))
        return
    kinds = dict.fromkeys(entry.kind for entry in learners().values())
    if kind is not None and kind not in kinds:
        raise Wrong(f"There is no kind {kind!r}; expected one of {', '.join(kinds)}.")
    entries = [entry for entry in learners().values() if kind in (None, entry.kind)]
    rows = [[entry.name, entry.kind, entry.line, entry.paper] for entry in entries]
    view = table(rows, ["name", "kind", "what it does", "paper"], left=range(4))
    everything = [{**plain(entry), "parameters": list(entry.owners())} for entry in entries]
    output.result({"learners": everything}, lambda console: console.print(view))


def plain(entry: "Entry") -> dict[str, Any]:
    """An entry in plain values."""
    return {
        "name": entry.name, "kind": entry.kind, "class": entry.learner.__name__, "line": entry.line,
        "paper": entry.paper, "asks": None if entry.ask is None else entry.ask.__name__,
        "set": dict(entry.parameters),
    }  # fmt: skip


def parameters_of(entry: "Entry") -> list[dict[str, Any]]:
    """Each parameter: its default, what is allowed, what it does, and whose it is."""
    described = []
    owners = entry.owners()
    order = [owner for owner in dict.fromkeys(owners.values())]
    for name, owner in sorted(owners.items(), key=lambda item: order.index(item[1])):
        (field,) = (field for field in fields(owner) if field.name == name)
        default = None if field.default is MISSING else field.default
        allowed = field.metadata.get("allowed")
        described.append(
            {
                "name": name, "default": entry.parameters.get(name, default), "of": owner.__name__,
                "allowed": "" if allowed is None else allowed.words,
                "meaning": meanings(owner).get(name, ""),
            }
        )  # fmt: skip
    return described


def meanings(owner: type) -> dict[str, str]:
    """What the docstring of a class says of each of its own parameters."""
    text = inspect.getdoc(owner) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    found = {}
    for names, words in re.findall(
        r"^(\w[\w, ]*) : [^\n]*\n((?:    [^\n]*\n?)+)", section[1] if section else "", re.MULTILINE
    ):
        for name in names.split(","):
            found[name.strip()] = " ".join(words.split())
    return found


def _show(view: "Console", entry: "Entry", described: list[dict[str, Any]]) -> None:
    made = ", ".join(f"{name}={value!r}" for name, value in entry.parameters.items())
    asks = "" if entry.ask is None else f", asked by {entry.ask.__name__}"
    view.print(
        f"{entry.name}: {entry.line}",
        f"{entry.learner.__name__}({made}){asks} · {entry.paper}",
        "",
        sep="\n",
        markup=False,
    )
    own = [row for row in described if row["meaning"]]
    shared = [row for row in described if not row["meaning"]]
    for row in own:
        view.print(f"  {row['name']}={row['default']}  ({row['allowed']})", markup=False, style="bold")
        view.print(f"      {row['meaning']}", markup=False)
    view.print("", "Shared by all learners (docs/parameters.md):", sep="\n")
    cells = [[f"  {row['name']}", str(row["default"]), row["allowed"]] for row in shared]
    view.print(table(cells, ["  name", "default", "allowed"], left=range(3)))
