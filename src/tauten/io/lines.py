"""Bytes of a text file, plain, compressed or from standard input, in blocks of whole lines."""

import bz2
import gzip
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tauten.io.errors import ReadError

BLOCK = 1 << 21  # bytes that are read at a time
LONGEST_LINE = 1 << 26
BOM = b"\xef\xbb\xbf"
WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)
UNPACKERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
)


class Window:
    """What has been read of a file and not been used: `data[start:stop]`, whole lines that begin at `offset`
    of the text.
    """

    def __init__(self, path: str, name: str | None = None) -> None:
        """`path` may be "-", standard input; `name` is what errors call it."""
        self.path = path if name is None else name
        self._raw, self._own = _open(path)
        unpack = UNPACKERS.get(os.path.splitext(path)[1])
        self._packed = unpack is not None
        self._stream: Any = unpack(self._raw) if unpack is not None else self._raw
        self._buffer: NDArray[np.uint8] = np.empty(2 * BLOCK, dtype=np.uint8)
        self.start = self.stop = self._filled = 0
        self.offset = 0
        self.ended = self.too_long = False

    @property
    def data(self) -> NDArray[np.uint8]:
        return self._buffer

    @property
    def n_read(self) -> int:
        """Bytes of the file, as it lies on the disk, read so far."""
        return self._raw.tell() if self._packed else self.offset + self._filled - self.start

    def used(self, position: int) -> None:
        """The data up to a position has been used."""
        self.offset += position - self.start
        self.start = position

    def text(self, start: int, stop: int) -> bytes:
        return self._buffer[start:stop].tobytes()

    def end_of_line(self, position: int) -> int:
        """Where the line after that of a position begins."""
        while True:
            ends = np.flatnonzero(self._buffer[position : min(position + 4096, self.stop)] == ord("\n"))
            if len(ends):
                return position + int(ends[0]) + 1
            position += 4096

    def more(self) -> bool:
        """Read on until there is another whole line, or a line is `too_long`; False where there is none."""
        if self.ended:
            return False
        new = False
        while not (new or self.ended or self.too_long):
            self._make_room()
            first = self._filled
            self._filled += self._read_into(self._buffer.data[first:-2])
            if self._filled == first:
                self._end()
            newline = _last_newline(self._buffer[first : self._filled])
            if newline >= 0:
                self.stop, new = first + newline + 1, True
        return self.stop > self.start or self.too_long

    def _make_room(self) -> None:
        """Move what was not used to the front, into a buffer twice as large where it fills half of this."""
        rest = self._buffer[self.start : self._filled]
        grown = 2 * len(rest) > len(self._buffer)
        buffer = np.empty(2 * len(self._buffer), dtype=np.uint8) if grown else self._buffer
        buffer[: len(rest)] = rest
        self._buffer, self._filled = buffer, len(rest)
        self.start, self.stop = 0, self.stop - self.start
        self.too_long = len(rest) > LONGEST_LINE

    def drop_line(self) -> None:
        """Leave out a line that is too long."""
        ends = np.flatnonzero(self._buffer[self.start : self._filled] == ord("\n"))
        while not len(ends) and not self.ended:
            self.used(self._filled)
            self.start = self.stop = 0
            self._filled = self._read_into(self._buffer.data[:-2])
            self.ended = self._filled == 0
            ends = np.flatnonzero(self._buffer[: self._filled] == ord("\n"))
        if len(ends):
            self.stop = self.start + int(ends[-1]) + 1
            self.used(self.start + int(ends[0]) + 1)
        self.too_long = False

    def _end(self) -> None:
        """Note the end of the file, and end its last line."""
        self.ended = True
        if self._filled > self.start and self._buffer[self._filled - 1] != ord("\n"):
            self._buffer[self._filled] = ord("\n")
            self._filled += 1

    def _read_into(self, room: memoryview) -> int:
        try:
            return int(self._stream.readinto(room[:BLOCK]) or 0)
        except DAMAGE as error:
            what = "compressed data are damaged or cut off" if self._packed else "cannot be read"
            raise ReadError(self.path, None, f"{what} ({str(error).rstrip('.')})") from error

    def go_to(self, offset: int) -> None:
        """Go on to a place in the text; a file that is shorter has changed."""
        if not self._packed and self._own and self._raw.seekable():
            self._check_length(offset, os.fstat(self._raw.fileno()).st_size)
            self._raw.seek(offset)
            self.start = self.stop = self._filled = 0
            self.offset, self.ended = offset, False
        while offset > self.offset + self._filled - self.start:
            self.used(self._filled)
            self._filled = self.start = self.stop = 0
            self._filled = self._read_into(self._buffer.data[:-2])
            if self._filled == 0:
                self._check_length(offset, self.offset)
        self.used(self.start + offset - self.offset)
        self.stop = max(self.start, _last_newline(self._buffer[: self._filled]) + 1)

    def _check_length(self, offset: int, length: int) -> None:
        if length < offset:
            reason = f"ends at byte {length}, but was read up to byte {offset} before; it has changed"
            raise ReadError(self.path, None, reason)

    def pass_mark(self) -> None:
        """Leave out the mark of UTF-8 that a file may begin with; refuse UTF-16."""
        head = self.text(self.start, min(self.start + 3, self.stop))
        if head.startswith(WIDE_BOMS):
            raise ReadError(self.path, None, "is in UTF-16; expected UTF-8")
        if head == BOM:
            self.used(self.start + 3)

    def close(self) -> None:
        if self._stream is not self._raw:
            self._stream.close()
        if self._own:
            self._raw.close()


def _open(path: str) -> tuple[Any, bool]:
    """The bytes of a file as they lie there, and whether they are ours to close."""
    if path == "-":
        stream: Any = sys.stdin.buffer
        return _AsTheyCome(getattr(stream, "raw", stream)), False  # a thread that waits locks a buffer
    return open(path, "rb", buffering=0), True


class _AsTheyCome:
    """Standard input, without waiting for more than there is."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._passed = stream, 0

    def readinto(self, room: memoryview) -> int:
        n_new = int(self._stream.readinto(room) or 0)
        self._passed += n_new
        return n_new

    def tell(self) -> int:
        return self._passed

    def seekable(self) -> bool:
        return False


def _last_newline(data: NDArray[np.uint8]) -> int:
    for end in range(len(data), 0, -4096):
        found = np.flatnonzero(data[max(end - 4096, 0) : end] == ord("\n"))
        if len(found):
            return max(end - 4096, 0) + int(found[-1])
    return -1


def too_long() -> str:
    """What is wrong with a line that is too long."""
    return f"the line is longer than {LONGEST_LINE} bytes"


def size_of(path: str) -> int | None:
    """Bytes of a file; None where that is not known beforehand."""
    if path == "-":
        return None
    status = os.stat(path)
    return status.st_size if stat.S_ISREG(status.st_mode) else None
