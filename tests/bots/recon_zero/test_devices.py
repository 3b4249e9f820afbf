"""The device of the training steps: the CPU, or a GPU where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bots.recon_zero.learning import needs_training, tiny

pytestmark = [needs_training, pytest.mark.slow]


def test_training_changes_devices(tmp_path: Path) -> None:
    """A checkpoint is loaded on either device, whichever it was made on."""
    import torch

    from gm_bots.recon_zero.checkpoint import load
    from gm_bots.recon_zero.devices import device
    from gm_bots.recon_zero.pipeline import Training

    assert (device() == "cuda") == torch.cuda.is_available()
    for on in ("cpu", device(), "cpu"):
        Training(tmp_path, tiny(), device=on).iterate()
    for on in {"cpu", device()}:
        trainer, _ = load(tmp_path / "latest.pt", on)
        kept = [state["exp_avg"] for state in trainer.optimiser.state.values()]
        assert len(kept) == len(list(trainer.network.parameters()))
        tensors: list[torch.Tensor] = [*trainer.network.parameters(), *kept]
        assert {tensor.device.type for tensor in tensors} == {on}


def test_precision_is_the_one_that_is_faster_here() -> None:
    from gm_bots.recon_zero.devices import best_precision, bfloat16_factor, device

    factor = bfloat16_factor()
    if device() == "cpu" and not 0.5 < factor < 2:  # else a busy machine may measure either
        assert best_precision() == ("bfloat16" if factor < 1 else "float32")
