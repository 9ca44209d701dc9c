"""Make the pictures of docs/gallery.md: ``python benches/gallery.py docs``.

The code on the page runs, block after block; where a picture follows a block, it is that of what ``figure`` is then.
Figures of plotly become SVG, cards of notebooks and the top of a report PNG, all as chromium draws them.
"""

from __future__ import annotations

import doctest
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from playwright.sync_api import Browser, sync_playwright
from plotly.offline import get_plotlyjs

BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$|^!\[.*?\]\((?P<picture>.*?)\)$", re.MULTILINE | re.DOTALL)
WIDTH = 860
REPORT = {"width": 1200, "height": 2900}


def draw(browser: Browser, figure: Any, path: Path) -> None:
    """Write a picture of a figure, of a report, or of what a notebook shows of an object."""
    page = browser.new_page(viewport=REPORT if isinstance(figure, Path) else {"width": WIDTH, "height": 200})
    if isinstance(figure, Path):
        page.goto(figure.as_uri())
        page.screenshot(path=path)
    elif path.suffix == ".svg":
        page.add_script_tag(content=get_plotlyjs())
        size = {"format": "svg", "width": WIDTH, "height": figure.layout.height}
        call = "([figure, size]) => Plotly.toImage(figure, size)"
        drawn = page.evaluate(call, [figure.to_plotly_json() | {"config": {}}, size])
        path.write_text(unquote(drawn.partition(",")[2]) + "\n", encoding="utf-8")
    else:
        page.set_content(f'<body style="font-family: sans-serif; margin: 16px">{figure._repr_html_()}</body>')
        page.screenshot(path=path, full_page=True)
    page.close()


def main(folder: str) -> None:
    """Run the page, and draw."""
    page = Path(folder, "gallery.md")
    names: dict[str, Any] = {}
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    Path(folder, "gallery").mkdir(exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
            if block["picture"]:
                draw(browser, names["figure"], Path(folder, block["picture"]))
                print(block["picture"])
                continue
            for example in doctest.DocTestParser().get_examples(block["code"]):
                exec(example.source, names)  # the project's own page
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
