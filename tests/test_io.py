"""Readers of files: what was written comes back, and what cannot be read is said with its place."""

import bz2
import csv
import gzip
import io as bytes_io
import json
import lzma
import random
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import DATA
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import tauten as tt
from tauten import io
from tauten.io import lines
from tauten.io.labels import finite
from tauten.kernels.numbers import BAD, EASY, number
from tauten.words import words

ALONE = settings(
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
}  # fmt: skip
SIGNS = st.sampled_from(["", "+", "-"])
DIGITS = st.text("0123456789", max_size=25)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: f"{x:.16g}"),
    st.floats(-1e3, 1e3).map(lambda x: f"{x:.6g}"),
    st.integers(2**52, 2**53 - 1).map(lambda n: str(2 * n + 1)),  # half way between two floats
    st.tuples(
        SIGNS, DIGITS, st.sampled_from(["", "."]), DIGITS, st.sampled_from(["", "e", "E-"]), DIGITS
    ).map("".join),
)


@pytest.fixture(params=[64, 1000, lines.BLOCK])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes that are read at a time: lines are cut everywhere."""
    monkeypatch.setattr(lines, "BLOCK", request.param)
    return int(request.param)


def write(folder: Path, name: str, data: bytes | str) -> str:
    """A file."""
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(folder / name)


@given(NUMBERS)
@settings(ALONE, max_examples=2000)
def test_numbers_are_those_of_python(text: str) -> None:
    """A number is read to the very bits that float gives, or left to float, or is none."""
    data = np.frombuffer(f"{text} ".encode(), np.uint8)
    value, end, verdict = number(data, 0)
    if verdict == EASY and end == len(text):
        assert np.float64(value).tobytes() == np.float64(float(text)).tobytes()
    elif verdict == BAD or end != len(text):
        with pytest.raises(ValueError, match="could not convert"):
            float(text)
        assert finite(text) is None


@pytest.mark.parametrize(
    "name", ["a9a/train", "sector/train", "news20_2k/data", "svmguide1/train", "w7a/test"]
)
def test_real_files_are_read_as_scikit_learn_reads_them(name: str) -> None:
    """Public svmlight files give scikit-learn's matrix and labels, bit for bit."""
    path = DATA / f"{name}.svm.gz"
    if not path.exists():
        pytest.skip(f"needs the public data set {name}: set TAUTEN_DATA to the folder that holds it")
    X, y = load_svmlight_file(str(path), zero_based=False)
    read, labels = io.open(path).load()
    assert read.shape == X.shape and np.array_equal(labels, y) and labels.dtype == np.int64
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(read, part), getattr(X, part))


def svmlight_rows(seed: int = 0, n_rows: int = 80) -> tuple[sp.csr_matrix, np.ndarray]:
    """Sparse rows of odd values, some of them empty."""
    pick = np.random.default_rng(seed)
    X = sp.random(n_rows, 40, 0.1, format="csr", random_state=seed)
    X.data = pick.standard_normal(X.nnz) * 10.0 ** pick.integers(-30, 30, X.nnz)
    return X, pick.choice([-1, 1], n_rows)


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("zero_based", [False, True])
def test_svmlight_as_scikit_learn_writes_it(
    packing: str, zero_based: bool, tmp_path: Path, block: int
) -> None:
    """What dump_svmlight_file writes, with comments and qid, comes back whole, packed in every way."""
    X, y = svmlight_rows()
    data = bytes_io.BytesIO()
    dump_svmlight_file(X, y, data, zero_based=zero_based, comment="made up", query_id=np.arange(len(y)))
    path = write(tmp_path, f"rows.svm{packing}", PACKERS[packing](data.getvalue()))
    expected, _ = load_svmlight_file(bytes_io.BytesIO(data.getvalue()), zero_based=zero_based)
    read, labels = io.open(path, zero_based=zero_based).load()
    assert (read != expected).nnz == 0 and np.array_equal(labels, y)


