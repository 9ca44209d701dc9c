"""What a page consists of. Everything here is plain text and tables; the template escapes it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Any, Literal

from nominym.report.words import number, percent

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

Edition = Literal["publication", "owner"]
State = Literal["holds", "broken", "open"]

_EDITIONS = {
    "publication": "Edition for publication: figures that do not depend on what was drawn, rounded.",
    "owner": "Owner's edition, not for publication: it has figures of this very draw, which would help to undo it.",
}


@dataclass(frozen=True)
class Verdict:
    """The first thing that a reader sees."""

    state: State
    headline: str
    paragraphs: Sequence[str]


@dataclass(frozen=True)
class Tile:
    """A figure in large type."""

    value: str
    label: str
    note: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what is shown, and the number by which it is sorted."""

    text: str
    value: float | None = None
    state: str = ""


@dataclass(frozen=True)
class Grid:
    """A table. One that can be searched shows its first rows until more are asked for."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    searched: bool = False
    kind: str = "grid"


@dataclass(frozen=True)
class Picture:
    """A figure, with the table of what it shows."""

    figure: go.Figure
    grid: Grid
    wide: bool = False
    kind: str = "picture"

    @property
    def title(self) -> str:
        """What the figure shows."""
        # Plotly reads markup, so names are escaped in figures; the template does that for the page.
        return unescape(self.figure.layout.title.text)

    @property
    def subtitle(self) -> str:
        """More about it."""
        return unescape(self.figure.layout.title.subtitle.text or "")

    @property
    def alt(self) -> str:
        """The figure in words."""
        return unescape(self.figure.layout.meta["alt"])


@dataclass(frozen=True)
class Terms:
    """Terms and what they mean here."""

    rows: Sequence[tuple[str, str]]
    kind: str = "terms"


@dataclass(frozen=True)
class Notes:
    """What a reader should not miss."""

    items: Sequence[str]
    kind: str = "notes"


Block = Grid | Picture | Terms | Notes


@dataclass(frozen=True)
class Section:
    """A chapter of the page."""

    title: str
    lead: str = ""
    blocks: Sequence[Block] = ()

    @property
    def anchor(self) -> str:
        """Its address on the page."""
        return "-".join(self.title.lower().split())


@dataclass(frozen=True)
class Page:
    """All of it."""

    edition: Edition
    seeded: bool
    title: str
    subtitle: str
    verdict: Verdict
    tiles: Sequence[Tile]
    sections: Sequence[Section]
    sources: Sequence[str] = ()

    @property
    def head(self) -> list[str]:
        """What stands above everything else: which edition this is, and a seed."""
        seed = "Made with a seed: for studies, guarantees nothing. Whoever has or guesses the seed can repeat the draw."
        return [_EDITIONS[self.edition], *([seed] if self.seeded else [])]


def cells(values: Sequence[tuple[str, float | None] | str]) -> list[Cell]:
    """Make a row of cells: texts, and numbers as they are written and as they are."""
    return [Cell(value) if isinstance(value, str) else Cell(value[0], value[1]) for value in values]


def count(value: Any) -> tuple[str, float]:
    """Write a number for a cell."""
    return number(value), float(value)


def share(value: float, digits: int = 3) -> tuple[str, float]:
    """Write a share for a cell."""
    return percent(value, digits), float(value)


_SHARES = ("share", "risk", "low", "high", "bound", "unchanged")


def grid_of(caption: str, table: pd.DataFrame, shares: Container[str] = _SHARES) -> Grid:
    """Turn a table of figures into one of texts; some columns are shares."""
    rows = [
        [
            Cell(percent(value) if name in shares else number(value), float(value))
            if isinstance(value, int | float)
            else Cell(str(value))
            for name, value in row.items()
        ]
        for row in table.to_dict("records")
    ]
    return Grid(caption, [str(name).replace("_", " ") for name in table.columns], rows)
