"""Compile all kernels ahead of time: ``python -m gm_env.compile``.

Without it each is compiled when it is first used. Their code is kept for each version of gm_env and numba: in
``NUMBA_CACHE_DIR`` if that is set, else in the user's cache folder. A filled folder may be read-only.
"""

from __future__ import annotations

from .kernels.jit import KERNELS


def main() -> None:
    """Compile what is not cached."""
    for kernel in KERNELS:
        kernel.make()
    print(f"gm_env: {len(KERNELS)} kernels are compiled")


if __name__ == "__main__":
    main()