@given(
    st.lists(
        st.tuples(SIGNS.map("{}1".format), st.dictionaries(st.integers(1, 99), NUMBERS, max_size=6)),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
)
@ALONE
def test_svmlight_round_trip(
    tmp_path: Path, rows: list[tuple[str, dict[int, str]]], end: str, bom: bool, ended: bool
) -> None:
    """Any rows come back as Python reads their numbers, whatever ends lines, begins and ends the file."""
    rows = [(label, {j: text for j, text in row.items() if finite(text) is not None}) for label, row in rows]
    texts = [" ".join([label, *(f"{j}:{row[j]}" for j in sorted(row))]) for label, row in rows]
    text = "\ufeff" * bom + f"{end}# nothing here{end}".join(texts) + end * ended
    read, labels = io.open(write(tmp_path, "rows.svm", text), n_features=99).load()
    assert labels.tolist() == [int(label) for label, _ in rows]
    for i, (_, row) in enumerate(rows):
        columns = sorted(row)
        span = slice(read.indptr[i], read.indptr[i + 1])
        assert (read.indices[span] + 1).tolist() == columns
        assert read.data[span].tolist() == [float(row[j]) for j in columns]


CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), CELLS, CELLS), min_size=1, max_size=12), st.booleans())
@ALONE
def test_csv_round_trip(tmp_path: Path, rows: list[tuple[float, str, str]], quoted: bool) -> None:
    """What Python's csv module writes, quotes, line feeds in cells and all, comes back."""
    data = bytes_io.StringIO()
    writer = csv.writer(data, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerows([["n", "c, d", 'l"'], *((n, f"<{cell}>", f"<{label}>") for n, cell, label in rows)])
    source = io.open(write(tmp_path, "rows.csv", data.getvalue()), label='l"')
    read, labels = source.load()
    assert labels is not None and labels.tolist() == [f"<{label}>".rstrip("\0") for _, _, label in rows]
    assert read == [{"n": n, f"c, d=<{cell}>": 1.0} for n, cell, _ in rows]


VALUES = st.one_of(st.floats(-1e9, 1e9), st.integers(-(2**40), 2**40), st.booleans(), CELLS, st.none())


@given(
    st.lists(st.dictionaries(CELLS.map("f".__add__), VALUES, max_size=5), min_size=1, max_size=12),
    st.booleans(),
)
@ALONE
def test_json_lines_round_trip(tmp_path: Path, rows: list[dict[str, Any]], ascii: bool) -> None:
    """Numbers, texts, nothing and objects of them come back as features."""
    data = "\n".join(json.dumps({"y": i, "o": row, **row}, ensure_ascii=ascii) for i, row in enumerate(rows))
    read, labels = io.open(write(tmp_path, "rows.jsonl", data), label="y", missing_values=[]).load()
    assert labels is not None and labels.tolist() == list(range(len(rows)))
    for row, given_row in zip(read, rows, strict=True):
        expected = {}
        for name, value in given_row.items():
            feature = f"{name}={value}" if isinstance(value, str) else name
            for before in ("", "o.") if value is not None else ():
                expected[before + feature] = 1.0 if isinstance(value, str) else float(value)
        assert row == expected


def test_tables_of_numbers_in_every_format(tmp_path: Path, block: int) -> None:
    """One table, as CSV, TSV, JSON lines, Parquet and npz, gives the same rows and labels."""
    pick = np.random.default_rng(0)
    frame = pd.DataFrame(pick.standard_normal((300, 3)), columns=["a", "b", "c"])
    y = pick.integers(0, 3, 300)
    full = frame.assign(y=y)
    full.to_csv(tmp_path / "t.csv", index=False)
    full.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    full.to_json(tmp_path / "t.jsonl", orient="records", lines=True, double_precision=15)
    full.to_parquet(tmp_path / "t.parquet", row_group_size=70)
    np.savez(tmp_path / "t.npz", X=frame.to_numpy(), y=y)
    np.savez_compressed(tmp_path / "f.npz", X=np.asfortranarray(frame.to_numpy()), target=y.astype(float))
    for name in ("t.csv", "t.tsv", "t.parquet"):
        X, labels = io.open(tmp_path / name, label="y").load()
        pd.testing.assert_frame_equal(X, frame, check_exact=True)
        assert np.array_equal(labels, y)
    X, labels = io.open(tmp_path / "t.jsonl", label="y").load()
    np.testing.assert_allclose(pd.DataFrame(X), frame, rtol=1e-12)
    for name, label in (("t.npz", None), ("f.npz", "target")):
        X, labels = io.open(tmp_path / name, **({"label": label} if label else {})).load()
        assert np.array_equal(X, frame) and np.array_equal(labels, y) and labels.dtype == np.int64


def test_sparse_npz(tmp_path: Path) -> None:
    """What scipy's save_npz writes, and the same with y beside it."""
    X, y = svmlight_rows()
    sp.save_npz(tmp_path / "x.npz", X)
    read, labels = io.open(tmp_path / "x.npz", labelled=False).load()
    assert (read != X).nnz == 0 and labels is None
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "format": b"csr"}
    np.savez(tmp_path / "xy.npz", **parts, y=y)
    read, labels = io.open(tmp_path / "xy.npz").load()
    assert (read != X).nnz == 0 and np.array_equal(labels, y)


