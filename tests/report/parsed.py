"""What the tests of reports share: a reader of pages."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

HOSTILE = "</script><img src=x onerror=\"document.title='hacked'\">"


class Page(HTMLParser):
    """Texts, attributes and scripts of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self._inside = ""
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).replace("\xa0", " ").split())

    @property
    def figures(self) -> Any:
        return json.loads(self.scripts[0])

    @property
    def own(self) -> str:
        """The page without the library that draws."""
        return self.source.replace(self.scripts[1], "") if len(self.scripts) == 3 else self.source
