"""The `tauten` command: parse, call, print. Each command is a file here."""

import click

from tauten import __version__
from tauten.cli.ask import ask
from tauten.cli.compare import compare
from tauten.cli.data import data
from tauten.cli.errors import Commands
from tauten.cli.inspect import inspect
from tauten.cli.listing import listing
from tauten.cli.paper import paper
from tauten.cli.predict import predict
from tauten.cli.run import run
from tauten.cli.sweep import sweep


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="tauten")
def main() -> None:
    """Passive-aggressive online learning, from a file to a model, a table and a picture."""


for command in (listing, run, compare, sweep, ask, predict, inspect, data, paper):
    main.add_command(command)
