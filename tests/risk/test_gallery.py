"""A gallery of releases that must not pass: each was once called safe by somebody, and none is.

They are judged as their owner would judge them: by ``risk.linkage`` or ``risk.worlds``, or by ``nominym audit``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from commands import Done, Run
from nominym.itemsets.graph import Ring
from nominym.itemsets.release import publish
from nominym.release.manifest import write_record

K = 10
N = 2_000


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, dict[str, nym.Taxonomy]]:
    frame, taxonomies = nym.datasets.discharges(N, seed=1)
    return frame[["diagnosis", "procedure"]], {name: taxonomies[name] for name in ("diagnosis", "procedure")}


def renamed(column: pd.Series, seed: int) -> pd.Series:
    """Give every category the name of another one."""
    names = sorted(column.unique())
    return column.map(dict(zip(names, np.random.default_rng(seed).permutation(names), strict=True)))


def judged(run: Run, *arguments: object) -> tuple[Done, dict[str, Any]]:
    """Audit two files, and return what the command says."""
    done = run("audit", *arguments, "--json")
    return done, json.loads(done.out) if done.out else {}


def saved(frame: pd.DataFrame, name: str) -> str:
    frame.to_csv(name, index=False)
    return name


# ---- tables


def test_a_strict_release_passes(table: Any) -> None:
    """What the others are compared with."""
    frame, meanings = table
    found = nym.rank_swap(frame, meanings, k=K).linkage()
    assert found.holds, found.attacks


def test_a_shuffled_copy_judged_in_order(run: Run, table: Any) -> None:
    frame = table[0].assign(ward=np.arange(N) % 7)
    original = saved(frame, "o.csv")
    done, _ = judged(run, original, saved(frame.sample(frac=1, random_state=1), "r.csv"), "--quasi", "diagnosis",
                     "--quasi", "procedure", "--keep-order", "--k", K)  # fmt: skip
    assert done.code not in (0, 1)
    assert "ward" in done.err
    assert "--key" in done.err
    # Without a kept column nothing contradicts the order, and nothing supports it.
    original = saved(table[0], "o.csv")
    done, said = judged(run, original, saved(table[0].sample(frac=1, random_state=1), "r.csv"), "--quasi", "diagnosis",
                        "--quasi", "procedure", "--keep-order", "--k", K)  # fmt: skip
    assert done.code == 1
    assert any("order" in doubt for doubt in said["doubts"])


def test_one_to_one_recoding(table: Any) -> None:
    """New names for old values: distances see chance, frequencies and pairs see everybody."""
    frame, meanings = table
    after = frame.apply(renamed, seed=1)
    found = nym.risk.linkage(frame, after, meanings, k=K)
    by_attack = found.attacks.groupby("attack")["share"].max()
    assert by_attack["nearest row"] < 0.1
    assert by_attack["one-to-one recoding"] > 0.4
    assert not found.holds


def test_strict_with_four_percent_verbatim(table: Any) -> None:
    """The mean stays below 1/k. Whoever has exactly one equal row is found far too often."""
    frame, meanings = table
    after = nym.rank_swap(frame, meanings, k=K, seed=1).data
    chosen = np.random.default_rng(1).choice(N, N * 4 // 100, replace=False)
    after.loc[chosen] = frame.loc[chosen]
    found = nym.risk.linkage(frame, after, meanings, k=K)
    equal = found.attacks[found.attacks["attack"] == "equal rows"]
    assert (equal["share"] < 1 / K).all()
    assert not found.holds
    assert found.attacks.loc[~found.attacks["holds"].astype(bool), "why"].str.contains("equal row").any()


def test_a_kept_unique_id(run: Run, table: Any) -> None:
    frame, meanings = table
    named = frame.assign(id=np.random.default_rng(1).permutation(N))
    with pytest.raises(nym.NominymError, match="id"):
        nym.rank_swap(named, meanings, k=K)
    after = nym.rank_swap(frame, meanings, k=K).data.assign(id=named["id"])
    found = nym.risk.linkage(named, after, meanings, k=K)
    assert found.holds_masked
    assert not found.holds
    assert found.share == 1.0
    original, release = saved(named, "o.csv"), saved(after, "r.csv")
    done, said = judged(
        run, original, release, "--quasi", "diagnosis", "--quasi", "procedure", "--keep-order", "--k", K
    )
    assert done.code == 1
    assert "broken" in said["verdict"]


def test_masked_column_by_column_in_two_calls() -> None:
    """Every value has k candidates, and the record has hardly any: where both columns tell much, rows are found."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.permutation(N), "y": rng.permutation(N)})
    meanings = {"x": nym.Order(), "y": nym.Order()}
    apart = nym.rank_swap(frame[["x"]], {"x": nym.Order()}, k=K).data.join(
        nym.rank_swap(frame[["y"]], {"y": nym.Order()}, k=K).data
    )
    found = nym.risk.linkage(frame, apart, meanings, k=K)
    assert not found.holds
    assert found.share > 0.5
    # In one call the same columns are protected.
    assert nym.rank_swap(frame, meanings, k=K).linkage().holds


