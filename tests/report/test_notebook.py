"""What notebooks show: the public side only, escaped; a report in a frame of its own."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest

import nominym as nym
from nominym.error import ParameterError

BAD = "<script>alert(1)</script>"


def test_what_is_shown_is_public_and_escaped() -> None:
    frame = {BAD: list("abcdefgh") * 3, "kept": [BAD, "x"] * 12}
    tax = nym.Taxonomy.from_edges([(name, BAD) for name in "abcdefgh"])
    res = nym.rank_swap(frame, {BAD: tax}, k=5)
    sets = nym.Itemsets.from_lists([[BAD, "secret item"], [BAD], ["y"], []] * 3)
    rel = nym.recode(sets, k=3)
    shown = {type(each).__name__: each._repr_html_() for each in (res, tax, sets, rel)}
    for text in shown.values():
        assert "<script" not in text
        assert "&lt;" in text or "script" not in text
    assert "at most 1 in 5" in shown["Result"]
    assert "Premise" in shown["Result"]
    assert "12 records" in shown["Itemsets"]
    assert not any("secret item" in text for text in shown.values())
    # It says nothing that depends on the draw.
    assert {nym.rank_swap(frame, {BAD: tax}, k=5)._repr_html_() for _ in range(5)} == {shown["Result"]}


def test_a_report_without_a_path_is_shown(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    frame, taxonomies = nym.datasets.discharges(300, seed=1)
    res = nym.rank_swap(frame, taxonomies, k=5)
    page = res.report(title=f'"{BAD}')
    text = page._repr_html_()
    assert text.startswith("<iframe srcdoc=")
    assert BAD not in text
    assert text.count('"', text.index("srcdoc=") + 8, text.index(' sandbox="')) == 1
    assert "allow-same-origin" not in text
    assert unescape(page.text).count("at most 1 in 5") >= 1
    assert "notebook" in repr(page)
    with pytest.raises(ParameterError, match="give a path: a notebook stores what it shows"):
        res.report(edition="owner")
    assert res.report(tmp_path / "r.html", title=f'"{BAD}').read_text(encoding="utf-8") == page.text
