"""Values as they are written on the command line.

number         1   0.1   1e-3   2^-5
true false     in any case; none for None
list           [ham, spam]   [1, 2]
by name        {spam: 5, ham: 1}
text           anything else; in quotes, '1' or "none", where it would be one of the above
several        0.1,0.3,1 of a grid; 1:5 counts, 1:9:2 in steps of 2, 2^-5:5 through powers
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

WORDS = {"true": True, "false": False, "none": None}
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
POWER = re.compile(rf"({NUMBER})\^({NUMBER})")
RANGE = re.compile(rf"(?:({NUMBER})\^)?({NUMBER}):({NUMBER})(?::({NUMBER}))?")
QUOTES = "'\""
PAIRS = {"[": "]", "{": "}"}
MOST = 10_000  # values of a range


def value_of(text: str) -> Any:
    """The value that a text stands for; raises a ValueError where a bracket or quote is left open.

    >>> [value_of(text) for text in ("0.5", "2^-2", "10", "none", "balanced", "'10'", "[a, 1]", "{spam: 5}")]
    [0.5, 0.25, 10, None, 'balanced', '10', ['a', 1], {'spam': 5}]
    """
    text = text.strip()
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    number = number_of(text)
    if number is not None:
        return number
    if text[:1] in PAIRS and text.endswith(PAIRS[text[0]]):
        parts = [part for part in split(text[1:-1], ",") if part.strip()]
        return [value_of(part) for part in parts] if text[0] == "[" else dict(map(_entry, parts))
    split(text, ",")  # which is not done where something is left open
    return _unquoted(text)


def number_of(text: str) -> int | float | None:
    """The number that a text is, or None."""
    power = POWER.fullmatch(text)
    try:
        if power:
            return _power(*map(_number, power.groups()))
        return _number(text) if re.fullmatch(NUMBER, text) else None
    except (OverflowError, ZeroDivisionError) as error:
        raise ValueError(f"{text} is no finite number") from error


def values_of(text: str) -> list[Any]:
    """The values of one parameter in a grid.

    >>> values_of("2^-2:1"), values_of("1:7:3"), values_of("1,3,balanced")
    ([0.25, 0.5, 1, 2], [1, 4, 7], [1, 3, 'balanced'])
    """
    values: list[Any] = []
    for part in split(text, ","):
        ranged = RANGE.fullmatch(part.strip())
        values += _range(part.strip(), *ranged.groups()) if ranged else [value_of(part)]
    return values


def assignments(texts: Iterable[str]) -> dict[str, str]:
    """The sides of several `name=value`, each name once."""
    given: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise ValueError(f"{text!r} is not of the form name=value")
        if name in given:
            raise ValueError(f"{name} is given twice, as {given[name]} and as {value}")
        given[name] = value
    return given


def split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that stand outside of quotes and brackets.

    >>> split("a,[b,c],'d,e'", ",")
    ['a', '[b,c]', "'d,e'"]
    """
    parts, closing = [""], ""
    for sign in text:
        if closing and sign == closing[-1]:
            closing = closing[:-1]
        elif not closing or closing[-1] not in QUOTES:
            closing += PAIRS.get(sign, sign if sign in QUOTES and _opens(parts[-1]) else "")
        if sign == separator and not closing:
            parts.append("")
        else:
            parts[-1] += sign
    if closing:
        raise ValueError(f"{text!r} lacks a closing {closing[-1]}")
    return parts


def _opens(before: str) -> bool:
    """Whether a quote opens here: one inside a word, as in don't, does not."""
    return not before.strip() or before.rstrip()[-1] in "=:[{,"


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] in QUOTES and text[-1] == text[0] else text


def _entry(text: str) -> tuple[Any, Any]:
    """The two sides of `name: value`."""
    sides = split(text, ":")
    if len(sides) != 2:
        raise ValueError(f"{text.strip()!r} is not of the form name: value")
    name, value = map(value_of, sides)
    if isinstance(name, list | dict):
        raise ValueError(f"{sides[0].strip()!r} names nothing")
    return name, value


def _number(text: str) -> int | float:
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def _power(base: float, exponent: float) -> int | float:
    value = base**exponent
    if isinstance(value, complex):
        raise ValueError(f"{base:g}^{exponent:g} is no real number")
    return value


def _range(text: str, base: str | None, low: str, high: str, step: str | None) -> Iterator[int | float]:
    """The numbers from `low` up to `high`, or the powers with these exponents."""
    first, last, by = _number(low), _number(high), _number(step or "1")
    n_values = (last - first) / by + 1 + 1e-9 if by > 0 else 0
    if not 1 <= n_values <= MOST:
        raise ValueError(f"{text} holds no values, or more than {MOST}; expected low:high or low:high:step")
    for place in range(int(n_values)):
        exponent = first + place * by
        yield exponent if base is None else _power(_number(base), exponent)
