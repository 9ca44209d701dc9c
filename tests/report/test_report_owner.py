"""The owner's edition: what it says, what it does not say, and that it needs nothing from elsewhere."""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from parsed import HOSTILE, Page

import nominym as nym
from nominym import error
from nominym.guarantee import GROUPS
from nominym.release import FilePair, Manifest
from nominym.release.manifest import options_of
from nominym.report import owner as owner_page
from nominym.report.words import percent
from nominym.table import Comparison

# Small tables: kept columns together are nearly unique.
pytestmark = pytest.mark.filterwarnings("ignore:.*that no other record has:nominym.error.PrivacyWarning")


@pytest.fixture(scope="module")
def discharges():
    frame, taxonomies = nym.datasets.discharges(1_000, seed=1, diagnoses=60, secondary=12, procedures=40)
    return frame, {name: taxonomies[name] for name in ("diagnosis", "procedure")}


def owners(path, subject, **more) -> Page:
    return Page(nym.report.write(path, subject, edition="owner", **more))


@pytest.fixture(scope="module")
def strict(discharges, tmp_path_factory):
    res = nym.rank_swap(*discharges, k=5)
    return owners(tmp_path_factory.mktemp("report") / "strict.html", res, sweep={"k": [2, 10]}), res


def files_of(before, after, meanings, res=None, **more) -> FilePair:
    """Set two tables side by side, as they are read from files, with the manifest of a result if there is one."""
    manifest = None
    if res is not None:
        said = {"options": options_of(res.method), "params": res.params, "summary": res.summary}
        manifest = Manifest("swap", **said, guarantee=res.guarantee.to_dict(), seeded=res.params["seeded"])
    told = {"order": "asserted", "record": None, "released": tuple(before), "sha256": ("", ""), **more}
    return FilePair(Comparison.of(before, after, meanings), manifest=manifest, **told)


def test_it_says_what_is_guaranteed_and_what_was_measured(strict) -> None:
    page, res = strict
    for said in (
        "Owner's edition, not for publication",
        "Re-identification probability of a row: at most 1 in 5; ",
        GROUPS,
        "The attacks that were run found at most",
        "A better attack may find more",
        "such as pycanon",
        "What was done",
        "Most changed categories",
        "Other choices",
        "Groups with a single value",
        "Information Fusion 45 (2019)",
    ):
        assert said in page.text, said
    assert all(said in page.text for said in res.guarantee.not_covered)
    for word in ("promise", " safe", "holds"):
        assert word not in page.text.lower().replace("this page holds", ""), word


def test_it_shows_what_kept_columns_add(strict) -> None:
    """One row for each kept column that is known as well, and the worst-off."""
    page, res = strict
    found = res.linkage()
    text = page.text[page.text.index("What if they also know …") : page.text.index("The worst-off: found")]
    names = list(dict.fromkeys(found.attacks["attack"]))
    assert " ".join(["besides the masked columns", *names]) in text
    places = [text.index(f" {also} ") for also in ("nothing else", "secondary", "age_group", "sex", "length_of_stay",
                                                   "all kept columns")]  # fmt: skip
    assert places == sorted(places)
    nearest = found.attacks[found.attacks["attack"] == "nearest row"]
    for share in nearest["share"][nearest["known"].map(len) == 2]:
        assert percent(share).replace("\xa0", " ") in text
    for header in ("above 2/k", "above 1/2", "Worst-off"):
        assert header in page.text
    # Several columns together tell most people apart: that is no breach, and has to be said.
    assert not found.holds
    assert found.holds_masked
    assert "with kept columns, attacks found" in page.text
    assert "verdict open" in [attrs.get("class") for _, attrs in page.tags]


