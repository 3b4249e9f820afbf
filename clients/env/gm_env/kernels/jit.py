"""The compiler of the kernels: numba, ahead of time where a signature is declared, without the GIL, cached on disk.

numba keeps the machine code in ``__pycache__`` beside these modules, or in the user's cache folder if that one is
read-only; ``NUMBA_CACHE_DIR`` names another place. A cache that cannot be written costs the compilation at each import.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

try:
    import numba
    from numba.extending import intrinsic
except ImportError as error:
    raise ImportError("gm_env needs numpy and numba: pip install 'grandmasterd[env]'") from error

F = TypeVar("F", bound=Callable[..., Any])


def _digest() -> str:
    """Return a digest of the sources of all kernels.

    numba compares only the age of a kernel's own module with its cache, and would keep a kernel whose helpers in
    another module have changed.
    """
    digest = blake2b(digest_size=6)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


_DIGEST = _digest()


def kernel(signature: str | None = None) -> Callable[[F], F]:
    """Compile a function; without a signature when it is first used by a function that has one.

    :param signature: numba's text of the types, such as ``"int64(uint64[:, ::1])"``.
    """

    def compile_function(function: F) -> F:
        function.__qualname__ += f"_{_DIGEST}"  # numba names the files of its cache by it
        compiled: Any = numba.njit(signature, nogil=True, cache=True, error_model="numpy")
        result: F = compiled(function)
        return result

    return compile_function


def _instruction(name: str, *flags: bool) -> Any:
    """Return a function of one uint64 that is one instruction of LLVM."""

    def build(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            from llvmlite import ir

            return getattr(builder, name)(arguments[0], *(ir.Constant(ir.IntType(1), flag) for flag in flags))

        return numba.uint64(numba.uint64), generate

    return intrinsic(build)


#: The number of the lowest bit set; 64 if there is none.
lowest = _instruction("cttz", False)
#: The number of bits set.
popcount = _instruction("ctpop")
#: The bytes in the opposite order: a bitboard seen from the other side of the board.
mirrored = _instruction("bswap")
