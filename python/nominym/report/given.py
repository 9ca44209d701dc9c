"""What a report is about: two tables, how the second was made, and what was promised."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from nominym.control import Progress
from nominym.error import DataError, ParameterError
from nominym.frame import Table
from nominym.report import tables
from nominym.report.again import measure_of
from nominym.result import Result
from nominym.rng import is_whole

Kind = Literal["strict", "published", "noise", "exponential", "swap", "unknown"]


class Given:
    """The arguments of a report, checked."""

    def __init__(
        self, before: Any, after: Any, taxonomies: Mapping[Any, Any], k: int | None, truth: Any, progress: Progress
    ) -> None:
        """Read them; nothing is measured yet."""
        if not isinstance(taxonomies, Mapping):
            raise ParameterError(
                f"taxonomies: a mapping from column names to taxonomies is needed, not {type(taxonomies).__name__}"
            )
        if k is not None and (not is_whole(k) or k < 1):
            raise ParameterError(f"k={k!r}: give a whole number, 1 or more")
        self.before, self.truth, self.progress = before, truth, progress
        self.result = after if isinstance(after, Result) else None
        self.after = after.data if isinstance(after, Result) else after
        self.params: dict[str, Any] = self.result.params if self.result else {}
        self.summary: dict[str, Any] = self.result.summary if self.result else {}
        self.k: int | None = self.params.get("k") if k is None else int(k)
        self.semantics = dict(taxonomies)
        otherwise = None if self.params.get("method") == "numerical" else tables.EQUAL
        self.masked = {name: taxonomies.get(name, otherwise) for name in self.params.get("columns", taxonomies)}
        if not self.masked:
            raise ParameterError("taxonomies: name one masked column at least")
        self.table = Table(before)
        self.columns = tables.attributes(
            before, self.after, self.masked, measure=self.measure, roots=self.roots, truth=truth, progress=progress
        )
        self.records = len(self.columns[0].before)

    @property
    def measure(self) -> Any:
        """The distance that masking used."""
        return measure_of(self.params)

    @property
    def roots(self) -> Mapping[Any, object]:
        """Roots for depths, where masking kept them."""
        return self.params.get("roots") or self.params.get("domain") or {}

    @property
    def kind(self) -> Kind:
        """Which method was used, as far as promises go."""
        if "guarantee" in self.params:
            return "strict" if self.params["guarantee"] == "strict" else "published"
        if "rate" in self.params:
            return "swap"
        if "domain" in self.params:
            return "exponential" if self.params.get("method") == "exponential" else "noise"
        return "unknown"

    @cached_property
    def untouched(self) -> list[Any]:
        """Columns of the release that were not masked."""
        return [name for name in Table(self.after).names if name not in self.masked and name in self.table.names]

    @cached_property
    def nominal(self) -> list[Any]:
        """Columns with categories, masked or not."""
        found = []
        for name in (*self.masked, *self.untouched):
            try:
                Table(self.before).code(name)
                Table(self.after).code(name)
            except DataError:
                continue  # floats and lists
            found.append(name)
        return found

    def correlated(self) -> list[tables.Attribute]:
        """Pair all columns that have a meaning: correlations with untouched ones may suffer, too."""
        further = {
            name: meaning
            for name, meaning in self.semantics.items()
            if name in self.untouched and not tables.is_equal(meaning)
        }
        found = tables.attributes(
            self.before, self.after, further, measure=self.measure, truth=self.truth, progress=self.progress
        )
        return [column for column in (*self.columns, *found) if column.space is not None]
