"""Set-valued records on Spark: what comes out, in blocks too, that failures do not change it, and bad input."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nominym as nym
from nominym.error import DataError, MissingValueError, ParameterError, SizeError, UnknownColumnError

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'nominym[spark]'")
from nominym.spark import blocks, sets

K = 4
N = 600


@pytest.fixture(scope="module")
def baskets() -> Any:
    return nym.datasets.baskets(N, seed=1, items=40, size=4.0, labels=6)


@pytest.fixture(scope="module")
def data(session: Any, baskets: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("sets") / "baskets.parquet"
    table = pa.table({"items": baskets.sets.to_column("arrow"), "label": list(baskets.labels), "shop": [1] * N})
    session.createDataFrame(table).repartition(3).write.parquet(path.as_uri())
    return session.read.parquet(path.as_uri())


def rows_of(data: Any) -> list[tuple[Any, ...]]:
    return [(tuple(row[0]), tuple(row[1]), *row[2:]) for row in data.collect()]


def could_be(row: tuple[Any, ...], record: set[Any]) -> bool:
    """Tell whether a published row could be a record."""
    wrong = set(row[0]) ^ record
    return wrong <= set(row[1]) and len(wrong) <= row[2]


def test_keys_sort_as_the_ranks_in_gray_code(baskets: Any) -> None:
    for some in (baskets.sets, nym.Itemsets.from_lists([[], [0], [1], [0, 1], list(range(9))], items=range(9))):
        for word in (np.dtype(">u2"), np.dtype(">u4")):
            written = sets.keys(some, word)
            order = sorted(range(some.n), key=written.to_pylist().__getitem__)
            assert order == nym.gray_order(some).tolist()
            assert sets.sets_of(written, some.names, word) == some
            # By their first bytes, no key comes before a smaller one.
            prefixes = sets._prefixes(written)
            assert all(prefixes[a] <= prefixes[b] for a, b in pairwise(order))


@pytest.mark.parametrize("plan", ["driver", "blocks"])
def test_every_record_has_k_forms_and_labels_stay(
    data: Any, baskets: Any, plan: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_RECORDS", 120)
    result = nym.spark.recode(data, K, column="items", label="label", plan=plan)
    alone = nym.recode(baskets.sets, K, labels=baskets.labels)
    rows = rows_of(result.data)
    assert result.data.columns == ["base", "distance", "threshold", "label"]
    assert len(rows) == N
    assert rows == sorted(rows)
    assert Counter(row[3] for row in rows) == Counter(baskets.labels)
    # All rows of a group publish the same, and a group has k at least.
    forms = Counter(row[:3] for row in rows)
    assert min(forms.values()) >= K
    for record in baskets.sets[::20].to_lists():
        assert sum(times for form, times in forms.items() if could_be(form, set(record))) >= K
    assert set(result.summary) - {"notes"} == set(alone.summary)
    assert result.summary["groups"]["smallest"] >= K
    assert result.summary["bound"] <= 1 / K
    assert result.guarantee == alone.guarantee
    for name in ("records", "items", "labels"):
        assert result.summary[name] == alone.summary[name]
    assert result.params["plan"] == plan
    assert "not part of the release: shop" in result.summary["notes"]
    thresholds = [row[2] for row in rows]
    assert result.summary["threshold"]["largest"] == max(thresholds)
    assert result.summary["threshold"]["mean"] == pytest.approx(np.mean(thresholds))
    if plan == "blocks":
        assert result.params["blocks"] >= 3
        # Blocks of 120 records are far smaller than any real one, and cost more.
        assert (
            alone.summary["expected_error"] < result.summary["expected_error"] < 1.5 * alone.summary["expected_error"]
        )


@pytest.mark.parametrize("plan", ["driver", "blocks"])
def test_killed_and_moved_tasks_give_the_same_rows(
    data: Any, plan: Any, kill_first_attempts: Any, by_generated_code: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    monkeypatch.setattr(blocks, "BLOCK_RECORDS", 120)
    with by_generated_code():
        calm = nym.spark.recode(data, K, column="items", label="label", plan=plan, seed=3)
        expected = rows_of(calm.data)
    real = sets._solving
    monkeypatch.setattr(sets, "_solving", lambda *given: kill_first_attempts(real(*given)))
    # The same sets, written in another order.
    moved = data.withColumn("items", F.reverse("items")).repartition(5, "label")
    stormy = nym.spark.recode(moved, K, column="items", label="label", plan=plan, seed=3)
    assert stormy.summary == calm.summary
    assert rows_of(stormy.data) == expected


def test_closures_long_tables_and_releases(session: Any, tmp_path: Path, run: Any) -> None:
    tax = nym.Taxonomy.from_edges(
        [("cola", "drinks"), ("tea", "drinks"), ("milk", "drinks"), ("drinks", "food"), ("rice", "food")]
    )
    lists = [["cola", "rice"], ["tea", "rice"], ["milk"]] * 8
    data = session.createDataFrame([(each,) for each in lists], "items array<string>")
    for plan in ("driver", "blocks"):
        result = nym.spark.recode(data, 3, taxonomy=tax, plan=plan)
        alone = nym.recode(nym.Itemsets.from_lists(lists), k=3, taxonomy=tax)
        assert result.summary["taxonomy"] == alone.summary["taxonomy"]
        assert result.summary["items"] == alone.summary["items"]
        assert {each for row in rows_of(result.data) for each in row[0]} <= {"drinks", "rice", "cola", "tea", "milk"}
    long = [(i, each, "x") for i, items in enumerate(lists) for each in [*items, items[0]]]
    table = session.createDataFrame(long, "receipt int, article string, kind string")
    roles: Any = None
    out = tmp_path / "release.parquet"
    made = nym.publish(
        table, out, roles, nym.Recode(k=3), {"items": tax}, record="receipt", item="article", engine="spark",
        plan="blocks",
    )  # fmt: skip
    assert made.manifest == nym.release.read_manifest(out)
    assert (made.manifest.command, made.manifest.order, made.manifest.output["rows"]) == ("recode", "sorted", 24)
    assert made.result.data.columns == ["base", "distance", "threshold"]
    assert made.result.guarantee.headline == "Re-identification probability of a row: at most 1 in 3"
    with pytest.raises(ParameterError, match="item sets have no roles"):
        nym.publish(table, out, {"kind": "keep"}, nym.Recode(k=3), engine="spark", overwrite=True)
    with pytest.raises(ParameterError, match="a table has roles instead of labels"):
        nym.publish(table, out, {"kind": "keep"}, nym.RankSwap(k=3), engine="spark", overwrite=True, column="kind")
    table.write.parquet((tmp_path / "sold.parquet").as_uri())
    done = run(
        "recode", tmp_path / "sold.parquet", "-o", tmp_path / "two.parquet", "--engine", "spark", "--k", 3,
        "--record", "receipt", "--item", "article", "--label", "kind",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "24 records" in done.out
    assert "guarantee: Re-identification probability of a row: at most 1 in 3" in done.out


def test_bad_input(session: Any, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    recode = nym.spark.recode
    with pytest.raises(DataError, match="Spark data frame is needed"):
        recode([[1]], K)
    with pytest.raises(UnknownColumnError, match="there is no column 'basket'"):
        recode(data, K, column="basket")
    with pytest.raises(DataError, match="column 'shop': holds bigint values, but lists of items are needed"):
        recode(data, K, column="shop")
    with pytest.raises(ParameterError, match="name the column that holds lists of items"):
        recode(data.drop("items"), K)
    with pytest.raises(ParameterError, match="plan='many'"):
        recode(data, K, plan="many")
    with pytest.raises(ParameterError, match="rows have no number on Spark"):
        recode(data, K, order=list(range(N)))
    for options in ({"structure": "ring"}, {"structure": "cahd"}, {"limit": 1.0}, {"person": "shop"}):
        with pytest.raises(ParameterError, match="which blocks do not have; give plan='driver'"):
            recode(data, 5, plan="blocks", **options)
    with pytest.raises(DataError, match="600 records, but each needs 601 forms"):
        recode(data, N + 1, plan="blocks")
    bad = session.createDataFrame([([1, 1], "a"), ([2], None)], "items array<int>, label string")
    with pytest.raises(DataError, match="column 'items': in 1 of 2 lists an item stands twice"):
        recode(bad, 2, column="items")
    with pytest.raises(MissingValueError, match="column 'label': 2 of 2 values are missing"):
        recode(bad.filter("label is null").unionAll(bad.filter("label is null")), 2, column="items", label="label")
    gaps = session.createDataFrame([([1, None], 1.5), (None, 2.5), ([3], 2.5)], "items array<int>, x double")
    with pytest.raises(MissingValueError, match=r"column 'items': 1 of 3 lists are missing; .*missing='empty'"):
        recode(gaps, 2, column="items")
    assert recode(gaps, 3, column="items", missing="empty", plan="blocks").data.count() == 3
    with pytest.raises(DataError, match="column 'm': map<int,int> is no type of items"):
        recode(gaps.selectExpr("array(map(1, 2)) m"), 2)
    with pytest.raises(DataError, match="the table has no records"):
        recode(data.limit(0), K)
    with pytest.raises(ParameterError, match=r"call nym\.spark\.recode"):
        nym.spark.mask(nym.Recode(k=3), data, {})
    with pytest.raises(DataError, match="2 rows belong to is missing"):
        recode(session.createDataFrame([(None, 1), (None, 2)], "r int, i int"), 2, record="r", item="i")
    monkeypatch.setattr(sets, "_RECORD", 1 << 50)
    with pytest.raises(SizeError, match=r"recoding 600 records on the driver needs .* plan='blocks'"):
        recode(data, K, plan="driver")
