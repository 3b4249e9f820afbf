"""Generated code in the clients is current, and ``python -m clients.generate`` makes it so."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clients.generate.blocking_client import blocking_client
from clients.generate.files import current
from clients.generate.kinds import Method, check, members
from clients.generate.protocol_tables import with_tables
from gm_client import blocking, gmcat
from gm_protocol.messages import REQUESTS, Challenge, Request
from tests.clients.other_languages import ROOT

BLOCKING = Path("clients/python/gm_client/blocking.py")
CHESS = Path("clients/python/gm_client/chess_client.py")
TRIO = Path("clients/python/gm_client/trio_client.py")
GMCAT = Path("clients/python/gm_client/gmcat.py")
DECLARATIONS = Path("clients/node/protocol.d.ts")
NODE_CLIENT = Path("clients/node/index.d.ts")
KINDS = Path("clients/node/lib/kinds.js")
SCHEMA = Path("protocol/schema.json")
SPECIFICATION = Path("PROTOCOL")
LIMITS = Path("docs/protocol/limits.md")


def generate(tree: Path, *arguments: str) -> tuple[int, list[str]]:
    """Run the generator; return its exit status and the files that it names."""
    command = [sys.executable, "-m", "clients.generate", *arguments]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a folder with a copy of all files that the generator reads and writes."""
    shutil.copytree(ROOT / "clients" / "generate", tmp_path / "clients" / "generate")
    for path in (BLOCKING, CHESS, TRIO, GMCAT, DECLARATIONS, NODE_CLIENT, KINDS, SCHEMA, SPECIFICATION, LIMITS):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_generated_files_are_current() -> None:
    stale = [path for path, text in current(ROOT).items() if text != path.read_text("utf-8")]
    assert stale == [], "run: python -m clients.generate"
    generated = (BLOCKING, CHESS, GMCAT, DECLARATIONS, KINDS, SPECIFICATION, LIMITS)
    assert {ROOT / path for path in generated} <= current(ROOT).keys()


@pytest.mark.slow
def test_check_option_names_stale_files_and_writes_nothing(tree: Path) -> None:
    assert generate(tree, "--check") == (0, [])
    replace(tree / TRIO, "Check that the server answers.", "Is a server there?")
    before = (tree / BLOCKING).read_text("utf-8")
    assert generate(tree, "--check") == (1, [str(BLOCKING), str(CHESS), str(DECLARATIONS)])
    assert (tree / BLOCKING).read_text("utf-8") == before
    assert generate(tree) == (0, [str(BLOCKING), str(CHESS), str(DECLARATIONS)])
    replace(tree / DECLARATIONS, "export type Id = number | bigint;", "export type Id = number;")
    assert generate(tree, "--check") == (1, [str(DECLARATIONS)])


@pytest.mark.slow
def test_change_of_the_trio_client_reaches_the_blocking_client(tree: Path) -> None:
    replace(
        tree / TRIO,
        "    async def ping(self",
        "    async def pong(self) -> Reply:\n        return await self.ping()\n\n    async def ping(self",
    )
    assert generate(tree) == (0, [str(BLOCKING), str(CHESS)])
    assert "    def pong(self) -> Reply:\n        return self.ping()\n" in (tree / BLOCKING).read_text("utf-8")
    assert generate(tree, "--check") == (0, [])


@pytest.mark.slow
def test_new_schema_field_reaches_the_types_of_both_languages(tree: Path) -> None:
    schema = json.loads((tree / SCHEMA).read_text("utf-8"))
    structs = schema["$defs"]
    structs["LeaderboardRow"]["properties"]["streak"] = {"type": "integer", "description": "How many games were won."}
    structs["LeaderboardRow"]["required"].append("streak")
    structs["GetLeaderboard"]["properties"]["since"] = {
        "description": "Only games from this day on.",
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "default": None,
    }
    structs["Limits"]["properties"]["max_streaks"] = {"type": "integer", "description": "Most streaks."}
    (tree / SCHEMA).write_text(json.dumps(schema), "utf-8")
    assert generate(tree) == (0, [str(BLOCKING), str(DECLARATIONS), str(SPECIFICATION), str(LIMITS)])
    blocking, declarations = [(tree / path).read_text("utf-8") for path in (BLOCKING, DECLARATIONS)]
    assert "    #: How many games were won.\n    streak: int\n" in blocking
    assert "    since: str | None\n" in blocking
    assert "  /** How many games were won. */\n  streak: number;\n" in declarations
    assert "  since?: string | null;\n" in declarations
    specification = (tree / SPECIFICATION).read_text("utf-8")
    assert "\n  streak    int: How many games were won\n" in specification
    assert "\n  [since] string: Only games from this day on\n" in specification
    assert re.search(r"\n  \[max_streaks\] +int: Most streaks\n", (tree / LIMITS).read_text("utf-8"))