BANK = 'age,job,note,paid\n30, clerk ,"free, ""now""",yes\n?,"cook","two\nlines",no\n\n41,,,yes\n'


def test_columns_are_what_is_said_or_seen(tmp_path: Path) -> None:
    """Numeric, nominal and text columns, missing values as the policy has it, lines of rows."""
    path = write(tmp_path, "bank.csv", BANK)
    source = io.open(path, label="paid", text="note", ngrams=2)
    (batch,) = source
    assert batch.X == [
        {"age": 30.0, "job=clerk": 1.0, "note=free": 1, "note=now": 1, "note=free now": 1},
        {"job=cook": 1.0, "note=two": 1, "note=lines": 1, "note=two lines": 1},
        {"age": 41.0},
    ]
    assert batch.lines.tolist() == [2, 3, 6] and batch.y.tolist() == ["yes", "no", "yes"]
    assert source.position.missing == 3
    marked, _ = io.open(path, label=-1, missing="mark", nominal=["age"], ignore=["note"]).load()
    assert marked[1:] == [{"age=?": 1.0, "job=cook": 1.0}, {"age=41": 1.0, "job=?": 1.0}]
    with pytest.raises(tt.ReadError, match=r"bank.csv:3: column 'age' has no value"):
        io.open(path, label="paid", missing="error").load()
    known, _ = io.open(path, labelled=False, names=["age", "job=x", "note=x", "paid=x"]).load()
    assert known[2] == {"age": 41.0, "paid=yes": 1.0}
    assert words("It's 1999, naïve!", 2)["it's 4 digits"] == 1 == words("naïve")["naïve"]


def test_labels_keep_their_kind(tmp_path: Path) -> None:
    """Whole numbers come out whole, others as floats, text as text; the first label decides."""
    for given_labels, expected, kind in (
        (["0", "1", "-1", "+1"], [0, 1, -1, 1], "i"),
        (["1.0", "2e0"], [1, 2], "i"),
        (["1", "0.5"], [1.0, 0.5], "f"),
        (["ham", "1", "spam"], ["ham", "1", "spam"], "U"),
    ):
        rows = [f"{label} 1:1\n" for label in given_labels]
        table = "x,y\n" + "".join(f"1,{label}\n" for label in given_labels)
        for path, options in (
            (write(tmp_path, "l.svm", "".join(rows)), {}),
            (write(tmp_path, "l.csv", table), {"label": "y"}),
        ):
            labels = io.open(path, **options).load()[1]
            assert labels.tolist() == expected and labels.dtype.kind == kind


