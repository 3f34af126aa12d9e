"""Dicts become rows by the hash that every name carries: what comes out is what the index says."""

import numpy as np
import pytest

from tauten.kernels.gather import Gatherer


class Name(str):
    """Text of a type of its own."""

    __slots__ = ()


def gathered(gatherer, example, **options):
    """Names and values of an example as gathered, None where it is refused."""
    row = gatherer(example, **options)
    if row is None:
        return None
    n = int(row.starts[1])
    names = list(gatherer.index)
    return {names[column]: value for column, value in zip(row.indices[:n], row.values[:n], strict=True)}


@pytest.mark.parametrize("compiled", [True, False])
def test_names_find_their_columns_however_many_there_are(compiled):
    """Names that join a few at a time, through every size of the table, keep their own columns."""
    gatherer = Gatherer({})
    gatherer._compiled &= compiled
    random = np.random.default_rng(0)
    for first in range(0, 20_000, 250):
        example = {f"name {first + k}": float(k) for k in range(250)}
        assert gathered(gatherer, example) is None
        gatherer.add(example)
        older = {f"name {k}": 1.5 for k in random.integers(first + 250, size=40).tolist()}
        for known in (example, older):
            assert gathered(gatherer, known) == known
    assert list(gatherer.index.values()) == list(range(20_000))


@pytest.mark.parametrize("compiled", [True, False])
def test_what_is_refused_and_what_is_passed_over(compiled):
    """New names are passed over where asked; what is no text or no number is refused."""
    gatherer = Gatherer({"a": 0, "b": 1})
    gatherer._compiled &= compiled
    assert gathered(gatherer, {"a": 1, "b": np.float32(0.5)}) == {"a": 1.0, "b": 0.5}
    assert gathered(gatherer, {"a": True, "new": 2.0}) is None
    assert gathered(gatherer, {"a": True, "new": 2.0}, known_only=True) == {"a": 1.0}
    assert gathered(gatherer, {}) == {}
    for bad in ({3: 1.0}, {None: 1.0}, {"a": "1"}, {"a": None}, {"a": np.nan}, {"b": np.inf}):
        assert gathered(gatherer, bad) is None
        assert gathered(gatherer, bad, known_only=True) is None
    assert gathered(gatherer, {"b": 2.0}) == {"b": 2.0}


def test_names_of_one_place_stand_side_by_side():
    """Names whose hashes lead to the same place of the table are told apart."""
    gatherer = Gatherer({})
    mask = len(gatherer._names) - 1
    meeting = [name for name in map(str, range(20_000)) if hash(name) & mask == 3][:8]
    example = {name: float(place) for place, name in enumerate(meeting)}
    gatherer.add(example)
    assert len(meeting) == 8 and gathered(gatherer, example) == example


def test_text_of_another_type_is_read_slowly():
    """A name whose type is not str itself may carry a hash of its own, and goes the long way round."""
    import tauten as tt

    model = tt.PAClassifier(classes=[0, 1]).learn_one({"a": 1.0}, 1)
    assert Gatherer({"a": 0})({Name("a"): 1.0}) is None
    assert model.learn_one({Name("a"): 2.0}, 0).n_features_in_ == 1
