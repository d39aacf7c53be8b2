"""The processor that code is made for, and LLVM's way from a module to functions to call."""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from .background import go_on, lock


class Module(ir.Module):
    """A module, and beside it a `plain` one for functions that are written by hand."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.plain = ir.Module(f"{name}, by hand")


class Machine:
    """A processor: what it is called, what it can do, and how wide and how many its vectors are."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        features = llvm.get_host_cpu_features()
        wide = features.get("avx512f", False)
        self.triple = llvm.get_process_triple()
        self.cpu = llvm.get_host_cpu_name()
        self.features = features.flatten()
        self.vector_bytes = 64 if wide else 32 if features.get("avx", False) else 16
        # Of 128-bit machines only x86 has as few as 16.
        self.registers = 16 if self.triple.startswith("x86") and not wide else 32
        self._target = llvm.Target.from_triple(self.triple)

    def lanes(self, itemsize: int) -> int:
        """How many numbers of so many bytes a vector holds."""
        return self.vector_bytes // itemsize

    def assemble(
        self, module: ir.Module | str, passes: bool = True, plain: ir.Module | str | None = None
    ) -> bytes:
        """A module as object code, which can be kept on disk and loaded by `Code`; with the
        functions of a `plain` one, which needs no passes.

        Without passes what is written is what is run, but for registers and addresses: kernels
        that are written by hand lose nothing (products: the same GFLOP/s in half the time).
        """
        with lock:
            return self._emitted(module, passes, "emit_object", plain)

    def listing(self, module: ir.Module | str, passes: bool = True) -> str:
        """A module in the processor's own language, to be read."""
        with lock:
            return self._emitted(module, passes, "emit_assembly")

    def _emitted(
        self, module: ir.Module | str, passes: bool, how: str, plain: ir.Module | str | None = None
    ) -> Any:
        """What LLVM makes of a module; its memory is given back before another thread goes on."""
        text = str(module)
        go_on()
        context = llvm.create_context()
        parsed = llvm.parse_assembly(text, context)
        target = self._target_machine()
        if passes:
            go_on()
            self._optimise(parsed, target)
        if plain is not None:
            go_on()
            parsed.link_in(llvm.parse_assembly(str(plain), context))
        go_on()
        return getattr(target, how)(parsed)

    def _target_machine(self) -> Any:
        return self._target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=2, jit=True
        )

    def _optimise(self, module: Any, target: Any) -> None:
        """O2, but loops stay as they were written: their vectors and unrolling are ours."""
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = options.slp_vectorization = False
        options.loop_unrolling = options.loop_interleaving = False
        builder = llvm.create_pass_builder(target, options)
        builder.getModulePassManager().run(module, builder)


@cache
def _host() -> Machine:
    return Machine()


def host() -> Machine:
    """The processor that this runs on."""
    with lock:
        return _host()


class Code:
    """The functions of object files, which may call each other; they live as long as this."""

    def __init__(self, *objects: bytes) -> None:
        with lock:
            empty = llvm.parse_assembly(f'target triple = "{host().triple}"')
            self._engine = llvm.create_mcjit_compiler(empty, host()._target_machine())
            for code in objects:
                self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function begins."""
        with lock:
            found = self._engine.get_function_address(name)
        if not found:
            raise KeyError(name)
        return found


def compile(module: ir.Module | str, passes: bool = True) -> Code:
    """The functions of a module, ready to be called."""
    return Code(host().assemble(module, passes))
