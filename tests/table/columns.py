"""Columns of every type there is: how each library makes one from a list of values, and values to make it from."""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc


class Kind(NamedTuple):
    """A type of column: what makes one, values, and whether some can be missing."""

    make: Callable[[list[Any]], Any]
    values: list[Any]
    gaps: bool = True


class Silent:
    """An object that can only be told from others by its identity."""

    def __repr__(self) -> str:
        return "silent"


class Colour(enum.Enum):
    RED = 1
    BLUE = "blue"


UTC, CET = dt.timezone.utc, dt.timezone(dt.timedelta(hours=1))
TEXTS = ["flu", "coma", "", "Ünïcode 𝄞", "flu ", "a\0b"]
WHOLE = [0, 1, 2, 7, 100]
FLOATS = [0.0, -0.0, 1.5, -2.25, 3e4]
TIMES = [dt.datetime(2020, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59), dt.datetime(2262, 1, 1)]
DATES = [dt.date(2020, 1, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31)]
CLOCK = [dt.time(0, 0), dt.time(23, 59, 59, 999999), dt.time(12, 30)]
LENGTHS = [dt.timedelta(0), dt.timedelta(days=-1), dt.timedelta(seconds=1, microseconds=5)]
DECIMALS = [Decimal("0.00"), Decimal("1.50"), Decimal("-7.25")]
BYTES = [b"", b"ab", b"\xff\x00"]

OBJECTS: dict[str, list[Any]] = {
    "text": TEXTS,
    "whole": WHOLE,
    "floats": FLOATS,
    "truth": [True, False],
    "numbers and texts": [5, "5", 5.0, b"5", True],
    "whole and floats": [1, 1.0, 2, 2.5],
    "texts and bytes": ["a", b"a"],
    "surrogates": ["\ud800", "x", "a\udfff"],
    "large": [2**70, -(2**70), 10**400, 1],
    "decimals": [Decimal("1.0"), Decimal("1.00"), Decimal("1E+400"), Decimal("0.1")],
    "decimals and whole": [Decimal(1), 1],
    "fractions": [Fraction(1, 3), Fraction(1, 2)],
    "complex": [1 + 2j, 0j],
    "bytes": BYTES,
    "dates": DATES,
    "dates and times": [dt.date(2020, 1, 1), dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12)],
    "times": TIMES,
    "zones": [
        dt.datetime(2020, 1, 1, 12, tzinfo=UTC),
        dt.datetime(2020, 1, 1, 13, tzinfo=CET),
        dt.datetime(2020, 1, 1),
    ],
    "nanoseconds": [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01 00:00:00.000000001")],
    "lengths": [*LENGTHS, pd.Timedelta(1)],
    "clock": CLOCK,
    "periods": [pd.Period("2020-01", "M"), pd.Period("2020-01-01", "D")],
    "intervals": [pd.Interval(0, 1), pd.Interval(0, 1, closed="left")],
    "scalars": [np.int8(1), np.int64(1), np.float32(0.5), np.str_("a"), np.bool_(True), np.datetime64("2020-01-01")],
    "lists": [[1, 2], [], ["a"]],
    "tuples": [(1, 2), (1.0, 2), ([1], 2)],
    "sets": [{1}, frozenset({1})],
    "mappings": [{"a": 1}, {}],
    "arrays": [np.zeros(2), np.arange(2000), np.arange(2000) * 2],
    "columns": [pd.Series([1]), pa.array([1])],
    "scalars of Arrow": [pa.scalar(1), pa.scalar("a")],
    "silent": [Silent(), Silent()],
    "enum": [Colour.RED, Colour.BLUE],
    "uuid": [uuid.UUID(int=1), uuid.UUID(int=2)],
    "types": [int, str],
}
GAPS = [None, float("nan"), pd.NA, pd.NaT]
"""What stands for a missing value in a column of objects."""


# ---- Arrow


def _dictionary(values: list[Any], kind: Any, ordered: bool = False) -> pa.Array:
    """Make a dictionary that repeats values, holds a null and values that no record has."""
    texts = [*[value for value in dict.fromkeys(values) if value is not None][::-1], "unused", "unused", None]
    places = [texts.index(value) if value is not None or i % 2 else None for i, value in enumerate(values)]
    repeated = pa.array([*texts, *texts], pa.string()).cast(kind)
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), repeated, ordered=ordered)


