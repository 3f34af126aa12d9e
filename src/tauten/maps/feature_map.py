"""What every feature map is: parameters, and the mapping that they make."""

from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from tauten import parameters
from tauten.kernels.mappings import Mapping
from tauten.kernels.tiles import LARGEST_COLUMNS
from tauten.parameters import is_count, is_seed, optional, parameter


def outputs(default: int) -> Any:
    """The parameter that says how many numbers a row becomes, where they are drawn."""
    return parameter(
        default,
        lambda n: is_count(n) and 1 <= n <= LARGEST_COLUMNS,
        f"a whole number from 1 to {LARGEST_COLUMNS}",
    )


def seed() -> Any:
    """The parameter that they are drawn from."""
    return optional("a whole number from 0 to 2**32 - 1", lambda seed: is_count(seed) and is_seed(seed))


class FeatureMap(BaseEstimator):
    """Turns rows into others, in which what is not linear becomes so."""

    drawn: ClassVar[bool] = False  # whether it is drawn at random, a number for each column

    def check(self) -> None:
        """Raise a ValueError for a parameter that is not allowed."""
        parameters.check(self)

    def mapping(self, n_features: int) -> Mapping:
        """The map for rows of so many features, before it has seen any."""
        raise NotImplementedError

    def law(self) -> tuple[Any, ...]:
        """By what two maps of one kind are told apart."""
        return type(self).__name__, *self.get_params().items()

    def turns(self) -> bool:
        """Whether it goes over to other axes once it has seen enough."""
        return False

    def __sklearn_tags__(self) -> Any:
        raise AttributeError("A feature map is no estimator: it learns from the rows as they are learned.")
