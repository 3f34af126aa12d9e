"""Model files: what is saved comes back whole and learns on; a file that is damaged or hostile only fails.

Long, for it is a list of lies that a file can tell.
"""

import gzip
import io
import json
import os
import pickle
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SUPERVISED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tauten as tt

LEARNERS = SUPERVISED
CLASSIFIERS = [name for name in LEARNERS if tt.learners()[name].kind == "classifier"]
REGRESSORS = [name for name in LEARNERS if name not in CLASSIFIERS]
SHAPES: dict[str, tuple[Any, ...]] = {
    "two classes": (0, 1),
    "three classes": (0, 1, 2),
    "text labels": ("ham", "spam", "naïve €"),
    "dicts": (True, False),
    "averaged": (0, 1, 2),
}
VARIED = {
    "cspa, balanced": ("cspa", "three classes", {"rho": "balanced"}),
    "pa2, class weights": ("pa2", "text labels", {"class_weight": {"ham": 2.0, "spam": 0.5}}),
    "cpa, costs": ("cpa", "text labels", {"rho": {"ham": 2.0, "spam": 0.5}}),
    "pameanw1, weighted": ("pameanw1", "dicts", {"window": 3, "window_weights": (1.0, 2.0, 5.0)}),
    "pamean1, strong": ("pamean1", "averaged", {"gamma": 3.0, "anchor_scale": 5.0}),
    "pa1, hashed": ("pa1", "dicts", {"hash_bits": 4}),
    "pa1, no intercept": ("pa1", "two classes", {"fit_intercept": False, "C": 0.1}),
}
CASES = {
    **{f"{name}, {shape}": (name, shape, {}) for name in CLASSIFIERS for shape in SHAPES},
    **{f"{name}, {shape}": (name, shape, {}) for name in REGRESSORS for shape in ("dicts", "averaged")},
    **VARIED,
}
MEGABYTE = 1 << 20


def stream(case: str, n_rows: int = 60) -> tuple[Any, list[Any]]:
    """Rows and labels; of the dicts, words go on turning up to the end."""
    name, shape, _ = CASES[case]
    random = np.random.default_rng(7)
    X = random.integers(-2, 3, (n_rows, 7)).astype(float)
    y = random.normal(size=n_rows) if name in REGRESSORS else random.choice(SHAPES[shape], n_rows)
    if shape == "dicts":
        X[np.arange(n_rows)[:, None] < 8 * np.arange(7)] = 0.0
        return [{f"wörd {j}": row[j] for j in np.flatnonzero(row)} for row in X], y.tolist()
    return X, y.tolist()


def learner(case: str) -> Any:
    name, shape, parameters = CASES[case]
    return tt.make(name, average=shape == "averaged", **parameters)


def saved(path: Path, case: str = "pa1, two classes", n_rows: int = 30) -> Any:
    """A model that has learned the beginning of its stream, and its file."""
    X, y = stream(case)
    model = learner(case).partial_fit(X[:n_rows], y[:n_rows])
    model.save(path)
    return model


