"""The manual's build: ``make docs`` writes it to ``build/docs``."""

import sys
from pathlib import Path

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
# Blocks of plain text are shown as they are; a JSON example may leave parts out.
suppress_warnings = ["misc.highlighting_failure"]
