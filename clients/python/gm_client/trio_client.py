"""The client of :mod:`gm_client.chess_client` for trio: the same names, fields, replies and errors::

    async with await connect(player=1) as client:
        game_id = (await client.new_game(1, 2, variant="rbc"))["game_id"]
        async for turn in client.turns(game_id):
            await turn.sense(random.choice(turn.sense_actions))
            await turn.move(random.choice(turn.move_actions))

Tasks may share a client: requests are sent as they are made, without waiting for earlier replies. Each loop of turns
has a connection of its own. If a task is cancelled, its request is not sent again; it may have been carried out.

All code after the imports is also the source of the blocking clients, which ``python -m clients.generate`` writes.
"""

from __future__ import annotations

import ssl
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Self, TypeVar, Unpack

from .blocking import (
    DEFAULT_PORT,
    GIVEN_UP,
    PATIENCE_SECONDS,
    ActionsFields,
    ActionsReply,
    Asked,
    BeliefFields,
    BeliefReply,
    ChallengeFields,
    ChallengeReply,
    Color,
    ContestReply,
    ContestReport,
    DeclineReply,
    EndGameFields,
    Fields,
    Following,
    GameFromPgnFields,
    GamesFields,
    GamesReply,
    GameState,
    GmError,
    HelloFields,
    HelloReply,
    HistoryReply,
    InvitationsFields,
    InvitationsReply,
    JoinFields,
    JoinReply,
    KeyReply,
    LeaderboardFields,
    LeaderboardReply,
    MoveFields,
    MoveReply,
    NewGameFields,
    NewGameReply,
    PairFields,
    PairReply,
    PlayerReply,
    PlayersFields,
    PlayersReply,
    RegisterFields,
    RekeyFields,
    Reply,
    RevokeFields,
    SeatReply,
    SeekFields,
    SenseFields,
    SenseReply,
    SettingsFields,
    SettingsReply,
    Square,
    StateActionsReply,
    StateFields,
    StateReply,
    TurnsFields,
    WaitFields,
    WaitReply,
)
from .chess_turns import AnyMove, Sensed, TurnView, read_sense, written
from .trio_session import TrioSession

R = TypeVar("R")


async def connect(
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    *,
    path: str | None = None,
    tls: bool | ssl.SSLContext = False,
    patience: float = PATIENCE_SECONDS,
    **hello: Unpack[HelloFields],
) -> Client:
    """Connect and say hello, in one attempt at each server.

    Later losses of the connection are repaired: the client reconnects for up to ``patience`` seconds, and sends
    unanswered requests again. Only a request that might then be carried out twice fails, with a
    :class:`ConnectionLost` that was ``sent``: a ``move``, ``sense`` or ``end_game`` without ``ply``.

    :param host: a server; or several of which one serves, as in ``"a:7100,[::1]:7101,c"``. They are tried in turn, from
        the one that answered last; one that does not answer the hello in five seconds is left for the next.
    :param port: the port of servers without one.
    :param path: a Unix socket, instead of host and port.
    :param tls: True to trust the system's certificates, or a context.
    :param hello: the default ``player`` of all requests, with its ``key`` if it is registered.
    :raises ConnectionLost: the server cannot be reached.
    :raises GmError: the server refuses the hello.
    """
    client = Client(host, port, path=path, tls=tls, patience=patience, **hello)
    await client.open()
    return client