def everything(model: Any) -> dict[str, Any]:
    """All that a model has, parameters and learned values, arrays as bytes."""
    state = model.state_
    found = {name: value for name, value in model.__getstate__().items() if name != "state_"}
    found |= {name: getattr(state, name) for name in (*state.header, "n_rounds", "n_moves")} | state.arrays()
    return {
        name: (value.shape, value.dtype.str, value.tolist() if value.dtype == object else value.tobytes())
        if isinstance(value, np.ndarray)
        else value
        for name, value in found.items()
    }


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(path: Path, contents: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return path


def npy(array: Any) -> bytes:
    """An array as numpy saves it, pickled where it must be."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def claiming(shape: Any, data: bytes = b"", descr: Any = "<f8", fortran: Any = False) -> bytes:
    """An .npy member whose header says what it likes."""
    return npy_text(repr({"descr": descr, "fortran_order": fortran, "shape": shape}), data)


def npy_text(header: str, data: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H", len(text)) + text + data


def refuse(path: Path, load: Callable[[Path], Any] = tt.load, case: Any = None) -> None:
    """The file gives a ModelFileError, one sentence that names it, at no cost in memory or on disk."""
    beside = sorted(path.parent.iterdir())
    tracemalloc.start()
    try:
        with pytest.raises(tt.ModelFileError) as caught:
            load(path)
        _, peak = tracemalloc.get_traced_memory()
        message = str(caught.value)
        reason = message.partition("model file: ")[2]
        assert path.name in message
        assert re.fullmatch(r"[^\n]+[^\n.:]\.", message), message
        assert not reason or len(reason.split()) > 2, message
        assert peak < 4 * MEGABYTE + 4 * path.stat().st_size
        assert sorted(path.parent.iterdir()) == beside
    except BaseException as error:
        error.add_note(f"at {case}")
        raise
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("case", CASES)
def test_round_trip(case: str, tmp_path: Path) -> None:
    """A loaded model is the saved one to the last bit: its class, parameters, state and predictions."""
    model = saved(tmp_path / "model.tt", case)
    X, _ = stream(case)
    for loaded in (tt.load(tmp_path / "model.tt"), type(model).load(str(tmp_path / "model.tt"))):
        assert type(loaded) is type(model)
        assert everything(loaded) == everything(model)
        assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
        assert np.array_equal(loaded.predict(X), model.predict(X))
        assert [loaded.predict_one(x) for x in X] == [model.predict_one(x) for x in X]


@pytest.mark.parametrize("case", CASES)
def test_resumed_is_uninterrupted(case: str, tmp_path: Path) -> None:
    """Saving and loading on the way, again and again, changes nothing, to the last bit."""
    X, y = stream(case)
    straight = learner(case).partial_fit(X[:20], y[:20])
    resumed = learner(case).partial_fit(X[:20], y[:20])
    for first in range(20, 60, 10):
        resumed.save(tmp_path / "model.tt")
        resumed = tt.load(tmp_path / "model.tt")
        resumed.predict_one(X[0])
        for model in (straight, resumed):
            for i in range(first, first + 5):
                model.learn_one(X[i], y[i])
            model.partial_fit(X[first + 5 : first + 10], y[first + 5 : first + 10])
        assert everything(resumed) == everything(straight)


@pytest.mark.parametrize("name", LEARNERS)
def test_resumed_after_epochs(name: str, tmp_path: Path) -> None:
    """A model that was fitted in several epochs, saved and loaded learns on as the model itself does."""
    case = f"{name}, averaged"
    X, y = stream(case)
    model = learner(case).set_params(epochs=3).fit(X[:30], y[:30])
    model.save(tmp_path / "model.tt")
    loaded = tt.load(tmp_path / "model.tt")
    assert everything(loaded.partial_fit(X[30:], y[30:])) == everything(model.partial_fit(X[30:], y[30:]))
    assert everything(loaded.set_params(warm_start=True).fit(X, y)) == everything(
        model.set_params(warm_start=True).fit(X, y)
    )


PARAMETERS = {
    "numpy numbers": ("pa1", {"C": np.float32(0.5), "epochs": np.int64(2), "random_state": np.int32(3)}),
    "numpy switches": ("pa1", {"average": np.True_, "fit_intercept": np.False_, "shuffle": np.True_}),
    "numpy window": ("pameanw1", {"window": np.int64(2), "window_weights": np.array([1.0, 2.0])}),
    "classes in a tuple": ("pa1", {"classes": ("b", "a")}),
    "classes in an array": ("pa1", {"classes": np.array(["b", "a", "ccc"])}),
    "weights by number": ("pa1", {"class_weight": {0: 1.5, 1: 2}}),
    "weights by truth": ("pa1", {"class_weight": {True: 1.5, False: np.float64(2.0)}}),
    "weights by name": ("pa1", {"class_weight": {"ünï": 1.5, np.str_("b"): 2.0}}),
    "tiny": ("pa1", {"C": 5e-324}),
    "exact": ("pa1", {"C": 0.1 + 0.2}),
}


@pytest.mark.parametrize("kind", PARAMETERS)
def test_parameters_come_back(kind: str, tmp_path: Path) -> None:
    """Parameters of every type that is allowed come back equal, and the loaded model learns with them."""
    name, parameters = PARAMETERS[kind]
    text = "classes" in parameters or kind == "weights by name"
    X, y = np.eye(4), ["a", "b", "a", "b"] if text else [0, 1, 1, 0]
    model = tt.make(name, **parameters).partial_fit(X, y)
    model.save(tmp_path / "model.tt")
    loaded = tt.load(tmp_path / "model.tt")
    for parameter, value in model.get_params().items():
        assert np.array_equal(loaded.get_params()[parameter], value), parameter
        assert type(loaded.get_params()[parameter]) in (type(value), str)
    assert np.array_equal(loaded.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)


def test_a_class_of_ones_own(tmp_path: Path) -> None:
    """A model of a class outside the registry is read by that class, and refused by every other."""

    class Cautious(tt.PAClassifier):
        pass

    model = Cautious(C=0.3).fit(np.eye(3), [0, 1, 2])
    model.save(tmp_path / "model.tt")
    assert everything(Cautious.load(tmp_path / "model.tt")) == everything(model)
    for load in (tt.load, tt.PAClassifier.load, tt.PARegressor.load):
        refuse(tmp_path / "model.tt", load)


@pytest.mark.parametrize("case", CASES)
def test_a_file_holds_no_pickle(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is one JSON header and plain arrays, stored as they are, and no pickle is written or read."""

    def fail(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("pickle was used")

    for name in ("dump", "dumps", "load", "loads", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, fail)
    saved(tmp_path / "model.tt", case)
    tt.load(tmp_path / "model.tt")
    contents = members(tmp_path / "model.tt")
    header = json.loads(contents.pop("header.json"))
    assert header["format"] == 1
    assert header["class"] == tt.learners()[CASES[case][0]].learner.__name__
    assert header["library"] == tt.__version__
    for data in contents.values():
        assert np.lib.format.read_array(io.BytesIO(data), allow_pickle=False).dtype.kind == "f"
    with zipfile.ZipFile(tmp_path / "model.tt") as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}


def test_only_a_model_that_has_learned_is_saved(tmp_path: Path) -> None:
    """There is nothing to save before the first example, and no file is made."""
    with pytest.raises(ValueError, match="not fitted"):
        tt.PAClassifier().save(tmp_path / "model.tt")
    assert not list(tmp_path.iterdir())


FAILURES: dict[str, tuple[Any, str, type[BaseException]]] = {
    "full disk": (np.lib.format, "write_array", OSError),
    "failing sync": (os, "fsync", OSError),
    "failing rename": (os, "replace", PermissionError),
    "interrupt": (os, "fsync", KeyboardInterrupt),
    "interrupt in the middle": (np.lib.format, "write_array", KeyboardInterrupt),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failing_write_leaves_the_old_file(
    failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever stops a write, the file is the one from before, and nothing else is left in the folder."""
    path = tmp_path / "model.tt"
    model = saved(path)
    before = path.read_bytes()
    owner, function, error = FAILURES[failure]

    def fail(*args: Any, **kwargs: Any) -> None:
        raise error(failure)

    monkeypatch.setattr(owner, function, fail)
    with pytest.raises(error, match=failure):
        model.partial_fit(np.eye(7), [0, 1] * 3 + [0]).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path: Path) -> None:
    """A parameter that only pickle could keep is refused in words, and the old file stays."""
    model = saved(tmp_path / "model.tt")
    before = (tmp_path / "model.tt").read_bytes()
    with pytest.raises(ValueError, match=r"RandomState.*without pickle"):
        model.set_params(random_state=np.random.RandomState(0)).save(tmp_path / "model.tt")
    assert (tmp_path / "model.tt").read_bytes() == before
    assert list(tmp_path.iterdir()) == [tmp_path / "model.tt"]


def test_what_load_would_refuse_is_not_saved(tmp_path: Path) -> None:
    """A model that load would refuse is refused by save, in words on the model, and the old file stays."""
    path = tmp_path / "model.tt"
    X, y = [[1.0, 0.0], [0.0, 1.0]], [0, 1]
    changed = tt.PAClassifier().fit(X, y).set_params(C=-1)
    third = tt.CPAClassifier(rho={}).fit([*X, [1.0, 1.0]], [0, 1, 2]).set_params(rho=2.0)
    infinite = tt.PAClassifier().fit(X, y)
    infinite.state_.table[1, 0] = np.inf
    saved(path)
    before = path.read_bytes()
    for model, words in ((changed, "C is -1"), (third, "rho is 2.0 for 3 classes"), (infinite, "not finite")):
        with pytest.raises(ValueError, match=f"cannot be saved as it is: .*{words}"):
            model.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.tt"]


@pytest.mark.parametrize("name", LEARNERS)
def test_saving_does_not_change_the_model(name: str, tmp_path: Path) -> None:
    """A model that was saved in between learns on as one that was not, also after a change of parameters."""
    X, y = stream(f"{name}, averaged")
    models = [tt.make(name).partial_fit(X[:30], y[:30]) for _ in range(2)]
    for model in models:
        for parameter in {"C", "gamma", "anchor_scale"} & model.get_params().keys():
            model.set_params(**{parameter: 0.3})
    models[0].save(tmp_path / "model.tt")
    for model in models:
        model.partial_fit(X[30:], y[30:])
    assert np.array_equal(models[0].coef_, models[1].coef_)
    assert np.array_equal(models[0].state_.memory, models[1].state_.memory)


def test_a_file_is_synced_before_it_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes are on the disk before the old name points to them, and the folder after."""
    calls = []
    for name in ("fsync", "replace"):
        function = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *args, name=name, function=function: (calls.append(name), function(*args))[1]
        )
    saved(tmp_path / "model.tt")
    assert calls[:2] == ["fsync", "replace"]
    assert calls[2:] == (["fsync"] if os.name == "posix" else [])


def test_paths_that_hold_no_file(tmp_path: Path) -> None:
    """A missing file, a missing folder and a folder give the system's own errors, and nothing is made."""
    model = saved(tmp_path / "model.tt")
    for load in (tt.load, tt.PAClassifier.load):
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "none.tt")
        with pytest.raises(IsADirectoryError):
            load(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileNotFoundError) as missing:
        model.save(tmp_path / "none" / "model.tt")
    assert missing.value.filename == str(tmp_path / "none")
    with pytest.raises(OSError, match="folder"):
        model.save(tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "model.tt"]


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    """A file cut short anywhere is refused."""
    saved(tmp_path / "model.tt", "pameanw1, weighted")
    data = (tmp_path / "model.tt").read_bytes()
    with zipfile.ZipFile(tmp_path / "model.tt") as archive:
        starts = [info.header_offset for info in archive.infolist()]
    ends = {0, 1, 4, len(data) - 1, *range(0, len(data), 97)}
    for length in ends | {start + step for start in starts for step in (-1, 0, 1, 29, 30, 60)}:
        if 0 <= length < len(data):
            (tmp_path / "cut.tt").write_bytes(data[:length])
            refuse(tmp_path / "cut.tt")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, dict[str, Any]]:
    """A model file with everything in it: its path, its bytes, and all that the model has."""
    path = tmp_path_factory.mktemp("good") / "model.tt"
    model = saved(path, "pameanw1, weighted")
    return path, path.read_bytes(), everything(model)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_flipped_byte_is_refused_or_harmless(
    good: tuple[Path, bytes, dict[str, Any]], data: st.DataObject
) -> None:
    """A byte altered anywhere gives a ModelFileError or (in a date, say) the same model, never another."""
    path, content, model = good
    damaged = bytearray(content)
    damaged[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    flipped = path.with_name("flipped.tt")
    flipped.write_bytes(damaged)
    try:
        loaded = tt.load(flipped)
    except tt.ModelFileError as error:
        assert "\n" not in str(error)
    else:
        assert everything(loaded) == model


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_flipped_byte_in_an_array_header_is_refused_or_harmless(
    good: tuple[Path, bytes, dict[str, Any]], data: st.DataObject
) -> None:
    """The same inside the header of an array, where the checksum has been made to fit."""
    path, _, model = good
    contents = members(path)
    name = data.draw(st.sampled_from([name for name in contents if name != "header.json"]))
    damaged = bytearray(contents[name])
    damaged[data.draw(st.integers(0, 127))] ^= data.draw(st.integers(1, 255))
    flipped = pack(path.with_name("flipped.tt"), {**contents, name: bytes(damaged)})
    try:
        loaded = tt.load(flipped)
    except tt.ModelFileError as error:
        assert "\n" not in str(error)
    else:
        assert everything(loaded) == model


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300))
def test_any_bytes_are_refused(good: tuple[Path, bytes, dict[str, Any]], data: bytes) -> None:
    """Arbitrary bytes are no model file, whether alone or as one of its parts."""
    path, _, _ = good
    junk = path.with_name("junk.tt")
    junk.write_bytes(data)
    with pytest.raises(tt.ModelFileError):
        tt.load(junk)
    contents = members(path)
    for name in contents:
        with pytest.raises(tt.ModelFileError):
            tt.load(pack(junk, {**contents, name: data}))


