"""Swapping: values of a column are exchanged between records.

In rank swapping (``rank``), values are exchanged with others of similar meaning; in data swapping (``data``), between
random pairs of records, optionally constrained by other columns. Category counts, semantic mean and semantic variance
stay exactly the same.
"""

from nominym.swap.data import DataSwap, data_swap
from nominym.swap.rank import RankSwap, rank_swap

__all__ = ["DataSwap", "RankSwap", "data_swap", "rank_swap"]