class Client(TrioSession):
    """A session. Every kind of message is a method of the same name; it returns the reply or raises :class:`GmError`.

    Ids are integers, whatever their size.
    """

    async def _call(self, reply: type[R], kind: str, **fields: Any) -> R:
        """Send a request of a kind.

        :param reply: the type of the reply.
        """
        result: R = await self.request(kind, **fields)
        return result

    async def hello(self, **fields: Unpack[HelloFields]) -> HelloReply:
        """Change the default player of the requests and connections that follow."""
        return await self._call(HelloReply, "hello", **fields)

    async def ping(self, **fields: Unpack[Fields]) -> Reply:
        """Check that the server answers."""
        return await self._call(Reply, "ping", **fields)

    async def new_game(
        self, player_white: int | None, player_black: int | None, **fields: Unpack[NewGameFields]
    ) -> NewGameReply:
        """Begin a game; a seat that is None is open to any player."""
        seats = {"player_white": player_white, "player_black": player_black}
        return await self._call(NewGameReply, "new_game", **seats, **fields)

    async def game_from_pgn(
        self, player_white: int | None, player_black: int | None, **fields: Unpack[GameFromPgnFields]
    ) -> NewGameReply:
        """Begin a game from the end of the main line of ``pgn``."""
        seats = {"player_white": player_white, "player_black": player_black}
        return await self._call(NewGameReply, "game_from_pgn", **seats, **fields)

    async def move(self, game_id: int, move: str | None, **fields: Unpack[MoveFields]) -> MoveReply:
        """Move, in SAN or UCI; in reconnaissance blind chess in UCI, or None to pass."""
        return await self._call(MoveReply, "move", game_id=game_id, move=move, **fields)

    async def sense(self, game_id: int, square: Square | None, **fields: Unpack[SenseFields]) -> SenseReply:
        """Sense around a square, or None to sense nothing."""
        return await self._call(SenseReply, "sense", game_id=game_id, square=square, **fields)

    async def end_game(self, game_id: int, termination: str, **fields: Unpack[EndGameFields]) -> StateReply:
        """Resign, claim a draw, or agree to one."""
        return await self._call(StateReply, "end_game", game_id=game_id, termination=termination, **fields)

    async def state(self, game_id: int, **fields: Unpack[StateFields]) -> StateActionsReply:
        """Return the game as the player may see it."""
        return await self._call(StateActionsReply, "state", game_id=game_id, **fields)

    async def wait(self, game_id: int | None = None, **fields: Unpack[WaitFields]) -> WaitReply:
        """Wait until the player is to act in the game, or in any of its games, or until a game is over."""
        which = {} if game_id is None else {"game_id": game_id}
        return await self._call(WaitReply, "wait", **which, **fields)

    async def actions(self, game_id: int, **fields: Unpack[ActionsFields]) -> ActionsReply:
        """Return the actions that are open to the player now."""
        return await self._call(ActionsReply, "actions", game_id=game_id, **fields)

    async def games(self, **fields: Unpack[GamesFields]) -> GamesReply:
        """Return a page of games, newest first."""
        return await self._call(GamesReply, "games", **fields)

    async def history(self, game_id: int, **fields: Unpack[Fields]) -> HistoryReply:
        """Return the whole game."""
        return await self._call(HistoryReply, "history", game_id=game_id, **fields)

    async def belief(self, game_id: int, **fields: Unpack[BeliefFields]) -> BeliefReply:
        """Return what the player may know of the position of a game of rbc, by all that it has observed."""
        return await self._call(BeliefReply, "belief", game_id=game_id, **fields)

    async def register(self, name: str, **fields: Unpack[RegisterFields]) -> KeyReply:
        """Register a player. Store the key: it is shown only once."""
        return await self._call(KeyReply, "register", name=name, **fields)

    async def rekey(self, **fields: Unpack[RekeyFields]) -> KeyReply:
        """Get another key for a registered player, which replaces its present one.

        The client and its loops of turns go on with a key of their own player.
        """
        return await self._call(KeyReply, "rekey", **fields)

    async def join(self, game_id: int, **fields: Unpack[JoinFields]) -> JoinReply:
        """Take the seat that the player was invited to, or an open one."""
        return await self._call(JoinReply, "join", game_id=game_id, **fields)

    async def challenge(self, opponent: str | int, **fields: Unpack[ChallengeFields]) -> ChallengeReply:
        """Invite a registered player who is present, by name or id, to a game in which one's own seat is taken."""
        return await self._call(ChallengeReply, "challenge", opponent=opponent, **fields)

    async def seek(self, **fields: Unpack[SeekFields]) -> SeatReply:
        """Get a game with another player who seeks one like it, or wait to be found while this connection lasts."""
        return await self._call(SeatReply, "seek", **fields)

    async def invitations(self, **fields: Unpack[InvitationsFields]) -> InvitationsReply:
        """Return a page of the invitations that are not answered."""
        return await self._call(InvitationsReply, "invitations", **fields)

    async def accept(self, game_id: int, **fields: Unpack[Fields]) -> JoinReply:
        """Take the seat that the player was invited to."""
        return await self._call(JoinReply, "accept", game_id=game_id, **fields)

    async def decline(self, game_id: int | None = None, **fields: Unpack[Fields]) -> DeclineReply:
        """Call off a game that has not begun; without a game, stop seeking."""
        which = {} if game_id is None else {"game_id": game_id}
        return await self._call(DeclineReply, "decline", **which, **fields)

    async def settings(self, **fields: Unpack[SettingsFields]) -> SettingsReply:
        """Set the given fields, and return the player's settings."""
        return await self._call(SettingsReply, "settings", **fields)

    async def leaderboard(self, **fields: Unpack[LeaderboardFields]) -> LeaderboardReply:
        """Return a page of the ratings from ranked games, the strongest first."""
        return await self._call(LeaderboardReply, "leaderboard", **fields)

    async def contest(self, token: str, report: ContestReport, **fields: Unpack[Fields]) -> ContestReply:
        """Report how a match or a tournament stands, under a token of its own; it begins with the first report."""
        return await self._call(ContestReply, "contest", token=token, report=report, **fields)

    async def revoke(self, **fields: Unpack[RevokeFields]) -> PlayerReply:
        """Revoke a player's key. For the operator only."""
        return await self._call(PlayerReply, "revoke", **fields)

    async def players(self, **fields: Unpack[PlayersFields]) -> PlayersReply:
        """Return a page of registered players. For the operator only."""
        return await self._call(PlayersReply, "players", **fields)

    async def pair(self, white: str | int, black: str | int, **fields: Unpack[PairFields]) -> PairReply:
        """Invite two registered players who are present, by name or id, to a game. For the operator only."""
        return await self._call(PairReply, "pair", white=white, black=black, **fields)

    def game(self, game_id: int, **fields: Unpack[TurnsFields]) -> Game:
        """Return a game of the player's, without asking the server about it.

        :param fields: of all its requests, such as ``seat`` for a player who holds both.
        """
        return Game(self, game_id, fields)

    def turns(
        self,
        game_id: int | None = None,
        *,
        games: int | None = None,
        over: Callable[[GameState], object] | None = None,
        invited: Callable[[GameState], object] | None = None,
        **fields: Unpack[TurnsFields],
    ) -> Turns:
        """Iterate over the player's turns in a game until it is over; without ``game_id``, in all its games for ever.

        It waits between turns, and includes games that begin later. A turn without an action comes again. What
        ``turn.sense`` returns depends on python-chess: by ``gm_client.connect`` its squares and pieces where it is
        installed, else the server's names, as always in the module ``blocking``.

        :param games: without ``game_id``, ends the loop when so many games have ended.
        :param over: called once with the last state of each game that has ended.
        :param invited: without ``game_id``, called with the state of each game that the player is invited to, which it
            joins if the result is true. Without this argument it joins all. The first hundred invitations that it does
            not join remain open, and may be accepted later; any further ones are declined, which ends them.
        """
        return Turns(self, Following(game_id, over, invited, games, fields))


