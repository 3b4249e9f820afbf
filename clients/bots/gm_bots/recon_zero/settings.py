"""The options of ``recon-zero``; missing libraries and files are reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gm_arena.bot import BotUnusable
from gm_arena.extras import how_to_install
from gm_bots.options import number, only, whole

from .checkpoint_files import shipped

if TYPE_CHECKING:
    from .thinker import Settings

NAME = "recon-zero"
#: The value of ``checkpoint`` for playing without a network: positions are evaluated by piece values.
WITHOUT = "none"
#: An hour: longer than anybody waits for a turn.
MAX_SECONDS = 3600.0
#: More positions or simulations than this take minutes a turn.
MAX_POSITIONS, MAX_SIMULATIONS = 1_000, 100_000

#: With a larger weight only an attack on the king, or the expected result, would count for a sense.
MAX_WEIGHT = 1_000

#: A larger constant would select moves by their priors alone.
MAX_C_PUCT = 100

#: Options that are numbers.
NUMBERS = ("simulations", "determinisations", "c_puct", "movetime", "seed", "alarm", "unseen")


@dataclass(frozen=True)
class Given:
    """The options, parsed.

    :ivar seconds: the most seconds for a turn; None for as many as the clock allows.
    :ivar checkpoint: the network's file; None to play by piece values.
    """

    settings: Settings
    seed: int | None
    seconds: float | None
    checkpoint: Path | None


def read(options: Mapping[str, str], without: str = f"{NAME}:checkpoint={WITHOUT}") -> Given:
    """Read the options, without loading PyTorch.

    :param options: ``checkpoint``, a file, or ``none`` to play by piece values; ``opponents``, a file that ``gmd train
        opponents`` has written; by default both are those that come with the package. ``movetime`` (seconds) and
        ``seed``; the other numbers, and the words, as in :class:`~gm_bots.recon_zero.thinker.Settings`.
    :param without: how to play without a network, which is said where PyTorch is missing.
    :raises BotUnusable: an option is unknown, its value is not allowed, or a library is missing: numpy, numba, or
        PyTorch, which reads the checkpoint.
    """
    only(NAME, options, "checkpoint", "opponents", "weights", *NUMBERS)
    for library in ("numpy", "numba"):
        _need(library, "plays with")
    given = Given(
        _settings(options),
        whole(NAME, options, "seed", 0, 2**63),
        number(NAME, options, "movetime", 0.001, MAX_SECONDS),
        _checkpoint(options),
    )
    if given.checkpoint is not None:
        _need("torch", "reads checkpoints with", f", or play without one: {without}")
    return given


def _settings(options: Mapping[str, str]) -> Settings:
    from .thinker import Settings

    plain, unseen = Settings(), number(NAME, options, "unseen", 0, 1)
    alarm, c_puct = number(NAME, options, "alarm", 0, MAX_WEIGHT), number(NAME, options, "c_puct", 0, MAX_C_PUCT)
    if (weights := options.get("weights", plain.weights)) not in ("moves", "equal"):
        raise BotUnusable(f"{NAME}: weights={weights} is not one of moves, equal")
    return Settings(
        weights="moves" if weights == "moves" else "equal",
        opponents=_opponents(options),
        alarm=plain.alarm if alarm is None else alarm,
        unseen=plain.unseen if unseen is None else unseen,
        determinisations=whole(NAME, options, "determinisations", 1, MAX_POSITIONS) or plain.determinisations,
        simulations=whole(NAME, options, "simulations", 1, MAX_SIMULATIONS) or plain.simulations,
        c_puct=plain.c_puct if c_puct is None else c_puct,
    )


def _opponents(options: Mapping[str, str]) -> str | None:
    """Return the file of the model of opponents; None for the one that comes with the package.

    :raises BotUnusable: it is no such file.
    """
    from .lockstep.opponent_model import BadModel, read_model

    given = options.get("opponents")
    try:
        if given is not None:
            read_model(Path(given))
    except BadModel as error:
        raise BotUnusable(f"{NAME}: opponents={error}") from None
    return given


def _checkpoint(options: Mapping[str, str]) -> Path | None:
    """Return the checkpoint's file; None to play without a network.

    :raises BotUnusable: there is no such file.
    """
    given = options.get("checkpoint")
    path = shipped() if given is None else Path(given)
    if path is None or given == WITHOUT:
        return None
    if not path.is_file():
        raise BotUnusable(f"{NAME}: checkpoint={path}: there is no such file; {WITHOUT} plays without a network")
    return path


def _need(library: str, does: str, otherwise: str = "") -> None:
    if find_spec(library) is None:
        raise BotUnusable(f"{NAME} {does} {library}, which is not installed: {how_to_install('train')}{otherwise}")
