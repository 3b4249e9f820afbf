"""The devices of training steps."""

from __future__ import annotations

import torch


class NoDevice(ValueError):
    """The device is not available."""


def device_of(name: str) -> str:
    """Return PyTorch's name of a device.

    :param name: ``cpu``, ``cuda``, or ``auto`` for CUDA where there is a GPU and otherwise the CPU.
    :raises NoDevice: the device is not available.
    """
    found = torch.cuda.is_available()
    if name == "auto":
        return "cuda" if found else "cpu"
    if name == "cuda" and not found:
        raise NoDevice(f"device: cuda: PyTorch {torch.__version__} finds no GPU here; give --device cpu, or auto")
    return name
