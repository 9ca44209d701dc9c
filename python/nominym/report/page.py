"""Writing a page: one file with everything in it, and a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from html import escape, unescape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from nominym import _core, chart
from nominym.atomic import check_new, write_atomic
from nominym.control import Progress, check_progress
from nominym.error import Advice, DataError, ParameterError
from nominym.files import StrPath
from nominym.itemsets import Itemsets, Release
from nominym.method import Result
from nominym.report import itemsets, owner, publication
from nominym.report.content import Edition, Page, Picture
from nominym.report.methods import compare_methods
from nominym.report.subject import ItemsetRelease, MaskedTable, are_sets
from nominym.report.sweep import sweep as mask_again

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from nominym.release import FilePair, SetsPair


def write(
    path: StrPath,
    subject: Result | FilePair | Release | SetsPair,
    *,
    edition: Edition = "publication",
    sets: Itemsets | None = None,
    k: int | None = None,
    sweep: Mapping[str, Iterable[float]] | None = None,
    methods: bool = False,
    labels: Any = None,
    title: str | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> Path:
    """Write a report of a release: what was done, what is guaranteed and what is not, and what it costs.

    >>> import nominym as nym, pathlib, tempfile
    >>> frame, taxonomies = nym.datasets.discharges(500, seed=1)
    >>> res = nym.rank_swap(frame, taxonomies, k=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nym.report.write(pathlib.Path(folder, "report.html"), res).name
    'report.html'

    Parameters
    ----------
    path
        The HTML file to write. It needs nothing else: no network, no other file.
    subject
        What a method returned, the files of a release beside their original, or a release of item sets.
    edition
        "publication": only figures that do not depend on the draw, rounded; it can go with the release. "owner": the
        attacks, what this draw did to the data, and other choices; it stays with the owner.
    sets
        The original item sets, for the owner's edition of a release that was read from a file.
    k
        For the owner's edition, a bound to compare the attacks with, 1/k; by default that of the method.
    sweep
        For the owner's edition, an option of the method and further values of it, such as ``{"k": [2, 5, 10]}``: the
        data are masked again with each, for the risk–utility map.
    methods
        For the owner's edition of a table that was masked with a k: mask it again by other methods, and compare.
    labels
        The sensitive label of each item set, for a sweep of l.
    title
        Heading of the page.
    overwrite
        Replace a file that is there.
    progress
        ``True`` for a bar, or a callable of (done, total).
    """
    # Missing extras and a file that is there are refused before any work is done.
    target = check_page(path, overwrite)
    check_progress(progress)
    if edition not in get_args(Edition):
        raise ParameterError("give 'publication' or 'owner'", parameter="edition", value=edition)
    public = edition == "publication"
    made = _made(subject, edition, title, progress, sets, k, sweep, methods, labels)
    _write(target, made, public)
    return target


def check_page(path: StrPath, overwrite: bool) -> Path:
    """Refuse a page that cannot be written: an extra is missing, or the folder, or the file is there."""
    chart.extra("plotly.graph_objects", "a report")
    chart.extra("jinja2", "a report")
    target = Path(path)
    check_new(target, overwrite)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no folder {target.parent} to write {target.name} into")
    return target


def write_page(path: StrPath, page: Page, *, overwrite: bool = False) -> Path:
    """Write a page that is put together already."""
    target = check_page(path, overwrite)
    with _in_utf8():
        _write(target, _render(page).encode(), page.edition == "publication")
    return target


def _write(target: Path, made: bytes, public: bool) -> None:
    # Only the owner may read the owner's edition.
    with write_atomic(target, 0o666 if public else 0o600) as file:
        file.write(made)


class Inline:
    """The edition of a report for publication, as a page that a notebook shows."""

    def __init__(self, text: str) -> None:
        """Hold the page."""
        self.text = text
        """The page as HTML."""

    def __repr__(self) -> str:
        """Say how to see it."""
        return "<Report for publication: a notebook shows it; give a path to write it to a file>"

    def _repr_html_(self) -> str:
        # In a frame of its own, which can reach nothing of the notebook.
        return (
            f'<iframe srcdoc="{escape(self.text)}" sandbox="allow-scripts" title="Report" '
            'style="width: 100%; height: 800px; border: 1px solid #ccc"></iframe>'
        )


def inline(
    subject: Result | FilePair | Release | SetsPair,
    *,
    edition: Edition = "publication",
    title: str | None = None,
    progress: Progress = None,
) -> Inline:
    """Return the edition for publication as a page that a notebook shows.

    A notebook keeps what it shows, and may be passed on; so the owner's edition goes to a file only, by ``write``.
    """
    chart.extra("plotly.graph_objects", "a report")
    chart.extra("jinja2", "a report")
    check_progress(progress)
    if edition != "publication":
        remedy = "give a path: a notebook keeps what it shows"
        raise ParameterError("only a file is the owner's alone", parameter="edition", value=edition, remedy=remedy)
    return Inline(_made(subject, edition, title, progress).decode())


def _made(
    subject: Result | FilePair | Release | SetsPair,
    edition: Edition,
    title: str | None,
    progress: Progress,
    sets: Itemsets | None = None,
    k: int | None = None,
    sweep: Mapping[str, Iterable[float]] | None = None,
    methods: bool = False,
    labels: Any = None,
) -> bytes:
    """Make the page of an edition."""
    public = edition == "publication"
    for name, given in (("sweep", sweep), ("k", k), ("methods", methods or None)):
        if public and given is not None:
            remedy = Advice("give {}", edition="owner")
            raise ParameterError("what was measured is for the owner", parameter=name, value=given, remedy=remedy)
    swept = None if sweep is None else mask_again(subject, sweep, sets=sets, labels=labels, progress=progress)
    if methods and are_sets(subject):
        raise ParameterError("methods are compared for tables, not for item sets", parameter="methods", value=True)
    others = compare_methods(subject, progress=progress) if methods else None  # type: ignore[arg-type]  # no sets
    with _in_utf8():
        if are_sets(subject):
            rel = ItemsetRelease.of(subject, sets)
            page = itemsets.public_page(rel, title) if public else itemsets.owners_page(rel, title, k, swept, progress)
        else:
            table = MaskedTable.of(subject)
            page = publication.page(table, title) if public else owner.page(table, title, k, swept, others, progress)
        return _render(page).encode()


@contextmanager
def _in_utf8() -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError as error:
        raise DataError(f"{error.object!r:.99}: a title, name or value that cannot be written as UTF-8") from None


def _render(page: Page) -> str:
    jinja2 = chart.extra("jinja2", "a report")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    mark = jinja2.filters.Markup
    pictures = [block for section in page.sections for block in section.blocks if isinstance(block, Picture)]
    scripts = [_part("page.js")]
    if pictures:
        from plotly.offline import get_plotlyjs

        scripts.insert(0, get_plotlyjs())
    # Reproducible builds set the date by this variable (reproducible-builds.org/specs/source-date-epoch).
    today = time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    return str(
        environment.from_string(_part("page.html")).render(
            page=page,
            policy=_policy(scripts),
            style=mark(_part("page.css")),
            scripts=[mark(script) for script in scripts],
            unescape=unescape,
            data=mark(_embedded([_figure(picture.figure) for picture in pictures])),
            made=time.strftime("%Y-%m-%d", today),
            version=_core.__version__,
        )
    )


def _part(name: str) -> str:
    return resources.files("nominym.report").joinpath(name).read_text(encoding="utf-8")


def _figure(figure: go.Figure) -> dict[str, Any]:
    """Return data and layout; the page has titles of its own."""
    plain: dict[str, Any] = json.loads(figure.to_json())
    layout = plain["layout"]
    layout.pop("title", None)
    layout.pop("template", None)
    # Room for the titles of panels and legends, none for the one above them.
    above = bool(layout.get("annotations")) or any(trace.get("name") for trace in plain["data"])
    layout["margin"] = {**layout.get("margin", {}), "t": 40 if above else 12}
    return {"data": plain["data"], "layout": layout}


def _embedded(value: Any) -> str:
    """Write JSON that cannot end the element it stands in."""
    return json.dumps(value, ensure_ascii=False).translate(
        {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}
    )


def _policy(scripts: list[str]) -> str:
    """Allow these very scripts and nothing from elsewhere: even a text that was not escaped would do nothing."""
    allowed = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'"
