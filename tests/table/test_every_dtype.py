"""Every type of column is masked as it should be, kept as it was, or refused by name: nothing in between."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym.error import NominymError
from nominym.meaning import is_missing
from nominym.table import Table, code
from nominym.table.coding import python_values
from table.columns import EVERY, Kind, Silent

pytestmark = pytest.mark.filterwarnings("ignore::nominym.error.PrivacyWarning")


pytestmark = pytest.mark.filterwarnings("ignore:hardly anything changes")


def taxonomy(values: Any) -> nym.Taxonomy:
    """Make a taxonomy whose ids are the texts of a column."""
    texts = {"leaf", *(str(value) for value in code(values).categories)}
    return nym.Taxonomy.from_edges([(text, "the root") for text in sorted(texts)])


def swapped(frame: Any, name: Any, meaning: nym.Meaning) -> nym.Result:
    """Swap the first column; what the others tell of it is no matter here."""
    return nym.rank_swap(frame, {name: meaning}, k=2, accept=Table(frame).names[1:], seed=1)


METHODS: dict[str, Callable[[Any, Any, Any], nym.Result]] = {
    "data swap": lambda frame, name, _: nym.data_swap(frame, [name], rate=1.0, seed=1),
    "equality": lambda frame, name, _: swapped(frame, name, nym.Equality()),
    "published": lambda frame, name, _: nym.rank_swap(frame, {name: nym.Equality()}, k=3, method="records", seed=1),
    "order": lambda frame, name, _: swapped(frame, name, nym.Order()),
    "taxonomy": lambda frame, name, values: swapped(frame, name, taxonomy(values)),
}

TEXT_NAMES = ["x", "", " ", "ü", "Object", "Int128", "a\0b"]
NAMES = [
    *TEXT_NAMES,
    0,
    -1,
    1.5,
    None,
    ("a", 1),
    ("x",),
    "\ud800",
    np.nan,
    pd.NaT,
    pd.Timestamp("2020-01-01"),
    frozenset("x"),
]

INDEXES: list[Callable[[int], Any]] = [
    lambda n: pd.RangeIndex(n),
    lambda n: pd.Index(["same"] * n, name="row"),
    lambda n: pd.Index([None, 5, "5"] * n, dtype=object)[:n],
    lambda n: pd.CategoricalIndex(["a", "b"] * n, categories=["c", "b", "a"])[:n],
    lambda n: pd.MultiIndex.from_product([range(n + 2), ["u", "v"]], names=["i", None])[:n],
    lambda n: pd.date_range("2020", periods=n, tz="UTC"),
]


def frame_of(library: str, columns: dict[Any, Any], index: int) -> Any:
    """Make a table of columns."""
    if library == "mapping":
        return columns
    if library == "polars":
        return pl.DataFrame(columns)
    if library == "arrow":
        # Cut in two, with an empty piece, as files and engines do.
        whole = [
            pa.chunked_array([c.slice(0, len(c) // 3), c.slice(0, 0), c.slice(len(c) // 3)]) for c in columns.values()
        ]
        return pa.table(whole, names=list(columns))
    frame = pd.concat(list(columns.values()), axis=1, ignore_index=True)
    frame.columns = pd.Index(list(columns), dtype=object, tupleize_cols=False)
    frame.index = INDEXES[index % len(INDEXES)](len(frame))
    return frame


def column_of(frame: Any, place: int) -> Any:
    if isinstance(frame, dict):
        return list(frame.values())[place]
    if isinstance(frame, pd.DataFrame):
        return frame.iloc[:, place]
    return frame.column(place) if isinstance(frame, pa.Table) else frame.to_series(place)


def is_gap(value: Any) -> bool:
    if isinstance(value, pa.DictionaryScalar | pa.ExtensionScalar):
        return value.value is None or is_gap(value.value)
    if isinstance(value, pa.Scalar) and pa.types.is_floating(value.type):
        return not value.is_valid or value.as_py() != value.as_py()
    return value is np.ma.masked or (not value.is_valid if isinstance(value, pa.Scalar) else is_missing(value))


def cell(value: Any) -> Any:
    """Bring a value into a form that is equal only to that of the same value."""
    if isinstance(value, pa.DictionaryScalar):
        return "None" if value.value is None else cell(value.value)
    if isinstance(value, pa.Scalar):
        try:
            return repr(value.as_py())
        except (OverflowError, ValueError):  # times that Python has no object for
            return value.value
    same = value.tobytes() if type(value) is np.ndarray else repr(value)
    return type(value), same, id(value) if isinstance(value, Silent) else None


def raw(column: Any) -> list[Any]:
    """List the values of a column without a loss."""
    kind = getattr(column, "dtype", None)
    if isinstance(kind, pd.ArrowDtype):
        column = pa.array(column)
    elif isinstance(kind, pd.CategoricalDtype):
        column = getattr(column, "array", column)
        return [[*kind.categories, None][i] for i in column.codes]
    elif isinstance(kind, pd.SparseDtype):
        column = np.asarray(column)
    elif isinstance(column, pl.Series):
        column = (column.to_physical() if kind.is_temporal() else column).to_list()
    return list(column)


def cells(column: Any) -> list[Any]:
    return [cell(value) for value in raw(column)]


def counted(column: Any) -> Counter[Any]:
    """Count the values of a column, however those are marked that are missing."""
    return Counter("missing" if is_gap(value) else cell(value) for value in raw(column))


def type_of(column: Any) -> str:
    """Name the type of a column, but for the values that it lists."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    if isinstance(kind, pd.CategoricalDtype):
        kind = f"category of {kind.categories.dtype}, {kind.ordered}"
    return f"{type(column).__name__} {re.sub(r'Enum[(].*?[])]', 'Enum', str(kind))}".replace("range", "list")