def _clean(values: list[Any], kind: Any, ordered: bool = False) -> pa.Array:
    listed = sorted({value for value in values if value is not None}, key=str, reverse=True)
    places = pa.array([None if value is None else listed.index(value) for value in values], pa.int16())
    return pa.DictionaryArray.from_arrays(places, pa.array(listed, kind), ordered=ordered)


def _union(values: list[Any], mode: str) -> pa.Array:
    ids = pa.array([0 if isinstance(value, int) else 1 for value in values], pa.int8())
    whole = pa.array([value if isinstance(value, int) else None for value in values], pa.int64())
    texts = pa.array([value if isinstance(value, str) else None for value in values], pa.string())
    if mode == "sparse":
        return pa.UnionArray.from_sparse(ids, [whole, texts])
    return pa.UnionArray.from_dense(ids, pa.array(range(len(values)), pa.int32()), [whole, texts])


def _storage(kind: Any) -> Callable[[list[Any]], pa.Array]:
    return lambda values: pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type))


def _inside(values: list[Any]) -> pa.Array:
    return _dictionary(values, pa.string())


def _lists(values: list[Any], kind: Any, offset: Any = pa.int32) -> pa.Array:
    starts = pa.array([None if value is None else i for i, value in enumerate(values)] + [len(values)], offset())
    return kind.from_arrays(starts, _inside(values))


class Own(pa.ExtensionType):
    """An extension type of Python over a dictionary."""

    def __init__(self) -> None:
        super().__init__(pa.dictionary(pa.int8(), pa.string()), "nominym.tests.own")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: Any, serialized: bytes) -> Own:
        return cls()


def _arrow(kind: Any, values: list[Any], gaps: bool = True) -> Kind:
    return Kind(lambda drawn: pa.array(drawn, kind), values, gaps)


FAR = [2**55, -(2**55), 0, 1]
"""Times that Python has no object for."""

