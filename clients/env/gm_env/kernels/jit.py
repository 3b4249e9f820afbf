"""The compiler of the kernels: numba, ahead of time where a signature is declared, without the GIL, cached on disk.

:mod:`.cache` says where the machine code is kept.
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
    raise ImportError(
        "gm_env needs numpy and numba: run .venv/bin/pip install -e '.[env]' in the clone of gmd"
    ) from error

from .cache import kept

F = TypeVar("F", bound=Callable[..., Any])


#: The folder of these kernels.
FOLDER = Path(__file__).parent


def digest_of(*folders: Path) -> str:
    """Return a digest of the sources of all kernels in some folders, which belongs in the names of those that use them.

    numba compares only the age of a kernel's own module with its cache, and would keep a kernel whose helpers in
    another module have changed.
    """
    digest = blake2b(digest_size=6)
    for path in sorted(path for folder in folders for path in folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


_DIGEST = digest_of(FOLDER)


def kernel(signature: str | None = None) -> Callable[[F], F]:
    """Compile a function; without a signature as a part of the functions that use it.

    A kernel allocates nothing: its callers keep its arrays, so that it does without counting their references, which
    takes atomic instructions.

    :param signature: numba's text of the types, such as ``"int64(uint64[:, ::1])"``. Python calls such a function, and
        gives it these types exactly: nobody compares them.
    """

    def compile_function(function: F) -> F:
        function.__qualname__ += f"_{_DIGEST}"  # numba names the files of its cache by it
        options: Any = {"nogil": True, "error_model": "numpy", "_nrt": False}
        with kept() as may_cache:
            compiled: Any = numba.njit(signature, cache=may_cache, forceinline=signature is None, **options)(function)
        if signature is not None:
            # The compiled function itself. A dispatcher would look at the type of each argument in each call, which
            # takes longer than a step of a small batch.
            (compiled,) = (overload.entry_point for overload in compiled.overloads.values())
        result: F = compiled
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


def _spread(typing_context: Any, words: Any, word: Any, bits: Any) -> Any:
    """Write 64 bytes of 0 and 1 for the bits of a bitboard, the lowest first, to eight words of an array.

    Its arguments are the array, uint64[:, ::1], the place of the first word counted from the array's beginning, and the
    bitboard.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir

        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        lanes = ir.VectorType(ir.IntType(8), 64)
        spread_bits = builder.zext(builder.bitcast(arguments[2], ir.VectorType(ir.IntType(1), 64)), lanes)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), lanes.as_pointer())
        builder.store(spread_bits, place, align=8)
        return context.get_dummy_value()

    return numba.void(words, numba.int64, numba.uint64), generate


spread: Any = intrinsic(_spread)
