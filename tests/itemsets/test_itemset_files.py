"""Files of set-valued records: read as written, complete or not there, mistakes by line."""

from __future__ import annotations

import gzip
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nominym import Itemsets, error

lists = st.lists(st.sets(st.one_of(st.integers(0, 5), st.integers(0, 2**31 - 1)), max_size=6), max_size=12)


@given(lists)
def test_files_come_back(tmp_path_factory, rows) -> None:
    path = tmp_path_factory.mktemp("fimi") / "sets.dat"
    sets = Itemsets.from_lists(rows)
    sets.to_fimi(path)
    assert path.read_text() == "".join(" ".join(map(str, sorted(row))) + "\n" for row in rows)
    assert Itemsets.from_fimi(path) == sets
    if not sets.n_items:
        return
    shuffled = sets.items[::-1]
    assert Itemsets.from_fimi(path, items=shuffled) == sets.over(shuffled)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n", [[]]),
        ("1 2\n3", [[1, 2], [3]]),
        ("1 2 \n\n  3\n", [[1, 2], [], [3]]),
        ("2\t1\r\n\r\n", [[1, 2], []]),
        ("0010000000 7", [[7, 10_000_000]]),
    ],
)
def test_lines_are_records(tmp_path, text: str, expected) -> None:
    path = tmp_path / "sets.dat"
    path.write_bytes(text.encode())
    assert Itemsets.from_fimi(path).to_lists() == expected
    with gzip.open(tmp_path / "sets.dat.gz", "wb") as file:
        file.write(text.encode())
    assert Itemsets.from_fimi(tmp_path / "sets.dat.gz").to_lists() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n2 x 3\n", 'line 2: "x" is not an item: whole numbers from 0 to 2147483647'),
        ("1\n\n-3\n", 'line 3: "-3" is not an item'),
        ("1,2\n", 'line 1: "1,2" is not an item'),
        ("1\n2147483648\n", 'line 2: "2147483648" is not an item'),
        ("1\n5 6 5\n", "line 2: item 5 occurs twice"),
        ("1\n\xff\n", "line 2: "),
        ("1\n2²\n", "line 2: "),
        ("1\n\xb2\n", "line 2: "),
    ],
)
def test_mistakes_are_named_by_file_and_line(tmp_path, text: str, message: str) -> None:
    path = tmp_path / "sets.dat"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(error.FormatError, match=f"sets.dat, {message}"):
        Itemsets.from_fimi(path)


def test_files_that_are_none(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        Itemsets.from_fimi(tmp_path / "no.dat")
    with pytest.raises(error.FormatError, match="is a folder"):
        Itemsets.from_fimi(tmp_path)
    (tmp_path / "bad.gz").write_bytes(b"1 2 3")
    with pytest.raises(error.FormatError, match="expected a gzip file"):
        Itemsets.from_fimi(tmp_path / "bad.gz")
    (tmp_path / "sets.dat").write_text("1\n2 3\n")
    with pytest.raises(error.DataError, match=r"sets\.dat, line 2: 3 is not among the given items"):
        Itemsets.from_fimi(tmp_path / "sets.dat", items=[1, 2])


def test_files_are_replaced_only_on_demand(tmp_path) -> None:
    path = tmp_path / "sets.dat"
    sets = Itemsets.from_lists([[1]])
    sets.to_fimi(path)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        sets.to_fimi(path)
    Itemsets.from_lists([[2]]).to_fimi(path, overwrite=True)
    assert path.read_text() == "2\n"
    with pytest.raises(error.DataError, match="whole numbers for items, not texts"):
        Itemsets.from_lists([["a"]]).to_fimi(path, overwrite=True)
    for wrong in (-1, 2**31):
        with pytest.raises(error.DataError, match=f"item {wrong}: a FIMI file holds numbers"):
            Itemsets.from_lists([[wrong]]).to_fimi(path, overwrite=True)
    assert path.read_text() == "2\n"
    assert [file.name for file in tmp_path.iterdir()] == ["sets.dat"]
    with pytest.raises(FileNotFoundError, match="no folder"):
        sets.to_fimi(tmp_path / "none" / "sets.dat")


def test_reading_tells_its_progress(tmp_path) -> None:
    path = tmp_path / "sets.dat"
    Itemsets.from_lists([[1, 2]] * 100).to_fimi(path)
    seen: list[tuple[int, int]] = []
    Itemsets.from_fimi(path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0


@pytest.mark.parametrize(
    ("name", "n", "items", "size"), [("chess.dat", 3196, 75, 37), ("pumsb_first4334.dat", 4334, 1539, 74)]
)
def test_real_files(shared_data, tmp_path, name: str, n: int, items: int, size: int) -> None:
    sets = Itemsets.from_fimi(shared_data(f"fimi/{name}"))
    assert (sets.n, sets.n_items) == (n, items)
    assert set(np.diff(sets.core.starts()).tolist()) == {size}
    sets.to_fimi(tmp_path / "again.dat")
    assert Itemsets.from_fimi(tmp_path / "again.dat") == sets


def test_reading_is_fast(tmp_path) -> None:
    # A tenth of a million records of 74 items; the limit is a tenth of what a slow machine under load would need.
    rng = np.random.default_rng(0)
    row = " ".join(map(str, np.sort(rng.choice(7000, 74, replace=False))))
    path = tmp_path / "large.dat"
    path.write_text(f"{row}\n" * 100_000)
    before = time.process_time()
    assert Itemsets.from_fimi(path).n == 100_000
    assert time.process_time() - before < 3