WRONG = [
    ("a.svm", "1 1:1\n1 3:abc\n", {}, "a.svm:2: the value in '3:abc' is no number."),
    ("a.svm", "1 1:1\n\n# c\n1 2:nan\n", {}, "a.svm:4: the value in '2:nan' is not finite."),
    ("a.svm", "1 1:1e999\n", {}, "a.svm:1: '1e999' is not finite."),
    ("a.svm", "1 1:1_0\n", {}, "a.svm:1: the value in '1:1_0' is no number."),
    (
        "a.svm",
        "1 0:1\n",
        {},
        "a.svm:1: index 0 in '0:1', but indices begin at 1; say zero_based if they begin",
    ),
    ("a.svm", "1 2:1 2:1\n", {}, "a.svm:1: the index in '2:1' is not above the one before it."),
    ("a.svm", "1 3:1 2:1\n", {}, "a.svm:1: the index in '2:1' is not above the one before it."),
    ("a.svm", "1 9:1\n", {"n_features": 5}, "a.svm:1: the index in '9:1' is not among 5 features."),
    (
        "a.svm",
        "1 123456789012:1\n",
        {},
        "a.svm:1: the index in '123456789012:1' is not among 134217728 features;",
    ),
    ("a.svm", f"1 {'9' * 30}:1\n", {}, "is not among 134217728 features;"),
    ("a.svm", "1:1 2:1\n", {}, "a.svm:1: the row begins with '1:1'; expected a label."),
    ("a.svm", "1 1:1\nham 1:1\n", {}, "a.svm:2: label 'ham' is no number, as the first label is."),
    ("a.svm", "1,2 1:1\n", {}, "a.svm:1: label '1,2' begins as a number, but is none."),
    (
        "a.svm",
        "9007199254740993 1:1\n",
        {},
        "label '9007199254740993' has more digits than a float can hold.",
    ),
    ("a.svm", "1 qid:x 1:1\n", {}, "a.svm:1: 'qid:x' is no qid:number."),
    ("a.svm", "1 1:1 2\n", {}, "a.svm:1: '2' is no index:value."),
    ("a.svm", "1 1:1\r-1 1:1\r", {}, "a.svm:1: the value in '1:1\\r-1' is no number."),
    ("a.svm", bytes(range(256)), {}, "a.svm:1: label '\\x00"),
    ("a.svm", "1 1:1\n".encode("utf-16"), {}, "a.svm: is in UTF-16; expected UTF-8."),
    ("a.svm", "", {}, "a.svm: holds no rows."),
    ("a.svm", "\n# c\n", {}, "a.svm: holds no rows."),
    (
        "a.svm.gz",
        gzip.compress(b"1 1:1\n" * 500)[:-9],
        {},
        "a.svm.gz: compressed data are damaged or cut off (",
    ),
    ("a.svm.xz", b"1 1:1\n", {}, "a.svm.xz: compressed data are damaged or cut off ("),
    ("a.csv", "", {"label": 0}, "a.csv: holds no rows."),
    ("a.csv", "a,b\n", {"label": 0}, "a.csv: holds no rows."),
    ("a.csv", "a,b\n1,2\n", {}, "a.csv: label must name the column with the label; there are a, b."),
    ("a.csv", "a,b\n1,2\n", {"label": "c"}, "a.csv: label is 'c', but the columns are a, b."),
    ("a.csv", "a,b\n1,2\n3\n", {"label": "b"}, "a.csv:3: there are 1 cells in '3'; expected 2."),
    ("a.csv", "a,b\n1,2\n\n3,4,5\n", {"label": "b"}, "a.csv:4: there are 3 cells in '3,4,5'; expected 2."),
    ("a.csv", 'a,b\n"x"y,2\n', {"label": "b"}, 'a.csv:2: something follows the closing quote in \'"x"y,2'),
    (
        "a.csv",
        'a,b\n1,2\n"xy,2\n',
        {"label": "b"},
        "a.csv:3: the quote that begins '\"xy,2\\n' is not closed.",
    ),
    ("a.csv", "a,a\n1,2\n", {"label": 0}, "a.csv: two columns are named 'a'."),
    ("a.csv", "a,\n1,2\n", {"label": 0}, "a.csv: column 1 has no name;"),
    ("a.csv", "1,2\n3,4\n", {"label": 0}, "a.csv:1: the header '1,2' is all numbers; say header=False"),
    (
        "a.csv",
        "a,b\n1,2\nx,3\n",
        {"label": "b"},
        "a.csv:3: column 'a' holds numbers, but here 'x'; say numeric or",
    ),
    (
        "a.csv",
        "a,b\n1,2\nx,3\n",
        {"label": "b", "numeric": ["a"]},
        "a.csv:3: 'x' in the numeric column 'a' is no",
    ),
    ("a.csv", "a,b\nx,2\n7,3\ny,4\n", {"label": "b"}, "a.csv:3: column 'a' holds other things than '7'; say"),
    ("a.csv", "a,b\n1,2\ninf,3\n", {"label": "b"}, "a.csv:3: 'inf' in the numeric column 'a' is not finite."),
    ("a.csv", "a,b\n1,2\n1,?\n", {"label": "b"}, "a.csv:3: label '?' stands for no value."),
    ("a.csv", b"a,b\nx\xff,2\n", {"label": "b"}, "a.csv:2: 'x\\\\xff,2' is not in UTF-8."),
    ("a.csv", "b\n1\n", {"label": "b"}, "a.csv: has no column of features among b."),
    ("a.jsonl", '{"y":1}\n[1]\n', {"label": "y"}, "a.jsonl:2: '[1]' is no object; expected {...}."),
    ("a.jsonl", '{"y":1,\n', {"label": "y"}, "a.jsonl:1: '{\"y\":1,' is no JSON ("),
    ("a.jsonl", '{"a":1}\n', {"label": "y"}, "a.jsonl:1: there is no label 'y' in '{\"a\": 1}'."),
    ("a.jsonl", '{"y":1,"a":1,"a":2}\n', {"label": "y"}, "a.jsonl:1: the field 'a' stands there twice."),
    ("a.jsonl", '{"y":1,"a":NaN}\n', {"label": "y"}, "a.jsonl:1: NaN is not finite."),
    ("a.jsonl", '{"y":1,"a":1e999}\n', {"label": "y"}, "a.jsonl:1: field 'a' is not finite."),
    ("a.jsonl", '{"y":1,"a":[1]}\n', {"label": "y"}, "a.jsonl:1: field 'a' holds a list with '1';"),
    (
        "a.jsonl",
        '{"y":1}\n{"y":"b"}\n',
        {"label": "y"},
        "a.jsonl:2: label '\"b\"' is text, but the first label is a",
    ),
    ("a.jsonl", '{"y":1,"a":' + "[" * 100_000, {"label": "y"}, "is no JSON (maximum recursion depth"),
    ("a.jsonl", '{"y":1,"a":' + "1" * 5000 + "}", {"label": "y"}, "is no JSON (Exceeds the limit)."),
    ("a.parquet", b"PAR1 and nothing more", {"label": "y"}, "a.parquet: is no whole Parquet file ("),
    ("a.npz", b"PK and nothing more", {}, "a.npz: is no whole npz file ("),
]


