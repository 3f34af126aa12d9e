"""The one real stream that comes with the package.

SMS Spam Collection: 5,574 text messages in the order of the corpus, 747 of them spam. By Tiago A. Almeida and
José María Gómez Hidalgo, UCI Machine Learning Repository (2011), https://doi.org/10.24432/C5CC84, licensed
under CC BY 4.0; unchanged but for the form of the file.
"""

import gzip
from importlib.resources import files

from tauten.words import words

__all__ = ["sms_spam", "words"]


def sms_spam() -> tuple[list[str], list[str]]:
    """The messages and their labels, "ham" or "spam", in order.

    >>> texts, labels = sms_spam()
    >>> len(texts), labels.count("spam")
    (5574, 747)
    """
    packed = files(__package__).joinpath("sms_spam.tsv.gz").read_bytes()
    lines = gzip.decompress(packed).decode("utf-8").splitlines()[1:]
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return list(texts), list(labels)
