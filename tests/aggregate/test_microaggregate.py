"""Microaggregation of tables: k-anonymity, figures, row order, persons, frames of any library, bad input."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym import error
from nominym.groups.partition import form
from nominym.table import as_table, attributes

TAX = nym.Taxonomy.from_edges([(f"{i:03}", f"{i // 3:03}") for i in range(1, 120)])
MATRIX = nym.DistanceMatrix([[0, 1, 4], [1, 0, 2], [4, 2, 0]], ["a", "b", "c"])
MEANINGS = {
    "code": TAX, "age": nym.Order(), "day": nym.Order(), "grade": nym.Order(["low", "middle", "high"]),
    "sex": nym.Equality(), "label": MATRIX, "drugs": nym.Sets(),
}  # fmt: skip
REPLACE = ["mean", "subsumer"]


def table(n: int = 150, seed: int = 1, gaps: float = 0.1) -> pd.DataFrame:
    """Draw a table with columns of all meanings, with missing values."""
    rng = np.random.default_rng(seed)

    def some(values: Any) -> list[Any]:
        return [None if gap else value for value, gap in zip(values, rng.random(n) < gaps, strict=True)]

    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    return pd.DataFrame(
        {
            "code": some(f"{i:03}" for i in rng.integers(20, 120, n)),
            "age": rng.integers(0, 90, n),
            "day": some(days),
            "grade": some(rng.choice(["low", "middle", "high"], n)),
            "sex": some(rng.choice(["f", "m"], n)),
            "label": rng.choice(["a", "b", "c"], n),
            "drugs": [sorted(rng.choice(list("uvwxyz"), rng.integers(0, 4), replace=False).tolist()) for _ in range(n)],
        }
    )


def rows(frame: pd.DataFrame, columns: Any) -> Counter[str]:
    """Count the rows, by text."""
    return Counter(map(str, frame[list(columns)].astype(object).where(frame.notna(), None).to_numpy().tolist()))


@pytest.mark.parametrize("replace", REPLACE)
@pytest.mark.parametrize("name", MEANINGS)
def test_every_class_has_k_records_by_each_meaning(name: str, replace: Any) -> None:
    frame = table()[[name]]
    res = nym.microaggregate(frame, {name: MEANINGS[name]}, k=4, replace=replace)
    assert nym.risk.classes(res.data, [name]).smallest >= 4
    figures = res.secret.summary["attributes"][name]
    assert figures["sse"] == pytest.approx(figures["rmse"] ** 2)
    assert 0 <= figures["loss"] <= (1 if replace == "mean" and name != "drugs" else 4)
    res.linkage()


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_every_combination_is_shared(data: Any) -> None:
    n, k = data.draw(st.integers(2, 40)), data.draw(st.integers(2, 5))
    names = data.draw(st.sets(st.sampled_from(list(MEANINGS)), min_size=1))
    frame = table(n, data.draw(st.integers(0, 9)), data.draw(st.sampled_from([0.0, 0.3, 0.8])))
    replace = data.draw(st.sampled_from(REPLACE))
    masked = {name: MEANINGS[name] for name in sorted(names) if not frame[name].isna().all()}
    if not masked:
        return
    if n < k:
        with pytest.raises(error.DataError, match="cannot make a group"):
            nym.microaggregate(frame[list(masked)], masked, k=k)
        return
    res = nym.microaggregate(frame[list(masked)], masked, k=k, replace=replace)
    assert min(rows(res.data, masked).values()) >= k
    assert res.data.index.equals(frame.index)


@pytest.mark.parametrize("replace", REPLACE)
def test_rows_in_another_order_give_the_same_release(replace: Any) -> None:
    frame = table(200).reset_index(drop=True)
    order = np.random.default_rng(5).permutation(len(frame))
    first = nym.microaggregate(frame, MEANINGS, k=5, replace=replace)
    second = nym.microaggregate(frame.iloc[order], MEANINGS, k=5, replace=replace)
    assert rows(first.data, MEANINGS) == rows(second.data, MEANINGS)
    assert first.summary == second.summary
    again = nym.microaggregate(frame, MEANINGS, k=5, replace=replace)
    assert rows(first.data, MEANINGS) == rows(again.data, MEANINGS)


@pytest.mark.parametrize("columns", [["age"], ["age", "sex"]])
@pytest.mark.parametrize("seeded", [False, True])
def test_which_of_equal_records_goes_where_is_uniform(columns: list[str], seeded: bool) -> None:
    # Two of the four aged 30 are beside the one of 40, the others beside the one of 20: six ways, whatever the order.
    frame = {"age": [40, 30, 30, 30, 30, 20], "sex": ["f"] * 6}
    meanings = {"age": nym.Order(), "sex": nym.Equality()}
    meant = list(attributes(as_table(frame), {name: meanings[name] for name in columns}).values())
    times, found = 1200, Counter[Any]()
    for seed in range(times):
        group_of = form(meant, 3, settled=True, seed=seed if seeded else None).group_of
        found[tuple(np.flatnonzero(group_of == group_of[0]).tolist())] += 1
    assert all(len(members) == 3 and 5 not in members for members in found)
    assert len(found) == 6
    # Chi-square with five degrees of freedom: above 40 in less than one of a million cases.
    assert sum((count - times / 6) ** 2 for count in found.values()) / (times / 6) < 40


def test_groups_and_their_order_belong_together() -> None:
    meant = list(attributes(as_table(table(60)), MEANINGS).values())
    for some in (meant, meant[1:2]):
        made = form(some, 4, settled=True)
        assert sorted(made.records.tolist()) == list(range(60))
        assert (np.diff(made.group_of[made.records].astype(int)) >= 0).all()


def test_public_figures_are_rounded_and_those_of_the_owner_are_not() -> None:
    # Exact figures would tell the value inside the interval.
    found = []
    for x in range(32, 39):
        res = nym.microaggregate({"a": [20] * 5 + [60] * 5 + [31, x, 39]}, {"a": nym.Order()}, k=3, replace="subsumer")
        public, exact = res.summary["attributes"]["a"], res.secret.summary["attributes"]["a"]
        for name in ("sse", "rmse", "loss", "unchanged"):
            assert public[name] == float(f"{exact[name]:.3g}")
        assert res.summary["loss"] == float(f"{res.secret.summary['loss']:.3g}")
        found.append(exact["sse"])
    assert len({f"{each:.17g}" for each in found}) > 1


def test_figures_are_those_of_the_definition() -> None:
    frame = pd.DataFrame({"age": [1, 2, 3, 10, 11, 12, 20], "sex": list("ffmmmff")})
    res = nym.microaggregate(frame[["age"]], {"age": nym.Order()}, k=3)
    assert res.data["age"].tolist() == [2, 2, 2, 13.25, 13.25, 13.25, 13.25]
    squared = ((frame["age"] - res.data["age"]) / 19) ** 2
    figures = res.secret.summary["attributes"]["age"]
    assert figures["sse"] == pytest.approx(squared.mean())
    assert figures["loss"] == pytest.approx(squared.sum() / (((frame["age"] - frame["age"].mean()) / 19) ** 2).sum())
    assert res.summary["groups"]["sizes"] == {3: 1, 4: 1}
    assert (res.secret.summary["sse"], res.secret.summary["loss"]) == (figures["sse"], figures["loss"])
    assert figures["values"] == 2
    assert figures["unchanged"] == pytest.approx(1 / 7)


def test_one_column_of_numbers_has_the_best_groups() -> None:
    values = np.sort(np.random.default_rng(3).exponential(size=12))

    def best(rest: Any, k: int) -> float:
        if not len(rest):
            return 0.0
        sizes = (s for s in range(k, len(rest) + 1) if len(rest) == s or len(rest) - s >= k)
        return min(((rest[:s] - rest[:s].mean()) ** 2).sum() + best(rest[s:], k) for s in sizes)

    res = nym.microaggregate({"x": values}, {"x": nym.Order()}, k=3)
    assert ((values - res.data["x"]) ** 2).sum() == pytest.approx(best(values, 3))


def test_the_best_groups_are_those_of_microagg1d() -> None:
    peer = pytest.importorskip("microagg1d", reason="microagg1d is not installed")
    values = np.random.default_rng(4).normal(size=500)
    for k in (2, 3, 10):
        # Its default for few values, "simple", is not the best there is.
        groups = peer.univariate_microaggregation(values, k, method="galil_park")
        mean = pd.Series(values).groupby(groups).transform("mean")
        res = nym.microaggregate({"x": values}, {"x": nym.Order()}, k=k)
        assert ((values - res.data["x"]) ** 2).sum() == pytest.approx(float(((values - mean) ** 2).sum()))


@pytest.mark.parametrize("replace", REPLACE)
def test_k_counts_persons(replace: Any) -> None:
    rng = np.random.default_rng(2)
    person = np.repeat(np.arange(60), rng.geometric(0.4, 60))
    frame = pd.DataFrame({"p": person, "code": [f"{i:03}" for i in rng.integers(20, 60, len(person))]})
    res = nym.microaggregate(frame, {"code": TAX}, k=3, replace=replace, person="p")
    assert list(res.data) == ["code"]
    by_class = frame.assign(masked=res.data["code"]).groupby("masked")["p"].nunique()
    assert by_class.min() >= 3
    assert res.summary["groups"]["persons"] >= 3
    assert "3 persons" in res.guarantee.headline
    assert "p" in res.guarantee.unit
    assert res.linkage().holds_masked is not False


def test_sensitive_values_have_a_share_at_most() -> None:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"age": rng.integers(0, 90, 200), "hiv": rng.choice(["no", "yes", "?"], 200)})
    res = nym.microaggregate(frame, {"age": nym.Order()}, k=4, sensitive={"hiv": 2})
    share = frame.groupby(res.secret.groups)["hiv"].agg(lambda x: x.value_counts(normalize=True).iloc[0])
    assert share.max() <= 0.5
    assert res.summary["groups"]["sensitive"]["hiv"] == pytest.approx(share.max())
    assert res.method.bound is None
    assert res.summary["bound"] is None
    assert res.guarantee.kind == "labels"
    assert "hiv" in res.guarantee.headline


@pytest.mark.parametrize("replace", REPLACE)
def test_frames_of_any_library_agree(replace: Any) -> None:
    frame = table(80)
    masked = dict(MEANINGS)
    expected = nym.microaggregate(frame, masked, k=4, replace=replace).data.astype(object).where(lambda x: x.notna())
    plain = {name: [v if isinstance(v, list) or not pd.isna(v) else None for v in frame[name]] for name in frame}
    plain["day"] = [None if v is None else v.to_pydatetime() for v in plain["day"]]
    arrow = pa.table({name: pa.array(values) for name, values in plain.items()})
    found = {
        "arrow": nym.microaggregate(arrow, masked, k=4, replace=replace).data.to_pydict(),
        "polars": nym.microaggregate(pl.from_arrow(arrow), masked, k=4, replace=replace).data.to_dict(as_series=False),
        "lists": nym.microaggregate(plain, masked, k=4, replace=replace).data,
    }
    for library, columns in found.items():
        for name in masked:
            texts = [str(v) for v in columns[name]]
            wanted = [str(None if not isinstance(v, list) and pd.isna(v) else v) for v in expected[name]]
            assert texts == wanted, (library, name)


def test_types_of_columns() -> None:
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 3, 4],
            "float": np.array([1, 2, 3, 4], dtype=np.float32),
            "rank": pd.Categorical(list("abca"), list("abc"), ordered=True),
            "kind": pd.Categorical(["003", "004", "005", "006"]),
            "truth": [True, False, True, True],
        }
    )
    meanings = {"whole": nym.Order(), "float": nym.Order(), "rank": nym.Order(), "kind": TAX, "truth": nym.Equality()}
    means = nym.microaggregate(frame, meanings, k=2).data.dtypes
    assert means["whole"] == np.float64
    assert means["float"] == np.float32
    assert means["truth"] == np.bool_
    assert means["rank"].ordered
    assert isinstance(means["kind"], pd.CategoricalDtype)
    common = nym.microaggregate(frame, meanings, k=2, replace="subsumer").data
    assert all(isinstance(value, str) for name in ("whole", "float", "rank", "truth") for value in common[name])


def test_what_is_guaranteed_is_said() -> None:
    res = nym.microaggregate(table()[["code", "age"]], {"code": TAX, "age": nym.Order()}, k=5)
    said = res.guarantee
    assert said.headline == "k-anonymity: every combination of code and age that occurs is shared by at least 5 records"
    assert said.bound == 0.2
    assert said.kind == "groups"
    assert any("can compute the last" in text for text in said.not_covered)
    common = nym.Microaggregate(k=5, replace="subsumer").statement(["age"])
    assert any("ends of an interval" in text for text in common.not_covered)
    for replace in REPLACE:
        beside = nym.Microaggregate(k=5, replace=replace).statement(["age"], ["ward"])
        assert any("1/(s − t)" in text for text in beside.not_covered)
        assert "what was drawn" in beside.adversary
    with pytest.warns(nym.SeedWarning):
        seeded = nym.microaggregate(table(), MEANINGS, k=5, seed=1)
    assert not seeded.guarantee
    assert seeded.summary["bound"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "smallest size of a group"),
        ({"k": 1}, "protects nobody"),
        ({"k": 2.5}, "whole number"),
        ({"k": 3, "replace": "median"}, "'mean', 'subsumer'"),
        ({"k": 3, "sensitive": {"hiv": 1}}, "2 or more"),
        ({"k": 3, "person": ""}, "name of a column"),
        ({"k": 3, "missing": "drop"}, "'keep', 'error'"),
        ({"k": 3, "roots": "x"}, "mapping"),
        ({"k": 3, "measure": "cosine"}, "cosine"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(error.ParameterError, match=message):
        nym.Microaggregate(**options)


def test_bad_tables_are_refused() -> None:
    frame = table(30)
    for masked, more, message in [
        ({"code": TAX}, {"k": 31}, "cannot make a group"),
        ({"code": TAX}, {"k": 3, "person": "nobody"}, "no column 'nobody'"),
        ({"code": TAX}, {"k": 3, "person": "code"}, "it is masked"),
        (dict(list(MEANINGS.items())[:4]), {"k": 3, "sensitive": {"sex": 9}, "accept": ["drugs"]}, "of 30 records"),
        ({"age": TAX}, {"k": 3}, "not in the taxonomy"),
        ({"drugs": nym.Equality()}, {"k": 3}, "lists"),
        ({}, {"k": 3}, "meanings"),
    ]:
        with pytest.raises(nym.NominymError, match=message):
            nym.microaggregate(frame, masked, **more)
    with pytest.raises(error.MissingValueError, match="missing"):
        nym.microaggregate(frame, {"code": TAX}, k=3, missing="error")
    with pytest.raises(error.DataError, match="finds the row"):
        nym.microaggregate(frame.assign(id=range(30)), MEANINGS, k=3)


def test_methods_side_by_side() -> None:
    frame = table(120, gaps=0)[["code", "label"]]
    res = nym.microaggregate(frame, {"code": TAX, "label": MATRIX}, k=4)
    with pytest.raises(error.ParameterError):  # distances above 1 are none for noise
        nym.report.compare_methods(res)
    res = nym.microaggregate(frame[["code"]], {"code": TAX}, k=4)
    found = nym.report.compare_methods(res).set_index("method")
    assert list(found.index)[:4] == ["strict swapping", "microaggregation", "generalization", "SRS-3, as published"]
    assert (found.loc[["microaggregation", "generalization"], "smallest"] >= 4).all()
    assert found["bound"].tolist()[:3] == [0.25] * 3
    assert found["bound"].isna().sum() == 2
    figures = res.secret.summary["attributes"]["code"]
    assert found.loc["microaggregation", "loss"] == pytest.approx(figures["loss"])
    assert found.loc["microaggregation", "rmse"] == pytest.approx(figures["rmse"])
