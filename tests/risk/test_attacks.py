"""Each attack succeeds on the release that it is made for, counts as a naive reference does, and respects the bound."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import nominym as nym
from nominym.risk.linkage import _exceeds

N = 2_000


def shares(found: nym.risk.Linkage, *also: Any) -> dict[str, float]:
    """Return the share found by each attack with all masked columns and some kept ones known."""
    rows = found.attacks.to_dict("records")
    most = max(len(row["known"]) for row in rows)
    return {row["attack"]: row["share"] for row in rows if row["also_known"] == also and len(row["known"]) == most}


def reasons(found: nym.risk.Linkage) -> dict[str, str]:
    """Return why the bound is exceeded, by attack, where it is with masked columns alone."""
    broken = found.attacks[found.attacks["why"] != ""]
    return {row["attack"]: row["why"] for row in broken.to_dict("records") if not row["also_known"]}


# ---- against naive references


def naive_rows(far: np.ndarray, owner: np.ndarray, claims: np.ndarray | None = None) -> float:
    """Share of persons found, from the distance of every record to every row, and whose record, and row, each is.

    The person's guess is of the nearest row; of several records the one with the nearest row, then with the fewest
    equally near ones, then any.
    """
    chances = []
    for person in np.unique(owner):
        guesses = []
        for record in np.flatnonzero(owner == person):
            nearest = far[record].min()
            tied = far[record] == nearest
            right = (tied & (owner == person)).sum() / tied.sum() if np.isfinite(nearest) else 0.0
            guesses.append((nearest, tied.sum(), right))
        best = min(guess[:2] for guess in guesses)
        chances.append(np.mean([right for *seen, right in guesses if tuple(seen) == best]))
    return float(np.mean(chances))


@given(st.integers(0, 2**32), st.integers(2, 30), st.booleans())
@settings(max_examples=60)
def test_rows_and_persons_and_cells_are_counted_as_by_hand(seed: int, n: int, persons: bool) -> None:
    rng = np.random.default_rng(seed)
    table = lambda: {"x": rng.integers(0, 6, n), "y": rng.integers(0, 4, n), "z": rng.choice(list("ab"), n)}  # noqa: E731
    before, after = table(), table()
    # Some of the kept values are as they were.
    kept = {"p": rng.integers(0, 3, n), "q": rng.integers(0, 2, n)}
    after |= {name: np.where(rng.random(n) < 0.8, values, 0) for name, values in kept.items()}
    owner = rng.integers(0, max(n // 3, 1), n) if persons else np.arange(n)
    meanings = {"x": nym.Order(), "y": nym.Order(), "z": nym.Equality()}
    far = np.zeros((n, n))
    for name in ("x", "y"):
        spread = np.ptp(np.concatenate([before[name], after[name]])) or 1
        far += np.abs(np.subtract.outer(before[name], after[name])) / spread
    far = np.round(far + np.not_equal.outer(before["z"], after["z"]), 9)
    options: dict[str, Any] = {"person": "who"} if persons else {}
    found = nym.risk.linkage(
        {**before, **kept, "who": owner}, after, meanings, attacks=["nearest row", "equal rows"], **options
    )
    assert found.persons == (len(np.unique(owner)) if persons else None)
    for also in ((), ("p",), ("q",), ("p", "q")):
        other = np.zeros((n, n), dtype=bool)
        for name in also:
            other |= np.not_equal.outer(kept[name], after[name])
        seen = np.where(other, np.inf, far)
        assert shares(found, *also) == pytest.approx({
            "nearest row": naive_rows(seen, owner),
            "equal rows": naive_rows(np.where(seen == 0, seen, np.inf), owner),
        })  # fmt: skip


def test_numbers_are_the_same_whatever_their_type() -> None:
    """A kept column of whole numbers that came back as decimal ones is still known."""
    before = {"x": ["a", "b"], "age": [30, 40]}
    for ages in ([30.0, 40.0], ["30", "40"], np.array([30, 40], dtype=np.int8)):
        found = nym.risk.linkage(before, {"x": ["c", "c"], "age": ages}, {"x": nym.Equality()}, attacks="nearest row")
        assert shares(found)["nearest row"] == 0.5
        assert shares(found, "age")["nearest row"] == 1


# ---- the release that each attack is made for


def categories(n: int = N, columns: int = 5, kinds: int = 30) -> pd.DataFrame:
    """Draw categories, some frequent and some rare, that go with each other."""
    rng = np.random.default_rng(1)
    weight = 1 / np.arange(1, kinds + 1)
    first = rng.choice(kinds, n, p=weight / weight.sum())
    others = [(first * (j + 2) + rng.choice(kinds, n, p=weight / weight.sum())) % kinds for j in range(columns - 1)]
    return pd.DataFrame({f"c{j}": codes for j, codes in enumerate([first, *others])}).map("v{:02}".format)


def test_a_renamed_table_is_read() -> None:
    frame = categories()
    rng = np.random.default_rng(2)
    names = [f"v{i:02}" for i in range(30)]
    after = frame.apply(lambda column: column.map(dict(zip(names, rng.permutation(names), strict=True))))
    found = nym.risk.linkage(frame, after, dict.fromkeys(frame, nym.Equality()), k=10)
    # Whoever shares all values with others cannot be told from them.
    possible = len(frame.value_counts()) / N
    assert shares(found)["nearest row"] < 0.05
    assert shares(found)["one-to-one recoding"] > 0.9 * possible
    assert "one-to-one recoding" in reasons(found)
    assert found.worst["attack"] == "one-to-one recoding"


def test_numbers_on_another_scale_are_read() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.permutation(6_000), "y": rng.lognormal(3, 1, 6_000)})
    after = pd.DataFrame({"x": frame["x"] * 3 + 50_000, "y": np.log(frame["y"]) - 90})
    # The gaps of the first column are among the values that are ranked.
    frame.loc[:9, "x"], after.loc[:9, "x"] = np.nan, np.nan
    found = nym.risk.linkage(frame, after, dict.fromkeys(frame, nym.Order()), k=10, sample=500)
    assert shares(found)["nearest row"] < 0.02
    assert shares(found)["one-to-one recoding"] > 0.95


def test_a_pseudonym_links_the_rows_of_a_person() -> None:
    frame = categories(columns=2)
    person = np.arange(N) // 4
    pseudonym = np.random.default_rng(3).permutation(N)[person]
    meanings = dict.fromkeys(frame, nym.Equality())
    res = nym.rank_swap(frame, meanings, k=10, seed=1)
    before, after = (table.assign(pseudonym=pseudonym) for table in (frame, res.data))
    found = nym.risk.linkage(before, after, meanings, k=10, attacks=["nearest row", "linked rows"], seed=1)
    assert found.holds_masked
    assert found.holds is False
    assert shares(found)["nearest row"] < 0.12
    assert shares(found, "pseudonym")["linked rows"] > 0.3
    row = found.attacks[found.attacks["attack"] == "linked rows"].iloc[0]
    assert row["attacked"] == N // 4
    assert "values of pseudonym are found" in row["why"]
    # The same, counted by persons who have two pseudonyms each.
    before = before.assign(person=person // 2)
    found = nym.risk.linkage(before, after, meanings, k=10, attacks="linked rows", person="person", seed=1)
    row = found.attacks.iloc[0]
    assert (row["attacked"], row["also_known"]) == (N // 8, ("pseudonym",))
    assert "people are found" in row["why"]
    # What many rows share, few values, and values that nobody shares link nothing.
    for column in (np.arange(N) % 50, np.arange(N) // 120, np.arange(N)):
        with pytest.raises(nym.error.ParameterError, match="none of these applies"):
            nym.risk.linkage(frame.assign(w=column), after.assign(w=column), meanings, attacks="linked rows")


def test_a_pseudonym_of_many_rows_links_them_too() -> None:
    """200 patients with 30 discharges each: hardly anybody is found by a discharge, and nearly everybody by all."""
    frame, taxonomies = nym.datasets.discharges(6_000, seed=1)
    frame = frame[["diagnosis", "procedure"]].assign(pseudonym=np.arange(6_000) // 30)
    meanings = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    res = nym.rank_swap(frame, meanings, k=10, seed=1, accept=["pseudonym"])
    found = res.linkage(attacks=["nearest row", "linked rows"], seed=1)
    assert found.holds_masked
    assert found.holds is False
    row = found.attacks[found.attacks["attack"] == "linked rows"].iloc[0]
    assert row["attacked"] == 200
    assert row["share"] > 0.8
    assert "values of pseudonym are found" in row["why"]


def test_sets_as_rows_are_linked_by_their_number(shared_data: Callable[[str], Path]) -> None:
    """1,000 sets of 37 items, one item in a row, the number of the set kept: the groups consist of equal items."""
    lines = shared_data("fimi/chess.dat").read_text().splitlines()[:1_000]
    rows = [(number, item) for number, line in enumerate(lines) for item in line.split()]
    frame = pd.DataFrame(rows, columns=["tid", "item"])
    with pytest.warns(nym.error.PrivacyWarning, match="hardly anything changes"):
        res = nym.rank_swap(frame, {"item": nym.Equality()}, k=10, seed=1, accept=["tid"])
    found = res.linkage(attacks=["nearest row", "linked rows"], seed=1)
    assert shares(found)["nearest row"] < 0.01
    assert shares(found, "tid")["linked rows"] > 0.9
    assert found.holds_masked
    assert found.holds is False


@pytest.mark.parametrize(
    ("values", "rows", "linked"),
    [(19, 10, False), (20, 20, True), (20, 21, False), (149, 21, False), (150, 21, True), (150, 100, True),
     (150, 101, False), (150, 1, False)],
)  # fmt: skip
def test_which_columns_link_rows(values: int, rows: int, linked: bool) -> None:
    """Of few values, each has to be shared by few rows: else they are ages, or wards."""
    frame = pd.DataFrame({"x": np.arange(values * rows) % 7, "of": np.repeat(np.arange(values), rows)})
    found = nym.risk.linkage(frame, frame, {"x": nym.Order()}, attacks=["equal rows", "linked rows"])
    assert ("linked rows" in set(found.attacks["attack"])) is linked


def test_matching_all_at_once_beats_the_nearest_row_on_noise() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.uniform(size=600), "y": rng.uniform(size=600)})
    after = frame + rng.normal(scale=0.02, size=frame.shape)
    found = shares(nym.risk.linkage(frame, after, dict.fromkeys(frame, nym.Order()), k=10, seed=1))
    assert found["best matching"] > found["nearest row"] + 0.03


def test_matching_uses_groups_and_kept_values() -> None:
    """Of a group of two with different kept values, each can only be one."""
    frame = pd.DataFrame({"x": ["a", "b"] * 50})
    after = pd.DataFrame({"x": ["b", "a"] * 50, "sex": ["f", "m"] * 50})
    before = frame.assign(sex=after["sex"])
    meanings, groups = {"x": nym.Equality()}, np.repeat(np.arange(50), 2)
    found = nym.risk.linkage(before, after, meanings, groups=groups, attacks="best matching", seed=1)
    assert shares(found)["best matching"] == 0
    assert shares(found, "sex")["best matching"] == 1
    found = nym.risk.linkage(before, after, meanings, attacks="best matching", seed=1)
    assert shares(found, "sex")["best matching"] < 0.2


def test_kept_columns_that_depend_on_masked_ones_inform() -> None:
    rng = np.random.default_rng(1)
    illness, origin = rng.integers(0, 40, 3_000), rng.integers(0, 30, 3_000)
    frame = pd.DataFrame({
        "illness": [f"i{i:02}" for i in illness],
        "origin": [f"o{i:02}" for i in origin],
        "ward": np.where(rng.random(3_000) < 0.8, illness % 8, rng.integers(0, 8, 3_000)),
        "days": (origin * 7 % 30 + rng.exponential(2, 3_000)).round(2),
    })  # fmt: skip
    meanings = {"illness": nym.Equality(), "origin": nym.Equality()}
    res = nym.rank_swap(frame, meanings, k=5, seed=1, accept=["ward", "days"])
    found = res.linkage(attacks=["nearest row", "informed adversary"])
    assert found.holds_masked
    assert shares(found)["nearest row"] < 0.2 + 0.03
    assert shares(found)["informed adversary"] > 0.3
    assert "informed adversary" in reasons(found)
    row = found.attacks[found.attacks["attack"] == "informed adversary"].iloc[0]
    assert row["above_2k"] >= row["above_half"] > 0.05
    # Where kept columns have nothing to do with it, nothing is learned.
    shuffled = frame.assign(ward=rng.permutation(frame["ward"]), days=rng.permutation(frame["days"]))
    res = nym.rank_swap(shuffled, meanings, k=5, seed=1, accept=["ward", "days"])
    row = res.linkage(attacks="informed adversary").worst
    assert row["holds"]
    assert row["share"] == pytest.approx(0.2, abs=0.04)


def test_four_percent_verbatim_in_a_strict_release() -> None:
    """The mean stays below the bound; those with exactly one equal row are found too often."""
    frame = categories(5_000, 4)
    meanings = dict.fromkeys(frame, nym.Equality())
    after = nym.rank_swap(frame, meanings, k=10, seed=1).data
    chosen = np.random.default_rng(1).choice(len(frame), len(frame) // 25, replace=False)
    after.iloc[chosen] = frame.iloc[chosen]
    found = nym.risk.linkage(frame, after, meanings, k=10, attacks=["equal rows", "nearest row"])
    row = found.attacks[found.attacks["attack"] == "equal rows"].iloc[0]
    assert row["share"] < 0.1
    assert not row["holds"]
    assert "have exactly one equal row; it is theirs in" in row["why"]
    assert found.holds is False


# ---- the bound


@pytest.mark.parametrize("seed", range(30))
def test_strict_releases_stay_within_the_bound(seed: int) -> None:
    """With every attack and whatever the adversary sees.

    If all guesses were as good as allowed, one of 30 times two attacks would exceed the bound with a probability of
    some 60 × (5 × 0.001 + 8 × 0.0005) = 0.5 at most; most guesses are worse.
    """
    frame, taxonomies = nym.datasets.discharges(800, seed=seed)
    meanings: dict[str, Any] = {"diagnosis": taxonomies["diagnosis"], "length_of_stay": nym.Order()}
    draw = ("independent", "joint")[seed % 2]
    res = nym.rank_swap(frame[list(meanings)], meanings, k=(3, 5, 10)[seed % 3], draw=draw, seed=seed)
    found = res.linkage(seed=seed)
    assert found.holds, found.attacks[["attack", "known", "share", "why"]].to_string()
    found = res.linkage(groups=None, seed=seed)
    assert found.holds, found.attacks[["attack", "known", "share", "why"]].to_string()


def test_the_bound_is_not_exceeded_by_chance() -> None:
    """Exactly, for guesses right with just the probability allowed: each by itself, or whole groups at once."""
    for limit in (0.02, 0.1, 0.2, 0.5):
        for number in (1, 2, 3, 5, 10, 50, 500):
            for level in (0.05, 0.001, 0.0001):
                exceeded = [right for right in range(number + 1) if _exceeds(right, number, limit, level)]
                assert not exceeded or binom.sf(min(exceeded) - 1, number, limit) <= level * (1 + 1e-9)
    for size in (2, 3, 5, 10):
        # How many of a group are found by guesses that are a permutation of its rows: the fixed points of a random one.
        signs = np.array([(-1) ** j / math.factorial(j) for j in range(size + 1)])
        one = np.array([signs[: size - x + 1].sum() / math.factorial(x) for x in range(size + 1)])
        law = np.ones(1)
        for groups in range(1, 201):
            law = np.convolve(law, one)
            for level in (0.05, 0.001, 0.0001) if groups in (1, 2, 5, 20, 200) else ():
                exceeded = [x for x in range(len(law)) if _exceeds(x, size * groups, 1 / size, level)]
                assert not exceeded or law[min(exceeded) :].sum() <= level * (1 + 1e-9), (size, groups, level)
    assert _exceeds(302, 1_000, 0.25, 0.001)
    assert not _exceeds(299, 1_000, 0.25, 0.001)
    assert not _exceeds(1_000, 1_000, 1.0, 0.01)


def test_people_worse_off_are_counted() -> None:
    """Half of the people as they were, the others all alike."""
    before = {"x": np.arange(200)}
    after = {"x": np.where(np.arange(200) < 100, np.arange(200), 100_000)}
    found = nym.risk.linkage(before, after, {"x": nym.Order()}, k=10, attacks="equal rows").worst
    assert (found["share"], found["above_2k"], found["above_half"]) == (0.5, 0.5, 0.5)
    assert found["why"] == (
        "50 % of the 200 people are found; 100 people with values that together nobody else has have exactly one equal "
        "row; it is theirs in 100 % of the cases"
    )
    # Matching tells of too few classes who is worse off.
    both = nym.risk.linkage(before, after, {"x": nym.Order()}, k=10, attacks=["equal rows", "best matching"], seed=1)
    assert both.attacks["above_2k"].isna().tolist() == both.attacks["above_half"].isna().tolist() == [False, True]
    assert [row["above_2k"] for row in both.to_dict()["attacks"]] == [0.5, None]
    again = nym.risk.linkage(before, after, {"x": nym.Order()}, k=10, attacks=["equal rows", "best matching"], seed=1)
    assert both == again
    told = nym.risk.linkage(before, after, {"x": nym.Order()}, attacks="equal rows").worst
    assert (told["above_2k"], told["above_half"], told["bound"], told["holds"], told["why"]) == (None,) * 4 + ("",)


# ---- size


def test_many_numbers_need_no_matrix() -> None:
    """50,000 rows with 32,095 incomes took 18.4 GB as a matrix."""
    program = """
import resource
import numpy as np, pandas as pd, nominym as nym
rng = np.random.default_rng(1)
n = 50_000
frame = pd.DataFrame({"income": rng.integers(0, 32_095, n), "age": rng.integers(0, 90, n)})
after = frame.assign(income=rng.permutation(frame["income"]))
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
nym.risk.linkage(frame, after, {"income": nym.Order(), "age": nym.Order()}, k=10, sample=2_000, seed=1)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 400
