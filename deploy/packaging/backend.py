"""Builds the daemon's distribution by hatchling, and says where its dependency on the client is found.

gm_client and gm_recon are a distribution of their own, since bots need no server. The daemon's has none of their
files: where two distributions own a file, removing one breaks the other. So the daemon's depends on the client's, which
is

- the folder ``clients/python`` of a checkout, if that is what is built, so that ``pip install .`` needs no index;
- the same folder in place, if the install is editable, so that a change there is effective at once;
- on an index, with the daemon's own version, if a source distribution is built, which has no such folder. A wheel
  that is made of it says the same: hatchling takes that over.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling import build
from hatchling.build import build_wheel, get_requires_for_build_sdist, get_requires_for_build_wheel
from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

CLIENT = "grandmasterd-client"
#: Tells the hook, which hatchling loads by itself, what is built: "editable", "sdist", or without it a wheel.
BUILDS = "GMD_BUILDS"


def build_editable(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """Return the name of the wheel written to ``directory``."""
    os.environ[BUILDS] = "editable"
    return build.build_editable(directory, settings, metadata)


def get_requires_for_build_editable(settings: dict[str, Any] | None = None) -> list[str]:
    """Return what the build needs besides hatchling."""
    os.environ[BUILDS] = "editable"
    return build.get_requires_for_build_editable(settings)


def build_sdist(directory: str, settings: dict[str, Any] | None = None) -> str:
    """Return the name of the archive written to ``directory``."""
    os.environ[BUILDS] = "sdist"
    return build.build_sdist(directory, settings)


class Dependencies(MetadataHookInterface):
    """Adds the client to the dependencies that ``pyproject.toml`` lists for this hook."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set ``dependencies``."""
        metadata["dependencies"] = [*self.config["dependencies"], self._client(metadata["version"])]

    def _client(self, version: str) -> str:
        builds = os.environ.get(BUILDS)
        if builds == "sdist":
            return f"{CLIENT}=={version}"
        folder = Path(self.root, "clients", "python")
        return f"{CLIENT} @ {(folder / 'in_place' if builds == 'editable' else folder).as_uri()}"
