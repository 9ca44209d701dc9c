"""Methods on Spark: what comes out, that failures do not change it, and that nothing leaks."""

from __future__ import annotations

import os
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nominym as nym
from nominym.error import DataError, MissingValueError, ParameterError, SizeError, UnknownColumnError
from nominym.table import code

K = 5


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, dict[str, Any]]:
    """Give discharges with a number to mask, missing values, and kept columns that are harmless."""
    frame, meanings = nym.datasets.discharges(1_500, seed=1)
    frame = frame.astype({name: object for name in frame.columns if name != "length_of_stay"})
    frame = frame[["diagnosis", "procedure", "length_of_stay", "sex", "age_group"]]
    frame.loc[::50, "procedure"] = None
    return frame, {
        "diagnosis": meanings["diagnosis"], "procedure": meanings["procedure"], "length_of_stay": nym.Order(),
    }  # fmt: skip


@pytest.fixture(scope="module")
def folder(table: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "visits.parquet"
    path.mkdir()
    frame = pa.Table.from_pandas(table[0], preserve_index=False)
    for part in range(3):
        pq.write_table(frame.slice(part * 500, 500), path / f"{part}.parquet")
    return path


@pytest.fixture(scope="module")
def data(session: Any, folder: Path) -> Any:
    return session.read.parquet(folder.as_uri())


@pytest.fixture(scope="module")
def swapped(data: Any, table: Any, by_generated_code: Any) -> Any:
    """Give what masks strictly by a plan, and keeps the result and its rows for all who ask."""
    from nominym.spark import blocks, methods

    @cache
    def swap(plan: Any) -> tuple[Any, list[tuple[Any, ...]]]:
        with pytest.MonkeyPatch.context() as patch, by_generated_code():
            patch.setattr(methods, "BLOCK_RECORDS", 200)
            patch.setattr(blocks, "BLOCK_RECORDS", 300)
            made = nym.spark.rank_swap(data, table[1], k=K, seed=3, plan=plan)
            return made, rows_of(made.data)

    return swap


def rows_of(data: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in data.collect()]


def sorted_texts(values: Any) -> list[str]:
    return sorted(str(None if pd.isna(value) else value) for value in values)


def columns_are_kept(frame: pd.DataFrame, out: pd.DataFrame) -> bool:
    return all(sorted_texts(frame[name]) == sorted_texts(out[name]) for name in frame)


def test_strict_swapping_has_the_figures_of_one_machine(swapped: Any, table: Any) -> None:
    frame, meanings = table
    result, rows = swapped("driver")
    alone = nym.rank_swap(frame, meanings, k=K, seed=3)
    assert result.data.columns == list(frame)
    assert columns_are_kept(frame, pd.DataFrame(rows, columns=list(frame)))
    # The same tuples and the same seed make the same groups; which of two equal tuples is in which, differs.
    one, other = ({**res.summary, "groups": dict(res.summary["groups"])} for res in (result, alone))
    assert set(one["groups"].pop("constant")) == set(other["groups"].pop("constant")) == {"sex", "age_group"}
    assert one == other
    assert {**alone.params, "engine": "spark", "plan": "driver"} == result.params
    assert not result.data.is_cached
    known = [tuple("" if value is None else str(value) for value in row) for row in rows]
    assert [row[0] for row in known] == sorted(row[0] for row in known)
    assert result.secret.summary["attributes"]["diagnosis"]["fewer_than_k"] == 0
    assert rows == rows_of(result.data)


def test_without_a_seed_nothing_repeats_and_the_guarantee_is_stated(data: Any, table: Any) -> None:
    few, meanings = data.select("diagnosis", "sex"), {"diagnosis": table[1]["diagnosis"]}
    first, second = (nym.spark.rank_swap(few, meanings, k=K) for _ in range(2))
    assert rows_of(first.data) != rows_of(second.data)
    assert first.guarantee.headline == f"Re-identification probability of a row: at most 1 in {K}"
    assert first.summary["bound"] == 1 / K


@pytest.mark.parametrize("plan", ["driver", "blocks"])
def test_killed_and_moved_tasks_give_the_same_rows(
    swapped: Any, data: Any, table: Any, plan: Any, kill_first_attempts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nominym.spark import blocks, methods, tasks

    undisturbed, expected = swapped(plan)
    assert columns_are_kept(table[0], pd.DataFrame(expected, columns=list(table[0])))
    monkeypatch.setattr(methods, "BLOCK_RECORDS", 200)
    monkeypatch.setattr(blocks, "BLOCK_RECORDS", 300)
    for module, name in ((tasks, "placing"), (blocks, "_solving")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, real=real: kill_first_attempts(real(*given)))
    moved = data.repartition(5, "sex", "length_of_stay")
    disturbed = nym.spark.rank_swap(moved, table[1], k=K, seed=3, plan=plan)
    assert disturbed.summary == undisturbed.summary
    assert rows_of(disturbed.data) == expected


@pytest.mark.parametrize("plan", ["driver", "blocks"])
def test_parts_are_cut_by_content_alone(session: Any, plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    from nominym.spark import source

    monkeypatch.setattr(source, "PART_RECORDS", 60)
    n = 400
    values = [None if i % 50 == 0 else "often" if i % 2 else f"v{i % 97:02}" for i in range(n)]
    frame = session.createDataFrame(pa.table({"id": np.arange(n), "v": values}))
    found = []
    for data in (frame.coalesce(1), frame.repartition(3, "v")):
        made = nym.spark.rank_swap(data, {"v": nym.Equality()}, k=10, accept=["id"], plan=plan, seed=1).data
        found.append([tuple(row) for row in made.withColumn("part", F.spark_partition_id()).collect()])
    assert found[0] == found[1]
    assert sorted(row[0] for row in found[0]) == list(range(n))
    shown = ["" if row[1] is None else row[1] for row in found[0]]
    assert shown == sorted(shown)
    # A value of more records than a part has is in several.
    assert len({row[2] for row in found[0] if row[1] == "often"}) >= 3
    for part in {row[2] for row in found[0]}:
        rows = [(value or "", number) for number, value, at in found[0] if at == part]
        assert rows == sorted(rows)
        assert len(rows) < 150


def test_rows_that_differ_in_the_sign_of_a_zero_are_in_an_order_too(session: Any) -> None:
    # Before masking, a and c have one sign, and b has the other.
    table = pa.table({"name": list("abc") * 30, "x": [0.0, -0.0, 0.0] * 30})
    flat = session.createDataFrame(table)
    nested = flat.selectExpr("name", "struct(array(x) AS x) AS x")
    for data, plan, read in ((flat, "driver", lambda x: x), (nested, "blocks", lambda x: x[0][0])):
        rows = nym.spark.rank_swap(data, {"name": nym.Equality()}, k=90, plan=plan, accept=["x"]).data.collect()
        for name in "abc":
            signs = [np.signbit(read(row["x"])) for row in rows if row["name"] == name]
            assert sum(one != other for one, other in pairwise(signs)) <= 1


def test_means_that_are_one_number_of_32_bits_do_not_double_rows(session: Any) -> None:
    values = 1 + np.random.default_rng(1).integers(0, 40, 200) * np.float32(1.2e-7)
    data = session.createDataFrame(pa.table({"x": pa.array(values, pa.float32())}))
    made = nym.spark.microaggregate(data, {"x": nym.Order()}, k=3, plan="driver").data
    assert made.dtypes == [("x", "float")]
    assert made.count() == 200


def test_what_is_said_of_a_result_computes_nothing(session: Any, data: Any, table: Any) -> None:
    result = nym.spark.data_swap(data, ["sex"], 0.5)
    session.sparkContext.setJobGroup("said", "what is said of a result")
    assert "sex" in result.guarantee.claim or not result.guarantee
    assert not session.sparkContext.statusTracker().getJobIdsForGroup("said")
    session.sparkContext.setJobGroup("", "")


def test_rows_that_differ_have_hashes_that_differ(session: Any) -> None:
    from nominym.spark.source import ORDER, OTHER, Source

    schema = "m int, p string, q string, x double, l array<int>, ll array<array<int>>, s struct<a: double, b: double>"
    same = (1, "x", "x", 1.0, [1], [[1, 2]], (0.0, 1.0))
    rows = [
        same, (1, "x", None, *same[3:]), (1, None, "x", *same[3:]), (1, None, None, *same[3:]),
        (*same[:4], [1, None], *same[5:]), (*same[:4], [None, 1], *same[5:]), (*same[:4], [], *same[5:]),
        (*same[:4], None, *same[5:]), (*same[:4], [None], *same[5:]), (*same[:5], [[1], [2]], same[6]),
        (*same[:5], [[], [1, 2]], same[6]), (*same[:5], [[1, 2], None], same[6]), (*same[:6], (-0.0, 1.0)),
        (*same[:6], (None, 1.0)), (*same[:6], (1.0, None)), (*same[:6], (None, None)), (*same[:6], None),
        (*same[:3], float("nan"), *same[4:]), (*same[:3], None, *same[4:]),
    ]  # fmt: skip
    found = Source.of(session.createDataFrame(rows, schema), ["m"]).hashed().select(ORDER, OTHER).collect()
    for i in (0, 1):
        assert len({row[i] for row in found}) == len(rows)
    assert all(row[0] != row[1] for row in found)


def test_moments_in_another_zone(session: Any) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        # The hour that there is twice, too.
        moment = F.timestamp_seconds(F.lit(1730611800) + F.col("id") % 4 * 3600)
        data = session.range(40).select(moment.alias("ts"), F.struct(moment.alias("at")).alias("kept"))
        for plan in ("driver", "blocks"):
            made = nym.spark.rank_swap(data, {"ts": nym.Order()}, k=3, plan=plan, accept=["kept"]).data
            assert made.dtypes == data.dtypes
            seen = made.select(F.col("ts").cast("long"), F.col("kept.at").cast("long")).collect()
            for column in zip(*seen, strict=True):
                assert sorted(column) == sorted(1730611800 + i % 4 * 3600 for i in range(40))
    finally:
        session.conf.set("spark.sql.session.timeZone", "UTC")


def test_blocks_keep_the_guarantee_at_little_cost(swapped: Any, table: Any) -> None:
    frame, meanings = table
    result, rows = swapped("blocks")
    whole = nym.rank_swap(frame, meanings, k=K).summary
    assert result.params["plan"] == "blocks"
    assert result.params["blocks"] >= 3
    assert set(result.summary) == set(whole)
    assert result.summary["groups"]["smallest"] >= K
    assert sum(size * n for size, n in result.summary["groups"]["sizes"].items()) == len(frame)
    assert columns_are_kept(frame, pd.DataFrame(rows, columns=list(frame)))
    for name, figures in result.summary["attributes"].items():
        other = whole["attributes"][name]
        assert set(figures) == set(other)
        assert (figures["categories"], figures["missing"], figures["root"]) == (
            other["categories"], other["missing"], other["root"],
        )  # fmt: skip
    # Blocks of 300 records are far smaller than any real one, and cost more.
    cost = [sum(s["attributes"][name]["expected_rmse"] ** 2 for name in meanings) for s in (result.summary, whole)]
    assert cost[0] < 1.35 * cost[1]
    assert any("blocks" in note for note in result.summary["notes"])


@pytest.mark.parametrize(
    "method",
    [nym.Microaggregate(k=K), nym.Microaggregate(k=K, replace="subsumer"), nym.RankSwap(k=K, method="records")],
)
def test_other_methods_in_blocks(
    session: Any, data: Any, table: Any, method: Any, kill_first_attempts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nominym.spark import blocks

    frame, meanings = table
    monkeypatch.setattr(blocks, "BLOCK_RECORDS", 300)
    real = blocks._solving
    calm = nym.spark.mask(method, data, meanings, plan="blocks", seed=3)
    monkeypatch.setattr(blocks, "_solving", lambda *given: kill_first_attempts(real(*given)))
    assert calm.params["blocks"] == 5
    rows = rows_of(calm.data)
    # Groups in blocks are disturbed in a test of their own.
    if not method.grouped:
        stormy = nym.spark.mask(method, data.repartition(5, "sex"), meanings, plan="blocks", seed=3)
        assert rows == rows_of(stormy.data)
        assert calm.summary == stormy.summary
    whole = method.apply(frame, meanings, seed=3)
    out = pd.DataFrame(rows, columns=list(frame))
    for name in ("sex", "age_group"):
        assert sorted_texts(out[name]) == sorted_texts(frame[name])
    assert set(calm.summary) == set(whole.summary)
    if not method.grouped:
        # Another method than over all records, by name; each column has the values that it had.
        assert calm.params["method"] == "records in blocks"
        assert blocks.OTHER_LAW in calm.summary["notes"]
        assert columns_are_kept(frame, out)
        assert calm.summary["attributes"] == whole.summary["attributes"]
        return
    assert nym.risk.classes(out, list(meanings)).smallest >= K
    assert calm.summary["groups"]["smallest"] >= K
    # Columns have the types that they have on one machine.
    assert all(isinstance(one, type(other)) for one, other in zip(whole.data.iloc[-1], rows[-1], strict=True))
    for name, figures in calm.summary["attributes"].items():
        alone = whole.summary["attributes"][name]
        assert set(figures) == set(alone)
        assert figures["values"] == out[name].nunique()
    # Blocks of 300 records are far smaller than any real one, and cost more.
    assert 0.9 * whole.summary["loss"] < calm.summary["loss"] < 1.35 * whole.summary["loss"]


def test_one_block_does_what_one_machine_does(data: Any, table: Any) -> None:
    frame, meanings = table
    blocks, alone = (
        nym.spark.microaggregate(data, meanings, k=K, plan="blocks"),
        nym.microaggregate(frame, meanings, k=K),
    )
    told = [{**each, "groups": {**each["groups"], "constant": None}, "notes": None}
            for each in (blocks.summary, alone.summary)]  # fmt: skip
    assert told[0] == told[1]
    out = blocks.data.toPandas()
    for name in meanings:
        assert sorted_texts(out[name]) == sorted_texts(alone.data[name])


def test_the_plan_of_the_driver_says_what_it_needs(data: Any, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from nominym.spark import methods

    monkeypatch.setattr(methods, "_RECORD", 1 << 50)
    with pytest.raises(SizeError, match=r"a plan for 1,500 records of 3 columns on the driver needs .*plan='blocks'"):
        nym.spark.rank_swap(data, table[1], k=K)
    with pytest.raises(SizeError, match="give the driver more memory"):
        nym.spark.rank_swap(data, table[1], k=K, method="dynamic", plan="driver")


def test_other_methods(data: Any, table: Any) -> None:
    frame, meanings = table
    concepts = {"diagnosis": meanings["diagnosis"]}
    swapped = nym.spark.rank_swap(data, concepts, k=K, method="dynamic", seed=1)
    assert (
        swapped.summary["attributes"]
        == nym.rank_swap(frame, concepts, k=K, method="dynamic", seed=1).summary["attributes"]
    )
    assert columns_are_kept(frame, swapped.data.toPandas())
    pairs = nym.spark.data_swap(data, ["diagnosis"], 0.3, equal=["sex"], true_swaps=True)
    assert pairs.secret.summary["pairs"] == 225
    out = pairs.data.toPandas()
    for sex in ("male", "female"):
        same = [sorted(each.loc[each["sex"] == sex, "diagnosis"]) for each in (frame, out)]
        assert same[0] == same[1]
    means = nym.spark.microaggregate(data, meanings, k=K)
    alone = nym.microaggregate(frame, meanings, k=K)
    assert {**means.summary, "groups": None} == {**alone.summary, "groups": None}
    out = means.data.toPandas()
    assert nym.risk.classes(out, list(meanings)).smallest >= K
    assert sorted_texts(out["length_of_stay"]) == sorted_texts(alone.data["length_of_stay"])
    noise = nym.spark.add_noise(data, concepts, 0.3)
    assert noise.secret.summary["attributes"]["diagnosis"]["unchanged"] == 0
    masked = noise.data.toPandas()
    assert sorted_texts(masked["age_group"]) == sorted_texts(frame["age_group"])
    assert set(masked["diagnosis"]) <= set(meanings["diagnosis"].ids)


def test_figures_are_those_of_one_machine(data: Any, table: Any) -> None:
    frame, meanings = table
    found = nym.spark.stats(data, meanings)
    one, two = meanings["diagnosis"], meanings["length_of_stay"]
    assert found["attributes"]["diagnosis"] == {
        "mean": nym.stats.semantic_mean(frame["diagnosis"], one),
        "variance": nym.stats.semantic_variance(frame["diagnosis"], one),
    }
    pair = nym.spark.stats(data, {"diagnosis": one, "length_of_stay": two})["correlations"].loc[0]
    alone = nym.stats.distance_correlation(frame["diagnosis"], frame["length_of_stay"], one, two)
    assert pair["distance_correlation"] == pytest.approx(alone, rel=1e-12)
    swapped = nym.spark.data_swap(data, ["sex"], 0.5, seed=1)
    told = nym.spark.distortion(data, swapped.data, ["sex", "age_group"])
    same = nym.distortion.table(frame, swapped.data.toPandas(), ["sex", "age_group"])
    pd.testing.assert_frame_equal(told, same)
    assert nym.spark.linkage(swapped, seed=1).share > 0


def test_large_blocks_are_split(data: Any, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from nominym.spark import methods

    monkeypatch.setattr(methods, "BLOCK_RECORDS", 100)
    result = nym.spark.rank_swap(data, {"sex": nym.Equality()}, k=K, method="random", seed=5)
    rows = rows_of(result.data)
    assert columns_are_kept(table[0], pd.DataFrame(rows, columns=list(table[0])))
    changed = result.secret.summary["attributes"]["sex"]["unchanged"]
    assert 0.4 < changed < 0.7
    moved = nym.spark.rank_swap(data.repartition(3), {"sex": nym.Equality()}, k=K, method="random", seed=5)
    assert rows == rows_of(moved.data)


def test_persons_and_sensitive_columns(session: Any) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "diagnosis": rng.choice(["a", "b", "c", "d"], 300),
            "patient": np.repeat(np.arange(100), 3),
            "hiv": rng.choice(["yes", "no", "unknown"], 300),
        }
    )
    result = nym.spark.rank_swap(
        session.createDataFrame(frame), {"diagnosis": nym.Equality()}, k=4, person="patient", sensitive={"hiv": 2},
        accept=["hiv"],
    )  # fmt: skip
    assert result.data.columns == ["diagnosis", "hiv"]
    groups = result.summary["groups"]
    assert groups["persons"] >= 4
    assert groups["sensitive"]["hiv"] <= 0.5
    assert columns_are_kept(frame[["diagnosis", "hiv"]], result.data.toPandas())


def test_kept_columns_are_judged_as_on_one_machine(session: Any, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    from nominym.spark import kept

    frame, meanings = table
    telling = frame.assign(copy=[value[:2] for value in frame["diagnosis"]], number=np.arange(len(frame)))
    meanings = {"diagnosis": nym.DistanceMatrix(1 - np.eye(10), [f"D{i}" for i in range(10)])}
    telling["diagnosis"] = telling["copy"]
    data = session.createDataFrame(telling)
    for sample in (kept.SAMPLE, 600):
        monkeypatch.setattr(kept, "SAMPLE", sample)
        with pytest.raises(DataError, match="column 'copy': the masked column 'diagnosis' can be read off it"):
            nym.spark.rank_swap(data.drop("number"), meanings, k=K)
        with pytest.raises(DataError, match="column 'number': 100% of the records"):
            nym.spark.rank_swap(data.drop("copy"), meanings, k=K)
    harmless = nym.spark.rank_swap(data.drop("copy", "length_of_stay"), meanings, k=K, accept=["number"])
    notes = harmless.summary["notes"]
    assert any("estimated from about 600 of 1,500" in note for note in notes)
    # No two records have the same number: it says nothing of the others.
    assert not any("number" in note and "combination of values" in note for note in notes)
    rng = np.random.default_rng(1)
    few = {name: code(rng.integers(0, span, 60)) for name, span in (("a", 30), ("b", 30), ("c", 2))}
    assert kept._too_rare(few) == ["a and b"]
    some = kept.Source.of(data.select("sex", F.when(F.col("number") < 10, F.col("number")).alias("sparse")), ["sex"])
    assert kept._some_values(some, "sparse", 0.4).count() < 10


def test_bad_input(data: Any, table: Any, session: Any) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    meanings = table[1]
    with pytest.raises(UnknownColumnError, match="there is no column 'diag'"):
        nym.spark.rank_swap(data, {"diag": nym.Equality()}, k=K)
    with pytest.raises(ParameterError, match="plan='many'"):
        nym.spark.rank_swap(data, meanings, k=K, plan="many")
    for method in (nym.RankSwap(k=K, method="dynamic"), nym.DataSwap(), nym.RankSwap(k=K, person="sex"),
                   nym.Microaggregate(k=K, sensitive={"sex": 2})):  # fmt: skip
        with pytest.raises(ParameterError, match=r"plan='blocks': .*; give plan='driver'"):
            nym.spark.mask(method, data, meanings, plan="blocks")
    with pytest.raises(DataError, match="Spark data frame is needed, not DataFrame"):
        nym.spark.rank_swap(table[0], meanings, k=K)
    more = data.withColumn("more", F.create_map(F.lit("a"), F.lit(1)))
    with pytest.raises(DataError, match=r"column 'more': its type map<string,int> has no order"):
        nym.spark.rank_swap(more, meanings, k=K)
    with pytest.raises(DataError, match=r"column 'lists': its type array<int> has no categories"):
        nym.spark.rank_swap(data.withColumn("lists", F.array(F.lit(1))), {"lists": nym.Equality()}, k=K)
    with pytest.raises(DataError, match="'sex' and 'SEX' differ in capital letters only"):
        nym.spark.rank_swap(data.select("sex", F.col("age_group").alias("SEX")), {"sex": nym.Equality()}, k=K)
    for kind, made in (("string collate UTF8_LCASE", "collate(sex, 'UTF8_LCASE')"), ("interval", "make_interval(1)"),
                       ("interval year to month", "make_ym_interval(1, 2)")):  # fmt: skip
        with pytest.raises(DataError, match=f"column 'sex': its type {kind} has no order"):
            nym.spark.rank_swap(data.selectExpr("diagnosis", f"{made} AS sex"), {"diagnosis": nym.Equality()}, k=K)
    with pytest.raises(DataError, match="occurs 2 times"):
        nym.spark.rank_swap(data.select("sex", "sex"), {"sex": nym.Equality()}, k=K)
    with pytest.raises(MissingValueError, match="column 'procedure': 30 of 1,500 values are missing"):
        nym.spark.rank_swap(data, meanings, k=K, missing="error")
    with pytest.raises(DataError, match="the table has no records"):
        nym.spark.rank_swap(data.limit(0), meanings, k=K)
    few = session.createDataFrame(pd.DataFrame({"sex": ["m", "f"]}))
    for plan in ("driver", "blocks"):
        with pytest.raises(DataError, match="2 records cannot make a group of k=5"):
            nym.spark.rank_swap(few, {"sex": nym.Equality()}, k=K, plan=plan)


def test_values_of_every_type_come_back(session: Any) -> None:
    import datetime
    import decimal

    rows = [
        (f"t{i % 4}", i % 3, float(i % 5) if i % 7 else float("nan"), i % 2 == 0, decimal.Decimal(i % 3) / 4,
         datetime.date(2024, 1, 1 + i % 5), datetime.datetime(2024, 1, 1, i % 3), [i % 3, 1], (i % 2, "x"))
        for i in range(60)
    ]  # fmt: skip
    kinds = "`a.b` string, `c``d` int, e double, f boolean, g decimal(10,2), h date, i timestamp"
    kinds += ", j array<int>, k struct<x:int,y:string>"
    data = session.createDataFrame(rows, kinds)
    meanings = {"a.b": nym.Equality(), "c`d": nym.Order(), "e": nym.Order(), "f": nym.Equality(),
                "g": nym.Order(), "h": nym.Order(), "i": nym.Order()}  # fmt: skip
    result = nym.spark.rank_swap(data, meanings, k=3, accept=["j", "k"])
    assert result.data.dtypes == data.dtypes
    one, other = (each.toPandas().astype(str).replace("nan", "None") for each in (data, result.data))
    assert columns_are_kept(one, other)


def test_nothing_leaks_into_logs_and_exceptions(
    session: Any, events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nominym.spark import tasks

    secret = [f"zebra{i % 4}" for i in range(80)]
    pq.write_table(pa.table({"name": secret, "kept": ["okapi", "quagga"] * 40}), tmp_path / "s.parquet")
    data = session.read.parquet((tmp_path / "s.parquet").as_uri())
    for plan in ("driver", "blocks"):
        nym.spark.rank_swap(data, {"name": nym.Equality()}, k=30, plan=plan, accept=["kept"]).data.collect()

    # A source that gives other rows when it is read again.
    def change(batches: Any) -> Any:
        for batch in batches:
            kept = [f"{each}{os.urandom(1)[0] % 3}" for each in batch.column(1).to_pylist()]
            yield pa.record_batch([batch.column(0), pa.array(kept)], names=["name", "kept"])

    fickle = data.mapInArrow(change, data.schema)
    # With all that Spark can say of an exception.
    whole = "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled"
    session.conf.set(whole, "false")
    told = Path(session.sparkContext._temp_dir)
    before = set(told.iterdir())
    for plan in ("driver", "blocks"):
        with pytest.raises(Exception, match="read again") as raised:
            nym.spark.rank_swap(fickle, {"name": nym.Equality()}, k=2, accept=["kept"], plan=plan)
        assert "zebra" not in str(raised.value)
        assert "okapi" not in str(raised.value)
        # Nor do the files stay by which tasks were told categories and the key.
        assert set(told.iterdir()) <= before

    def bad(*_: Any) -> Any:
        def place(left: Any, right: Any) -> Any:
            return tasks.without_values(int, left["c1"][0].as_py())

        return place

    monkeypatch.setattr(tasks, "placing", bad)
    with pytest.raises(Exception, match=r"a task of nominym failed \(ValueError\)") as raised:
        nym.spark.rank_swap(data, {"name": nym.Equality()}, k=2, accept=["kept"])
    assert "okapi" not in str(raised.value)
    session.conf.unset(whole)
    assert session.sparkContext._jsc.getPersistentRDDs().size() == 0
    log = "".join(path.read_text() for path in events.rglob("*") if path.is_file())
    assert "FlatMapCoGroupsInArrow" in log
    assert "zebra" not in log.replace(str(tmp_path), "")
    assert "okapi" not in log


def test_a_release_is_a_folder_that_tells_nothing(session: Any, folder: Path, table: Any, tmp_path: Path) -> None:
    frame, meanings = table
    out = tmp_path / "release.parquet"
    roles = {"diagnosis": "quasi-identifier", "procedure": "quasi-identifier", "sex": "keep", "age_group": "keep",
             "length_of_stay": "identifier"}  # fmt: skip
    meant = {name: meanings[name] for name in ("diagnosis", "procedure")}
    made = nym.publish(folder, out, roles, nym.RankSwap(k=K), meant, engine="spark")
    assert made.manifest == nym.release.read_manifest(out)
    assert made.manifest.order == "sorted"
    assert made.manifest.output["rows"] == len(frame)
    assert all(path.name.startswith("part-") for path in out.iterdir())
    assert {path.name for path in tmp_path.iterdir()} == {"release.parquet", "release.parquet.manifest.json"}
    parts = [pq.read_table(path) for path in sorted(out.iterdir())]
    whole = pa.concat_tables(parts)
    assert whole.column_names == ["diagnosis", "procedure", "sex", "age_group"]
    assert whole["diagnosis"].to_pylist() == sorted(whole["diagnosis"].to_pylist())
    assert columns_are_kept(frame[whole.column_names], whole.to_pandas())
    assert made.result.data.count() == len(frame)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        nym.publish(folder, out, roles, nym.RankSwap(k=K), meant, engine="spark")
    with pytest.raises(ParameterError, match="rows have no number"):
        nym.publish(folder, out, roles, nym.RankSwap(k=K), meant, engine="spark", key=tmp_path / "key")
    with pytest.raises(ParameterError, match="plan='blocks': it applies only where engine is 'spark'"):
        nym.publish(frame, out, roles, nym.RankSwap(k=K), meant, plan="blocks")
    with pytest.raises(ParameterError, match="is read: a release needs a folder of its own"):
        nym.publish(session.read.parquet(out.as_uri()), out, None, nym.RankSwap(k=K), meant, overwrite=True)
    again = nym.publish(session.read.parquet(folder.as_uri()), out, roles, nym.DataSwap(), overwrite=True)
    assert again.manifest.command == "data-swap"


def test_the_command_line(session: Any, folder: Path, tmp_path: Path, run: Any) -> None:
    done = run(
        "swap", folder, "-o", tmp_path / "out.parquet", "--engine", "spark", "--k", K, "--quasi", "sex=equal",
        "--quasi", "length_of_stay=number", "--keep", "age_group", "--identifier", "diagnosis",
        "--identifier", "procedure",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "1,500 records, 3 columns" in done.out
    assert "rows sorted by their content" in done.out
    assert (tmp_path / "out.parquet").is_dir()
    for command in ("audit", "measure", "report"):
        refused = run(command, folder, tmp_path / "out.parquet", *(["-o", tmp_path / "x.html"] * (command == "report")))
        assert refused.code == 2
        assert "there is no owner's record" in refused.err
        assert "write a sample of the records to one file" in refused.err
    wrong = run("swap", folder, "-o", tmp_path / "two.parquet", "--k", K, "--quasi", "sex=equal", "--plan", "blocks")
    assert wrong.code == 2
