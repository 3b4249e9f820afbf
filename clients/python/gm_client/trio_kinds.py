"""Every kind of message as a method, as :class:`gm_client.blocking.Client` has them."""

from __future__ import annotations

from typing import Any, TypeVar, Unpack

from .blocking import (
    ActionFields,
    ActionsReply,
    ChallengeFields,
    DeclineReply,
    Fields,
    GamesFields,
    GamesReply,
    HelloFields,
    HelloReply,
    HistoryReply,
    InvitationsFields,
    InvitationsReply,
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
    SeatFields,
    SeatReply,
    SenseReply,
    Session,
    SettingsFields,
    SettingsReply,
    Square,
    StateActionsReply,
    StateFields,
    StateReply,
    WaitFields,
    WaitReply,
)

R = TypeVar("R")


class Kinds(Session):
    """The kinds, for whoever can send a request of any."""

    async def request(self, kind: str, **fields: Any) -> Any:
        """A request of any kind; the reply."""
        raise NotImplementedError

    async def _call(self, reply: type[R], kind: str, **fields: Any) -> R:
        """:param reply: what to take the reply for."""
        result: R = await self.request(kind, **fields)
        return result

    async def hello(self, **fields: Unpack[HelloFields]) -> HelloReply:
        """Name another player, for the requests and the connections that follow."""
        return await self._call(HelloReply, "hello", **fields)

    async def ping(self, **fields: Unpack[Fields]) -> Reply:
        """Is anybody there?"""
        return await self._call(Reply, "ping", **fields)

    async def new_game(
        self, player_white: int | None, player_black: int | None, **fields: Unpack[NewGameFields]
    ) -> NewGameReply:
        """Begin a game; a seat that is None is open to whoever joins."""
        return await self._call(NewGameReply, "new_game", **_players(player_white, player_black), **fields)

    async def game_from_pgn(
        self, player_white: int | None, player_black: int | None, **fields: Unpack[NewGameFields]
    ) -> NewGameReply:
        """Begin a game where the main line of ``pgn`` ends."""
        return await self._call(NewGameReply, "game_from_pgn", **_players(player_white, player_black), **fields)

    async def move(self, game_id: int, move: str | None, **fields: Unpack[MoveFields]) -> MoveReply:
        """Move, in SAN or UCI; in reconnaissance blind chess in UCI, or None to pass."""
        return await self._call(MoveReply, "move", game_id=game_id, move=move, **fields)

    async def sense(self, game_id: int, square: Square | None, **fields: Unpack[ActionFields]) -> SenseReply:
        """Sense around a square, or None for none."""
        return await self._call(SenseReply, "sense", game_id=game_id, square=square, **fields)

    async def end_game(self, game_id: int, termination: str, **fields: Unpack[ActionFields]) -> StateReply:
        """Resign, take a draw, or agree to one."""
        return await self._call(StateReply, "end_game", game_id=game_id, termination=termination, **fields)

    async def state(self, game_id: int, **fields: Unpack[StateFields]) -> StateActionsReply:
        """The game as the player may see it."""
        return await self._call(StateActionsReply, "state", game_id=game_id, **fields)

    async def wait(self, game_id: int | None = None, **fields: Unpack[WaitFields]) -> WaitReply:
        """Block until the player is to act in the game, or in one of several, or it is over."""
        which = {} if game_id is None else {"game_id": game_id}
        return await self._call(WaitReply, "wait", **which, **fields)

    async def actions(self, game_id: int, **fields: Unpack[SeatFields]) -> ActionsReply:
        """What the player may do now."""
        return await self._call(ActionsReply, "actions", game_id=game_id, **fields)

    async def games(self, **fields: Unpack[GamesFields]) -> GamesReply:
        """A page of games, newest first."""
        return await self._call(GamesReply, "games", **fields)

    async def history(self, game_id: int, **fields: Unpack[Fields]) -> HistoryReply:
        """The whole game."""
        return await self._call(HistoryReply, "history", game_id=game_id, **fields)

    async def register(self, name: str, **fields: Unpack[RegisterFields]) -> KeyReply:
        """Become a registered player. Keep the key: it is shown this once."""
        return await self._call(KeyReply, "register", name=name, **fields)

    async def rekey(self, **fields: Unpack[RekeyFields]) -> KeyReply:
        """Another key for a registered player, in place of the one it has."""
        return await self._call(KeyReply, "rekey", **fields)

    async def join(self, game_id: int, **fields: Unpack[SeatFields]) -> JoinReply:
        """Take the seat that the player was invited to, or an open one."""
        return await self._call(JoinReply, "join", game_id=game_id, **fields)

    async def challenge(self, opponent: str | int, **fields: Unpack[ChallengeFields]) -> NewGameReply:
        """Invite a registered player who is here, by name or id, to a game in which one's own seat is taken."""
        return await self._call(NewGameReply, "challenge", opponent=opponent, **fields)

    async def seek(self, **fields: Unpack[ChallengeFields]) -> SeatReply:
        """A game with whoever seeks one like it; else wait to be found, as long as this connection lasts."""
        return await self._call(SeatReply, "seek", **fields)

    async def invitations(self, **fields: Unpack[InvitationsFields]) -> InvitationsReply:
        """A page of the invitations that wait for an answer."""
        return await self._call(InvitationsReply, "invitations", **fields)

    async def accept(self, game_id: int, **fields: Unpack[Fields]) -> JoinReply:
        """Take the seat that the player was invited to."""
        return await self._call(JoinReply, "accept", game_id=game_id, **fields)

    async def decline(self, game_id: int | None = None, **fields: Unpack[Fields]) -> DeclineReply:
        """Call off a game that has not begun; without one, seek no longer."""
        which = {} if game_id is None else {"game_id": game_id}
        return await self._call(DeclineReply, "decline", **which, **fields)

    async def settings(self, **fields: Unpack[SettingsFields]) -> SettingsReply:
        """What the player has set, having set what is given."""
        return await self._call(SettingsReply, "settings", **fields)

    async def leaderboard(self, **fields: Unpack[LeaderboardFields]) -> LeaderboardReply:
        """A page of the ratings that ranked games have come to, the strongest first."""
        return await self._call(LeaderboardReply, "leaderboard", **fields)

    async def revoke(self, **fields: Unpack[RekeyFields]) -> PlayerReply:
        """For the operator: take a player's key away."""
        return await self._call(PlayerReply, "revoke", **fields)

    async def players(self, **fields: Unpack[PlayersFields]) -> PlayersReply:
        """For the operator: a page of registered players."""
        return await self._call(PlayersReply, "players", **fields)

    async def pair(self, white: str | int, black: str | int, **fields: Unpack[PairFields]) -> PairReply:
        """For the operator: a game of two registered players who are here, by name or id; both are invited."""
        return await self._call(PairReply, "pair", white=white, black=black, **fields)


def _players(white: int | None, black: int | None) -> dict[str, int | None]:
    return {"player_white": white, "player_black": black}
