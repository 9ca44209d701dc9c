"""The edition for publication: what it says, and that nothing in it depends on the draw."""

from __future__ import annotations

import pytest
from pages import Page

import nominym as nym
from nominym import error

TAX = nym.Taxonomy.from_edges(
    [("body", "all"), ("mind", "all")] + [(f"{part} {i}", part) for part in ("body", "mind") for i in range(5)]
)


@pytest.fixture(scope="module")
def discharges():
    frame, taxonomies = nym.datasets.discharges(1_000, seed=1, diagnoses=12, procedures=9)
    return frame, {name: taxonomies[name] for name in ("diagnosis", "procedure")}


@pytest.fixture(scope="module")
def strict(discharges, tmp_path_factory):
    res = nym.rank_swap(*discharges, k=5)
    return Page(nym.report.write(tmp_path_factory.mktemp("report") / "strict.html", res)), res


def test_it_says_which_edition_it_is_and_what_is_guaranteed(strict) -> None:
    text = strict[0].text
    for said in (
        "Edition for publication",
        "Re-identification probability of a row: at most 1 in 5 (20 %)",
        "an adversary who knows the true diagnosis and procedure of everybody, the groups and the algorithm",
        "Adversary",
        "Unit One record.",
        "Premise Nothing else tells the rows of a group apart: kept columns (secondary, age_group, sex and "
        "length_of_stay) are neither known of a person nor predictable from the masked ones",
        "Kept as they were: secondary, age_group, sex and length_of_stay",
        "Differencing and repeats",
        "Seeds: a release that was made with a seed guarantees nothing",
        "such as pycanon, may read “k = 1”",
        "Expected change",
    ):
        assert said in text, said
    assert "Owner" not in text
    assert "promise" not in text.lower()
    assert "seed: for studies" not in text


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
        "part": [f"{part} {i}" for part in ("body", "mind") for i in range(5)],
        "sex": ["f"] * 5 + ["m", "f"] * 2 + ["f"],
    }
    page = Page(nym.report.write(tmp_path / "a.html", nym.rank_swap(table, {"part": TAX}, k=5)))
    assert "Smallest group 5 of fewer than 10 groups" in page.text
    assert "In fewer than 10 groups all records have the same sex" in page.text


def test_two_draws_from_the_same_groups_have_one_page(tmp_path, monkeypatch) -> None:
    """The five of the body and the five of the mind are the only groups of five, whatever is drawn in them."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    table = {
        "part": [f"{part} {i}" for i in range(5) for part in ("body", "mind")],
        "other": [f"{part} {4 - i}" for i in range(5) for part in ("body", "mind")],
        "age": list(range(10)),
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
    assert "Made with a seed: for studies, guarantees nothing" in page.text
    assert "No guarantee: made with a seed" in page.text
    assert "Bound on re-identification" not in page.text
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
        assert "The measured risk is in the owner's edition of this report" in page.text
        assert page.figures == []
        assert len(page.source) < 100_000
    local = nym.add_noise(frame, meanings, method="exponential", epsilon=2.0)
    text = Page(nym.report.write(tmp_path / "local.html", local)).text
    assert "Each value has local differential privacy, ε = 2" in text
    assert "spends 4 in all" in text


def test_whole_tuples(discharges, tmp_path) -> None:
    res = nym.rank_swap(*discharges, k=5, draw="joint")
    assert "Masked values of a row were moved together" in Page(nym.report.write(tmp_path / "a.html", res)).text


def test_what_is_the_owners_is_refused(strict, tmp_path) -> None:
    _, res = strict
    for given in ({"sweep": {"k": [2]}}, {"k": 3}):
        with pytest.raises(error.ParameterError, match="for the owner; give edition='owner'"):
            nym.report.write(tmp_path / "a.html", res, **given)
    with pytest.raises(error.ParameterError, match="edition='public': give 'publication' or 'owner'"):
        nym.report.write(tmp_path / "a.html", res, edition="public")


def test_item_sets(tmp_path) -> None:
    sets, _ = nym.datasets.baskets(400, seed=1, items=40)
    rel = nym.recode(sets, k=5)
    page = Page(nym.report.write(tmp_path / "a.html", rel))
    for said in (
        "Edition for publication",
        "Re-identification probability of a row: at most 1 in 5 (20 %)",
        f"{100 * rel.summary['expected_error']:.2g} %",
        "Differencing and repeats",
    ):
        assert said in page.text, said
    assert page.figures == []
    assert str(rel.error_rate()) not in page.own
    ring = Page(nym.report.write(tmp_path / "b.html", nym.recode(sets, k=5, structure="ring")))
    assert "As published: at most 1 in 5 (20 %), unless a row is known" in ring.text
    seeded = Page(nym.report.write(tmp_path / "c.html", nym.recode(sets, k=5, seed=123454321)))
    assert "Made with a seed: for studies, guarantees nothing" in seeded.text
    assert "123454321" not in seeded.own


def test_item_sets_with_labels(tmp_path) -> None:
    sets, labels = nym.datasets.baskets(300, seed=1, items=40, labels=20)
    text = Page(nym.report.write(tmp_path / "a.html", nym.recode(sets, l=3, labels=labels))).text
    assert "At least 3 sensitive labels in every group" in text
    assert "not about what an adversary believes" in text
    ring = nym.recode(sets, l=3, labels=labels, structure="ring")
    assert "need not all differ" in Page(nym.report.write(tmp_path / "b.html", ring)).text
