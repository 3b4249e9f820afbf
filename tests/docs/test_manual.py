"""The manual's examples and the front page's do what the text beside them says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gm_arena.report import Lines
from gm_arena.specs import bots_of
from tests.arena.playing import untimed
from tests.docs.pages import MANUAL, ROOT, Reader, blocks_of, is_progress, reader
from tests.tools import require_tool

#: Pages whose blocks other tests run, and which.
ELSEWHERE = {
    "how-to/embed.md": "tests/embedding/test_readme_examples.py",
    "reference/env.md": "tests/env/test_pages.py",
    "reference/env-interfaces.md": "tests/env/test_pages.py",
    "reference/env-policies.md": "tests/env/test_pages.py",
    "reference/bots.md": "tests/bots/test_readme.py",
    "reference/match.md": "tests/arena/test_pages.py",
    "reference/python-client.md": "tests/clients/test_python_readme.py",
    "reference/replay.md": "tests/arena/test_pages.py",
}
KEY = r"[\w-]{43}"


def pages() -> list[str]:
    """Return the pages of the manual that have blocks to be run."""
    return sorted(str(page.relative_to(MANUAL)) for page in MANUAL.glob("*/*.md") if blocks_of(page))


@pytest.fixture
def at_desk(tmp_path: Path) -> Iterator[Reader]:
    """Yield a reader with a new daemon and an empty folder."""
    require_tool("jq")
    with reader(tmp_path) as found:
        yield found


def test_rival_that_is_stopped_before_it_has_seen_the_end_of_its_game_reports_progress(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Lines(bots_of("random")).drains(1)
    assert is_progress(capsys.readouterr().err.rstrip("\n"))


def test_every_page_with_examples_has_a_test() -> None:
    tested = {
        "tutorials/first-rbc-bot.md",
        "tutorials/from-the-shell.md",
        "tutorials/is-it-better.md",
        "how-to/bare-socket.md",
        "how-to/bots-of-gmd.md",
        "how-to/from-lichess-bot.md",
        "how-to/games.md",
        "how-to/move-a-codingame-bot.md",
        "how-to/move-a-reconchess-bot.md",
        "how-to/move-a-uci-engine.md",
        "how-to/players.md",
        "how-to/records.md",
        "how-to/simulate.md",
        "how-to/tournament.md",
        "how-to/what-you-need.md",
    }
    assert set(pages()) == tested | ELSEWHERE.keys()
    assert all((ROOT / test).exists() for test in ELSEWHERE.values())


def test_front_page_s_bots_play_to_the_end(tmp_path: Path) -> None:
    with reader(tmp_path, "--bots", "random") as at_desk:
        blind, plain = at_desk.follow(ROOT / "README.md")
    assert re.fullmatch(r"((1-0|0-1) KING_CAPTURE|1/2-1/2 MOVE_LIMIT)\n", blind)
    assert re.fullmatch(r"(1-0|0-1|1/2-1/2)\n", plain)


def test_links_of_the_front_page_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.slow
def test_first_rbc_bot_plays_and_is_ranked_and_its_last_steps_may_be_followed_again(tmp_path: Path) -> None:
    page = MANUAL / "tutorials/first-rbc-bot.md"
    with reader(tmp_path, "--bots", "random") as at_desk:
        check_first_rbc_bot(*at_desk.follow(page))
        for block in blocks_of(page)[-2:]:
            at_desk.run(block)


def check_first_rbc_bot(ping: str, _: str, game: str, replay: str, keys: str, ranked: str) -> None:
    assert (ping, keys) == ('{"error":null}\n', "")
    assert re.fullmatch(r"((1-0|0-1) KING_CAPTURE|1/2-1/2 MOVE_LIMIT)\n", game)
    assert len(replay.splitlines()) == 5
    *_, first, second, _, _ = ranked.splitlines()
    assert "first-bot" in first + second
    assert "rival" in first + second


@pytest.mark.slow
def test_game_from_the_shell_is_made_moved_in_and_shown(at_desk: Reader) -> None:
    first, whole, pgn = at_desk.follow(MANUAL / "tutorials/from-the-shell.md")
    assert first.splitlines()[-1] == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    lines = whole.splitlines()
    assert len(lines) == 7
    assert lines[-1] == "7 h5f7 victory_white r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4"
    moves, *rest = pgn.splitlines()
    assert moves == "1.d4 d5 2.c4 e6"
    assert rest[-2:] == ["1. d4 d5 2. c4 e6 *", ""]


@pytest.mark.slow
def test_match_is_played_and_summed_up(at_desk: Reader) -> None:
    fixed, sequential = at_desk.follow(MANUAL / "tutorials/is-it-better.md")
    lines = fixed.splitlines()
    assert [line.split(":")[0] for line in lines[:4]] == ["game 1", "game 2", "game 3", "game 4"]
    assert lines[4].startswith("new against old: won ")
    assert sequential.splitlines()[-1].startswith("new passes the test: stronger than old (error rate 5 %), after 2")


@pytest.mark.slow
def test_bot_on_a_bare_socket_plays_to_the_end(at_desk: Reader) -> None:
    (printed,) = at_desk.follow(MANUAL / "how-to/bare-socket.md")
    result, termination, first_move, *_ = printed.split()
    assert result in {"1-0", "0-1", "1/2-1/2"}
    assert termination.startswith(("victory", "draw", "stalemate"))
    assert first_move.startswith("1.")


@pytest.mark.slow
def test_bots_that_come_with_gmd_play_each_other(at_desk: Reader) -> None:
    (printed,) = at_desk.follow(MANUAL / "how-to/bots-of-gmd.md")
    lines = untimed(printed).splitlines()
    assert [line for line in lines if line.startswith("won ")].count("won 2, lost 0, drawn 0") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("page", "ends"), [("move-a-reconchess-bot", 2 * 2), ("move-a-uci-engine", 2)])
def test_bot_written_for_something_else_plays(page: str, ends: int, at_desk: Reader) -> None:
    printed, *own = at_desk.follow(MANUAL / f"how-to/{page}.md")
    assert own == (["True True\n"] if page == "move-a-reconchess-bot" else [])
    lines = untimed(printed).splitlines()
    assert sum(bool(re.match(r"game \d+: (won|lost|drawn) as ", line)) for line in lines) == ends
    assert not any("failed" in line for line in lines)


@pytest.mark.slow
def test_engine_of_lichess_bot_plays_and_so_does_its_homemade_engine(tmp_path: Path) -> None:
    with reader(tmp_path, "--bots", "random") as at_desk:
        engine, homemade = at_desk.follow(MANUAL / "how-to/from-lichess-bot.md")
    assert re.search(r"^game 1: (?:won|lost|drawn) as ", untimed(engine), re.MULTILINE)
    assert "failed" not in engine
    assert re.fullmatch(r"(1-0|0-1|1/2-1/2)\n", homemade)


def test_what_is_installed_is_said(at_desk: Reader) -> None:
    (printed,) = at_desk.follow(MANUAL / "how-to/what-you-need.md")
    version, *programs = printed.splitlines()
    assert re.fullmatch(r"gmd, version \d+\.\d+\.\d+", version)
    assert len(programs) == 2


@pytest.mark.slow
def test_bot_of_codingame_s_plays_alone_and_in_its_match(at_desk: Reader) -> None:
    alone, match = at_desk.follow(MANUAL / "how-to/move-a-codingame-bot.md")
    assert len(re.findall(r"^game 1: (?:won|lost|drawn) as ", untimed(alone), re.MULTILINE)) == 2
    assert "failed" not in alone
    assert re.fullmatch(r"10\.\.\. \S+ +\[1/2-1/2 move limit\]", match.splitlines()[-1])


@pytest.mark.slow
def test_registered_players_play_as_the_page_says_also_when_it_is_followed_again(at_desk: Reader) -> None:
    first = at_desk.follow(MANUAL / "how-to/players.md")
    check_registered_players(*first)
    again = [at_desk.run(block) for block in blocks_of(MANUAL / "how-to/players.md") if "their-bot" not in block.text]
    assert [shape(printed) for printed in again] == [shape(printed) for printed in first if "their-bot" not in printed]


def check_registered_players(registered: str, invited: str, password: str, operator: str, lobby: str) -> None:
    seats, joined, move = registered.splitlines()
    assert re.fullmatch(r"\[45035\d{11},null\]", seats)
    assert (joined, move) == ("black", "e2e4")
    assert invited.splitlines() == ["open", "black", "move"]
    assert re.fullmatch(rf"absent-minded-\d+\n{KEY}\n", password)
    first, *players, second, revoked = operator.splitlines()
    assert re.fullmatch(KEY, first)
    assert re.fullmatch(KEY, second)
    assert first != second
    names = ["their-bot-N", "absent-minded-N  (password)", "my-guest-N", "my-bot"]
    assert [re.sub(r"-\d+", "-N", line.split("  ", 2)[2]) for line in players] == names
    assert re.fullmatch(r"their-bot-\d+ \(\d{16}\) no longer has a key\.", revoked)
    assert lobby.split() == ["8", "open", "black", "move"]


def shape(said: str) -> str:
    """Return what a block printed without ids, times, keys and what comes of ``$RANDOM``."""
    said = re.sub(rf"^(?=.*[a-zA-Z]){KEY}$", "KEY", untimed(said), flags=re.MULTILINE)
    return re.sub(r"\d+", "N", said)


@pytest.mark.slow
def test_games_have_the_options_that_were_asked_for_and_blind_players_see_their_own_pieces(at_desk: Reader) -> None:
    options, blind = at_desk.follow(MANUAL / "how-to/games.md")
    assert [line.split('"')[3] for line in options.splitlines()] == ["chess960", "crazyhouse", "standard", "standard"]
    sensed, taken, white, black = blind.splitlines()
    assert sensed.startswith('[["d8","bQ"],["e8","bK"],["f8","bB"],')
    assert (taken, white) == ("e2e4", "8/8/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQ - 0 1")
    assert black == "rnbqkbnr/pppppppp/8/8/8/8/8/8 b kq - 0 1"


@pytest.mark.slow
def test_records_are_exported_imported_and_checked(at_desk: Reader) -> None:
    printed, rescued = at_desk.follow(MANUAL / "how-to/records.md")
    assert printed.splitlines()[:5] == ["1", "available_move", "available_move", "available_move", "victory_black"]
    assert '[Result "0-1"]' in (at_desk.folder / "games.pgn").read_text("utf-8")
    assert len((at_desk.folder / "games.jsonl").read_text("utf-8").splitlines()) >= 1
    assert rescued.splitlines()[0].startswith("Imported a whole log with ")
    assert rescued.splitlines()[1].endswith(": nothing is damaged.")


@pytest.mark.slow
def test_simulated_games_end_as_the_page_s_seed_has_it(at_desk: Reader) -> None:
    (random_games,) = at_desk.follow(MANUAL / "how-to/simulate.md")
    last_fen = "1n3b2/5q2/2B2R2/1b6/P6p/RP2r2P/1P1rP3/3K4 b - - 0 43"
    assert random_games == f"{{'KING_CAPTURE': 98, 'MOVE_LIMIT': 2}} {last_fen}\n"


@pytest.mark.slow
def test_six_bots_play_a_tournament_that_has_an_order(at_desk: Reader) -> None:
    (printed,) = at_desk.follow(MANUAL / "how-to/tournament.md")
    rows = [line.split("│")[1:-1] for line in printed.splitlines() if line.startswith("│")]
    bots = {"Wanderer", "Grabber", "Rusher", "Watcher", "Trader", "Hunter"}
    assert {row[1].split("-")[0].strip() for row in rows} == bots
    assert [row[3].strip() for row in rows] == ["5"] * 6
    games = (at_desk.folder / "spring.pgn").read_text("utf-8")
    assert games.count("[Result ") == 15
    assert games.count('[Result "1/2-1/2"]') <= 5


def test_commands_for_reconchess_s_programs_register_each_name_once() -> None:
    """They are not run here: they ask for passwords. ``tests/http/test_rc_connect.py`` runs them with one."""
    text = (MANUAL / "how-to/from-reconchess.md").read_text("utf-8")
    lines = "".join(line for line in text.splitlines(keepends=True) if line.startswith("    "))
    registered = re.findall(r"rc-register .*--username (\S+)|gmd register (\w\S*)", lines)
    assert ["".join(each) for each in registered] == ["rc-bot", "other-bot", "attacker"]
    users = re.findall(r"rc-connect .*--username (\S+)|curl -u (\S+)|\"opponent\": \"(\S+)\"", lines)
    assert {"".join(each) for each in users} == {"rc-bot", "other-bot"}
    assert re.findall(r"@(\S+\.key)", lines) == re.findall(r">(\S+\.key)", lines) == ["attacker.key"]
