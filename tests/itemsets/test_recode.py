"""Recoding from the front door: the guarantee, the law of the draw, the published figures, and bad input."""

from __future__ import annotations

import itertools
import json
import pickle
import re
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nominym as nym
from nominym import _core, table
from nominym.error import DataError, MissingValueError, ParameterError, PrivacyWarning
from nominym.itemsets import release

EXAMPLE = nym.Itemsets.from_lists([[1, 2], [2, 3], [1, 2, 4], [2, 3, 4], [1, 2, 3], [1, 3, 4]])
GRAY, GRAY_TSP = [1, 3, 0, 2, 4, 5], [1, 3, 2, 0, 4, 5]
PUBLISHED = ["1101/1011/2", "1110/1101/2", "0111/1011/2", "0111/1101/2", "1100/0011/1", "1110/0111/2"]
METHODS = ("split", "augment", "closed-walk", "wmc")
STRUCTURES = ("groups", "ring", "cahd")
ORDERS = ("gray", "gray-tsp", "best")


def recode(sets: nym.Itemsets, k: int | None = None, **how) -> nym.itemsets.Release:
    """Recode; of rings, accept what insiders learn."""
    accepted = {"insiders": "accepted"} if how.get("structure") == "ring" else {}
    return nym.recode(sets, k, **how, **accepted)


def _bits(items: list[int]) -> str:
    return "".join(str(int(item in items)) for item in (1, 2, 3, 4))


def _distinct_labels(rel: nym.itemsets.Release, labels: list) -> None:
    for i in range(len(labels)):
        matches = rel.secret.matches(i)
        matched = [labels[v] for v in matches]
        assert len(set(matched)) == len(matched) >= rel.params["l"]
        if rel.params["structure"] != "ring":
            # Here labels stay in their group, so that those published at the matches differ as well.
            assert sorted(rel.labels[rel.secret.row_of[matches]]) == sorted(matched)


@pytest.mark.parametrize("method", METHODS)
def test_the_published_example(method) -> None:
    """Tables 1 to 4 of the paper: orders, their lengths, and every published record."""
    assert [nym.tour_length(EXAMPLE, order) for order in (range(6), GRAY, GRAY_TSP)] == [14, 12, 10]
    assert nym.gray_order(EXAMPLE).tolist() == GRAY
    rel = recode(EXAMPLE, k=3, structure="ring", order=GRAY_TSP, method=method, seed=3)
    for node, expected in enumerate(PUBLISHED):
        row = rel.secret.row_of[node]
        published = f"{_bits(rel.base[row])}/{_bits(rel.distance[row])}/{rel.threshold[row]}"
        assert published == expected
    assert sorted(rel.secret.matches(0).tolist()) == [0, 4, 5]


def test_gray_tsp_finds_the_shortest_paths() -> None:
    """The example is one segment: first and last of the Gray order stay, and all paths between can be tried."""
    order = nym.gray_tsp_order(EXAMPLE, seed=1).tolist()
    assert (order[0], order[-1]) == (GRAY[0], GRAY[-1])
    paths = ([GRAY[0], *middle, GRAY[-1]] for middle in itertools.permutations(GRAY[1:-1]))
    best = min(nym.tour_length(EXAMPLE, path, cyclic=False) for path in paths)
    assert nym.tour_length(EXAMPLE, order, cyclic=False) == best


@pytest.mark.parametrize(
    "how",
    [*({"structure": "ring", "method": method} for method in METHODS), {"structure": "groups"}, {"structure": "cahd"}],
    ids=str,
)
def test_every_match_is_equally_likely(how) -> None:
    """Chi-square over 2,000 draws; with 12 to 18 degrees of freedom, 45 is exceeded once in 10,000 tests."""
    draws = 2_000
    counts: Counter[tuple[int, int]] = Counter()
    matches: set[tuple[int, int]] = set()
    for seed in range(draws):
        secret = recode(EXAMPLE, k=3, order=GRAY_TSP, seed=seed, **how).secret
        counts.update(enumerate(secret.assignment.tolist()))
        matches |= {(i, v) for i in range(6) for v in secret.matches(i).tolist()}
    assert set(counts) <= matches
    if how["structure"] == "groups":
        # Groups themselves are searched for at random, so only the bound is the same for all seeds.
        assert max(counts[i, i] for i in range(6)) < draws / 3 + 4 * (draws * 2 / 9) ** 0.5
        return
    assert len(matches) == 18
    expected = draws / 3
    assert sum((counts[match] - expected) ** 2 / expected for match in matches) < 45


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("order", ORDERS)
def test_every_record_could_be_k_rows(structure, order) -> None:
    sets, labels = nym.datasets.baskets(700, seed=2, items=60, labels=30)
    for k in (2, 5, 16):
        rel = recode(sets, k=k, structure=structure, order=order, labels=labels, seed=4)
        assert rel.compatible(sets).min() >= k
        assert all(len(rel.secret.matches(i)) >= k for i in range(0, sets.n, 50))
        assert Counter(rel.labels.tolist()) == Counter(labels)
        assert 0 <= rel.error_rate(expected=True) <= rel.error_rate() * 1.5 + 0.1
        # The owner finds every label again.
        rows = rel.secret.row_of[rel.secret.assignment]
        assert rel.labels[rows].tolist() == list(labels)


