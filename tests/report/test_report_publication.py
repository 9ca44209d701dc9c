"""The edition for publication: what it says, and that nothing in it depends on the draw."""

from __future__ import annotations

import pytest
from parsed import Page

import nominym as nym
from nominym import error
from nominym.guarantee import GROUPS
from nominym.report.words import about

# Small tables: kept columns together are nearly unique.
pytestmark = pytest.mark.filterwarnings("ignore:.*that no other record has:nominym.error.PrivacyWarning")

TAX = nym.Taxonomy.from_edges(
    [("body", "all"), ("mind", "all")] + [(f"{part} {i}", part) for part in ("body", "mind") for i in range(5)]
)


@pytest.fixture(scope="module")
def discharges():
    frame, taxonomies = nym.datasets.discharges(1_000, seed=1, diagnoses=60, secondary=12, procedures=40)
    return frame, {name: taxonomies[name] for name in ("diagnosis", "procedure")}


@pytest.fixture(scope="module")
def strict(discharges, tmp_path_factory):
    res = nym.rank_swap(*discharges, k=5)
    return Page(nym.report.write(tmp_path_factory.mktemp("report") / "strict.html", res)), res


def test_it_says_which_edition_it_is_and_what_is_guaranteed(strict) -> None:
    text = strict[0].text
    for said in (
        "Edition for publication",
        "Re-identification probability of a row: at most 1 in 5",
        GROUPS,
        "Adversary",
        "Unit One record.",
        "Premise Nothing else tells the rows of a group apart: secondary, age_group, sex and length_of_stay are "
        "neither known of a person nor predictable from diagnosis and procedure",
        "Groups with a single value",
        "Expected change",
    ):
        assert said in text, said
    assert all(said in text for said in strict[1].guarantee.not_covered)
    assert "Owner" not in text
    assert "promise" not in text.lower()
    assert "for studies" not in text


def test_beside_the_size_of_groups_it_explains_what_other_tools_read(strict) -> None:
    """Directly after the figures in large type, before any section."""
    text = strict[0].text
    assert text.index("Smallest group") < text.index("such as pycanon") < text.index("What was done")
    assert "report k = 1 for this release" in text


def test_groups_with_one_value_are_tabulated(strict) -> None:
    page, res = strict
    for role, name in (("masked", "read_off"), ("kept", "constant")):
        for column, figures in res.summary["groups"][name].items():
            shown = [about(count) if count else "none" for count in (figures["groups"], figures["records"])]
            assert f"{column} {role} {' '.join(shown)}" in page.text


def test_that_hardly_anything_changes_comes_first(tmp_path) -> None:
    table = {"part": [f"{part} {i}" for part in ("body", "mind") for i in range(5)] * 20, "sex": ["f", "m"] * 100}
    with pytest.warns(nym.PrivacyWarning, match="hardly anything changes"):
        res = nym.rank_swap(table, {"part": TAX}, k=5)
    for edition in ("publication", "owner"):
        page = Page(nym.report.write(tmp_path / f"{edition}.html", res, edition=edition))
        note = res.summary["notes"][0]
        first = page.text.index("Hardly anything changes. Re-identification probability of a row: at most 1 in 5")
        assert first < page.text.index(note[1:]) < page.text.index(GROUPS)
        assert page.text.count(note[1:]) == 1
        assert "verdict holds" not in [attrs.get("class") for _, attrs in page.tags]


def test_it_has_no_figure_of_the_draw(strict) -> None:
    """No attack, no histogram, no changed category, no correlation, no distortion; one figure, of the groups."""
    page, res = strict
    text = page.text.lower()
    for absent in (
        "attacks",
        "how far values moved",
        "most changed",
        "correlation",
        "total variation",
        "k-marginal",
        "pmse",
        "exact match",
        "disclosure of",
        "other choices",
    ):
        assert absent not in text, absent
    assert len(page.figures) == 1
    for figures in res.secret.summary["attributes"].values():
        assert str(figures["rmse"]) not in page.own
        assert str(figures["unchanged"]) not in page.own


def test_its_figures_have_two_digits(strict) -> None:
    page, res = strict
    for figures in res.summary["attributes"].values():
        assert str(figures["expected_rmse"]) not in page.own
        assert f"{figures['expected_rmse']:.2g}" in page.text
        assert f"{100 * figures['expected_unchanged']:.2g} %" in page.text
    groups = res.summary["groups"]["count"]
    assert f"of {float(f'{groups:.2g}'):.0f} groups" in page.text
    assert all(share == float(f"{share:.2g}") for share in page.figures[0]["data"][0]["y"])
    assert not [attrs for _, attrs in page.tags if "data-value" in attrs]


def test_few_groups_are_not_counted(tmp_path) -> None:
    table = {
        "part": [f"{part} {i}" for part in ("body", "mind", "mind") for i in range(5)],
        "sex": ["f"] * 5 + ["m"] * 5 + ["f"] * 5,
    }
    page = Page(nym.report.write(tmp_path / "a.html", nym.rank_swap(table, {"part": TAX}, k=5)))
    assert "Smallest group 5 of fewer than 10 groups" in page.text
    assert "sex kept fewer than 10 fewer than 10" in page.text
    assert "part masked none none" in page.text


