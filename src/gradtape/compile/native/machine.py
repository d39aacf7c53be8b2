"""The machine that code is made for, and LLVM's way from a module to functions that can be called.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import llvmlite.binding as llvm

_lock = threading.RLock()


class Machine:
    """The processor that this runs on."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.cpu = llvm.get_host_cpu_name()
        features = llvm.get_host_cpu_features()
        self.features = features.flatten()
        wide = features.get("avx512f", False)
        self.vector_bytes = 64 if wide else 32 if features.get("avx", False) else 16
        self.registers = 32 if wide else 16
        self.target = llvm.Target.from_default_triple()

    def target_machine(self) -> Any:
        return self.target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=2, jit=True
        )


@cache
def host() -> Machine:
    with _lock:
        return Machine()


class Code:
    """Compiled functions; they live as long as this object."""

    def __init__(self, text: str) -> None:
        with _lock:
            machine = host()
            module = llvm.parse_assembly(text)
            target = machine.target_machine()
            options = llvm.create_pipeline_tuning_options(speed_level=2)
            options.loop_vectorization = options.slp_vectorization = False
            options.loop_unrolling = False
            builder = llvm.create_pass_builder(target, options)
            builder.getModulePassManager().run(module, builder)
            self._engine = llvm.create_mcjit_compiler(module, target)
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        return self._engine.get_function_address(name)