@given(
    st.lists(st.frozensets(st.integers(0, 6)), min_size=1, max_size=40),
    st.integers(2, 9),
    st.sampled_from(STRUCTURES),
    st.sampled_from(ORDERS),
    st.sampled_from(METHODS),
)
def test_any_records(rows, k, structure, order, method) -> None:
    """Empty records, duplicates, few records: the guarantee holds, or there is a clear error."""
    sets = nym.Itemsets.from_lists(rows)
    how = {"method": method} if structure == "ring" else {}
    if len(rows) < k:
        with pytest.raises(DataError, match="records, but each"):
            recode(sets, k=k, structure=structure, order=order, seed=1, **how)
        return
    rel = recode(sets, k=k, structure=structure, order=order, seed=1, **how)
    assert rel.compatible(sets).min() >= k
    assert sorted(rel.secret.assignment.tolist()) == list(range(len(rows)))


@pytest.mark.parametrize("method", METHODS)
def test_matches_of_other_labels_are_equally_likely(method) -> None:
    """Matches are the same for all seeds of the draw but not of the walks, so records are counted by their rank."""
    labels = list("abcdef")
    draws = 1_500
    same = Counter[int]()
    for seed in range(draws):
        how = {"structure": "ring", "order": GRAY_TSP, "method": method}
        secret = recode(EXAMPLE, l=3, labels=labels, seed=seed, **how).secret
        same.update(i for i in range(6) if secret.assignment[i] == i)
        assert all(secret.assignment[i] in secret.matches(i) for i in range(6))
    # A record is its own nearest, so it always matches itself, and is drawn with probability 1/3: four standard errors.
    assert all(abs(same[i] / draws - 1 / 3) < 4 * (2 / 9 / draws) ** 0.5 for i in range(6))


def test_votes_do_not_depend_on_the_draw() -> None:
    """With the same order, other seeds draw other assignments and publish the same forms, ties included."""
    sets, _ = nym.datasets.baskets(300, seed=5, items=40)
    order = nym.gray_order(sets)

    def forms(seed: int) -> list:
        rel = recode(sets, k=4, structure="ring", order=order, seed=seed)
        at = rel.secret.row_of
        return [(rel.base[r], rel.distance[r], rel.threshold[r]) for r in at]

    assert forms(1) == forms(2)
    ring = nym.Recode(k=4, structure="ring", order=order, insiders="accepted")
    draws = [ring.apply(sets, seed=seed).secret.assignment.tolist() for seed in (1, 2)]
    assert draws[0] != draws[1]


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("order", ORDERS)
def test_seeds_and_threads(structure, order) -> None:
    sets, labels = nym.datasets.baskets(600, seed=6, items=80, labels=40)
    for how in ({"k": 5}, {"l": 4, "labels": labels}):
        first = recode(sets, **how, structure=structure, order=order, seed=1)
        nym.set_threads(1)
        again = recode(sets, **how, structure=structure, order=order, seed=1)
        nym.set_threads(None)
        assert first == again
        assert np.array_equal(first.secret.assignment, again.secret.assignment)
        other = recode(sets, **how, structure=structure, order=order)
        assert not np.array_equal(first.secret.assignment, other.secret.assignment)
        assert (first.secret.seed, other.secret.seed) == (1, None)
        assert "seed" not in {*first.params, *other.params}


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize(
    ("n", "l", "frequent"),
    [
        (60, 4, [15]),
        (60, 4, [15, 15]),
        (60, 4, [15, 15, 15]),
        (60, 4, [15, 15, 15, 15]),
        (61, 4, [15, 15]),
        (63, 4, [15, 15, 15]),
        (62, 5, [12, 12, 12, 12]),
        (12, 12, []),
        (20, 1, [20]),
        (40, 2, [20, 20]),
        (40, 2, [20]),
    ],
)
def test_tight_labels(structure, n, l, frequent) -> None:  # noqa: E741
    """Labels at exactly n/l, also where n is no multiple of l: eligible, so it has to work."""
    labels = [f"often {i}" for i, count in enumerate(frequent) for _ in range(count)]
    labels += [f"once {i}" for i in range(n - len(labels))]
    for seed in range(5):
        mixed = np.random.default_rng(seed).permutation(np.array(labels, dtype=object)).tolist()
        sets, _ = nym.datasets.baskets(n, seed=seed, items=20)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            rel = recode(sets, l=l, labels=mixed, structure=structure, order="gray", seed=seed)
        _distinct_labels(rel, mixed)
        assert Counter(rel.labels.tolist()) == Counter(mixed)


