"""The board of the pages, which the build brings: the pinned archive and no other, or a build without it."""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
import sys
import tarfile
from base64 import b64encode
from hashlib import sha512
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

from gmd.http.pages.static_files import BOARD, StaticFiles
from tests.deploy.test_clone import ROOT, dependencies

HOOK = ROOT / "deploy" / "packaging" / "board.py"
FOLDER = "gmd/http/pages/static/chessground"
#: The members of an archive: what is kept, and what is not.
KEPT = {
    "package/LICENSE": b"GPL",
    "package/package.json": b"{}",
    "package/dist/chessground.min.js": b"export function Chessground() {}",
    "package/dist/chessground.d.ts": b"export declare function Chessground(): void;",
    "package/assets/chessground.base.css": b"cg-board {}",
    "package/assets/chessground.cburnett.css": b"piece {}",
}
LEFT_OUT = {
    "package/README.md": b"# A board",
    "package/dist/chessground.js": b"import './state.js'",
    "package/dist/chessground.js.map": b"{}",
    "package/../evil.js": b"alert(1)",
    "/package/evil.js": b"alert(1)",
    "elsewhere/evil.js": b"alert(1)",
}
WARNING = "gmd is installed without the moving board of its pages, which show still ones instead: "


@pytest.fixture
def board() -> ModuleType:
    """Return a new copy of the hook's module."""
    spec = importlib.util.spec_from_file_location("board_hook", HOOK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def packed(path: Path) -> tuple[Path, str]:
    """Write an archive like npm's; return it, and its digest as npm writes it."""
    with tarfile.open(path / "board.tgz", "w:gz") as archive:
        for name, content in {**KEPT, **LEFT_OUT}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("package/dist/link.d.ts")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    digest = sha512((path / "board.tgz").read_bytes()).digest()
    return path / "board.tgz", f"sha512-{b64encode(digest).decode()}"


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_archive_with_the_right_digest_is_unpacked_and_not_taken_twice(
    board: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, integrity = packed(tmp_path)
    monkeypatch.setattr(board, "INTEGRITY", integrity)
    monkeypatch.setenv("CHESSGROUND", str(archive))
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "old.js").write_text("the remains of another version")
    board.bring(tmp_path)
    kept = {name.removeprefix("package/"): content for name, content in KEPT.items()}
    assert files_in(tmp_path / FOLDER) == {**kept, "integrity.txt": f"{integrity}\n".encode()}
    assert [each.name for each in (tmp_path / FOLDER).parent.iterdir()] == ["chessground"]
    assert not list(tmp_path.rglob("evil.js"))
    archive.unlink()
    board.bring(tmp_path)  # it is there


def test_archive_with_another_digest_is_refused_and_leaves_nothing(
    board: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, integrity = packed(tmp_path)
    monkeypatch.setenv("CHESSGROUND", str(archive))
    with pytest.raises(board.NoBoard) as refused:
        board.bring(tmp_path)
    assert str(refused.value) == (
        f"{archive} has the digest {integrity}, and {board.NAME} {board.VERSION} has {board.INTEGRITY}"
    )
    assert not (tmp_path / FOLDER).exists()


def test_machine_without_a_network_and_npm_is_told_why(
    board: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHESSGROUND", raising=False)
    monkeypatch.setattr(board, "REGISTRY", "http://127.0.0.1:1")  # nobody listens there
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(board.NoBoard) as refused:
        board.bring(tmp_path)
    assert str(refused.value) == (
        "URLError: <urlopen error [Errno 111] Connection refused>; there is no npm on this machine"
    )


# --- Builds -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of this checkout without the board, whose hook takes the archive beside it for the right one."""
    folder = tmp_path / "gmd"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "chessground", "tests", "docs", "bench")
    shutil.copytree(ROOT, folder, ignore=left_out)
    shutil.copy(ROOT / ".gitignore", folder)
    _, integrity = packed(tmp_path)
    hook = folder / "deploy" / "packaging" / "board.py"
    lines = [f'INTEGRITY = "{integrity}"' if "INTEGRITY = " in line else line for line in hook.read_text().split("\n")]
    hook.write_text("\n".join(lines))
    return folder


def wheel_of(checkout: Path, named: str) -> tuple[set[str], str]:
    """Build a wheel; return the names in it, and what was said."""
    options = ["--verbose", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", str(checkout.parent)]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", *options, str(checkout)],
        env={**dependencies(), "CHESSGROUND": named},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = checkout.parent.glob("*.whl")
    with ZipFile(wheel) as archive:
        return set(archive.namelist()), done.stdout + done.stderr


@pytest.mark.slow
def test_wheel_contains_the_board_and_its_licence(checkout: Path) -> None:
    names, said = wheel_of(checkout, str(checkout.parent / "board.tgz"))
    ours = {name.removeprefix(f"{FOLDER}/") for name in names if name.startswith(FOLDER)}
    assert ours == {name.removeprefix("package/") for name in KEPT} | {"integrity.txt"}
    assert "gmd/http/pages/static/style.css" in names
    assert "gmd/http/pages/templates/base.html" in names
    assert WARNING not in said


@pytest.mark.slow
def test_wheel_without_the_board_is_built_with_a_warning(checkout: Path) -> None:
    names, said = wheel_of(checkout, "none")
    assert not any(name.startswith(FOLDER) for name in names)
    assert "gmd/http/pages/static/style.css" in names
    assert f"{WARNING}CHESSGROUND is none" in " ".join(said.split())
    static = StaticFiles(checkout / "gmd" / "http" / "pages" / "static")
    assert not static.has_board
    assert static.url("style.css")


@pytest.mark.slow
def test_script_brings_the_board_later(checkout: Path) -> None:
    command = [sys.executable, checkout / "deploy" / "packaging" / "board.py"]
    environment = {**dependencies(), "CHESSGROUND": "none"}
    refused = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (refused.returncode, refused.stderr) == (1, f"{WARNING}CHESSGROUND is none\n")
    environment["CHESSGROUND"] = str(checkout.parent / "board.tgz")
    assert subprocess.run(command, env=environment, capture_output=True, text=True).stderr == ""
    static = StaticFiles(checkout / "gmd" / "http" / "pages" / "static")
    assert static.has_board
    assert static.url(BOARD).endswith("/chessground/dist/chessground.min.js")
