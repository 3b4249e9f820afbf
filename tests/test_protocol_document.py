"""``PROTOCOL`` and its pages: every example is true, and the specification has the form that it promises."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest

from gm_protocol.endings import Termination
from gm_protocol.errors import ERRORS
from gm_protocol.messages import REQUESTS
from tests.protocol_examples import PAGES, SPECIFICATION, Part, fill, parse, parts, play

TEXT = SPECIFICATION.read_text("utf-8")
SECTIONS = list(parts(SPECIFICATION))
PARTS = [part for document in [SPECIFICATION, *PAGES] for part in parts(document) if part.messages]

#: Codes without an example, and why.
NOT_SHOWN = {
    "shutting_down": "an example cannot stop its server",
    "internal": "an example cannot break its server",
}


@pytest.mark.parametrize("part", PARTS, ids=[part.name for part in PARTS])
async def test_examples_are_true(part: Part, tmp_path: Path) -> None:
    await play(part, tmp_path)


def test_no_arrow_is_overlooked() -> None:
    for document in (SPECIFICATION, *PAGES):
        arrows = re.findall(r'(?<![`"])(?:->|<-)', document.read_text("utf-8"))
        assert len(arrows) == sum(len(part.messages) for part in parts(document)), document.name


def test_every_code_has_an_example() -> None:
    received = [parse(message.text) for part in PARTS for message in part.messages if message.arrow == "<-"]
    shown = {reply["code"] for reply in received if "code" in reply}
    assert shown == set(ERRORS) - set(NOT_SHOWN)


def section(title: str) -> str:
    """Return the text of the one section with this title, without its number."""
    (found,) = [part.text for part in SECTIONS if part.title.partition(" ")[2] == title]
    return found


def first_words(text: str) -> list[str]:
    """Return the first word of each line that is indented by two spaces."""
    return re.findall(r"^  (\w+) ", text, re.MULTILINE)


def test_lines_fit_a_terminal() -> None:
    assert max(map(len, TEXT.splitlines())) <= 72


def test_contents_name_every_chapter() -> None:
    listed = re.findall(r"\b([0-9]+)  (\w.*?)(?=  |$)", SECTIONS[0].text, re.MULTILINE)
    chapters = re.findall(r"^([0-9]+) ([A-Z, ]+)$", TEXT, re.MULTILINE)
    assert sorted((int(number), title.upper()) for number, title in listed) == [(int(n), t) for n, t in chapters]


def test_sections_are_numbered_in_order() -> None:
    numbers = [tuple(map(int, part.title.split()[0].split("."))) for part in SECTIONS[1:]]
    for one, next_ in pairwise(numbers):
        assert next_ in {(*one, 1), (*one[:-1], one[-1] + 1), (one[0] + 1,)}


def test_references_to_sections_and_pages_lead_somewhere() -> None:
    numbers = {part.title.split()[0] for part in SECTIONS[1:]}
    references = [each for group in re.findall(r"\(([0-9.]+(?:, [0-9.]+)*)\)", TEXT) for each in group.split(", ")]
    assert references
    assert set(references) <= numbers
    pages = set(re.findall(r"\b([\w-]+\.md)\b", TEXT))
    assert pages
    assert pages <= {page.name for page in PAGES}


def test_links_of_pages_lead_somewhere() -> None:
    headings = {page.name: re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE) for page in PAGES}
    anchors = {
        name: {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings[name]} for name in headings
    }
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([\w-]+\.md)?(?:#([\w-]+))?\)", page.read_text("utf-8")):
            assert not anchor or anchor in anchors[target or page.name]
            assert not target or target in anchors


def test_table_of_kinds_lists_each_with_its_section() -> None:
    sections = [tuple(part.title.split()) for part in SECTIONS if part.title.startswith("7.")]
    rows = re.findall(r"^  (?:(7\.\d+) +\w+)? +(\w.*)$", section("THE KINDS, IN ONE TABLE"), re.MULTILINE)
    assert re.findall(r"\w+", " ".join(kinds for _, kinds in rows)) == [kind for _, kind in sections]
    assert {(number, kinds.partition(",")[0]) for number, kinds in rows if number} <= set(sections)
    assert sorted(kind for _, kind in sections) == sorted(REQUESTS)


@pytest.mark.parametrize("kind", REQUESTS)
def test_section_of_a_kind_has_its_form(kind: str) -> None:
    (part,) = [part for part in SECTIONS if part.title.startswith("7.") and part.title.split()[1] == kind]
    request = f"Request: {REQUESTS[kind].__name__}\n"
    reply = re.search(r"^Reply: \w+(?:, as of (\w+))?$", part.text, re.MULTILINE)
    assert part.text.startswith("\n" + request)
    assert reply
    assert reply[1] is None or f"\nReply: {reply[0].split()[1].rstrip(',')}\n" in section(reply[1])
    example = re.search(r"^  (?:\w+ )?-> ", part.text, re.MULTILINE)
    assert example
    assert part.text.index(request) < reply.start() < example.start()
    if errors := re.search(r"^Errors: ", part.text, re.MULTILINE):
        assert reply.start() < errors.start() < example.start()
    assert any(f'"kind": "{kind}"' in message.text for message in part.messages if message.arrow == "->")


def test_tables_of_codes_and_terminations_list_each() -> None:
    assert first_words(section("Codes")) == list(ERRORS)
    words = [
        word.replace("COLOR", color)
        for word in first_words(section("phase, result and termination"))
        for color in ("white", "black")
    ]
    assert list(dict.fromkeys(words)) == list(get_args(Termination))


def test_omitted_part_of_an_example_matches_anything_and_the_shown_part_must_match() -> None:
    shown = parse('{"a": ..., "b": [1, ...], "c": {"d": "...", ...}, ...}')
    actual = {"a": [1], "b": [1, 2, 3], "c": {"d": "...", "e": None}, "f": 0.5}
    assert fill(shown, actual) == actual
    pattern = parse('{"a": ..., "b": [1, ...]}')
    for other in ({}, {"a": 1, "b": []}, {"a": 1, "b": [2]}, {"b": [1]}, {"a": 1, "b": [1], "c": 1}):
        assert fill(pattern, other) != other
