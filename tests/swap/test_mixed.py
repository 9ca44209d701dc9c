"""Mixed tables: columns of any kinds of meaning together, with every method, statistic and attack that takes them."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import attack
import nominym as nym
from nominym import error
from reference import naive_sd_cov

# Two columns of four values each have few combinations, of many records.
pytestmark = pytest.mark.filterwarnings("ignore:hardly anything changes")

N = 240
K = 6
TAX = nym.Taxonomy.from_edges([(f"c{i:02}", f"c{(i - 1) // 3:02}") for i in range(1, 40)])
CODES = [f"c{i:02}" for i in range(40)]
REGIONS = ["north", "east", "south", "west"]
RINGED = np.array([[0, 1, 3, 1], [1, 0, 1, 3], [3, 1, 0, 1], [1, 3, 1, 0]]) / 3
GRADES = ["none", "school", "college", "doctorate"]

MEANINGS: dict[str, Any] = {
    "taxonomy": TAX,
    "matrix": nym.DistanceMatrix(RINGED, REGIONS),
    "order": nym.Order(),
    "equality": nym.Equality(),
    "ranked": nym.Order(GRADES),
}
PAIRS = [list(pair) for pair in combinations(MEANINGS, 2)]
ALL = list(MEANINGS)
METHODS: list[dict[str, Any]] = [
    {"k": K},
    {"k": K, "draw": "joint"},
    {"k": K, "anneal": True},
    {"k": K, "method": "fixed"},
    {"k": K, "method": "dynamic"},
    {"k": K, "method": "records"},
    {"k": K, "method": "distributional"},
    {"method": "random"},
]
every_mix = pytest.mark.parametrize("names", [*PAIRS, ALL], ids=" ".join)
every_method = pytest.mark.parametrize("how", METHODS, ids=lambda how: " ".join(map(str, how.values())))


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Draw columns of every kind that go together, so that there is a correlation to lose."""
    rng = np.random.default_rng(7)
    size = rng.normal(size=N)

    def near(length: int, noise: float) -> np.ndarray:
        return np.clip(np.rint((size + noise * rng.normal(size=N) + 2) * length / 4), 0, length - 1).astype(int)

    return pd.DataFrame(
        {
            "taxonomy": np.array(CODES)[near(40, 0.3)],
            "matrix": np.array(REGIONS)[near(4, 0.4)],
            "order": near(60, 0.2) + 20,
            "equality": np.array(["f", "m", "x"])[near(3, 0.8)],
            "ranked": np.array(GRADES)[near(4, 0.5)],
        }
    )


def distances(name: str, first: list[Any], second: list[Any]) -> np.ndarray:
    """Measure every value against every other as the definitions say, of values without gaps."""
    if name == "taxonomy":
        part = TAX.restrict(TAX.lcs(sorted({*first, *second})))
        return np.array([[part.distance(a, b) for b in second] for a in first])
    if name == "matrix":
        return RINGED[np.ix_([REGIONS.index(a) for a in first], [REGIONS.index(b) for b in second])]
    if name == "equality":
        return np.array([[float(a != b) for b in second] for a in first])
    if name == "ranked":
        first, second = ([GRADES.index(value) for value in part] for part in (first, second))
    x, y = np.array(first, dtype=float), np.array(second, dtype=float)
    both = np.append(x, y)
    return np.abs(x[:, None] - y[None, :]) / (both.max() - both.min())


def matrix(name: str, values: pd.Series) -> np.ndarray:
    """Measure all pairs of records."""
    kinds, codes = np.unique(values.to_numpy(dtype=object).astype(str), return_inverse=True)
    listed = [int(kind) for kind in kinds] if name == "order" else kinds.tolist()
    return distances(name, listed, listed)[np.ix_(codes, codes)]


def apply(table: pd.DataFrame, names: list[str], how: dict[str, Any], **more: Any) -> nym.Result:
    return nym.rank_swap(table[names], {name: MEANINGS[name] for name in names}, **how, **more)


