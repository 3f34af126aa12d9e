"""Known data sets: found where they lie, fetched whole and right or not at all."""

import bz2
import http.server
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from conftest import DATA

import tauten as tt
from tauten import io
from tauten.io import known

ROWS = b"1 1:0.5 3:2\n-1 2:1\n1 3:4\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data that is empty, and another cache than the user's."""
    monkeypatch.setenv(known.VARIABLE, str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of a small server of files in a folder."""
    (tmp_path / "served").mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(tmp_path / "served"))  # type: ignore[arg-type]

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_table_is_whole() -> None:
    """Each part has a checksum, each data set a home, a licence and options that its format knows."""
    for name, entry in known.table().items():
        assert entry.name == name and entry.home and entry.licence and entry.classes > 1
        for part in entry.parts.values():
            assert re.fullmatch("[0-9a-f]{64}", part.checksum) and part.rows > 0
            assert part.file.startswith(f"{part.name}.") and part.address.startswith(("https://", ""))
    assert known.table()["a9a"].part().name == "train"
    with pytest.raises(ValueError, match="There is no known data set 'a10a'; expected one of svmguide1, "):
        known.path("a10a")
    with pytest.raises(ValueError, match="crx has no part 'test'; expected data"):
        known.path("crx", "test")


@pytest.mark.parametrize("name", ["svmguide3", "crx", "reuters_r8", "sector"])
def test_data_that_lies_here_is_what_it_should_be(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder that TAUTEN_DATA names is looked into, and its rows have the checksums of the table."""
    if not (DATA / name).is_dir():
        pytest.skip(f"needs the public data set {name}: set TAUTEN_DATA to the folder that holds it")
    monkeypatch.setenv(known.VARIABLE, str(DATA))
    for part in known.table()[name].parts.values():
        assert known.path(name, part.name).parent == DATA / name
        assert known.check(name, part.name)
        assert sum(len(batch) for batch in known.open(name, part.name)) == part.rows


def test_the_bundled_stream_is_always_there(folder: Path) -> None:
    """The text messages that come with the package need no folder, and are whole."""
    assert known.check("sms_spam") and known.fetch("sms_spam")["data"] == known.path("sms_spam")


def test_without_a_network_errors_say_what_to_put_where(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is not there, and cannot be had, is named with its address and its place."""
    place = re.escape(str(folder / "a9a" / "train.svm"))
    with pytest.raises(
        FileNotFoundError, match=rf"run `tauten data fetch a9a`, or put https://\S+/a9a at {place}"
    ):
        known.path("a9a")
    with pytest.raises(FileNotFoundError, match=r"put its 690 rows \(CSV, with a header, the label last"):
        known.fetch("crx")
    no_server = replace(known.table()["a9a"].part(), address="http://127.0.0.1:9/a9a")
    table = {"a9a": replace(known.table()["a9a"], parts={"train": no_server})}
    monkeypatch.setattr(known, "table", lambda: table)
    with pytest.raises(
        ConnectionError, match=rf"a9a could not be fetched \(.*\); put \S+ at {place}, as it is or"
    ):
        known.fetch("a9a")
    assert list((folder / "a9a").iterdir()) == []
    monkeypatch.delenv(known.VARIABLE)
    with pytest.raises(FileNotFoundError, match=r"TAUTEN_DATA may name another folder than .*cache/tauten"):
        known.path("a9a")


def test_what_is_fetched_is_checked_and_kept(
    folder: Path, served: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file comes packed or not, is kept if its rows are right, and is not fetched again."""
    (tmp_path / "served" / "rows").write_bytes(ROWS.replace(b"\n", b" \r\n"))
    (tmp_path / "served" / "rows.bz2").write_bytes(bz2.compress(ROWS))
    (tmp_path / "served" / "other").write_bytes(ROWS.replace(b"4", b"5"))
    (tmp_path / "rows.svm").write_bytes(ROWS)
    right = known.checksum(io.open(tmp_path / "rows.svm"))
    assert right == known.checksum(io.open(tmp_path / "rows.svm", n_features=9))
    entry = known.table()["a9a"]
    parts = {
        name: known.Part(name, f"{name}.svm", 3, right, f"{served}/{file}")
        for name, file in (("train", "rows"), ("test", "rows.bz2"))
    }
    monkeypatch.setattr(known, "table", lambda: MappingProxyType({"a9a": replace(entry, parts=parts)}))
    heard: list[tuple[int, int | None]] = []
    found = known.fetch("a9a", lambda done, of: heard.append((done, of)))
    assert heard[0] == (len(ROWS) + 6, len(ROWS) + 6) and len(heard) == 2
    for name in parts:
        assert found[name] == folder / "a9a" / f"{name}.svm.gz"
        assert known.open("a9a", name).load()[0].toarray().tolist() == [[0.5, 0, 2], [0, 1, 0], [0, 0, 4]]
    assert known.fetch("a9a", lambda done, of: heard.append((done, of))) == found and len(heard) == 2
    wrong = {"data": replace(parts["train"], name="data", file="data.svm", address=f"{served}/other")}
    monkeypatch.setattr(known, "table", lambda: {"a9a": replace(entry, parts=wrong)})
    with pytest.raises(tt.ReadError, match=r"/other: holds other rows than a9a is known to \(checksum"):
        known.fetch("a9a")
    assert sorted(path.name for path in (folder / "a9a").iterdir()) == ["test.svm.gz", "train.svm.gz"]
