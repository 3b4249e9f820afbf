"""The extras in one environment: reconchess's windows open beside the libraries of all others.

The commands rc-play, rc-play-on-server and rc-replay import pkg_resources, which setuptools has dropped from version 81
on.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.bots.recon_zero.learning import needs_torch
from tests.deploy.test_client_alone import PROJECT

WINDOWS = ["rc_play", "rc_play_on_server", "rc_replay"]


@pytest.mark.slow
@pytest.mark.parametrize("beside", ["the tests' libraries", pytest.param("torch", marks=needs_torch)])
def test_reconchess_windows_open_in_this_environment(beside: str) -> None:
    for window in WINDOWS:
        command = [sys.executable, "-W", "ignore", "-c", f"import reconchess.scripts.{window}"]
        assert subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0, window


def test_extras_bring_a_setuptools_that_reconchess_can_use_whichever_is_installed_first() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    for extra in ("reconchess", "train"):  # torch takes the newest otherwise
        assert "setuptools<81" in extras[extra]