def check_dictionary(column: Any, before: Any) -> None:
    """Dictionaries list values that occur and no others: in their order if they have one, else by name."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    if isinstance(kind, pd.ArrowDtype):
        column, kind = pa.array(column), kind.pyarrow_dtype
    if isinstance(kind, pd.CategoricalDtype):
        present = {cell(value) for value in kind.categories}
        assert present == {cell(value) for value in raw(column) if not is_gap(value)}
        if kind.ordered:
            assert [cell(v) for v in kind.categories] == [
                cell(v) for v in before.dtype.categories if cell(v) in present
            ]
        else:
            assert list(map(str, kind.categories)) == sorted(map(str, kind.categories))
    elif isinstance(kind, pl.Enum):
        assert list(kind.categories) == [v for v in before.dtype.categories if v in set(column)]
    elif isinstance(kind, pa.DictionaryType):
        for part in getattr(column, "chunks", [column]):
            assert {cell(value) for value in part.dictionary} - {"None"} == {cell(value) for value in part} - {"None"}
            texts = [str(v) for v in python_values(part.dictionary)]
            assert kind.ordered or texts == sorted(texts)


def check(library: str, columns: dict[Any, Any], method: str, index: int = 0) -> bool:
    """Mask the first column; return whether it could be."""
    frame = frame_of(library, columns, index)
    names = list(columns)
    before = [(cells(column_of(frame, i)), type_of(column_of(frame, i))) for i in range(len(names))]
    try:
        res = METHODS[method](frame, names[0], column_of(frame, 0))
    except NominymError as error:
        if len(before[0][0]) >= 3 and not any(
            repr(str(name)) in str(error) or repr(name) in str(error) for name in names
        ):
            pytest.fail(f"names no column: {error}")
        return False
    assert type(res.data) is type(frame)
    if isinstance(frame, pd.DataFrame):
        pd.testing.assert_index_equal(res.data.index, frame.index, exact="equiv", check_categorical=False)
        pd.testing.assert_index_equal(res.data.columns, frame.columns)
    else:
        after = res.data if isinstance(frame, dict) else getattr(res.data, "column_names", None) or res.data.columns
        assert list(after) == names
    for i, (old_cells, old_type) in enumerate(before):
        old, new = column_of(frame, i), column_of(res.data, i)
        assert (cells(old), type_of(old)) == (old_cells, old_type), "the caller's table has changed"
        assert type_of(new) == old_type
        check_dictionary(new, old)
        assert cells(new) == old_cells if i else counted(new) == counted(old)
    return True


def is_taken(name: str, kind: Kind) -> bool:
    """Tell whether a column can be masked: not if it holds several values a record, or none at all."""
    if "MultiIndex" in name or (" of dictionaries" in name and not name.endswith("dictionary of dictionaries")):
        return False
    several = (list, tuple, set, frozenset, dict, np.ndarray, pd.Series, pa.Array, pa.Scalar)
    single = [isinstance(value, pa.MonthDayNano) or not isinstance(value, several) for value in kind.values]
    return all(single) and kind.values != [None]


ALL = [(library, name) for library, kinds in EVERY.items() for name in kinds]


@pytest.mark.parametrize(("library", "name"), ALL, ids=[f"{library} {name}" for library, name in ALL])
def test_every_type_is_masked_and_kept_or_refused(library: str, name: str) -> None:
    kind = EVERY[library][name]
    draw = random.Random(name)
    for gaps in {False, kind.gaps}:
        values = [*kind.values, *draw.choices([*kind.values, None] if gaps else kind.values, k=12)]
        done = {
            method: check(library, {"masked": kind.make(values), "kept": kind.make(values[::-1])}, method)
            for method in METHODS
        }
        assert done["data swap"] == done["equality"] == done["published"] == is_taken(name, kind)


@pytest.mark.parametrize("target", ["release.parquet", "release.csv"])
@pytest.mark.parametrize(("library", "name"), ALL, ids=[f"{library} {name}" for library, name in ALL])
def test_every_type_is_published_or_refused(library: str, name: str, target: str, tmp_path: Path) -> None:
    kind = EVERY[library][name]
    draw = random.Random(name)
    values = [*kind.values, *draw.choices([*kind.values, None] if kind.gaps else kind.values, k=12)]
    frame = frame_of(library, {"masked": kind.make(values), "kept": kind.make(values[::-1])}, 0)
    roles = {"masked": "quasi-identifier", "kept": "keep"}
    try:
        nym.publish(frame, tmp_path / target, roles, nym.DataSwap(rate=1.0, accept=["kept"]))
    except NominymError as error:
        if not re.search("'masked'|'kept'", str(error)):
            pytest.fail(f"names no column: {error}")
        return
    assert len(nym.release.read_table(tmp_path / target)) == len(values)
    assert not name.startswith("Object"), "pointers"


@pytest.mark.filterwarnings("ignore:the index of the table:nominym.PrivacyWarning")
@pytest.mark.parametrize("library", EVERY)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_tables_of_any_types_are_masked_and_kept_or_refused(library: str, data: st.DataObject) -> None:
    kinds = EVERY[library]
    rows = data.draw(st.integers(0, 40))
    possible = NAMES if library in ("pandas", "mapping") else TEXT_NAMES
    names = data.draw(st.lists(st.sampled_from(possible), min_size=1, max_size=4, unique_by=str))
    columns = {}
    for name in names:
        kind = kinds[data.draw(st.sampled_from(sorted(kinds)))]
        some = [*kind.values, *([None] if kind.gaps else [])]
        drawn = data.draw(st.lists(st.integers(0, len(some) - 1), min_size=rows, max_size=rows))
        columns[name] = kind.make([some[i] for i in drawn])
    check(library, columns, data.draw(st.sampled_from(sorted(METHODS))), data.draw(st.integers(0, 5)))
