"""A failing bot loses its game and affects nothing else; games may end, or their daemon, while a bot thinks."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from gm_arena import seat
from gm_arena.bot import BotFailed
from gm_arena.bridge import Bridge, BridgeError, Server
from gm_arena.reconchess_bot import ReconchessBots
from gm_client.trio_client import connect
from tests.arena.playing import BOTS, PATIENCE, Witness, bridged, new_games, recon_bot
from tests.serving import Served

pytestmark = pytest.mark.slow

ME, OTHER = 72_001, 72_002

AT_RANDOM = ReconchessBots("reconchess.bots.random_bot")

#: A bot's troubles, and what its log must contain.
TROUBLES = {
    "start raise": "ZeroDivisionError: trouble in start",
    "sense illegal": "chose what is not allowed: square: 64 is not a square",
    "move null": "chose what is not allowed: 0000 is not among the move actions",
    "move engine": "BrokenPipeError: [Errno 32] Broken pipe",
    "move exit": "SystemExit: I have had enough",
    "move die": "was ended by Killed",
}


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_failing_bot_resigns_its_game(
    trouble: str, daemon_process: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setenv("TROUBLE", trouble)
    witness = await bridged(daemon_process.port, ME, recon_bot("troubled"), new_games(OTHER, colors=["white"]))
    (first,) = witness.played
    assert first.failed
    assert first.state["termination"] == "resignation_white"
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert all(message.startswith(f"game {first.place.game_id}, ") for message in errors)
    assert any(TROUBLES[trouble] in message for message in errors)
    if trouble.split()[1] not in ("die", "illegal", "null"):
        assert "Traceback (most recent call last)" in errors[0]
        assert "troubled.py" in errors[0]
    assert any(record.getMessage().endswith(": a line that Troubled prints") for record in caplog.records)


async def test_failure_after_the_end_changes_nothing(
    daemon_process: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setenv("TROUBLE", "end raise")
    witness = await bridged(daemon_process.port, ME, recon_bot("troubled"), new_games(ME, max_turns=2))
    assert [played.state["termination"] for played in witness.played] == ["draw_turn_limit"] * 2
    assert [played.failed for played in witness.played] == [True, True]
    assert caplog.text.count("ZeroDivisionError: trouble in end\nTraceback") == 2
    assert caplog.text.count(": a last line\n") == 2


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (str(BOTS / "troubled.py"), "raised ZeroDivisionError: trouble in init"),
        ("reconchess.bots.no_such.bot", "there is no module reconchess.bots.no_such"),
        ("reconchess.types", "reconchess.types has no subclass of gm_recon.Player or reconchess.Player"),
        (f"{BOTS / 'patient.py'}:Foo", "patient.py has no player Foo; its players: Patient"),
    ],
)
async def test_bot_that_cannot_be_started_is_refused_at_once(
    source: str, reason: str, daemon_process: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TROUBLE", "init raise")
    with pytest.raises(BotFailed) as failed:
        await bridged(daemon_process.port, ME, ReconchessBots(source), new_games(OTHER))
    assert reason in str(failed.value)
    # The bot's own code does not appear in the traceback of its name.
    assert failed.value.details.startswith("Traceback (most recent call last)") is ("raised" in reason)


async def test_bridge_stops_when_it_leaves_alone_more_games_than_the_server_can_except(daemon_process: Served) -> None:
    """A server's wait for all games can except a hundred."""
    player = ME + 20
    async with await connect(port=daemon_process.port, player=player) as client:
        for _ in range(101):
            await client.new_game(player, OTHER, brief=True)
    with pytest.raises(BridgeError, match="101 games are left alone, but the server excludes at most 100"):
        await bridged(daemon_process.port, player, AT_RANDOM, lambda bridge: bridge.play_all())


async def test_unplayable_invitations_are_declined_and_do_not_stop_the_bridge(daemon_process: Served) -> None:
    """Otherwise a stranger could stop it, by a hundred and one invitations."""
    port, witness = daemon_process.port, Witness()
    async with await connect(port=port, player=OTHER) as stranger, await connect(port=port) as client:
        account = await client.register("connect-invited")
        me, key = account["player"], account["key"]
        chess = [(await stranger.new_game(OTHER, me, brief=True))["game_id"] for _ in range(101)]
        bridge = Bridge(Server(port=port, hello={"player": me, "key": key}), AT_RANDOM, witness, at_once=4)
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(bridge.run, lambda bridge: bridge.play_all(1))
                for game_id in chess:
                    while (await stranger.wait(game_id, brief=True))["state"]["phase"] != "over":
                        pass
                blind = (await client.new_game(me, me, variant="rbc", max_turns=1, player=me, key=key))["game_id"]
        ends = [(await stranger.state(game_id, brief=True))["state"]["termination"] for game_id in chess]
    assert witness.declined == [(game_id, "is standard, and RandomBot plays rbc") for game_id in chess]
    assert (witness.left, witness.ends_by_game) == ([], {blind: "draw_turn_limit"})
    assert ends == ["declined"] * 101


