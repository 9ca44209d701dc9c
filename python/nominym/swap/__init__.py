"""Swapping: values of a column change places.

In rank swapping (``rank_swap``), each with one that means nearly the same; in data swapping (``data_swap``), between
random pairs of records, constrained by other columns if wanted. Values are only given to other records, so category
counts, semantic mean and semantic variance stay exactly as they were. The other modules check what was asked
(``request``, ``data_request``), prepare columns (``columns``) and tell what was achieved (``achieved``).
"""

from nominym.swap.data import data_swap
from nominym.swap.rank import rank_swap

__all__ = ["data_swap", "rank_swap"]
