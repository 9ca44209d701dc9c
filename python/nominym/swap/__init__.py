"""Rank swapping: values of a column change places with values that mean nearly the same.

Values are only given to other records, so category counts, semantic mean and semantic variance stay exactly as they
were. ``rank_swap`` is the one entry; the other modules prepare columns (``columns``) and tell what was achieved
(``achieved``).
"""

from nominym.swap.rank import rank_swap

__all__ = ["rank_swap"]
