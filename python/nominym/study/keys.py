"""What a cell of a study depends on, as one number: content, never names of files or places in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from nominym._core import __version__
from nominym.itemsets import Itemsets
from nominym.meaning import DistanceMatrix, Meaning, is_frame
from nominym.release import describe
from nominym.table import Column, Table

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def digest(*parts: Any) -> str:
    """Return a SHA-256 of the content of some objects.

    Tables, item sets and meanings count with all they hold, methods with their options, functions with their code,
    their defaults, what they close over and the functions and constants of their own module that they name. What
    packages do is not followed: a function with an attribute ``version`` says itself when it has become another.

    >>> digest(1) == digest(1), digest(1) == digest("1"), digest([1, 2]) == digest([2, 1])
    (True, False, False)
    """
    made = _Digest()
    for part in parts:
        made.feed(part)
    return made.sum.hexdigest()


@cache
def software() -> str:
    """Return a SHA-256 of nominym itself: its version may stay what it is while it is being changed."""
    files = sorted(path for path in Path(__file__).parents[1].rglob("*") if path.suffix in (".py", ".so", ".pyd"))
    return digest(__version__, [(path.name, path.read_bytes()) for path in files])


class _Digest:
    """A sum that grows. Every part has its kind before it, so that no two contents are written alike."""

    def __init__(self) -> None:
        self.sum = hashlib.sha256()
        self._inside: dict[int, int] = {}  # functions may name each other, objects hold each other

    def feed(self, part: Any) -> None:
        if isinstance(part, np.generic):
            part = part.item()
        if isinstance(part, _PLAIN):
            self._bytes(type(part).__name__, part if isinstance(part, bytes) else _encoded(repr(part)))
        elif id(part) in self._inside:
            self._text("again", str(self._inside[id(part)]))
        else:
            self._inside[id(part)] = len(self._inside)
            self._composed(part)
            del self._inside[id(part)]

    def _composed(self, part: Any) -> None:
        if isinstance(part, Table) or (not isinstance(part, Mapping) and is_frame(part)):
            table = part if isinstance(part, Table) else Table(part)
            self._all("table", [(str(name), table.column(name)) for name in table.names])
        elif isinstance(part, Column):
            self._all("column", [part.kind, part.order, part.codes, *part.categories])
        elif isinstance(part, Itemsets):
            self._all("sets", [part.core.starts(), part.core.items(), part.names.to_pylist()])
        elif isinstance(part, DistanceMatrix):
            self._all("matrix", [part.labels, part.matrix])
        elif isinstance(part, Meaning):
            self._all("meaning", [describe(part)])
        elif isinstance(part, np.ndarray) or hasattr(part, "__array__"):
            array = np.asarray(part)
            cells = array.tolist() if array.dtype.hasobject else np.ascontiguousarray(array).tobytes()
            self._all("array", [str(array.dtype), array.shape, cells])
        elif isinstance(part, Mapping):
            self._all("mapping", part.items())
        elif isinstance(part, AbstractSet):
            self._all("set", sorted(map(digest, part)))
        elif isinstance(part, list | tuple | range):
            self._all("list", part)
        elif isinstance(part, partial):
            self._all("partial", [part.func, part.args, part.keywords])
        elif isinstance(part, MethodType):
            self._all("bound", [part.__func__, part.__self__])
        elif isinstance(part, FunctionType):
            self._function(part)
        elif isinstance(part, CodeType):
            self._all("code", [part.co_code, part.co_names, part.co_varnames, part.co_consts])
        elif isinstance(part, ModuleType):
            self._all("module", [part.__name__, str(getattr(part, "__version__", None))])
        elif isinstance(part, type | BuiltinFunctionType):
            self._all("named", [part.__module__, part.__qualname__])
        elif is_dataclass(part):
            self._all("fields", [type(part), *((each.name, getattr(part, each.name)) for each in fields(part))])
        else:
            self._all("object", [type(part), getattr(part, "__dict__", None)])

    def _function(self, part: FunctionType) -> None:
        if hasattr(part, "version"):
            self._all("version", [part.__module__, part.__qualname__, part.version])
            return
        closed = [cell.cell_contents for cell in part.__closure__ or ()]
        self._all("function", [part.__code__, part.__defaults__, part.__kwdefaults__, closed])
        for name in part.__code__.co_names:
            named = part.__globals__.get(name)
            own = isinstance(named, FunctionType) and named.__module__ == part.__module__
            if own or isinstance(named, (*_PLAIN, tuple, list, dict, partial, ModuleType)):
                self._all("global", [name, named])

    def _all(self, kind: str, parts: Iterable[Any]) -> None:
        held = list(parts)
        self._text(kind, str(len(held)))
        for part in held:
            self.feed(part)

    def _text(self, kind: str, text: str) -> None:
        self._bytes(kind, _encoded(text))

    def _bytes(self, kind: str, content: bytes) -> None:
        self.sum.update(f"{kind}:{len(content)}:".encode())
        self.sum.update(content)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