def test_labels_that_are_too_frequent_are_named() -> None:
    sets, _ = nym.datasets.baskets(10, seed=1, items=20)
    labels = ["flu"] * 4 + list("abcdef")
    with pytest.raises(DataError, match=r"label 'flu' is on 4 of 10 records, more than 1/3 .*; give l=2 or less"):
        nym.recode(sets, l=3, labels=labels)
    for structure in STRUCTURES:
        _distinct_labels(recode(sets, l=2, labels=labels, structure=structure, seed=1), labels)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({}, "give k= .* or l="),
        ({"k": 3, "l": 2}, "not both"),
        ({"k": 1}, "2 or more"),
        ({"k": 2.5}, "whole number"),
        *(({"k": x}, "whole number") for x in (True, "3", [3], np.array([2, 3]), int)),
        ({"l": 0, "labels": list("abcdef")}, "1 or more"),
        ({"l": 2}, "give labels="),
        ({"k": 2**32}, "k=: too large for any set of records"),
        ({"k": 3, "structure": "star"}, "'groups', 'ring', 'cahd'"),
        ({"k": 3, "structure": ["ring"]}, "'groups', 'ring', 'cahd'"),
        ({"k": 3, "structure": np.array([1, 2])}, "'groups', 'ring', 'cahd'"),
        ({"k": 3, "order": "random"}, "'gray', 'gray-tsp', 'best', 'tree', or the numbers"),
        ({"k": 3, "order": [0, 1]}, "from 0 to 5 once"),
        ({"k": 3, "order": [0, 1, 2, 3, 4, 4]}, "from 0 to 5 once"),
        ({"k": 3, "order": [0.0, 1, 2, 3, 4, 5]}, "numbers of all records"),
        ({"k": 3, "order": [[0, 1], [2]]}, "numbers of all records"),
        ({"k": 3, "order": ["gray"]}, "numbers of all records"),
        ({"k": 3, "order": "given"}, "order='given': the numbers of the records were not kept"),
        ({"k": 3, "order": 5}, "numbers of all records"),
        ({"k": 3, "structure": "ring", "method": "guess"}, "'split', 'augment', 'closed-walk', 'wmc'"),
        ({"k": 3, "structure": "groups", "method": "wmc"}, "method='wmc': it applies .* structure is 'ring'"),
        ({"k": 3, "method": "split"}, "method='split': it applies .* structure is 'ring'"),
        ({"k": 3, "segment": (5, 3)}, "least and the largest"),
        ({"k": 3, "segment": 300}, "least and the largest"),
        ({"k": 3, "segment": (300, 2**70)}, "least and the largest"),
        ({"k": 3, "segment": (300, "x")}, "least and the largest"),
        ({"k": 3, "segment": None}, "least and the largest"),
        ({"k": 3, "segment": (20, 30), "order": "gray"}, "order is 'gray-tsp'"),
        ({"k": 3, "structure": "ring", "effort": "long"}, "effort='long': it applies .* structure is 'groups'"),
        ({"k": 3, "structure": "ring", "limit": 1.0}, "limit=1.0: it applies .* structure is 'groups'"),
        *(({"k": 3, "limit": x}, "give a number above 0") for x in (-1, 0, 10**400, float("nan"), True, "1", [1])),
        ({"k": 3, "limit": 1e9}, "less than 10.9 seconds"),
        ({"k": 3, "structure": None}, "'groups', 'ring', 'cahd'"),
        ({"k": 3, "insiders": "accepted"}, "insiders='accepted': it applies .* structure is 'ring'"),
        ({"k": 3, "structure": "ring", "insiders": "yes"}, "'refused', 'accepted'"),
        ({"k": 2, "structure": "ring"}, "k=2: a ring of 2 has two assignments: .*; use structure='groups', or"),
        ({"k": 3, "structure": "ring", "method": "wmc"}, "k=3: a ring of 3 has assignments by 'wmc' that shift all"),
        (
            {"l": 3, "structure": "ring", "labels": list("abcdef")},
            "l=3: in a ring anyone who knows the published labels",
        ),
        ({"k": 3, "structure": "ring", "labels": list("abcdef")}, "labels=: in a ring .*insiders='accepted'"),
        *(({"k": 3, "effort": x}, "'none', 'usual', 'long'") for x in ("huge", 1, ["long"], None)),
    ],
    ids=str,
)
def test_bad_arguments(how, says) -> None:
    with pytest.raises(ParameterError, match=says) as caught:
        nym.recode(EXAMPLE, **how)
    # Messages that begin with an argument know which, for the command line to spell it.
    assert caught.value.parameter in {None, *how}
    assert not re.search(r"\w=", caught.value.message)


