"""What the processes of a test run share is made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deploy.once import filled_once


def test_folder_is_filled_once_and_anew_after_a_failure(tmp_path_factory: pytest.TempPathFactory) -> None:
    calls: list[Path] = []

    def fill(folder: Path) -> None:
        calls.append(folder)
        (folder / "file").touch(exist_ok=False)
        if len(calls) == 1:
            raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        filled_once(tmp_path_factory, "once", fill)
    folders = {filled_once(tmp_path_factory, "once", fill) for _ in range(3)}
    assert folders == {*calls}
    assert len(calls) == 2
    assert filled_once(tmp_path_factory, "other", lambda folder: None) not in folders
