"""The model file: one zip of a JSON header and plain .npy members, without pickle and without compression.

Nothing in a file is run. Every size is checked against the bytes that are there before anything is allocated,
and zip's checksums catch what was altered on the way.
"""

import errno
import io
import json
import math
import os
import struct
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
HEADER = "header.json"
NUMBER = "<f8"  # the one type of number in members
TEXTS = ("U", "O")  # the types that arrays in the header may have: text, as long as it is, and
PLAIN = (
    *TEXTS,
    "bool",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
)


class ModelFileError(ValueError):
    """A file that is no model file of a version known here."""


def write(path: str | PathLike[str], header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file that is either whole or not there: to a temporary one beside it, synced, then renamed."""
    from tauten import __version__

    target = Path(fspath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such folder to save in", str(target.parent))
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    text = json.dumps({"format": FORMAT, "library": __version__, **header, "arrays": shapes}, indent=1)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(HEADER, text)
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, np.ascontiguousarray(array, dtype=NUMBER))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)  # Ctrl-C may come just after the renaming
        raise
    _sync_folder(target.parent)


def read(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and arrays of a file; raises ModelFileError where it can't be trusted."""
    with readable(path), zipfile.ZipFile(path) as archive:
        header = json.loads(_member(archive, HEADER))
        if not isinstance(header, dict) or type(header.get("format")) is not int or header["format"] < 1:
            raise ValueError("its header names no format")
        if header["format"] > FORMAT:
            raise ValueError(
                f"it has format {header['format']}, this library reads up to {FORMAT}; update tauten"
            )
        names = [f"{name}.npy" for name in header["arrays"]]
        if sorted(archive.namelist()) != sorted([HEADER, *names]):
            raise ValueError(f"it holds {sorted(archive.namelist())}, its header names {sorted(names)}")
        arrays = {
            name: _array(_member(archive, f"{name}.npy"), shape) for name, shape in header["arrays"].items()
        }
        return header, arrays


@contextmanager
def readable(path: str | PathLike[str]) -> Iterator[None]:
    """Turn whatever a damaged or hostile file sets off into one clear error."""
    try:
        yield
    except (FileNotFoundError, IsADirectoryError, PermissionError, ModelFileError):
        raise
    except (
        zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError, IndexError, OSError, EOFError,
        struct.error, NotImplementedError, RuntimeError, RecursionError, MemoryError, OverflowError,
        SyntaxError,
    ) as error:  # fmt: skip
        raise ModelFileError(f"{fspath(path)} is not a whole tauten model file: {_reason(error)}.") from error


def _reason(error: BaseException) -> str:
    """An error in some words, without a full stop."""
    if isinstance(error, KeyError):
        return f"it has no entry {error}"
    words = str(error).splitlines()[0].rstrip(" .:") if str(error) else ""
    return words if len(words.split()) > 2 else f"it cannot be read, {type(error).__name__} {words}".rstrip()


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise ValueError(f"{name} is compressed")
    if info.file_size > archive.start_dir:  # the bytes that come before zip's own directory
        raise ValueError(f"{name} is said to be larger than the file")
    return archive.read(info)


def _npy_header(shape: tuple[int, ...]) -> bytes:
    """What stands before the numbers of a .npy file."""
    stream = io.BytesIO()
    described = {"descr": NUMBER, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, described)
    return stream.getvalue()


def _array(data: bytes, shape: list[int]) -> NDArray[np.float64]:
    """An array of the shape that the header names, if these are its bytes."""
    if not all(type(size) is int and 0 <= size < 1 << 48 for size in shape):
        raise ValueError(f"an array has the shape {shape}")
    head = _npy_header(tuple(shape))
    if not data.startswith(head) or len(data) - len(head) != math.prod(shape) * np.dtype(NUMBER).itemsize:
        raise ValueError(f"an array is not the {shape} numbers of type {NUMBER} that its header says")
    return np.frombuffer(data, NUMBER, offset=len(head)).reshape(shape).astype(np.float64)


def encode(value: Any) -> Any:
    """A value as JSON can hold it: plain values as they are, dicts, tuples and arrays under a mark."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return encode(np.asarray(value))
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O" and not all(isinstance(item, str) for item in value):
            raise ValueError(f"An array of {value.dtype} cannot be saved; expected numbers or text.")
        name = value.dtype.kind if value.dtype.kind in TEXTS else str(value.dtype)
        if name not in PLAIN:
            raise ValueError(f"An array of type {name} cannot be saved; expected plain numbers or text.")
        return {"array": name, "values": value.ravel().tolist(), "shape": list(value.shape)}
    if isinstance(value, list | tuple):
        return {"list" if isinstance(value, list) else "tuple": [encode(item) for item in value]}
    if isinstance(value, Mapping):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    raise ValueError(f"{value!r} cannot be saved without pickle; expected numbers, text, lists or dicts.")


def decode(value: Any) -> Any:
    """The value that `encode` was given."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        name, values = value["array"], value["values"]
        if name not in PLAIN or (name in TEXTS and not all(type(text) is str for text in values)):
            raise ValueError(f"an array has the type {name!r}")
        array = np.array(values, dtype=name)
        if array.tolist() != values:
            raise ValueError(f"an array holds values that are not of its type, {name}")
        array = array.reshape(value["shape"])
        return array if array.ndim else array[()]
    for kind, make in (("list", list), ("tuple", tuple)):
        if kind in value:
            return make(decode(item) for item in value[kind])
    return {decode(key): decode(item) for key, item in value["dict"]}


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make the rename last through a power cut, where the system lets folders be synced."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
