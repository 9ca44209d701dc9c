"""The front door of semantic noise: what it keeps, what it tells, what it refuses."""

from __future__ import annotations

import json
import zipfile
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nominym as nym
from nominym import _core, error
from nominym.noise import errors

METHODS = [
    {"alpha": 0.3},
    {"alpha": 0.3, "correlated": False},
    {"alpha": 0.3, "reference": "root"},
    {"alpha": 0.3, "reference": "pair"},
    {"alpha": 0.3, "law": "laplace"},
    {"method": "exponential", "epsilon": 4},
    {"method": "naive"},
    {"method": "probabilistic"},
]
every_method = pytest.mark.parametrize("how", METHODS, ids=lambda how: " ".join(map(str, how.values())))

FRAME, TAXONOMIES = nym.datasets.discharges(600, seed=4, diagnoses=60, procedures=40)
MASKED = {name: TAXONOMIES[name] for name in ("diagnosis", "secondary")}
TAX = TAXONOMIES["diagnosis"]


@every_method
def test_what_is_told_is_what_happened(how) -> None:
    before = FRAME.copy()
    res = nym.add_noise(FRAME, MASKED, **how, seed=1, correlations=True)
    pd.testing.assert_frame_equal(FRAME, before)
    pd.testing.assert_frame_equal(res.data.drop(columns=list(MASKED)), FRAME.drop(columns=list(MASKED)))
    domain = dict.fromkeys(MASKED, TAX.lcs(FRAME["diagnosis"]))
    if how.get("reference") == "pair":
        domain = dict.fromkeys(MASKED, TAX.lcs([*FRAME["diagnosis"], *FRAME["secondary"]]))
    for name in MASKED:
        told = res.secret.summary["attributes"][name]
        root = told["root"]
        assert root == (domain[name] if name == "diagnosis" or "pair" in how.values() else TAX.lcs(FRAME[name]))
        values, after = FRAME[name].astype(str), res.data[name].astype(str)
        assert set(after) <= set(TAX.subtree(root))
        assert told["rmse"] == pytest.approx(nym.stats.rmse(values, after, TAX, root=root))
        assert told["unchanged"] == pytest.approx((values == after).mean())
        for when, column in (("before", values), ("after", after)):
            assert told[f"mean_{when}"] == nym.stats.semantic_mean(column, TAX, root=root)
            assert told[f"variance_{when}"] == pytest.approx(nym.stats.semantic_variance(column, TAX, root=root))
        part = TAX.restrict(root)
        assert told["mean_distance"] == pytest.approx(part.distance(told["mean_before"], told["mean_after"]))
        if "alpha" in how:
            assert told["variance_expected"] == pytest.approx(1.3 * told["variance_before"])
            # An error that is not truncated is reached or passed.
            assert told["rmse"] > told["target_rmse"] - 0.5 * told["truncated"]
    row = res.secret.summary["correlations"].iloc[0]
    roots = {f"root_{axis}": res.summary["attributes"][name]["root"] for axis, name in zip("xy", MASKED, strict=True)}
    for when, frame in (("before", FRAME), ("after", res.data)):
        columns = [frame[name].astype(str) for name in MASKED]
        assert row[when] == pytest.approx(nym.stats.distance_correlation(*columns, TAX, TAX, **roots))


@every_method
def test_seeds_and_threads(how) -> None:
    def run(seed: int | None) -> pd.DataFrame:
        return nym.add_noise(FRAME, MASKED, **how, seed=seed, moments=False).data

    nym.set_threads(1)
    one = run(3)
    nym.set_threads(None)
    assert one.equals(run(3))
    assert not one.equals(run(4))
    assert not run(None).equals(run(None))


@every_method
def test_tables_of_every_library(how) -> None:
    plain = FRAME[list(MASKED)].astype(str)
    expected = nym.add_noise(plain, MASKED, **how, seed=1, moments=False).data["diagnosis"].tolist()
    for given, read in (
        (pl.from_pandas(plain), lambda t: t["diagnosis"].to_list()),
        (pa.Table.from_pandas(plain), lambda t: t["diagnosis"].to_pylist()),
        (plain.to_dict("list"), lambda t: t["diagnosis"]),
        (plain.astype("category"), lambda t: t["diagnosis"].tolist()),
    ):
        res = nym.add_noise(given, MASKED, **how, seed=1, moments=False)
        assert type(res.data) is type(given)
        assert read(res.data) == expected