class Bomb:
    """What leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    """Text, pickles, arrays, compressed files and other zips are no model files, and none of them is run."""
    mark = tmp_path / "mark"
    bomb = pickle.dumps(Bomb(mark))
    path = tmp_path / "other.tt"
    good_npy = npy(np.zeros((3, 1)))
    for data in (
        b"",
        b"\n",
        b"C = 1\n",
        b"PK\x03\x04",
        b"PK\x05\x06" + bytes(18),
        bomb,
        gzip.compress(bomb),
        good_npy,
    ):
        path.write_bytes(data)
        refuse(path)
    for contents in (
        {},
        {"header.json": b""},
        {"header.json": bomb},
        {"table.npy": good_npy},
        {"a/b.txt": b"hi"},
    ):
        refuse(pack(path, contents))
    assert not mark.exists()


def test_objects_in_arrays_are_refused(tmp_path: Path) -> None:
    """Pickled arrays and types with objects in them are refused, in the place of any array, and never run."""
    mark = tmp_path / "mark"
    saved(tmp_path / "model.tt", "pameanw1, weighted")
    contents = members(tmp_path / "model.tt")
    objects = np.array([Bomb(mark), Bomb(mark)], dtype=object)
    bombs = [
        npy(objects),
        claiming((1,), pickle.dumps(Bomb(mark)), "|O"),
        claiming((1,), pickle.dumps(Bomb(mark)), [("a", "|O")]),
        npy_text(f"__import__('pathlib').Path({str(mark)!r}).touch()"),
        npy_text(
            f"{{'descr': '<f8', 'shape': __import__('os').mkdir({str(mark)!r}), 'fortran_order': False}}"
        ),
        pickle.dumps(Bomb(mark)),
    ]
    for name in contents:
        for bomb in bombs:
            refuse(pack(tmp_path / "bomb.tt", {**contents, name: bomb}))
    assert not mark.exists()


ARRAY_CASES = [
    "pa1, text labels",
    "pa1, averaged",
    "pamean1, averaged",
    "pameanw1, weighted",
    "pa2-reg, dicts",
]


def hostile_arrays(contents: dict[str, bytes]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Each array of a file in turn replaced by what it must not be."""
    for name in set(contents) - {"header.json"}:
        array = np.load(io.BytesIO(contents[name]))
        data = array.tobytes()
        for words, member in {
            "fewer rows": npy(array[:-1]),
            "a row more": npy(np.concatenate([array, array[:1]])),
            "flat": npy(np.concatenate([array.ravel(), [0.0]])),
            "no dimension": npy(np.float64(1.0)),
            "a dimension more": npy(array[None]),
            "nothing": npy(np.zeros(0)),
            "float32": npy(array.astype(np.float32)),
            "int64": npy(array.astype(np.int64)),
            "big-endian": npy(array.astype(">f8")),
            "complex": npy(array.astype(complex)),
            "text": npy(array.astype(str)),
            "dates": npy(np.zeros(array.shape, "M8[s]")),
            "records": npy(np.zeros(array.shape, [("a", "f8")])),
            "huge": claiming((10**12, *array.shape[1:]), data),
            "huge and empty": claiming((4 * 10**6, 0)),
            "empty and huge": claiming((0, 4 * 10**6)),
            "overflowing": claiming((2**62, 2**62), data),
            "overflowing and empty": claiming((0, 2**62, 2**62)),
            "negative": claiming((-1, *array.shape[1:]), data),
            "twice negative": claiming((-array.shape[0], -1, *array.shape[1:]), data),
            "fractional": claiming((float(array.shape[0]), *array.shape[1:]), data),
            "shape in text": claiming("7", data),
            "no shape": npy_text("{'descr': '<f8', 'fortran_order': False}", data),
            "a key more": npy_text("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}", data),
            "short of a byte": claiming(array.shape, data[:-1]),
            "a byte more": claiming(array.shape, data + b"\0"),
            "wide text": claiming((1,), b"", "<U1000000000"),
            "unknown type": claiming(array.shape, data, "<f7"),
            "type of types": claiming(array.shape, data, ["<f8"]),
            "nested header": npy_text("(" * 5000),
            "open header": npy_text("{'descr': '<f8', 'fortran_order': False, 'shape': (1,"),
            "open text": npy_text("{'descr': '''"),
            "crooked header": npy_text("if 1:\n  1\n 1"),
            "not a header": npy_text("\\\n\0"),
            "long header": npy_text(" " * 60000),
            "not an array": b"\x93NUMPX" + bytes(200),
            "unknown version": npy_text("", data, (9, 0)),
            "only magic": b"\x93NUMPY\x01\x00",
            "empty": b"",
        }.items():
            yield f"{name}: {words}", {**contents, name: member}
        if array.ndim > 1 and min(array.shape) > 1:
            yield f"{name}: Fortran order", {**contents, name: npy(np.asfortranarray(array))}
        yield f"{name}: missing", {other: member for other, member in contents.items() if other != name}