@pytest.mark.parametrize(("name", "data", "options", "words"), WRONG)
def test_what_is_wrong_is_said(
    name: str, data: bytes | str, options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """A line that cannot be read is one sentence with file, line and the text."""
    with pytest.raises(tt.ReadError) as caught:
        io.open(write(tmp_path, name, data), **options).load()
    assert words in str(caught.value) and "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path}/") and str(caught.value).endswith(".")
    assert len(str(caught.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.svm", {"label": "y"}), ("a.csv", {"n_features": 3}), ("a.npz", {"missing": "mark"}),
        ("a.csv", {"on_error": "ignore"}), ("a.csv", {"delimiter": "::"}), ("a.csv", {"ngrams": 0}),
        ("a.csv", {"label": 1, "labelled": False}), ("a.xyz", {}), ("-", {}), ("a.svm", {"format": "vw"}),
        ("a.svm", {"n_features": 0}), ("a.csv", {"missing": None}), ("a.csv", {"delimiter": "1"}),
    ],
)  # fmt: skip
def test_options_are_checked(name: str, options: dict[str, Any]) -> None:
    """An option that a format does not know, or a value that is none, is refused before anything is read."""
    with pytest.raises(ValueError, match=r"expected|has no option"):
        io.open(name, **options)


def test_lines_at_fault_are_skipped_and_counted(tmp_path: Path, block: int) -> None:
    """With on_error="skip" all other rows are read, and what was left out is counted and told."""
    pick = random.Random(0)
    texts, expected = [], []
    for i in range(400):
        bad = pick.random() < 0.2
        texts.append("x y z" if bad and i % 2 else "1 7:" if bad else f"{i} 1:{i}.5")
        if not bad:
            expected.append(i)
    source = io.open(write(tmp_path, "a.svm", "\n".join(texts)), on_error="skip")
    batches = list(source)
    assert np.concatenate([batch.y for batch in batches]).tolist() == expected
    assert np.concatenate([batch.X.data for batch in batches]).tolist() == [i + 0.5 for i in expected]
    assert np.concatenate([batch.lines for batch in batches]).tolist() == [i + 1 for i in expected]
    assert source.position.skipped == 400 - len(expected) and len(source.faults) == 10
    table = "a,y\n" + "".join(f"{'x' if i % 7 == 3 else i},{i}\n" for i in range(100)) + "1\n"
    source = io.open(write(tmp_path, "a.csv", table), label="y", on_error="skip")
    assert source.load()[1].tolist() == [i for i in range(100) if i % 7 != 3]
    assert source.position.skipped == 15 and source.faults[0].line == 5
    junk = write(tmp_path, "junk.svm", random.Random(0).randbytes(5000))
    with pytest.raises(tt.ReadError, match=r"holds no rows: \d+ lines left out, .*junk.svm:1: "):
        io.open(junk, on_error="skip").load()


