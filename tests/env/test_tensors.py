"""Arrays that other libraries take over by DLPack, and actions that come from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gm_env import PASS, BatchedRbc
from gm_env.turns import FIRST_SENSE
from tests.tools import require_module

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["masks", "observations", "information_states", "privileged_state"])
def test_torch_shares_the_memory_of_a_view(name: str) -> None:
    torch: Any = require_module("torch")
    view = getattr(BatchedRbc(3), name)()
    tensor = torch.from_dlpack(view)
    assert (tensor.data_ptr(), tuple(tensor.shape)) == (view.ctypes.data, view.shape)
    assert tensor.is_contiguous()
    assert view.ctypes.data % 64 == 0, "jax copies what does not begin with a cache line"
    tensor[:] = 1
    assert (view == 1).all()


def test_batches_take_actions_of_torch() -> None:
    torch: Any = require_module("torch")
    batch, other = BatchedRbc(3), BatchedRbc(3)
    batch.sense(torch.tensor([1, 2, 3]))
    other.sense(np.array([1, 2, 3]))
    assert (batch.windows == other.windows).all()
    batch.move(torch.full((3,), PASS))
    assert batch.plies.tolist() == [1, 1, 1]


def test_gymnasium_s_observations_and_masks_are_torch_s_and_its_actions_are_taken() -> None:
    torch: Any = require_module("torch")
    require_module("gymnasium")
    from gm_env.gymnasium import RbcVectorEnv

    envs = RbcVectorEnv(3, seat="white")
    observations, infos = envs.reset(seed=1)
    for _ in range(2):
        for array in (observations, infos["action_mask"]):
            assert torch.from_dlpack(array).data_ptr() == array.ctypes.data
        legal = torch.from_dlpack(infos["action_mask"]).argmax(1)
        observations, *_, infos = envs.step(legal)
    assert observations[:, 23, 0, 0].tolist() == [1, 1, 1], "a turn was completed"
    assert infos["action_mask"][:, FIRST_SENSE].all()
