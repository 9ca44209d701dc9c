"""Methods as values: declared once, checked once, compared, printed as code that makes them again, safe by default."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from fractions import Fraction

import numpy as np
import pytest

import nominym as nym
from nominym import error
from nominym.method import Method

RankSwap, Noise, DataSwap, Recode = nym.RankSwap, nym.Noise, nym.DataSwap, nym.Recode

METHODS = [
    RankSwap(k=10),
    RankSwap(k=10, draw="joint"),
    RankSwap(k=10, anneal=True, missing="error"),
    RankSwap(k=10, measure="lin"),
    RankSwap(k=10, measure=nym.Measure("lin", ic="sanchez")),
    RankSwap(k=10, measure=nym.Measure("resnik", ic={"a": 1, "b": 2.5})),
    RankSwap(k=10, roots={"diagnosis": "illness"}, correlations=True),
    RankSwap(k=10, person="patient", sensitive={"hiv": 3, "sex": 2}, accept=["income"]),
    RankSwap(k=10, method="records", accept=["income"]),
    RankSwap(k=10, method="records"),
    RankSwap(p=2.5, method="fixed"),
    RankSwap(method="random"),
    Noise(alpha=0.3),
    Noise(alpha=0.3, correlated=False, law="laplace", moments=False),
    Noise(alpha=0.3, reference="pair", pairs=[("a", "b"), ("c", "d")]),
    Noise(alpha=0.3, reference="root", roots={"a": "top"}),
    Noise(method="exponential", epsilon=2),
    Noise(method="naive"),
    DataSwap(),
    DataSwap(rate=0.5, equal=["sex", "region"], unequal="age", true_swaps=True),
    DataSwap(mode="sequential", strict_rate=True),
    Recode(k=8),
    Recode(l=3, order="gray", effort="long", limit=9.5),
    Recode(k=8, structure="ring", method="closed-walk", segment=(100, 120)),
]
every_method = pytest.mark.parametrize("method", METHODS, ids=repr)
FUNCTIONS = {RankSwap: nym.rank_swap, Noise: nym.add_noise, DataSwap: nym.data_swap, Recode: nym.recode}


@every_method
def test_methods_are_values(method: Method) -> None:
    again = eval(repr(method), vars(nym).copy())
    for other in (again, copy.copy(method), copy.deepcopy(method), pickle.loads(pickle.dumps(method))):
        assert other == method
        assert hash(other) == hash(method)
        assert repr(other) == repr(method)
        assert other.params() == method.params()
    assert dataclasses.replace(method) == method
    field = dataclasses.fields(method)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(method, field, 5)


def test_methods_are_told_apart() -> None:
    assert len(set(METHODS)) == len(METHODS)
    assert sum(method == other for method in METHODS for other in METHODS) == len(METHODS)
    assert RankSwap(k=10) != Noise(alpha=10)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (RankSwap(10), RankSwap(k=10, guarantee="strict")),
        (RankSwap(k=np.int64(10)), RankSwap(k=10)),
        (RankSwap(k=10, guarantee="published"), RankSwap(k=10, method="records")),
        (RankSwap(k=10, guarantee="published", method="fixed"), RankSwap(k=10, method="fixed")),
        (RankSwap(k=10, measure=nym.Measure("lin")), RankSwap(k=10, measure="lin")),
        (Noise(np.float32(0.25)), Noise(alpha=Fraction(1, 4))),
        (Noise(0.3, reference="pair", pairs=[["a", "b"]]), Noise(0.3, reference="pair", pairs=(("a", "b"),))),
        (RankSwap(k=10, accept="income"), RankSwap(k=10, accept=("income",))),
        (RankSwap(k=10, sensitive={"hiv": np.int64(3)}), RankSwap(k=10, sensitive={"hiv": 3})),
        (DataSwap(equal="sex"), DataSwap(equal=("sex",))),
        (DataSwap(equal=np.array(["sex", "age"])), DataSwap(equal=["sex", "age"])),
        (DataSwap(rate=np.float64(1)), DataSwap(rate=1.0)),
        (Recode(k=8, structure="ring"), Recode(k=8, structure="ring", method="split")),
    ],
    ids=lambda method: repr(method),
)
def test_two_ways_to_say_one_thing(said: Method, meant: Method) -> None:
    assert said == meant
    assert repr(said) == repr(meant)
    assert hash(said) == hash(meant)


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_an_option_is_declared_once(kind: type[Method]) -> None:
    """The function has the options of the method, with the same defaults, and what the method is applied to."""
    found = inspect.signature(FUNCTIONS[kind]).parameters
    declared = {field.name: field.default for field in dataclasses.fields(kind)}
    data = {Recode: ["sets", "labels", "person"], DataSwap: ["frame", "columns"]}.get(kind, ["frame", "meanings"])
    assert set(found) == {*declared, *data, "seed", "progress"}
    assert {name: found[name].default for name in declared} == declared
    assert found["seed"].default is found["progress"].default is None
    assert all(option.help.endswith(".") for option in kind.options().values())
    # What is no option of a command, a file or a sweep: values that are no text or number.
    assert set(declared) - set(kind.options()) <= {"roots", "pairs", "segment", "taxonomy"}


def is_plain(method: Method) -> bool:
    """Tell whether a method differs from its defaults only in numbers, truths and texts."""
    others = [field for field in dataclasses.fields(method) if field.name not in method.options()]
    return isinstance(getattr(method, "measure", ""), str) and all(
        getattr(method, field.name) == field.default for field in others
    )


@pytest.mark.parametrize("method", [*filter(is_plain, METHODS)], ids=repr)
def test_a_method_is_read_from_its_options(method: Method) -> None:
    params = method.params()
    given = {name: list(params[name]) if isinstance(params[name], tuple) else params[name] for name in params}
    assert type(method).from_options({name: given[name] for name in method.options() if name in given}) == method


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (RankSwap, {"k": 10, "aneal": True}, "there is no option 'aneal'; did you mean 'anneal'?"),
        (RankSwap, {"x": 1}, "there is no option 'x'; there are k, p, method, guarantee, draw, anneal"),
        (RankSwap, {"seed": 1}, "there is no option 'seed'"),
        (RankSwap, {"k": "10"}, "k='10': a whole number is needed"),
        (RankSwap, {"k": 2.0}, "k=2.0: a whole number is needed"),
        (RankSwap, {"k": True}, "k=True: a whole number is needed"),
        (RankSwap, {"k": 10, "anneal": 1}, "anneal=1: true or false is needed"),
        (RankSwap, {"k": 10, "method": ["fixed"]}, "method=['fixed']: a text is needed"),
        (RankSwap, {"k": 10, "draw": "both"}, "draw='both': give 'independent', 'joint'"),
        (Noise, {"alpha": "0.3"}, "alpha='0.3': a number is needed"),
        (Noise, {"alfa": 0.3}, "there is no option 'alfa'; did you mean 'alpha'?"),
        (DataSwap, {"rate": "5 %"}, "rate='5 %': a number is needed"),
        (DataSwap, {"equal": "sex"}, "equal='sex': a list of texts is needed"),
        (DataSwap, {"equal": [1]}, "equal=[1]: a list of texts is needed"),
        (DataSwap, {"unequall": ["sex"]}, "there is no option 'unequall'; did you mean 'unequal'?"),
        (Recode, {"k": 8, "efort": "long"}, "there is no option 'efort'; did you mean 'effort'?"),
    ],
)
def test_options_that_are_none(kind: type[Method], given: dict, message: str) -> None:
    with pytest.raises(error.ParameterError) as caught:
        kind.from_options(given)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "make",
    [
        lambda value: RankSwap(k=value),
        lambda value: RankSwap(k=10, anneal=value),
        lambda value: RankSwap(k=10, draw=value),
        lambda value: RankSwap(k=10, method=value if value is not None else ""),
        lambda value: RankSwap(k=10, guarantee=value if value is not None else ""),
        lambda value: RankSwap(k=10, measure=value),
        lambda value: RankSwap(k=10, missing=value),
        lambda value: RankSwap(p=value, method="fixed"),
        lambda value: RankSwap(k=10, person=value if isinstance(value, list | set | dict) else ""),
        lambda value: RankSwap(k=10, sensitive=value if value is not None else ""),
        lambda value: RankSwap(k=10, sensitive={"hiv": value}),
        lambda value: RankSwap(k=10, accept=value if not isinstance(value, str | list) else None),
        lambda value: Noise(alpha=value),
        lambda value: Noise(alpha=0.3, correlated=value),
        lambda value: Noise(alpha=0.3, law=value),
        lambda value: Noise(method="exponential", epsilon=value),
        lambda value: DataSwap(rate=value),
        lambda value: DataSwap(mode=value),
        lambda value: DataSwap(true_swaps=value),
    ],
)
@pytest.mark.parametrize(
    "value", [None, "", "x", b"x", [], ["x"], {}, {"x"}, np.array([1, 2]), np.array(3), int, -1, float("nan"),
              float("inf"), -0.0, 1j, object()], ids=lambda value: type(value).__name__)  # fmt: skip
def test_nonsense_is_refused_by_an_error_of_ours(make, value) -> None:
    with pytest.raises(error.ParameterError) as refused:
        make(value)
    assert refused.value.parameter is not None or "measure" in str(refused.value)


def test_numbers_beyond_any() -> None:
    assert RankSwap(k=10**400).k == 10**400
    for make in (
        lambda value: RankSwap(p=value, method="fixed"),
        lambda value: Noise(alpha=value),
        lambda value: DataSwap(rate=value),
        lambda value: Recode(k=8, limit=value),
    ):
        for large in (10**400, Fraction(10**400)):
            with pytest.raises(error.ParameterError, match="give a number above 0"):
                make(large)


def test_a_published_method_with_a_guarantee_is_explained() -> None:
    with pytest.raises(error.ParameterError) as caught:
        RankSwap(k=10, method="dynamic", guarantee="strict")
    refused = caught.value
    assert (refused.parameter, refused.value) == ("method", "dynamic")
    assert str(refused) == (
        "method='dynamic': a published method guarantees nothing; leave out method='dynamic' for groups that keep 1/k, "
        "or guarantee='strict' for the method as published"
    )
    assert refused.worded(lambda name, value: f"--{name} {value}") == (
        "--method dynamic: a published method guarantees nothing; leave out --method dynamic for groups that keep 1/k, "
        "or --guarantee strict for the method as published"
    )


def test_defaults_are_safe() -> None:
    frame, taxonomies = nym.datasets.discharges(200, seed=1)
    masked = {"diagnosis": taxonomies["diagnosis"], "sex": nym.Equality()}
    res = nym.rank_swap(frame[list(masked)], masked, 5)
    assert res.method == RankSwap(k=5)
    assert (res.method.strict, res.method.draw, res.method.bound) == (True, "independent", 0.2)
    assert res.summary["bound"] <= 0.2
    assert res.secret.groups is not None
    assert res.secret.seed is None
    for other in (RankSwap(k=5, method="records"), Noise(alpha=0.3), DataSwap()):
        assert other.bound is None
    sets, _ = nym.datasets.baskets(100, seed=1, items=20)
    assert nym.recode(sets, k=4).method == Recode(k=4, structure="groups")
    assert Recode(k=4).bound == 0.25


def test_a_method_is_applied_as_its_function_is_called() -> None:
    frame, taxonomies = nym.datasets.discharges(200, seed=1)
    frame = frame[["diagnosis", "sex"]]
    masked = {"diagnosis": taxonomies["diagnosis"]}
    for made, called in (
        (RankSwap(k=5).apply(frame, masked, 3), nym.rank_swap(frame, masked, k=5, seed=3)),
        (Noise(alpha=0.3).apply(frame, masked, 3), nym.add_noise(frame, masked, alpha=0.3, seed=3)),
        (DataSwap(0.2).apply(frame, ["sex"], 3), nym.data_swap(frame, ["sex"], 0.2, seed=3)),
    ):
        assert made.data.equals(called.data)
        assert (made.method, made.params, made.summary) == (called.method, called.params, called.summary)
        assert repr(made) == repr(called) == f"<Result of {made.method!r}: 200 records>"
