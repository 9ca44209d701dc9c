"""Item sets recoded by what they mean, from the command line: made, audited, measured and reported."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nominym as nym
from commands import Run
from nominym.error import ParameterError

SHELVES = [(str(i), f"shelf {i // 5}") for i in range(40)]
SHELVES += [(f"shelf {i}", "shop") for i in range(8)]


@pytest.fixture
def shop(folder: Path) -> nym.Itemsets:
    sets = nym.datasets.baskets(200, seed=1, items=40, size=4).sets
    sets.to_fimi("baskets.dat")
    lines = ["child,parent", *(f"{child},{parent}" for child, parent in SHELVES)]
    Path("shelves.csv").write_text("\n".join(lines) + "\n")
    return sets


@pytest.mark.parametrize("out", ["release.parquet", "release.txt"])
def test_a_release_and_what_is_said_of_it(run: Run, shop: nym.Itemsets, out: str) -> None:
    if out.endswith("txt"):  # a text has no names with blanks
        Path("shelves.csv").write_text(Path("shelves.csv").read_text().replace("shelf ", "shelf-"))
    made = ("baskets.dat", "--taxonomy", "shelves.csv", "--order", "gray")
    done = run("recode", *made, "-o", out, "--k", 4, "--key", "owner.parquet")
    assert done.code == 0, done.err
    tax = nym.read_taxonomy("shelves.csv")
    assert int(nym.itemsets.read_release(out, tax).compatible(shop).min()) >= 4
    said = nym.release.read_manifest(out)
    assert said.method == nym.Recode(k=4, order="gray", taxonomy="given")
    assert (said.meanings["items"]["name"], said.meanings["items"]["concepts"]) == ("shelves.csv", 49)
    pair = ("baskets.dat", out, "--key", "owner.parquet")
    done = run("audit", *pair, "--taxonomy", "shelves.csv")
    assert done.code == 0, done.err + done.out
    assert "guarantee verified" in done.out
    found = json.loads(run("measure", *pair, "--taxonomy", "shelves.csv", "--json").out)
    assert 0 < found["semantic error"] < 0.5
    page = ("--edition", "owner", "-o", "page.html", "--sweep", "k=2,4")
    done = run("report", *pair, "--taxonomy", "shelves.csv", *page)
    assert done.code == 0, done.err


def test_the_same_taxonomy_is_needed(run: Run, shop: nym.Itemsets) -> None:
    run("recode", "baskets.dat", "--taxonomy", "shelves.csv", "-o", "r.parquet", "--k", 4, "--order", "gray")
    done = run("audit", "baskets.dat", "r.parquet")
    assert done.code == 2
    assert "recoded by the taxonomy shelves.csv" in done.err
    assert "give --taxonomy" in done.err
    Path("other.csv").write_text(Path("shelves.csv").read_text() + "41,shop\n")
    done = run("audit", "baskets.dat", "r.parquet", "--taxonomy", "other.csv")
    assert done.code == 2
    assert "not with what is given" in done.err


def test_strange_items_and_files_in_use(run: Run, shop: nym.Itemsets) -> None:
    how = ("recode", "baskets.dat", "--k", 4, "--order", "gray")
    Path("few.csv").write_text("child,parent\n1,shop\n")
    done = run(*how, "--taxonomy", "few.csv", "-o", "r.parquet")
    assert done.code == 3
    assert " items (" in done.err
    assert "not in the taxonomy" in done.err
    assert "leave --taxonomy out to use the items as they are" in done.err
    assert "--quasi" not in done.err
    done = run(*how, "--taxonomy", "absent.csv", "-o", "r.parquet")
    assert done.code == 4
    assert done.err.startswith("error: absent.csv: no such file")
    assert "--quasi" not in done.err
    done = run(*how, "--taxonomy", "shelves.txt", "-o", "shelves.txt", "--overwrite")
    assert done.code != 0
    Path("in_use.txt").write_text(Path("shelves.csv").read_text())
    done = run(*how, "--taxonomy", "in_use.txt", "-o", "in_use.txt", "--overwrite")
    assert done.code != 0
    assert Path("in_use.txt").read_text() == Path("shelves.csv").read_text()


def test_from_a_file(run: Run, shop: nym.Itemsets) -> None:
    Path("in").mkdir()
    text = '[input]\npath = "../baskets.dat"\ntaxonomy = "../shelves.csv"\n[output]\npath = "../r.parquet"\n'
    Path("in/sets.toml").write_text(text + '[method]\ncommand = "recode"\nk = 4\norder = "gray"\n')
    assert run("recode", "--config", "in/sets.toml").code == 0
    done = run("audit", "--config", "in/sets.toml")
    assert "the attacks run found" in done.out + done.err or done.code in (0, 1), done.err
    assert "recoded by" not in done.err


def test_a_meaning_is_given_once(shop: nym.Itemsets) -> None:
    tax = nym.Taxonomy.from_edges(SHELVES)
    how = {"order": "gray"}
    made = nym.publish(shop, "a.parquet", None, nym.Recode(k=4, **how), {"items": tax})
    assert made.result.taxonomy is tax
    other = nym.publish(shop, "b.parquet", None, nym.Recode(k=4, taxonomy=tax, **how))
    assert other.manifest.meanings == made.manifest.meanings
    for method, meanings in ((nym.Recode(k=4, taxonomy=tax), {"items": tax}), (nym.Recode(k=4), {"goods": tax})):
        with pytest.raises(ParameterError, match="one meaning"):
            nym.publish(shop, "c.parquet", None, method, meanings)
    with pytest.raises(ParameterError, match="give a Taxonomy"):
        nym.publish(shop, "c.parquet", None, nym.Recode(k=4), {"items": nym.Order()})


def test_a_column_of_lists_in_a_table(run: Run) -> None:
    drugs = [[["a", "b"], ["b"], [], ["a", "c"]][i % 4] for i in range(60)]
    pq.write_table(pa.table({"drugs": drugs, "age": [20 + i % 30 for i in range(60)]}), "visits.parquet")
    made = ("visits.parquet", "-o", "r.parquet", "--quasi", "drugs=sets", "--quasi", "age=number", "--k", 5)
    done = run("swap", *made, "--key", "owner.parquet")
    assert done.code == 0, done.err
    assert nym.release.read_manifest("r.parquet").meanings["drugs"] == {"meaning": "Sets"}
    swapped = pq.read_table("r.parquet")["drugs"].to_pylist()
    assert sorted(map(str, swapped)) == sorted(map(str, drugs))
    done = run("audit", "visits.parquet", "r.parquet", "--key", "owner.parquet")
    assert "the attacks run found" in done.out, done.err + done.out


def test_lists_of_concepts_in_a_table(run: Run) -> None:
    """Items of lists have a taxonomy, from the shell and from TOML; audit and measure ask for the same."""
    Path("in").mkdir()
    edges = [("flu", "lung"), ("cold", "lung"), ("lung", "illness"), ("coma", "illness")]
    Path("in/ill.csv").write_text("child,parent\n" + "".join(f"{child},{parent}\n" for child, parent in edges))
    lists = [[["flu", "coma"], ["cold"], [], ["lung", "flu"]][i % 4] for i in range(60)]
    pq.write_table(pa.table({"ill": lists, "age": [20 + i % 30 for i in range(60)]}), "in/visits.parquet")
    made = ("in/visits.parquet", "--quasi", "ill=sets:in/ill.csv", "--quasi", "age=number", "--k", 5, "--seed", 1)
    done = run("swap", *made, "-o", "r.parquet", "--key", "owner.parquet")
    assert done.code == 0, done.err
    meaning = nym.release.read_manifest("r.parquet").meanings["ill"]
    tax = nym.Taxonomy.from_edges(edges)
    assert meaning == nym.release.manifest.describe(nym.Sets(tax), "in/ill.csv")
    text = '[input]\npath = "visits.parquet"\n[output]\npath = "r.parquet"\n'
    text += '[columns.ill]\nrole = "quasi-identifier"\nmeaning = "sets:ill.csv"\n'
    text += '[columns.age]\nrole = "quasi-identifier"\nmeaning = "number"\n[method]\nk = 5\nseed = 1\n'
    Path("in/a.toml").write_text(text)
    assert run("swap", "--config", "in/a.toml").code == 0
    assert pq.read_table("in/r.parquet").equals(pq.read_table("r.parquet"))
    done = run("measure", "in/visits.parquet", "r.parquet", "--key", "owner.parquet")
    assert "give --quasi ill=sets:ill.csv" in done.out + done.err
    done = run("measure", "in/visits.parquet", "r.parquet", "--key", "owner.parquet", "--quasi", "ill=sets:in/ill.csv")
    assert done.code == 0
    assert "compared as labels" not in done.out + done.err


@pytest.mark.parametrize(
    ("meaning", "said"),
    [
        ("sets:", "'sets:' names no taxonomy of the items"),
        ("sets:number", "names no taxonomy of the items"),
        ("sets:none.csv", "none.csv: no such file"),
        ("sets:grades.order", "is an order; items of sets have none"),
        ("sets:ill.csv", "nowhere"),
    ],
)
def test_what_is_no_taxonomy_of_items(run: Run, meaning: str, said: str) -> None:
    Path("ill.csv").write_text("child,parent\nflu,lung\ncold,lung\n")
    Path("grades.order").write_text("low\nhigh\n")
    pq.write_table(pa.table({"ill": [["flu"], ["nowhere"]] * 10}), "visits.parquet")
    done = run("swap", "visits.parquet", "-o", "r.parquet", "--quasi", f"ill={meaning}", "--k", 5)
    assert done.code != 0
    assert said in done.err
    assert not Path("r.parquet").exists()