ARROW: dict[str, Kind] = {
    **{
        kind: _arrow(kind, WHOLE) for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    },
    **{str(kind): _arrow(kind, FLOATS) for kind in (pa.float32(), pa.float64())},
    "half": Kind(lambda values: pa.array([None if v is None else np.float16(v) for v in values], pa.float16()), FLOATS),
    "nan": _arrow(pa.float64(), [float("nan"), 1.0, 2.0]),
    "bool": _arrow(pa.bool_(), [True, False]),
    "null": Kind(lambda values: pa.nulls(len(values)), [None]),
    "string": _arrow(pa.string(), TEXTS),
    "large_string": _arrow(pa.large_string(), TEXTS),
    "string_view": _arrow(pa.string_view(), TEXTS),
    "binary": _arrow(pa.binary(), BYTES),
    "binary_view": _arrow(pa.binary_view(), BYTES),
    "fixed_size_binary": _arrow(pa.binary(2), [b"ab", b"cd"]),
    "date32": _arrow(pa.date32(), DATES),
    "date64": _arrow(pa.date64(), DATES),
    "date32 far": _arrow(pa.date32(), [2**30, 0, 5]),
    "time32": _arrow(pa.time32("s"), [0, 5, 86399]),
    "time64": _arrow(pa.time64("ns"), [0, 1, 2, 86399 * 10**9]),
    "timestamp": _arrow(pa.timestamp("us"), TIMES),
    "timestamp[ns]": _arrow(pa.timestamp("ns"), [0, 1, 2]),
    "timestamp[tz]": _arrow(pa.timestamp("ms", "Europe/Berlin"), [0, 1, 10**12]),
    "timestamp far": _arrow(pa.timestamp("s"), FAR),
    "duration": _arrow(pa.duration("ns"), [0, 1, 2]),
    "duration far": _arrow(pa.duration("s"), FAR),
    "interval": _arrow(pa.month_day_nano_interval(), [pa.MonthDayNano([1, 2, 3]), pa.MonthDayNano([0, 0, 0])]),
    "decimal32": _arrow(pa.decimal32(5, 2), DECIMALS),
    "decimal128": _arrow(pa.decimal128(5, 2), DECIMALS),
    "decimal256": _arrow(pa.decimal256(60, 2), DECIMALS),
    "dictionary": Kind(lambda values: _dictionary(values, pa.string()), TEXTS),
    "dictionary ordered": Kind(lambda values: _clean(values, pa.string(), ordered=True), TEXTS),
    "dictionary of views": Kind(lambda values: _dictionary(values, pa.string_view()), TEXTS),
    "dictionary of numbers": Kind(lambda values: _clean(values, pa.int32()), WHOLE),
    "dictionary of floats": Kind(lambda values: _clean(values, pa.float64()), [1.5, float("nan"), 2.5]),
    "dictionary of half": Kind(
        lambda values: _clean([v if v is None else np.float16(v) for v in values], pa.float16()), [1.5, 2.5]
    ),
    "dictionary of times": Kind(lambda values: _clean(values, pa.timestamp("s")), FAR),
    "dictionary of lists": Kind(
        lambda values: pa.DictionaryArray.from_arrays(
            pa.array([None if v is None else v[0] for v in values], pa.int8()), pa.array([[0], [1], [], [1]])
        ),
        [[1], [0]],
    ),
    "dictionary of dictionaries": Kind(
        lambda values: pa.DictionaryArray.from_arrays(
            pa.array([None if v is None else i for i, v in enumerate(values)], pa.int8()), _inside(values)
        ),
        TEXTS,
    ),
    "list": _arrow(pa.list_(pa.int64()), [[1, 2], [], [None]]),
    "large_list": _arrow(pa.large_list(pa.int64()), [[1, 2], []]),
    "list_view": _arrow(pa.list_view(pa.int64()), [[1, 2], []]),
    "fixed_size_list": _arrow(pa.list_(pa.int64(), 2), [[1, 2], [3, None]]),
    "list of dictionaries": Kind(lambda values: _lists(values, pa.ListArray), TEXTS),
    "large_list of dictionaries": Kind(lambda values: _lists(values, pa.LargeListArray, pa.int64), TEXTS),
    "list_view of dictionaries": Kind(
        lambda values: pa.ListViewArray.from_arrays(
            pa.array(range(len(values)), pa.int32()), pa.array([1] * len(values), pa.int32()), _inside(values)
        ),
        TEXTS,
    ),
    "fixed_size_list of dictionaries": Kind(
        lambda values: pa.FixedSizeListArray.from_arrays(_inside(values), 1), TEXTS
    ),
    "map": _arrow(pa.map_(pa.string(), pa.int64()), [[("a", 1)], []]),
    "map of dictionaries": Kind(
        lambda values: pa.MapArray.from_arrays(
            pa.array(range(len(values) + 1), pa.int32()), pa.array(["key"] * len(values)), _inside(values)
        ),
        TEXTS,
    ),
    "struct": _arrow(pa.struct({"a": pa.int64(), "b": pa.string()}), [{"a": 1, "b": "x"}, {"a": None, "b": None}]),
    "struct of dictionaries": Kind(
        lambda values: pa.StructArray.from_arrays(
            [_inside(values)], ["a"], mask=pa.array([v is None for v in values], pa.bool_())
        ),
        TEXTS,
    ),
    # Before version 25, Arrow itself loses values of such a column.
    **(
        {"sparse union": Kind(lambda values: _union(values, "sparse"), [1, 2, "a", "1"])}
        if int(pa.__version__.partition(".")[0]) >= 25
        else {}
    ),
    "dense union": Kind(lambda values: _union(values, "dense"), [1, 2, "a", "1"]),
    "runs": Kind(lambda values: pc.run_end_encode(pa.array(values, pa.string())), TEXTS),
    "short runs": Kind(lambda values: pc.run_end_encode(pa.array(values, pa.int64()), run_end_type=pa.int16()), WHOLE),
    "runs of dictionaries": Kind(
        lambda values: pa.RunEndEncodedArray.from_arrays(
            pa.array(range(1, len(values) + 1), pa.int32()), _inside(values)
        ),
        TEXTS,
    ),
    "uuid": Kind(_storage(pa.uuid()), [uuid.UUID(int=1).bytes, uuid.UUID(int=2).bytes]),
    "json": Kind(_storage(pa.json_(pa.string())), ['{"a": 1}', "1"]),
    "bool8": Kind(_storage(pa.bool8()), [0, 1]),
    "opaque": Kind(_storage(pa.opaque(pa.string(), "point", "db")), TEXTS),
    "tensor": Kind(_storage(pa.fixed_shape_tensor(pa.int64(), [2])), [[1, 2], [3, 4]]),
    "own extension": Kind(lambda values: pa.ExtensionArray.from_storage(Own(), _inside(values)), TEXTS),
}


