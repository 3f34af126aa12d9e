"""Loops over the bytes of text files: svmlight into CSR, delimited records into cells, cells into numbers.

The bytes of a block are whole lines and end with a line feed. A loop stops before the first line it cannot
read and says in `report` what is wrong and where; numbers that need Python's `float` are listed in `hard`.
"""

import numpy as np
from numba import njit, types

from tauten.kernels.numbers import BAD, EASY, HARD, more_digits, number
from tauten.kernels.pointers import COUNT, kernel

# Places in a report.
POSITION, ROWS, LINES, VALUES, WIDTH, N_HARD, FAULT, FAULT_START, FAULT_STOP = range(9)
REPORT = 9

# Faults, and HARD_FULL: no room for more hard numbers, which is no fault.
(
    NONE, HARD_FULL, NO_LABEL, NO_PAIR, INDEX_ZERO, INDEX_LARGE, NOT_ASCENDING, NOT_A_NUMBER, BAD_QID,
    UNCLOSED, AFTER_QUOTE, TOO_FEW, TOO_MANY,
) = range(13)  # fmt: skip

_BYTES = types.Array(types.uint8, 1, "C", readonly=True)
_COUNTS = types.int64[::1]
_PAIRS = types.int64[:, ::1]
SPACE, TAB, NEWLINE, RETURN, HASH, COLON = 32, 9, 10, 13, 35, 58


@njit
def _end_of_token(data, p):  # type: ignore[no-untyped-def]
    """The next white space."""
    while data[p] != SPACE and data[p] != TAB and data[p] != NEWLINE:
        p += 1
    return p


@njit
def _ends_here(data, p):  # type: ignore[no-untyped-def]
    """Whether a token is over: at white space, or where a comment begins."""
    c = data[p]
    return c in (SPACE, NEWLINE, TAB, HASH) or (c == RETURN and data[p + 1] == NEWLINE)


@kernel(
    COUNT(
        _BYTES, types.int64, types.int64, types.int64, types.int64, types.boolean, types.int64,
        types.float64[::1], types.int32[::1], types.int32[::1], types.float64[::1], _PAIRS, _COUNTS, _PAIRS,
        _COUNTS,
    )
)  # fmt: skip
def parse_svmlight(  # type: ignore[no-untyped-def]
    data, position, stop, base, limit, labelled, max_rows,
    values, indices, starts, labels, label_spans, lines, hard, report,
):  # fmt: skip
    """Rows `label index:value … # comment` into CSR. `base` is the first index there is, `limit` how many.

    A label that is no number is NaN, with its place in `label_spans`. `hard` gets slot, start and stop of a
    number each; slots of labels are negative, -1 - row.
    """
    n_rows = n_values = line = n_hard = width = 0
    fault = fault_start = fault_stop = 0
    starts[0] = 0
    p = position
    while p < stop and n_rows < max_rows:
        begin = p
        while data[p] == SPACE or data[p] == TAB:
            p += 1
        if data[p] == NEWLINE or data[p] == HASH or (data[p] == RETURN and data[p + 1] == NEWLINE):
            while data[p] != NEWLINE:
                p += 1
            p += 1
            position = p
            line += 1
            continue
        hard_before = n_hard
        filled = n_values
        token = p
        label, p, verdict = number(data, p)
        if labelled or data[p] != COLON:
            if verdict == BAD or not _ends_here(data, p):
                p = _end_of_token(data, token)
                label = np.nan
                if data[p] == NEWLINE and data[p - 1] == RETURN:
                    p -= 1
                if (data[token:p] == COLON).any() or (data[token:p] == HASH).any():
                    fault, fault_start, fault_stop = NO_LABEL, token, p
                    break
            elif verdict == HARD:
                if n_hard == len(hard):
                    fault = HARD_FULL
                    break
                hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = -1 - n_rows, token, p
                n_hard += 1
            labels[n_rows] = label
            label_spans[n_rows, 0], label_spans[n_rows, 1] = token, p
        else:
            p = token
        previous = np.int64(-1)
        while True:
            while data[p] == SPACE or data[p] == TAB:
                p += 1
            c = data[p]
            if c == NEWLINE:
                break
            if c == HASH or (c == RETURN and data[p + 1] == NEWLINE):
                while data[p] != NEWLINE:
                    p += 1
                break
            token = p
            whole, p = more_digits(data, p, np.uint64(0))
            index = np.int64(whole)
            if data[p] != COLON or p == token or p - token > 18:
                if data[p] == ord("q") and data[p + 1] == ord("i") and data[p + 2] == ord("d") and p == token:
                    p += 3
                    if data[p] == COLON:
                        value, p, verdict = number(data, p + 1)
                        if verdict == EASY and _ends_here(data, p):
                            continue
                    fault = BAD_QID
                elif data[p] == COLON and p - token > 18:
                    fault = INDEX_LARGE
                else:
                    fault = NO_PAIR
                fault_start, fault_stop = token, _end_of_token(data, token)
                break
            index -= base
            if not previous < index < limit:
                fault = INDEX_ZERO if index < 0 else INDEX_LARGE if index >= limit else NOT_ASCENDING
                fault_start, fault_stop = token, _end_of_token(data, p)
                break
            previous = index
            begin_value = p + 1
            value, p, verdict = number(data, p + 1)
            if verdict != EASY or not _ends_here(data, p):
                if verdict == BAD or not _ends_here(data, p):
                    fault, fault_start, fault_stop = NOT_A_NUMBER, token, _end_of_token(data, token)
                    break
                if n_hard == len(hard):
                    fault = HARD_FULL
                    break
                hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = filled, begin_value, p
                n_hard += 1
            values[np.uint64(filled)] = value
            indices[np.uint64(filled)] = index
            filled += 1
        if fault != NONE:
            p = begin
            n_hard = hard_before
            break
        width = max(width, previous + 1)
        lines[n_rows] = line
        n_values = filled
        n_rows += 1
        starts[n_rows] = n_values
        p += 1
        line += 1
        position = p
    report[POSITION], report[ROWS], report[LINES], report[VALUES] = position, n_rows, line, n_values
    report[WIDTH], report[N_HARD] = width, n_hard
    report[FAULT], report[FAULT_START], report[FAULT_STOP] = fault, fault_start, fault_stop
    return n_rows