def test_two_draws_from_the_same_groups_have_one_page(tmp_path, monkeypatch) -> None:
    """The five of the body and the five of the mind are the only groups of five, whatever is drawn in them."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    table = {
        "part": [f"{part} {i}" for i in range(5) for part in ("body", "mind")],
        "other": [f"{part} {4 - i}" for i in range(5) for part in ("body", "mind")],
        "sex": list("fm") * 5,
    }
    meanings = {"part": TAX, "other": TAX}
    first = nym.rank_swap(table, meanings, k=5)
    second = next(res for _ in range(100) if (res := nym.rank_swap(table, meanings, k=5)).data != first.data)
    pages = [nym.report.write(tmp_path / name, res) for name, res in (("a.html", first), ("b.html", second))]
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert "Made on 2020-09-13" in Page(pages[0]).text
    owners = [nym.report.write(path, res, edition="owner", overwrite=True)
              for path, res in zip(pages, (first, second), strict=True)]  # fmt: skip
    assert owners[0].read_bytes() != owners[1].read_bytes()


def test_it_needs_only_the_public_side(strict, tmp_path, monkeypatch) -> None:
    import pickle

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    _, res = strict
    public = pickle.loads(pickle.dumps(res))
    pages = [nym.report.write(tmp_path / name, subject) for name, subject in (("a.html", res), ("b.html", public))]
    assert pages[0].read_bytes() == pages[1].read_bytes()
    with pytest.raises(error.ParameterError, match="only the owner's result has it"):
        nym.report.write(tmp_path / "c.html", public, edition="owner")


def test_a_seed_takes_the_guarantee_away(discharges, tmp_path) -> None:
    res = nym.rank_swap(*discharges, k=5, seed=987654321)
    page = Page(nym.report.write(tmp_path / "a.html", res))
    assert page.text.startswith("Release of 1,000 records (for studies)")
    assert "Release of 1,000 records for studies" in page.text  # the heading and its badge
    assert page.text.index("No guarantee: made with a seed, for studies") < page.text.index("What was done")
    assert "Bound on re-identification" not in page.text
    assert "at most 1" not in page.text
    assert "verdict holds" not in [attrs.get("class") for _, attrs in page.tags]
    assert "987654321" not in page.own


def test_methods_without_a_guarantee(discharges, tmp_path) -> None:
    frame, meanings = discharges
    methods = {
        "Semantic rank swapping as published": nym.rank_swap(frame, meanings, k=5, method="records"),
        "Semantic noise": nym.add_noise(frame, meanings, alpha=0.3),
        "Data swapping": nym.data_swap(frame, ["sex"], rate=0.2),
    }
    for name, res in methods.items():
        page = Page(nym.report.write(tmp_path / f"{name}.html", res))
        assert name in page.text
        assert "No guarantee No re-identification probability is guaranteed" in page.text
        assert "verdict open" in [attrs.get("class") for _, attrs in page.tags]
        assert "The measured risk is in the owner's edition of this report" in page.text
        assert page.figures == []
        assert len(page.source) < 100_000
    named = {name: meaning.root for name, meaning in meanings.items()}
    local = nym.add_noise(frame, meanings, method="exponential", epsilon=2.0, roots=named)
    text = Page(nym.report.write(tmp_path / "local.html", local)).text
    assert "Each value has local differential privacy, ε = 2" in text
    assert "spends 4 in all" in text


def test_whole_tuples(discharges, tmp_path) -> None:
    res = nym.rank_swap(*discharges, k=5, draw="joint")
    assert "Masked values of a row were moved together" in Page(nym.report.write(tmp_path / "a.html", res)).text


def test_what_is_the_owners_is_refused(strict, tmp_path) -> None:
    _, res = strict
    for given in ({"sweep": {"k": [2]}}, {"k": 3}):
        with pytest.raises(error.ParameterError, match="for the owner only; give edition='owner'"):
            nym.report.write(tmp_path / "a.html", res, **given)
    with pytest.raises(error.ParameterError, match="edition='public': give 'publication' or 'owner'"):
        nym.report.write(tmp_path / "a.html", res, edition="public")


def test_item_sets(tmp_path) -> None:
    sets, _ = nym.datasets.baskets(400, seed=1, items=40)
    rel = nym.recode(sets, k=5)
    page = Page(nym.report.write(tmp_path / "a.html", rel))
    for said in (
        "Edition for publication",
        "Re-identification probability of a row: at most 1 in 5",
        GROUPS,
        *rel.guarantee.not_covered,
        f"{100 * rel.summary['expected_error']:.2g} %",
    ):
        assert said in page.text, said
    assert page.figures == []
    assert str(rel.error_rate()) not in page.own
    with pytest.warns(nym.PrivacyWarning, match="insiders"):
        ring = nym.recode(sets, k=5, structure="ring")
    page = Page(nym.report.write(tmp_path / "b.html", ring))
    assert "No guarantee As published" in page.text
    assert "Rows that a record could be" not in page.text
    assert "verdict open" in [attrs.get("class") for _, attrs in page.tags]
    seeded = Page(nym.report.write(tmp_path / "c.html", nym.recode(sets, k=5, seed=123454321)))
    assert "No guarantee: made with a seed, for studies" in seeded.text
    assert "(for studies)" in seeded.text
    assert "123454321" not in seeded.own


def test_item_sets_with_labels(tmp_path) -> None:
    sets, labels = nym.datasets.baskets(300, seed=1, items=40, labels=20)
    text = Page(nym.report.write(tmp_path / "a.html", nym.recode(sets, l=3, labels=labels))).text
    assert "At least 3 sensitive labels in every group" in text
    assert "not about what an adversary believes" in text
    assert "Known labels" in text
    assert "at most 1 in 3" not in text
