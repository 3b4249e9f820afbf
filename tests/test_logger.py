"""The destination of a daemon's log in a program that embeds it."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
{configure}
import gmd
with gmd.background_daemon() as daemon:
    try:
        daemon.ask("state", game_id=7)
    except gmd.Refused:
        pass
    async def trouble(daemon):
        from gmd.play.arbiter import logger
        logger.warning("trouble", number=7)
        try:
            raise ValueError("%s")
        except ValueError:
            logger.exception("a fault of 100%")
    daemon.run(trouble)
"""
REFUSED = "request refused kind='state' code='no_such_game' game_id=7 player=None"


def run(configure: str) -> tuple[list[str], list[str]]:
    """Return what such a program writes to its standard output and its standard error."""
    command = [sys.executable, "-c", PROGRAM.format(configure=configure)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines(), done.stderr.splitlines()


def test_warnings_go_to_standard_error_when_the_host_configures_nothing() -> None:
    out, err = run("")
    assert out == []
    assert err[:2] == ["trouble number=7", "a fault of 100%"]
    assert err[-1] == "ValueError: %s"


def test_host_with_logging_receives_the_log_there() -> None:
    out, err = run('import logging; logging.basicConfig(level="DEBUG", format="%(levelname)s %(name)s: %(message)s")')
    assert out == []
    assert f"DEBUG gmd.handlers.dispatch: {REFUSED}" in err
    assert "WARNING gmd.play.arbiter: trouble number=7" in err
    assert "ERROR gmd.play.arbiter: a fault of 100%" in err


def test_host_with_structlog_receives_the_log_there() -> None:
    configure = "import structlog; structlog.configure([structlog.processors.LogfmtRenderer(key_order=['event'])])"
    out, err = run(configure)
    assert 'event="request refused" kind=state code=no_such_game game_id=7 player=' in out
    assert "event=trouble number=7" in out
    assert err == []
