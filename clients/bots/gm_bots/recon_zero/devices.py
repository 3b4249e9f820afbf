"""What training steps are made on."""

from __future__ import annotations

import torch


class NoDevice(ValueError):
    """It is not here."""


def device_of(name: str) -> str:
    """PyTorch's name of a device.

    :param name: ``cpu``, ``cuda``, or ``auto`` for CUDA where there is a GPU and else the CPU.
    :raises NoDevice: it is not here.
    """
    found = torch.cuda.is_available()
    if name == "auto":
        return "cuda" if found else "cpu"
    if name == "cuda" and not found:
        raise NoDevice(f"device: cuda: PyTorch {torch.__version__} finds no GPU here; give --device cpu, or auto")
    return name
