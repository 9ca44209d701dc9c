"""Writing a page: one file with everything in it, and a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nominym import _core, chart
from nominym.atomic import StrPath, write_atomic
from nominym.error import MissingExtraError, ParameterError
from nominym.report.content import Page, Picture

if TYPE_CHECKING:
    import plotly.graph_objects as go


def check_path(path: StrPath, overwrite: bool) -> Path:
    """Refuse a file that is there, and missing extras, before any work is done."""
    chart.objects("a report")
    _jinja()
    target = Path(path)
    if not overwrite and target.exists():
        raise ParameterError(f"{os.fspath(path)} is there already; give overwrite=True to replace it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no folder {target.parent} to write {target.name} into")
    return target


def write(page: Page, target: Path) -> Path:
    """Write a page; the file gets its name when it is complete."""
    html = render(page)
    with write_atomic(target) as file:
        file.write(html.encode("utf-8"))
    return target


def render(page: Page) -> str:
    """Make the text of a page."""
    from plotly.offline import get_plotlyjs

    jinja2 = _jinja()
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    mark = jinja2.filters.Markup
    scripts = [get_plotlyjs(), _part("page.js")]
    pictures = [block for section in page.sections for block in section.blocks if isinstance(block, Picture)]
    return str(
        environment.from_string(_part("page.html")).render(
            page=page,
            policy=_policy(scripts),
            style=mark(_part("page.css")),
            scripts=[mark(script) for script in scripts],
            number={id(picture): i for i, picture in enumerate(pictures)},
            key=id,
            data=mark(_embedded([_figure(picture.figure) for picture in pictures])),
            made=time.strftime("%Y-%m-%d"),
            version=_core.__version__,
        )
    )


def _jinja() -> Any:
    try:
        import jinja2
        import jinja2.filters
    except ImportError:
        raise MissingExtraError("a report needs the extra: pip install nominym[report]") from None
    return jinja2


def _part(name: str) -> str:
    return resources.files("nominym.report").joinpath(name).read_text(encoding="utf-8")


def _figure(figure: go.Figure) -> dict[str, Any]:
    """Give data and layout; the page has titles of its own."""
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
