"""A ``wait`` for games of several owners: one wait at each, and the first answer counts."""

from __future__ import annotations

from msgspec import UNSET, structs

from gm_protocol.errors import GmError
from gm_protocol.messages import Wait
from gmd.handlers.wait import check_fields
from gmd.requests.context import PendingReply, RequestContext
from gmd.requests.session import ClientSession

from .calling import LinkLost
from .forwarding import ANSWER, CHECK, Forward, Forwarded
from .sender import Sender
from .shards import shard_of
from .waits import first_of


async def answer_games(
    sender: Sender, request: Wait, game_ids: list[int], session: ClientSession, arrived: float, shows_presence: bool
) -> PendingReply:
    """Answer a wait for games of several owners.

    As at one owner, a wait that is refused has no effect on any game, and of several games that are due the request's
    first is shown.

    :raises GmError: a daemon does not answer it.
    :raises LinkLost: a link was lost.
    """
    return await _WaitForGames(sender, request, game_ids, session, arrived, shows_presence).answer()


class _WaitForGames:
    def __init__(
        self,
        sender: Sender,
        request: Wait,
        game_ids: list[int],
        session: ClientSession,
        arrived: float,
        shows_presence: bool,
    ) -> None:
        self._sender = sender
        self._request = request
        self._game_ids = game_ids
        self._session = session
        self._arrived = arrived
        self._shows_presence = shows_presence

    async def answer(self) -> PendingReply:
        """Check all games, look at all, then wait."""
        player = self._session.player if self._request.player is UNSET else self._request.player
        services = self._session.services
        check_fields(self._request, RequestContext(services, self._session, self._request, player, self._arrived))
        _, checked = await self._ask(self._by_owner(), CHECK)
        if any(answer.code is not None for answer in checked):
            owner, refusal = await self._first_refusal()
            if refusal is not None:
                return self._reply(owner, refusal)
        owners, answers = await self._ask(self._by_owner(), ANSWER)
        index, answer = first_of(answers, self._game_ids)
        if answer.is_empty and self._request.timeout != 0:
            messages = self._messages(self._by_owner(), ANSWER, self._request.timeout)
            owners = [owner for owner, _ in messages]
            index, answer = first_of(await self._sender.wait_at(messages, self._session), self._game_ids)
        return self._reply(owners[index], answer)

    async def _first_refusal(self) -> tuple[int, Forwarded | None]:
        """Return the refusal that the game named first leads to."""
        for game_id in self._game_ids:
            [owner], [answer] = await self._ask([(self._owner(game_id), [game_id])], CHECK)
            if answer.code is not None:
                return owner, answer
        return 0, None

    async def _ask(self, groups: list[tuple[int, list[int]]], mode: int) -> tuple[list[int], list[Forwarded]]:
        """Ask daemons about games at once, without waiting; return them and their answers."""
        messages = self._messages(groups, mode, 0.0)
        outcomes = await self._sender.ask_all(messages)
        answers: list[Forwarded] = []
        for outcome in outcomes:
            if isinstance(outcome, GmError | LinkLost):
                raise outcome
            assert isinstance(outcome, Forwarded)
            answers.append(outcome)
        return [owner for owner, _ in messages], answers

    def _messages(
        self, groups: list[tuple[int, list[int]]], mode: int, timeout: float | None
    ) -> list[tuple[int, Forward]]:
        found = []
        for owner, game_ids in groups:
            part = structs.replace(self._request, game_ids=game_ids, timeout=timeout)
            message = self._sender.message(part, self._session, self._arrived, self._shows_presence, mode=mode)
            found.append((owner, message))
        return found

    def _by_owner(self) -> list[tuple[int, list[int]]]:
        groups: dict[int, list[int]] = {}
        for game_id in self._game_ids:
            groups.setdefault(self._owner(game_id), []).append(game_id)
        return list(groups.items())

    def _owner(self, game_id: int) -> int:
        owner = self._sender.directory.owner_of(shard_of(game_id))
        if owner is None:
            raise LinkLost(0, sent=False)
        return owner

    def _reply(self, owner: int, answer: Forwarded) -> PendingReply:
        return self._sender.reply(answer, self._request, self._session, self._arrived, owner)
