"""People who play in Chromium: by the mouse, by the keyboard alone, or by a form."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Literal

import chess

from tests.browser.chromium import Locator, Page, expect

#: The most turns of a game against a bot before the person resigns.
MOST_TURNS = 12

OVER = re.compile("1-0|0-1|1/2-1/2")


def open_play(page: Page, opponent: str, kind: str = "Chess", color: str = "white", variant: str = "") -> None:
    """Begin a game on the home page, and wait for the board.

    :param opponent: words of the opponent's line, perhaps after "Play".
    :param variant: its name on the wire, in place of the kind's.
    """
    page.goto("/")
    choose(page, "variant", variant or {"Chess": "standard", "Reconnaissance blind chess": "rbc"}[kind])
    page.locator(".opponents label").filter(has_text=opponent.removeprefix("Play ")).get_by_role("radio").check()
    choose(page, "color", color)
    page.get_by_role("button", name="Play", exact=True).click()
    expect_board(page)


def choose(page: Page, field: str, value: str) -> None:
    """Choose one of the radio buttons of the form for a new game."""
    page.locator(f".play-form input[name={field}][value={value}]").check()


def expect_board(page: Page) -> None:
    """Wait until the page's script has taken over."""
    expect(page.locator("#game.scripted")).to_be_visible()


def square(page: Page, name: str) -> Locator:
    """Return a square of the board."""
    return page.locator(f".cell[data-square={name}]")


def press(page: Page, name: str) -> None:
    """Press the mouse on a square; the pieces, which take it, are drawn above the squares."""
    square(page, name).click(force=True)


def drag(page: Page, start: str, end: str) -> None:
    """Drag the piece of a square to another square, and let it go there."""
    carry(page, start, end)
    page.mouse.up()


def carry(page: Page, start: str, end: str) -> None:
    """Drag the piece of a square over another square."""
    square(page, start).hover(force=True)
    page.mouse.down()
    square(page, end).hover(force=True)
    expect(page.locator("piece.dragging")).to_be_visible()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def click_move(page: Page, move: chess.Move) -> None:
    """Make a move by two clicks, or by dragging a piece."""
    start, end = (chess.square_name(each) for each in (move.from_square, move.to_square))
    expect(page).to_have_title(re.compile("^Your turn"))  # before that it is not this player's turn on the page
    if move.from_square % 2:
        drag(page, start, end)
    else:
        press(page, start)
        expect(square(page, start)).to_have_attribute("aria-label", re.compile("chosen"))
        press(page, end)
    _promote(page, move)


def key_move(page: Page, move: chess.Move) -> None:
    """Make a move by the keyboard alone: the arrows lead to the squares, Enter chooses them."""
    for each in (move.from_square, move.to_square):
        _walk(page, each)
        page.keyboard.press("Enter")
    _promote(page, move, keyboard=True)


def _walk(page: Page, to: chess.Square) -> None:
    at = _focused(page)
    if at is None:
        page.locator(".cell[tabindex='0']").focus()
        at = _focused(page)
    assert at is not None
    files, ranks = chess.square_file(to) - chess.square_file(at), chess.square_rank(to) - chess.square_rank(at)
    flipped = page.locator("#game.flipped").count() == 1
    for steps, ahead, back in ((files, "ArrowRight", "ArrowLeft"), (ranks, "ArrowUp", "ArrowDown")):
        for _ in range(abs(steps)):
            page.keyboard.press(ahead if (steps > 0) != flipped else back)
    expect(square(page, chess.square_name(to))).to_be_focused()


def _focused(page: Page) -> chess.Square | None:
    name = page.evaluate("document.activeElement?.dataset?.square ?? null")
    return None if name is None else chess.parse_square(name)


def _promote(page: Page, move: chess.Move, *, keyboard: bool = False) -> None:
    if move.promotion is None:
        return
    button = page.get_by_role("dialog").get_by_role("button", name=chess.piece_name(move.promotion))
    if keyboard:
        expect(page.get_by_role("dialog").get_by_role("button").first).to_be_focused()
        for _ in range(["queen", "knight", "rook", "bishop"].index(chess.piece_name(move.promotion))):
            page.keyboard.press("Tab")
        expect(button).to_be_focused()
        page.keyboard.press("Enter")
    else:
        button.click()


def sense_around(page: Page, name: str) -> None:
    """Sense around a square as soon as it is the player's turn, and wait for the result: a page asks for one thing at
    a time."""
    outcome = page.locator(".status .outcome")
    expect(outcome).to_have_text(re.compile("choose the square around which to sense"))
    press(page, name)
    expect(outcome).to_have_text(re.compile("^Your turn( to move|: you are in check)"))


def type_move(page: Page, move: chess.Move) -> None:
    """Make a move by typing it."""
    page.get_by_label(re.compile("^(Your move|Ask for a move)$")).fill(move.uci())
    page.keyboard.press("Enter")


def fen_of(page: Page) -> str:
    """Return the position that the page shows."""
    fen: str = page.get_by_label("FEN").input_value()
    return fen


def moves_of(page: Page) -> list[chess.Move]:
    """Return the moves that the page suggests to somebody who types."""
    listed: list[str] = page.locator("#legal option").evaluate_all("all => all.map((each) => each.value)")
    return [chess.Move.from_uci(each) for each in listed]


def seen_on(page: Page) -> list[str]:
    """Return the pieces that the squares of the board say to a screen reader, as in "e8, black king"."""
    said: list[str] = page.locator("#place [data-square]").evaluate_all("all => all.map((each) => each.ariaLabel)")
    return [", ".join(each.split(", ")[:2]) for each in said]


#: Makes a move on a page.
Mover = Callable[[Page, chess.Move], None]


def until_turn_or_end(page: Page) -> Literal["turn", "end"]:
    """Wait until it is the person's turn, or the game is over."""
    expect(page.locator(".status .outcome")).to_have_text(re.compile(f"Your turn|{OVER.pattern}"))
    return "end" if page.locator(".status .outcome strong").count() else "turn"


def play_chess(page: Page, rng: random.Random, move: Mover) -> None:
    """Play a game of chess to its end, with moves at random but for mates; resign if it is long."""
    for _ in range(MOST_TURNS):
        if until_turn_or_end(page) == "end":
            return
        fen = fen_of(page)
        move(page, _chosen(chess.Board(fen), rng))
        expect(page.get_by_label("FEN")).not_to_have_value(fen)
    if until_turn_or_end(page) == "turn":
        resign(page)


def _chosen(board: chess.Board, rng: random.Random) -> chess.Move:
    moves = list(board.legal_moves)
    return rng.choice([each for each in moves if board.is_capture(each)] or moves)


def resign(page: Page) -> None:
    """Resign: in two steps."""
    page.get_by_text("Resign …").click()
    page.get_by_role("button", name="Resign the game").click()
    expect(page.locator(".status .outcome strong")).to_be_visible()


def sequence(page: Page) -> str:
    """Return what the page says of the game."""
    said: str = page.locator(".status").inner_text()
    return said
