"""How Sphinx builds the site; `tools/docs/site/__main__.py` gives it the pages."""

from pathlib import Path

from safetab import __version__

project = "safetab"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = [".trees"]

html_theme = "furo"
html_title = f"safetab {__version__}"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["safetab.css"]
html_search_scorer = str(Path(__file__).parent / "scorer.js")
html_copy_source = False
html_show_search_summary = False  # it fetches pages, which browsers refuse on a disk
html_show_copyright = False
html_show_sphinx = False

myst_heading_anchors = 4
suppress_warnings = [
    "myst.xref_missing"
]  # anchors are HTML in the pages; `checks.py` looks at every link of the site

default_role = "code"  # as in the docstrings
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
maximum_signature_line_length = 80
napoleon_numpy_docstring = False