def test_a_share_above_the_bound_by_chance_is_explained(discharges, tmp_path, monkeypatch) -> None:
    frame, meanings = discharges
    res = nym.rank_swap(frame[list(meanings)], meanings, k=5)
    found = res.linkage()
    lucky = {"share": 0.213, "low": 0.19, "high": 0.24, "attacked": 1000, "holds": True}
    table = found.attacks.assign(**lucky)
    monkeypatch.setattr(owner_page.measured, "attacks", lambda *_: replace(found, attacks=table))
    page = owners(tmp_path / "a.html", res)
    assert "More than the bound of 20 % was found (" in page.text
    assert "21.3 %), which is within chance: the bound limits a probability, and among 1,000 attacked" in page.text
    assert "not exceeded by more than chance" in page.text
    assert "verdict holds" in [attrs.get("class") for _, attrs in page.tags]


def test_headlines_of_item_sets_are_wrong_and_lost_items(tmp_path) -> None:
    rows = [["bread", "milk"], ["bread"], ["bread"], ["bread", "beer"]]
    sets = nym.Itemsets.from_lists(rows, items=["bread", "milk", "beer", "never"])
    rel = nym.recode(sets, k=4)
    page = owners(tmp_path / "a.html", rel, sets=sets)
    # All bases are {bread}: two records of two items have one of them wrong.
    assert "Wrong items 25 %" in page.text
    assert "Lost items 2 of 4" in page.text
    assert "are 25 % of its own items on average; 2 of the 4 items are in no base." in page.text
    assert "Error of counts" not in page.text.partition("What was done")[0]
    # Without the secret side, as from a file, what is expected takes its place.
    bare = owners(tmp_path / "c.html", pickle.loads(pickle.dumps(rel)), sets=sets)
    assert "Wrong items, expected 25 %" in bare.text
    assert "are expected to be 25 % of its own items on average" in bare.text
    public = Page(nym.report.write(tmp_path / "b.html", rel))
    assert "Wrong items, expected 25 %" in public.text
    assert "Lost items 3 of 4" in public.text


def test_where_nothing_is_kept_the_guarantee_stands_alone(discharges, tmp_path) -> None:
    frame, meanings = discharges
    page = owners(tmp_path / "a.html", nym.rank_swap(frame[list(meanings)], meanings, k=5))
    assert "at most 1 in 5; attacks found at most" in page.text
    assert "With kept columns" not in page.text
    assert "verdict holds" in [attrs.get("class") for _, attrs in page.tags]


def test_it_has_the_figures(strict) -> None:
    page, _ = strict
    plots = [attrs for tag, attrs in page.tags if attrs.get("class") == "plot"]
    # Risk, effective k, two histograms, correlations, two of distortion, two of categories, the map.
    assert len(plots) == len(page.figures) == 10
    assert all(plot["role"] == "img" and len(plot["aria-label"]) > 20 for plot in plots)
    assert sum(tag == "details" for tag, _ in page.tags) == len(plots)
    assert all(figure["data"] and "title" not in figure["layout"] for figure in page.figures)


def test_it_has_the_measures_that_others_publish(discharges, tmp_path) -> None:
    frame, meanings = discharges
    res = nym.rank_swap(frame, meanings, k=5)
    page = owners(tmp_path / "a.html", res)
    for title in (
        "Marginals of one, two and three attributes",
        "Unique exact matches: ",
        "Disclosure of kept attributes",
    ):
        assert title in page.text
    assert "by these alone, such a row is as likely to be that of anyone else in the group" in page.text
    found = nym.risk.unique_exact_matches(frame, res.data)
    assert f"{found.unique:,}" in page.text
    assert f"{found.matches:,}" in page.text


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
    assert page.text.startswith("Release of 1,000 records (for studies)")
    assert "No guarantee: made with a seed, for studies; " in page.text
    assert "verdict holds" not in [attrs.get("class") for _, attrs in page.tags]
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
    frame = frame[[*meanings, "sex"]].head(200)
    given = {
        "pandas": frame,
        "polars": pl.DataFrame(frame.astype(str).to_dict("list")),
        "dict": frame.to_dict("list"),
        "arrow": pa.Table.from_pandas(frame, preserve_index=False),
    }[form]
    res = nym.rank_swap(given, meanings, k=5)
    assert "at most 1 in 5; " in owners(tmp_path / "a.html", res).text
    text = owners(tmp_path / "b.html", files_of(given, res.data, meanings), k=5).text
    assert "No guarantee; " in text
    assert "Bound to compare with" in text
    assert "there is no manifest that says how the release was made" in text


