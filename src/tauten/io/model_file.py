"""The model file: one zip of a JSON header and plain .npy members, without pickle and without compression.

Nothing in a file is run. Every size is checked against the bytes that are there before anything is allocated,
and zip's checksums catch what was altered on the way.
"""

import io
import json
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
KINDS = "biufU"  # array kinds that hold plain values


class ModelFileError(ValueError):
    """A file that is no model file of a version known here."""


def write(path: str | PathLike[str], header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file that is either whole or not there: to a temporary one beside it, synced, then renamed."""
    from tauten import __version__

    target = Path(fspath(path))
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    text = json.dumps({"format": FORMAT, "library": __version__, **header, "arrays": shapes}, indent=1)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(HEADER, text)
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
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
        arrays = {name: _array(_member(archive, f"{name}.npy")) for name in header["arrays"]}
        shapes = {name: list(array.shape) for name, array in arrays.items()}
        if shapes != header["arrays"]:
            raise ValueError(f"it has arrays of shapes {shapes}, its header says {header['arrays']}")
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


def _array(data: bytes) -> NDArray[Any]:
    """An array whose header agrees with the bytes behind it."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array has an unknown version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in KINDS or dtype.hasobject or fortran:
        raise ValueError(f"an array has the type {dtype}")
    n_bytes = int(np.prod([int(size) for size in shape], dtype=object)) * dtype.itemsize
    if n_bytes != len(data) - stream.tell():
        raise ValueError(
            f"an array of shape {shape} has {len(data) - stream.tell()} bytes, expected {n_bytes}"
        )
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape).copy()


def encode(value: Any) -> Any:
    """A value as JSON can hold it: plain values as they are, dicts, tuples and arrays under a mark."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return {"array": str(value.dtype), "values": value.item(), "shape": []}
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O" and not all(isinstance(item, str) for item in value):
            raise ValueError(f"An array of {value.dtype} cannot be saved; expected numbers or text.")
        return {"array": str(value.dtype), "values": value.ravel().tolist(), "shape": list(value.shape)}
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
        dtype = np.dtype(value["array"])
        if dtype.kind not in KINDS + "O":
            raise ValueError(f"an array has the type {dtype}")
        array = np.array(value["values"], dtype=dtype).reshape(value["shape"])
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
