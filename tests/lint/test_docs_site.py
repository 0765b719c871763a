"""The site of the documentation: links are moved with their pages, and faults of a site are found.

`make docs` builds the real one and looks at every link of it.
"""

import re

import pytest

import safetab
from tests.cases import cases_of
from tests.conftest import PROJECT
from tools.docs.site.accessible import make_accessible
from tools.docs.site.checks import faults_of
from tools.docs.site.notebook import run_notebook
from tools.docs.site.pages import navigation_of, with_links

PAGE = "<html><body><h1 id='top'>A page</h1>{}</body></html>"


def site_of(folder, **pages):
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(PAGE.format(body))
    (folder / "style.css").write_text("p { color: red }")
    return folder


def test_what_the_theme_leaves_out_is_mended(tmp_path):
    body = (
        '<p class="caption" role="heading">Start</p><aside class="sidebar-drawer"></aside><th></th>'
        '<div class="highlight"><pre>code</pre></div><dl>\n<dd><em class="sig-param">a</em>,</dd>\n</dl>'
    )
    make_accessible(site_of(tmp_path, a=body))
    assert (tmp_path / "a.html").read_text() == PAGE.format(
        '<p class="caption" role="heading" aria-level="2">Start</p><aside class="sidebar-drawer" aria-label="All pages">'
        '</aside><td></td><div class="highlight"><pre tabindex="0">code</pre></div>'
        '<div class="parameter"><em class="sig-param">a</em>,</div>\n'
    )


def test_a_site_whose_links_lead_somewhere_has_no_faults(tmp_path):
    body = '<link rel="stylesheet" href="style.css?v=1"><a href="b.html#top">b</a><a href="#top">up</a><a href="https://example.org">out</a>'
    assert faults_of(site_of(tmp_path, a=body, b="")) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    cases_of(
        """
        <a href="c.html">c</a> | c.html leads nowhere.
        <a href="b.html#bottom">b</a> | b.html#bottom leads nowhere.
        <a href="#bottom">down</a> | #bottom leads nowhere.
        <img src="missing.svg"> | missing.svg leads nowhere.
        <script src="https://example.org/a.js"></script> | https://example.org/a.js is fetched from elsewhere.
        <link rel="stylesheet" href="//example.org/a.css"> | //example.org/a.css is fetched from elsewhere.
        """
    ),
)
def test_each_fault_of_a_site_is_told(tmp_path, body, fault):
    assert faults_of(site_of(tmp_path, a=body, b="")) == [f"a.html: {fault}"]


def test_a_style_that_fetches_is_told(tmp_path):
    site = site_of(tmp_path, a="")
    (site / "style.css").write_text("p { background: url(https://example.org/a.png) }")
    assert faults_of(site) == ["style.css: fetches from elsewhere."]


def test_cells_of_a_notebook_are_run_in_order(tmp_path):
    (tmp_path / "some.ipynb").write_text(r"""{"cells": [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["a = 20\n", "print('said')\n", "a + 1"]},
        {"cell_type": "code", "source": ["a = a * 2"]},
        {"cell_type": "code", "source": ["a"]}
    ]}""")
    run = list(run_notebook(tmp_path / "some.ipynb"))
    assert [(cell.printed, cell.shown) for cell in run] == [("", None), ("said\n", 21), ("", None), ("", 40)]
    assert [cell.is_code for cell in run] == [False, True, True, True]


def test_pages_of_the_project_find_their_place(tmp_path):
    (tmp_path / "docs" / "how-to").mkdir(parents=True)
    (tmp_path / "README.md").write_text(
        "[a](docs/how-to/a.md#here) [d](docs/decisions/) [out](https://example.org) [up](#two) [law](LICENSE)"
    )
    (tmp_path / "LICENSE").write_text("")
    page = tmp_path / "docs" / "how-to" / "a.md"
    page.write_text("[home](../../README.md) [gone](../gone.md) ![f](../f.svg)")
    place_of = {tmp_path / "README.md": "index.md", page: "how-to/a.md", tmp_path / "docs" / "f.svg": "f.svg"}
    text, faults = with_links(tmp_path / "README.md", tmp_path, place_of)
    assert (
        text
        == "[a](how-to/a.md#here) [d](decisions/index.md) [out](https://example.org) [up](index.md#two) law (`LICENSE`)"
    )
    assert faults == []
    text, faults = with_links(page, tmp_path, place_of)
    assert text == "[home](../index.md) [gone](../gone.md) ![f](../f.svg)"
    assert faults == ["docs/how-to/a.md: ../gone.md is not in the site."]


def test_every_page_is_in_the_navigation_once():
    once = str.split("privacy how-to/new how-to/run-a-census new-page tutorial/using-a-release")
    lines = navigation_of([*[f"{page}.md" for page in ("index", *once, "decisions/0001-a")], "f.svg"]).splitlines()
    for page in (*once, "glossary"):
        assert lines.count(page) == 1, page
    assert lines.index("how-to/run-a-census") < lines.index("how-to/new")
    assert not {"index", "decisions/0001-a", "f.svg"} & set(lines)


def test_everything_public_is_in_the_reference():
    reference = (PROJECT / "docs" / "reference" / "python.md").read_text()
    public = [*safetab.__all__, *(f"tuning.{name}" for name in safetab.tuning.__all__)]
    assert set(public) - set(re.findall(r"auto\w+:: safetab\.([\w.]+)", reference)) == {"__version__", "tuning"}
