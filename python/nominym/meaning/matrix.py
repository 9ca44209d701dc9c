"""Distance matrices: memory for large ones, and given ones in place of a taxonomy."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nominym._core import mean_labels
from nominym.atomic import draft_of
from nominym.control import Progress, reporter, require_matrix
from nominym.error import DataError, ParameterError, SizeError
from nominym.meaning.base import (
    Cells,
    Meaning,
    Measure,
    Names,
    Space,
    Standing,
    Values,
    is_sequence,
    refuse_numbers,
    refuse_root,
)
from nominym.meaning.generalized import parse


@contextmanager
def allocate(size: int, out: NDArray[np.float32] | str | os.PathLike[str] | None) -> Iterator[NDArray[np.float32]]:
    """Provide a square matrix: new memory, the caller's array, or a memory-mapped ``.npy`` file.

    The file appears only when it is complete; an error or Ctrl-C leaves nothing behind.
    """
    shape = (size, size)
    if out is None:
        require_matrix(size, 4, "give fewer values, or out='matrix.npy' to write to a file")
        yield np.empty(shape, dtype=np.float32)
    elif isinstance(out, np.ndarray):
        if out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous or not out.flags.writeable:
            raise ParameterError(
                f"out: a writable, C-ordered float32 array of shape {shape} is needed, not {out.dtype} {out.shape}"
            )
        yield out
    elif isinstance(out, str | os.PathLike):
        target = Path(out)
        if target.suffix != ".npy":
            raise ParameterError("the file of a matrix ends in .npy", parameter="out", value=str(out))
        with draft_of(target) as draft:
            matrix = np.lib.format.open_memmap(draft, mode="w+", dtype=np.float32, shape=shape)
            # All of the disk that it needs, now: writing to a map on a full disk would end the process.
            try:
                with draft.open("r+b") as file:
                    os.posix_fallocate(file.fileno(), 0, draft.stat().st_size)
            except OSError as error:
                need = f"{draft.stat().st_size / 2**30:,.3g} GiB are needed on disk ({error.strerror})"
                raise SizeError(f"{target}: {need}; choose another place") from None
            yield matrix
            matrix.flush()
    else:
        raise ParameterError(f"out: an array or the path of an .npy file is needed, not {type(out).__name__}")


class DistanceMatrix(Meaning):
    """Distances given by the caller.

    >>> import nominym as nym
    >>> given = nym.DistanceMatrix([[0, 1, 4], [1, 0, 2], [4, 2, 0]], labels=["low", "middle", "high"])
    >>> nym.stats.semantic_mean(["low", "high", "middle"], given)
    'middle'
    """

    noun: ClassVar[str] = "a distance matrix"

    def __init__(self, matrix: Any, labels: Sequence[object]) -> None:
        """Check that the matrix holds distances: square, finite, symmetric, not negative, zero on the diagonal."""
        try:
            cells = np.array(matrix, dtype=np.float64, order="C")
        except (TypeError, ValueError, OverflowError):
            raise DataError("a distance matrix is a square of numbers") from None
        if not is_sequence(labels):
            raise DataError(f"a label for each row is needed, not {labels!r}")
        names = [str(label) for label in labels]
        if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
            raise DataError(f"a distance matrix is square, this one has shape {cells.shape}")
        if len(names) != len(cells):
            raise DataError(f"{len(names)} labels for a matrix of {len(cells)} rows")
        if not len(cells):
            raise DataError("a distance matrix needs at least one label")
        label, times = Counter(names).most_common(1)[0]
        if times > 1:
            raise DataError(f"the label {label!r} occurs twice; labels name one row each")
        for wrong, fault in (
            (~np.isfinite(cells), "not a finite number"),
            (cells < 0, "negative"),
            (np.eye(len(cells), dtype=bool) & (cells != 0), "not zero from a value to itself"),
            (~np.isclose(cells, cells.T, rtol=1e-6, atol=0), "not the same both ways"),
        ):
            if wrong.any():
                i, j = map(int, np.argwhere(wrong)[0])
                raise DataError(f"the distance from {names[i]!r} to {names[j]!r} is {cells[i, j]}: {fault}")
        cells = (cells + cells.T) / 2  # what rounding made different
        cells.setflags(write=False)
        self.matrix = cells
        """The distances, read-only."""
        self.labels = tuple(names)
        """All labels, in the order of the rows."""
        self._names = Names(self.labels, [None] * len(names), {})

    def __len__(self) -> int:
        """Count the labels."""
        return len(self.labels)

    def concepts(
        self, values: Sequence[object], counts: Sequence[int] | None = None, column: str | None = None
    ) -> NDArray[np.uint32]:
        """Return the rows of values; one error lists all values without one."""
        return self._names.resolve(values, counts, column)

    def space(self, columns: Sequence[Values], measure: str | Measure = "wu-palmer", root: object = None) -> Space:
        """Place the values of some columns among the labels."""
        refuse_root(root, columns, self.noun)
        return MatrixSpace(self, columns)


class MatrixSpace(Space):
    """The labels of a given matrix."""

    def __init__(self, given: DistanceMatrix, columns: Sequence[Values]) -> None:
        """Place the values of the columns; several labels of a release, such as "{a, b}", get a separate place."""
        super().__init__(columns)
        refuse_numbers(columns)
        self.given = given
        """The matrix."""
        texts = {value for c in columns if c.released for value in c.categories if str(value)[:1] in ("{", '"')}
        read = {text: parse(text) for text in sorted(texts.difference(given.labels))}
        members = {text: sorted(what) for text, what in read.items() if isinstance(what, frozenset)}
        self._members = [given.concepts(labels) for labels in members.values()]
        self.names: Sequence[str] = (*given.labels, *members)
        place = {text: len(given) + number for number, text in enumerate(members)}
        self.places = []
        for column in columns:
            known = place if column.released else {}
            found = np.array([known.get(value, 0) for value in column.categories], dtype=np.uint32)
            plain = np.flatnonzero(found < len(given))
            values = [column.categories[i] for i in plain]
            if column.released:
                values = [read.get(value, value) for value in values]  # labels in quotes
            found[plain] = given.concepts(values, column.counts[plain].tolist(), column.name)
            self.places.append(found)

    def beside(self, column: Values, found: Standing) -> Space:
        """Return the space of a column, with the representatives of its groups as a second column."""
        other = super().beside(column, found)
        assert isinstance(other, MatrixSpace)
        other._members = [*self._members, *(part for part in found.parts if len(part) > 1)]
        return other

    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Return cells of the matrix; for several labels, the mean of theirs."""
        cells, size = self.given.matrix, len(self.given)
        first, second = np.broadcast_arrays(a, b)
        found: NDArray[np.float64] = cells[np.minimum(first, size - 1), np.minimum(second, size - 1)]
        for at in np.argwhere((first >= size) | (second >= size)) if self._members else ():
            one, other = int(first[tuple(at)]), int(second[tuple(at)])
            parts = (self._members[x - size] if x >= size else np.array([x]) for x in (one, other))
            found[tuple(at)] = 0.0 if one == other else cells[np.ix_(*parts)].mean()
        return found

    def centroids(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find the labels of least squared distance; ties by name."""
        order = np.array(sorted(range(len(self.given)), key=self.name), dtype=np.int64)
        used, values = np.unique(cells.places, return_inverse=True)
        own = np.argsort(order)[used].astype(np.uint32)
        distances = np.ascontiguousarray(self.given.matrix[used][:, order])
        renumbered = cells._replace(places=values.reshape(-1).astype(np.uint32))
        with reporter(progress, "means") as report:
            return Standing(order[mean_labels(distances, own, renumbered, report)])

    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the label nearest to all; ties by name."""
        sums = self.given.matrix[:, places] @ counts.astype(np.float64)
        tied = np.flatnonzero(sums - sums.min() <= 1e-12 * sums.min())  # up to rounding
        return min(tied.tolist(), key=self.name)
