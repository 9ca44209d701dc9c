from __future__ import annotations

import gzip

import pandas as pd
import pytest

from nominym import Taxonomy
from nominym.datasets import load_adult, load_diabetes, load_icd9
from nominym.error import FormatError, TaxonomyError

ADULT = "{age}, Private, 1, Some-college, 10, Divorced, {job}, Unmarried, Black, Female, 0, 5, 38, ?, {income}\n"


def write_adult(folder, data: str, test: str) -> None:
    (folder / "adult.data").write_text(data)
    (folder / "adult.test").write_text(test)


def test_adult_joins_both_files(tmp_path):
    write_adult(
        tmp_path,
        ADULT.format(age=30, job="Sales", income=">50K") + "\n",
        "|1x3 Cross validator\n" + ADULT.format(age=40, job="?", income="<=50K."),
    )
    frame = load_adult(tmp_path)
    assert frame.shape == (2, 15)
    assert frame["age"].tolist() == [30, 40]
    assert frame["income"].tolist() == [">50K", "<=50K"]
    assert frame["education"].tolist() == ["Some-college"] * 2
    assert frame["occupation"].isna().tolist() == [False, True]
    assert frame["native-country"].isna().all()
    assert frame.index.equals(pd.RangeIndex(2))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("", "expected 15 columns"),
        ("|only a comment\n", "expected 15 columns"),
        ("1, 2, 3\n", "too few cells"),
        (ADULT.format(age=30, job="Sales", income=">50K, more"), "too many cells"),
        (ADULT.format(age=30, job="Sales", income=">50K") + "1, 2\n", "too few cells"),
        (ADULT.format(age=30, job="Sales", income=">50K") * 2 + "1," * 20, "expected 15 columns"),
        (
            ADULT.format(age="young", job="Sales", income=">50K"),
            "the column age is not made of whole numbers",
        ),
        (ADULT.format(age="?", job="Sales", income=">50K"), "the column age is not made of whole numbers"),
        (ADULT.format(age=30, job="Sales", income="rich"), "income 'rich'; expected <=50K or >50K"),
        (ADULT.format(age=30, job="Sales", income="?"), "income"),
    ],
)
def test_adult_of_other_content(tmp_path, data, problem):
    write_adult(tmp_path, data, ADULT.format(age=40, job="Sales", income="<=50K."))
    with pytest.raises(FormatError, match=problem) as caught:
        load_adult(tmp_path)
    assert str(tmp_path / "adult.data") in str(caught.value)


def test_adult_that_is_no_text(tmp_path):
    write_adult(tmp_path, "", "")
    (tmp_path / "adult.data").write_bytes(b"\xff\xfe\x00\x81" * 50)
    with pytest.raises(FormatError, match=r"adult\.data"):
        load_adult(tmp_path)


def test_diabetes_pads_codes(tmp_path):
    path = tmp_path / "diabetic_data.csv"
    path.write_text(
        "encounter_id,weight,diag_1,diag_2,diag_3,max_glu_serum\n"
        "1,?,8,250.01,V27,None\n2,[50-75),38,E909,?,>300\n3,?,7.1,428,V45.8,Norm\n"
    )
    frame = load_diabetes(path)
    assert frame["diag_1"].tolist() == ["008", "038", "007.1"]
    assert frame["diag_2"].tolist() == ["250.01", "E909", "428"]
    assert frame["diag_3"].tolist()[::2] == ["V27", "V45.8"]
    assert frame["diag_3"].isna().tolist() == [False, True, False]
    assert frame["weight"].isna().tolist() == [True, False, True]
    assert frame["max_glu_serum"].tolist() == ["None", ">300", "Norm"]
    assert frame["encounter_id"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected a header with diag_1"),
        ("encounter_id,diag_1,diag_2\n1,2,3\n", "no column 'diag_3'"),
        ("diag_1,diag_2,diag_3\n", "no records"),
        ("diag_1,diag_2,diag_3\n1,2\n", "too few cells"),
        ("diag_1,diag_2,diag_3\n1,2,3,4\n", "too many cells"),
        ("diag_1,diag_2,diag_3\n1,2,3\n1,2,3,4\n", "expected a header"),
        ("diag_1,diag_2,diag_3\n1,flu,3\n", "diag_2 'flu'; expected a code of ICD-9-CM"),
        ("diag_1,diag_2,diag_3\n1,2,1234\n", "diag_3 '1234'"),
    ],
)
def test_diabetes_of_other_content(tmp_path, text, problem):
    path = tmp_path / "wrong.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=problem) as caught:
        load_diabetes(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "damage",
    # The header has the time, which must not be part of the name of a test.
    [b"plain text", gzip.compress(b"diag_1,diag_2,diag_3\n1,2,3\n" * 50, mtime=0)[:-20]],
    ids=["plain text", "cut short"],
)
def test_diabetes_in_a_damaged_archive(tmp_path, damage):
    path = tmp_path / "diabetic_data.csv.gz"
    path.write_bytes(damage)
    with pytest.raises(FormatError, match=r"diabetic_data\.csv\.gz"):
        load_diabetes(path)


