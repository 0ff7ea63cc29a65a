"""Python runs this file at the start of each process of a virtual run: the folder is first on PYTHONPATH.

It puts the pretend card under PyTorch when that is imported, and then lets the user's own sitecustomize run.
"""

import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def run_the_users_own() -> None:
    """What Python would have run without us."""
    rest = [folder for folder in sys.path if os.path.abspath(folder or ".") != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def wait_for_torch() -> None:
    """Nothing is loaded before PyTorch is imported, so that other programs start as fast as ever."""
    plan = os.environ.get("GAPLESS_VIRTUAL")
    if not plan:
        return
    try:
        from gapless.virtual.inside import prepare  # noqa: PLC0415
    except ImportError:
        print(f"gapless: this Python has no gapless, so it runs without the card: {sys.executable}", file=sys.stderr)
        return
    prepare(plan)


wait_for_torch()
run_the_users_own()