def test_lines_of_any_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of ten megabytes is a row; a line beyond the limit is an error, or skipped."""
    row = "1 " + " ".join(f"{j}:0.12345678901234567" for j in range(1, 400_000))
    assert io.open(write(tmp_path, "long.svm", f"{row}\n-1 1:1")).load()[0].nnz == 400_000
    monkeypatch.setattr("tauten.io.lines.LONGEST_LINE", 1 << 16)
    monkeypatch.setattr(lines, "BLOCK", 1 << 12)
    path = write(tmp_path, "longer.svm", f"1 1:1\n{row}\n-1 2:1\n{row}")
    with pytest.raises(tt.ReadError, match=r"longer.svm:2: the line is longer than 65536 bytes"):
        io.open(path).load()
    source = io.open(path, on_error="skip")
    assert source.load()[1].tolist() == [1, -1] and source.position.skipped == 2
    with pytest.raises(tt.ReadError, match="the line is longer"):
        io.open(write(tmp_path, "q.csv", 'a,y\n1,2\n"' + "x\n" * 80_000), label="y").load()


def some_files(folder: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    """A file of 200 rows in each format."""
    pick = random.Random(0)
    X, y = svmlight_rows(n_rows=200)
    rows = bytes_io.BytesIO()
    dump_svmlight_file(X, y, rows, zero_based=False)
    frame = pd.DataFrame({"a": range(200), "b": [pick.choice("uvw") for _ in range(200)], "y": y})
    frame.to_parquet(folder / "t.parquet", row_group_size=60)
    np.savez(folder / "t.npz", X=X.toarray(), y=y)
    quoted = "".join(
        f'{i},"{pick.choice(["u", "v, w", "x" + chr(10)])}",so it is,{label}\n' for i, label in enumerate(y)
    )
    dicts = [{"y": int(label), "a": i, "t": "free é", "o": {"b": None}} for i, label in enumerate(y)]
    texts = "".join(f"{'ham' if label > 0 else 'spam'}\tsome words {i}\n" for i, label in enumerate(y))
    return {
        "svm": (write(folder, "t.svm", rows.getvalue()), {}),
        "svm.gz": (write(folder, "t.svm.gz", gzip.compress(rows.getvalue())), {}),
        "csv": (write(folder, "t.csv", "a,b,t,y\n" + quoted), {"label": "y", "text": "t"}),
        "tsv": (write(folder, "t.tsv", "label\ttext\n" + texts), {"label": 0, "text": 1}),
        "jsonl": (
            write(folder, "t.jsonl", "".join(json.dumps(row) + "\n" for row in dicts)),
            {"label": "y", "text": "t"},
        ),
        "parquet": (str(folder / "t.parquet"), {"label": "y"}),
        "npz": (str(folder / "t.npz"), {}),
    }


def plain(source: io.Source, batches: Iterator[io.Batch]) -> list[Any]:
    """Rows and labels as plain values."""
    rows: list[Any] = []
    for batch in batches:
        X = batch.X.toarray() if sp.issparse(batch.X) else batch.X
        X = X.tolist() if isinstance(X, np.ndarray) else X
        rows += zip(batch.lines.tolist(), X, batch.y.tolist(), strict=True)
    return rows


def test_a_stream_goes_on_from_any_position(tmp_path: Path, block: int) -> None:
    """From the position after a batch come just the rows that were to come; batches are as asked for."""
    for path, options in some_files(tmp_path).values():
        width = {"n_features": 40} if ".svm" in path else {}
        source = io.open(path, **options, **width)
        whole = plain(source, iter(source))
        assert len(whole) == 200
        positions = []
        for batch in source.batches(max_rows=30, every=50):
            assert (
                len(batch) <= 30
                and (batch.position.rows - 1) // 50 == (batch.position.rows - len(batch)) // 50
            )
            positions.append(batch.position)
        for position in positions[:: max(len(positions) // 7, 1)]:
            kept = io.Position(**json.loads(json.dumps(position.to_dict())))
            assert plain(source, source.batches(kept)) == whole[position.rows :]
        assert source.n_read == source.size or path.endswith((".parquet", ".npz"))


def mutated(data: bytes, pick: random.Random) -> bytes:
    """A file that something happened to."""
    parts = bytearray(data)
    pieces = [
        b"\x00",
        b"\xff",
        b'"',
        b"\n",
        b"\r",
        b":",
        b"nan",
        b"1e999",
        b"-",
        b"#",
        b",",
        b"\t",
        b"{",
        b"]",
        b"9" * 30,
    ]
    for _ in range(pick.randint(1, 6)):
        at, kind = pick.randrange(len(parts) + 1), pick.randrange(5)
        if kind == 0:
            parts[at:at] = pick.choice(pieces)
        elif kind == 1:
            parts[at : at + 1] = bytes([pick.randrange(256)])
        elif kind == 2:
            del parts[at : at + pick.choice([1, 5, 500])]
        elif kind == 3:
            parts[at:at] = parts[at : at + pick.randrange(200)]
        elif pick.random() < 0.3:
            del parts[at:]
    return bytes(parts)


@pytest.mark.parametrize("name", ["svm", "svm.gz", "csv", "tsv", "jsonl", "parquet", "npz"])
def test_damaged_files_only_fail(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happened to a file, it is read, or fails with a ReadError; nothing else, and no hang."""
    path, options = some_files(tmp_path)[name]
    whole = Path(path).read_bytes()
    pick = random.Random(0)
    n_failed = 0
    for _ in range(60):
        Path(path).write_bytes(mutated(whole, pick))
        monkeypatch.setattr(lines, "BLOCK", pick.choice([64, 1000, 1 << 21]))
        for on_error in ("raise", "skip"):
            try:
                for batch in io.open(path, on_error=on_error, **options):
                    assert len(batch) == len(batch.y) == len(batch.lines) > 0
                    values = batch.X.data if sp.issparse(batch.X) else np.zeros(1)
                    assert np.isfinite(values).all()
            except tt.ReadError as error:
                assert str(error).startswith(path)
                n_failed += 1
    assert n_failed > 10
    assert not [thread for thread in threading.enumerate() if thread.name == "tauten-reader"]


