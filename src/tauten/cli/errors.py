"""What a user did wrong, in one sentence: 2 for how the command was given, 1 for files and data.

Ctrl-C is 130, as shells have it.
"""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import click

STOPPED = 130


class Wrong(click.ClickException):
    """The command cannot be run as it was given."""

    exit_code = 2


class Failed(click.ClickException):
    """A file, or what it holds, makes it impossible."""

    exit_code = 1


class Commands(click.Group):
    """A group of commands that end with a sentence and an exit code, never with a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_, **__: click.echo(f"Warning: {message}", err=True)
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
            ctx.exit(STOPPED)
        except BrokenPipeError:
            raise
        except (ValueError, OSError, ImportError, MemoryError) as error:
            raise Failed(sentence(error)) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which one needs them."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a name; where there is none, the names that are nearest."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise Wrong(f"There is no command {args[0]!r}; {nearest(args[0], self.commands)}.")
        return super().resolve_command(ctx, args)


@contextmanager
def as_given() -> Iterator[None]:
    """What is wrong here is wrong with how the command was given."""
    from tauten.io import ReadError

    try:
        yield
    except ReadError:
        raise
    except ValueError as error:
        raise Wrong(sentence(error)) from error


def sentence(error: BaseException) -> str:
    """An error as one sentence that a user understands."""
    if isinstance(error, OSError) and error.strerror:
        place = "" if error.filename is None else f"{error.filename}: "
        return f"{place}{error.strerror}."
    if isinstance(error, MemoryError):
        return f"There is not enough memory: {str(error) or 'the model or the data is too large'}."
    text = " ".join(str(error).split()) or type(error).__name__
    return text if text.endswith((".", "?", "!")) else f"{text}."


def nearest(name: str, names: Iterable[str], command: str | None = None) -> str:
    """The names that are most like one that does not exist, in words; `command` shows all of many."""
    names = list(names)
    lower = {known.lower(): known for known in reversed(names)}
    close = [lower[match] for match in get_close_matches(name.lower(), lower, n=3, cutoff=0.5)]
    if not close and command is None:
        return f"expected one of {', '.join(names)}"
    shows = "" if command is None else f"`{command}` shows all"
    if not close:
        return shows
    found = f"the nearest {'name is' if len(close) == 1 else 'names are'} {', '.join(close)}"
    return f"{found} ({shows})" if shows else found
