"""The owner's edition: what it says, what it does not say, and that it needs nothing from elsewhere."""

from __future__ import annotations

import pickle
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pages import HOSTILE, Page

import nominym as nym
from nominym import error
from nominym.table import Comparison


@pytest.fixture(scope="module")
def discharges():
    frame, taxonomies = nym.datasets.discharges(1_000, seed=1, diagnoses=12, procedures=9)
    return frame, {name: taxonomies[name] for name in ("diagnosis", "procedure")}


def owners(path, subject, **more) -> Page:
    return Page(nym.report.write(path, subject, edition="owner", **more))


@pytest.fixture(scope="module")
def strict(discharges, tmp_path_factory):
    res = nym.rank_swap(*discharges, k=5)
    return owners(tmp_path_factory.mktemp("report") / "strict.html", res, sweep={"k": [2, 10]}), res


@dataclass(frozen=True)
class Files:
    """Two tables side by side, as they are read from files."""

    comparison: Comparison
    method: Any = None
    params: Any = None
    summary: Any = None
    secret_summary: Any = None
    seeded: bool = False
    aligned: bool = True


def files_of(before, after, meanings, **more) -> Files:
    return Files(Comparison.of(before, after, meanings), **{"params": {}, "summary": {}, **more})


def test_it_says_what_is_guaranteed_and_what_was_measured(strict) -> None:
    text = strict[0].text
    for said in (
        "Owner's edition, not for publication",
        "The attacks stayed within the guarantee of 1 in 5 (20 %)",
        "an adversary who knows the true diagnosis and procedure of everybody",
        "The attacks run re-identified at most",
        "An attack that fails is no proof",
        "What was done",
        "Most changed categories",
        "Other choices",
        "Kept as they were: secondary, age_group, sex and length_of_stay",
        "Publish one release of a table",
        "Information Fusion 45 (2019)",
    ):
        assert said in text, said
    assert "promise" not in text.lower()


def test_it_has_the_figures(strict) -> None:
    page, _ = strict
    plots = [attrs for tag, attrs in page.tags if attrs.get("class") == "plot"]
    # Risk, effective k, two histograms, correlations, two of distortion, two of categories, the map.
    assert len(plots) == len(page.figures) == 10
    assert all(plot["role"] == "img" and len(plot["aria-label"]) > 20 for plot in plots)
    assert sum(tag == "details" for tag, _ in page.tags) == len(plots)
    assert all(figure["data"] and "title" not in figure["layout"] for figure in page.figures)


def test_it_loads_nothing(strict) -> None:
    page, _ = strict
    assert not [tag for tag, _ in page.tags if tag in ("link", "img", "iframe", "object", "embed", "base")]
    assert not [attrs for tag, attrs in page.tags if tag == "script" and "src" in attrs]
    assert "http://" not in page.own
    assert "https://" not in page.own
    assert "url(" not in page.own
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert page.source.count("plotly.js v") == 1


def test_a_seed_is_said_and_not_shown(discharges, tmp_path) -> None:
    page = owners(tmp_path / "a.html", nym.rank_swap(*discharges, k=5, seed=987654321))
    assert "Made with a seed: for studies, guarantees nothing" in page.text
    assert "Made with a seed; the attacks stayed within 1 in 5 (20 %)" in page.text
    assert "987654321" not in page.own
    assert "987,654,321" not in page.own


def test_it_has_no_record(strict) -> None:
    """No list in the page is as long as the table, and nothing of the groups is in it."""
    page, res = strict

    def longest(value) -> int:
        if isinstance(value, dict):
            return max(map(longest, value.values()), default=0)
        return max([len(value), *map(longest, value)]) if isinstance(value, list) else 0

    assert longest(page.figures) < 100
    assert str(res.secret.groups.tolist()[:20])[1:-1] not in page.own


def test_categories_with_few_records_are_not_named(discharges, strict) -> None:
    frame, meanings = discharges
    page, _ = strict
    counts = frame["diagnosis"].value_counts()
    few = [value for value, count in counts.items() if count < 30]
    assert few
    for value in few:
        assert meanings["diagnosis"].label(value) not in page.own
        assert f"({value})" not in page.own
    assert f"({counts.index[0]})" in page.own
    assert "Not named, because they have fewer records: " in page.text


