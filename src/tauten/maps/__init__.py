"""What rows are turned into before they are learned: one file a map."""

from collections.abc import Mapping

from tauten.maps.feature_map import FeatureMap
from tauten.maps.fourier import FourierMap
from tauten.maps.layer import LayerMap
from tauten.maps.nystrom import NystromMap

__all__ = ["MAPS", "FeatureMap", "FourierMap", "LayerMap", "NystromMap"]

MAPS: Mapping[str, type[FeatureMap]] = {kind.__name__: kind for kind in (FourierMap, LayerMap, NystromMap)}