@every_method
def test_missing_values_stay(how) -> None:
    gaps = FRAME.astype(dict.fromkeys(MASKED, str))
    gaps.loc[::7, "diagnosis"] = None
    gaps.loc[::5, "secondary"] = None
    res = nym.add_noise(gaps, MASKED, **how, seed=1)
    for name in MASKED:
        assert (res.data[name].isna() == gaps[name].isna()).all()
        assert res.summary["attributes"][name]["missing"] == gaps[name].isna().sum()
    with pytest.raises(error.MissingValueError, match="column 'diagnosis': 86 of 600"):
        nym.add_noise(gaps, MASKED, **how, missing="error")


def test_how_a_value_is_written_does_not_tell_what_was_there() -> None:
    labels = {"1": "flu", "2": "coma", "3": "gout", "0": "illness", "4": "flu again", "5": "FLU again"}
    tax = nym.Taxonomy.from_edges([(str(i), "0") for i in range(1, 6)], labels=labels)
    by_label = {"flu", "coma", "gout", "illness", "4", "5"}  # a label that names two concepts is none
    for values, names in ((["flu", "coma"], by_label), (["1", "2"], set("012345")), (["flu", "2"], set("012345"))):
        seen: set[str] = set()
        for seed in range(40):
            how = {"method": "exponential", "epsilon": 0.1, "roots": {"x": "0"}, "moments": False}
            seen |= set(nym.add_noise({"x": values * 5}, {"x": tax}, **how, seed=seed).data["x"])
        assert seen == names
    frame = pd.DataFrame({"x": pd.Categorical(["1", "2"] * 20)})
    after = nym.add_noise(frame, {"x": tax}, method="exponential", epsilon=0.1, roots={"x": "0"}, seed=3).data["x"]
    assert after.cat.categories.tolist() == sorted(set(after))


def test_errors_have_the_covariance_they_should() -> None:
    covariance = np.array([[0.5, 0.3, 0.0], [0.3, 0.4, -0.1], [0.0, -0.1, 0.2]])
    n = 200_000
    for law, kurtosis in (("normal", 3), ("laplace", 6)):
        for together in (True, False):
            drawn = np.array(errors.draw(n, covariance, law, together, 1))
            assert drawn.mean(axis=1) == pytest.approx(np.zeros(3), abs=0.01)
            # A Laplace product of different spreads has a smaller covariance: (E√W)² = π/4.
            factor = 1 if together or law == "normal" else np.pi / 4
            wanted = covariance * np.where(np.eye(3), 1, factor)
            assert np.cov(drawn) == pytest.approx(wanted, abs=0.012)
            assert (drawn**4).mean(axis=1) / drawn.var(axis=1) ** 2 == pytest.approx(np.full(3, kurtosis), rel=0.05)


def test_a_covariance_that_is_none_is_repaired_and_told(monkeypatch) -> None:
    wrong = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]) * 0.1
    nearest, distance = errors.nearest_covariance(wrong)
    assert np.linalg.eigvalsh(nearest).min() > -1e-12
    assert distance == pytest.approx(np.linalg.norm(nearest - wrong))
    rng = np.random.default_rng(0)
    for _ in range(200):
        root = rng.normal(size=(3, 3)) * 0.3
        assert np.linalg.norm(root @ root.T - wrong) >= distance - 1e-12
    from nominym.noise import model

    monkeypatch.setattr(model, "covariances", lambda *_: wrong)
    masked = {**MASKED, "procedure": TAXONOMIES["procedure"]}
    res = nym.add_noise(FRAME, masked, alpha=0.3, seed=1, moments=False)
    assert res.summary["covariance_repaired"] == pytest.approx(distance)