@every_method
@every_mix
def test_values_go_to_others_and_figures_follow_the_definitions(table, names, how) -> None:
    res = apply(table, names, how, seed=1, correlations=True)
    assert (res.data.dtypes == table[names].dtypes).all()
    cells = {name: matrix(name, table[name]) for name in names}
    rows = {}
    for name in names:
        assert Counter(res.data[name]) == Counter(table[name])
        told = res.secret.summary["attributes"][name]
        values = table[name].tolist()
        place = {value: i for i, value in reversed(list(enumerate(values)))}
        rows[name] = np.array([place[value] for value in res.data[name]])
        moved = cells[name][np.arange(N), rows[name]]
        assert told["rmse"] == pytest.approx(np.sqrt(np.mean(moved**2)), abs=1e-9)
        assert told["rmse"] == pytest.approx(nym.stats.rmse(table[name], res.data[name], MEANINGS[name]), abs=1e-9)
        assert told["unchanged"] == pytest.approx(np.mean(table[name] == res.data[name]))
        if not how.get("method"):
            groups = res.secret.groups
            share = (groups[:, None] == groups) / np.bincount(groups)[groups]
            public = res.summary["attributes"][name]
            assert public["expected_rmse"] == pytest.approx(np.sqrt((share * cells[name] ** 2).sum() / N), rel=1e-6)
    told = res.secret.summary["correlations"].set_index(["x", "y"])
    assert len(told) == len(names) * (len(names) - 1) / 2
    for x, y in combinations(names, 2):
        for when, of in (("before", np.arange(N)), ("after", None)):
            a, b = (cells[z] if of is not None else cells[z][np.ix_(rows[z], rows[z])] for z in (x, y))
            spread = np.sqrt(naive_sd_cov(a, a) * naive_sd_cov(b, b))
            assert told.loc[(x, y), when] == pytest.approx(naive_sd_cov(a, b) / spread, abs=1e-6)


@every_method
def test_seeds_and_threads(table, how) -> None:
    one, again, other = (apply(table, ALL, how, seed=seed).data for seed in (3, 3, 4))
    assert one.equals(again)
    assert not one.equals(other)
    nym.set_threads(1)
    single = apply(table, ALL, how, seed=3).data
    nym.set_threads(None)
    assert one.equals(single)
    assert not apply(table, ALL, how).data.equals(apply(table, ALL, how).data)


def test_groups_and_guarantee(table) -> None:
    res = apply(table, ALL, {"k": K}, seed=1)
    assert np.bincount(res.secret.groups).min() >= K
    assert apply(table, ALL, {"k": K}).guarantee.bound == 1 / K
    order = np.random.default_rng(1).permutation(N)
    other = apply(table.iloc[order].reset_index(drop=True), ALL, {"k": K}, seed=1).secret.groups
    # The groups are those of the values, wherever the rows stand.
    first, second = (
        Counter(tuple(sorted(map(str, table.iloc[rows].itertuples(index=False)))) for rows in parts)
        for parts in (
            [np.flatnonzero(res.secret.groups == g) for g in range(res.secret.groups.max() + 1)],
            [order[other == g] for g in range(other.max() + 1)],
        )
    )
    assert first == second


@every_method
@pytest.mark.parametrize("gap", ALL)
def test_missing_values_of_every_kind(table, gap, how) -> None:
    gaps = table.astype({gap: object})
    gaps.loc[gaps.index[::9], gap] = None
    res = apply(gaps, ALL, how, seed=1, correlations=True)
    told = res.secret.summary["attributes"]
    for name in ALL:
        assert Counter(res.data[name].dropna()) == Counter(gaps[name].dropna())
        assert told[name]["missing"] == gaps[name].isna().sum() == res.data[name].isna().sum()
        assert told[name]["rmse"] == pytest.approx(nym.stats.rmse(gaps[name], res.data[name], MEANINGS[name]), abs=1e-9)
    if "method" in how:
        assert res.data[gap].isna().equals(gaps[gap].isna())
    assert not res.secret.summary["correlations"]["after"].isna().any()
    assert res.linkage().share <= 1
    with pytest.raises(error.MissingValueError, match=f"column '{gap}': 27 of 240 values are missing"):
        apply(gaps, ALL, how, missing="error")


