"""Begins a visit of the doctor when TensorFlow is imported, where `GRADTAPE_DOCTOR` asks for one.

`gradtape_doctor.pth`, which lies beside this module among the installed packages, calls `wait` when
Python starts, and only if that variable is set. A program that imports gradtape needs none of it.
"""

import sys

NAMES = ("tensorflow", "keras")
OFF = ("", "0", "false", "no", "off")  # as in gradtape.doctor.entry.environment
engine = "gradtape"  # that the visit listens to


def wait():
    """Wait for the first import of TensorFlow, or of Keras that may be about to import it."""
    import os

    wanted = os.environ["GRADTAPE_DOCTOR"].lower() not in OFF
    if wanted and not any(isinstance(finder, _Waiting) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Waiting())


class _Waiting:
    """A finder at the head of the import system's, until it has found what it waits for."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in NAMES:
            return None
        if fullname != NAMES[0] and _found(NAMES[0], None, None, self) is None:
            return None  # Keras on another backend
        global engine
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        engine = "tensorflow"
        import gradtape.doctor.entry.environment as environment  # which begins when it can

        environment.begin()
        return _found(fullname, path, target, self)


def _found(name, path, target, without):
    for finder in [finder for finder in sys.meta_path if finder is not without]:
        spec = finder.find_spec(name, path, target)
        if spec is not None:
            return spec
    return None