def test_pairs() -> None:
    frame = FRAME.assign(third=FRAME["diagnosis"], fourth=FRAME["secondary"].sample(frac=1, random_state=1).to_numpy())
    masked = dict.fromkeys(("diagnosis", "secondary", "third", "fourth"), TAX)
    chosen = nym.NoiseModel.fit(frame, masked, alpha=0.3, reference="pair").params["pairs"]
    assert chosen == [("diagnosis", "third"), ("fourth", "secondary")]
    given = nym.NoiseModel.fit(
        frame, masked, alpha=0.3, reference="pair", pairs=[("diagnosis", "secondary"), ("third", "fourth")]
    )
    assert given.params["pairs"] == [("diagnosis", "secondary"), ("fourth", "third")]


def test_a_model_masks_batches_it_has_not_seen(tmp_path) -> None:
    model = nym.NoiseModel.fit(FRAME.head(400), MASKED, alpha=0.3, roots=dict.fromkeys(MASKED, TAX.root))
    whole = model.transform(FRAME, seed=1)
    assert whole.summary["records"] == 600
    one = model.transform(FRAME.iloc[[500]], seed=1)
    assert len(one.data) == 1
    narrow = nym.NoiseModel.fit(FRAME.head(400), MASKED, alpha=0.3)
    with pytest.raises(error.UnknownConceptError, match=r"column 'diagnosis': .*'nowhere'.* Noise was fitted to the"):
        narrow.transform(FRAME.assign(diagnosis="nowhere"))
    with pytest.raises(error.UnknownColumnError, match="there is no column 'secondary'"):
        model.transform(FRAME[["diagnosis"]])


def test_amounts_of_any_number_type(tmp_path) -> None:
    for how in (
        {"alpha": np.float32(0.25)},
        {"alpha": Fraction(1, 4)},
        {"method": "exponential", "epsilon": np.int64(2)},
    ):
        model = nym.NoiseModel.fit(FRAME, MASKED, **how)
        model.save(tmp_path / "model")
        assert nym.NoiseModel.load(tmp_path / "model").params == model.params
    far = nym.DistanceMatrix([[0, 3], [3, 0]], ["a", "b"])
    assert set(nym.add_noise({"x": ["a", "b"] * 9}, {"x": far}, method="naive", seed=1).data["x"]) == {"a", "b"}


@pytest.mark.parametrize(
    "how",
    [*METHODS, {"alpha": 0.3, "measure": nym.Measure("lin", ic="sanchez")}, {"alpha": 0.2, "matrix": True}],
    ids=str,
)
def test_models_are_saved_and_loaded(tmp_path, how) -> None:
    masked = MASKED
    how = dict(how)
    if how.pop("matrix", False):
        names = sorted({*FRAME["diagnosis"], *FRAME["secondary"]})
        masked = dict.fromkeys(MASKED, nym.DistanceMatrix(TAX.distance_matrix(names), names))
    model = nym.NoiseModel.fit(FRAME, masked, **how)
    model.save(tmp_path / "model.nym")
    again = nym.NoiseModel.load(tmp_path / "model.nym")
    assert again.params == model.params
    assert repr(again) == repr(model)
    assert again.transform(FRAME, seed=5).data.equals(model.transform(FRAME, seed=5).data)
    told = [each.transform(FRAME, seed=5).secret.summary["attributes"] for each in (again, model)]
    assert told[0] == told[1]


def test_counts_of_use_survive_saving(tmp_path) -> None:
    tax = nym.Taxonomy.from_edges([(f"{i:02}", f"{i // 2:02}") for i in range(1, 30)])
    measure = nym.Measure("lin", ic={name: 1 + i for i, name in enumerate(tax.ids)})
    frame = {"x": [tax.ids[i] for i in np.random.default_rng(0).integers(2, 30, 100)]}
    model = nym.NoiseModel.fit(frame, {"x": tax}, alpha=0.5, measure=measure)
    model.save(tmp_path / "model")
    assert nym.NoiseModel.load(tmp_path / "model").transform(frame, seed=1).data == model.transform(frame, seed=1).data