# ---- pandas


def _series(dtype: Any, values: list[Any], gaps: bool = True) -> Kind:
    return Kind(lambda drawn: pd.Series(drawn, dtype=dtype), values, gaps)


def _objects(drawn: list[Any]) -> np.ndarray[Any, Any]:
    array = np.empty(len(drawn), dtype=object)
    for i, value in enumerate(drawn):
        array[i] = value
    return array


def _category(values: list[Any], ordered: bool = False, more: Any = (), of: Any = None) -> Kind:
    """Make a categorical that lists values backwards, and some that no record has."""
    index = pd.Index([*values[::-1], *more], dtype=of, tupleize_cols=False)
    dtype = pd.CategoricalDtype(index, ordered)

    def make(drawn: list[Any]) -> pd.Series[Any]:
        codes = [
            -1 if value is None else len(values) - 1 - next(i for i, v in enumerate(values) if v is value)
            for value in drawn
        ]
        return pd.Series(pd.Categorical.from_codes(np.array(codes, dtype=np.int64), dtype=dtype))

    return Kind(make, values)


_NUMPY = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

PANDAS: dict[str, Kind] = {
    **{kind: _series(kind, WHOLE, gaps=False) for kind in _NUMPY},
    **{kind: _series(kind, FLOATS) for kind in ("float16", "float32", "float64")},
    "longdouble": _series(np.longdouble, FLOATS),
    "bool": _series("bool", [True, False], gaps=False),
    "complex64": _series("complex64", [1 + 2j, 0j]),
    "complex128": _series("complex128", [1 + 2j, 0j]),
    **{
        kind: _series(kind, WHOLE)
        for kind in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
    },
    **{kind: _series(kind, FLOATS) for kind in ("Float32", "Float64")},
    "boolean": _series("boolean", [True, False]),
    "str": _series("str", TEXTS),
    "string[python]": _series("string[python]", [*TEXTS, "\ud800"]),
    "string[pyarrow]": _series("string[pyarrow]", TEXTS),
    **{f"datetime64[{unit}]": _series(f"datetime64[{unit}]", TIMES) for unit in ("s", "ms", "us", "ns")},
    "datetime far": Kind(
        lambda values: pd.Series(np.array(values, "datetime64[s]")), ["20000-01-01", "-0044-03-15", "2020"], gaps=False
    ),
    "datetime with a zone": _series("datetime64[us, Europe/Berlin]", TIMES),
    "timedelta": _series("timedelta64[ns]", LENGTHS),
    "timedelta[s]": _series("timedelta64[s]", [dt.timedelta(1), dt.timedelta(0)]),
    "period[D]": _series("period[D]", ["2020-01-01", "2021-05-05"]),
    "period[M]": _series("period[M]", ["2020-01", "2021-05"]),
    "interval": _series("interval[int64, right]", [pd.Interval(0, 1), pd.Interval(1, 2)], gaps=False),
    "interval of floats": _series(
        "interval[float64, left]", [pd.Interval(0.0, 1.0, "left"), pd.Interval(1.0, 2.0, "left")]
    ),
    "sparse": _series(pd.SparseDtype("int64", 0), [0, 1, 2], gaps=False),
    "sparse floats": _series(pd.SparseDtype("float64"), [0.0, 1.5]),
    "sparse truth": _series(pd.SparseDtype("bool", False), [True, False], gaps=False),
    "category": _category(TEXTS, more=["unused"]),
    "category ordered": _category(TEXTS, ordered=True, more=["unused"]),
    "category of surrogates": _category(["\ud800", "x"], more=["unused"], of=object),
    "category of numbers": _category(WHOLE, more=[9]),
    "category of floats": _category([0.5, 1.5], more=[9.5]),
    "category of truth": _category([True, False]),
    "category of times": _category(TIMES),
    "category of periods": _category(list(pd.period_range("2020", periods=3))),
    "category of intervals": _category(list(pd.interval_range(0, 3)), ordered=True),
    "category of mixtures": _category([5, "5", b"5"], more=[None.__class__]),
    "category of tuples": _category([("a", 1), ("b", 2)]),
    **{
        f"object: {name}": Kind(lambda drawn: pd.Series(_objects(drawn), dtype=object), values)
        for name, values in OBJECTS.items()
    },
    **{
        f"arrow: {name}": Kind(
            lambda drawn, kind=kind: pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([kind.make(drawn)]))),
            kind.values,
            kind.gaps,
        )
        for name, kind in ARROW.items()
    },
}


