"""The compiler of the kernels: numba, each kernel when it is first called, without the GIL, cached on disk.

:mod:`.cache` says where the machine code is kept.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cached_property, update_wrapper
from threading import RLock
from typing import Any, TypeVar, cast

try:
    import numba
    from numba.core import event
    from numba.extending import intrinsic
except ImportError as error:
    raise ImportError(
        "gm_env needs numpy and numba: run .venv/bin/pip install -e '.[env]' in the clone of gmd"
    ) from error

from .cache import FOLDER, digest_of, kept

F = TypeVar("F", bound=Callable[..., Any])

_DIGEST = digest_of(FOLDER)
_OPTIONS: Any = {"nogil": True, "error_model": "numpy", "_nrt": False}
_lock = RLock()


class Kernel:
    """A kernel that Python calls: compiled, or taken from the cache, at its first call.

    It takes arguments of its signature's types exactly: nobody compares them.
    """

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        self._function, self._signature = function, signature
        self.name = function.__name__
        update_wrapper(self, function)
        function.__qualname__ += f"_{_DIGEST}"  # numba names the files of its cache by it
        KERNELS.append(self)

    def __call__(self, *arguments: Any) -> Any:
        return self._compiled(*arguments)

    def make(self) -> None:
        """Compile it, or take it from the cache."""
        _ = self._compiled

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        """The compiled function itself.

        numba's dispatcher would look at the type of each argument in each call, which takes longer than a step of a
        small batch.
        """
        with _lock, kept() as may_cache, event.install_listener("numba:compile", _progress):
            begun = time.monotonic()
            found: Any = numba.njit(self._signature, cache=may_cache, **_OPTIONS)(self._function)
            if not found.stats.cache_hits:
                _progress.say(f"  {self.name}: {time.monotonic() - begun:.1f} s")
            (overload,) = found.overloads.values()
            return cast(Callable[..., Any], overload.entry_point)


#: All kernels that Python calls.
KERNELS: list[Kernel] = []


class _Progress(event.Listener):
    """Says on standard error that kernels are compiled, and which; nothing where all are cached."""

    has_begun = False

    def on_start(self, event: Any) -> None:
        if not self.has_begun:
            self.has_begun = True
            self.say("gm_env compiles its kernels, once for this version (ahead of time: python -m gm_env.compile)")

    def on_end(self, event: Any) -> None:
        pass

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


_progress = _Progress()


def kernel(signature: str | None = None) -> Callable[[F], F]:
    """Compile a function for its signature; without one as a part of the functions that use it.

    A kernel allocates nothing: its callers keep its arrays, so that it does without counting their references, which
    takes atomic instructions.

    :param signature: numba's text of the types, such as ``"int64(uint64[:, ::1])"``. Python calls such a function.
    """

    def compile_function(function: F) -> F:
        made: Any = Kernel(function, signature) if signature else numba.njit(forceinline=True, **_OPTIONS)(function)
        return cast(F, made)

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
    """Write 64 bytes of 0 and 1 for the bits of a bitboard, the lowest first, into an array.

    Its arguments are the array, the place of the first of its elements, counted from its beginning, and the bitboard.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir

        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        lanes = ir.VectorType(ir.IntType(8), 64)
        spread_bits = builder.zext(builder.bitcast(arguments[2], ir.VectorType(ir.IntType(1), 64)), lanes)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), lanes.as_pointer())
        builder.store(spread_bits, place, align=1)
        return context.get_dummy_value()

    return numba.void(words, numba.int64, numba.uint64), generate


spread: Any = intrinsic(_spread)
