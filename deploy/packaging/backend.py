"""The daemon's build backend: hatchling, plus the dependency on the client's distribution.

gm_client and gm_recon are a distribution of their own, since bots need no server. The daemon's distribution contains
none of their files: if two distributions own a file, removing one breaks the other. So the daemon's depends on the
client's, which is found

- in the folder ``clients/python`` of a checkout, if a wheel is built there, so that ``pip install .`` needs no index;
- in the same folder, in place, if the install is editable, so that changes there take effect at once;
- on an index, with the daemon's own version, if a source distribution is built, since that has no such folder. A wheel
  built from a source distribution has the same dependency: hatchling copies it.
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
#: Tells the hook, which hatchling loads itself, the kind of build: "editable", "sdist", or unset for a wheel.
BUILDS = "GMD_BUILDS"


def build_editable(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """Build an editable wheel in ``directory`` and return its file name."""
    os.environ[BUILDS] = "editable"
    return build.build_editable(directory, settings, metadata)


def get_requires_for_build_editable(settings: dict[str, Any] | None = None) -> list[str]:
    """Return the requirements of the build besides hatchling."""
    os.environ[BUILDS] = "editable"
    return build.get_requires_for_build_editable(settings)


def build_sdist(directory: str, settings: dict[str, Any] | None = None) -> str:
    """Build a source distribution in ``directory`` and return its file name."""
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
