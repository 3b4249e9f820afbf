"""``python -m gmd``."""

from gmd.cli import main

main(prog_name="gmd")