@kernel(
    COUNT(
        _BYTES, types.int64, types.int64, types.uint8, types.int64, types.int64, types.int64, types.boolean,
        types.int64[:, :, ::1], _COUNTS, _COUNTS,
    )
)  # fmt: skip
def split_records(  # type: ignore[no-untyped-def]
    data, position, stop, delimiter, quote, n_columns, max_rows, ended, spans, lines, report
):  # fmt: skip
    """Records of delimited cells into the places of their cells: start, and stop, negative (-1 - stop) where
    the cell was quoted.

    Blanks around a cell that is not quoted are left out. `quote` is -1 where there is no quoting. A record
    that the block does not hold to its end is left for later, unless the file has `ended`.
    """
    n_rows = line = 0
    fault = fault_start = fault_stop = 0
    p = position
    while p < stop and n_rows < max_rows:
        begin, first_line = p, line
        if data[p] == NEWLINE or (data[p] == RETURN and data[p + 1] == NEWLINE):
            p += 1 if data[p] == NEWLINE else 2
            line += 1
            position = p
            continue
        column = 0
        whole = True
        while True:
            while data[p] == SPACE or (data[p] == TAB and delimiter != TAB):
                p += 1
            if data[p] == quote:
                p += 1
                start = p
                while p < stop:
                    if data[p] == quote:
                        if data[p + 1] != quote:
                            break
                        p += 1
                    elif data[p] == NEWLINE:
                        line += 1
                    p += 1
                if p >= stop:
                    whole = False
                    break
                end = -1 - p
                p += 1
                while data[p] == SPACE or (data[p] == TAB and delimiter != TAB):
                    p += 1
                if data[p] == RETURN and data[p + 1] == NEWLINE:
                    p += 1
                if data[p] != delimiter and data[p] != NEWLINE:
                    fault, fault_start, fault_stop = AFTER_QUOTE, start - 1, min(p + 20, stop)
                    break
            else:
                start = p
                while data[p] != delimiter and data[p] != NEWLINE:
                    p += 1
                end = p
                if data[p] == NEWLINE and end > start and data[end - 1] == RETURN:
                    end -= 1
                while end > start and (data[end - 1] == SPACE or (data[end - 1] == TAB and delimiter != TAB)):
                    end -= 1
            if column < n_columns:
                spans[n_rows, column, 0], spans[n_rows, column, 1] = start, end
            column += 1
            if data[p] == NEWLINE:
                break
            p += 1
        if not whole:
            line = first_line
            if ended:
                fault, fault_start, fault_stop = UNCLOSED, start - 1, min(start + 60, stop)
            break
        if fault == NONE and column != n_columns:
            fault = TOO_FEW if column < n_columns else TOO_MANY
            fault_start, fault_stop = begin, p
            report[WIDTH] = column
        if fault != NONE:
            line = first_line
            break
        lines[n_rows] = first_line
        n_rows += 1
        p += 1
        line += 1
        position = p
    report[POSITION], report[ROWS], report[LINES] = position, n_rows, line
    report[FAULT], report[FAULT_START], report[FAULT_STOP] = fault, fault_start, fault_stop
    return n_rows


@kernel(
    COUNT(
        _BYTES, types.int64[:, :, ::1], types.int64, _COUNTS, types.float64[:, ::1], types.uint8[:, ::1]
    )
)  # fmt: skip
def parse_cells(data, spans, n_rows, columns, X, verdicts):  # type: ignore[no-untyped-def]
    """Cells of some columns as numbers: how many could not be read so, marked in `verdicts`."""
    n_odd = 0
    for i in range(n_rows):
        for k in range(len(columns)):
            start, stop = spans[i, columns[k], 0], spans[i, columns[k], 1]
            if stop < 0:
                stop = -1 - stop
            value, end, verdict = number(data, start)
            if end != stop:
                verdict = BAD
            X[i, k] = value
            verdicts[i, k] = verdict
            n_odd += verdict != EASY
    return n_odd
