"""The report in a real browser: it opens without errors or network, draws, reacts, and prints."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nominym as nym

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is in the test group")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")

HOSTILE = "</script><img src=x onerror=\"document.title='hacked'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    frame, taxonomies = nym.datasets.discharges(2_000, seed=1, diagnoses=40, procedures=30)
    masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    res = nym.rank_swap(frame, masked, k=5)
    path = tmp_path_factory.mktemp("report") / "report.html"
    nym.report.write(path.with_name("publication.html"), res)
    return nym.report.write(path, res, edition="owner", sweep={"k": [2, 10]})


class Opened:
    """A page, with everything that went wrong in it."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1200, "height": 900}, **options)
        # Whatever asks for the network is stopped, and remembered.
        self.requests: list[str] = []
        self.context.route(re.compile("^(?!file:)"), self._stop)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        # A page has nothing to say to the console.
        self.page.on("console", lambda said: self.faults.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        self.page.goto(path.as_uri())
        self.page.wait_for_function("[...document.querySelectorAll('.plot')].every(p => p.querySelector('svg'))")

    def _stop(self, route: Any) -> None:
        self.requests.append(route.request.url)
        route.abort()


@pytest.fixture
def opened(browser, report) -> Iterator[Opened]:
    opened = Opened(browser, report)
    yield opened
    assert opened.faults == []
    assert [url for url in opened.requests if not url.startswith(("data:", "blob:"))] == []
    opened.context.close()


def ink(page: Any) -> str:
    """The colour of the first axis label."""
    return page.evaluate("getComputedStyle(document.querySelector('.plot .xtick text')).fill")


def paper(page: Any) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_every_figure_is_drawn(opened) -> None:
    plots = opened.page.locator(".plot")
    assert plots.count() == 10
    for i in range(plots.count()):
        box = plots.nth(i).locator("svg.main-svg").first.bounding_box()
        assert box["width"] > 300
        assert box["height"] > 150
    marks = opened.page.evaluate(
        """[...document.querySelectorAll('.plot')]
           .map(plot => plot.querySelectorAll('.point path, .hm image, .js-line').length)"""
    )
    assert min(marks) > 0
    assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_switch_changes_page_and_figures(opened) -> None:
    page = opened.page
    before = ink(page), paper(page)
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "dark"
    after = ink(page), paper(page)
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    page.reload()
    assert paper(page) == after[1]
    page.click("#theme")
    assert (ink(page), paper(page)) == before


def test_dark_where_the_system_is_dark(browser, report) -> None:
    opened = Opened(browser, report, color_scheme="dark")
    dark = paper(opened.page)
    assert opened.page.inner_text("#theme") == "Light"
    opened.page.emulate_media(color_scheme="light")
    assert paper(opened.page) != dark
    assert opened.faults == []
    opened.context.close()


def rows(page: Any) -> list[str]:
    return page.locator(".searched tbody tr:visible th").all_inner_texts()


def test_the_table_sorts(opened) -> None:
    page = opened.page
    first = rows(page)
    header = page.locator(".searched thead th", has_text="records before")
    header.locator("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    counts = [
        int(text.replace(",", ""))
        for text in page.locator(".searched tbody tr:visible td:nth-child(3)").all_inner_texts()
    ]
    assert counts == sorted(counts, reverse=True)
    header.locator("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    page.locator(".searched thead th", has_text="category").locator("button").click()
    names = rows(page)
    assert names != first
    assert names == sorted(names, key=str.lower)


def test_the_table_is_searched_and_unfolded(opened) -> None:
    page = opened.page
    assert len(rows(page)) == 20
    page.click(".searched .more")
    everything = rows(page)
    assert len(everything) > 20
    page.click(".searched .more")
    assert len(rows(page)) == 20
    wanted = everything[-1]
    page.fill(".searched input", wanted.upper())
    assert rows(page) == [wanted]
    assert page.inner_text(".searched output").startswith("1 of ")
    page.fill(".searched input", "no such thing")
    assert rows(page) == []


def test_pointing_shows_figures(opened) -> None:
    page = opened.page
    plot = page.locator(".plot", has=page.locator(".xtick", has_text="same")).first
    plot.scroll_into_view_if_needed()
    box = plot.locator(".point path").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector(".hoverlayer .hovertext")
    assert "of the records" in page.text_content(".hoverlayer .hovertext")


def test_the_tables_of_figures_open(opened) -> None:
    page = opened.page
    first = page.locator("figure details").first
    assert not first.locator("table").is_visible()
    first.locator("summary").click()
    assert first.locator("table").is_visible()


def test_the_head_says_which_edition_it_is(browser, report) -> None:
    for path, said in ((report, "Owner's edition, not for publication"),
                       (report.with_name("publication.html"), "Edition for publication")):  # fmt: skip
        opened = Opened(browser, path)
        line = opened.page.locator("main .edition")
        assert line.count() == 1
        assert said in line.inner_text()
        assert line.bounding_box()["y"] < opened.page.locator("h1").bounding_box()["y"]
        assert opened.faults == []
        assert opened.requests == []
        opened.context.close()


@pytest.mark.parametrize("edition", ["report.html", "publication.html"])
def test_a_narrow_screen(browser, report, edition) -> None:
    opened = Opened(browser, report.with_name(edition))
    opened.page.set_viewport_size({"width": 375, "height": 800})
    opened.page.wait_for_timeout(500)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 375
    assert opened.faults == []
    opened.context.close()


def test_it_prints(opened) -> None:
    page = opened.page
    page.click("#theme")
    dark = ink(page)
    pdf = page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 20
    # On paper, figures are light and no wider than it; after that all is as it was.
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert ink(page) != dark
    widths = page.evaluate(
        "[...document.querySelectorAll('.plot .main-svg')].map(s => s.getBoundingClientRect().width)"
    )
    assert max(widths) <= 680
    assert not page.locator("#theme").is_visible()
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert ink(page) == dark
    assert page.locator("figure.wide svg.main-svg").first.bounding_box()["width"] > 800


@pytest.mark.filterwarnings("ignore:hardly anything changes")
def test_names_do_not_run(browser, tmp_path) -> None:
    names = [HOSTILE, "<a href='javascript:alert(1)'>here</a>", "<b>bold</b> & plain"]
    tax = nym.Taxonomy.from_edges([(name, "<i>all</i>") for name in names])
    table = {HOSTILE: names * 40, "<u>other</u>": names[::-1] * 40}
    meaning = dict.fromkeys(table, tax)
    res = nym.rank_swap(table, meaning, k=5)
    opened = Opened(browser, nym.report.write(tmp_path / "hostile.html", res, edition="owner", title="Names"))
    page = opened.page
    assert page.title() == "Names"
    assert page.locator("main img, main b, main i, main u, .plot a[*|href]").count() == 0
    labels = page.locator(".ytick text").all_text_contents()
    assert any(label.startswith("<b>bold</b> & plain") for label in labels)
    assert page.locator(".searched tbody th", has_text="<b>bold</b> & plain").count() > 0
    assert opened.faults == []
    assert opened.requests == []
    opened.context.close()


def test_item_sets(browser, tmp_path) -> None:
    made, _ = nym.datasets.baskets(500, seed=1, items=60)
    sets = nym.Itemsets.from_lists([[f"{HOSTILE} {item}" for item in row] for row in made])
    rel = nym.recode(sets, k=5, order="gray")
    path = nym.report.write(tmp_path / "sets.html", rel, edition="owner", sweep={"k": [2, 8]})
    opened = Opened(browser, path)
    assert opened.page.locator(".plot svg.main-svg").count() > 0
    assert opened.page.inner_text("#verdict").startswith("Re-identification probability of a row: at most 1 in 5")
    assert opened.page.locator("main img").count() == 0
    assert opened.page.title() == "Release of 500 item sets"
    assert opened.page.locator(".xtick text", has_text="</script>").count() > 0
    assert opened.faults == []
    assert opened.requests == []
    opened.context.close()


def test_a_page_without_figures(browser, tmp_path) -> None:
    """Nothing is guaranteed of noise, so nothing is drawn; the switch works all the same."""
    frame, taxonomies = nym.datasets.discharges(300, seed=1)
    res = nym.add_noise(frame, {"diagnosis": taxonomies["diagnosis"]}, alpha=0.3)
    opened = Opened(browser, nym.report.write(tmp_path / "noise.html", res))
    light = paper(opened.page)
    opened.page.click("#theme")
    assert paper(opened.page) != light
    assert opened.page.inner_text("#verdict") == "No guarantee"
    assert opened.faults == []
    opened.context.close()
