"""Several rows of a person as one record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nominym as nym
from nominym.error import DataError, ParameterError

STAYS: dict[str, list[Any]] = {
    "patient": ["b", "a", "b", "c", "a", "b"],
    "sex": ["m", None, "m", "f", "f", "m"],
    "code": ["486", "250", "250", None, "250", "486"],
    "days": [3, 1, 4, 9, 2, 3],
}
RECORDS = {"patient": ["a", "b", "c"], "sex": ["f", "m", "f"], "code": [["250"], ["250", "486"], []]}


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table, pl.DataFrame, dict])
def test_every_kind_of_table(make: Any) -> None:
    data = make(STAYS)
    made = nym.one_record_per_person(data, "patient", ["code", "days"])
    assert type(made) is type(data)
    columns = {name: list(made[name].to_pylist() if make is pa.table else made[name]) for name in STAYS}
    plain = {name: [list(x) if hasattr(x, "__len__") and not isinstance(x, str) else x for x in values]
             for name, values in columns.items()}  # fmt: skip
    assert plain == {**RECORDS, "days": [[1, 2], [3, 4], [9]]}
    assert isinstance(plain["days"][0][0], int)


def test_what_differs_becomes_a_list() -> None:
    made = nym.one_record_per_person(pd.DataFrame(STAYS, index=list("uvwxyz")), "patient")
    assert made["code"].tolist() == RECORDS["code"]
    assert made["sex"].tolist() == RECORDS["sex"]
    assert made.index.tolist() == [0, 1, 2]
    alone = nym.one_record_per_person(pd.DataFrame({"p": [2, 1], "x": pd.Categorical(["u", "v"])}), "p")
    assert alone.dtypes["x"] == pd.CategoricalDtype(["u", "v"])
    assert alone["p"].tolist() == [1, 2]
    asked = nym.one_record_per_person(pd.DataFrame({"p": [2, 1], "x": [5, 6]}), "p", ["x"])
    assert asked["x"].tolist() == [[6], [5]]


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    stays = pd.DataFrame({"p": rng.integers(0, 50, 400), "x": rng.choice(list("abcdef"), 400)})
    stays["y"] = stays["p"] % 7
    made = nym.one_record_per_person(stays, "p", ["x"])
    pd.testing.assert_frame_equal(nym.one_record_per_person(stays.sample(frac=1, random_state=2), "p", ["x"]), made)
    naive = stays.groupby("p")["x"].agg(lambda part: sorted(set(part)))
    by_person = made.set_index("p")
    assert by_person["x"].to_dict() == naive.to_dict()
    assert (by_person["y"] == by_person.index % 7).all()


@pytest.mark.parametrize(
    ("change", "how", "raised", "said"),
    [
        ({}, {"lists": ["code"]}, DataError, "column 'days': 2 of 3 persons have different values in their rows"),
        (
            {"patient": [None, *STAYS["patient"][1:]]},
            {},
            DataError,
            "1 of 6 rows name no person, the first of them row 0",
        ),
        ({}, {"lists": ["patient"]}, ParameterError, "cannot be a list"),
        ({}, {"lists": ["nothing"]}, Exception, "'nothing'"),
        ({}, {"person": "nobody"}, Exception, "'nobody'"),
        ({"code": [[str(i)] for i in range(6)]}, {}, DataError, "column 'code': holds lists already"),
    ],
)
def test_errors_name_the_column(change: dict[str, Any], how: dict[str, Any], raised: Any, said: str) -> None:
    with pytest.raises(raised, match=said):
        nym.one_record_per_person({**STAYS, **change}, **{"person": "patient", **how})


def test_diagnoses_are_masked_with_age() -> None:
    rng = np.random.default_rng(3)
    stays = pd.DataFrame({"p": rng.integers(0, 100, 300), "code": rng.choice(["flu", "cold", "coma"], 300)})
    stays["age"] = stays["p"] % 40 + 20
    persons = nym.one_record_per_person(stays, "p", ["code"])
    tax = nym.Taxonomy.from_edges([("flu", "lung"), ("cold", "lung"), ("lung", "illness"), ("coma", "illness")])
    masked = nym.rank_swap(persons.drop(columns="p"), {"code": nym.Sets(tax), "age": nym.Order()}, k=5, seed=1).data
    assert sorted(masked["code"].tolist()) == sorted(persons["code"].tolist())
    assert sorted(masked["age"]) == sorted(persons["age"])


def test_ids_that_are_equal_are_one_person() -> None:
    """As for ``person=``: 1, "1" and 1.0 are written differently, and are the same."""
    rows = pd.DataFrame({"who": [1, "1", 1.0, 2, "2"], "x": list("abcde"), "y": [0.0, -0.0, 0.0, 5.0, 5]})
    made = nym.one_record_per_person(rows, "who", ["x"])
    assert made["x"].tolist() == [["a", "b", "c"], ["d", "e"]]
    assert made["y"].tolist() == [0.0, 5.0]
