"""Known public data sets: where they are, here or in the net, and whether they hold what they should.

Each lies in a folder of its name, as `train.svm.gz`, `test.svm.gz`, `data.csv.gz` or the like, packed or not.
The folder that TAUTEN_DATA names is looked into first, then one for caches. A checksum is that of the rows as
they are read, so it holds for any packing, spacing and comment.
"""

import builtins
import csv
import gzip
import hashlib
import json
import os
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import scipy.sparse as sp

from tauten.io.errors import ReadError
from tauten.io.lines import UNPACKERS
from tauten.io.source import Batch, Source
from tauten.io.source import open as open_source

VARIABLE = "TAUTEN_DATA"
TIMEOUT = 30.0  # seconds without an answer
CHUNK = 1 << 20
BUNDLED = MappingProxyType({("sms_spam", "data"): "sms_spam.tsv.gz"})
FORMS = MappingProxyType(
    {
        ".svm": "svmlight, indices from 1",
        ".csv": "CSV, with a header, the label last",
        ".tsv": "TSV, with the header label, text",
    }
)

Progress = Callable[[int, int | None], None]  # bytes so far, and of all where that is known


@dataclass(frozen=True)
class Part:
    """A file of a data set: train, test or data."""

    name: str
    file: str  # its name, without what says how it is packed
    rows: int
    checksum: str
    address: str  # empty where no file of the net holds these rows in a format that is read here


@dataclass(frozen=True)
class Known:
    """A data set: what is in it, how it is read, where it comes from."""

    name: str
    features: str
    classes: int
    options: Mapping[str, Any]  # for `tauten.io.open`
    home: str
    licence: str
    note: str
    parts: Mapping[str, Part]

    def part(self, name: str | None = None) -> Part:
        """A part by name; by default train, or all of it."""
        if name is None:
            name = next(iter(self.parts))
        if name not in self.parts:
            raise ValueError(f"{self.name} has no part {name!r}; expected {' or '.join(self.parts)}.")
        return self.parts[name]


@cache
def table() -> Mapping[str, Known]:
    """All known data sets, by name."""
    lines = files("tauten.data").joinpath("known.csv").read_text(encoding="utf-8").splitlines()
    sets: dict[str, Known] = {}
    for row in csv.DictReader(lines):
        part = Part(row["part"], row["file"], int(row["rows"]), row["checksum"], row["address"])
        before = sets[row["name"]].parts if row["name"] in sets else {}
        options = json.loads(row["options"])
        sets[row["name"]] = Known(
            row["name"], row["features"], int(row["classes"]), options, row["home"], row["licence"],
            row["note"], {**before, part.name: part},
        )  # fmt: skip
    return MappingProxyType(sets)


def known(name: str) -> Known:
    """A data set by name."""
    if name not in table():
        raise ValueError(f"There is no known data set {name!r}; expected one of {', '.join(table())}.")
    return table()[name]


def folders() -> list[Path]:
    """Where data sets are looked for, in this order; `fetch` writes to the first."""
    named = os.environ.get(VARIABLE)
    caches = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else os.environ.get("XDG_CACHE_HOME")
    own = Path(caches) if caches else Path.home() / ".cache"
    return [*([Path(named)] if named else []), own / "tauten"]


def find(name: str, part: str | None = None) -> Path | None:
    """The file of a part on this machine; None where there is none."""
    file = known(name).part(part).file
    for folder in folders():
        for suffix in (".gz", "", *UNPACKERS):
            path = folder / name / (file + suffix)
            if path.is_file():
                return path
    bundled = BUNDLED.get((name, known(name).part(part).name))
    return None if bundled is None else Path(str(files("tauten.data").joinpath(bundled)))


def path(name: str, part: str | None = None) -> Path:
    """The same; a FileNotFoundError says what to put where."""
    found = find(name, part)
    if found is None:
        wanted = known(name).part(part)
        how = f"run `tauten data fetch {name}`, or " if wanted.address else ""
        raise FileNotFoundError(f"{name} is not on this machine; {how}{_instead(known(name), wanted)}.")
    return found


def open(name: str, part: str | None = None, **options: Any) -> Source:
    """A part as a source, read as it should be.

    >>> from tauten.io import known
    >>> sum(len(batch) for batch in known.open("sms_spam"))
    5574
    """
    return open_source(path(name, part), **{**known(name).options, **options})


