"""The page: what it says, what it does not say, and that it needs nothing from elsewhere."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from nominym import error

HOSTILE = "</script><img src=x onerror=\"document.title='hacked'\">"


class Page(HTMLParser):
    """Texts, attributes and scripts of a page."""

    def __init__(self, path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self._inside = ""
        self.feed(self.source)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag) -> None:
        self._inside = ""

    def handle_data(self, data) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).replace("\xa0", " ").split())

    @property
    def figures(self):
        return json.loads(self.scripts[0])

    @property
    def own(self) -> str:
        """The page without the library that draws."""
        return self.source.replace(self.scripts[1], "")


@pytest.fixture(scope="module")
def discharges():
    return nym.datasets.discharges(1_000, seed=1, diagnoses=12, procedures=9)


def masked_columns(taxonomies):
    return {name: taxonomies[name] for name in ("diagnosis", "procedure")}


@pytest.fixture(scope="module")
def strict(discharges, tmp_path_factory):
    frame, taxonomies = discharges
    res = nym.rank_swap(frame, masked_columns(taxonomies), k=5, guarantee="strict", seed=987654321)
    path = tmp_path_factory.mktemp("report") / "strict.html"
    written = nym.report.write(path, frame, res, taxonomies, sweep={"k": [2, 10]})
    assert written == path
    return Page(path), res


def test_it_says_what_was_promised_and_measured(strict) -> None:
    text = strict[0].text
    for said in (
        "The promise holds",
        "nobody can tell with a probability above 1 in 5 (20 %)",
        "The attack was run",
        "What was done",
        "Most changed categories",
        "Other choices",
        "Not masked: secondary, age_group, sex and length_of_stay",
        "Publish one release of a table",
        "Information Fusion 45 (2019)",
    ):
        assert said in text, said


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


def test_it_does_not_have_the_seed(strict) -> None:
    page, res = strict
    assert res.params["seed"] == 987654321
    assert "987654321" not in page.own
    assert "987,654,321" not in page.own
    assert "seed" not in page.text.replace("no record, no row, no seed", "")


def test_it_has_no_record(discharges, strict) -> None:
    """No list in the page is as long as the table, and nothing of the groups is in it."""
    page, res = strict

    def longest(value) -> int:
        if isinstance(value, dict):
            return max(map(longest, value.values()), default=0)
        return max([len(value), *map(longest, value)]) if isinstance(value, list) else 0

    assert longest(page.figures) < 100
    assert str(res.secret.groups.tolist()[:20])[1:-1] not in page.own


def test_categories_with_few_records_are_not_named(discharges, strict) -> None:
    frame, taxonomies = discharges
    page, _ = strict
    counts = frame["diagnosis"].value_counts()
    few = [value for value, count in counts.items() if count < 30]
    assert few
    for value in few:
        assert taxonomies["diagnosis"].label(value) not in page.own
        assert f"({value})" not in page.own
    assert f"({counts.index[0]})" in page.own
    assert "Not named, because they have fewer records: " in page.text


@pytest.mark.parametrize("form", ["pandas", "polars", "dict", "arrow"])
def test_every_kind_of_table(discharges, form, tmp_path) -> None:
    import polars as pl
    import pyarrow as pa

    frame, taxonomies = discharges
    frame = frame.head(200)
    given = {
        "pandas": frame,
        "polars": pl.DataFrame(frame.astype(str).to_dict("list")),
        "dict": frame.to_dict("list"),
        "arrow": pa.Table.from_pandas(frame, preserve_index=False),
    }[form]
    masked = masked_columns(taxonomies)
    res = nym.rank_swap(given, masked, k=5, guarantee="strict", seed=1)
    assert "The promise holds" in Page(nym.report.write(tmp_path / "a.html", given, res, masked)).text
    plain = nym.report.write(tmp_path / "b.html", given, res.data, masked, k=5)
    assert "The bound of 1 in 5 (20 %) is kept" in Page(plain).text


def test_a_bound_that_does_not_hold(discharges, tmp_path) -> None:
    frame, taxonomies = discharges
    masked = masked_columns(taxonomies)
    page = Page(nym.report.write(tmp_path / "a.html", frame, frame, masked, k=100))
    assert "The bound of 1 in 100 (1 %) is exceeded" in page.text
    assert "exceeded" in page.texts
    assert "how the second was made is not recorded" in page.text


def test_a_promise_that_does_not_hold(discharges, strict, tmp_path) -> None:
    """Whoever says strict and gives the table away as it was is found out."""
    frame, taxonomies = discharges
    _, res = strict
    false = nym.Result(frame, {**res.params, "k": 200}, res.summary)
    page = Page(nym.report.write(tmp_path / "a.html", frame, false, masked_columns(taxonomies)))
    assert "The promise does not hold" in page.text
    assert "The promise holds" not in page.text
    page = Page(nym.report.write(tmp_path / "b.html", frame, res, masked_columns(taxonomies), k=500))
    assert "The bound of 1 in 500 (0.2 %) is exceeded" in page.text
    assert "above 1 in 5 (20 %) which row" in page.text


def test_methods_that_promise_nothing(discharges, tmp_path) -> None:
    frame, taxonomies = discharges
    frame = frame.head(300)
    masked = masked_columns(taxonomies)
    noise = nym.add_noise(frame, masked, alpha=0.3, seed=1)
    page = Page(nym.report.write(tmp_path / "noise.html", frame, noise, masked, sweep={"alpha": [0.1, 1]}))
    assert "No promise; the risk was measured" in page.text
    assert "Semantic noise" in page.text
    published = nym.rank_swap(frame, masked, k=5, seed=1)
    page = Page(nym.report.write(tmp_path / "published.html", frame, published, masked))
    assert "No promise: the method is said to" in page.text
    assert "candidates that swaps really had" in page.text
    assert published.summary["notes"][0][:40] in page.text
    local = nym.add_noise(frame, masked, method="exponential", epsilon=2.0, seed=1)
    page = Page(nym.report.write(tmp_path / "local.html", frame, local, masked))
    assert "ε = 2" in page.text
    assert "spends 4 in all" in page.text
    swap = nym.data_swap(frame, ["sex", "age_group"], rate=0.2, seed=1)
    page = Page(nym.report.write(tmp_path / "swap.html", frame, swap, {}))
    assert "Data swapping" in page.text
    assert "sex and age_group masked" in page.text


def test_numbers(tmp_path) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"age": rng.integers(20, 90, 400), "income": rng.normal(3000, 500, 400).round(-2)})
    meaning = {"age": None, "income": None}
    res = nym.rank_swap(table, meaning, p=10, method="numerical", seed=1)
    page = Page(nym.report.write(tmp_path / "a.html", table, res, meaning))
    assert "age: how far values moved" in page.text


def test_missing_values_and_one_column(tmp_path) -> None:
    tax = nym.Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    table = {"d": ["flu"] * 50 + ["coma"] * 40 + ["deep coma"] * 9 + [None]}
    noise = nym.add_noise(table, {"d": tax}, alpha=0.5, seed=1)
    page = Page(nym.report.write(tmp_path / "a.html", table, noise, {"d": tax}))
    assert "Missing values of d stay where they were" in page.text
    assert "Correlations before and after" not in page.text


def hostile_page(tmp_path):
    names = [HOSTILE, "<b>bold</b>", "plain & simple"]
    tax = nym.Taxonomy.from_edges([(name, "<i>all</i>") for name in names])
    table = {HOSTILE: names * 40, "<u>other</u>": names[::-1] * 40}
    meaning = dict.fromkeys(table, tax)
    res = nym.rank_swap(table, meaning, k=5, guarantee="strict", seed=1)
    return nym.report.write(tmp_path / "hostile.html", table, res, meaning, title=HOSTILE)


def test_everything_is_escaped(tmp_path) -> None:
    page = Page(hostile_page(tmp_path))
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"img", "b", "i", "u"}
    assert len(page.scripts) == 3
    assert HOSTILE in page.texts
    assert not any("onerror" in attrs for _, attrs in page.tags)


def test_files(discharges, tmp_path) -> None:
    frame, taxonomies = discharges
    masked = {"diagnosis": taxonomies["diagnosis"]}
    path = tmp_path / "a.html"
    path.write_text("mine")
    with pytest.raises(error.ParameterError, match="overwrite=True"):
        nym.report.write(path, frame, frame, masked)
    with pytest.raises(FileNotFoundError):
        nym.report.write(tmp_path / "none" / "a.html", frame, frame, masked)
    with pytest.raises(error.UnknownColumnError):
        nym.report.write(path, frame, frame, {"other": taxonomies["diagnosis"]}, overwrite=True)
    assert path.read_text() == "mine"
    nym.report.write(str(path), frame.head(50), frame.head(50), masked, overwrite=True, title="A title")
    assert "<title>A title</title>" in path.read_text(encoding="utf-8")


def test_what_is_refused(discharges, tmp_path, monkeypatch) -> None:
    frame, taxonomies = discharges
    path = tmp_path / "a.html"
    with pytest.raises(error.ParameterError, match="taxonomies: name one masked column"):
        nym.report.write(path, frame, frame, {})
    with pytest.raises(error.ParameterError, match="a mapping from column names"):
        nym.report.write(path, frame, frame, ["diagnosis"])
    with pytest.raises(error.ParameterError, match="k=0"):
        nym.report.write(path, frame, frame, {"diagnosis": taxonomies["diagnosis"]}, k=0)
    with pytest.raises(error.ParameterError, match="a DataFrame does not"):
        nym.report.write(path, frame, frame, {"diagnosis": taxonomies["diagnosis"]}, sweep={"k": [2]})
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(error.MissingExtraError, match=r"nominym\[report\]"):
        nym.report.write(path, frame, frame, {"diagnosis": taxonomies["diagnosis"]})
    assert not path.exists()


def test_item_sets(tmp_path) -> None:
    sets, _ = nym.datasets.baskets(400, seed=1, items=40)
    rel = nym.recode(sets, k=5, order="gray", seed=123454321)
    page = Page(nym.report.write_itemsets(tmp_path / "a.html", sets, rel, sweep={"k": [2, 8]}))
    for said in (
        "The promise holds",
        "with a probability of 1 in 5 (20 %) at most",
        f"each could be at least {int(rel.compatible(sets).min()):,} rows",
        "Errors of counting queries",
        "Thresholds",
        "Other choices",
    ):
        assert said in page.text, said
    assert "123454321" not in page.own
    assert len(page.figures) == 6
    rel.to_parquet(tmp_path / "r.parquet")
    read = nym.itemsets.read_release(tmp_path / "r.parquet")
    page = Page(nym.report.write_itemsets(tmp_path / "b.html", sets, read))
    assert "Error rate of the assignment drawn" not in page.text
    with pytest.raises(error.ParameterError, match="give an Itemsets and a Release"):
        nym.report.write_itemsets(tmp_path / "c.html", sets, sets)
    with pytest.raises(error.DataError, match="399 records, 400 published"):
        nym.report.write_itemsets(tmp_path / "c.html", sets[:399], rel)


def test_item_sets_with_labels(tmp_path) -> None:
    sets, labels = nym.datasets.baskets(300, seed=1, items=40, labels=20)
    rel = nym.recode(sets, l=3, labels=labels, order="gray", seed=1)
    path = nym.report.write_itemsets(tmp_path / "a.html", sets, rel, sweep={"l": [2, 4]}, labels=labels)
    assert "those published at the rows that a record may be need not all differ" in Page(path).text
    with pytest.raises(error.ParameterError, match="'k' is not what the release was made with"):
        nym.report.write_itemsets(tmp_path / "b.html", sets, rel, sweep={"k": [2]})
