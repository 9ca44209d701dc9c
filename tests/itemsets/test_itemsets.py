"""Set-valued records in and out of every form, and every mistake named."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nominym as nym
from nominym import Itemsets, error

ROWS = [["milk", "bread"], [], ["beer"], ["milk", "beer", "bread"]]
SORTED = [["bread", "milk"], [], ["beer"], ["beer", "bread", "milk"]]

names = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9))
texts = st.text(max_size=4)
rows = st.one_of(st.lists(st.sets(names, max_size=6), max_size=12), st.lists(st.sets(texts, max_size=6), max_size=12))


class Csr:
    """As much of a SciPy matrix as is read."""

    format = "csr"

    def __init__(self, indptr, indices, data, shape) -> None:
        self.indptr, self.indices, self.data = np.array(indptr), np.array(indices, dtype=int), np.array(data)
        self.shape = shape


def test_a_small_set() -> None:
    sets = Itemsets.from_lists(ROWS)
    assert (sets.n, len(sets), sets.n_items, sets.items) == (4, 4, 3, ("beer", "bread", "milk"))
    assert sets.to_lists() == list(sets) == SORTED
    assert (sets[0], sets[-1], sets[np.int64(2)]) == (SORTED[0], SORTED[-1], SORTED[2])
    assert "milk" not in repr(sets)
    assert repr(sets) == "<Itemsets: 4 records of 3 items>"
    with pytest.raises(AttributeError):
        sets.core = None  # type: ignore[misc]
    with pytest.raises(TypeError, match="unhashable"):
        hash(sets)


@given(rows)
def test_lists_come_back(lists: list[set]) -> None:
    sets = Itemsets.from_lists(lists)
    expected = [sorted(row) for row in lists]
    assert sets.to_lists() == expected
    assert sets.items == tuple(sorted({item for row in lists for item in row}))
    assert Itemsets.from_lists(expected) == sets
    assert pickle.loads(pickle.dumps(sets)) == sets
    for library in ("pandas", "arrow", "polars"):
        assert Itemsets.from_column(sets.to_column(library)) == sets
    assert Itemsets.from_column(pd.Series([*expected, None], dtype=object)[:-1]) == sets
    assert sets.over(sets.items) == sets


@given(st.lists(st.sets(st.integers(0, 6), max_size=6), max_size=12), st.integers(7, 9))
def test_tables_and_matrices_come_back(lists: list[set], width: int) -> None:
    sets = Itemsets.from_lists(lists, items=range(width))
    frame = sets.to_frame()
    assert frame.shape == (len(lists), width)
    assert Itemsets.from_frame(frame) == sets
    named = sets.over(range(width))
    for library in ("arrow", "polars"):
        back = Itemsets.from_frame(sets.to_frame(library))
        assert back.items == tuple(map(str, range(width)))
        assert back.core.equals(named.core)
    flat = [item for row in lists for item in row]
    starts = np.cumsum([0, *map(len, lists)])
    assert Itemsets.from_csr(Csr(starts, flat, np.ones(len(flat)), (len(lists), width))) == sets


def test_scipy_matrices() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    sets = Itemsets.from_lists(ROWS)
    matrix = sets.to_csr()
    assert (matrix.shape, matrix.dtype) == ((4, 3), bool)
    assert matrix.toarray().tolist() == sets.to_frame().to_numpy().tolist()
    assert Itemsets.from_csr(matrix, items=sets.items) == sets
    assert Itemsets.from_csr(sparse.csr_matrix(matrix.astype(int)), items=sets.items) == sets
    with pytest.raises(error.DataError, match=r"CSR form is needed, not csc_array \(csc\); .*tocsr"):
        Itemsets.from_csr(matrix.tocsc())


def test_optional_packages_are_named(monkeypatch) -> None:
    sets = Itemsets.from_lists(ROWS)
    for module in ("scipy.sparse", "polars"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(error.MissingExtraError, match="pip install scipy"):
        sets.to_csr()
    for convert in (sets.to_column, sets.to_frame):
        with pytest.raises(error.MissingExtraError, match=r"pip install nominym\[polars\]"):
            convert("polars")
        for library in ("numpy", ["pandas"], np.array(["pandas", "polars"]), None):
            with pytest.raises(error.ParameterError, match=r"library=.*: give 'pandas', 'arrow' or 'polars'"):
                convert(library)


COLUMNS = {
    "pandas object": pd.Series(ROWS),
    "pandas tuples": pd.Series([tuple(row) for row in ROWS]),
    "pandas sets": pd.Series([set(row) for row in ROWS]),
    "pandas arrays": pd.Series([np.array(row, dtype=object) for row in ROWS]),
    "pandas arrow": pd.Series(ROWS, dtype=pd.ArrowDtype(pa.list_(pa.string()))),
    "polars": pl.Series(ROWS, dtype=pl.List(pl.String)),
    "polars categorical": pl.Series(ROWS, dtype=pl.List(pl.Categorical)),
    "arrow": pa.array(ROWS),
    "arrow large": pa.array(ROWS, type=pa.large_list(pa.large_string())),
    "arrow chunked": pa.chunked_array([ROWS[:1], [], ROWS[1:]], type=pa.list_(pa.string())),
    "arrow slice": pa.array([["wine"], *ROWS, ["wine"]])[1:-1],
    "polars objects": pl.Series([set(row) for row in ROWS], dtype=pl.Object),
    "name that is missing": pd.Series(ROWS, name=pd.NA),
    "list": ROWS,
    "generators": [iter(row) for row in ROWS],
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_every_kind_of_column(column) -> None:
    assert Itemsets.from_column(column).to_lists() == SORTED


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.uint64, object])
def test_whole_numbers_of_any_width(kind) -> None:
    lists = [np.array([3, 1], dtype=kind), np.array([], dtype=kind)]
    assert Itemsets.from_lists(lists).to_lists() == [[1, 3], []]
    assert [type(item) for item in Itemsets.from_lists(lists).items] == [int, int]


def test_the_callers_items_are_kept_in_their_order() -> None:
    sets = Itemsets.from_lists(ROWS, items=["wine", "milk", "bread", "beer"])
    assert sets.items == ("wine", "milk", "bread", "beer")
    assert sets[3] == ["milk", "bread", "beer"]
    assert sets != Itemsets.from_lists(ROWS)
    assert sets.over(Itemsets.from_lists(ROWS).items) == Itemsets.from_lists(ROWS)
    assert sets != ROWS
    with pytest.raises(error.DataError, match="row 2: 'beer' is not among the given items"):
        Itemsets.from_lists(ROWS, items=["milk", "bread"])
    with pytest.raises(error.DataError, match="row 2: 'beer' is not among the given items"):
        sets.over(["milk", "bread"])
    with pytest.raises(error.DataError, match="row 0: 'milk' is not among"):
        Itemsets.from_lists(ROWS, items=[1, 2])
    for wrong, message in (
        (["a", "a"], "'a' occurs twice"),
        (["a", None], "position 1 is missing"),
        (["a", 1], "position 1: 1 among items of another type"),
        ([1.5], "position 0: 1.5 of type float is not an item"),
        (["a", "\ud800"], "position 1: .* surrogate"),
        ([10**5000], "position 0: a huge number has more than 64 bits"),
        ("abc", "give the list of all items"),
        (5, "give the list of all items"),
        (np.array(5), "give the list of all items"),
        (pd.DataFrame({"a": [1]}), "give the list of all items"),
        (range(10**30), "at most 2.32 − 1 items"),
        (range(2**63, 2**63 + 2), "of 64 bits"),
    ):
        with pytest.raises(error.NominymError, match=message) as caught:
            Itemsets.from_lists([], items=wrong)
        assert caught.value.parameter == "items"


def test_records_are_chosen_by_number() -> None:
    sets = Itemsets.from_lists([[i] for i in range(5)])
    assert sets[1:4:2].to_lists() == [[1], [3]]
    assert sets[::-1].to_lists() == [[4], [3], [2], [1], [0]]
    assert sets[np.array([4, -5, 4])].to_lists() == [[4], [0], [4]]
    assert sets[[]].n == sets[5:].n == 0
    assert sets[:2].items == sets.items
    for wrong in (5, -6, [0, 5], [-6]):
        with pytest.raises(IndexError, match="there are 5"):
            sets[wrong]
    for strange in ("a", 1.5, [0.5], [[1]], np.array([True] * 5)):
        with pytest.raises(TypeError, match="chosen by"):
            sets[strange]


MISTAKES = {
    "twice": ([[1], [2, 3, 2]], "row 1: item 2 occurs twice"),
    "text row": ([["a"], "bc"], "row 1: a list of items is needed, not 'bc' of type str"),
    "number row": ([[1], 5], "row 1: a list of items is needed, not 5 of type int"),
    "mapping row": ([{"a": 1}], "row 0: a list of items is needed, not {'a': 1} of type dict"),
    "no rows": (7, "rows of items are needed, not int"),
    "text": ("abc", "rows of items are needed, not str"),
    "frame": (pd.DataFrame({"a": [[1]]}), "rows of items are needed, not DataFrame"),
    "float": ([[1], [2, 2.5]], "row 1: 2.5 of type float is not an item"),
    "truth": ([[1, True]], "row 0: True of type bool is not an item"),
    "truths": ([[True]], "row 0: True of type bool is not an item"),
    "mixed": ([["a"], ["b", 1]], "row 1: 1 among items of another type"),
    "tuple": ([[("a", 1)]], r"row 0: .*of type (tuple|list) is not an item"),
    "bytes": ([[b"a"]], "row 0: b'a' of type bytes is not an item"),
    "long": ([[1], [2**63]], "row 1: 9223372036854775808 has more than 64 bits"),
    "longer": ([[1], [10**5000]], "row 1: a huge number has more than 64 bits"),
    "surrogate": ([["a"], ["\ud800"]], r"row 1: '\\ud800' has half of a surrogate pair"),
    "scalar row": ([[1], np.array(1)], "row 1: a list of items is needed"),
    "scalar": (np.array(1), "rows of items are needed, not ndarray"),
    "endless": (range(10**30), "rows of items are needed, not range"),
    "array": ([[np.array([1, 2])]], r"row 0: .* is not an item"),
    "type": ([[int]], "row 0: <class 'int'> of type type is not an item"),
    "numpy": ([np.array([1, 2**64 - 1], dtype=np.uint64)], "row 0: 18446744073709551615 has more than 64 bits"),
}


@pytest.mark.parametrize(("given_rows", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_rows_are_named(given_rows, message: str) -> None:
    with pytest.raises(error.DataError, match=message):
        Itemsets.from_lists(given_rows)


def test_missing_rows_and_items() -> None:
    gaps = [[1, None, 2], None, [3], float("nan")]
    assert Itemsets.from_lists(gaps, missing="empty").to_lists() == [[1, 2], [], [3], []]
    assert Itemsets.from_column(pd.Series(gaps), missing="empty").to_lists() == [[1, 2], [], [3], []]
    arrow = pa.array([[1, None, 2], None, [3]])
    assert Itemsets.from_column(arrow, missing="empty").to_lists() == [[1, 2], [], [3]]
    assert Itemsets.from_column(pa.array([[None, None]]), missing="empty").to_lists() == [[]]
    for column, message in (
        ([[1], None], "row 1 is missing"),
        ([[1], [None]], "row 1: an item is missing"),
        ([{1}, {None}], "row 1: an item is missing"),
        ([{1}, None], "row 1 is missing"),
        ([["a"], ["b", float("nan")]], "row 1: an item is missing"),
        ([[1], [2, float("nan")]], "row 1: an item is missing"),
        (pd.Series([["a"], None], name="basket"), "column 'basket': row 1 is missing"),
        (pl.Series("basket", [["a"], [None]]), "column 'basket': row 1: an item is missing"),
    ):
        with pytest.raises(error.MissingValueError, match=f"{message}.*missing='empty'"):
            Itemsets.from_column(column)
    for policy in ("keep", ["error"], np.array(["error", "empty"]), None):
        with pytest.raises(error.ParameterError, match=r"missing=.*: give 'error'") as caught:
            Itemsets.from_lists([], missing=policy)
        assert caught.value.parameter == "missing"


def test_mistakes_in_columns_are_named() -> None:
    for column, message in (
        (pa.array([1, 2]), "holds int64 values, but lists of items are needed"),
        (pl.Series("x", ["a"]), "column 'x': holds .*string.* values, but lists"),
        (pd.Series([1, 2], name="x"), "column 'x': row 0: a list of items is needed, not 1"),
        (pd.DataFrame({"x": [[1]]}), "not a DataFrame; choose a column"),
        (pd.Series([[1, 1]], name="x"), "column 'x': row 0: item 1 occurs twice"),
        (pa.array([[1.5]]), "row 0: 1.5 of type float is not an item"),
        (pl.Series([[1]], dtype=pl.List(pl.Float32)), "row 0: 1.0 of type float is not an item"),
        (pl.Series([5], dtype=pl.Int128), "row 0: a list of items is needed, not 5"),
        (pl.DataFrame({"x": [[1]]}).lazy(), "not a LazyFrame; choose a column"),
    ):
        with pytest.raises(error.DataError, match=message):
            Itemsets.from_column(column)


FRAMES = {
    "pandas": pd.DataFrame({"a": [True, False, True], "b": [0, 1, 1]}, index=[5, 5, 7]),
    "pandas nullable": pd.DataFrame(
        {"a": pd.array([True, False, True], dtype="boolean"), "b": pd.array([0, 1, 1], dtype="Int8")}
    ),
    "pandas object": pd.DataFrame({"a": [True, False, True], "b": [False, True, True]}, dtype=object),
    "polars": pl.DataFrame({"a": [True, False, True], "b": [0, 1, 1]}),
    "arrow": pa.table({"a": [True, False, True], "b": pa.array([0, 1, 1], pa.uint8())}),
    "mapping": {"a": [True, False, True], "b": np.array([0, 1, 1])},
    "polars objects": pl.DataFrame({"a": pl.Series([True, False, True], dtype=pl.Object), "b": [0, 1, 1]}),
    "arrow stream": pa.RecordBatchReader.from_batches(
        pa.schema({"a": pa.bool_(), "b": pa.int8()}),
        [pa.record_batch({"a": pa.array([True, False, True]), "b": pa.array([0, 1, 1], pa.int8())})],
    ),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_every_kind_of_table(frame) -> None:
    sets = Itemsets.from_frame(frame)
    assert (sets.items, sets.to_lists()) == (("a", "b"), [["a"], ["b"], ["a", "b"]])


def test_mistakes_in_tables_are_named() -> None:
    for frame, message in (
        ({"a": [True], "b": ["x"]}, "column 'b': 'x' of type str is not a truth value"),
        (pd.DataFrame({"a": [0.5]}), "column 'a': 0.5 of type float is not a truth value"),
        (pd.DataFrame({"a": [0, 1, 2]}), "column 'a': row 2: 2; .*turn counts into truth values"),
        (pd.DataFrame({"a": [[1]]}), r"column 'a': .*1.* of type \w+ is not a truth value"),
        ({"a": [True, "x"]}, "column 'a': 'x' of type str is not a truth value"),
        ({"a": [True], "b": [True, False]}, "same number of records"),
        ({1.5: [True]}, "column 1.5: 1.5 of type float is not an item"),
        ({"a": [True], 1: [True]}, "column 1: 1 among items of another type"),
        ([[1]], "not list"),
    ):
        with pytest.raises(error.DataError, match=message):
            Itemsets.from_frame(frame)
    gaps = {"a": [True, None, False], "b": [None, None, None], "c": [1, None, 0]}
    with pytest.raises(error.MissingValueError, match="column 'a': row 1: a value is missing"):
        Itemsets.from_frame(gaps)
    for make in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        frame = make(gaps) if make is not pd.DataFrame else pd.DataFrame(gaps).astype({"c": "Int64"})
        assert Itemsets.from_frame(frame, missing="empty").to_lists() == [["a", "c"], [], []]
    assert Itemsets.from_frame(pd.DataFrame(index=range(3))).n == 3
    assert Itemsets.from_frame({}).n == 0


def test_tables_that_have_no_room_are_refused(monkeypatch) -> None:
    sets = Itemsets.from_lists([[1]] * 3, items=range(500))
    monkeypatch.setattr("nominym.control.free_memory", lambda: 1000)
    monkeypatch.setattr("nominym.control.LITTLE", 0)
    with pytest.raises(error.SizeError, match="a table of 3 × 500 truth values needs"):
        sets.to_frame()
    with pytest.raises(error.SizeError, match="a list of 500 items needs"):
        Itemsets.from_lists([], items=range(500))


def test_mistakes_in_matrices_are_named() -> None:
    assert Itemsets.from_csr(Csr([0, 2, 3], [0, 2, 1], [1, 0, True], (2, 3))).to_lists() == [[0], [1]]
    assert Itemsets.from_csr(Csr([0, 1], [1], [1.0], (1, 2)), items=["a", "b"]).to_lists() == [["b"]]
    for matrix, message in (
        (Csr([0, 1, 2], [0, 1], [1, 2], (2, 2)), "row 1, column 1: 2; .*truth values"),
        (Csr([0, 1], [0], [np.nan], (1, 1)), "row 0, column 0: nan"),
        (Csr([0, 2], [1, 1], [1, 1], (1, 2)), "row 0: item 1 occurs twice"),
        (Csr([0, 1], [5], [1], (1, 2)), "the matrix is broken"),
        (Csr([0, 1], [-1], [1], (1, 2)), "the matrix is broken"),
        (Csr([0, 1], [0], [1], (2, 2)), "the matrix is broken"),
        (np.eye(2), "CSR form is needed, not ndarray"),
    ):
        with pytest.raises(error.DataError, match=message):
            Itemsets.from_csr(matrix)
    with pytest.raises(error.ParameterError, match="1 names for a matrix of 2 columns"):
        Itemsets.from_csr(Csr([0, 0], [], [], (1, 2)), items=["a"])
    with pytest.raises(error.NominymError):
        Itemsets.from_csr(Csr([0, 2, 1], [0, 1], [1, 1], (2, 2)))


@pytest.mark.parametrize("part", ["indptr", "indices", "data", "shape", "format"])
@pytest.mark.parametrize(
    "wrong",
    [
        None, 7, "ab", ["a", "b"], [0.0, 1.0, float("nan")], [-1, 1, 2], [[0, 1], [2]], [[0, 1, 2]], (2, -2),
        (2, 2, 2), (2.0, 2.0), [10**30] * 2, [2**63, 2**64 - 1], (2, 2**32), int, {"a": 1}, np.array(3),
        np.array([None, None]), np.array([1, 1], dtype=complex), np.array(["1", "1"]), [],
        pd.DataFrame({"a": [1]}), pl.Series([1, 1], dtype=pl.Int128),
    ],
    ids=lambda wrong: f"{wrong!s:.30}",
)  # fmt: skip
def test_broken_matrices_are_refused(part, wrong) -> None:
    matrix = Csr([0, 1, 2], [0, 1], [1, 1], (2, 2))
    assert Itemsets.from_csr(matrix).to_lists() == [[0], [1]]
    setattr(matrix, part, wrong)
    with pytest.raises(error.DataError):
        Itemsets.from_csr(matrix)


def test_ten_million_items_need_no_bitmaps() -> None:
    sets = Itemsets.from_lists([[0, 9_999_999]] * 1000, items=range(10_000_000))
    assert (sets.n_items, sets[999]) == (10_000_000, [0, 9_999_999])
    assert Itemsets.from_lists([[0, 9_999_999]]).n_items == 2


def test_the_core_checks_what_it_is_given() -> None:
    make, numbers = nym._core.Sets.make, lambda *x: np.array(x, dtype=np.uint32)
    starts = lambda *x: np.array(x, dtype=np.uint64)  # noqa: E731
    assert make(3, starts(0, 2), numbers(1, 1)) == (0, 1)
    sets = make(3, starts(0, 2, 3), numbers(2, 0, 1))
    assert sets.row(0).tolist() == [0, 2]
    for call in (
        lambda: make(2, starts(0, 1), numbers(2)),
        lambda: make(2, starts(0, 3), numbers(1)),
        lambda: make(2, starts(), numbers()),
        lambda: sets.row(2),
        lambda: sets.select(numbers(2)),
        lambda: sets.write(["a"], 0, 1),
        lambda: sets.write(["a", "b", "c"], 0, 3),
        lambda: Itemsets(sets, pa.array(["a"])),
    ):
        with pytest.raises(error.NominymError):
            call()