def test_noise_on_yes_and_no() -> None:
    """As published, noise never leaves a value as it was: of two values it makes the other."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({f"q{i}": rng.choice(["yes", "no"], N, p=[0.3, 0.7]) for i in range(8)})
    answer = nym.Taxonomy.from_edges([("yes", "answer"), ("no", "answer")])
    two = nym.DistanceMatrix(np.array([[0.0, 1.0], [1.0, 0.0]]), ["no", "yes"])
    with pytest.raises(nym.NominymError, match="two values"):
        nym.add_noise(frame, dict.fromkeys(frame, two), alpha=0.3)
    flipped = frame.replace({"yes": "no", "no": "yes"})
    found = nym.risk.linkage(frame, flipped, dict.fromkeys(frame, answer), k=K)
    assert not found.holds
    assert found.worst["attack"] == "one-to-one recoding"


def test_two_rows_per_person_with_a_pseudonym() -> None:
    frame, taxonomies = nym.datasets.discharges(N, seed=1)
    meanings = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    frame = frame[list(meanings)].assign(patient=np.arange(N) // 2)
    named = frame.assign(pseudonym=nym.datasets.discharges(N, seed=2)[0].index.to_numpy() // 2 * 7919 % 10007)
    # Nearly unique, and it links the rows of a person.
    with pytest.raises(nym.NominymError, match="pseudonym"):
        nym.rank_swap(named.drop(columns="patient"), meanings, k=K)
    with pytest.raises(nym.NominymError, match="pseudonym"):
        nym.rank_swap(named, meanings, k=K, person="patient")
    after = nym.rank_swap(frame[list(meanings)], meanings, k=K).data.assign(pseudonym=named["pseudonym"])
    found = nym.risk.linkage(named, after, meanings, k=K)
    assert not found.holds
    linked = found.attacks[found.attacks["attack"] == "linked rows"]
    assert (linked["share"] > 1 / K).any()
    # With persons in the groups, and without the pseudonym, the bound holds for persons.
    kept = nym.rank_swap(frame, meanings, k=K, person="patient")
    assert "patient" not in kept.data
    assert kept.linkage().holds


def test_a_seeded_release_replayed(run: Run, table: Any) -> None:
    """Whoever guesses the seed has everybody; nothing of this shows in the release but the manifest's word."""
    frame, meanings = table
    with pytest.warns(nym.SeedWarning, match="nothing is guaranteed"):
        res = nym.rank_swap(frame, meanings, k=K, seed=1)
    assert not res.guarantee
    assert res.summary["bound"] is None
    # The adversary knows everybody's values, in another order, and draws again.
    order = np.random.default_rng(1).permutation(N)
    with pytest.warns(nym.SeedWarning):
        again = nym.rank_swap(frame.iloc[order].reset_index(drop=True), meanings, k=K, seed=1)
    shown = {tuple(row): i for i, row in enumerate(res.data.itertuples(index=False))}
    counts = res.data.value_counts()
    found = [
        order[i]
        for i, row in enumerate(again.data.itertuples(index=False))
        if counts[tuple(row)] == 1 and shown[tuple(row)] == order[i]
    ]
    assert len(found) > 2 * N / K
    for name, taxonomy in meanings.items():
        taxonomy.save(f"{name}.json")
    saved(frame, "o.csv")
    roles = [part for name in meanings for part in ("--quasi", f"{name}={name}.json")]
    run("swap", "o.csv", "-o", "r.csv", *roles, "--k", K, "--seed", 1, "--key", "key.parquet")
    done, said = judged(run, "o.csv", "r.csv", *roles, "--key", "key.parquet")
    assert done.code == 1
    assert "verified" not in said["verdict"].split(";")[0] or "not verified" in said["verdict"]


