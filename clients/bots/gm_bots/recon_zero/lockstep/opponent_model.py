"""What is assumed of an opponent's requests, and learning it from games.

A request's probability follows from its features (:mod:`.requests`) and their coefficients, which are those under which
the requests of games are likeliest. The opponent does not know the player's pieces; the model says what such a player
requests in the true position all the same, as the average over all that it may believe.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .requests import FEATURES, Features

#: The coefficients that come with the package.
FILE = Path(__file__).with_name("opponents.json")
#: The kind of opponents that request anything.
ANY = "any"
#: The strength of the belief that coefficients are near 0, the steps of learning, how often one is halved, and which
#: is too small to matter.
_PRIOR, _STEPS, _HALVINGS, _ENOUGH = 0.5, 50, 30, 1e-6
#: Digits of a coefficient behind the point.
_DIGITS = 3
#: The least logarithm of a probability.
_FAR = -500.0


@dataclass(frozen=True, eq=False)
class OpponentModel:
    """A model of opponents: of several kinds, of which the games' observations tell the likelier ones.

    :ivar kinds: by name, the coefficients of the features.
    :ivar doubt: the probability of a request at random, of those that the board does not refuse, or a pass.
    :ivar asked: positions, the likeliest, in which the evaluator is asked each turn; in the others its probabilities
        count as equal.
    :ivar carried: positions, the likeliest, whose requests have features and carry their weights over. What only the
        others lead to gets the least weight: a hundred thousand would take most of a turn, for what is hardly ever
        true.
    :ivar network: the hash of the network's file that was asked when the coefficients were learnt; None for none.
    """

    kinds: Mapping[str, tuple[float, ...]]
    network: str | None = None
    doubt: float = 0.02
    asked: int = 64
    carried: int = 4_096

    def as_json(self) -> str:
        """Return the model as the text of a file."""
        return json.dumps({"features": FEATURES, "network": self.network, "kinds": self.kinds}, indent=1) + "\n"

    @cached_property
    def coefficients(self) -> Features:
        """The coefficients, float64[kinds, features]."""
        return np.array([*self.kinds.values()])


class Choice(NamedTuple):
    """A request, of all that were allowed.

    :ivar features: float64[requests, features].
    :ivar chosen: the index of the request.
    """

    features: Features
    chosen: int


class BadModel(ValueError):
    """A file is not a model of opponents, or not one of this version's."""


@cache
def read_model(path: Path = FILE) -> OpponentModel:
    """Return the model in a file that ``gmd train opponents`` has written; by default the one of the package.

    :raises BadModel: it is none.
    """
    try:
        found = json.loads(path.read_text("utf-8"))
        features, network = found["features"], found.get("network")
        kinds = {str(name): tuple(map(float, kind)) for name, kind in found["kinds"].items()}
    except OSError as error:
        raise BadModel(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise BadModel(f"{path} is not a model of opponents: gmd train opponents --out writes one") from None
    if features != [*FEATURES] or not kinds or any(len(kind) != len(FEATURES) for kind in kinds.values()):
        raise BadModel(f"{path} has other features than this version of gmd: learn it again by gmd train opponents")
    return OpponentModel(kinds, network)


def model_of(kinds: Mapping[str, tuple[float, ...]], network: str | None = None) -> OpponentModel:
    """Return the model of these kinds and of an opponent that requests anything.

    :param network: the hash of the network's file that was asked.
    """
    return OpponentModel({**kinds, ANY: (0.0,) * len(FEATURES)}, network)


def learn(choices: Sequence[Choice]) -> tuple[float, ...]:
    """Return the coefficients of a kind of opponent, under which its choices are likeliest.

    By Newton's method, whose steps are halved as long as they do not help; the likelihood has one maximum.
    """
    coefficients = np.zeros(len(FEATURES))
    likelihood = _likelihood(choices, coefficients)
    for _ in range(_STEPS):
        step = _step(choices, coefficients)
        for _ in range(_HALVINGS):
            better = _likelihood(choices, coefficients + step)
            if better >= likelihood:
                break
            step /= 2
        else:
            break
        coefficients, likelihood = coefficients + step, better
        if abs(step).max() < _ENOUGH:
            break
    return tuple(coefficients.round(_DIGITS).tolist())


def _likelihood(choices: Sequence[Choice], coefficients: Features) -> float:
    """Return the logarithm of the likelihood of choices, with that of the coefficients."""
    chosen = sum(math.log(shares_of(features, coefficients)[chosen]) for features, chosen in choices)
    return chosen - _PRIOR / 2 * float(coefficients @ coefficients)


def _step(choices: Sequence[Choice], coefficients: Features) -> Features:
    slope, curvature = -_PRIOR * coefficients, _PRIOR * np.eye(len(FEATURES))
    for features, chosen in choices:
        shares = shares_of(features, coefficients)
        mean = shares @ features
        slope += features[chosen] - mean
        curvature += (features - mean).T @ ((features - mean) * shares[:, None])
    return np.asarray(np.linalg.solve(curvature, slope), np.float64)


def shares_of(features: Features, coefficients: Features) -> NDArray[np.float64]:
    """Return the probability of each request."""
    sums = features @ coefficients
    weights = np.exp(np.maximum(sums - sums.max(), _FAR))
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares
