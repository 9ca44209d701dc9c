"""Distance matrices: room for large ones, and given ones in place of a taxonomy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.error import DataError, ParameterError, SizeError
from nominym.taxonomy.match import Names

if TYPE_CHECKING:
    from numpy.typing import NDArray


def free_memory() -> int | None:
    """Tell how many bytes of memory can be had without swapping, or None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        sizes = {name: int(size.split()[0]) * 1024 for name, _, size in (line.partition(":") for line in lines)}
        return sizes["MemAvailable"]
    except (OSError, KeyError, ValueError, IndexError):
        return None


def check_room(size: int, itemsize: int, remedy: str) -> None:
    """Refuse a square matrix that does not fit into memory, before anything is allocated."""
    needed, free = size * size * itemsize, free_memory()
    if free is not None and needed > free:
        raise SizeError(
            f"a matrix of {size:,} × {size:,} distances needs {needed / 2**30:,.1f} GiB, "
            f"{free / 2**30:,.1f} GiB are free; {remedy}"
        )


@contextmanager
def allocate(size: int, out: NDArray[np.float32] | str | os.PathLike[str] | None) -> Iterator[NDArray[np.float32]]:
    """Give room for a square matrix: fresh memory, the caller's array, or a memory-mapped ``.npy`` file.

    The file gets its name only when it is complete; an error or Ctrl-C leaves nothing behind.
    """
    shape = (size, size)
    if out is None:
        check_room(size, 4, "give fewer values, or out='matrix.npy' to write to a file")
        yield np.empty(shape, dtype=np.float32)
    elif isinstance(out, np.ndarray):
        if out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous or not out.flags.writeable:
            raise ParameterError(
                f"out: a writable, C-ordered float32 array of shape {shape} is needed, not {out.dtype} {out.shape}"
            )
        yield out
    else:
        target = Path(out)
        if target.suffix != ".npy":
            raise ParameterError(f"out={str(out)!r}: the file of a matrix ends in .npy")
        part = target.with_name(target.name + ".part")
        try:
            matrix = np.lib.format.open_memmap(part, mode="w+", dtype=np.float32, shape=shape)
            yield matrix
            matrix.flush()
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


class DistanceMatrix:
    """Distances that the caller brings, accepted wherever a taxonomy is.

    >>> import nominym as nym
    >>> given = nym.DistanceMatrix([[0, 1, 4], [1, 0, 2], [4, 2, 0]], labels=["low", "middle", "high"])
    >>> nym.stats.semantic_mean(["low", "high", "middle"], given)
    'middle'
    """

    def __init__(self, matrix: Any, labels: Sequence[object]) -> None:
        """Check that the matrix is one of distances: square, finite, symmetric, not negative, zero to itself."""
        cells = np.array(matrix, dtype=np.float64, order="C")
        names = [str(label) for label in labels]
        if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
            raise DataError(f"a distance matrix is square, this one has shape {cells.shape}")
        if len(names) != len(cells):
            raise DataError(f"{len(names)} labels for a matrix of {len(cells)} rows")
        if not len(cells):
            raise DataError("a distance matrix needs at least one label")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"the label {twice!r} stands twice; labels name one row each")
        for wrong, fault in (
            (~np.isfinite(cells), "not a finite number"),
            (cells < 0, "negative"),
            (np.eye(len(cells), dtype=bool) & (cells != 0), "not zero from a value to itself"),
            (cells != cells.T, "not the same both ways"),
        ):
            if wrong.any():
                i, j = map(int, np.argwhere(wrong)[0])
                raise DataError(f"the distance from {names[i]!r} to {names[j]!r} is {cells[i, j]}: {fault}")
        cells.setflags(write=False)
        self._cells = cells
        self._labels = names
        self._names = Names(names, [None] * len(names), {})

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, in the order of the rows."""
        return tuple(self._labels)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The distances, read-only."""
        return self._cells

    def __len__(self) -> int:
        """Count the labels."""
        return len(self._labels)

    def concepts(
        self, values: Sequence[object], counts: Sequence[int] | None = None, column: str | None = None
    ) -> NDArray[np.uint32]:
        """Give the rows of values; one error lists all that have none."""
        return self._names.resolve(values, counts, column)
