"""The cells of a study: data sets, methods with their options, seeds."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from itertools import product
from typing import Any

from nominym.control import check_seed, is_whole
from nominym.error import ParameterError
from nominym.itemsets import Itemsets, Recode
from nominym.meaning import Meaning, check_meanings, is_frame
from nominym.method import Method
from nominym.study.keys import digest, software
from nominym.study.measures import Kind
from nominym.table import Table, attributes


def grid(method: Callable[..., Any], /, **options: Any) -> list[Any]:
    """Return a method with every combination of some options; a list gives the values of one.

    >>> import nominym as nym
    >>> nym.study.grid(nym.RankSwap, k=[5, 10], method="records")
    [RankSwap(k=5, method='records'), RankSwap(k=10, method='records')]

    Of a function that is a method of your own, ``functools.partial`` objects are returned.
    """
    values = [value if isinstance(value, list | tuple | range) else [value] for value in options.values()]
    made = method if isinstance(method, type) else partial(partial, method)
    return [made(**dict(zip(options, chosen, strict=True))) for chosen in product(*values)]


@dataclass(frozen=True, eq=False)
class Treatment:
    """A method as a study shows it: a name, and the numbers among its options as columns."""

    name: str
    options: dict[str, float]
    method: Any

    def apply(self, data: Any, table: Table | None, meanings: Any, seed: int, progress: Any) -> Any:
        """Mask; a method of the library gets the table that is coded already."""
        if isinstance(self.method, Method):
            return self.method.apply(data if table is None else table, meanings, seed=seed, progress=progress)  # type: ignore[attr-defined]
        return self.method(data, meanings, seed)


def treatments(given: Any) -> list[Treatment]:
    """Name the methods: one, several, or a mapping from names to one or several."""
    if isinstance(given, Mapping):
        pairs: list[tuple[str, Any]] = [
            (str(name), each) for name, methods in given.items() for each in _several(methods)
        ]
    else:
        pairs = [("", each) for each in _several(given)]
    found = [_treatment(name, method) for name, method in pairs]
    if not found:
        raise ParameterError("give one method at least", parameter="methods", value=given)
    seen: set[tuple[Any, ...]] = set()
    for each in found:
        said = (each.name, *each.options.items())
        if said in seen:
            numbers = "".join(f", {name}={value}" for name, value in each.options.items())
            raise ParameterError(f"{each.name}{numbers} stands twice; give methods names of their own, "
                                 "{'name': method}", parameter="methods")  # fmt: skip
        seen.add(said)
    return found


def _several(given: Any) -> list[Any]:
    if isinstance(given, Method) or callable(given):
        return [given]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError("give methods such as nym.RankSwap(k=10), or functions of data, meanings and a seed",
                             parameter="methods", value=given)  # fmt: skip
    return list(given)


def _treatment(name: str, method: Any) -> Treatment:
    if isinstance(method, Method):
        numbers = {
            option: getattr(method, option)
            for option, declared in method.options().items()
            if declared.kind in (int, float) and getattr(method, option) is not None
        }
        return Treatment(name or _without(method, numbers), numbers, method)
    if not callable(method) or isinstance(method, type):
        raise ParameterError("a method such as nym.RankSwap(k=10), or a function of data, meanings and a seed, is "
                             f"needed, not {method!r}", parameter="methods")  # fmt: skip
    given = method.keywords if isinstance(method, partial) else {}
    called = method.func if isinstance(method, partial) else method
    title = name or getattr(called, "__name__", "")
    if title in ("", "<lambda>"):
        raise ParameterError("a function without a name: give a mapping, {'name': function}", parameter="methods")
    try:
        inspect.signature(method).bind(None, None, 0)
    except TypeError as error:
        raise ParameterError(f"{title} is to take data, meanings and a seed ({error})", parameter="methods") from None
    numbers = {k: v for k, v in given.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    others = ", ".join(f"{k}={v!r}" for k, v in given.items() if k not in numbers)
    return Treatment(title if name or not others else f"{title}({others})", numbers, method)


def _without(method: Method, numbers: Iterable[str]) -> str:
    """Write a method without its numbers, which have columns of their own."""
    said = []
    for each in fields(method):
        value = getattr(method, each.name)
        implied = each.name in method.implied or each.name in numbers
        if not implied and value != each.default:
            said.append(f"{each.name}={value!r}")
    return f"{type(method).__name__}({', '.join(said)})" if said else type(method).__name__


class Source:
    """A data set, or one draw of it: made and coded once, when its first cell runs, and let go after the last."""

    def __init__(self, name: str, given: Any, meanings: Any, seed: int | None = None) -> None:
        """Store the data set; with a seed, a function that draws it."""
        self.name, self.seed = name, seed
        self.given, self._meanings = given, meanings
        self._lock = threading.Lock()
        self._ready: Ready | None = None
        self.left = 0
        """Cells to run."""

    def ready(self) -> Ready:
        """Return the data set, coded; who comes first codes it."""
        with self._lock:
            if self._ready is None:
                drawn = self.given if self.seed is None else self.given(self.seed)
                self._ready = Ready.of(self.name, drawn, self._meanings)
            return self._ready

    def done(self) -> None:
        """Let go of the data after the last cell."""
        with self._lock:
            self.left -= 1
            if not self.left:
                self._ready = None


@dataclass(frozen=True, eq=False)
class Ready:
    """Data that are coded, and what goes with them."""

    data: Any
    meanings: Any
    table: Table | None
    key: str
    """A hash of all of it."""

    @classmethod
    def of(cls, name: str, given: Any, meanings: Any) -> Ready:
        """Code a data set."""
        data, own = parted(name, given)
        said = own if own is not None else meanings
        if isinstance(data, Itemsets):
            return cls(data, said, None, digest(data, said))
        known = check_meanings(said)
        table = Table(data)
        attributes(table, known)  # columns get the numbers that their meanings ask for
        return cls(data, known, table, digest(table, known))

    @property
    def kind(self) -> Kind:
        """Return its kind."""
        return "sets" if self.table is None else "table"


def parted(name: str, given: Any) -> tuple[Any, Any]:
    """Separate a data set from what belongs to it, where both are given together."""
    pair = isinstance(given, tuple) and len(given) == 2
    data, own = given if pair else (given, None)
    if not isinstance(data, Itemsets) and not is_frame(data):
        raise ParameterError(
            f"{name!r}: a table, item sets, a pair of these and their meanings or labels, or a function of a seed that "
            f"returns such is needed, not {type(data).__name__}",
            parameter="data",
        )
    return data, own


def sources(data: Any, meanings: Any, seeds: list[int]) -> list[Source]:
    """List the data sets; those that are drawn by a function, once for each seed. Faults are errors before any work."""
    if not isinstance(data, Mapping) or not data:
        raise ParameterError("give data sets by name, {'name': frame}", parameter="data", value=type(data).__name__)
    by_name = isinstance(meanings, Mapping) and not any(isinstance(each, Meaning) for each in meanings.values())
    if by_name:
        unknown = next((name for name in meanings if name not in data), None)
        if unknown is not None:
            raise ParameterError(f"there is no data set {unknown!r}; there are {', '.join(map(repr, data))}",
                                 parameter="meanings")  # fmt: skip
    found = []
    for name, given in data.items():
        said = meanings.get(name) if by_name else meanings
        if callable(given) and not is_frame(given):
            found += [Source(str(name), given, said, seed) for seed in seeds]
            continue
        held, own = parted(str(name), given)
        if not isinstance(held, Itemsets):
            known, names = check_meanings(own if own is not None else said), Table(held).names
            missing = next((column for column in known if column not in names), None)
            if missing is not None:
                raise ParameterError(f"{name!r} has no column {missing!r}; there are {', '.join(map(repr, names))}",
                                     parameter="meanings")  # fmt: skip
        elif isinstance(said, Mapping):
            said = None  # meanings of the columns of other data sets
        found.append(Source(str(name), given, said))
    return found


def checked_seeds(seeds: Any) -> list[int]:
    """Return the seeds; a single number n means 0 to n − 1."""
    listed = list(range(seeds)) if is_whole(seeds) else list(seeds) if isinstance(seeds, Iterable) else []
    if not listed or isinstance(seeds, str):
        raise ParameterError("give seeds, such as range(5)", parameter="seeds", value=seeds)
    for seed in listed:
        if seed is None:
            raise ParameterError("give whole numbers: what is to be had again needs a seed", parameter="seeds")
        check_seed(seed)
    if len(set(listed)) < len(listed):
        raise ParameterError("a seed stands twice; the same draw counts once", parameter="seeds", value=seeds)
    return [int(seed) for seed in listed]


@dataclass(frozen=True, eq=False)
class Cell:
    """One method on one data set with one seed."""

    source: Source
    treatment: Treatment
    seed: int

    @property
    def fits(self) -> bool:
        """Return whether the method is for such data: recoding is for item sets, all other methods are for tables."""
        method = self.treatment.method
        return not isinstance(method, Method) or isinstance(method, Recode) == (self.source.ready().kind == "sets")

    @property
    def key(self) -> str:
        """Return a hash of all that its figures depend on, except how they are measured."""
        return digest(self.source.ready().key, self.treatment.method, self.seed, software())


def cells(sources: list[Source], methods: list[Treatment], seeds: list[int]) -> Iterator[Cell]:
    """List the cells, those of one data set after another, so that few are in memory at a time."""
    for source in sources:
        of = seeds if source.seed is None else [source.seed]
        source.left = len(methods) * len(of)
        for method, seed in product(methods, of):
            yield Cell(source, method, seed)
