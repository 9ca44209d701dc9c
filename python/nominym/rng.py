"""Seeds: for studies, so that a result can be had again. Without one, randomness comes from the operating system."""

from __future__ import annotations

from numbers import Integral

from nominym.error import ParameterError


def check_seed(seed: object) -> None:
    """Refuse what is no seed.

    >>> check_seed(-1)
    Traceback (most recent call last):
    nominym.error.ParameterError: seed=-1: give a whole number from 0 to 2^64 − 1, or None
    """
    if seed is not None and not (is_whole(seed) and 0 <= int(seed) < 2**64):  # type: ignore[call-overload]
        raise ParameterError("give a whole number from 0 to 2^64 − 1, or None", parameter="seed", value=seed)


def is_whole(value: object) -> bool:
    """Tell whether something is a whole number, of Python or numpy; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)