def test_a_bound_that_is_exceeded(discharges, tmp_path) -> None:
    frame, meanings = discharges
    page = owners(tmp_path / "a.html", files_of(frame, frame, meanings), k=100)
    assert "Broken: more than 1 in 100 (1 %) by masked columns alone" in page.text
    assert "of the 1,000 people are found" in page.text
    assert "exceeded" in page.texts
    assert "verdict broken" in [attrs.get("class") for _, attrs in page.tags]


def test_a_guarantee_that_is_broken(discharges, strict, tmp_path) -> None:
    """Whoever says strict and gives the table away as it was is found out."""
    frame, meanings = discharges
    _, res = strict
    page = owners(tmp_path / "a.html", files_of(frame, frame, meanings, res), k=200)
    assert "Broken: more than 1 in 200 (0.5 %) by masked columns alone" in page.text
    assert "verdict broken" in [attrs.get("class") for _, attrs in page.tags]
    # What the manifest says stands below what was found.
    assert page.text.index("are found") < page.text.index(GROUPS)
    page = owners(tmp_path / "b.html", res, k=500)
    assert "Broken: more than 1 in 500 (0.2 %)" in page.text
    assert "Unit One record" in page.text


def test_files(discharges, strict, tmp_path) -> None:
    """A manifest says what is guaranteed; without the owner's record that is not verified."""
    frame, meanings = discharges
    _, res = strict
    page = owners(tmp_path / "a.html", files_of(frame, res.data, meanings, res), sweep={"k": [2]})
    assert res.guarantee.premise in page.text
    assert "Not verified: Re-identification probability of a row: at most 1 in 5" in page.text
    assert "the owner's record was not given" in page.text
    assert "verdict holds" not in [attrs.get("class") for _, attrs in page.tags]
    assert "records that share a group" in page.text
    seeded = files_of(frame, res.data, meanings, nym.rank_swap(frame, meanings, k=5, seed=1), order="unknown")
    with pytest.raises(error.ParameterError, match="which row is whose"):
        owners(tmp_path / "b.html", seeded)
    page = Page(nym.report.write(tmp_path / "b.html", seeded))
    assert "No guarantee: made with a seed, for studies" in page.text
    unknown = Page(nym.report.write(tmp_path / "c.html", files_of(frame, res.data, meanings)))
    assert "there is no manifest that says how the release was made" in unknown.text


def test_files_that_were_verified(discharges, tmp_path) -> None:
    frame, meanings = discharges
    frame = frame[list(meanings)].astype(str)
    frame.to_csv(tmp_path / "visits.csv", index=False)
    paths = tmp_path / "visits.csv", tmp_path / "release.csv"
    roles = dict.fromkeys(meanings, "quasi-identifier")
    nym.publish(*paths, roles, nym.RankSwap(k=5), meanings, key=tmp_path / "owner.parquet")
    page = owners(tmp_path / "a.html", nym.release.compare_files(*paths, meanings, key=tmp_path / "owner.parquet"))
    assert "Verified by the files: " in page.text
    assert "every group has 5 records or more" in page.text
    assert "verdict holds" in [attrs.get("class") for _, attrs in page.tags]


def test_item_sets_in_files(tmp_path) -> None:
    sets, _ = nym.datasets.baskets(400, seed=1, items=40)
    sets.to_fimi(tmp_path / "baskets.dat")
    paths = tmp_path / "baskets.dat", tmp_path / "release.parquet"
    nym.publish(*paths, None, nym.Recode(k=5), key=tmp_path / "owner.parquet")
    page = owners(tmp_path / "a.html", nym.release.compare_sets(*paths, key=tmp_path / "owner.parquet"))
    assert "Verified by the files" in page.text
    page = owners(tmp_path / "b.html", nym.release.compare_sets(*paths))
    assert "Not verified: Re-identification probability of a row: at most 1 in 5" in page.text