@pytest.mark.parametrize("case", ARRAY_CASES)
def test_arrays_that_do_not_fit_are_refused(case: str, tmp_path: Path) -> None:
    """An array of another shape, size or type, or whose header lies, is refused before room is made."""
    saved(tmp_path / "model.tt", case)
    for words, contents in hostile_arrays(members(tmp_path / "model.tt")):
        refuse(pack(tmp_path / "bad.tt", contents), case=words)


@pytest.mark.parametrize("case", ARRAY_CASES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_no_learner_leaves_are_refused(case: str, value: float, tmp_path: Path) -> None:
    """Values that are not finite are refused in every array."""
    saved(tmp_path / "model.tt", case)
    contents = members(tmp_path / "model.tt")
    for name in set(contents) - {"header.json"}:
        array = np.load(io.BytesIO(contents[name]))
        for place in {0, array.size // 2, array.size - 1}:
            array_ = array.copy()
            array_.ravel()[place] = value
            refuse(pack(tmp_path / "bad.tt", {**contents, name: npy(array_)}))


@pytest.mark.parametrize("value", [0.0, 1.0, 2.0, 2.5, 4.0, 1e9, -3.0, 1e300])
def test_the_number_of_classes_in_memory_is_held_against_the_header(value: float, tmp_path: Path) -> None:
    """Loops go by the number of classes in the memory of a state: any but the true one leads them astray."""
    saved(tmp_path / "model.tt", "pa1, text labels")
    contents = members(tmp_path / "model.tt")
    memory = np.load(io.BytesIO(contents["memory.npy"]))
    assert memory[0] == 3.0
    memory[0] = value
    refuse(pack(tmp_path / "bad.tt", {**contents, "memory.npy": npy(memory)}))


def test_members_that_do_not_belong_are_refused(tmp_path: Path) -> None:
    """Members too many, twice, by another name or outside the folder are refused, announced or not."""
    saved(tmp_path / "model.tt")
    contents = members(tmp_path / "model.tt")
    header = json.loads(contents["header.json"])
    folder = tmp_path / "in" / "it"
    folder.mkdir(parents=True)
    for name in (
        "../x",
        "../../x",
        str(tmp_path / "x"),
        "x",
        "table/../x",
        "..\\x",
        "C:x",
        "",
        "header.json",
        "naïve",
    ):
        extra = {f"{name}.npy": npy(np.zeros(1))}
        announced = {**header, "arrays": {**header["arrays"], name: [1]}}
        refuse(pack(folder / "bad.tt", {**contents, **extra}))
        refuse(pack(folder / "bad.tt", {**contents, "header.json": json.dumps(announced).encode(), **extra}))
    for name in ("x.txt", "folder/", "../x.npy", "/etc/passwd", "header.json.npy"):
        refuse(pack(folder / "bad.tt", {**contents, name: b""}))
    renamed = {
        **header,
        "arrays": {"../table": header["arrays"]["table"], "memory": header["arrays"]["memory"]},
    }
    moved = {"header.json": json.dumps(renamed).encode(), "../table.npy": contents["table.npy"]}
    refuse(pack(folder / "bad.tt", {**moved, "memory.npy": contents["memory.npy"]}))
    for name in contents:
        refuse(pack(folder / "bad.tt", {other: data for other, data in contents.items() if other != name}))
        with (
            zipfile.ZipFile(pack(folder / "bad.tt", contents), "a") as archive,
            pytest.warns(UserWarning, match="Dup"),
        ):
            archive.writestr(name, contents[name])
        refuse(folder / "bad.tt")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["bad.tt", "in", "it", "model.tt"]


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressed_bombs_are_refused(compression: int, tmp_path: Path) -> None:
    """Compressed members are refused before they are unpacked, however large they would become."""
    saved(tmp_path / "model.tt")
    contents = members(tmp_path / "model.tt")
    refuse(pack(tmp_path / "small.tt", contents, compression))
    for name in contents:
        path = pack(tmp_path / "bomb.tt", {**contents, name: bytes(8 * MEGABYTE)}, compression)
        assert path.stat().st_size < MEGABYTE
        refuse(path)


@pytest.mark.parametrize("claimed", [10 * MEGABYTE, 1 << 31, (1 << 32) - 2])
@pytest.mark.parametrize("fields", [("<I", 20), ("<I", 24), ("<II", 20)])
def test_members_that_claim_to_be_large_are_refused(
    fields: tuple[str, int], claimed: int, tmp_path: Path
) -> None:
    """A size in the zip's directory that the file does not have is refused without room being made for it."""
    saved(tmp_path / "model.tt")
    contents = members(tmp_path / "model.tt")
    whole = pack(tmp_path / "bad.tt", contents).read_bytes()
    form, offset = fields
    for position in [match.start() for match in re.finditer(b"PK\x01\x02", whole)]:
        data = bytearray(whole)
        struct.pack_into(form, data, position + offset, *[claimed] * (len(form) - 1))
        (tmp_path / "bad.tt").write_bytes(data)
        refuse(tmp_path / "bad.tt")


def test_members_that_overlap_are_refused(tmp_path: Path) -> None:
    """Directory entries that share the bytes of one member are refused."""
    saved(tmp_path / "model.tt")
    data = bytearray(pack(tmp_path / "bad.tt", members(tmp_path / "model.tt")).read_bytes())
    entries = [match.start() for match in re.finditer(b"PK\x01\x02", data)]
    data[entries[2] + 42 : entries[2] + 46] = data[entries[1] + 42 : entries[1] + 46]
    (tmp_path / "bad.tt").write_bytes(data)
    refuse(tmp_path / "bad.tt")


def edited(contents: dict[str, bytes], *path: Any, value: Any) -> dict[str, bytes]:
    """The members with one place of the header changed."""
    header = json.loads(contents["header.json"])
    part = header
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return {**contents, "header.json": json.dumps(header).encode()}


def in_words(value: Any) -> Any:
    """A dict as the header holds it."""
    return {"dict": [[key, item] for key, item in value.items()]}


def test_headers_that_lie_are_refused(tmp_path: Path) -> None:
    """Versions of the future, unknown classes, and keys that are missing, wrong or too many are refused."""
    saved(tmp_path / "model.tt")
    contents = members(tmp_path / "model.tt")
    header = json.loads(contents["header.json"])
    for key in set(header) - {"library"}:
        without = {name: value for name, value in header.items() if name != key}
        refuse(pack(tmp_path / "bad.tt", {**contents, "header.json": json.dumps(without).encode()}))
        for value in (None, [], {}, "x", 1.5, [[]], {"dict": 3}, {"dict": [1]}, {"dict": [[[], 1]]}, True):
            refuse(pack(tmp_path / "bad.tt", edited(contents, key, value=value)))
    for version in (0, -1, 2, 99, 10**30, 1.0, "1", None, True):
        refuse(pack(tmp_path / "bad.tt", edited(contents, "format", value=version)))
    for name in (
        "PARegressor",
        "os.system",
        "builtins.exec",
        "OnlineClassifier",
        "paclassifier",
        "",
        "LinearState",
    ):
        refuse(pack(tmp_path / "bad.tt", edited(contents, "class", value=name)))
    with pytest.raises(tt.ModelFileError, match=r"format 2.*update tauten"):
        tt.load(pack(tmp_path / "bad.tt", edited(contents, "format", value=2)))
    with pytest.raises(tt.ModelFileError, match=r"'Nowhere'.*does not know"):
        tt.load(pack(tmp_path / "bad.tt", edited(contents, "class", value="Nowhere")))


BROKEN_HEADERS = {
    "empty": b"",
    "not JSON": b"{'format': 1}",
    "cut": b'{"format": 1, "class": "PAClassifier"',
    "two values": b'{"format": 1} {"format": 1}',
    "no dict": b"[1]",
    "a number": b"1",
    "not UTF-8": b'{"format": 1, "class": "\xff\xfe"}',
    "nested lists": b'{"format": 1, "class": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "nested dicts": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "nested and open": b"[" * 500_000,
    "a long number": b'{"format": ' + b"9" * 100_000 + b"}",
}


@pytest.mark.parametrize("kind", BROKEN_HEADERS)
def test_broken_headers_are_refused(kind: str, tmp_path: Path) -> None:
    """A header that is no JSON, or nested without end, is refused."""
    saved(tmp_path / "model.tt")
    contents = members(tmp_path / "model.tt")
    refuse(pack(tmp_path / "bad.tt", {**contents, "header.json": BROKEN_HEADERS[kind]}))


@pytest.mark.parametrize("case", [f"{name}, averaged" for name in LEARNERS])
def test_wrong_parameters_are_refused(case: str, tmp_path: Path) -> None:
    """A parameter that is unknown or has a value that is not allowed is refused, by its name."""
    saved(tmp_path / "model.tt", case)
    contents = members(tmp_path / "model.tt")
    parameters = dict(json.loads(contents["header.json"])["parameters"]["dict"])
    wrong = {
        "C": [0, -1, "1", None, float("nan"), float("inf"), True, {"list": []}],
        "variant": ["III", None],
        "average": ["yes", 0, None],
        "epochs": [0, 1.5],
        "gamma": [0, "1"],
        "window": [-1, 1.5, 4 * 10**6, 10**9, 10**30],
        "window_weights": [{"list": ["x"]}, "abc"],
        "hash_bits": [0, 32, 31, 1],
        "classes": ["ab", 3],
        "class_weight": ["even", in_words({"0": -1.0}), {"dict": [[{"list": []}, 1.0]]}],
        "random_state": [-1, "x"],
        "epsilon": [-1],
        "rho": [0, "even"],
    }
    for name in wrong.keys() & parameters.keys():
        for value in wrong[name]:
            changed = edited(contents, "parameters", value=in_words({**parameters, name: value}))
            refuse(pack(tmp_path / "bad.tt", changed), case=(name, value))
    for name in ("c", "__class__", "state_", "self", "", "save"):
        changed = edited(contents, "parameters", value=in_words({**parameters, name: 1}))
        refuse(pack(tmp_path / "bad.tt", changed), case=name)


def learned_lies(learned: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each learned value of a dict-trained classifier in turn, as what it must not be."""
    columns = dict(learned["_feature_index"]["dict"])
    first, second, *_ = columns

    def array(dtype: str, values: Any) -> Any:
        return {"array": dtype, "values": values, "shape": list(np.shape(values))}

    yield from (
        ("n_features_in_", value) for value in (0, -1, len(columns) + 1, float(len(columns)), None, "7")
    )
    for index in (
        {**columns, first: columns[second]},
        {**columns, first: len(columns)},
        {**columns, first: -1},
        {**columns, first: float(columns[first])},
        {**columns, first: str(columns[first])},
        {name: column for name, column in columns.items() if name != first},
        {name: None for name in columns},
    ):
        yield "_feature_index", in_words(index)
    for name in (1, None, 1.5, {"list": ["a"]}, {"tuple": ["a"]}):
        yield "_feature_index", {"dict": [[name, columns[first]], *list(columns.items())[1:]]}
    yield from (("_feature_index", value) for value in (None, 3, {"list": []}, "abc"))
    for classes in (
        [True, False],
        [False, False],
        [False],
        [False, True, 2],
        [[False, True]],
        [None, True],
        [],
    ):
        yield "classes_", array("object", classes)
    for dtype, values in (("bool", [[False, True]]), ("float64", [0.0, float("nan")]), ("M8[s]", [0, 1])):
        yield "classes_", array(dtype, values)
    for dtype in (
        "O,O",
        "V8",
        "nonsense",
        "m8",
        "<U4000000",
        "S4000000",
        "U9999999999",
        [["a", "O"]],
        3,
        None,
    ):
        yield "classes_", {"array": dtype, "values": ["a", "b"], "shape": [2]}
    for shape in ([2, 1], [3], [10**30], "2", [2, 4 * 10**6]):
        yield "classes_", {"array": "bool", "values": [False, True], "shape": shape}
    yield from (("classes_", value) for value in ({"list": [False, True]}, {"tuple": [0, 1]}, "ab", None))
    for counts in ([1], [1, 2, 3], [-1, 2], [[1, 2]], [1.5, 2.5], ["a", "b"]):
        yield "class_count_", array("int64", counts)
    yield from (("class_count_", array(dtype, [1, 2])) for dtype in ("float64", "<U1", "object", "bool"))
    yield from (("class_count_", value) for value in ({"list": [1, 2]}, "ab", None, 3))
    yield from ((name, 1) for name in ("state_", "_plan", "__class__", "C", "coef_", "save"))


def test_learned_values_that_lie_are_refused(tmp_path: Path) -> None:
    """Names, classes, counts and widths that do not fit together or are of another type are refused."""
    saved(tmp_path / "model.tt", "pa1, dicts")
    contents = members(tmp_path / "model.tt")
    learned = dict(json.loads(contents["header.json"])["learned"]["dict"])
    for name in set(learned):
        left = in_words({other: value for other, value in learned.items() if other != name})
        if name != "_feature_index":
            refuse(pack(tmp_path / "bad.tt", edited(contents, "learned", value=left)))
    for name, value in learned_lies(learned):
        changed = edited(contents, "learned", value=in_words({**learned, name: value}))
        refuse(pack(tmp_path / "bad.tt", changed), case=(name, value))


@pytest.mark.parametrize(
    "case", ["pa1, text labels", "pamean1, averaged", "pameanw1, weighted", "pa2-reg, dicts"]
)
def test_states_that_lie_are_refused(case: str, tmp_path: Path) -> None:
    """What shapes a state must be what its arrays and the parameters say, and counts must be counts."""
    saved(tmp_path / "model.tt", case)
    contents = members(tmp_path / "model.tt")
    state = json.loads(contents["header.json"])["state"]
    for name, value in state.items():
        without = {other: item for other, item in state.items() if other != name}
        refuse(pack(tmp_path / "bad.tt", edited(contents, "state", value=without)))
        lies = [None, "x", -1, 1.5, float(value) + 0.5, float("nan"), [], {}]
        if isinstance(value, bool):
            lies += [not value]
        elif not name.startswith("n_") or name in ("n_features", "n_classes"):
            lies += [value + 1, value - 1, 4 * 10**6, 10**12, 10**30]
        for lie in lies:
            refuse(pack(tmp_path / "bad.tt", edited(contents, "state", name, value=lie)), case=(name, lie))


WRONG: list[Any] = [None, True, -1, 1, 0.5, float("nan"), 10**30, "O", [], {}]


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a JSON value, its leaves and its branches."""
    if path:
        yield path
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


@pytest.mark.parametrize(
    "case", ["pa1, text labels", "pameanw1, weighted", "cpa, costs", "pa1, hashed", "pa2-reg, dicts"]
)
def test_a_changed_header_is_refused_or_makes_a_model_that_works(case: str, tmp_path: Path) -> None:
    """Any value anywhere in the header gives a ModelFileError, or a model that predicts, learns and saves."""
    saved(tmp_path / "model.tt", case)
    contents = members(tmp_path / "model.tt")
    for place in places(json.loads(contents["header.json"])):
        for value in WRONG:
            path = pack(tmp_path / "bad.tt", edited(contents, *place, value=value))
            try:
                model = tt.load(path)
            except tt.ModelFileError:
                continue
            try:
                named = model.hash_bits is not None or hasattr(model, "feature_names_in_")
                x = {"wörd 0": 1.0, "new": 2.0} if named else np.ones(model.n_features_in_)
                answer = model.predict_one(x)
                assert model.predict([x]).shape == (1,)
                with suppress(ValueError):  # classes= may now be of another kind than the labels
                    model.learn_one(x, answer)
                model.save(tmp_path / "again.tt")
                assert everything(tt.load(tmp_path / "again.tt")) == everything(model)
            except BaseException as error:
                error.add_note(f"{place} = {value!r}")
                raise