def test_numbers_compared_as_labels(run: Run) -> None:
    """Rank swapping within 1 % of the records: nobody keeps a value, and almost everybody is found by the nearest."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.uniform(0, 100, N).round(3) for name in ("income", "age", "hours")})
    orders = dict.fromkeys(frame, nym.Order())
    after = nym.rank_swap(frame, orders, p=1, method="numerical").data
    original, release = saved(frame, "o.csv"), saved(after, "r.csv")
    done, said = judged(run, original, release, "--quasi", "income", "--quasi", "age", "--quasi", "hours",
                        "--keep-order", "--k", K)  # fmt: skip
    assert done.code == 1
    assert "broken" in said["verdict"]
    labels = dict.fromkeys(frame, nym.Equality())
    assert nym.risk.linkage(frame, after, labels, k=K, attacks=["nearest row"]).share < 0.05
    assert nym.risk.linkage(frame, after, orders, k=K, attacks=["nearest row"]).share > 0.9


# ---- releases that were forged together with their manifest and their owner's record


COLUMNS = ("a", "b", "c")


@pytest.fixture
def published(run: Run) -> pd.DataFrame:
    """A release that is verified, of records of which some are of the same person."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 60, 600), "b": rng.integers(0, 40, 600),
                          "c": rng.choice(list("uvwxyz"), 600), "who": rng.integers(0, 200, 600)})  # fmt: skip
    saved(frame, "o.csv")
    roles = ("--quasi", "a=number", "--quasi", "b=number", "--quasi", "c=equal", "--identifier", "who")
    assert run("swap", "o.csv", "-o", "r.csv", *roles, "--k", 5, "--key", "key.parquet").code == 0
    done, said = judged(run, "o.csv", "r.csv", "--key", "key.parquet")
    assert done.code == 0, said
    assert said["verified"]
    return frame


def forge(change: Any = None, said: Any = None, rows: Any = None) -> None:
    """Change the rows of the records, by group, what the manifest says, or the order; all files fit each other."""
    record = nym.release.read_record("key.parquet", "r.csv", 600)
    manifest = nym.release.read_manifest("r.csv")
    after = pd.read_csv("r.csv").iloc[record.rows].reset_index(drop=True)
    if change is not None:
        change(after, record.groups)
    record = record if rows is None else replace(record, rows=rows.astype(np.uint32))
    saved(after.iloc[np.argsort(record.rows)], "r.csv")
    sha256 = hashlib.sha256(Path("r.csv").read_bytes()).hexdigest()
    content = {name: value for name, value in json.loads(manifest.to_json()).items() if name in vars(manifest)}
    content["output"]["sha256"] = sha256
    if said is not None:
        said(content)
    Path("r.csv.manifest.json").write_text(replace(manifest, **content).to_json())
    write_record(record, Path("key.parquet"), sha256)


