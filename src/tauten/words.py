"""Texts as counted words."""

import re
from collections import Counter

WORD = re.compile(r"(?:[^\W\d_]|')+|\d+|[£$€!?%]")


def words(text: str, ngrams: int = 1) -> dict[str, int]:
    """How often each word of a text occurs, in lower case, digits as one word by their number, and each
    sequence of up to `ngrams` words.

    >>> words("WIN £500 now, win!")
    {'win': 2, '£': 1, '3 digits': 1, 'now': 1, '!': 1}
    >>> words("so it is", ngrams=2)
    {'so': 1, 'it': 1, 'is': 1, 'so it': 1, 'it is': 1}
    """
    found = [f"{len(word)} digits" if word.isdigit() else word for word in WORD.findall(text.lower())]
    counts = Counter(found)
    for length in range(2, ngrams + 1):
        counts.update(" ".join(found[i : i + length]) for i in range(len(found) - length + 1))
    return dict(counts)
