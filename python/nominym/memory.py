"""Refusing what would not fit into memory, before anything is allocated."""

from __future__ import annotations

from pathlib import Path

from nominym.error import SizeError


def free_memory() -> int | None:
    """Tell how many bytes of memory can be had without swapping, or None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        sizes = {name: int(size.split()[0]) * 1024 for name, _, size in (line.partition(":") for line in lines)}
        return sizes["MemAvailable"]
    except (OSError, KeyError, ValueError, IndexError):
        return None


def require(size: int, what: str, remedy: str) -> None:
    """Refuse work that needs more bytes than there are free.

    >>> require(2**60, "a table", "draw fewer records")
    Traceback (most recent call last):
    nominym.error.SizeError: a table needs 1,073,741,824.0 GiB, ... GiB are free; draw fewer records
    """
    free = free_memory()
    if free is not None and size > free:
        raise SizeError(f"{what} needs {size / 2**30:,.1f} GiB, {free / 2**30:,.1f} GiB are free; {remedy}")


def require_matrix(size: int, itemsize: int, remedy: str) -> None:
    """Refuse a square matrix that does not fit."""
    require(size * size * itemsize, f"a matrix of {size:,} × {size:,} distances", remedy)
