"""From a file to a model: as a loop over its rows, stopped and gone on with anywhere, in little memory."""

import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import tauten as tt
from tauten import io, stream
from tauten.tally import WINDOWS

LABELS = ["ant", "bee", "cow"]
LEARNERS = ["pa1", "perceptron", "cspa", "pamean1", "arow-diag", "pam2", "paa1", "sel-ada"]


def write(path: Path, n_classes: int = 2, n_rows: int = 300) -> Path:
    """An svmlight file with text labels; later rows have columns that earlier ones have not, and labels."""
    pick = np.random.default_rng(0)
    planes = pick.standard_normal((30, n_classes))
    lines = []
    for i in range(n_rows):
        columns = np.sort(pick.choice(20 if i < n_rows // 2 else 30, 6, replace=False))
        values = pick.standard_normal(6)
        known = n_classes if i > 50 else 2
        label = LABELS[int((values @ planes[columns])[:known].argmax())]
        lines.append(
            " ".join([label, *(f"{j + 1}:{v}" for j, v in zip(columns, values, strict=True))]) + "\n"
        )
    path.write_text("".join(lines))
    return path


def made(name: str, **parameters: Any) -> Any:
    """A learner that asks the same every time."""
    active = tt.learners()[name].kind == "active"
    return tt.make(name, **({"random_state": 3} if active else {}), **parameters)


def everything(model: Any) -> Any:
    """All that a model would save."""
    header, arrays = model.parts()
    return header, {name: (array.shape, array.tobytes()) for name, array in arrays.items()}


def figures(tally: tt.Tally) -> Any:
    """All that a tally has, but for the time."""
    return {**tally.to_dict(), "seconds": 0}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_run_is_a_loop_of_predict_and_learn(name: str, n_classes: int, tmp_path: Path) -> None:
    """A file leaves, bit for bit, the model that its rows leave one by one, and counts what was predicted."""
    path = write(tmp_path / "rows.svm", n_classes)
    model, loop = made(name), made(name)
    tally = tt.run(model, io.open(path))
    counts: Counter[Any] = Counter()
    known: list[str] = []
    for batch in io.open(path).batches(max_rows=1):
        label = batch.y[0]
        classes = getattr(loop, "classes_", [])
        counts[label, loop.predict(batch.X)[0] if len(classes) else None] += 1
        loop.partial_fit(batch.X, batch.y)
        if len(classes) and len(getattr(loop, "classes_", [])) > len(classes):  # nobody knew this label
            counts[label, loop.classes_[0]] += 0
            known.append(label)
    assert everything(model) == everything(loop)
    expected = np.array([[counts[a, b] for b in tally.classes] for a in tally.classes])
    off = np.abs(tally.confusion - expected)
    assert off.sum() == len(known) == tally.unpredicted.sum() - sum(counts[a, None] for a in LABELS)
    assert tally.n_rows == 300 and tally.n_updates == loop.n_updates_
    assert tally.n_asked == getattr(loop, "n_asked_", 300)
    assert tally.class_counts() == {
        label: sum(v for k, v in counts.items() if k[0] == label) for label in LABELS[:n_classes]
    }


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_figures_are_those_of_progressive(name: str, n_classes: int, tmp_path: Path) -> None:
    """With the labels known beforehand a tally's figures are a trace's, and the model is the same."""
    path = write(tmp_path / "rows.svm", n_classes)
    X, y = io.open(path).load()
    model, other = made(name), made(name)
    tally = tt.run(model, io.open(path, n_features=30), classes=LABELS[:n_classes])
    trace = tt.progressive(other, sp.csr_matrix(X), y)
    summary = {**tally.summary(), "seconds": 0}
    assert summary == pytest.approx({**trace.summary(), "seconds": 0}, rel=1e-12)
    np.testing.assert_array_equal(tally.confusion, trace.confusion)
    assert tally.curve()["error_so_far"].iloc[-1] == pytest.approx(trace.error_rate)
    windows = [trace.errors[i : i + 100].mean() for i in range(0, 300, 100)]
    assert tally.curve()["error"].tolist() == pytest.approx(windows)
    assert everything(model)[1] == everything(other)[1]


@pytest.mark.parametrize("name", ["pa1", "arow-diag", "pamean1", "paa1"])
def test_a_run_that_was_stopped_goes_on(name: str, tmp_path: Path) -> None:
    """Stopped anywhere, read from its checkpoint and gone on with, a run ends as if never stopped."""
    path = write(tmp_path / "rows.svm", 3)
    whole = made(name)
    tally = tt.run(whole, path, passes=2)
    for stop in (1, 4, 6, 8):
        batches = []

        def watch(_: tt.Tally, batch: io.Batch, stop: int = stop, batches: list[Any] = batches) -> bool:
            batches.append(batch)
            return len(batches) < stop

        tt.run(made(name), path, passes=2, checkpoint=tmp_path / "c.tt", every=70, watch=watch)
        point = tt.Checkpoint.load(tmp_path / "c.tt")
        assert (point.number, point.position.rows) == (1 + (stop > 5), batches[-1].position.rows)
        resumed = tt.run(
            point, path, passes=2, checkpoint=tmp_path / "c.tt", every=70, **point.open_options()
        )
        assert everything(point.model) == everything(tt.load(tmp_path / "c.tt")) == everything(whole)
        assert figures(resumed) == figures(tally) and len(tally.passes) == 2
    again = tt.Checkpoint.load(tmp_path / "c.tt")
    assert figures(tt.run(again, path, passes=2)) == figures(tally)  # there was nothing left to do
    with pytest.raises(ValueError, match="zero_based is True, but the run to go on with had False"):
        tt.run(again, path, zero_based=True)
    path.write_text(path.read_text()[:1000])
    with pytest.raises(tt.ReadError, match=r"ends at byte 1000, but was read up to byte \d+ before"):
        tt.run(tt.Checkpoint.load(tmp_path / "c.tt"), path, passes=2)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_killed_goes_on(how: signal.Signals, tmp_path: Path) -> None:
    """kill -9, or Ctrl-C, at any time, and the last checkpoint leads to the same model, bit for bit."""
    path = write(tmp_path / "rows.svm", 3, n_rows=3000)
    program = """
import sys, time, tauten as tt
if sys.argv[3] == "resume":
    model = tt.Checkpoint.load(sys.argv[2])
else:
    model = tt.make("pa1", average=True)
slowly = lambda tally, batch: time.sleep(0.01)
tt.run(model, sys.argv[1], checkpoint=sys.argv[2], every=30, passes=3, watch=slowly)
"""
    whole = tt.make("pa1", average=True)
    tt.run(whole, path, passes=3)
    point = tmp_path / "c.tt"
    command = [sys.executable, "-c", program, str(path), str(point)]
    process = subprocess.Popen([*command, "begin"], stderr=subprocess.PIPE)
    while not point.exists():
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(how)
    process.communicate()
    assert process.returncode != 0
    rounds = tt.load(point).t_
    assert 0 < rounds < 9000
    resumed = tt.Checkpoint.load(point)
    tally = tt.run(resumed, path, passes=3)
    assert everything(resumed.model) == everything(whole) and tally.n_rows == 3000
    leftovers = [name for name in os.listdir(tmp_path) if name not in ("rows.svm", "c.tt")]
    assert how == signal.SIGKILL or leftovers == []


def test_tables_keep_their_names(tmp_path: Path) -> None:
    """A model of named columns reads another file by the kinds of columns that it learned."""
    text = "n,c,y\n" + "".join(f"{i % 7},{'uvw'[i % 3]},{'pq'[i % 2]}\n" for i in range(300))
    (tmp_path / "t.csv").write_text(text)
    model = tt.make("pa1")
    tt.run(model, tmp_path / "t.csv", label="y", checkpoint=tmp_path / "c.tt", every=100)
    assert model.feature_names_in_.tolist() == ["n", "c=u", "c=v", "c=w"]
    (tmp_path / "test.csv").write_text("c,n,y\nu,3,p\n5,1,q\n")
    point = tt.Checkpoint.load(tmp_path / "c.tt")
    tally = tt.run(point.model, tmp_path / "test.csv", learn=False, **point.open_options())
    predicted = model.predict([{"c=u": 1, "n": 3}, {"c=5": 1, "n": 1}])
    assert tally.n_rows == 2 and tally.error_rate == (predicted != ["p", "q"]).mean()
    assert everything(point.model) == everything(model)
    (tmp_path / "n.csv").write_text("a,b,y\n" + "".join(f"{i},{i % 3},{i % 2}\n" for i in range(50)))
    numbers = tt.make("pa1")
    tt.run(numbers, tmp_path / "n.csv", label="y")
    assert numbers.feature_names_in_.tolist() == ["a", "b"] and numbers.t_ == 50
    (tmp_path / "m.csv").write_text("y,b,a\n" + "".join(f"{i % 2},{i % 3},{i}\n" for i in range(50)))
    same = tt.run(numbers, tmp_path / "m.csv", label="y", learn=False)
    assert same.error_rate == tt.run(numbers, tmp_path / "n.csv", label="y", learn=False).error_rate
    hashed = tt.make("pa1", hash_bits=6)
    assert tt.run(hashed, tmp_path / "n.csv", label="y").n_rows == 50 and hashed.n_features_in_ == 64
    with pytest.raises(ValueError, match="has named features; expected rows with names"):
        tt.run(numbers, write(tmp_path / "rows.svm"))


def test_numbered_columns_have_no_end(tmp_path: Path) -> None:
    """Models grow with the columns of svmlight rows, pass over unknown ones, and are left alone by errors."""
    X, y = io.open(write(tmp_path / "rows.svm")).load()
    model = tt.PAClassifier().partial_fit(X[:100, :10], y[:100])
    assert model.n_features_in_ == 10
    before = model.predict(X)
    assert model.n_features_in_ == 10 and before.tolist() == model.predict(X[:, :10].toarray()).tolist()
    kept = everything(model)
    with pytest.raises(ValueError, match="of another kind"):
        model.partial_fit(X, np.arange(len(y)))
    assert everything(model) == kept
    model.partial_fit(X, y)
    assert model.n_features_in_ == 30 and model.t_ == 400
    with pytest.raises(ValueError, match="has hashed features"):
        tt.PAClassifier(hash_bits=5).partial_fit(X, y)
    (tmp_path / "empty.svm").write_text("1\n-1\n1 4:1\n-1 2:1\n")
    empty = tt.PAClassifier()
    assert tt.run(empty, tmp_path / "empty.svm").n_rows == 4 and empty.n_features_in_ == 4


def test_regression(tmp_path: Path) -> None:
    """Targets are numbers; the figures are the trace's."""
    pick = np.random.default_rng(0)
    X = pick.standard_normal((300, 4))
    y = X @ [1.0, 2.0, 0.0, -1.0]
    np.savez(tmp_path / "r.npz", X=X, y=y)
    tally = tt.run(tt.make("pa1-reg"), tmp_path / "r.npz")
    trace = tt.progressive(tt.make("pa1-reg"), X, y)
    assert tally.summary() == pytest.approx({**trace.summary(), "seconds": tally.seconds}, rel=1e-9)
    with pytest.raises(ValueError, match="has no classes"):
        tt.run(tt.make("pa1-reg"), tmp_path / "r.npz", classes=[1, 2])
    with pytest.raises(ValueError, match="no classes"):
        tally.f1()


def damaged(folder: Path, kind: str, bad: bool) -> tuple[Path, dict[str, Any]]:
    """A file of 300 rows, of which the 251st is bad; the first has no value of a column."""
    path, options = folder / f"rows.{kind}", {} if kind in ("svm", "npz") else {"label": "y"}
    pick = np.random.default_rng(0)
    X, y = pick.standard_normal((300, 3)), pick.integers(0, 2, 300)
    if kind == "svm":
        lines = write(path).read_text().splitlines(keepends=True)
        path.write_text("".join([*lines[:250], "ant 1:oops\n" if bad else "ant 1:1\n", *lines[251:]]))
    elif kind == "npz":
        X[250, 1] = np.inf if bad else 1.0
        np.savez(path, X=X, y=y)
    elif kind == "jsonl":
        texts = [
            json.dumps({"y": int(y[i]), "a": X[i, 0] if i else None, "c": f"c{i % 3}"}) for i in range(300)
        ]
        texts[250] = "{" if bad else texts[250]
        path.write_text("\n".join(texts))
    else:
        frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": [f"c{i % 3}" for i in range(300)], "y": y})
        frame.loc[0, "a"] = None
        frame.loc[250, "b"] = np.inf if bad else 1.0
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path, row_group_size=80)
    return path, options


@pytest.mark.parametrize("kind", ["svm", "csv", "jsonl", "parquet", "npz"])
def test_a_fault_in_the_file_leaves_what_was_learned(kind: str, tmp_path: Path) -> None:
    """An error in row n comes after the rows before it were learned and saved; mended, the run goes on."""
    path, options = damaged(tmp_path, kind, bad=True)
    model = tt.make("pa1")
    with pytest.raises(tt.ReadError, match=r"rows\.\w+(:|, row )25[12]: "):
        tt.run(model, path, checkpoint=tmp_path / "c.tt", **options)
    assert model.t_ == 250
    path, _ = damaged(tmp_path, kind, bad=False)
    point = tt.Checkpoint.load(tmp_path / "c.tt")
    tt.run(point, path, **point.open_options())
    whole = tt.make("pa1")
    tt.run(whole, path, **options)
    assert everything(point.model) == everything(whole) and whole.t_ == 300


def test_a_plain_model_is_no_checkpoint(tmp_path: Path) -> None:
    """A model file without a place in a stream is not gone on from."""
    whole = tt.make("pa1").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(tt.ModelFileError, match="holds a model, but no place in a file"):
        whole.save(tmp_path / "m.tt")
        tt.Checkpoint.load(tmp_path / "m.tt")


def test_a_model_that_asked_for_nothing_is_not_saved(tmp_path: Path) -> None:
    """Where no label was asked for there is no model, and no checkpoint; the figures stand."""
    model = tt.ActiveClassifier(tt.PAClassifier(), ask=tt.RandomAsk(rate=0.0), random_state=0)
    tally = tt.run(model, write(tmp_path / "rows.svm"), checkpoint=tmp_path / "c.tt", every=50)
    assert (tally.n_rows, tally.n_asked, tally.error_rate) == (300, 0, 1.0)
    assert not (tmp_path / "c.tt").exists()


def test_arguments_are_checked(tmp_path: Path) -> None:
    """What does not go together is refused before anything is learned."""
    path = write(tmp_path / "rows.svm")
    model = tt.make("pa1")
    for arguments, words in (
        ({"model": "pa1"}, "expected a learner"),
        ({"passes": 0}, "passes is 0"),
        ({"every": 1.5}, "every is 1.5"),
        ({"learn": False, "passes": 2}, "makes one pass"),
        ({"source": io.open(path), "zero_based": True}, "has been opened already"),
        ({"source": io.open(path, labelled=False)}, "needs labels"),
        ({"label": "y"}, "svmlight has no option 'label'"),
    ):
        with pytest.raises(ValueError, match=words):
            tt.run(**{"model": model, "source": path, **arguments})
    assert not hasattr(model, "classes_")


def test_a_tally_stays_small() -> None:
    """The curve of a million rows is kept in so many windows at most, whose mean is the error rate."""
    tally = tt.Tally(classifies=True)
    pick = np.random.default_rng(0)
    n_wrong = 0
    for _ in range(60):
        y = pick.integers(0, 2, 20_011)
        predicted = np.where(pick.random(len(y)) < 0.2, 1 - y, y)
        n_wrong += int((y != predicted).sum())
        always = np.ones(len(y), dtype=bool)
        tally.add(stream.Outcome(y, predicted, always, ~always, always))
    curve = tally.curve()
    assert len(curve) <= WINDOWS and len(tally.windows) >= WINDOWS // 4
    assert tally.error_rate == n_wrong / (60 * 20_011) == pytest.approx(curve["error_so_far"].iloc[-1])
    assert curve["rows"].iloc[-1] == tally.n_rows
    assert figures(tt.Tally.from_dict(tally.to_dict())) == figures(tally)
    assert tally.plot().get_ylabel() == "error rate"


def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times the rows take no more memory, on the way through tt.run."""
    monkeypatch.setattr("tauten.io.lines.BLOCK", 1 << 15)
    peaks = []
    for n_times in (4, 40):
        path = tmp_path / f"{n_times}.svm"
        path.write_text(write(tmp_path / "rows.svm", n_rows=2000).read_text() * n_times)
        tt.run(tt.make("pa1"), tmp_path / "rows.svm")
        tracemalloc.start()
        tt.run(tt.make("pa1"), path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]