@pytest.mark.parametrize("together", [True, False])
def test_cyclic_shifts(run: Run, published: pd.DataFrame, together: bool) -> None:
    """Nobody keeps a value, no attack knows the rule, and whoever does has everybody."""

    def shift(after: pd.DataFrame, groups: Any) -> None:
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            members = members[np.argsort(published["a"].to_numpy()[members], kind="stable")]
            for at, name in enumerate(COLUMNS):
                after.loc[members, name] = published[name].to_numpy()[np.roll(members, 1 if together else at + 1)]

    forge(shift)
    done, said = judged(run, "o.csv", "r.csv", "--key", "key.parquet")
    assert done.code == 1
    assert "broken: the draw was not random: " in said["verdict"]


def test_a_share_of_persons_that_is_ignored(run: Run, published: pd.DataFrame) -> None:
    done, said = judged(run, "o.csv", "r.csv", "--key", "key.parquet", "--person", "who")
    assert done.code == 1
    assert "for persons: " in said["verdict"]
    assert not said["verified"]


def test_forged_options(run: Run, published: pd.DataFrame) -> None:
    """Options that state more than was done."""

    def claim(content: dict[str, Any]) -> None:
        method = nym.RankSwap(k=5, person="who")
        content["options"]["person"] = content["params"]["person"] = "who"
        content["guarantee"] = method.statement(list(COLUMNS)).to_dict()

    forge(said=claim)
    done, said = judged(run, "o.csv", "r.csv", "--key", "key.parquet")
    assert done.code == 1
    assert "contradicts its own method" in said["verdict"]
    assert "for persons: in " in said["verdict"]


def test_a_column_under_another_name(run: Run, published: pd.DataFrame) -> None:
    forge(lambda after, groups: after.insert(0, "A", published["a"]))
    done, said = judged(run, "o.csv", "r.csv", "--key", "key.parquet")
    assert done.code == 1
    assert any("it is column 'a' under another name" in doubt for doubt in said["doubts"])
    assert "broken: column 'A' of the release has no role in the manifest" in said["verdict"]


@pytest.mark.parametrize("by", ["a true column", "equal steps"])
def test_rows_in_an_order_that_tells(run: Run, published: pd.DataFrame, by: str) -> None:
    steps = (np.arange(600) * 37 + 5) % 600
    ties = np.random.default_rng(1).random(600)
    forge(rows=steps if by == "equal steps" else np.argsort(np.lexsort((ties, published["b"], published["a"]))))
    done, said = judged(run, "o.csv", "r.csv", "--key", "key.parquet")
    assert done.code == 1
    assert "broken: the rows are not in a random order: " in said["verdict"]


# ---- item sets


@pytest.fixture(scope="module")
def baskets() -> nym.Itemsets:
    return nym.datasets.baskets(600, seed=1, items=60)[0]


def test_a_base_that_is_the_record(baskets: nym.Itemsets, tmp_path: Path) -> None:
    ring = Ring(np.arange(len(baskets), dtype=np.uint32), 1)
    rel = publish(baskets, ring, np.arange(len(baskets)))
    found = nym.risk.worlds(rel, baskets, k=8)
    assert found.holds is False
    assert found.posterior["largest"] == 1.0


def test_a_ring_with_the_identity_assignment(baskets: nym.Itemsets) -> None:
    """Each record got its own row. One insider who sees it suspects the same of all others."""
    ring = Ring(np.arange(len(baskets), dtype=np.uint32), 4)
    rel = publish(baskets, ring, np.arange(len(baskets)))
    found = nym.risk.worlds(rel, baskets, k=4, insiders=20)
    assert found.holds is False
    assert found.posterior["mean"] > 0.9


def test_a_ring_of_two_is_refused(baskets: nym.Itemsets) -> None:
    with pytest.raises(nym.NominymError, match="insiders"):
        nym.recode(baskets, k=2, structure="ring")
