"""Pictures of every page, in light and dark, on a desktop and on a telephone, to be looked at: ``make screenshots``.

``python -m tests.browser.screenshots [FOLDER]`` writes them into build/screenshots, or into another folder. With
``--docs`` it also makes those anew that the manual shows.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

from tests.browser.chromium import Browsers, Page, running_chromium
from tests.browser.playing import choose
from tests.browser.populated import populated

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build/screenshots"
#: The pictures of the manual: names here and there, and the height that is shown of 1280 pixels of width.
DOCS = {"home-desktop-light": ("home", 1130), "game-rbc-over-desktop-light": ("blind-game", 1000)}
DOCS_WIDTH = 1024


def shoot(browsers: Browsers, pages: dict[str, str], folder: Path) -> None:
    """Write the pictures of all pages."""
    for device in ("desktop", "telephone"):
        for scheme in ("light", "dark"):
            page = browsers.open(device=device, scheme=scheme)
            for name, path in pages.items():
                page.goto(path)
                _save(page, folder / f"{name}-{device}-{scheme}.png")
            for name in ("standard", "rbc"):
                page.goto("/")
                choose(page, "variant", name)
                choose(page, "opponent", "link")
                page.get_by_role("button", name="Play", exact=True).click()
                page.wait_for_url("**/games/*")
                _save(page, folder / f"play-{name}-{device}-{scheme}.png")
            page.goto("/guest")
            _save(page, folder / f"guest-{device}-{scheme}.png")
            page.goto("/")
            choose(page, "variant", "rbc")
            _save(page, folder / f"home-guest-{device}-{scheme}.png")


def _save(page: Page, file: Path) -> None:
    page.screenshot(path=file, full_page=True, animations="disabled")


def show_in_docs(folder: Path) -> None:
    """Write the pictures that the manual shows, small enough for a repository."""
    for source, (name, height) in DOCS.items():
        picture = Image.open(folder / f"{source}.png").convert("RGB")
        picture = picture.crop((0, 0, picture.width, min(height, picture.height)))
        scaled = picture.resize((DOCS_WIDTH, picture.height * DOCS_WIDTH // picture.width), Image.Resampling.LANCZOS)
        few = scaled.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(ROOT / f"docs/pictures/{name}.png", optimize=True)


def main(arguments: list[str]) -> None:
    """Write the pictures."""
    folders = [Path(each) for each in arguments if each != "--docs"]
    folder = folders[0] if folders else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with populated() as (site, pages), running_chromium() as chromium:
        browsers = Browsers(chromium, site.http)
        browsers.allow("status of 404")
        shoot(browsers, pages, folder)
        browsers.close()
    if "--docs" in arguments:
        show_in_docs(folder)
    print(f"{len(list(folder.glob('*.png')))} pictures are in {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
