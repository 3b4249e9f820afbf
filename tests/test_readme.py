"""Every example in the README runs, in its order there, against one daemon."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.arena.playing import untimed
from tests.serving import served
from tests.tools import require_tool

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
TIMEOUT_SECONDS = 120


#: What ``gmd register`` and ``gmd rekey`` write to standard error.
KEY_FOLLOWS = re.compile(r"\S+ is player \d+\. Its key, which is not shown again:")
#: What ``gmd tournament`` writes there about its progress.
GOES_ON = re.compile(r"\S+Z (round \d+|\d+\.\d+ \S+ - \S+|waiting for \S+).*")
KEY = r"[\w-]{43}"


def _run(language: str, text: str, port: int, data: str, cwd: Path) -> str:
    """Run a block as it is, except for the port and the daemon's directory."""
    if language == "python":
        command = [sys.executable, "-c", text.replace("7100", str(port))]
    else:
        text = text.replace("$PWD/.venv/bin", str(Path(sys.executable).parent))
        use_port = (
            f'gmcat() {{ command gmcat --port {port} "$@"; }}\n'
            f'gmd() {{ if [ "$1" = connect ]; then set -- "$@" --server :{port}; fi; command gmd "$@"; }}\n'
        )
        command = [str(require_tool("bash")), "-euo", "pipefail", "-c", use_port + text]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "GMD_DATA": data}
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, env=env, cwd=cwd)
    assert done.returncode == 0, done.stderr
    others = [line for line in done.stderr.splitlines() if not KEY_FOLLOWS.fullmatch(line)]
    assert [line for line in others if not GOES_ON.fullmatch(line)] == []
    return done.stdout


def fenced(readme: Path) -> set[str]:
    """Return the languages of a page's code blocks."""
    return set(re.findall(r"^```(.*)\n(?:.*\n)*?```$", readme.read_text(), re.MULTILINE))


def test_readme_has_examples_of_both_languages() -> None:
    assert fenced(ROOT / "README.md") == {"sh", "python"}


def test_client_pages_have_examples_of_the_languages_that_their_tests_run() -> None:
    assert {page.parent.name: fenced(page) for page in (ROOT / "clients").glob("*/README.md")} == {
        "arena": {"python", "sh"},
        "bots": {"python", "sh", "text"},
        "c": {"c", "sh"},
        "node": {"js", "sh"},
        "python": {"python", "sh"},
        "shell": {"sh"},
    }


#: The blocks that register a player and whose output does not depend on chance, by a word of each.
REGISTERING = ['"token":', "my-guest", "absent-minded", '"max_games": 8']
#: The other blocks that register a player: they fail if one of their commands fails, and their output varies.
OF_THE_OPERATOR = ["gmd register $bot", "gmd tournament"]


class Pasted(NamedTuple):
    """What the blocks printed.

    :ivar first: each block's output, from the top of the page to the bottom.
    :ivar again: the second output of the blocks that register a player, run after all of these, by a word of each.
    """

    first: list[str]
    again: dict[str, str]


@pytest.fixture(scope="module")
def pasted(tmp_path_factory: pytest.TempPathFactory) -> Pasted:
    require_tool("jq")
    data, cwd = str(tmp_path_factory.mktemp("data")), tmp_path_factory.mktemp("cwd")
    with served("--data", data) as daemon:
        first = [_run(language, text, daemon.port, data, cwd) for language, text in BLOCKS]
        again = {word: _run("sh", block(word), daemon.port, data, cwd) for word in REGISTERING + OF_THE_OPERATOR}
    return Pasted(first, again)


@pytest.fixture
def outputs(pasted: Pasted) -> list[str]:
    """Return what each block printed."""
    return pasted.first


def block(word: str) -> str:
    """Return the text of the one block that contains a word."""
    (found,) = [text for _, text in BLOCKS if word in text]
    return found


def printed(outputs: list[str], words: str) -> str:
    """Return the output of the one block that contains these words."""
    (output,) = [output for (_, text), output in zip(BLOCKS, outputs, strict=True) if words in text]
    return output


def test_first_game_is_made_moved_in_and_shown(outputs: list[str]) -> None:
    assert outputs[0].splitlines()[-1] == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


def test_pipeline_plays_a_whole_game(outputs: list[str]) -> None:
    lines = outputs[1].splitlines()
    assert len(lines) == 7
    assert lines[-1] == ("7 h5f7 victory_white r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4")


def test_pgn_loads_and_history_is_pgn(outputs: list[str]) -> None:
    first, *rest = outputs[2].splitlines()
    assert first == "1.d4 d5 2.c4 e6"
    assert rest[-2:] == ["1. e4 *", ""]


def test_bot_plays_to_the_end(outputs: list[str]) -> None:
    result, termination, first_move, *_ = outputs[3].split()
    assert result in {"1-0", "0-1", "1/2-1/2"}
    assert termination.startswith(("victory", "draw", "stalemate"))
    assert first_move.startswith("1.")


def test_existing_bots_play(outputs: list[str]) -> None:
    lines = untimed(printed(outputs, "gmd connect reconchess:")).splitlines()
    assert sum(" plays on " in line for line in lines) == 3
    ends = [line for line in lines if re.match(r"game \d+: (won|lost|drawn) as ", line)]
    assert len(ends) == 2 * 2 + 2  # each side of two games, and of a third
    assert not any("failed" in line for line in lines)


def test_match_is_played_and_summed_up(outputs: list[str]) -> None:
    lines = printed(outputs, "gmd match").splitlines()
    assert [line.split(":")[0] for line in lines[:4]] == ["game 1", "game 2", "game 3", "game 4"]
    assert lines[4].startswith("new against old: won ")