@pytest.mark.parametrize("form", ["pandas", "polars", "dict", "arrow"])
def test_every_kind_of_table(discharges, form, tmp_path) -> None:
    import polars as pl
    import pyarrow as pa

    frame, meanings = discharges
    frame = frame.head(200)
    given = {
        "pandas": frame,
        "polars": pl.DataFrame(frame.astype(str).to_dict("list")),
        "dict": frame.to_dict("list"),
        "arrow": pa.Table.from_pandas(frame, preserve_index=False),
    }[form]
    res = nym.rank_swap(given, meanings, k=5)
    assert "The attacks stayed within the guarantee" in owners(tmp_path / "a.html", res).text
    text = owners(tmp_path / "b.html", files_of(given, res.data, meanings), k=5).text
    assert "No guarantee of this bound; the attacks stayed within 1 in 5 (20 %)" in text
    assert "how the second was made is not recorded" in text


def test_a_bound_that_does_not_hold(discharges, tmp_path) -> None:
    frame, meanings = discharges
    page = owners(tmp_path / "a.html", files_of(frame, frame, meanings), k=100)
    assert "The bound of 1 in 100 (1 %) does not hold" in page.text
    assert "exceeded" in page.texts


def test_a_guarantee_that_does_not_hold(discharges, strict, tmp_path) -> None:
    """Whoever says strict and gives the table away as it was is found out."""
    frame, meanings = discharges
    _, res = strict
    told = {"method": nym.RankSwap(k=200), "params": {**res.params, "k": 200}, "summary": res.summary}
    page = owners(tmp_path / "a.html", files_of(frame, frame, meanings, **told))
    assert "The guarantee of 1 in 200 (0.5 %) does not hold" in page.text
    assert "stayed within" not in page.text
    page = owners(tmp_path / "b.html", res, k=500)
    assert "The bound of 1 in 500 (0.2 %) does not hold" in page.text
    assert "Unit One record" in page.text


def test_files(discharges, strict, tmp_path) -> None:
    """A manifest says how the release was made; without the owner's record nobody knows which row is whose."""
    frame, meanings = discharges
    _, res = strict
    told = {"method": res.method, "params": res.params, "summary": res.summary, "seeded": True}
    pair = files_of(frame, res.data, meanings, **told)
    page = owners(tmp_path / "a.html", pair, sweep={"k": [2]})
    assert "Made with a seed; the attacks stayed within 1 in 5 (20 %)" in page.text
    assert "records that share a group" in page.text
    shuffled = replace(pair, aligned=False)
    with pytest.raises(error.ParameterError, match="which row is whose"):
        owners(tmp_path / "b.html", shuffled)
    assert "No guarantee: made with a seed" in Page(nym.report.write(tmp_path / "b.html", shuffled)).text
    unknown = Page(nym.report.write(tmp_path / "c.html", files_of(frame, res.data, meanings)))
    assert "how it was made is not recorded" in unknown.text


def test_methods_without_a_guarantee(discharges, tmp_path) -> None:
    frame, meanings = discharges
    frame = frame.head(300)
    noise = nym.add_noise(frame, meanings, alpha=0.3)
    page = owners(tmp_path / "noise.html", noise, sweep={"alpha": [0.1, 1]})
    assert "No guarantee; the attacks re-identified" in page.text
    assert "Semantic noise" in page.text
    assert "is in the owner's edition" not in page.text
    published = nym.rank_swap(frame, meanings, k=5, method="records")
    page = owners(tmp_path / "published.html", published)
    assert "semantic rank swapping as published gives none" in page.text
    assert "candidates that swaps really had" in page.text
    assert published.summary["notes"][0][:40] in page.text
    page = owners(tmp_path / "local.html", nym.add_noise(frame, meanings, method="exponential", epsilon=2.0))
    assert "local differential privacy, ε = 2; the attacks re-identified" in page.text
    assert "spends 4 in all" in page.text
    page = owners(tmp_path / "swap.html", nym.data_swap(frame, ["sex", "age_group"], rate=0.2))
    assert "Data swapping" in page.text
    assert "sex and age_group masked" in page.text


def test_mixed_columns(tmp_path) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 90, 400),
            "income": rng.normal(3000, 500, 400).round(-2),
            "grade": rng.choice(["low", "middle", "high"], 400),
            "sex": rng.choice(["f", "m"], 400),
        }
    )
    order = nym.Order(["low", "middle", "high"])
    meanings = {"age": nym.Order(), "income": nym.Order(), "grade": order, "sex": nym.Equality()}
    page = owners(tmp_path / "a.html", nym.rank_swap(table, meanings, k=5))
    for said in ("age: how far values moved", "difference, 1 stands for", "by an order", "equal or not"):
        assert said in page.text, said
    assert "sex: how far values moved" not in page.text
    numerical = nym.rank_swap(table, {"age": nym.Order()}, p=10, method="numerical")
    assert "age: how far values moved" in owners(tmp_path / "b.html", numerical).text


