"""Sets as a meaning: distances, means and common parts by their definitions, in columns of any library."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nominym as nym
from nominym.error import DataError, ParameterError, UnknownConceptError
from nominym.meaning import MANY
from nominym.table import code

TAX = nym.Taxonomy.from_edges(
    [("flu", "lung"), ("cold", "lung"), ("lung", "ill"), ("coma", "head"), ("ache", "head"), ("head", "ill")],
    labels={"flu": "Influenza"},
)
LEAVES = ["flu", "cold", "coma", "ache"]
rows = st.lists(st.lists(st.sampled_from([*LEAVES, "lung", "ill", "INFLUENZA"]), max_size=4), min_size=1, max_size=9)


def closure(items, tax=TAX) -> frozenset[str]:
    if tax is None:
        return frozenset(items)
    return frozenset(concept for item in items for concept in tax.subsumers(item)) - {tax.root}


def space_of(values, tax=TAX):
    column = code(values)
    return column, nym.Sets(tax).space([column])


@given(rows, st.booleans())
def test_distances_means_and_common_parts(values, semantic) -> None:
    tax = TAX if semantic else None
    column, space = space_of(values, tax)
    places = space.places[0]
    closures = [closure(value, tax) for value in column.categories]
    for i, a in enumerate(closures):
        for j, b in enumerate(closures):
            expected = len(a ^ b) / len(a | b) if a | b else 0.0
            assert space.block(places, places)[i, j] == pytest.approx(expected)
            assert (places[i] == places[j]) == (a == b)
    assert np.array_equal(space.pairs(places, places[::-1]), np.diagonal(space.block(places, places)[:, ::-1]))
    # The majority of the records.
    mean = space.mean(places, column.counts)
    votes: dict[str, int] = {}
    for value, count in zip(closures, column.counts.tolist(), strict=True):
        for item in value:
            votes[item] = votes.get(item, 0) + count
    majority = {item for item, number in votes.items() if 2 * number > len(values)}
    lowest = {a for a in majority if not any(a != b and a in closure([b], tax) for b in majority)}
    assert space.name(mean) == space.names[mean] == f"{{{', '.join(sorted(lowest))}}}"
    assert closure(lowest, tax) == majority
    assert space.mean(places, column.counts) == mean
    shared = frozenset.intersection(*closures)
    lowest = {a for a in shared if not any(a != b and a in closure([b], tax) for b in shared)}
    assert space.common(places) == f"{{{', '.join(sorted(lowest))}}}"


def test_order_and_repeats_do_not_matter() -> None:
    _, space = space_of([["flu", "coma"], ["coma", "flu", "flu"], ("Influenza", "coma"), np.array(["coma", "flu"])])
    assert len(set(space.places[0].tolist())) == 1
    _, space = space_of([{"flu"}, frozenset(["flu"]), ["flu", "lung"]])
    assert len(space) == 1
    assert space.label(0) == "{Influenza (flu)}"


def test_long_arrays_are_told_apart() -> None:
    """The text that numpy writes of arrays over a thousand items leaves out the middle."""
    long = np.arange(2_000)
    other = long.copy()
    other[1_000] = 5_000
    assert code([long, other]).size == 2


def test_two_columns_have_one_space() -> None:
    first, second = code([["flu"], []]), code([["cold"], ["flu"]])
    space = nym.Sets(TAX).space([first, second])
    names = [[space.name(p) for p in places] for places in space.places]
    assert sorted(map(sorted, names)) == [["{cold}", "{flu}"], ["{flu}", "{}"]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["flu", "cold"], "'cold' of type str is not a list of items.*Taxonomy or nym.Equality"),
        ([["flu"], "cold"], "is not a list of items"),
        ([{"flu": 1}], "is not a list"),
        ([["flu", None]], "misses an item"),
        ([["flu", ["cold"]]], r"holds \['cold'\] of type list"),
        ([[1.5]], "holds 1.5"),
        ([[None]], "misses an item"),
    ],
)
def test_what_is_no_set_is_refused(values, message) -> None:
    with pytest.raises(DataError, match=message):
        nym.rank_swap({"x": values * 4}, {"x": nym.Sets()}, k=2)


def test_strange_items_and_roots() -> None:
    with pytest.raises(UnknownConceptError, match=r"x.*'plague' \(3×\)"):
        nym.rank_swap({"x": [["plague", "flu"]] * 3}, {"x": nym.Sets(TAX)}, k=2)
    with pytest.raises(ParameterError, match="only a taxonomy has a root"):
        nym.rank_swap({"x": [["flu"]] * 3}, {"x": nym.Sets(TAX)}, k=2, roots={"x": "lung"})
    with pytest.raises(ParameterError, match="give a Taxonomy"):
        nym.Sets("icd.csv")
    with pytest.raises(DataError, match="lists"):
        nym.rank_swap({"x": [["flu"]] * 3}, {"x": TAX}, k=2)
    assert repr(nym.Sets()) == "Sets()"
    assert nym.Sets() == nym.Sets()
    assert nym.Sets(TAX) != nym.Sets()


def patients(n: int, seed: int = 1) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    diagnoses = [sorted(set(rng.choice(LEAVES, rng.integers(0, 4)).tolist())) for _ in range(n)]
    diagnoses[3] = None
    return {
        "diagnoses": diagnoses,
        "age": rng.integers(20, 90, n).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
    }


MEANINGS = {"diagnoses": nym.Sets(TAX), "age": nym.Order(), "sex": nym.Equality()}


def frames() -> dict:
    given = patients(200)
    arrow = pa.table(given)
    made = {
        "lists": given,
        "pandas": pd.DataFrame(given),
        "arrays": pd.DataFrame({**given, "diagnoses": [v and np.array(v) for v in given["diagnoses"]]}),
        "arrow in pandas": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "arrow": arrow,
    }
    try:
        import polars as pl
    except ImportError:
        return made
    return {**made, "polars": pl.DataFrame(given)}


@pytest.mark.parametrize("library", frames())
def test_lists_are_swapped_with_other_columns(library) -> None:
    frame = frames()[library]
    res = nym.rank_swap(frame, MEANINGS, k=5, seed=1)
    assert type(res.data) is type(frame)
    old, new = (data["diagnoses"] for data in (frame, res.data))
    assert type(old) is type(new)
    assert str(getattr(old, "dtype", getattr(old, "type", ""))) == str(getattr(new, "dtype", getattr(new, "type", "")))

    def read(column) -> list:
        listed = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        return [None if value is None or value is pd.NA else tuple(value) for value in listed]

    assert sorted(map(str, read(old))) == sorted(map(str, read(new)))
    assert sum(x != y for x, y in zip(read(old), read(new), strict=True)) > 20
    assert res.guarantee.kind == "none"  # seeded
    figures = res.summary["attributes"]["diagnoses"]
    assert figures["expected_rmse"] > 0
    assert res.secret.summary["attributes"]["diagnoses"]["rmse"] <= 1
    assert res.linkage(k=5).bound == pytest.approx(0.2)


def test_every_library_gives_the_same_draw() -> None:
    made = [nym.rank_swap(frame, MEANINGS, k=5, seed=7).data for frame in frames().values()]
    ages = [list(np.asarray(data["age"])) for data in made]
    assert all(age == ages[0] for age in ages)


def test_kin_are_swapped_rather_than_strangers() -> None:
    """With a taxonomy, more of the sets get another of the same branch."""
    given = patients(600)
    given["diagnoses"] = [[LEAVES[i % 4]] for i in range(600)]
    apart = {}
    for name, meaning in {"plain": nym.Sets(), "semantic": nym.Sets(TAX)}.items():
        data = nym.rank_swap(given, {"diagnoses": meaning, "age": nym.Order()}, k=8, seed=1).data["diagnoses"]
        apart[name] = nym.stats.rmse(given["diagnoses"], data, nym.Sets(TAX))
    assert apart["semantic"] <= apart["plain"]


def test_many_sets_need_no_matrix(monkeypatch) -> None:
    """Above so many distinct sets the core has the sets themselves, missing ones too; groups are as good."""
    rng = np.random.default_rng(3)
    tax = nym.Taxonomy.from_edges([(str(i), str((i - 1) // 3)) for i in range(1, 400)])
    values = [[str(x) for x in sorted(set(rng.integers(130, 400, 4).tolist()))] for _ in range(MANY + 500)]
    values[7] = values[8] = None
    frame = {"codes": values, "age": rng.integers(0, 90, len(values)).tolist()}
    meanings = {"codes": nym.Sets(tax), "age": nym.Order()}
    assert nym.Sets(tax).space([code(values)]).matrixless(np.arange(MANY + 1, dtype=np.uint32), True) is not None
    without = nym.rank_swap(frame, meanings, k=5, seed=1)
    monkeypatch.setattr(nym.meaning.SetSpace, "matrixless", lambda *_: None)
    matrix = nym.rank_swap(frame, meanings, k=5, seed=1)
    figures = [made.summary["attributes"]["codes"]["expected_rmse"] for made in (without, matrix)]
    assert figures[0] == pytest.approx(figures[1], rel=0.03)
    # Of the same groups, the figure is the same.
    groups = [made.summary["groups"]["smallest"] for made in (without, matrix)]
    assert min(groups) >= 5
