"""Parquet: columns of numbers, and texts as categories or words. Needs pyarrow."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tauten.io.errors import ReadError, shown
from tauten.io.lines import UNPACKERS
from tauten.io.source import Batch, Faults, Options, Position, RowLimit
from tauten.io.tables import Cells, Columns, Part, arrange
from tauten.labels import LARGEST_EXACT

if TYPE_CHECKING:
    import pyarrow as pa


class Reader:
    """Rows of a Parquet file."""

    def __init__(self, path: str, options: Options, faults: Faults) -> None:
        if path == "-" or path.endswith(tuple(UNPACKERS)):
            raise ValueError("Parquet is read from the end on; expected a file that is not packed otherwise.")
        try:
            import pyarrow.parquet
        except ImportError as error:
            raise ImportError(
                "Parquet files need pyarrow; install it with: pip install 'tauten[parquet]'."
            ) from error
        self.path, self.options, self.faults = path, options, faults
        self.missing = frozenset(options.missing_values)
        self.arrow = pyarrow

    def read(self, position: Position, rows: RowLimit) -> Iterator[Batch]:
        """The batches from a position on."""
        with open(self.path, "rb") as file:
            try:
                table = self.arrow.parquet.ParquetFile(file)
                columns = self._columns(table.schema_arrow)
                yield from self._read(file, table, columns, position, rows)
            except (self.arrow.ArrowException, OSError, UnicodeDecodeError) as error:
                reason = str(error).splitlines()[0].rstrip(".")
                raise ReadError(self.path, None, f"is no whole Parquet file ({reason})") from error

    def _columns(self, schema: "pa.Schema") -> Columns:
        """What the columns are, by their types unless the options say otherwise."""
        columns = arrange(schema.names, self.options, self.path)
        types = self.arrow.types
        kinds = {}
        for place, name in enumerate(columns.names):
            kind = schema.field(place).type
            kind = kind.value_type if types.is_dictionary(kind) else kind
            text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
            number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
            used = place in (
                columns.label,
                *columns.numeric,
                *columns.nominal,
                *columns.text,
                *columns.unsettled,
            )
            if used and not (text or number):
                reason = f"column {shown(name)} holds {kind}; expected numbers or text (or give it to ignore)"
                raise ReadError(self.path, None, reason)
            if (place in columns.numeric and text) or (place in columns.text and number):
                raise ReadError(self.path, None, f"column {shown(name)} holds {kind}, and not what was said")
            kinds[place] = "nominal" if text else "numeric"
        columns = columns.settled(kinds, self.options)
        if not (columns.numeric or columns.nominal or columns.text):
            raise ReadError(self.path, None, f"has no column of features among {', '.join(schema.names)}")
        return columns

    def _read(self, file: Any, table: Any, columns: Columns, at: Position, rows: RowLimit) -> Iterator[Batch]:
        """The batches, row group after row group."""
        first = 0  # of a row group
        for group in range(table.num_row_groups):
            n_rows = table.metadata.row_group(group).num_rows
            if first + n_rows > at.lines:
                begun = first
                for record in table.iter_batches(rows.most, row_groups=[group]):
                    done = max(at.lines - begun, 0)
                    begun += len(record)
                    while done < len(record):
                        rest = record.slice(done, rows.after(at.rows))
                        part = self._part(rest, columns, at)
                        if part.bad and not self.faults.skip:  # up to there is a place to go on from
                            rest = rest.slice(0, max(min(part.bad), 1))
                            part = self._part(rest, columns, at)
                        done += len(rest)
                        at = replace(at, lines=at.lines + len(rest))
                        if part.labels:
                            texts = any(isinstance(label, str) for label in part.labels)
                            at = replace(at, text_labels=texts or at.text_labels)
                        batch = part.batch(at, self.faults, self.options, file.tell())
                        at = batch.position
                        yield batch
            first += n_rows

    def _part(self, record: Any, columns: Columns, at: Position) -> Part:
        """Rows as cells and labels."""
        bad: dict[int, str] = {}
        labels = None if columns.label is None else self._labels(record.column(columns.label), bad)
        numbers = np.empty((len(record), len(columns.numeric)))
        for k, place in enumerate(columns.numeric):
            numbers[:, k] = self._numbers(record.column(place), columns.names[place], bad)
        texts = {
            place: self._texts(record.column(place), place in columns.text)
            for place in (*columns.nominal, *columns.text)
        }
        lines = list(range(at.lines + 1, at.lines + len(record) + 1))
        part = Part(Cells(columns, numbers, texts), labels, lines, bad)
        part.check_missing(self.options)
        return part

    def _labels(self, column: Any, bad: dict[int, str]) -> list[Any]:
        labels = column.to_pylist()
        for row, label in enumerate(labels):
            if label is None or (isinstance(label, str) and label in self.missing):
                bad[row] = "there is no label"
            elif isinstance(label, float) and not np.isfinite(label):
                bad[row] = f"label {label} is not finite"
            elif isinstance(label, int) and abs(label) > LARGEST_EXACT:
                bad[row] = f"label {label} has more digits than a float can hold"
        return labels

    def _numbers(self, column: Any, name: str, bad: dict[int, str]) -> NDArray[np.float64]:
        """A column of numbers, NaN where there is none; what is NaN or infinite itself is bad."""
        values = column.dictionary_decode() if hasattr(column, "dictionary_decode") else column
        valid = np.asarray(values.is_valid())
        numbers = (
            np.array([float(value or 0) for value in values.to_pylist()])
            if values.null_count
            else (values.to_numpy(zero_copy_only=False).astype(np.float64))
        )
        for row in np.flatnonzero(valid & ~np.isfinite(numbers)).tolist():
            bad.setdefault(row, f"{numbers[row]} in column {shown(name)} is not finite")
        return np.where(valid, np.where(np.isfinite(numbers), numbers, 0.0), np.nan)

    def _texts(self, column: Any, words: bool) -> list[str | None]:
        values = column.to_pylist()
        if words:
            return [value if value and not value.isspace() else None for value in values]
        texts = [value if value is None or isinstance(value, str) else format(value) for value in values]
        return [None if text in self.missing else text for text in texts]