def test_bad_data() -> None:
    with pytest.raises(DataError, match="6 records, but each needs 7 forms"):
        nym.recode(EXAMPLE, k=7)
    for how in ({"seed": -1}, {"progress": 7}):
        with pytest.raises(ParameterError, match=r"seed=-1|progress=7"):
            nym.recode(EXAMPLE, k=2, **how)
    with pytest.raises(ParameterError, match="too large for any set of records"):
        nym.recode(EXAMPLE, k=10**5000)
    with pytest.raises(DataError, match="5 labels for 6 records"):
        nym.recode(EXAMPLE, k=2, labels=list("abcde"))
    with pytest.raises(MissingValueError, match="labels"):
        nym.recode(EXAMPLE, k=2, labels=["a", None, "b", "c", "d", "e"])
    for call in (nym.gray_order, nym.gray_tsp_order, lambda sets: nym.recode(sets, k=2),
                 lambda sets: nym.best_order(sets, 2), lambda sets: nym.tour_length(sets, [0])):  # fmt: skip
        with pytest.raises(ParameterError, match=r"sets=: .*Itemsets.from_lists"):
            call([[1, 2]])
    with pytest.warns(PrivacyWarning, match="every record unchanged"):
        nym.recode(EXAMPLE, l=1, labels=list("aaaaaa"))


def test_what_is_said() -> None:
    rel = recode(EXAMPLE, k=3, structure="ring", seed=1)
    assert rel.params == {
        "k": 3,
        "structure": "ring",
        "order": "gray-tsp",
        "segment": (300, 350),
        "method": "split",
        "insiders": "accepted",
        "seeded": True,
        "version": nym.__version__,
    }
    assert rel.summary["bound"] is None
    assert rel.summary["expected_error"] == rel.error_rate(expected=True)
    groups = nym.recode(EXAMPLE, k=2, labels=list("abcabc"), order="gray", seed=1)
    assert groups.params == {
        "k": 2, "structure": "groups", "order": "gray", "effort": "usual", "seeded": True,
        "version": nym.__version__,
    }  # fmt: skip
    assert groups.summary["groups"]["smallest"] >= 2
    assert groups.summary["labels"] == {"number": 3, "largest_share": pytest.approx(1 / 3)}


def test_rings_warn_of_insiders() -> None:
    with pytest.warns(
        PrivacyWarning, match=r"20 of 5,000 guess a row .* 0.339 instead of 0.333 at k = 3\); nothing .* use groups"
    ):
        nym.recode(EXAMPLE, k=3, structure="ring", seed=1)
    with pytest.warns(PrivacyWarning, match=r"0.39, 0.22 and 0.15 instead of 0.25, 0.17 and 0.12 at k = 4, 6 and 8"):
        nym.recode(nym.datasets.baskets(20, seed=1, items=20)[0], k=11, structure="ring", order="gray", seed=1)
    # What is accepted does not warn: any warning is an error here.
    rel = nym.recode(EXAMPLE, k=2, structure="ring", labels=list("abcdef"), insiders="accepted")
    assert rel.params["insiders"] == "accepted"
    assert rel.summary["bound"] is rel.method.bound is None