class Game:
    """A game of the client's player, from :meth:`Client.game`. Each of its attributes asks the server.

    :ivar game_id: its number.
    """

    def __init__(self, client: Client, game_id: int, fields: TurnsFields) -> None:
        self._client, self.game_id = client, game_id
        self._following = Following(game_id, None, None, None, fields)

    @property
    async def state(self) -> GameState:
        """The game as the player may see it."""
        return (await self._client.state(self.game_id, **self._following.seat))["state"]

    @property
    async def moves(self) -> list[str]:
        """The moves so far, in UCI; of a game with hidden information once it is over."""
        return (await self._client.history(self.game_id, **self._following.player))["moves"]

    @property
    async def result(self) -> str:
        """The result: ``1-0``, ``0-1``, ``1/2-1/2``, or ``*`` while the game goes on."""
        return (await self.state)["result"]

    def turns(self) -> Turns:
        """Iterate over the player's turns in the game until it is over."""
        return Turns(self._client, self._following)

    async def resign(self) -> GameState:
        """Resign, in either player's turn, and return the last state."""
        seat = self._following.seat.get("seat") or await self._own_seat()
        return (await self._client.end_game(self.game_id, f"resignation_{seat}", **self._following.seat))["state"]

    async def _own_seat(self) -> Color:
        state, player = await self.state, self._following.player.get("player", self._client.player)
        if state["player_white"] == player == state["player_black"]:
            return state["turn"]
        return "white" if state["player_white"] == player else "black"

    async def offer_draw(self) -> None:
        """Accept a draw that the opponent has offered; else offer one with the next move of :meth:`turns`."""
        state = await self.state
        if state["draw_offered"]:
            await self._client.end_game(self.game_id, "draw_agreed", ply=state["ply_index"], **self._following.seat)
        else:
            self._following.offers_draw = True