def fetch(name: str, progress: Progress | None = None) -> dict[str, Path]:
    """Get the parts that are not on this machine from the net: the file of each.

    A file is there whole and with the right rows, or not at all.
    """
    wanted = known(name)
    found: dict[str, Path] = {}
    for part in wanted.parts.values():
        here = find(name, part.name)
        found[part.name] = _download(wanted, part, progress) if here is None else here
    return found


def check(name: str, part: str | None = None) -> bool:
    """Whether the file of a part holds the rows that it should."""
    return checksum(_plainly(path(name, part), known(name))) == known(name).part(part).checksum


def _download(wanted: Known, part: Part, progress: Progress | None) -> Path:
    if not part.address:
        raise FileNotFoundError(f"No address of {wanted.name} is known; {_instead(wanted, part)}.")
    folder = folders()[0] / wanted.name
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{part.file}.gz"
    suffix = os.path.splitext(part.address)[1]
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch.") as temporary:
        loaded = Path(temporary) / (part.file + (suffix if suffix in UNPACKERS else ""))
        try:
            with urllib.request.urlopen(part.address, timeout=TIMEOUT) as answer, loaded.open("wb") as file:
                _copy(answer, file, progress)
        except (urllib.error.URLError, OSError, ValueError) as error:
            reason = str(getattr(error, "reason", error)).rstrip(".")
            raise ConnectionError(
                f"{wanted.name} could not be fetched ({reason}); {_instead(wanted, part)}."
            ) from error
        _verify(loaded, wanted, part)
        packed = Path(temporary) / target.name
        if loaded != packed:
            unpack = UNPACKERS.get(loaded.suffix, builtins.open)
            with unpack(loaded, "rb") as source, gzip.open(packed, "wb") as file:
                shutil.copyfileobj(source, file)
        packed.replace(target)
    return target


def _copy(answer: Any, file: BinaryIO, progress: Progress | None) -> None:
    length = answer.headers.get("Content-Length")
    n_bytes = 0
    while chunk := answer.read(CHUNK):
        file.write(chunk)
        n_bytes += len(chunk)
        if progress is not None:
            progress(n_bytes, int(length) if length is not None and length.isdigit() else None)


def _verify(loaded: Path, wanted: Known, part: Part) -> None:
    """Raise a ReadError unless a file holds the rows that it should."""
    found = checksum(_plainly(loaded, wanted))
    if found != part.checksum:
        reason = f"holds other rows than {wanted.name} is known to (checksum {found}, not {part.checksum})"
        raise ReadError(part.address, None, reason)


def _plainly(path: Path, wanted: Known) -> Source:
    """A file as a source whose texts are not split into words."""
    options = {"nominal" if name == "text" else name: value for name, value in wanted.options.items()}
    return open_source(path, **options)


def _instead(wanted: Known, part: Part) -> str:
    """What somebody may do by hand."""
    form = FORMS[os.path.splitext(part.file)[1]]
    what = part.address or f"its {part.rows} rows ({form}; they come from {wanted.home})"
    folder = folders()[0]
    named = "" if os.environ.get(VARIABLE) else f"; {VARIABLE} may name another folder than {folder}"
    return f"put {what} at {folder / wanted.name / part.file}, as it is or packed (.gz, .bz2, .xz){named}"


def checksum(source: Source) -> str:
    """SHA-256 of the rows and labels of a source, whatever the batches."""
    digests: dict[str, Any] = {}
    for batch in source:
        for name, data in _parts(batch):
            digests.setdefault(name, hashlib.sha256()).update(data)
    together = "".join(f"{name}:{digest.hexdigest()};" for name, digest in sorted(digests.items()))
    return hashlib.sha256(together.encode()).hexdigest()


def _parts(batch: Batch) -> Iterator[tuple[str, bytes]]:
    """The bytes of a batch, by what they are; those of rows follow one another."""
    if batch.y is not None and batch.y.dtype.kind == "U":
        yield "labels", "".join(f"{label}\n" for label in batch.y.tolist()).encode()
    elif batch.y is not None:
        yield "labels", batch.y.astype("<f8").tobytes()
    X = batch.X
    if sp.issparse(X):
        yield "lengths", np.diff(X.indptr).astype("<i8").tobytes()
        yield "indices", X.indices.astype("<i8").tobytes()
        yield "values", X.data.astype("<f8").tobytes()
    elif isinstance(X, pd.DataFrame):
        yield "values", X.to_numpy().astype("<f8").tobytes()
        yield "rows", b"".join(b"%d\n" % len(X.columns) for _ in range(len(X)))
    else:
        yield "rows", "".join(f"{json.dumps(row, sort_keys=True)}\n" for row in X).encode()