# ---- polars


def _polars(dtype: Any, values: list[Any]) -> Kind:
    return Kind(lambda drawn: pl.Series(drawn, dtype=dtype), values)


_ENUM = pl.Enum(["unused", *TEXTS[::-1]])

POLARS: dict[str, Kind] = {
    **{
        str(dtype): _polars(dtype, WHOLE)
        for dtype in (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
    },
    "Int128": _polars(pl.Int128, [2**100, -1, 0]),
    "UInt128": _polars(pl.UInt128, [2**127, 1, 0]),
    **{str(dtype): _polars(dtype, [*FLOATS, float("nan")]) for dtype in (pl.Float16, pl.Float32, pl.Float64)},
    "Boolean": _polars(pl.Boolean, [True, False]),
    "String": _polars(pl.String, TEXTS),
    "Categorical": _polars(pl.Categorical, TEXTS),
    "Enum": _polars(_ENUM, TEXTS),
    "Binary": _polars(pl.Binary, BYTES),
    "Null": _polars(pl.Null, [None]),
    "Date": _polars(pl.Date, DATES),
    "Time": Kind(lambda drawn: pl.Series(drawn, dtype=pl.Int64).cast(pl.Time), [0, 1, 2, 10**9]),
    "Datetime": _polars(pl.Datetime("us"), TIMES),
    "Datetime[ns]": _polars(pl.Datetime("ns", "Europe/Berlin"), [0, 1, 2]),
    "Datetime far": Kind(lambda drawn: pl.Series(drawn, dtype=pl.Int64).cast(pl.Datetime("ms")), [2**58, 0, 1]),
    "Duration": _polars(pl.Duration("us"), LENGTHS),
    "Duration[ns]": Kind(lambda drawn: pl.Series(drawn, dtype=pl.Int64).cast(pl.Duration("ns")), [0, 1, 2]),
    "Decimal": _polars(pl.Decimal(10, 2), DECIMALS),
    "List": _polars(pl.List(pl.Int8), [[1, 2], [], [None]]),
    "List of Int128": _polars(pl.List(pl.Int128), [[2**100], []]),
    "List of Enum": _polars(pl.List(_ENUM), [["flu", "coma"], []]),
    "List of Categorical": _polars(pl.List(pl.Categorical), [["flu", "coma"], []]),
    "Array": _polars(pl.Array(pl.Int8, 2), [[1, 2], [3, 4]]),
    "Array of Enum": _polars(pl.Array(_ENUM, 2), [["flu", "coma"], ["flu", None]]),
    "Struct": _polars(pl.Struct({"a": pl.Int8, "b": pl.String}), [{"a": 1, "b": "x"}, {"a": 2, "b": None}]),
    "Struct of Enum": _polars(
        pl.Struct({"a": _ENUM, "b": pl.Int128}), [{"a": "flu", "b": 1}, {"a": "coma", "b": 2**100}]
    ),
    **{
        f"Object: {name}": Kind(lambda drawn: pl.Series(drawn, dtype=pl.Object), OBJECTS[name])
        for name in ("text", "numbers and texts", "large", "surrogates", "lists", "silent", "decimals", "scalars")
    },
}


# ---- mappings of columns


def _numpy(dtype: Any, values: list[Any], gaps: bool = True) -> Kind:
    return Kind(lambda drawn: np.array(drawn, dtype=dtype), values, gaps)


def _wrapped(kind: Kind, wrap: Callable[[Any], Any]) -> Kind:
    return Kind(lambda drawn: wrap(kind.make(drawn)), kind.values, kind.gaps)


MAPPING: dict[str, Kind] = {
    **{f"list: {name}": Kind(list, values) for name, values in OBJECTS.items()},
    "tuple": Kind(tuple, TEXTS),
    "range": Kind(lambda drawn: range(len(drawn)), [0], gaps=False),
    "numpy U": _numpy("U", ["a", "", "longer"], gaps=False),
    "numpy U with surrogates": _numpy("U", ["\ud800", "x"], gaps=False),
    "numpy >U": _numpy(">U6", ["a", "", "longer"], gaps=False),
    "numpy S": _numpy("S", [b"a", b"", b"longer"], gaps=False),
    "numpy >i4": _numpy(">i4", WHOLE, gaps=False),
    # New in numpy 2.
    **(
        {"numpy text": _numpy(np.dtypes.StringDType(na_object=None), ["a", "", "longer"])}
        if hasattr(np.dtypes, "StringDType")
        else {}
    ),
    "numpy void": _numpy("V2", [b"ab", b"cd"], gaps=False),
    "numpy records": _numpy([("a", "i4"), ("b", "U2")], [(1, "x"), (2, "y")], gaps=False),
    "numpy longdouble": _numpy(np.longdouble, FLOATS, gaps=False),
    "numpy object": Kind(_objects, OBJECTS["numbers and texts"]),
    **{
        f"numpy M8[{unit}]": _numpy(f"M8[{unit}]", [*values, "NaT"], gaps=False)
        for unit, values in {
            "Y": ["2020", "1066"],
            "M": ["2020-01"],
            "D": ["2020-01-01", "0001-01-01"],
            "h": ["2020-01-01T05"],
            "s": ["20000-01-01"],
            "ns": ["2020-01-01"],
            "ps": ["1970-01-02"],
        }.items()
    },
    "numpy m8[ps]": _numpy("m8[ps]", [0, 1, 2], gaps=False),
    "numpy m8[s]": _numpy("m8[s]", [0, 2**55], gaps=False),
    "numpy masked": Kind(
        lambda drawn: np.ma.array([0 if v is None else v for v in drawn], dtype="i8", mask=[v is None for v in drawn]),
        WHOLE,
    ),
    "pandas Series": PANDAS["category"],
    "pandas Categorical": _wrapped(PANDAS["category"], lambda series: series.array),
    "pandas CategoricalIndex": _wrapped(PANDAS["category"], pd.Index),
    "pandas Index": _wrapped(PANDAS["str"], pd.Index),
    "pandas MultiIndex": Kind(lambda drawn: pd.MultiIndex.from_arrays([drawn, drawn]), WHOLE, gaps=False),
    "pandas array": _wrapped(PANDAS["Int64"], lambda series: series.array),
    "pandas objects": _wrapped(PANDAS["object: numbers and texts"], lambda series: series.array),
    "pandas Arrow": _wrapped(PANDAS["arrow: string_view"], lambda series: series.array),
    "pandas Arrow ordered": _wrapped(PANDAS["arrow: dictionary ordered"], lambda series: series.array),
    "pandas Arrow dictionary": _wrapped(PANDAS["arrow: dictionary"], lambda series: series.array),
    "pandas period": _wrapped(PANDAS["period[D]"], lambda series: series.array),
    "polars Series": POLARS["Enum"],
    "polars Object": POLARS["Object: numbers and texts"],
    "Arrow array": ARROW["dictionary"],
    "Arrow runs": ARROW["runs"],
    "Arrow chunks": _wrapped(ARROW["string_view"], lambda array: pa.chunked_array([array])),
}

EVERY: dict[str, dict[str, Kind]] = {"pandas": PANDAS, "polars": POLARS, "arrow": ARROW, "mapping": MAPPING}
