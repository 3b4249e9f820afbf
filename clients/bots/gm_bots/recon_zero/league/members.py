"""The members of a league by their names, as a training records them: ``material``, or a :class:`Program`'s."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from gm_arena.bot import Bots, BotUnusable
from gm_arena.extras import how_to_install
from gm_arena.specs import bots_of, read_options
from gm_arena.stockfish import stockfish
from gm_bots.options import only, whole

if TYPE_CHECKING:
    from gm_env.opponents import Opponent

#: The same bot, which evaluates positions by piece values.
MATERIAL = "material"
#: Senses and moves at random.
RANDOM = "random"
#: Runs for the king without looking, as reconchess's AttackerBot: :class:`gm_env.policies.Attacker`.
ATTACKER = "attacker"
#: reconchess's TroutBot, whose engine searches so many positions a move instead of half a second: so a game repeats.
TROUT, TROUT_NODES = "trout", 20_000
#: The members of a league beside the training's own earlier networks; Trout where it is installed.
MEMBERS = (MATERIAL, ATTACKER, TROUT)


@dataclass(frozen=True)
class Program:
    """A bot that is not this one, by its name, which can be sent to another process.

    :ivar spec: ``random``, ``attacker``, ``trout``, ``trout:nodes=1000``, or a bot as ``gmd match`` names it. One with
        random choices of its own has to have a seed, or its games cannot be repeated.
    """

    spec: str

    def check(self) -> None:
        """Check that it can play here.

        :raises BotUnusable: it is no bot, does not play blind chess, or a library or program is missing.
        """
        name, options = self._read()
        if name == ATTACKER:
            only(ATTACKER, options)
        elif name == TROUT:
            self._trout_nodes(options)
            _check_trout()
        elif "rbc" not in (bots := _bots_of(self.spec)).variants:
            plays = ", ".join(sorted(bots.variants))
            raise BotUnusable(f"{self.spec}: plays {plays}, and not blind chess (rbc)")

    def opponent(self, seed: int) -> Opponent:
        """Return it as an opponent, for any number of games.

        :param seed: of its random choices, where the environment does not make them.
        :raises BotUnusable: as for :meth:`check`.
        """
        self.check()
        name, options = self._read()
        if self.spec == RANDOM:
            from gm_env.opponents import play_randomly

            return play_randomly
        if name == ATTACKER:
            from gm_env.policies import Attacker

            return Attacker()
        if name == TROUT:
            from .trout import trout

            return trout(self._trout_nodes(options), seed)
        from gm_arena.opponent import BotOpponent

        return BotOpponent(_bots_of(self.spec))

    def _read(self) -> tuple[str, Mapping[str, str]]:
        name, _, options = self.spec.partition(":")
        return name, read_options(name, options) if name in (ATTACKER, TROUT) else {}

    @staticmethod
    def _trout_nodes(options: Mapping[str, str]) -> int:
        only(TROUT, options, "nodes")
        return whole(TROUT, options, "nodes", 1, 10**9) or TROUT_NODES


def _bots_of(spec: str) -> Bots:
    return bots_of(spec)


def _check_trout() -> None:
    if find_spec("reconchess") is None:
        raise BotUnusable(f"{TROUT} is reconchess's TroutBot: {how_to_install('reconchess')}")
    if stockfish() is None:
        raise BotUnusable(f"{TROUT} needs Stockfish, on the PATH or where STOCKFISH_EXECUTABLE says")