def test_persons_are_counted(tmp_path) -> None:
    frame, taxonomies = nym.datasets.discharges(600, seed=1, diagnoses=60, secondary=12, procedures=40)
    frame = frame[["diagnosis", "sex"]].assign(patient=np.arange(600) // 2)
    res = nym.rank_swap(frame, {"diagnosis": taxonomies["diagnosis"]}, k=5, person="patient")
    page = owners(tmp_path / "a.html", res)
    assert "Probability that a row belongs to a given person: at most 1 in 5" in page.text
    assert "Persons re-identified" in page.text
    assert "One person, by the column patient" in page.text


def test_methods_without_a_guarantee(discharges, tmp_path) -> None:
    frame, meanings = discharges
    frame = frame.head(300)
    noise = nym.add_noise(frame, meanings, alpha=0.3)
    page = owners(tmp_path / "noise.html", noise, sweep={"alpha": [0.1, 1]})
    assert "No guarantee; attacks found at most" in page.text
    assert "Semantic noise" in page.text
    assert "is in the owner's edition" not in page.text
    published = nym.rank_swap(frame, meanings, k=5, method="records")
    page = owners(tmp_path / "published.html", published)
    assert "No re-identification probability is guaranteed by this method" in page.text
    assert "candidates that swaps actually had" in page.text
    assert published.summary["notes"][0][:40] in page.text
    how = {"method": "exponential", "epsilon": 2.0}
    page = owners(tmp_path / "derived.html", nym.add_noise(frame, meanings, **how))
    assert "was derived from the data" in page.text
    named = {name: meaning.root for name, meaning in meanings.items()}
    page = owners(tmp_path / "local.html", nym.add_noise(frame, meanings, **how, roots=named))
    assert "local differential privacy, ε = 2; attacks found at most" in page.text
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
    kinds = [(name, "illness") for name in ("flu", "cold", "burn", "coma")]
    tax = nym.Taxonomy.from_edges([*kinds, ("deep coma", "coma")])
    table = {"d": ["flu"] * 50 + ["coma"] * 40 + ["deep coma"] * 9 + [None]}
    page = owners(tmp_path / "a.html", nym.add_noise(table, {"d": tax}, alpha=0.5))
    assert "Missing values of d stay in place" in page.text
    assert "Correlations before and after" not in page.text


def hostile_page(tmp_path, **more):
    names = [HOSTILE, "<b>bold</b>", "plain & simple"]
    tax = nym.Taxonomy.from_edges([(name, "<i>all</i>") for name in names])
    table = {HOSTILE: names * 40, "<u>other</u>": names[::-1] * 40, "<s>kept</s>": ["<s>f</s>", "m"] * 60}
    res = nym.rank_swap(table, dict.fromkeys(list(table)[:2], tax), k=50)
    return Page(nym.report.write(tmp_path / "hostile.html", res, title=HOSTILE, **more))


@pytest.mark.parametrize("edition", ["publication", "owner"])
def test_everything_is_escaped(tmp_path, edition) -> None:
    page = hostile_page(tmp_path, edition=edition)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"img", "b", "i", "u", "s"}
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
        "Re-identification probability of a row: at most 1 in 5",
        *rel.guarantee.not_covered,
        f"each could be at least {int(rel.compatible(sets).min()):,} rows",
        "Errors of counting queries",
        "Thresholds",
        "Other choices",
        "Error rate of the assignment drawn",
    ):
        assert said in page.text, said
    assert len(page.figures) == 6
    page = owners(tmp_path / "b.html", rel, k=400)
    assert "Broken: some records could be fewer than 400 rows" in page.text


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
    assert "Known labels: an adversary who knows the label of a person looks for it" in page.text
    with pytest.raises(error.ParameterError, match="'k' is not a number that"):
        owners(tmp_path / "b.html", rel, sweep={"k": [2]})
