"""The device of the training steps: the CPU, or a GPU where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bots.recon_zero.learning import needs_torch
from tests.bots.recon_zero.test_pipeline import train

pytestmark = [needs_torch, pytest.mark.slow]


def has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def test_auto_takes_the_available_device() -> None:
    from gm_bots.recon_zero.devices import device_of

    assert device_of("auto") == ("cuda" if has_gpu() else "cpu")
    assert device_of("cpu") == "cpu"


def test_missing_gpu_is_refused(tmp_path: Path) -> None:
    if has_gpu():
        pytest.skip("there is one")
    refused = train(tmp_path, 1, "--device", "cuda")
    assert refused.exit_code == 1
    assert "device: cuda: PyTorch " in refused.output
    assert "finds no GPU here; give --device cpu, or auto" in refused.output
    assert not (tmp_path / "log.jsonl").exists()


def test_training_changes_devices(tmp_path: Path) -> None:
    """A checkpoint is loaded on either device, whichever it was made on."""
    import torch

    from gm_bots.recon_zero.checkpoint import load

    other = "cuda" if has_gpu() else "cpu"
    for iterations, device in enumerate(["cpu", other, "cpu"], 1):
        done = train(tmp_path, iterations, "--device", device)
        assert done.exit_code == 0, done.output
    for device in {"cpu", other}:
        trainer, _ = load(tmp_path / "latest.pt", device)
        kept = [state["exp_avg"] for state in trainer.optimiser.state.values()]
        assert len(kept) == len(list(trainer.network.parameters()))
        tensors: list[torch.Tensor] = [*trainer.network.parameters(), *kept]
        assert {tensor.device.type for tensor in tensors} == {device}
