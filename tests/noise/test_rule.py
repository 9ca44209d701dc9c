"""The replacement rule against its definition, candidate by candidate."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nominym import DistanceMatrix, Taxonomy, _core
from reference import both, edge_lists

MISSING = 2**32 - 1


def candidates(distances: np.ndarray, x: int, error: float, reference: int | None) -> tuple[set[int], bool, bool]:
    """Give all that may replace x under an error, whether it is not reached, and whether its direction is dropped."""
    if error == 0:
        return {x}, False, False
    others = [c for c in range(len(distances)) if c != x]
    if not others:
        return {x}, False, False
    side, dropped = others, False
    if reference is not None:
        now = distances[x, reference]
        far = [c for c in others if distances[c, reference] > now]
        near = [c for c in others if distances[c, reference] < now]
        side = far if error > 0 else near
        if not side:
            side, dropped = others, True
    reach = [c for c in side if distances[c, x] >= abs(error)]
    wanted = min(distances[c, x] for c in reach) if reach else max(distances[c, x] for c in side)
    return {c for c in side if distances[c, x] == wanted}, not reach, dropped


@settings(max_examples=150)
@given(edge_lists(max_size=10), st.data())
def test_every_replacement_is_one_of_the_definition(edges, data) -> None:
    tax, _ = both(edges)
    v = len(tax)
    distances = np.empty((v, v))
    tax.graph.matrix(np.arange(v, dtype=np.uint32), "wu-palmer", distances)
    concept = st.integers(0, v - 1)
    n = data.draw(st.integers(1, 30))
    codes = np.array(data.draw(st.lists(concept, min_size=n, max_size=n)), dtype=np.uint32)
    grid = sorted({0.0, *distances.ravel().tolist(), 0.05, 2.0})
    size = st.sampled_from(grid)
    errors = np.array([data.draw(size) * data.draw(st.sampled_from([-1, 1])) for _ in range(n)])
    every = np.arange(v, dtype=np.uint32)
    one = data.draw(concept)
    each = np.array(data.draw(st.lists(concept, min_size=n, max_size=n)), dtype=np.uint32)
    each[data.draw(st.integers(0, n - 1))] = MISSING
    for domain in (tax.graph, distances):
        for reference in (one, each):
            after, short, dropped = _core.shift_values(
                domain, every, codes, errors, reference, "wu-palmer", None, data.draw(st.integers(0, 99)), 0
            )
            told = [0, 0]
            for i in range(n):
                towards = one if isinstance(reference, int) else (None if each[i] == MISSING else int(each[i]))
                if isinstance(reference, int) and codes[i] == one:
                    towards = None  # the value is the reference: there is no direction
                allowed, truncated, undirected = candidates(distances, int(codes[i]), errors[i], towards)
                assert after[i] in allowed
                told[0] += truncated
                told[1] += undirected
            assert [short, dropped] == told


@pytest.mark.parametrize("measure", ["wu-palmer", "taxonomic-feature"])
def test_very_many_categories_of_a_tree(measure: str) -> None:
    """Candidates are counted by branches then, and none of them is left out."""
    rng = np.random.default_rng(3)
    tax = Taxonomy.from_edges([(f"c{i}", f"c{rng.integers(i // 6, i // 3 + 1)}") for i in range(1, 1_300)])
    v, n = len(tax), 400
    every = np.arange(v, dtype=np.uint32)
    distances = np.empty((v, v))
    tax.graph.matrix(every, measure, distances)
    # Some records are alike, so that ties are broken in more than one way.
    codes = rng.integers(0, v, n).astype(np.uint32)
    codes[200:] = codes[200]
    errors = rng.choice([-1, 1], n) * rng.choice([0, 0.3, 0.5, 0.8, 2.0], n)
    errors[200:] = -errors[200] or 0.5
    each = rng.integers(0, v, n).astype(np.uint32)
    each[200:] = each[200]
    each[7] = MISSING
    for reference in (int(codes[0]), each):
        after, short, dropped = _core.shift_values(tax.graph, every, codes, errors, reference, measure, None, 1, 0)
        told = np.zeros(2, dtype=int)
        for i in range(n):
            towards = reference if isinstance(reference, int) else (None if each[i] == MISSING else int(each[i]))
            towards = None if isinstance(reference, int) and codes[i] == reference else towards
            allowed, *fate = candidates(distances, int(codes[i]), errors[i], towards)
            assert after[i] in allowed
            told += fate
        assert [short, dropped] == told.tolist()
        seen = Counter(after[200:].tolist())
        assert len(seen) > 0.8 * min(len(allowed), 60) and max(seen.values()) < 200 / len(allowed) + 30


@pytest.mark.parametrize("kind", ["concept", "each"])
def test_ties_are_broken_uniformly(kind: str) -> None:
    # A star with a second level: from one leaf, the other leaves are all alike.
    tax = Taxonomy.from_edges([(f"a{i}", "top") for i in range(40)] + [(f"b{i}", f"a{i}") for i in range(40)])
    own = tax.concept("a0")
    n = 60_000
    codes = np.zeros(n, dtype=np.uint32)
    root = tax.graph.root
    reference = root if kind == "concept" else np.full(n, root, dtype=np.uint32)
    after, *_ = _core.shift_values(
        tax.graph, np.array([own], dtype=np.uint32), codes, np.full(n, 0.55), reference, "wu-palmer", None, 1, 0
    )
    seen = Counter(tax.ids[c] for c in after.tolist())
    # At 0.6 (three links over the root), farther from the root than a0: the 39 grandchildren elsewhere.
    assert set(seen) == {f"b{i}" for i in range(1, 40)}
    expected = n / 39
    chi_square = sum((count - expected) ** 2 / expected for count in seen.values())
    # 38 degrees of freedom: beyond 82 once in twenty thousand.
    assert chi_square < 82


def test_exponential_mechanism_has_its_law() -> None:
    tax = Taxonomy.from_edges([("a", "top"), ("b", "top"), ("c", "a"), ("d", "a")])
    distances = np.empty((5, 5))
    tax.graph.matrix(np.arange(5, dtype=np.uint32), "wu-palmer", distances)
    n, epsilon = 50_000, 3.0
    for x in range(5):
        after = _core.draw_values(
            tax.graph,
            np.arange(5, dtype=np.uint32),
            np.full(n, x, dtype=np.uint32),
            epsilon,
            "wu-palmer",
            None,
            x,
            0,
        )
        chances = np.exp(-epsilon * distances[x] / 2)
        chances /= chances.sum()
        error = np.sqrt(chances * (1 - chances) / n)
        assert (np.abs(np.bincount(after, minlength=5) / n - chances) < 4.5 * error).all()
        # Local differential privacy: no output is more than exp(epsilon) times as likely under another value.
        for y in range(5):
            other = np.exp(-epsilon * distances[y] / 2)
            assert (chances / (other / other.sum()) <= np.exp(epsilon)).all()


def test_many_different_distances() -> None:
    """More distances than are told apart by hashing: as with measures of information content."""
    rng = np.random.default_rng(0)
    v = 6_000
    place = rng.random(v)
    distances = np.abs(np.subtract.outer(place, place))
    codes = np.arange(20, dtype=np.uint32)
    errors = rng.normal(0, 0.3, 20)
    every = np.arange(v, dtype=np.uint32)
    after, *_ = _core.shift_values(distances, every, codes, errors, 77, "wu-palmer", None, 1, 0)
    for i in range(20):
        assert after[i] in candidates(distances, i, errors[i], 77)[0]


def test_matrix_and_taxonomy_agree_through_the_front_door() -> None:
    import nominym as nym

    tax = Taxonomy.from_edges([(f"{i:03}", f"{i // 2:03}") for i in range(1, 120)])
    cells = np.empty((120, 120))
    tax.graph.matrix(np.arange(120, dtype=np.uint32), "wu-palmer", cells)
    matrix = DistanceMatrix(cells, tax.ids)
    frame = {"x": [tax.ids[i] for i in np.random.default_rng(0).integers(0, 120, 300)]}
    found = [
        nym.add_noise(frame, {"x": semantics}, alpha=0.3, seed=1, roots=roots).data["x"]
        for semantics, roots in ((tax, {"x": "000"}), (matrix, None))
    ]
    assert found[0] == found[1]


TREE = Taxonomy.from_edges([("a", "top"), ("b", "top"), ("c", "a")])
# Value, error, reference: what becomes of it, whether the error is not reached, whether its direction is dropped.
BRANCHES = {
    "no error": (("a", 0.0, "top"), ({"a"}, 0, 0)),
    "the value is the reference": (("top", 0.1, "top"), ({"a", "b"}, 0, 0)),
    "farther from the reference": (("a", 0.1, "top"), ({"c"}, 0, 0)),
    "closer to the reference": (("c", -0.1, "top"), ({"a"}, 0, 0)),
    "as far away as the error, and no less": (("c", -0.3, "top"), ({"top"}, 0, 0)),
    "nothing is far enough": (("c", -0.9, "top"), ({"b"}, 1, 0)),
    "nothing lies in the direction": (("c", 0.1, "top"), ({"a"}, 0, 1)),
    "neither far enough nor in the direction": (("c", 0.9, "top"), ({"b"}, 1, 1)),
    "ties": (("top", 0.3, "c"), ({"b"}, 0, 0)),
}


@pytest.mark.parametrize("kind", ["concept", "each"])
@pytest.mark.parametrize("branch", BRANCHES)
def test_every_branch(branch: str, kind: str) -> None:
    (value, error, towards), expected = BRANCHES[branch]
    concept = TREE.concept(towards)
    if kind == "each" and value == towards:
        pytest.skip("a value beside an equal one is at no distance from it: nothing is closer, and all are farther")
    seen: set[str] = set()
    for seed in range(40):
        after, short, dropped = _core.shift_values(
            TREE.graph,
            np.array([TREE.concept(value)], dtype=np.uint32),
            np.zeros(1, dtype=np.uint32),
            np.array([error]),
            concept if kind == "concept" else np.array([concept], dtype=np.uint32),
            "wu-palmer",
            None,
            seed,
            0,
        )
        seen.add(TREE.ids[after[0]])
        assert (short, dropped) == expected[1:]
    assert seen == expected[0]