async def test_finished_games_left_alone_do_not_count(daemon_process: Served) -> None:
    """Otherwise those of months would stop it."""
    port, player, witness = daemon_process.port, ME + 30, Witness()
    async with await connect(port=port, player=OTHER) as other:
        games = [(await other.new_game(player, OTHER, brief=True))["game_id"] for _ in range(100)]

        async def plan(bridge: Bridge) -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(bridge.play_all, 1)
                await witness.until_left(100)
                for game_id in games:
                    await other.end_game(game_id, "resignation_black")
                games.append((await other.new_game(player, OTHER, brief=True))["game_id"])
                await witness.until_left(101)
                games.append((await other.new_game(player, player, variant="rbc", max_turns=1))["game_id"])

        with trio.fail_after(PATIENCE):
            await Bridge(Server(port=port, hello={"player": player}), AT_RANDOM, witness, at_once=4).run(plan)
    assert [game_id for game_id, _ in witness.left] == games[:101]
    assert witness.ends_by_game == {games[101]: "draw_turn_limit"}


class Gates:
    """Pipes through which a bot reports that it thinks, and waits to continue."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.thinks, self.go_on, self.calls = folder / "thinks", folder / "go_on", folder / "calls"
        for pipe in (self.thinks, self.go_on):
            os.mkfifo(pipe)
        self._thinks, self._go_on = (os.open(pipe, os.O_RDWR) for pipe in (self.thinks, self.go_on))
        monkeypatch.setenv("THINKS", str(self.thinks))
        monkeypatch.setenv("GO_ON", str(self.go_on))
        monkeypatch.setenv("CALLS", str(self.calls))

    async def until_it_thinks(self) -> None:
        """Wait for one bot to begin to think."""
        assert await trio.to_thread.run_sync(os.read, self._thinks, 1, abandon_on_cancel=True) == b"!"

    def let_it_go_on(self) -> None:
        """Let one bot that thinks, now or later, continue."""
        os.write(self._go_on, b"!")

    def close(self) -> None:
        os.close(self._thinks)
        os.close(self._go_on)


@pytest.fixture
def gates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gates]:
    made = Gates(tmp_path, monkeypatch)
    yield made
    made.close()


async def resign(port: int, game_id: int, player: int = OTHER) -> None:
    async with await connect(port=port, player=player) as client:
        await client.end_game(game_id, "resignation_black")


async def test_game_that_ends_while_the_bot_thinks_is_reported_to_the_bot(gates: Gates, daemon_process: Served) -> None:
    """Its later actions are answered as in a finished game, and it receives the result. The second bot thinks while the
    first one does.
    """

    async def plan(bridge: Bridge) -> None:
        await new_games(OTHER, 2, colors=["white"])(bridge)
        for _ in range(2):
            await gates.until_it_thinks()
        for game_id in bridge.games_in_hand:
            await resign(daemon_process.port, game_id)
        for _ in range(2):
            gates.let_it_go_on()

    witness = await bridged(daemon_process.port, ME, recon_bot("patient"), plan)
    ends = [(played.failed, played.state["termination"]) for played in witness.played]
    assert ends == [(False, "resignation_black")] * 2
    assert Counter(gates.calls.read_text().splitlines()) == {
        "('sensed', [])": 2,
        "('moved', None, False, None)": 2,
        "('end', True, 'RESIGN', 1)": 2,
    }


async def test_bot_that_thinks_on_after_the_end_is_stopped(
    gates: Gates, daemon_process: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(seat, "WATCH_SECONDS", 0.01)
    monkeypatch.setattr(seat, "GRACE_SECONDS", 0.01)

    async def plan(bridge: Bridge) -> None:
        await new_games(OTHER, colors=["white"])(bridge)
        await gates.until_it_thinks()
        await resign(daemon_process.port, bridge.games_in_hand[0])

    witness = await bridged(daemon_process.port, ME, recon_bot("patient"), plan)
    assert [(played.failed, played.state["termination"]) for played in witness.played] == [(True, "resignation_black")]
    assert "kept thinking for 0.01 seconds after the end of the game" in caplog.text


async def test_bot_does_not_begin_a_game_in_the_middle(gates: Gates, daemon_process: Served) -> None:
    """Such a game is refused if it is named; otherwise it is left alone, and the next one is played."""
    player = ME + 10
    async with await connect(port=daemon_process.port, player=player) as client:
        begun = (await client.new_game(player, player, variant="rbc", max_turns=1))["game_id"]
        for seat in ("white", "black"):
            await client.sense(begun, None, seat=seat)
            await client.move(begun, None, seat=seat)
        middle = (await client.new_game(player, player, variant="rbc"))["game_id"]
        for seat in ("white", "black"):
            await client.sense(middle, None, seat=seat)
            await client.move(middle, None, seat=seat)
        fresh = (await client.new_game(player, player, variant="rbc", max_turns=1))["game_id"]
    for _ in range(2):
        gates.let_it_go_on()
    reason = "is under way, and Patient can play a game from its beginning only"
    with pytest.raises(BridgeError, match=f"game {middle} {reason}"):
        await bridged(daemon_process.port, player, recon_bot("patient"), lambda bridge: bridge.play_one(middle))
    witness = await bridged(daemon_process.port, player, recon_bot("patient"), lambda bridge: bridge.play_all(1))
    assert witness.left == [(middle, reason)]
    assert set(witness.ends_by_game) == {fresh}
