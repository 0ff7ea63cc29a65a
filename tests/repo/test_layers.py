"""Imports go one way. A layer may use itself and the layers of the rows above it, never its neighbours in a row.

If you need the other way, the noun is in the wrong place.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repo.imports import cpp_includes, python_imports
from tests.repo.tree import ROOT, read, tracked_files

CORE_ROWS = (
    ("base",),
    ("trace", "device"),
    ("snapshot", "allocator"),
    ("replay",),
    ("bindings",),
)
PYTHON_ROWS = (
    ("errors", "_core", "import_hook"),
    ("units", "rule", "user_command", "recorder"),
    ("conf",),
    ("sources",),
    ("cards", "recording"),
    ("virtual",),
    ("replaying",),
    ("explain",),
    ("tune", "fit"),
    ("report",),
    ("cli", "pytest_plugin"),
    ("__init__", "__main__"),
)
ONLY_IN = {"rich": {"report", "cli"}}  # third-party package: the layers that may import it
NEVER_AT_MODULE_LEVEL = {"torch"}
NOT_IN_CORE = ("Python.h", "nanobind", "pybind11", "cuda", "nccl", "cublas", "cudnn")


def rank(rows: tuple[tuple[str, ...], ...], layer: str) -> int | None:
    """Row of a layer, None when the table does not know it."""
    return next((row for row, layers in enumerate(rows) if layer in layers), None)


def may_use(rows: tuple[tuple[str, ...], ...], user: str, used: str) -> bool:
    """Whether the table lets one layer use another; a layer that is not in the table may use nothing."""
    of_user, of_used = rank(rows, user), rank(rows, used)
    return of_user is not None and of_used is not None and (user == used or of_used < of_user)


def python_complaints(path: Path, text: str) -> list[str]:
    """What is wrong with the imports of one file of src/gapless."""
    inside = path.relative_to("src/gapless")
    layer = inside.parts[0].removesuffix(".py").removesuffix(".pyi")
    package = ".".join(("gapless", *inside.parent.parts))
    complaints = [] if rank(PYTHON_ROWS, layer) is not None else [f"{path}: layer {layer} is not in the table"]
    for imported in python_imports(text, package=package):
        top, _, rest = imported.module.partition(".")
        where = f"{path}:{imported.line}"
        if top == "gapless":
            used = rest.partition(".")[0]
            if rank(PYTHON_ROWS, used) is None:
                used = "__init__" if rest in {"", "__version__"} else used
            if used != "__init__" and not may_use(PYTHON_ROWS, layer, used):
                complaints.append(f"{where}: {layer} may not use {used}")
        elif layer not in ONLY_IN.get(top, {layer}):
            complaints.append(f"{where}: {top} belongs to {', '.join(sorted(ONLY_IN[top]))}, not to {layer}")
        elif top in NEVER_AT_MODULE_LEVEL and imported.at_module_level:
            complaints.append(f"{where}: {top} is imported at module level")
    return complaints


def core_complaints(path: Path, text: str) -> list[str]:
    """What is wrong with the includes of one C++ file of core or bindings."""
    layer = path.parts[1] if path.parts[0] == "core" else "bindings"
    complaints = [] if rank(CORE_ROWS, layer) is not None else [f"{path}: layer {layer} is not in the table"]
    for name, is_ours in cpp_includes(text):
        used = name.split("/")[0]
        if layer != "bindings" and any(name.lower().startswith(word.lower()) for word in NOT_IN_CORE):
            complaints.append(f"{path}: core may not include {name}")
        elif is_ours and "/" in name and not may_use(CORE_ROWS, layer, used):
            complaints.append(f"{path}: {layer} may not use {name}")
        elif is_ours and layer == "allocator" and used == "device" and name != "device/device.h":
            complaints.append(f"{path}: an allocator knows device/device.h alone, not {name}")
        elif is_ours and not ((ROOT / "core" / name).exists() if "/" in name else layer == "bindings"):
            complaints.append(f"{path}: {name} is not a file of core, written with its folder")
    return complaints


def test_python_imports_go_one_way() -> None:
    files = [p for p in tracked_files() if p.parts[:2] == ("src", "gapless") and p.suffix in {".py", ".pyi"}]

    assert len(files) >= 3
    assert [c for path in files for c in python_complaints(path, read(path))] == []


def test_core_includes_go_one_way() -> None:
    apart = ("tests", "fuzz")  # programs over the core: they may use all of it
    files = [p for p in tracked_files() if p.parts[0] in {"core", "bindings"} and p.suffix in {".h", ".cpp"}]
    files = [p for p in files if p.parts[1] not in apart]

    assert len(files) >= 3
    assert [c for path in files for c in core_complaints(path, read(path))] == []


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("src/gapless/conf/a.py", "from gapless.explain.rules import x", "conf may not use explain"),
        ("src/gapless/conf/a.py", "def f():\n    from ..report import x", "conf may not use report"),
        ("src/gapless/errors.py", "from gapless import units", "errors may not use units"),
        ("src/gapless/explain/a.py", "import rich.table", "rich belongs to cli, report, not to explain"),
        ("src/gapless/cli/a.py", "import torch", "torch is imported at module level"),
        ("src/gapless/cli/a.py", "if 1:\n    from torch import nn", "torch is imported at module level"),
        ("src/gapless/helpful/a.py", "", "layer helpful is not in the table"),
        ("src/gapless/cli/a.py", "from gapless.helpful import a", "cli may not use helpful"),
    ],
)
def test_a_wrong_python_import_is_found(path: str, text: str, complaint: str) -> None:
    (found,) = python_complaints(Path(path), text)

    assert found.endswith(complaint)


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("core/base/a.h", '#include "trace/event.h"', "base may not use trace/event.h"),
        ("core/device/a.h", '#include "trace/event.h"', "device may not use trace/event.h"),
        ("core/allocator/a.h", '#include "replay/replay.h"', "allocator may not use replay/replay.h"),
        (
            "core/allocator/a.h",
            '#  include "device/simulated.h"',
            "knows device/device.h alone, not device/simulated.h",
        ),
        ("core/trace/a.cpp", "#include <Python.h>", "core may not include Python.h"),
        ("core/device/a.cpp", "#include <cuda_runtime.h>", "core may not include cuda_runtime.h"),
        ("core/trace/a.cpp", "#include <nanobind/nanobind.h>", "core may not include nanobind/nanobind.h"),
        ("core/trace/a.cpp", '#include "event.h"', "event.h is not a file of core, written with its folder"),
        ("core/more/a.cpp", "", "layer more is not in the table"),
    ],
)
def test_a_wrong_include_is_found(path: str, text: str, complaint: str) -> None:
    (found,) = core_complaints(Path(path), text)

    assert found.endswith(complaint)


def test_right_imports_are_left_alone() -> None:
    text = (
        "from __future__ import annotations\nimport re\nfrom gapless import __version__, units\nfrom .common import x"
    )

    assert python_complaints(Path("src/gapless/cli/a.py"), text) == []
    assert python_complaints(Path("src/gapless/sources/a.py"), "def f():\n    import torch") == []
    assert core_complaints(Path("core/trace/a.cpp"), '#include <vector>\n#include "base/units.h"') == []
    assert core_complaints(Path("bindings/a.cpp"), '#include "bindings.h"\n#include <nanobind/nanobind.h>') == []