@every_mix
def test_statistics_of_any_two_kinds(table, names) -> None:
    meanings = {name: MEANINGS[name] for name in names}
    cells = {name: matrix(name, table[name]) for name in names}
    found = nym.stats.covariance_matrix(table, meanings)
    for x in names:
        assert nym.stats.distance_variance(table[x], meanings[x]) == pytest.approx(naive_sd_cov(cells[x], cells[x]))
        middle = nym.stats.semantic_mean(table[x], meanings[x])
        if x != "taxonomy":  # its mean may be a concept that no record has
            centre = table[x].astype(str).tolist().index(middle)
            assert nym.stats.semantic_variance(table[x], meanings[x]) == pytest.approx(np.mean(cells[x][centre] ** 2))
        for y in names:
            expected = naive_sd_cov(cells[x], cells[y])
            assert found.loc[x, y] == pytest.approx(expected, abs=1e-9)
            pair = (table[x], table[y], meanings[x], meanings[y])
            assert nym.stats.distance_covariance(*pair) == pytest.approx(expected, abs=1e-9)
            spread = np.sqrt(naive_sd_cov(cells[x], cells[x]) * naive_sd_cov(cells[y], cells[y]))
            assert nym.stats.distance_correlation(*pair) == pytest.approx(expected / spread, abs=1e-6)


@every_mix
@pytest.mark.parametrize("how", [METHODS[0], METHODS[5]], ids=["strict", "records"])
def test_attacks_on_any_mix(table, names, how) -> None:
    meanings = {name: MEANINGS[name] for name in names}
    res = apply(table, names, how, seed=1)
    found = res.linkage(seed=1).attacks
    again = nym.risk.linkage(table[names], res.data, meanings, groups=res.secret.groups, k=K, seed=1).attacks
    assert found[["attack", "known", "share"]].equals(again[["attack", "known", "share"]])
    own = found[found["known"].map(len) == len(names)].set_index("attack")["share"]
    coded, every = [], []
    for name in names:
        kinds = sorted(set(table[name]))
        coded.append([[kinds.index(value) for value in frame[name]] for frame in (table, res.data)])
        every.append(distances(name, kinds, kinds))
    before, after = (np.column_stack([part[side] for part in coded]) for side in (0, 1))
    assert own["nearest row"] == pytest.approx(attack.nearest_row(before, after, every))
    if "method" not in how:
        # Four standard errors of the number found among all records.
        assert own.max() <= 1 / K + 4 * np.sqrt(1 / K / N)


def test_reports_of_a_mixed_table(table, tmp_path: Path) -> None:
    res = apply(table, ALL, {"k": K})
    for edition in ("publication", "owner"):
        page = res.report(tmp_path / f"{edition}.html", edition=edition).read_text(encoding="utf-8")
        assert all(name in page for name in ALL)


# ---- types: what comes back is what went in

WHOLE = list(range(20, 50))
DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=9 * i) for i in range(30)]
TIMES = [dt.datetime(2020, 1, 1, 8) + dt.timedelta(hours=31 * i) for i in range(30)]
SPANS = [dt.timedelta(minutes=7 * i) for i in range(30)]
MONEY = [Decimal(i) / 4 for i in range(30)]
ORDERED = [("low", "middle", "high")[i % 3] for i in range(30)]
TRUTH = [i % 3 == 0 for i in range(30)]
ZONED = [time.replace(tzinfo=dt.timezone.utc) for time in TIMES]