def test_files_that_are_no_model(tmp_path) -> None:
    path = tmp_path / "model"
    path.write_text("nothing")
    with pytest.raises(error.FormatError, match="not a noise model"):
        nym.NoiseModel.load(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("model.json", json.dumps({"format": "nominym-noise", "version": 9}))
    with pytest.raises(error.FormatError, match="nominym-noise version 9, not nominym-noise version 3"):
        nym.NoiseModel.load(path)
    with pytest.raises(FileNotFoundError):
        nym.NoiseModel.load(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="no folder"):
        nym.NoiseModel.fit(FRAME, MASKED, alpha=0.1).save(tmp_path / "none" / "model")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model"]


BAD = {
    "no alpha": ({}, "alpha=None: give a number above 0, the amount of noise, which the method 'semantic' needs"),
    "alpha is 0": ({"alpha": 0}, "alpha=0: give a number above 0"),
    "alpha is nan": ({"alpha": float("nan")}, "alpha=nan"),
    "alpha is text": ({"alpha": "much"}, "alpha='much'"),
    "alpha is True": ({"alpha": True}, "alpha=True"),
    "method": ({"method": "noisy"}, "method='noisy': give 'semantic', 'exponential'"),
    "reference": ({"alpha": 1, "reference": "top"}, "reference='top': give 'mean', 'pair', 'root'"),
    "law": ({"alpha": 1, "law": "cauchy"}, "law='cauchy': give 'normal', 'laplace'"),
    "correlated": ({"alpha": 1, "correlated": "yes"}, "correlated='yes'"),
    "no epsilon": (
        {"method": "exponential"},
        "epsilon=None: give a number above 0, the amount of noise, which the method 'exponential' needs",
    ),
    "epsilon for errors": ({"alpha": 1, "epsilon": 1}, "epsilon=1: it applies only where method is 'exponential'"),
    "alpha for a baseline": (
        {"method": "naive", "alpha": 1},
        "alpha=1: it applies only where method is 'semantic'",
    ),
    "uncorrelated pair": ({"alpha": 1, "reference": "pair", "correlated": False}, "errors are always correlated"),
    "measure": ({"alpha": 1, "measure": "path"}, r"ranges over 0 … 2\(D−1\); errors are shares"),
    "seed": ({"alpha": 1, "seed": -1}, "seed=-1"),
    "missing": ({"alpha": 1, "missing": "drop"}, "missing='drop'"),
    "progress": ({"alpha": 1, "progress": 7}, "progress=7"),
    "law for a baseline": ({"method": "naive", "law": "laplace"}, "law='laplace': it applies only where"),
    "pairs": ({"alpha": 1, "pairs": [("diagnosis", "secondary")]}, "it applies only where reference is 'pair'"),
    "pair of one": ({"alpha": 1, "reference": "pair", "pairs": [("diagnosis", "diagnosis")]}, "with another column"),
    "unknown pair": ({"alpha": 1, "reference": "pair", "pairs": [("diagnosis", "sex")]}, "not two of the columns"),
    "half a pair": ({"alpha": 1, "reference": "pair", "pairs": []}, "has no partner with the same taxonomy"),
    "pairs of text": ({"alpha": 1, "reference": "pair", "pairs": "diagnosis"}, "pairs='diagnosis': give a list"),
    "roots": ({"alpha": 1, "roots": "top"}, "roots='top': give a mapping"),
    "root of another": ({"alpha": 1, "roots": {"sex": "top"}}, "roots=: 'sex' is not among"),
    "unknown root": ({"alpha": 1, "roots": {"diagnosis": "top"}}, "root='top'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_requests(name) -> None:
    how, message = BAD[name]
    with pytest.raises((ValueError, KeyError), match=message):
        nym.add_noise(FRAME, MASKED, **how)


def test_bad_data(monkeypatch) -> None:
    monkeypatch.setattr(_core, "shift_values", lambda *_: pytest.fail("work was done"))
    with pytest.raises(error.ParameterError, match="with at least one column"):
        nym.add_noise(FRAME, {}, alpha=1)
    with pytest.raises(error.ParameterError, match=r"column 'sex': a Taxonomy, a DistanceMatrix, .* not NoneType"):
        nym.add_noise(FRAME, {"sex": None}, alpha=1)
    for other in (nym.Order(["f", "m"]), nym.Equality()):
        with pytest.raises(error.ParameterError, match=f"column 'sex': noise replaces .* {other.noun} has none"):
            nym.add_noise(FRAME, {"sex": other}, alpha=1)
    with pytest.raises(error.UnknownConceptError, match="column 'sex'"):
        nym.add_noise(FRAME, {"sex": TAX}, alpha=1)
    numbers = nym.Taxonomy.from_edges([("1", "0"), ("2", "0")])
    with pytest.raises(error.DataError, match=r"holds values such as 1 of type int.*turn the column into text first"):
        nym.add_noise({"x": [1, 2, 1]}, {"x": numbers}, alpha=1)
    far = nym.DistanceMatrix([[0, 3], [3, 0]], ["a", "b"])
    with pytest.raises(error.ParameterError, match="divide the matrix by its maximum"):
        nym.add_noise({"x": ["a", "b"]}, {"x": far}, alpha=1)
    near = nym.DistanceMatrix([[0, 1], [1, 0]], ["a", "b"])
    with pytest.raises(error.ParameterError, match="a distance matrix has no root"):
        nym.add_noise({"x": ["a", "b"]}, {"x": near}, alpha=1, reference="root")
    with pytest.raises(error.ParameterError, match="different taxonomies"):
        nym.add_noise(
            FRAME,
            {"diagnosis": TAX, "procedure": TAXONOMIES["procedure"]},
            alpha=1,
            reference="pair",
            pairs=[("diagnosis", "procedure")],
        )
    roots = {"diagnosis": TAX.root, "secondary": TAX.children(TAX.root)[0]}
    with pytest.raises(error.ParameterError, match="share one domain"):
        nym.add_noise(FRAME, MASKED, alpha=1, reference="pair", roots=roots)
    apart = {"diagnosis": [FRAME["diagnosis"][0], None], "secondary": [None, FRAME["diagnosis"][0]]}
    with (
        pytest.raises(error.DataError, match="no record has a value in all of the columns"),
        pytest.warns(error.PrivacyWarning, match="one value"),
    ):
        nym.add_noise(apart, MASKED, alpha=1)
    with pytest.raises(error.DataError, match="no value at all"):
        nym.add_noise({"x": [None, None]}, {"x": TAX}, alpha=1)


def test_a_domain_of_one_concept_keeps_its_value() -> None:
    tax = nym.Taxonomy.from_edges([("a", "top")])
    with pytest.warns(error.PrivacyWarning, match="column 'x': its domain has one value, which noise cannot change"):
        res = nym.add_noise({"x": ["a", "a"]}, {"x": tax}, alpha=1, seed=1)
    assert res.data == {"x": ["a", "a"]}
    assert res.secret.summary["attributes"]["x"]["rmse"] == 0


def equal(size: int) -> nym.DistanceMatrix:
    """Make a domain in which all values are as different as they can be."""
    return nym.DistanceMatrix(1 - np.eye(size), [f"v{i}" for i in range(size)])


def line(size: int) -> nym.DistanceMatrix:
    """Make a domain of values along a line."""
    places = np.arange(size) / (size - 1)
    return nym.DistanceMatrix(np.abs(np.subtract.outer(places, places)), [f"v{i}" for i in range(size)])


@pytest.mark.parametrize("how", [{}, {"correlated": False}, {"law": "laplace"}], ids=str)
def test_domains_of_two_values_are_refused(monkeypatch, how) -> None:
    monkeypatch.setattr(_core, "shift_values", lambda *_: pytest.fail("work was done"))
    column = {"answer": ["yes", "no", "no"] * 5}
    two = nym.DistanceMatrix([[0, 1], [1, 0]], ["yes", "no"])
    says = r"column 'answer': it has two values, 'no' and 'yes', and noise always .*; use rank swapping .*, or the"
    for call in (nym.add_noise, nym.NoiseModel.fit):
        with pytest.raises(error.ParameterError, match=says):
            call(column, {"answer": two}, alpha=0.3, **how)
    # In a taxonomy the domain is that below the least common subsumer, or a concept that is named.
    tax = nym.Taxonomy.from_edges([("yes", "answer"), ("no", "answer"), ("never", "no")])
    negative = {"answer": ["no", "never"] * 5}
    for roots in ({}, {"answer": "answer"}):
        says = r"it has two values, 'never' and 'no', .* whatever else .*; use"
        with pytest.raises(error.ParameterError, match=says):
            nym.add_noise(negative, {"answer": tax}, alpha=0.3, roots=roots, **how)
    # A constant column in such a domain: there a wider one helps.
    never = {"answer": ["never"] * 5}
    says = r"its domain has two values, 'never' and 'no', .*; name a concept above 'no' as the root .*, use rank"
    with pytest.raises(error.ParameterError, match=says):
        nym.add_noise(never, {"answer": tax}, alpha=0.3, roots={"answer": "no"}, **how)
    pair = nym.Taxonomy.from_edges([("no", "answer")])
    with pytest.raises(
        error.ParameterError, match=r"two values, .*anyone who sees one knows the other; use rank swapping"
    ):
        nym.add_noise({"answer": ["answer"] * 3}, {"answer": pair}, alpha=0.3, **how)


def test_remedies_for_two_values_exist() -> None:
    two = nym.DistanceMatrix([[0, 1], [1, 0]], ["yes", "no"])
    column = {"answer": ["yes", "no", "no"] * 40}
    kept = nym.add_noise(column, {"answer": two}, method="exponential", epsilon=1, seed=1)
    same = np.mean(np.array(kept.data["answer"]) == np.array(column["answer"]))
    assert 0.4 < same < 0.85
    for how in ({"method": "naive"}, {"method": "probabilistic"}):
        assert {*nym.add_noise(column, {"answer": two}, **how).data["answer"]} == {"yes", "no"}
    both = {**column, "age": np.random.default_rng(1).permutation(120).tolist()}
    swapped = nym.rank_swap(both, {"answer": two, "age": nym.Order()}, k=5).data
    assert swapped["age"] != both["age"]
    assert sorted(swapped["answer"]) == sorted(column["answer"])
    tax = nym.Taxonomy.from_edges([("yes", "answer"), ("no", "answer"), ("never", "no"), ("maybe", "answer")])
    never = {"answer": ["never"] * 5}
    nym.add_noise(never, {"answer": tax}, alpha=0.3, roots={"answer": "answer"}, seed=1)


def test_two_values_are_inverted_with_certainty() -> None:
    """What is refused, drawn all the same: whatever the errors, every value becomes the other."""
    codes = np.random.default_rng(0).integers(2, size=1_000).astype(np.uint32)
    every = np.arange(2, dtype=np.uint32)
    for scale in (0.01, 0.3, 5):
        drawn = np.random.default_rng(1).normal(0, scale, 1_000)
        after, *_ = _core.shift_values(1 - np.eye(2), every, codes, drawn, 0, "wu-palmer", None, 1, 0)
        assert (after == 1 - codes).all()


def test_columns_of_two_values_are_refused_whatever_the_domain() -> None:
    two, nine = {"x": ["v0", "v1"] * 20}, {"x": [f"v{i % 9}" for i in range(40)]}
    says = r"column 'x': it has two values, 'v0' and 'v1', .* it was the other"
    for call in (nym.add_noise, nym.NoiseModel.fit):
        with pytest.raises(error.ParameterError, match=says):
            call(two, {"x": equal(9)}, alpha=1)
    model = nym.NoiseModel.fit(nine, {"x": equal(9)}, alpha=1)
    with pytest.raises(error.ParameterError, match=says):
        model.transform(two)
    # Few records of a stream may have two values by chance.
    model.transform({"x": two["x"][:29]})
    # The exponential mechanism may keep a value.
    kept = nym.add_noise(two, {"x": equal(9)}, method="exponential", epsilon=3, seed=1).data["x"]
    assert any(old == new for old, new in zip(two["x"], kept, strict=True))


def test_small_domains_warn_and_note() -> None:
    for size, warns in ((3, True), (4, True), (5, False)):
        column = {"x": [f"v{i % size}" for i in range(50)]}
        if warns:
            with pytest.warns(
                error.PrivacyWarning, match=f"column 'x': its domain has {size} values, .* {size - 1} left"
            ):
                model = nym.NoiseModel.fit(column, {"x": equal(size)}, alpha=0.3)
        else:
            model = nym.NoiseModel.fit(column, {"x": equal(size)}, alpha=0.3)
        notes = model.transform(column).summary["notes"]
        assert any(f"its domain has {size} values" in note for note in notes) == warns
        assert "it always changes a value" in notes[-1]


def test_weak_columns_are_saved_with_a_model(tmp_path) -> None:
    with pytest.warns(error.PrivacyWarning, match="3 values"):
        model = nym.NoiseModel.fit({"x": ["v0", "v1", "v2"] * 9}, {"x": equal(3)}, alpha=0.3)
    model.save(tmp_path / "model")
    again = nym.NoiseModel.load(tmp_path / "model")
    assert again.weak == model.weak
    assert "its domain has 3 values" in again.transform({"x": ["v0"]}).summary["notes"][0]


# Of 20,000 values of a domain, all as frequent, so many are guessed right by whoever knows the rule.
RATES = {
    ("equal", 3): 0.59,
    ("equal", 4): 0.42,
    ("equal", 5): 0.33,
    ("line", 3): 0.65,
    ("line", 5): 0.47,
    ("line", 16): 0.24,
}


@pytest.mark.filterwarnings("ignore::nominym.error.PrivacyWarning")
@pytest.mark.parametrize("case", RATES, ids=str)
def test_excluding_the_value_shown_tells_more_than_frequencies(case) -> None:
    kind, size = case
    meaning = equal(size) if kind == "equal" else line(size)
    rng = np.random.default_rng(0)
    before, known = rng.integers(size, size=(2, 20_000))
    column = {"x": [f"v{i}" for i in before]}
    model = nym.NoiseModel.fit(column, {"x": meaning}, alpha=0.3)

    def masked(values: np.ndarray) -> np.ndarray:
        texts = model.transform({"x": [f"v{i}" for i in values]}, seed=1).data["x"]
        return np.array([int(text[1:]) for text in texts])

    shown = masked(before)
    assert not (shown == before).any()
    # Any other than the value shown.
    excluded = (shown + rng.integers(1, size, size=len(shown))) % size
    # Whoever has the model, or the rule and the frequencies, tries it on values of their own.
    times = np.zeros((size, size))
    np.add.at(times, (masked(known), known), 1)
    by_rule = times.argmax(axis=1)[shown]
    assert np.mean(rng.integers(size, size=len(before)) == before) == pytest.approx(1 / size, abs=0.015)
    assert np.mean(excluded == before) == pytest.approx(1 / (size - 1), abs=0.015)
    assert np.mean(by_rule == before) == pytest.approx(RATES[case], abs=0.03)


def test_local_privacy_is_stated_only_of_domains_that_are_named() -> None:
    """A domain that is derived tells tables apart that differ in one value, whatever is drawn."""
    tax = nym.Taxonomy.from_edges(
        [("flu", "resp"), ("cold", "resp"), ("resp", "ill"), ("burn", "hurt"), ("hurt", "ill")]
    )
    how = {"method": "exponential", "epsilon": 1.0}
    one, other = ["flu", "cold", None] * 4, ["flu", "cold", None] * 3 + ["flu", "burn", None]
    derived = [nym.add_noise({"d": values}, {"d": tax}, **how) for values in (one, other)]
    assert [res.params["roots"] for res in derived] == [{"d": "resp"}, {"d": "ill"}]
    for res in derived:
        assert not res.guarantee
        assert res.guarantee.claim.startswith("Nothing is guaranteed: the domain of d was derived from the data")
    for values in (one, other):
        res = nym.add_noise({"d": values}, {"d": tax}, **how, roots={"d": "ill"})
        assert res.guarantee.kind == "local"
        assert res.summary["attributes"]["d"]["domain"] == 6
        assert [value is None for value in res.data["d"]] == [value is None for value in values]
        assert "Missing values: whether a value is missing is not protected." in res.guarantee.not_covered
    labels = ["a", "b", "c", "d", "e"]
    matrix = nym.DistanceMatrix(1.0 - np.eye(5), labels)
    res = nym.add_noise({"x": ["a", "b"] * 5, "d": other[:10]}, {"x": matrix, "d": tax}, **how, roots={"d": "ill"})
    assert res.guarantee.kind == "local"
    assert res.summary["attributes"]["x"]["domain"] == 5
    res = nym.add_noise({"x": ["a", "b"] * 5, "d": other[:10]}, {"x": matrix, "d": tax}, **how)
    assert "the domain of d was derived" in res.guarantee.claim