def test_field_without_description_is_refused() -> None:
    schema = json.loads((ROOT / SCHEMA).read_text("utf-8"))
    del schema["$defs"]["ClockOption"]["properties"]["lag"]["description"]
    with pytest.raises(ValueError, match="ClockOption: lag has no description"):
        with_tables("Object: ClockOption\n", schema)


@pytest.mark.parametrize("client", [blocking, gmcat])
def test_actions_need_a_ply_and_what_has_an_effect_of_its_own_a_token_to_be_sent_again(client: Any) -> None:
    reading = "hello ping state wait actions games history players invitations leaderboard belief"
    without_further_effect = "join revoke accept decline settings contest"
    assert set(f"{reading} {without_further_effect}".split()) == client.READING
    assert {"move", "sense", "end_game"} == client.ACTING
    assert {"new_game", "game_from_pgn", "challenge", "seek", "pair", "register", "rekey"} == client.MAKING
    assert sorted(REQUESTS) == sorted([*client.READING, *client.ACTING, *client.MAKING])


class Rematch(Challenge, tag="rematch", kw_only=True):
    """A request to play again."""


class Undo(Request, tag="undo", kw_only=True):
    """A request that does not say when it may be sent again."""


class Offer(Request, tag="offer", kw_only=True):
    """A request without the field by which it may be sent again."""

    retry = "token"


class Close(Request, tag="close", kw_only=True):
    """A request with the name of a method that the Node client has already."""

    retry = "always"


@pytest.mark.parametrize(
    ("kind", "request_", "refusal"),
    [
        ("undo", Undo, "Undo: retry is None; set it to 'always', or to its field 'ply' or 'token'"),
        ("offer", Offer, "Offer: retry is 'token'; set it to 'always', or to its field 'ply' or 'token'"),
        ("rematch", Rematch, "trio_client.py has no method for rematch"),
        ("close", Close, "close: the Node client has a member of this name; choose another kind"),
    ],
)
def test_kind_that_clients_cannot_have_is_refused(kind: str, request_: type[Request], refusal: str) -> None:
    methods = [] if kind == "rematch" else [Method(kind, "Reply", "")]
    own = members((ROOT / NODE_CLIENT).read_text("utf-8"))
    with pytest.raises(ValueError, match=f"^{re.escape(refusal)}$"):
        check({kind: request_}, methods, own)


def test_new_kind_reaches_every_client_from_its_struct_and_its_method(tree: Path) -> None:
    schema = json.loads((tree / SCHEMA).read_text("utf-8"))
    structs = schema["$defs"]
    structs["Rematch"] = json.loads(json.dumps(structs["Challenge"]))
    structs["Rematch"]["properties"]["kind"] = {"enum": ["rematch"]}
    structs["Request"]["oneOf"].append({"$ref": "#/$defs/Rematch"})
    (tree / SCHEMA).write_text(json.dumps(schema), "utf-8")
    method = '''    async def rematch(self, opponent: str | int, **fields: Unpack[RematchFields]) -> SeatReply:
        """Play again."""
        return await self._call(SeatReply, "rematch", opponent=opponent, **fields)

'''
    replace(tree / TRIO, "    async def ping(self", f"{method}    async def ping(self")
    texts = current(tree, {**REQUESTS, "rematch": Rematch})
    for path in (BLOCKING, GMCAT, KINDS):
        making = texts[tree / path].partition("MAKING")[2].partition("]" if path == KINDS else "}")[0]
        assert '"rematch"' in making, "it has a token"
    assert "  /** Play again. */\n  rematch(fields: RematchFields): Promise<SeatReply>;\n" in texts[tree / DECLARATIONS]


def test_trio_word_without_a_blocking_counterpart_is_refused() -> None:
    source = "import trio\n\n\nasync def nap() -> None:\n    await trio.sleep(1)\n"
    with pytest.raises(
        ValueError, match=r"'trio' is left in the blocking client; add a replacement to WORDS: 'trio.sleep\(1\)'"
    ):
        blocking_client(source)
