"""Set-valued records as offices have them: baskets with names, a row for each item, releases as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nominym as nym
from commands import Run
from nominym.error import DataError, FormatError, MissingValueError, ParameterError
from nominym.itemsets import files

ITEMS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters='|",;'), min_size=1, max_size=4)


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_baskets(tmp_path: Path) -> None:
    path = put(tmp_path / "b.csv", 'whole milk, bread ,,\r\n"beer, dark",bread\r\n\r\nmilk')
    assert nym.Itemsets.from_baskets(path).to_lists() == [
        ["bread", "whole milk"],
        ["beer, dark", "bread"],
        [],
        ["milk"],
    ]
    assert nym.Itemsets.from_baskets(put(path, "2;10\n7\n"), delimiter=";").items == (2, 7, 10)
    assert nym.Itemsets.from_baskets(put(path, "02,10\n7\n")).items == ("02", "10", "7")
    assert nym.Itemsets.from_baskets(put(path, "a,b\na\n"), items=["b", "a"]).to_lists() == [["b", "a"], ["a"]]
    assert nym.Itemsets.from_baskets(put(path, "")).n == 0


@pytest.mark.parametrize(
    ("text", "how", "error", "told"),
    [
        ("a,b,a\n", {}, DataError, "row 0: item 'a' occurs twice"),
        ('a,"b\n', {}, FormatError, r'b\.csv: unexpected end of data; write " inside'),
        ("a,b\n", {"delimiter": ",,"}, ParameterError, "delimiter=',,': give one character"),
        ("a,b\n", {"encoding": "utf-99"}, ParameterError, "no such text encoding"),
        ("a,b\n", {"items": ["a"]}, DataError, "row 0: 'b' is not among the given items"),
    ],
)
def test_bad_baskets(tmp_path: Path, text: str, how: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        nym.Itemsets.from_baskets(put(tmp_path / "b.csv", text), **how)
    (tmp_path / "b.csv").write_bytes(b"a,\xff\n")
    with pytest.raises(FormatError, match="line 1: byte 2"):
        nym.Itemsets.from_baskets(tmp_path / "b.csv")


def test_long_form() -> None:
    table = {"id": ["b", "a", "b", "b", "c"], "item": [3, 1, 2, 3, None]}
    with pytest.raises(MissingValueError, match="column 'item': row 4: an item is missing"):
        nym.Itemsets.from_long(table, "id", "item")
    assert nym.Itemsets.from_long(table, "id", "item", missing="empty").to_lists() == [[2, 3], [1], []]
    with pytest.raises(DataError, match="column 'item': row 4: the record of this row is missing"):
        nym.Itemsets.from_long(table, "item", "id")
    with pytest.raises(nym.error.UnknownColumnError, match="there is no column 'x'"):
        nym.Itemsets.from_long(table, "id", "x")
    with pytest.raises(DataError, match=r"0\.5 .*is not an item"):
        nym.Itemsets.from_long({"id": [1], "item": [0.5]}, "id", "item")


@given(pairs=st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcdef")), min_size=1, max_size=30))
def test_long_form_by_definition(pairs: list[tuple[int, str]]) -> None:
    found = nym.Itemsets.from_long({"r": [r for r, _ in pairs], "i": [i for _, i in pairs]}, "r", "i")
    records: dict[int, set[str]] = {}
    for record, item in pairs:
        records.setdefault(record, set()).add(item)
    assert found.to_lists() == [sorted(items) for items in records.values()]


@given(
    rows=st.lists(st.sets(ITEMS, max_size=4), min_size=4, max_size=9),
    labelled=st.booleans(),
    sign=st.sampled_from(",;\t"),
)
def test_releases_go_out_and_in(tmp_path_factory: pytest.TempPathFactory, rows: Any, labelled: bool, sign: str) -> None:
    sets = nym.Itemsets.from_lists([sorted(row) for row in rows])
    release = nym.recode(sets, k=2, seed=1)
    if labelled:
        release = nym.itemsets.Release(
            release.base, release.distance, release.threshold, np.array(["x", 'y,"'] * 9)[: len(rows)]
        )
    path = tmp_path_factory.mktemp("csv") / "r.csv"
    files.draft_csv(release, path, sign)
    back = nym.itemsets.read_release(path)
    for name in ("base", "distance"):
        read, written = ([sorted(map(str, row)) for row in getattr(each, name)] for each in (back, release))
        assert read == written
    assert (back.threshold == release.threshold).all()
    assert (back.labels is None) == (not labelled)


@pytest.mark.parametrize("name", ["a|b", " a", "a\nb"])
def test_names_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    release = nym.recode(nym.Itemsets.from_lists([[name], [name]]), k=2, seed=1)
    with pytest.raises(DataError, match="use a Parquet file"):
        files.draft_csv(release, tmp_path / "r.csv")


@pytest.mark.parametrize(
    "text",
    [
        '"base","distance","threshold"\n"a","b","x"\n',
        "base,distance,threshold\na,b\n",
        "base,distance,threshold\na,a|a,1\n",
    ],
)
def test_bad_releases(tmp_path: Path, text: str) -> None:
    with pytest.raises((FormatError, DataError)):
        nym.itemsets.read_release(put(tmp_path / "r.csv", text))


# ---- on the command line

LONG = "receipt,article,customer\n" + "".join(
    f"r{i},item {j},c{i}\n" for i in range(60) for j in range(i % 3, 3 + i % 2)
)


def test_from_a_row_for_each_item_to_a_page(run: Run, folder: Path) -> None:
    put(folder / "sales.csv", "# till 3\n" + LONG)
    of = ("--record", "receipt", "--item", "article", "--comment", "#")
    done = run("recode", "sales.csv", *of, "--person", "customer", "-o", "r.csv", "--k", "3", "--key", "key.parquet")
    assert done.code == 0, done.err
    assert "not part of the release: receipt, customer" in done.err
    assert (folder / "r.csv").read_text().startswith('"base","distance","threshold"\n')
    done = run("audit", "sales.csv", "r.csv", *of, "--person", "customer", "--key", "key.parquet")
    assert done.code == 0, done.out + done.err
    assert run("measure", "sales.csv", "r.csv", *of, "--key", "key.parquet").code == 0
    done = run("report", "sales.csv", "r.csv", *of, "--key", "key.parquet", "--edition", "owner", "-o", "mine.html")
    assert done.code == 0, done.err
    assert "item 2" in (folder / "mine.html").read_text()


def test_missing_items_on_the_command_line(run: Run, folder: Path) -> None:
    put(folder / "sales.csv", LONG + "r99,,c99\n")
    of = ("sales.csv", "--record", "receipt", "--item", "article", "-o", "r.csv", "--k", "3")
    done = run("recode", *of)
    assert done.code == 3
    assert "give --missing empty" in done.err
    done = run("recode", *of, "--missing", "empty")
    assert done.code == 0, done.err
    assert run("recode", *of, "--missing", "drop", "--overwrite").code == 2


def test_baskets_on_the_command_line(run: Run, folder: Path) -> None:
    lines = [",".join(f"item {j}" for j in range(1 + i % 4)) for i in range(12)]
    put(folder / "b.csv", "\n".join(lines) + "\n")
    done = run("recode", "b.csv", "-o", "r.parquet", "--k", "3", "--key", "key.parquet")
    assert done.code == 0, done.err
    assert run("audit", "b.csv", "r.parquet", "--key", "key.parquet").code == 0
    put(folder / "pairs.csv", "".join(f"r{i},x{i % 5}\n" for i in range(9)))
    done = run("recode", "pairs.csv", "-o", "s.parquet", "--k", "3")
    assert done.code == 3
    assert "every line has two cells" in done.err
    assert "give --record and --item" in done.err
    put(folder / "till.csv", "receipt,article,price\n" + "".join(f"r{i},x{i % 5},{i % 3}.5\n" for i in range(9)))
    done = run("recode", "till.csv", "-o", "s.parquet", "--k", "3")
    assert done.code == 3
    assert "every line has 3 cells, and those of the first line occur nowhere else" in done.err
    put(folder / "noted.csv", "# till 3\n" + "\n".join(lines) + "\n")
    done = run("recode", "noted.csv", "-o", "n.csv", "--k", "3", "--comment", "#")
    assert "n.csv: 12 records" in done.out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--record", "receipt"), "give both, --record and --item"),
        (("--record", "receipt", "--item", "none"), "there is no column 'none'"),
        (("--record", "receipt", "--item", "article", "--column", "x"), "leave --record and --item out"),
        (
            ("--record", "article", "--item", "receipt", "--person", "customer"),
            "column 'customer': the record of row 0 has several",
        ),
    ],
)
def test_bad_tables_of_items(run: Run, folder: Path, options: tuple[str, ...], told: str) -> None:
    put(folder / "sales.csv", LONG)
    done = run("recode", "sales.csv", *options, "-o", "r.csv", "--k", "3")
    assert done.code != 0
    assert told in done.err
    assert not (folder / "r.csv").exists()


def test_numbers_of_a_file_are_numbers(tmp_path: Path) -> None:
    put(tmp_path / "a.csv", "r,i\n1,10\n1,9\n2,10\n2,7\n3,9\n4,7\n")
    made = nym.publish(
        tmp_path / "a.csv", tmp_path / "r.txt", None, nym.Recode(k=2), record="r", item="i", key=tmp_path / "k.parquet"
    )
    assert made.result.base.items == (7, 9, 10)
    pair = nym.release.compare_sets(
        tmp_path / "a.csv", tmp_path / "r.txt", record="r", item="i", key=tmp_path / "k.parquet"
    )
    assert pair.sets.items == (7, 9, 10)
    pq.write_table(pa.table({"r": [1, 1, 2], "i": ["a", "b", "a"]}), tmp_path / "a.parquet")
    made = nym.publish(tmp_path / "a.parquet", tmp_path / "p.parquet", None, nym.Recode(k=2), record="r", item="i")
    assert len(made.result) == 2
    with pytest.raises(ParameterError, match="leave record= out"):
        nym.publish({"r": [1, 2]}, tmp_path / "q.csv", {"r": "keep"}, nym.DataSwap(rate=0.5), record="r")