def test_reading_ahead_ends_with_the_iteration(tmp_path: Path) -> None:
    """Leaving a loop early ends the thread at once; an error comes after the rows before it."""
    path = write(tmp_path, "a.svm", "1 1:1\n" * 200_000 + "1 1:x\n")
    for _ in range(3):
        for _batch in io.open(path):
            break
    iterator = iter(io.open(path))
    next(iterator)
    del iterator
    assert not [thread for thread in threading.enumerate() if thread.name == "tauten-reader"]
    n_rows = 0
    with pytest.raises(tt.ReadError, match=r"a.svm:200001: "):
        for batch in io.open(path):
            n_rows += len(batch)
    assert n_rows == 200_000


class Pipe(bytes_io.RawIOBase):
    """Standard input that gives a few bytes at a time, and then waits."""

    def __init__(self, parts: list[bytes]) -> None:
        self.parts = parts

    def readinto(self, room: Any) -> int:
        if not self.parts:
            time.sleep(3600)
        part = self.parts.pop(0)
        room[: len(part)] = part
        return len(part)


def test_standard_input_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are there as soon as their line is; nobody waits for more, and it is read once."""

    class Input:
        buffer = Pipe([b"1 1:2\n-1 2", b":3\n", b"1 1", b":1\n1"])

    monkeypatch.setattr("sys.stdin", Input())
    source = io.open("-", format="svmlight")
    batches = iter(source)
    assert [next(batches).y.tolist() for _ in range(3)] == [[1], [-1], [1]]
    assert (source.position.rows, source.size, source.n_read) == (3, None, 20)
    del batches
    with pytest.raises(tt.ReadError, match="standard input: can be read only once"):
        iter(source)
    Input.buffer = Pipe([b"1 1:2\n", b"-1 3:1", b""])
    assert io.open("-", format="svmlight").load()[1].tolist() == [1, -1]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """Python's own errors stand for files that are missing, and folders."""
    with pytest.raises(FileNotFoundError):
        io.open(tmp_path / "none.svm").load()
    (tmp_path / "folder.svm").mkdir()
    with pytest.raises(IsADirectoryError):
        io.open(tmp_path / "folder.svm").load()


