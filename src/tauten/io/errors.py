"""What is wrong with a file, in one sentence with its place."""

SHOWN = 60  # bytes of an offending text that a message repeats


class ReadError(ValueError):
    """A file, or a line of one, that cannot be read as what it should be.

    `path`, `line` (None where the whole file is meant), `reason`.
    """

    def __init__(self, path: str, line: int | None, reason: str, unit: str = "line") -> None:
        """`line` counts from 1; `unit` is what it counts."""
        self.path, self.line, self.reason, self.unit = path, line, reason, unit
        place = path if line is None else f"{path}:{line}" if unit == "line" else f"{path}, {unit} {line}"
        super().__init__(f"{place}: {reason}.")

    def __reduce__(self) -> tuple[type["ReadError"], tuple[str, int | None, str, str]]:
        return ReadError, (self.path, self.line, self.reason, self.unit)


def shown(text: bytes | str) -> str:
    """A text as a message repeats it: quoted, and cut where it is long."""
    text = text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text
    return repr(text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…")
