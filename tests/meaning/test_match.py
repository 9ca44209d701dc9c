"""From values to concepts: by id, then label, then synonym, whatever the case."""

from __future__ import annotations

import pandas as pd
import pytest

from nominym import Taxonomy, error, stats

TAX = Taxonomy.from_edges(
    [("D1", "D0"), ("D2", "D0"), ("D3", "D0")],
    labels={"D0": "Disorder", "D1": "Coma", "D2": "D1", "D3": "Bank"},
    synonyms={"D1": ["Deep sleep", "Trance"], "D2": ["coma", "trance"], "D3": ["bank"]},
)


@pytest.mark.parametrize(
    ("value", "concept", "how"),
    [
        ("D1", "D1", "id"),  # also D2's label: ids come first
        ("d1", "D1", "id"),
        (" coma ", "D1", "label"),  # also D2's synonym: labels come first
        ("DEEP SLEEP", "D1", "synonym"),
        ("bank", "D3", "label"),
        ("trance", None, "ambiguous"),
        ("flu", None, "none"),
    ],
)
def test_order_of_names(value: str, concept: str | None, how: str) -> None:
    row = TAX.match([value]).iloc[0]
    assert (row["value"], row["concept"], row["how"], row["count"]) == (value, concept, how, 1)
    assert (value in TAX) == (concept is not None)


def test_ambiguous_values_list_the_ids() -> None:
    with pytest.raises(error.AmbiguousConceptError, match=r"'trance' names 'D1', 'D2'.*by id"):
        TAX.depth("trance")


def test_missing_values_are_not_matched() -> None:
    assert TAX.match(pd.Series(["coma", None, "coma"]))["count"].tolist() == [2]


def test_the_error_names_column_values_counts_and_remedy() -> None:
    values = pd.Series(["comma"] * 3 + ["Coma"] + [f"zz{i:02}" for i in range(11)], name="diag")
    with pytest.raises(error.UnknownConceptError) as caught:
        stats.semantic_mean(values, TAX)
    message = str(caught.value)
    assert message.startswith("column 'diag': 12 values (14 records) not in the taxonomy: 'comma' (3×), did you mean")
    assert "'Coma'" in message
    assert "'zz08'" in message
    assert "'zz09'" not in message
    assert "and 2 more values" in message
    assert "Taxonomy.match" in message


def test_close_names_are_found_in_large_taxonomies() -> None:
    tax = Taxonomy.from_edges([(i, 0) for i in range(100_000, 160_000)] + [("Coma", 0)])
    for wrong, right in (("15000O", "15000"), ("Koma", "Coma"), ("99999x", None)):
        with pytest.raises(error.UnknownConceptError) as caught:
            tax.depth(wrong)
        assert ("did you mean" in str(caught.value)) == (right is not None)
        assert right is None or f"'{right}" in str(caught.value)


def test_whole_numbers_match_and_floats_are_refused() -> None:
    tax = Taxonomy.from_edges([(250, 249), (251, 249)])
    assert stats.semantic_mean(pd.Series([250, 250, 251]), tax) == "250"
    with pytest.raises(error.DataError, match=r"column 'icd': holds numbers with decimal places.*as text"):
        stats.semantic_mean(pd.Series([250.0, None], name="icd"), tax)
