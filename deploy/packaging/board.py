"""The board of the pages: chessground, which is brought into the package when gmd is built or installed.

It is a package of npm's, and is not copied into the repository. The archive that ``npm pack`` would make is downloaded
from npm's registry, or, where that fails, by the ``npm`` of this machine, which knows of mirrors and proxies. It is
compared with the digest below in both cases. What needs 100 KB once does not ask for Node.js among the requirements of
the build, of which the smallest wheel has 60 MB.

Where it cannot be had, gmd is built without it, with a warning: its pages show boards that the server draws. ``python
deploy/packaging/board.py`` (``make board``) tries again later. The variable ``CHESSGROUND`` names an archive to take
instead, or is "none".
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from base64 import b64encode
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.request import urlopen

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME, VERSION = "@lichess-org/chessground", "10.1.1"
#: The digest of the archive, as npm writes it.
INTEGRITY = "sha512-IBEs8+J64/zE8QB4NXxsvpjm/tHRjfQAdWwUh4xzqqN+RValgthWHemLnxsmtHFwuxvO4lHd+crp1ecgZxKVoQ=="
REGISTRY = "https://registry.npmjs.org"

#: Where its files are kept in a checkout, and the file there that says which archive they are from.
FOLDER = PurePosixPath("gmd/http/pages/static/chessground")
MARK = "integrity.txt"
#: The variable that names another archive.
VARIABLE = "CHESSGROUND"
#: Seconds for each attempt, and the most bytes of an archive: the right one has 100,000.
PATIENCE = 20
MAX_BYTES = 2_000_000
#: What of the archive is kept: the licence, what browsers load, and the types, which ``make lint`` checks scripts by.
KEPT = frozenset(
    [
        *("LICENSE", "package.json", "dist/chessground.min.js"),
        *("assets/chessground.base.css", "assets/chessground.cburnett.css"),
    ]
)
TYPES = ".d.ts"


class NoBoard(Exception):
    """An error: the board cannot be had. The message says why."""


class Board(BuildHookInterface[Any]):
    """Brings the board before anything is built, and has it packed although git ignores it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Bring the board; warn if that fails."""
        try:
            bring(Path(self.root))
        except NoBoard as error:
            self.app.display_warning(warning(error))
        else:
            build_data["artifacts"].append(f"/{FOLDER}/**")


def warning(error: NoBoard) -> str:
    """Return what is said where the board cannot be had."""
    return f"gmd is installed without the moving board of its pages, which show still ones instead: {error}"


def bring(root: Path) -> None:
    """Bring the board's files into a checkout, unless they are there.

    :raises NoBoard: they cannot be had.
    """
    folder = root / FOLDER
    if _is_there(folder):
        return
    named = os.environ.get(VARIABLE)
    if named == "none":
        raise NoBoard(f"{VARIABLE} is none")
    try:
        archive = _checked(Path(named).read_bytes(), named) if named else _fetched()
        _unpack(archive, folder)
    except (OSError, tarfile.TarError) as error:
        raise NoBoard(str(error)) from error


def _is_there(folder: Path) -> bool:
    try:
        return (folder / MARK).read_text("ascii").strip() == INTEGRITY
    except (OSError, ValueError):
        return False


def _fetched() -> bytes:
    """Return the archive from npm's registry, or else by this machine's npm.

    :raises NoBoard: neither has it.
    """
    reasons = []
    for fetch in (_downloaded, _packed):
        try:
            return fetch()
        except (NoBoard, OSError, ValueError, subprocess.SubprocessError) as error:
            reasons.append(f"{type(error).__name__}: {error}" if not isinstance(error, NoBoard) else str(error))
    raise NoBoard("; ".join(reasons))


def _downloaded() -> bytes:
    address = f"{REGISTRY}/{NAME}/-/{PurePosixPath(NAME).name}-{VERSION}.tgz"
    with urlopen(address, timeout=PATIENCE) as response:
        return _checked(response.read(MAX_BYTES), address)


def _packed() -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        raise NoBoard("there is no npm on this machine")
    with tempfile.TemporaryDirectory() as folder:
        once = ["--ignore-scripts", "--fetch-retries=0", f"--fetch-timeout={PATIENCE * 1000}"]
        command = [npm, "pack", f"{NAME}@{VERSION}", "--pack-destination", folder, *once]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=2 * PATIENCE, check=False)
        if done.returncode:
            raise NoBoard(f"npm pack ended with status {done.returncode}")
        (archive,) = Path(folder).glob("*.tgz")
        return _checked(archive.read_bytes(), "npm pack")


def _checked(archive: bytes, source: str) -> bytes:
    """Return an archive with the right digest.

    :raises NoBoard: it has another one.
    """
    digest = f"sha512-{b64encode(hashlib.sha512(archive).digest()).decode()}"
    if digest != INTEGRITY:
        raise NoBoard(f"{source} has the digest {digest}, and {NAME} {VERSION} has {INTEGRITY}")
    return archive


def _unpack(archive: bytes, folder: Path) -> None:
    """Write what browsers need into a folder, which is there whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as beside:
        made = Path(beside, folder.name)
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            for member in packed:
                if (path := _kept(member)) is not None and (content := packed.extractfile(member)) is not None:
                    (made / path).parent.mkdir(parents=True, exist_ok=True)
                    (made / path).write_bytes(content.read())
        (made / MARK).write_text(f"{INTEGRITY}\n", "ascii")
        if folder.exists():  # another version, or the remains of one
            folder.rename(Path(beside, "old"))
        try:
            made.rename(folder)
        except OSError:
            if not _is_there(folder):  # else another build was first
                raise


def _kept(member: tarfile.TarInfo) -> PurePosixPath | None:
    """Return where a member of the archive is kept, relative to the folder; None for one that is not."""
    path = PurePosixPath(member.name)
    if not member.isreg() or path.parts[0] != "package" or ".." in path.parts:
        return None
    inside = PurePosixPath(*path.parts[1:])
    return inside if str(inside) in KEPT or inside.name.endswith(TYPES) else None


if __name__ == "__main__":
    try:
        bring(Path(__file__).parents[2])
    except NoBoard as error:
        sys.exit(warning(error))