def test_bots_that_come_with_gmd_play(outputs: list[str]) -> None:
    lines = untimed(printed(outputs, "gmd connect minimax:")).splitlines()
    assert [line for line in lines if line.startswith("won ")].count("won 2, lost 0, drawn 0") == 1


def test_registered_player_waits_for_another(outputs: list[str]) -> None:
    seats, joined, move = printed(outputs, '"token":').splitlines()
    assert re.fullmatch(r"\[45035\d{11},null\]", seats)
    assert (joined, move) == ("black", "e2e4")


def shape(said: str) -> str:
    """Return what a block printed, without ids, times, keys and what ``$RANDOM`` makes."""
    said = re.sub(r"^(?=.*[a-zA-Z])[\w-]{43}$", "KEY", untimed(said), flags=re.MULTILINE)
    return re.sub(r"\d+", "N", said)


def test_every_block_that_registers_a_player_is_run_again() -> None:
    registering = [text for language, text in BLOCKS if language == "sh" and "register" in text]
    words = REGISTERING + OF_THE_OPERATOR
    assert [sum(word in text for word in words) for text in registering] == [1] * len(words)


@pytest.mark.parametrize("word", REGISTERING)
def test_block_that_registers_a_player_may_be_run_again(word: str, pasted: Pasted) -> None:
    again = pasted.again[word]
    assert shape(again) == shape(printed(pasted.first, word))
    assert "null\n" not in again


@pytest.mark.parametrize("word", OF_THE_OPERATOR)
def test_operator_s_blocks_may_be_run_again(word: str, pasted: Pasted) -> None:
    assert "" not in (printed(pasted.first, word), pasted.again[word])


def test_no_player_is_registered_twice_and_every_key_file_is_written() -> None:
    """Check the page from the top to the bottom, with the blocks that these tests do not run."""
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = "".join(line for line in text.splitlines(keepends=True) if line.startswith("    "))
    registered = re.findall(r"rc-register .*--username (\S+)|gmd register (\w\S*)", blocks)
    names = ["".join(each) for each in registered]
    assert names == ["rc-bot", "other-bot", "attacker"]
    users = re.findall(r"rc-connect .*--username (\S+)|curl -u (\S+)|\"opponent\": \"(\S+)\"", blocks)
    assert {"".join(each) for each in users} == {"rc-bot", "other-bot"}
    assert re.findall(r"@(\S+\.key)", blocks) == re.findall(r">(\S+\.key)", blocks) == ["attacker.key"]


def test_registered_player_is_invited_and_joins(outputs: list[str]) -> None:
    assert printed(outputs, "my-guest").splitlines() == ["open", "black", "move"]


def test_password_gets_a_new_key(outputs: list[str]) -> None:
    assert re.fullmatch(rf"absent-minded-\d+\n{KEY}\n", printed(outputs, "absent-minded"))


def test_two_registered_players_find_each_other(outputs: list[str]) -> None:
    assert printed(outputs, '"max_games": 8').split() == ["8", "open", "black", "move"]


def test_operator_manages_players(outputs: list[str]) -> None:
    first, *players, second, revoked = printed(outputs, "gmd register $bot").splitlines()
    assert re.fullmatch(KEY, first)
    assert re.fullmatch(KEY, second)
    assert first != second
    names = ["their-bot-N", "absent-minded-N  (password)", "my-guest-N", "my-bot"]
    assert [re.sub(r"-\d+", "-N", line.split("  ", 2)[2]) for line in players] == names
    assert re.fullmatch(r"their-bot-\d+ \(\d{16}\) has no key any more\.", revoked)


def test_blind_players_see_their_own_pieces(outputs: list[str]) -> None:
    sensed, taken, white, black = printed(outputs, '"variant": "rbc"').splitlines()
    assert sensed.startswith('[["d8","bQ"],["e8","bK"],["f8","bB"],')
    assert (taken, white) == ("e2e4", "8/8/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQ - 0 1")
    assert black == "rnbqkbnr/pppppppp/8/8/8/8/8/8 b kq - 0 1"


def test_three_bots_play_a_tournament(outputs: list[str]) -> None:
    lines = printed(outputs, "gmd tournament").splitlines()
    rows = [line.split("│")[1:-1] for line in lines if line.startswith("│")]
    assert {row[1].split("-")[0].strip() for row in rows} == {"ann", "ben", "cyd"}
    assert [row[3].strip() for row in rows] == ["4", "4", "4"]


def test_options_are_resolved(outputs: list[str]) -> None:
    assert [line.split('"')[3] for line in printed(outputs, '"crazyhouse"').splitlines()] == [
        "chess960",
        "crazyhouse",
        "standard",
        "standard",
    ]


def test_blind_chess_is_played_in_the_process(outputs: list[str]) -> None:
    last_fen = "1n3b2/5q2/2B2R2/1b6/P6p/RP2r2P/1P1rP3/3K4 b - - 0 43"
    assert outputs[-2] == f"{{'KING_CAPTURE': 98, 'MOVE_LIMIT': 2}} {last_fen}\n"


def test_two_players_with_game_knowledge_play_in_the_process(outputs: list[str]) -> None:
    last_fen = "r1bq1bnr/p1pB2pp/np1p4/3P1p2/PP2p3/4PNP1/2P2P1P/RNBQK2R b KQ - 0 17"
    assert outputs[-1] == f"<ReconGame '{last_fen}', ply 33: White won, KING_CAPTURE>\n"