def test_npz_files_that_lie(tmp_path: Path) -> None:
    """Arrays that do not fit together, that are pickled, or shorter than they say, are named."""
    X, y = svmlight_rows(n_rows=10)
    csr = {
        "data": X.data,
        "indices": X.indices,
        "indptr": X.indptr,
        "shape": X.shape,
        "format": b"csr",
        "y": y,
    }
    dense = {"X": X.toarray(), "y": y}
    falls = X.indptr.copy()
    falls[4] = falls[6] + 1
    odd = np.where(np.arange(X.nnz) == 3, np.nan, X.data)
    for arrays, said in (
        ({"X": X.toarray()}, "has no labels 'y' among X"),
        ({"Z": X.toarray()}, "holds Z; expected X, or what save_npz writes"),
        ({**dense, "X": np.arange(10.0)}, "X has shape (10,); expected rows and columns"),
        ({**dense, "X": X.toarray().astype(object)}, "array 'X' holds object in shape"),
        ({**dense, "y": y[:9]}, "labels 'y' have shape (9,); expected (10,)"),
        ({**dense, "y": y * np.nan}, "row 1: label nan is not finite"),
        ({**dense, "X": np.where(X.toarray() == 0, np.inf, 0.0)}, "row 1: inf in column 0 is not finite"),
        ({**csr, "format": b"csc"}, "of the form"),
        ({**csr, "shape": (11, 40)}, "expected 12 row starts"),
        ({**csr, "shape": (-1, 40)}, "expected rows and columns"),
        ({**csr, "indptr": falls}, "expected row starts that ascend"),
        ({**csr, "indptr": X.indptr * 3}, "expected row starts that ascend"),
        ({**csr, "indices": X.indices + 30}, "is not among 40"),
        ({**csr, "data": odd}, "nan in column"),
        ({**csr, "data": X.data[:-1]}, "expected as many values as columns"),
    ):
        np.savez(tmp_path / "lie.npz", **arrays)
        with pytest.raises(tt.ReadError) as caught:
            io.open(tmp_path / "lie.npz").load()
        assert said in str(caught.value)
    header = bytes_io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**20)}
    )
    with zipfile.ZipFile(tmp_path / "lie.npz", "w") as archive:
        archive.writestr("X.npy", header.getvalue() + b"\0" * 64)
    with pytest.raises(tt.ReadError, match=r"array 'X' is shorter than its shape"):
        io.open(tmp_path / "lie.npz", labelled=False).load()