def test_bounds_are_those_of_groups_of_k() -> None:
    labels = list("abcdef")
    assert nym.recode(EXAMPLE, k=3).summary["bound"] == 1 / 3
    assert nym.recode(EXAMPLE, k=3, structure="cahd", labels=labels).summary["bound"] == 1 / 3
    for how in ({"l": 3}, {"l": 3, "structure": "cahd"}, {"k": 3, "seed": 1}):
        assert nym.recode(EXAMPLE, labels=labels, **how).summary["bound"] is None


def test_labels_are_guessed_better_than_by_their_share() -> None:
    """Minimality: l labels are in every group, but who is in it tells about labels.

    Records come in pairs of twins, who would be grouped together. That they are not tells whoever knows everybody's
    items, the groups and the rule that their labels are the same; so it is one that both of their groups show.
    """
    rng = np.random.default_rng(0)
    records = [sorted(rng.choice(60, 8, replace=False).tolist()) for _ in range(300)]
    sets = nym.Itemsets.from_lists(records * 2, items=range(60))
    labels = rng.integers(30, size=300)
    labels = np.concatenate([labels, np.where(rng.random(300) < 0.3, labels, rng.integers(30, size=300))])
    for l in (2, 3, 4):  # noqa: E741
        rel = nym.recode(sets, l=l, labels=labels, order="gray", seed=1)
        group_of = rel.secret.graph.group_of
        shown = [{*rel.labels[rel.secret.row_of[group_of == g]].tolist()} for g in range(group_of.max() + 1)]
        right = []
        for i in range(300):
            one, other = (shown[group_of[j]] for j in (i, 300 + i))
            assert min(len(one), len(other)) >= l
            if group_of[i] != group_of[300 + i]:
                both = one & other or one
                right.append((labels[i] in both) / len(both))
        assert len(right) > 60
        assert np.mean(right) > 0.6 > 1 / l


def test_methods_are_values() -> None:
    ring = {"structure": "ring", "insiders": "accepted"}
    made = nym.Recode(k=np.int64(3), order=np.array(GRAY), segment=[300, 350], **ring)
    said = "Recode(k=3, structure='ring', order=<6 numbers>, method='split', insiders='accepted')"
    assert repr(made) == said
    same = nym.Recode(k=3, order=GRAY, **ring)
    assert made == same == pickle.loads(pickle.dumps(made))
    assert len({made, same, nym.Recode(k=3, order=GRAY_TSP, **ring), nym.Recode(k=3, **ring)}) == 3
    assert made.params()["order"] == made.apply(EXAMPLE, seed=1).method.order == "given"
    for method in (
        nym.Recode(k=4),
        nym.Recode(k=4, structure="cahd"),
        nym.Recode(k=5, structure="ring"),
        nym.Recode(l=2, structure="ring", method="wmc", segment=(20, 30), insiders="accepted"),
        nym.Recode(k=8, order="best", effort="long", limit=3),
        nym.Recode(l=1, structure="cahd"),
    ):
        assert eval(repr(method), {"Recode": nym.Recode}) == method == nym.Recode.from_options(method.params())
        # A ring has insiders, and l is about labels.
        assert method.bound == (None if method.l is not None or method.structure == "ring" else 1 / method.least)
    # The caller's numbers may change, the method does not.
    numbers = np.array(GRAY, dtype=np.uint32)
    kept = nym.Recode(k=3, order=numbers, **ring)
    numbers[:] = GRAY_TSP
    assert kept == same
    release = kept.apply(EXAMPLE, seed=1)
    assert release == recode(EXAMPLE, k=3, structure="ring", order=GRAY, seed=1)
    assert b"order" in pickle.dumps(release)
    assert np.array(GRAY, dtype=np.uint32).tobytes() not in pickle.dumps(release)
    with pytest.raises(AttributeError):
        kept.k = 2  # type: ignore[misc]


def test_labels_are_coded_once(monkeypatch) -> None:
    coded = []
    monkeypatch.setattr(release, "code", lambda *args: coded.append(args) or table.code(*args))
    for how in ({"k": 2}, {"l": 2}):
        nym.recode(EXAMPLE, **how, labels=list("abcabc"), seed=1)
    assert len(coded) == 2


