"""The class of set-valued records."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import operator
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import pandas as pd
import pyarrow as pa

from nominym import _core, chart
from nominym.atomic import check_new, write_atomic
from nominym.control import Progress, is_whole, reporter, require
from nominym.error import NO_VALUE, Advice, DataError, FormatError, MissingExtraError, ParameterError
from nominym.files import StrPath, check_comment, read_bytes, read_text
from nominym.itemsets import columns, names
from nominym.itemsets.names import Missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

Item = int | str
"""The name of an item."""

ROWS = 1 << 16
"""Rows written to a file at a time; Ctrl-C is handled in between."""


@dataclass(frozen=True, eq=False, repr=False)
class Itemsets:
    """Immutable records that are sets of items, such as baskets, symptoms or search terms.

    Create them with one of the ``from_…`` methods. Items have names: whole numbers or texts. Records are numbered from
    0 and may be empty. Each record is stored as the list of its items, so a million records over ten million items need
    no more memory than the items they hold.

    >>> import nominym as nym
    >>> sets = nym.Itemsets.from_lists([["bread", "milk"], ["milk", "beer"], []])
    >>> sets
    <Itemsets: 3 records of 3 items>
    >>> len(sets), sets.items, sets[1], sets[:2].to_lists()
    (3, ('beer', 'bread', 'milk'), ['beer', 'milk'], [['bread', 'milk'], ['beer', 'milk']])
    """

    core: _core.Sets
    """The records by number, for the compiled core."""
    names: Any
    """The name of each item, as an Arrow array of int64 or large_string."""

    def __post_init__(self) -> None:
        """Check that every item has a name."""
        if len(self.names) != self.core.n_items:
            raise ParameterError(f"{len(self.names):,} names for {self.core.n_items:,} items")

    # ---- in

    @classmethod
    def from_lists(cls, rows: Iterable[Any], items: Any = None, *, missing: Missing = "error") -> Itemsets:
        """Make records from lists, tuples, sets or arrays of items.

        >>> import nominym as nym
        >>> nym.Itemsets.from_lists([{3, 1}, (), [7]]).to_lists()
        [[1, 3], [], [7]]

        Parameters
        ----------
        rows
            One list of whole numbers or texts for each record. A repeated item in a row is an error.
        items
            All possible items, in the desired order. By default those that occur, sorted.
        missing
            "error", or "empty": a missing row (None, NaN) is a record without items, and a missing item is left out.
        """
        names.check_missing(missing)
        starts, values = columns.from_lists(rows, None, missing)
        return cls._coded(starts, values, items, None)

    @classmethod
    def from_column(cls, series: Any, items: Any = None, *, missing: Missing = "error") -> Itemsets:
        """Make records from a pandas, polars or Arrow column of lists.

        >>> import pandas as pd
        >>> import nominym as nym
        >>> nym.Itemsets.from_column(pd.Series([["bread", "milk"], ["beer"]], name="basket")).n_items
        3

        ``items`` and ``missing`` as in ``from_lists``.
        """
        names.check_missing(missing)
        starts, values, name = columns.from_column(series, missing)
        return cls._coded(starts, values, items, name)

    @classmethod
    def from_frame(cls, frame: Any, *, missing: Missing = "error") -> Itemsets:
        """Make records from a table with a column for each item: true or 1 where a record holds it.

        >>> import pandas as pd
        >>> import nominym as nym
        >>> nym.Itemsets.from_frame(pd.DataFrame({"milk": [True, False], "beer": [1, 0]})).to_lists()
        [['milk', 'beer'], []]

        A pandas or polars frame, an Arrow table or a mapping of columns. ``missing="empty"`` treats missing cells as
        false.
        """
        names.check_missing(missing)
        starts, codes, found = columns.from_frame(frame, missing)
        return cls._made(starts, codes, found)

    @classmethod
    def from_csr(cls, matrix: Any, items: Any = None) -> Itemsets:
        """Make records from a SciPy sparse matrix in CSR form: 1 or True where a record holds an item.

        >>> import numpy as np
        >>> import nominym as nym
        >>> class Matrix:  # or scipy.sparse.csr_array
        ...     indptr, indices, data, shape = np.array([0, 2, 2]), np.array([0, 3]), np.array([1, 1]), (2, 5)
        >>> nym.Itemsets.from_csr(Matrix()).to_lists()
        [[0, 3], []]

        Stored zeros are not items; values other than 0 and 1 are an error. ``items`` names the columns, by default with
        their numbers.
        """
        starts, codes, width = columns.from_csr(matrix)
        found = names.checked_items(range(width) if items is None else items)
        if len(found) != width:
            raise ParameterError(f"{len(found):,} names for a matrix of {width:,} columns", parameter="items")
        return cls._made(starts, codes, found)

    @classmethod
    def from_fimi(cls, path: StrPath, items: Any = None, *, progress: Progress = None) -> Itemsets:
        """Read records from a file of whole numbers separated by blanks, one record per line.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import nominym as nym
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "tiny.dat")
        ...     _ = path.write_text("1 7 3\\n\\n10000000 3\\n")
        ...     sets = nym.Itemsets.from_fimi(path)
        >>> sets.items, sets.to_lists()
        ((1, 3, 7, 10000000), [[1, 3, 7], [], [3, 10000000]])

        This is the format of the frequent itemset mining repository (FIMI). An empty line is a record without items;
        the line feed at the end of the file does not start another. Files that end in ``.gz`` are decompressed. Items
        are numbers up to 2^31 − 1, with any gaps. ``items`` as in ``from_lists``.
        """
        data = read_bytes(path)
        if Path(path).suffix == ".gz":
            try:
                data = gzip.decompress(data)
            except (OSError, EOFError, zlib.error) as error:
                raise FormatError(f"{os.fspath(path)}: {error}; expected a gzip file") from None
        with reporter(progress, "reading") as report:
            sets = parse_fimi(data, path, report)
        return sets if items is None else sets._over(items, lambda row: f"{os.fspath(path)}, line {row + 1}")

    @classmethod
    def from_baskets(
        cls,
        path: StrPath,
        items: Any = None,
        *,
        delimiter: str = ",",
        encoding: str = "utf-8",
        comment: str | None = None,
    ) -> Itemsets:
        """Read records from a file of baskets: item names separated by commas, one record per line, no header.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import nominym as nym
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "baskets.csv")
        ...     _ = path.write_text("whole milk,bread,\\nbeer,,\\n\\n")
        ...     sets = nym.Itemsets.from_baskets(path)
        >>> sets.items, sets.to_lists()
        (('beer', 'bread', 'whole milk'), [['bread', 'whole milk'], ['beer'], []])

        Blanks around items and empty cells are ignored; an empty line is a record without items. If all items are
        written as whole numbers, they are read as such. Lines that begin with ``comment`` are skipped. ``items`` as in
        ``from_lists``.
        """
        text = read_text(path, encoding, Advice("pass the encoding of the file, for example {}", encoding="latin-1"))
        if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
            fault = "give one character, such as ',' or ';' or a tab"
            raise ParameterError(fault, parameter="delimiter", value=delimiter)
        require(8 * len(text), f"reading {os.fspath(path)}", "write it as Parquet, with a column of lists")
        check_comment(comment)
        if comment is not None:
            text = "\n".join(line for line in text.split("\n") if not line.startswith(comment))
        lines = text.removesuffix("\n").split("\n") if text else []
        if '"' in text:
            starts, values = columns.from_lists(_cells(text, path, delimiter), None, "error")
            values = columns.as_numbers(values) if pa.types.is_large_string(values.type) else values
        else:
            starts, values = columns.split(pa.array(lines, pa.large_string()), delimiter)
        return cls._coded(starts, values, items, None)

    @classmethod
    def from_long(cls, table: Any, record: Any, item: Any, *, missing: Missing = "error") -> Itemsets:
        """Make records from a table with one row for each item of a record.

        >>> import nominym as nym
        >>> sold = {"receipt": [7, 7, 3, 7], "article": ["milk", "bread", "milk", "milk"]}
        >>> nym.Itemsets.from_long(sold, "receipt", "article").to_lists()
        [['bread', 'milk'], ['milk']]

        ``record`` and ``item`` name columns. Records are in order of first appearance; repeated items of a record count
        once. With ``missing="empty"``, missing items are ignored.
        """
        names.check_missing(missing)
        starts, codes, found, _ = columns.from_long(table, record, item, missing, of_text=False)
        return cls._made(starts, codes, found)

    @classmethod
    def of_names(cls, starts: NDArray[np.uint64], values: Any) -> Itemsets:
        """Make records from where each begins in an Arrow array of names."""
        return cls._coded(starts, values, None, None)

    @classmethod
    def of_long_file(cls, table: Any, record: str, item: str, missing: Missing) -> tuple[Itemsets, NDArray[np.int64]]:
        """Make records from a table read from a file; also return the first row of each."""
        starts, codes, found, firsts = columns.from_long(table, record, item, missing, of_text=True)
        return cls._made(starts, codes, found), firsts

    @classmethod
    def _coded(cls, starts: NDArray[np.uint64], values: Any, items: Any, column: Any) -> Itemsets:
        found = names.sorted_names(values) if items is None else names.checked_items(items)
        codes = names.code(values, found)
        if isinstance(codes, int):
            raise _not_given(f"row {columns.row_of(starts, codes)}", values[codes].as_py(), column)
        return cls._made(starts, codes, found, column)

    @classmethod
    def _made(cls, starts: NDArray[np.uint64], codes: NDArray[np.uint32], found: Any, column: Any = None) -> Itemsets:
        made = _core.Sets.make(len(found), starts, codes)
        if isinstance(made, tuple):
            row, item = made
            what = f"row {row}: item {found[item].as_py()!r} occurs twice; an item is in a set or it is not"
            raise DataError(what, column=column)
        return cls(made, found)

    # ---- out

    def to_lists(self) -> list[list[Item]]:
        """Return the names of the items of every record, each record's in the order of ``items``.

        >>> import nominym as nym
        >>> nym.Itemsets.from_lists([[2, 1], []]).to_lists()
        [[1, 2], []]
        """
        found: list[list[Item]] = self.to_column("arrow").to_pylist()
        return found

    def to_column(self, library: Literal["pandas", "arrow", "polars"] = "pandas") -> Any:
        """Return the records as a column of lists: a pandas Series of an Arrow type, an Arrow array or a polars Series.

        >>> import nominym as nym
        >>> nym.Itemsets.from_lists([[2, 1], []]).to_column("arrow").to_pylist()
        [[1, 2], []]
        """
        polars = _polars(library)
        starts, values = self.core.starts(), self.names.take(pa.array(self.core.items()))
        if pa.types.is_large_string(values.type) and values.nbytes < 2**31:
            values = values.cast(pa.string())
        small = len(values) < 2**31
        places = pa.array(starts.astype(np.int32 if small else np.int64))
        array = (pa.ListArray if small else pa.LargeListArray).from_arrays(places, values)
        if library == "pandas":
            return pd.Series(array, dtype=pd.ArrowDtype(array.type))
        return array if polars is None else polars.Series(array)

    def to_frame(self, library: Literal["pandas", "arrow", "polars"] = "pandas") -> Any:
        """Return the records as a table with a boolean column for each item.

        In Arrow and polars, column names are texts, so whole numbers become texts.

        >>> import nominym as nym
        >>> nym.Itemsets.from_lists([[2, 1], [2]]).to_frame()
               1     2
        0   True  True
        1  False  True
        """
        polars = _polars(library)
        n, width = self.n, self.n_items
        require(
            2 * n * width, f"a table of {n:,} × {width:,} truth values", "keep the records as they are, or use to_csr()"
        )
        cells = np.zeros((width, n), dtype=bool)
        starts = self.core.starts().astype(np.int64)
        cells[self.core.items(), np.repeat(np.arange(n), starts[1:] - starts[:-1])] = True
        if library == "pandas":
            return pd.DataFrame(cells.T, columns=pd.Index(self.items))
        table = pa.table([pa.array(column) for column in cells], names=[str(item) for item in self.items])
        return table if polars is None else polars.from_arrow(table)

    def to_csr(self) -> Any:
        """Return the records as a sparse boolean matrix, ``scipy.sparse.csr_array``; needs SciPy."""
        try:
            sparse = importlib.import_module("scipy.sparse")
        except ImportError:
            raise MissingExtraError("sparse matrices need SciPy: pip install scipy") from None
        items = self.core.items()
        # SciPy works with signed numbers, the shorter the better.
        kind = np.int32 if max(len(items), self.n_items) < 2**31 else np.int64
        data = (np.ones(len(items), dtype=bool), items.astype(kind), self.core.starts().astype(kind))
        return sparse.csr_array(data, shape=(self.n, self.n_items))

    def to_fimi(self, path: StrPath, *, overwrite: bool = False) -> None:
        """Write the records to a file that ``from_fimi`` reads; items have to be numbers from 0 to 2^31 − 1.

        The file gets its name when it is complete. One that is already there is replaced only with ``overwrite=True``.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import nominym as nym
        >>> with TemporaryDirectory() as folder:
        ...     nym.Itemsets.from_lists([[3, 1], []]).to_fimi(Path(folder, "tiny.dat"))
        ...     Path(folder, "tiny.dat").read_text()
        '1 3\\n\\n'
        """
        if pa.types.is_large_string(self.names.type) and len(self.names):
            raise DataError("FIMI files have whole numbers for items, not texts; use to_column() and a Parquet file")
        texts = names.texts(self.names, "a FIMI file")
        check_new(path, overwrite)
        with write_atomic(path) as file:
            for first in range(0, self.n, ROWS):
                file.write(self.core.write(texts, first, min(first + ROWS, self.n)))

    def over(self, items: Any) -> Itemsets:
        """Return the same records over another list of items, which must contain all that occur.

        >>> import nominym as nym
        >>> nym.Itemsets.from_lists([[2, 1]]).over([3, 2, 1]).to_lists()
        [[2, 1]]
        """
        return self._over(items, lambda row: f"row {row}")

    def _over(self, items: Any, where: Callable[[int], str]) -> Itemsets:
        found = items if items is self.names else names.checked_items(items)
        if found.equals(self.names):
            return self
        starts, codes = self.core.starts(), self.core.items()
        place = np.zeros(self.n_items, dtype=np.uint32)
        used = np.flatnonzero(self.core.frequencies())
        coded = names.code(self.names.take(used), found)
        if isinstance(coded, int):
            first = columns.row_of(starts, int(np.argmax(codes == used[coded])))
            raise _not_given(where(first), self.names[int(used[coded])].as_py())
        place[used] = coded
        return self._made(starts, place[codes], found)

    # ---- as a sequence of records

    @property
    def n(self) -> int:
        """Return the number of records."""
        return len(self.core)

    @property
    def n_items(self) -> int:
        """Return the number of items that a record may hold."""
        return self.core.n_items

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Return the names of all items."""
        return tuple(self.names.to_pylist())

    def __len__(self) -> int:
        """Count the records."""
        return len(self.core)

    @overload
    def __getitem__(self, key: int) -> list[Item]: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> Itemsets: ...
    def __getitem__(self, key: Any) -> list[Item] | Itemsets:
        """Return the items of one record, or the records of a slice or of an array of numbers.

        >>> import nominym as nym
        >>> sets = nym.Itemsets.from_lists([[1], [1, 2], []])
        >>> sets[-2], sets[::2].to_lists(), sets[[1, 1]].to_lists()
        ([1, 2], [[1], []], [[1, 2], [1, 2]])
        """
        if is_whole(key):
            i = operator.index(key)
            if not -self.n <= i < self.n:
                raise IndexError(f"no record {i}: there are {self.n:,}")
            found: list[Item] = self.names.take(self.core.row(i % self.n)).to_pylist()
            return found
        rows = np.arange(self.n)[key] if isinstance(key, slice) else names.whole_numbers(key)
        if rows is None:
            raise TypeError("records are chosen by a number, a slice or a list of numbers")
        wrong = rows[(rows < -self.n) | (rows >= self.n)]
        if len(wrong):
            raise IndexError(f"no record {wrong[0]}: there are {self.n:,}")
        return Itemsets(self.core.select(np.where(rows < 0, rows + self.n, rows).astype(np.uint32)), self.names)

    def __iter__(self) -> Iterator[list[Item]]:
        """Iterate over the records."""
        return (self[i] for i in range(self.n))

    def __eq__(self, other: object) -> bool:
        """Return whether two have the same items and the same records, in the same order."""
        if not isinstance(other, Itemsets):
            return NotImplemented
        same = self.names.equals(other.names) or len(self.names) == len(other.names) == 0
        return same and self.core.equals(other.core)

    # Rows as long as these are no keys.
    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the records as arrays."""
        return Itemsets._made, (self.core.starts(), self.core.items(), self.names)

    def __repr__(self) -> str:
        """Return the size; records are not shown."""
        return f"<Itemsets: {self.n:,} records of {self.n_items:,} items>"

    def _repr_html_(self) -> str:
        """Show the size in a notebook; records are not shown."""
        mean = len(self.core.items()) / max(self.n, 1)
        return chart.card(repr(self), [("Items of a record, mean", f"{mean:.1f}")])


def parse_fimi(data: bytes, path: StrPath, report: Any = None) -> Itemsets:
    """Read lines of items; the path is for messages."""
    try:
        core, ids = _core.Sets.parse(data, report)
    except ParameterError as error:
        raise FormatError(f"{os.fspath(path)}, {error}") from None
    return Itemsets(core, pa.array(ids.astype(np.int64)))


def _cells(text: str, path: StrPath, delimiter: str) -> list[list[str]]:
    """Split lines in which there are quotes."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise FormatError(f'{os.fspath(path)}: {error}; write " inside a quoted cell as ""') from None
    return [[cell.strip() for cell in row if cell.strip()] for row in rows]


def _polars(library: object) -> Any:
    """Return polars if it is the requested library, and None for the others."""
    if not isinstance(library, str) or library not in ("pandas", "arrow", "polars"):
        raise ParameterError("give 'pandas', 'arrow' or 'polars'", parameter="library", value=library)
    try:
        return importlib.import_module("polars") if library == "polars" else None
    except ImportError:
        raise MissingExtraError("polars columns and frames need the extra: pip install nominym[polars]") from None


def _not_given(where: str, item: Item, column: Any = None) -> DataError:
    remedy = Advice("add it, or leave out {}", items=NO_VALUE)
    return DataError(f"{where}: {item!r} is not among the given items", column=column, remedy=remedy)


def check_sets(**given: object) -> None:
    """Raise unless the arguments are ``Itemsets``."""
    for name, sets in given.items():
        if not isinstance(sets, Itemsets):
            what = f"give an Itemsets, not {type(sets).__name__}; see Itemsets.from_lists"
            raise ParameterError(what, parameter=name)