class Turns(AsyncIterator["Turn"]):
    """The iterator of :meth:`Client.turns`.

    It closes what it has opened when it ends, when its ``async with`` block does, when nothing refers to it any more,
    as after the ``break`` of a plain loop, and with its client.
    """

    _ended = True  # until it has a session

    def __init__(self, client: Client, following: Following) -> None:
        self._client, self._session = client, client._loop()
        self._following = following
        self._waits: deque[Asked] = deque()  # the last one reports the next turn, those before it only ends of games
        self._ended = False

    def __del__(self) -> None:
        if not self._ended:
            self._session._abandon()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def state(self) -> GameState | None:
        """The last state of the game that has ended, of several the last one; None before."""
        return self._following.last

    @property
    def result(self) -> str | None:
        """The result of that game: ``1-0``, ``0-1``, ``1/2-1/2``, or ``*`` if it was called off; None before."""
        return None if self.state is None else self.state["result"]

    async def __anext__(self) -> Turn:
        while not self._ended:
            if self._following.is_over():
                await self.aclose()
                break
            reply = await self._next_reply()
            if self._following.is_over():
                continue
            if (invitation := self._following.takes_up(reply)) is not None:
                await self._join(invitation)
            elif self._following.unwanted is not None:
                await self._decline(self._following.unwanted)
            elif reply["state"] is not None and reply.get("move_actions") is not None:
                return Turn(self, reply)
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """End the loop."""
        self._ended = True
        await self._session._leave()

    async def _join(self, game_id: int) -> None:
        try:
            await self._session.join(game_id, **self._following.seat)
        except GmError as error:
            if error.code not in GIVEN_UP:
                raise

    async def _decline(self, game_id: int) -> None:
        self._following.unwanted = None
        try:
            await self._session.decline(game_id, **self._following.player)
        except GmError as error:
            if error.code not in GIVEN_UP:
                raise

    async def _next_reply(self) -> WaitReply:
        if not self._waits:
            self._wait_for_next()
        while self._waits:
            reply: WaitReply = await self._session._result(self._waits.popleft())
            self._following.see(reply["state"])
        return reply

    def _wait_for_next(self) -> None:
        self._waits.append(self._session._ask("wait", **self._following.wait))


class Turn(TurnView):
    """One turn of the player. Its actions are safe to send again, and the client does so after a lost connection.

    They are possible after the loop has been left, too.

    If the game has ended while the bot was thinking (the opponent resigned, the time ran out), an action is not an
    error: it does nothing, and its reply has the last state.
    """

    def __init__(self, turns: Turns, reply: WaitReply) -> None:
        super().__init__(reply)
        self._client, self._following = turns._client, turns._following
        self._turns = weakref.ref(turns)  # so that leaving the loop ends it while the turn is still in use

    async def sense(self, square: Square | None) -> Sensed:
        """Sense around a square, or None to sense nothing; return the squares seen, each with its piece or None.

        :attr:`reply` has the whole reply, with the result as the server sent it.
        """
        reply = await self._act("sense", square=square)
        self.sense_actions = []
        self.reply = {"sense_result": [], **reply}
        return read_sense(self.reply["sense_result"])

    async def move(self, move: AnyMove | None, *, offer_draw: bool = False, claim_draw: bool = False) -> MoveReply:
        """Move, or None to pass; this ends the turn. Outside of blind chess ``taken_move`` is None."""
        drawn = {"offer_draw": offer_draw or self._following.offers_draw, "claim_draw": claim_draw}
        wanted, text = {name: True for name, asked in drawn.items() if asked}, written(move)
        reply = await self._act("move", move=text, **wanted)
        self._following.offers_draw = False
        self.reply = {"requested_move": text, "taken_move": None, "capture_square": None, **reply}
        return self.reply  # type: ignore[return-value]

    async def end_game(self, termination: str) -> StateReply:
        """Claim a draw, or agree to one."""
        return await self._act("end_game", termination=termination)  # type: ignore[return-value]

    async def resign(self) -> StateReply:
        """Resign the game."""
        return await self.end_game(f"resignation_{self.color}")

    async def _act(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Return the reply to an action; it is made in the client's own session if the loop has ended."""
        turns, seat = self._turns(), self._following.seat
        turns = None if turns is None or turns._ended else turns
        session = self._client if turns is None else turns._session
        asked = session._ask(kind, game_id=self.game_id, **seat, **fields, ply=self.ply)
        if kind == "move" and turns is not None:
            turns._wait_for_next()  # sent in one write with the move
        try:
            reply: dict[str, Any] = await session._result(asked)
        except GmError as error:
            if error.code != "game_over":
                raise
            reply = await session.request("state", game_id=self.game_id, **seat)
        self.state, self.reply = reply["state"], reply
        self._following.see(self.state)
        return reply
