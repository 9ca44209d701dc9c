"""Tables of Excel, Stata and SPSS, and lines of comment in delimited text."""

from __future__ import annotations

import sys
from datetime import date, datetime
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nominym as nym
from nominym.error import FormatError, MissingExtraError, ParameterError
from nominym.release import read_table
from nominym.release import text as text_files

FRAME = pd.DataFrame(
    {"code": ["007", "NA", None, "x"], "age": [1, 2, 3, 4], "when": pd.to_datetime(["2020-01-01"] * 4)}
)


def test_excel(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"
    FRAME.assign(number=pd.array([1, None, 3, 4], dtype="Int64")).to_excel(path, index=False)
    found = read_table(path, ["age", "code", "number"])
    assert found["code"].to_pylist() == ["007", "NA", None, "x"]
    assert found["age"].to_pylist() == [1, 2, 3, 4]
    assert found["number"].to_pylist() == [1, None, 3, 4]
    roles = {"code": "identifier", "age": "quasi-identifier", "when": "identifier", "number": "identifier"}
    made = nym.publish(
        path, tmp_path / "r.csv", roles, nym.RankSwap(k=2), {"age": nym.Order()}, key=tmp_path / "k.parquet"
    )
    assert made.manifest.output["rows"] == 4
    assert (tmp_path / "r.csv").read_text().splitlines()[0] == "age"
    pair = nym.release.compare_files(path, tmp_path / "r.csv", key=tmp_path / "k.parquet")
    assert not pair.other_input
    with pytest.raises(ParameterError, match=r"\.xlsx, \.dta, \.sav are read, not written"):
        nym.publish(path, tmp_path / "r.xlsx", roles, nym.RankSwap(k=2), {"age": nym.Order()})


def test_stata_and_spss(tmp_path: Path) -> None:
    sex = pd.DataFrame({"sex": pd.Categorical(["m", "f", "m"]), "age": [30, 40, 50]})
    sex.to_stata(tmp_path / "a.dta", write_index=False)
    assert read_table(tmp_path / "a.dta")["sex"].to_pylist() == ["m", "f", "m"]
    pyreadstat = pytest.importorskip("pyreadstat")
    coded = pd.DataFrame({"sex": [1.0, 2.0, 1.0], "age": [30, 40, 50]})
    pyreadstat.write_sav(coded, str(tmp_path / "a.sav"), variable_value_labels={"sex": {1: "m", 2: "f"}})
    assert read_table(tmp_path / "a.sav")["sex"].to_pylist() == ["m", "f", "m"]


def test_dates_are_dates(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    born = pd.to_datetime(["1950-01-31", None, "2000-12-01"])
    seen = pd.to_datetime(["2020-01-31 10:30", "2020-02-01 00:00", "2020-02-02 00:00"])
    frame = pd.DataFrame({"born": born, "seen": seen, "age": [70, 50, 20]})
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_stata(tmp_path / "a.dta", write_index=False, convert_dates={"born": "td", "seen": "tc"})
    for name in ("a.xlsx", "a.dta"):
        found = read_table(tmp_path / name)
        assert found["born"].to_pylist() == [date(1950, 1, 31), None, date(2000, 12, 1)]
        assert found["seen"].to_pylist()[0] == datetime(2020, 1, 31, 10, 30)
    roles = {"born": "quasi-identifier", "seen": "identifier", "age": "quasi-identifier"}
    orders = {"born": nym.Order(), "age": nym.Order()}
    nym.publish(tmp_path / "a.xlsx", tmp_path / "r.csv", roles, nym.RankSwap(k=3), orders)
    assert "1950-01-31" in {line.partition(",")[0] for line in (tmp_path / "r.csv").read_text().splitlines()}


def test_empty_texts_of_stata_and_spss_are_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"job": ["nurse", "", "cook"], "age": [30, 40, 50]})
    frame.to_stata(tmp_path / "a.dta", write_index=False)
    assert read_table(tmp_path / "a.dta")["job"].to_pylist() == ["nurse", None, "cook"]
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"))
    assert read_table(tmp_path / "a.sav")["job"].to_pylist() == ["nurse", None, "cook"]


@pytest.mark.parametrize("name", ["a.xlsx", "a.dta", "a.sav"])
@pytest.mark.parametrize("data", [b"", b"code,age\n1,2\n", b"PK\x03\x04" + bytes(50)])
def test_what_is_none(tmp_path: Path, name: str, data: bytes) -> None:
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyreadstat")
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError, match=rf"{name}: not a valid (Excel|Stata|SPSS) file"):
        read_table(tmp_path / name)


def test_packages_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(MissingExtraError, match=r"reading Excel files needs .*nominym\[tables\]"):
        read_table(tmp_path / "a.xlsx")


# ---- comments


def test_comments(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('# from the office\na,b\n#1,2\n1,"x\n# no comment"\n2,#y\n# end')
    found = read_table(path, comment="#")
    assert found["a"].to_pylist() == ["1", "2"]
    assert found["b"].to_pylist() == ["x\n# no comment", "#y"]
    path.write_text("%%\n%% all\na\n1")
    assert read_table(path, comment="%%")["a"].to_pylist() == ["1"]
    path.write_text("a,b")
    assert read_table(path, comment="#").column_names == ["a", "b"]
    path.write_text("# nothing\n")
    with pytest.raises(FormatError, match="is empty"):
        read_table(path, comment="#")
    for wrong in ("", '"', "\n", 7):
        with pytest.raises(ParameterError, match=r"comment=.*prefix of comment lines"):
            read_table(path, comment=wrong)  # type: ignore[arg-type]


@given(lines=st.lists(st.text('ab#"\n', max_size=6), max_size=12), size=st.integers(1, 7))
def test_comments_in_pieces(lines: list[str], size: int) -> None:
    text = "\n".join(lines).encode()
    whole = text_files._Comments("#").without(text, final=True)
    piecewise = text_files._Comments("#")
    parts = [piecewise.without(text[at : at + size], final=False) for at in range(0, len(text), size)]
    assert b"".join([*parts, piecewise.without(b"", final=True)]) == whole
    assert not any(line.startswith(b"#") for line in whole.split(b"\n")) or b'"' in whole


def test_a_release_of_a_table_with_comments(tmp_path: Path) -> None:
    path, out = tmp_path / "a.csv", tmp_path / "r.csv"
    path.write_text("# note\nname,tag,age\n" + "".join(f"n{i},#{i % 2},{i}\n" for i in range(8)))
    roles = {"name": "identifier", "tag": "keep", "age": "quasi-identifier"}
    nym.publish(path, out, roles, nym.RankSwap(k=2), {"age": nym.Order()}, comment="#", key=tmp_path / "k.parquet")
    pair = nym.release.compare_files(path, out, key=tmp_path / "k.parquet", comment="#")
    assert len(pair.comparison) == 8
