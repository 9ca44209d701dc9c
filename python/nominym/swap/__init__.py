"""Swapping: values of a column are given to other records.

In rank swapping (``rank``), each goes to one that means nearly the same; in data swapping (``data``), between random
pairs of records, constrained by other columns if wanted. Category counts, semantic mean and semantic variance stay
exactly as they were.
"""

from nominym.swap.data import DataSwap, data_swap
from nominym.swap.rank import RankSwap, rank_swap

__all__ = ["DataSwap", "RankSwap", "data_swap", "rank_swap"]
