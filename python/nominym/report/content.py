"""What a page consists of. Everything here is plain text and tables; the template escapes it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nominym.report.words import number, percent

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

Edition = Literal["publication", "owner"]
State = Literal["holds", "broken", "open"]

_SHARES = ("share", "risk", "low", "high", "bound", "unchanged")


class Verdict(NamedTuple):
    """What is guaranteed: the first thing that a reader sees, and, where there is a guarantee, its terms."""

    state: State
    headline: str
    paragraphs: Sequence[str]
    terms: Sequence[tuple[str, str]] = ()


class Tile(NamedTuple):
    """A figure in large type."""

    value: str
    label: str
    note: str = ""


class Remark(NamedTuple):
    """What has to be said right beside the figures in large type."""

    title: str
    text: str


class Cell(NamedTuple):
    """A cell of a table: what is shown, and the number by which it is sorted."""

    text: str
    value: float | None = None
    state: str = ""


def share(value: float, digits: int = 3) -> Cell:
    """Write a share into a cell."""
    return Cell(percent(value, digits), float(value))


class Grid(NamedTuple):
    """A table. One that can be searched shows its first rows until more are asked for."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    searched: bool = False

    @classmethod
    def of(cls, caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, searched: bool = False) -> Grid:
        """Make a table of cells, numbers and texts."""
        return cls(caption, columns, [[_cell(value) for value in row] for row in rows], searched)

    @classmethod
    def of_frame(cls, caption: str, table: pd.DataFrame, shares: Container[str] = _SHARES) -> Grid:
        """Write a table of figures; some columns are shares."""
        rows = [
            [share(value) if name in shares else value for name, value in row.items()]
            for row in table.to_dict("records")
        ]
        return cls.of(caption, [str(name).replace("_", " ") for name in table.columns], rows)


def _cell(value: Any) -> Cell:
    if isinstance(value, Cell):
        return value
    return Cell(number(value), float(value)) if isinstance(value, Real) else Cell(str(value))


class Picture(NamedTuple):
    """A figure, with the table of what it shows."""

    figure: go.Figure
    grid: Grid
    wide: bool = False


class Section(NamedTuple):
    """A chapter of the page: terms and what they mean here, what a reader should not miss, figures and tables."""

    title: str
    lead: str = ""
    blocks: Sequence[Grid | Picture] = ()
    terms: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()


class Page(NamedTuple):
    """All of it."""

    edition: Edition
    seeded: bool
    title: str
    subtitle: str
    verdict: Verdict
    tiles: Sequence[Tile]
    remark: Remark | None
    sections: Sequence[Section]
    sources: Sequence[str]
    kind: str = "Anonymization report"
    notice: str = ""
    """For whom the page is, where that is not said by the edition."""
