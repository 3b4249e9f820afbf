"""The manual's build: ``make docs`` writes it to ``build/docs``."""

import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from gmd.version import VERSION

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "gmd"
author = "the gmd authors"
version = release = VERSION
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click", "sphinx_copybutton", "generated_tables"]
exclude_patterns = ["_generated"]
html_theme = "furo"
html_title = f"gmd {VERSION}"
# "--port" is an option, and no dash.
smartquotes = False
html_static_path: list[str] = []
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_preserve_defaults = True
autoclass_content = "both"
# Blocks of plain text are shown as they are; a JSON example may leave parts out.
suppress_warnings = ["misc.highlighting_failure"]


def setup(app: Sphinx) -> None:
    """Leave out the fields of named tuples, which the documentation of their class has."""
    app.connect("autodoc-skip-member", _is_field)


def _is_field(app: Sphinx, kind: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    return True if str(member.__doc__).startswith("Alias for field number") else None
