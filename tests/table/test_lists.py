"""Columns of lists, coded in Arrow, and texts of several classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nominym as nym
from nominym.table import MISSING, code, coding


def drawn(n: int, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    lists: list[Any] = [rng.choice(["b", "a", "é", "ab", "10", "9"], rng.integers(0, 4)).tolist() for _ in range(n)]
    lists[3] = lists[7] = None
    return lists


def arrays(lists: list[Any]) -> pd.Series:
    return pd.Series([None if x is None else np.array(x, dtype=object) for x in lists], dtype=object)


@pytest.mark.parametrize(
    "make", [list, pd.Series, arrays, pa.array, pl.Series, lambda x: pa.array(x, pa.large_list(pa.large_string())),
             lambda x: pd.Series(x, dtype=pd.ArrowDtype(pa.list_(pa.string())))],
)  # fmt: skip
def test_lists_are_told_apart_as_objects_are(make: Any) -> None:
    lists = drawn(200, 1)
    column = code(make(lists))
    assert column.lists is not None
    assert column.kind == "nested"
    assert column.missing == 2
    for row, value in enumerate(lists):
        if value is None:
            assert column.codes[row] == MISSING
        else:
            assert list(column.categories[column.codes[row]]) == value
    codes, categories, _ = coding._encode_objects(lists)
    assert column.size == len(categories) == len({str(value) for value in column.categories})
    assert len(set(zip(codes.tolist(), column.codes.tolist(), strict=True))) == len(categories) + 1


def test_numbers_of_lists_do_not_depend_on_rows() -> None:
    lists = drawn(300, 2)
    order = np.random.default_rng(3).permutation(300)
    first, second = code(lists), code([lists[row] for row in order])
    assert first.categories == second.categories
    assert np.array_equal(first.codes[order], second.codes)


@pytest.mark.parametrize("odd", [[1], [None], [1.5], ["a", 2], ("a",), [True], [np.str_("a")], [["a"]], {"a": 1}])
def test_other_lists_are_kept_as_objects(odd: Any) -> None:
    column = code([["a"], odd, ["b", "a"], None])
    assert column.lists is None
    # Texts of numpy 1 look like others, so that lists of them are equal, and one stands for both.
    assert any(type(value) is type(odd) and value == odd for value in column.categories)


def test_whole_numbers_and_cut_columns() -> None:
    column = code([[3, 10], [3], [], [3, 10]])
    assert column.categories == ([], [3], [3, 10])
    assert [column.categories[i] for i in column.codes] == [[3, 10], [3], [], [3, 10]]
    cut = pa.chunked_array([pa.array([["x"], ["y", "z"], None, ["z"]])[1:], pa.array([["y", "z"]])])
    assert [None if i == MISSING else code(cut).categories[i] for i in code(cut).codes] == cut.to_pylist()


def test_sets_have_one_place_whoever_codes_them() -> None:
    lists = [["b", "a"], ["a", "b", "a"], [], ["c"]]
    fast, slow = code(lists), code([tuple(items) for items in lists])
    assert fast.lists is not None
    assert slow.lists is None
    space = nym.Sets().space([fast, slow])
    assert [space.name(p) for p in space.places[0][fast.codes]] == ["{a, b}", "{a, b}", "{}", "{c}"]
    assert np.array_equal(space.places[0][fast.codes], space.places[1][slow.codes])


@pytest.mark.parametrize("make", [list, lambda x: pd.Series(x, dtype=object), lambda x: np.array(x, dtype=object)])
@pytest.mark.parametrize("repeats", [1, 40])
def test_texts_of_several_classes_come_back_plain(make: Any, repeats: int) -> None:
    """Which of equal texts comes first must not be seen in any other row."""
    values = [text for i in range(6 * 40 // repeats) for text in [f"t{i % (240 // repeats // 2):03}"] * repeats]
    tax = nym.Taxonomy.from_edges([(text, "all") for text in set(values)])
    for odd in (0, 1, len(values) - 1):
        given = [np.str_(text) if row == odd else text for row, text in enumerate(values)]
        masked = nym.rank_swap({"x": make(given)}, {"x": tax}, method="random", seed=1).data["x"]
        assert {type(text) for text in masked} == {str}
        assert sorted(masked) == sorted(values)


def test_texts_of_one_class_keep_it() -> None:
    values = [np.str_(text) for text in "abcabcabc"]
    tax = nym.Taxonomy.from_edges([(text, "all") for text in "abc"])
    assert {type(text) for text in nym.rank_swap({"x": values}, {"x": tax}, method="random", seed=1).data["x"]} == {
        np.str_
    }


@pytest.mark.parametrize("kind", [pd.Series, list])
def test_rows_do_not_share_lists(kind: type) -> None:
    given = kind([["a", "b"], ["b", "c"]] * 10)
    made = nym.rank_swap({"x": given}, {"x": nym.Sets()}, k=20, seed=1).data["x"]
    made[0].append("new")
    assert all("new" not in items for items in given)
    assert sum("new" in items for items in made) == 1


@pytest.mark.filterwarnings("ignore:hardly anything changes:nominym.error.PrivacyWarning")
def test_unchanged_is_by_meaning() -> None:
    res = nym.rank_swap({"x": [["a", "b"], ["b", "a"]] * 10}, {"x": nym.Sets()}, k=20, seed=1)
    assert res.summary["attributes"]["x"]["expected_unchanged"] == 1.0
    assert res.secret.summary["attributes"]["x"]["unchanged"] == 1.0


def test_unknown_items_are_counted_and_have_a_remedy() -> None:
    tax = nym.Taxonomy.from_edges([("a", "any"), ("b", "any")])
    with pytest.raises(nym.error.UnknownConceptError, match=r"2 items \(3 times\) not in .* take nym.Sets"):
        nym.rank_swap({"x": [["a", "zz"], ["b", "yy", "zz"]]}, {"x": nym.Sets(tax)}, k=2)