TYPES: dict[str, tuple[Callable[[list[Any]], Any], list[Any], bool]] = {
    **{f"pandas {t}": ((lambda v, t=t: pd.Series(v, dtype=t)), WHOLE, False)
       for t in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
    **{f"pandas {t}": ((lambda v, t=t: pd.Series(v, dtype=t)), WHOLE, True)
       for t in ("Int8", "Int64", "UInt16", "float32", "float64", "Float32", "int64[pyarrow]")},
    "pandas bool": (lambda v: pd.Series(v, dtype="bool"), TRUTH, False),
    "pandas boolean": (lambda v: pd.Series(v, dtype="boolean"), TRUTH, True),
    "pandas decimal": (lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.decimal128(8, 2))), MONEY, True),
    "pandas dates": (lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.date32())), DAYS, True),
    "pandas objects": (lambda v: pd.Series(v, dtype="object"), DAYS, True),
    "pandas datetime64[s]": (lambda v: pd.Series(v, dtype="datetime64[s]"), TIMES, True),
    "pandas datetime64[ns]": (lambda v: pd.Series(v, dtype="datetime64[ns]"), TIMES, True),
    "pandas zone": (lambda v: pd.Series(v, dtype="datetime64[us, UTC]").dt.tz_convert("Europe/Paris"), ZONED, True),
    "pandas timedelta64": (lambda v: pd.Series(v, dtype="timedelta64[ns]"), SPANS, True),
    "pandas period": (lambda v: pd.Series([x and pd.Period(x, "D") for x in v], dtype="period[D]"), DAYS, True),
    "pandas ordered": (lambda v: pd.Series(pd.Categorical(v, ["low", "middle", "high"], ordered=True)), ORDERED, True),
    **{f"polars {t}": ((lambda v, t=t: pl.Series(v, dtype=t)), WHOLE, True)
       for t in (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt64, pl.Float32, pl.Float64)},
    "polars boolean": (lambda v: pl.Series(v, dtype=pl.Boolean), TRUTH, True),
    "polars decimal": (lambda v: pl.Series(v, dtype=pl.Decimal(8, 2)), MONEY, True),
    "polars date": (lambda v: pl.Series(v, dtype=pl.Date), DAYS, True),
    "polars datetime ms": (lambda v: pl.Series(v, dtype=pl.Datetime("ms")), TIMES, True),
    "polars zone": (lambda v: pl.Series(v, dtype=pl.Datetime("us", "UTC")).dt.convert_time_zone("Europe/Paris"), ZONED,
                    True),
    "polars duration": (lambda v: pl.Series(v, dtype=pl.Duration("us")), SPANS, True),
    "polars enum": (lambda v: pl.Series(v, dtype=pl.Enum(["low", "middle", "high"])), ORDERED, True),
    **{f"arrow {t}": ((lambda v, t=t: pa.array(v, t)), WHOLE, True)
       for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64(), pa.float32(), pa.float64())},
    "arrow boolean": (lambda v: pa.array(v, pa.bool_()), TRUTH, True),
    "arrow decimal128": (lambda v: pa.array(v, pa.decimal128(8, 2)), MONEY, True),
    "arrow decimal256": (lambda v: pa.array(v, pa.decimal256(40, 2)), MONEY, True),
    "arrow date32": (lambda v: pa.array(v, pa.date32()), DAYS, True),
    "arrow date64": (lambda v: pa.array(v, pa.date64()), DAYS, True),
    "arrow timestamp": (lambda v: pa.array(v, pa.timestamp("ms")), TIMES, True),
    "arrow zone": (lambda v: pa.array(v, pa.timestamp("us", "Europe/Paris")), ZONED, True),
    "arrow duration": (lambda v: pa.array(v, pa.duration("s")), SPANS, True),
    "arrow time": (lambda v: pa.array(v, pa.time32("s")), [dt.time(i % 24, 5) for i in range(30)], True),
}  # fmt: skip


def values_of(column: Any) -> list[Any]:
    found = column.to_pylist() if isinstance(column, pa.ChunkedArray) else list(column)
    return [None if value is None or value is pd.NaT or value is pd.NA or value != value else value for value in found]


def typed(column: Any) -> Any:
    kind = column.type if isinstance(column, pa.ChunkedArray) else column.dtype
    return (kind.categories.dtype, kind.ordered) if isinstance(kind, pd.CategoricalDtype) else str(kind)


@pytest.mark.parametrize("method", [None, "records", "random", "numerical"])
@pytest.mark.parametrize("name", TYPES)
def test_numbers_and_dates_come_back_as_they_were(name, method) -> None:
    make, some, gaps = TYPES[name]
    for gap in {False, gaps}:
        values = [None if gap and i % 11 == 0 else value for i, value in enumerate(some * 2)]
        column = make(values)
        rest = {"sex": ["f", "m"] * 30, "diagnosis": [CODES[i % 13] for i in range(60)],
                "region": [REGIONS[i % 4] for i in range(60)]}  # fmt: skip
        library = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[name.partition(" ")[0]]
        frame = library({"x": column, **rest})
        meanings = {"x": nym.Order(), "sex": nym.Equality(), "diagnosis": TAX, "region": MEANINGS["matrix"]}
        if method == "numerical":
            meanings = {"x": nym.Order()}
        res = nym.rank_swap(frame, meanings, k=5, method=method, seed=1, correlations=True)
        assert type(res.data) is type(frame)
        old, new = frame["x"], res.data["x"]
        assert typed(new) == typed(old)
        was, now = values_of(old), values_of(new)
        assert Counter(now) == Counter(was)
        # Enough records share each of two or three values to be a group of their own.
        assert now != was or len(set(some)) <= 3
        assert {type(value) for value in now} == {type(value) for value in was}
        assert res.linkage().share <= 1
        line = res.secret.summary["attributes"]["x"]
        assert 0 <= line["rmse"] < 1
        assert line["rmse"] > 0 or len(set(some)) <= 3