ICD9 = """code,dotted,parent,depth,short_desc,long_desc,is_leaf
001-009,001-009,ROOT,1,Gut infections,,0
001,001,001-009,2,Cholera,,0
0010,001.0,001,3,Chol vib,"Cholera, by vibrio",1
"""


def test_icd9_has_dotted_ids_and_synonyms(tmp_path):
    path = tmp_path / "icd.csv"
    path.write_text(ICD9)
    taxonomy = load_icd9(str(path))
    assert isinstance(taxonomy, Taxonomy)
    assert sorted(taxonomy.ids) == ["001", "001-009", "001.0", "ICD-9-CM"]
    assert taxonomy.parents("001.0") == ["001"]
    assert taxonomy.parents("001-009") == ["ICD-9-CM"]
    assert taxonomy.label("001.0") == "Cholera, by vibrio"
    assert taxonomy.label("0010") == "Cholera, by vibrio"
    assert taxonomy.label("001") == "Cholera"


def test_icd9_without_its_columns(tmp_path):
    path = tmp_path / "icd.csv"
    path.write_text("code,name\n001,Cholera\n")
    with pytest.raises(FormatError, match=r"icd\.csv: no column 'dotted'; expected code, dotted"):
        load_icd9(path)


def test_icd9_with_an_unknown_parent(tmp_path):
    path = tmp_path / "icd.csv"
    path.write_text(ICD9 + "0020,002.0,002,3,Typhoid,,1\n")
    with pytest.raises(TaxonomyError, match=r"icd\.csv.*'?002'?"):
        load_icd9(path)


@pytest.mark.parametrize("load", [load_adult, load_diabetes, load_icd9])
def test_missing_files_are_named(tmp_path, load):
    with pytest.raises(FileNotFoundError, match="absent"):
        load(tmp_path / "absent")


def test_real_adult(shared_data):
    frame = load_adult(shared_data("adult/adult.data").parent)
    assert frame.shape == (48_842, 15)
    assert frame["income"].value_counts().to_dict() == {"<=50K": 37_155, ">50K": 11_687}
    missing = frame.isna().sum()
    assert missing[missing > 0].to_dict() == {"workclass": 2_799, "occupation": 2_809, "native-country": 857}
    assert "Exec-managerial" in set(frame["occupation"])


def test_real_diabetes_maps_to_icd9(shared_data):
    frame = load_diabetes(shared_data("diabetes/diabetic_data.csv.gz"))
    icd9 = load_icd9(shared_data("icd/icd9cm_hierarchy.csv"))
    assert frame.shape == (101_766, 50)
    assert len(icd9) == 17_727
    assert [frame[f"diag_{number}"].nunique() for number in (1, 2, 3)] == [716, 748, 789]
    assert [int(frame[f"diag_{number}"].isna().sum()) for number in (1, 2, 3)] == [21, 358, 1_423]
    for number in (1, 2, 3):
        assert set(frame[f"diag_{number}"].dropna()) <= set(icd9.ids)


def test_real_icd9_is_a_tree(shared_data):
    icd9 = load_icd9(shared_data("icd/icd9cm_hierarchy.csv"))
    assert all(len(icd9.parents(name)) == 1 for name in icd9.ids if name != "ICD-9-CM")
    assert icd9.depth("250.01") == 6
    assert icd9.parents("250.01") == icd9.parents("25001") == ["250.0"]