@pytest.mark.parametrize("structure", STRUCTURES)
def test_what_is_public_does_not_depend_on_the_draw(structure) -> None:
    """The same groups and other draws: everything public but the rows is the same to the last byte."""
    sets, labels = nym.datasets.baskets(300, seed=5, items=40, labels=30)
    accepted = {"insiders": "accepted"} if structure == "ring" else {}
    made = nym.Recode(k=4, structure=structure, order="gray", **accepted)
    first = made.apply(sets, labels, seed=1)
    graph, method, summary = first.secret.graph, first.method, first.summary
    said = {name: summary[name] for name in ("groups", "labels") if name in summary}
    seen = set()
    for seed in (2, 3, 4):
        if structure == "ring":
            drawn = np.empty(sets.n, dtype=np.uint32)
            drawn[graph.order] = np.roll(graph.order, seed - 4)
        else:
            drawn = _core.assign_groups(graph.group_of, seed)
        other = release.publish(sets, graph, drawn, method=method, labels=labels, summary=said, seed=seed)
        seen.add(json.dumps([repr(other), other.params, other.summary]))
        assert other != first
    assert seen == {json.dumps([repr(first), first.params, first.summary])}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("how", [{"k": 3}, {"l": 3, "labels": list("abcdef")}], ids=str)
def test_the_owner_has_all_assignments(method, how) -> None:
    secret = recode(EXAMPLE, **how, structure="ring", method=method, seed=1).secret
    if method == "split":
        assert secret.assignments is secret.chosen is None
        return
    assert secret.assignments.shape == (3, 6)
    assert np.array_equal(secret.assignments[secret.chosen], secret.assignment)
    for i in range(6):
        assert sorted(secret.assignments[:, i].tolist()) == sorted(secret.matches(i).tolist())


def test_a_limit_stops_the_search_and_not_the_guarantee() -> None:
    sets, _ = nym.datasets.baskets(5_000, seed=3)
    rel = nym.recode(sets, k=5, structure="groups", order="gray", effort="long", limit=0.2, seed=1)
    assert rel.compatible(sets).min() >= 5
    assert rel.params["limit"] == 0.2


TARGETS = {
    # Error rates in percent that have to be reached, for k = 4, 8, 16, 32.
    ("chess.dat", "ring", "gray-tsp"): (6.9, 10.9, 15.4, 20.0),
    ("chess.dat", "ring", "best"): (6.3, 10.0, 14.3, 18.0),
    ("chess.dat", "groups", "gray-tsp"): (5.7, 8.4, 11.5, 14.8),
    ("pumsb_first4334.dat", "ring", "gray-tsp"): (19.1, 23.0, 26.3, 29.6),
    ("pumsb_first4334.dat", "ring", "best"): (18.0, 21.9, 24.6, 26.6),
    ("pumsb_first4334.dat", "groups", "best"): (17.0, 19.5, 21.5, 23.4),
}


@pytest.mark.parametrize("case", TARGETS, ids=" ".join)
def test_error_rates_on_real_data(shared_data, case) -> None:
    file, structure, order = case
    sets = nym.Itemsets.from_fimi(shared_data(f"fimi/{file}"))
    for k, target in zip((4, 8, 16, 32), TARGETS[case], strict=True):
        if "pumsb" in file and k in (4, 16):
            continue  # half of them, for the time they take; the study has all
        rel = recode(sets, k=k, structure=structure, order=order, seed=1)
        assert round(100 * rel.error_rate(expected=True), 1) <= target, k


@pytest.mark.parametrize(
    ("structure", "method", "targets"),
    [
        ("ring", "split", (8.6, 10.4, 13.1)),
        ("ring", "closed-walk", (8.6, 10.4, 13.1)),
        ("groups", None, (6.2, 8.0, 10.8)),
        ("cahd", None, None),
    ],
)
def test_error_rates_with_labels(shared_data, structure, method, targets) -> None:
    sets = nym.Itemsets.from_fimi(shared_data("fimi/chess.dat"))
    weights = 1 / (np.arange(470) + 8.0)
    labels = np.random.default_rng(1).choice(470, size=sets.n, p=weights / weights.sum())
    found = []
    for l in (4, 6, 10):  # noqa: E741
        order = "gray" if targets is None else "gray-tsp"
        rel = recode(sets, l=l, labels=labels, structure=structure, order=order, method=method, seed=1)
        _distinct_labels(rel, labels.tolist())
        found.append(100 * rel.error_rate(expected=True))
    if targets is None:
        # The baseline loses more than all of them.
        assert all(x > target for x, target in zip(found, (8.6, 10.4, 13.1), strict=True)), found
    else:
        assert all(round(x, 1) <= target for x, target in zip(found, targets, strict=True)), found