def test_missing_values_and_one_column(tmp_path) -> None:
    tax = nym.Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    table = {"d": ["flu"] * 50 + ["coma"] * 40 + ["deep coma"] * 9 + [None]}
    page = owners(tmp_path / "a.html", nym.add_noise(table, {"d": tax}, alpha=0.5))
    assert "Missing values of d stay where they were" in page.text
    assert "Correlations before and after" not in page.text


def hostile_page(tmp_path, **more):
    names = [HOSTILE, "<b>bold</b>", "plain & simple"]
    tax = nym.Taxonomy.from_edges([(name, "<i>all</i>") for name in names])
    table = {HOSTILE: names * 40, "<u>other</u>": names[::-1] * 40}
    res = nym.rank_swap(table, dict.fromkeys(table, tax), k=5)
    return Page(nym.report.write(tmp_path / "hostile.html", res, title=HOSTILE, **more))


@pytest.mark.parametrize("edition", ["publication", "owner"])
def test_everything_is_escaped(tmp_path, edition) -> None:
    page = hostile_page(tmp_path, edition=edition)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"img", "b", "i", "u"}
    assert len(page.scripts) == 3
    assert HOSTILE in page.texts
    assert not any("onerror" in attrs for _, attrs in page.tags)


def test_it_is_written_or_not_at_all(discharges, strict, tmp_path, monkeypatch) -> None:
    frame, _ = discharges
    _, res = strict
    path = tmp_path / "a.html"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        nym.report.write(path, res)
    assert path.read_text() == "mine"
    assert nym.report.write(str(path), res, overwrite=True) == path
    with pytest.raises(FileNotFoundError):
        nym.report.write(tmp_path / "no folder" / "a.html", res)
    path = tmp_path / "b.html"
    with pytest.raises(error.ParameterError, match="not about a DataFrame"):
        nym.report.write(path, frame)
    with pytest.raises(error.ParameterError, match="k=0"):
        nym.report.write(path, res, edition="owner", k=0)
    with pytest.raises(error.ParameterError, match="only the owner's result has it"):
        nym.report.write(path, pickle.loads(pickle.dumps(res)), edition="owner")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(error.MissingExtraError, match=r"nominym\[report\]"):
        nym.report.write(path, res)
    assert not path.exists()


def test_item_sets(tmp_path) -> None:
    sets, _ = nym.datasets.baskets(400, seed=1, items=40)
    rel = nym.recode(sets, k=5)
    page = owners(tmp_path / "a.html", rel, sweep={"k": [2, 8]})
    for said in (
        "Owner's edition, not for publication",
        "Re-identification probability of a row: at most 1 in 5 (20 %)",
        f"each could be at least {int(rel.compatible(sets).min()):,} rows",
        "Errors of counting queries",
        "Thresholds",
        "Other choices",
        "Error rate of the assignment drawn",
    ):
        assert said in page.text, said
    assert len(page.figures) == 6
    page = owners(tmp_path / "b.html", rel, k=400)
    assert "Some records could be fewer than 400 rows" in page.text


def test_item_sets_from_a_file(tmp_path) -> None:
    sets, _ = nym.datasets.baskets(400, seed=1, items=40)
    rel = nym.recode(sets, k=5)
    rel.to_parquet(tmp_path / "r.parquet")
    read = nym.itemsets.read_release(tmp_path / "r.parquet")
    assert "Error rate of the assignment drawn" not in owners(tmp_path / "a.html", read, sets=sets).text
    with pytest.raises(error.ParameterError, match="sets=None: the owner's edition compares with the original records"):
        owners(tmp_path / "b.html", read)
    with pytest.raises(error.ParameterError, match="give the original Itemsets, not a list"):
        owners(tmp_path / "b.html", read, sets=[[1]])
    with pytest.raises(error.DataError, match="399 records, but 400 rows"):
        owners(tmp_path / "b.html", read, sets=sets[:399])


def test_item_sets_with_labels(tmp_path) -> None:
    sets, labels = nym.datasets.baskets(300, seed=1, items=40, labels=20)
    rel = nym.recode(sets, l=3, labels=labels)
    page = owners(tmp_path / "a.html", rel, sweep={"l": [2, 4]}, labels=labels)
    assert "Labels are published" in page.text
    with pytest.raises(error.ParameterError, match="'k' is no number that"):
        owners(tmp_path / "b.html", rel, sweep={"k": [2]})
