#!/usr/bin/env bash
# stub.sh: write src/gapless/_core.pyi anew from the built extension. Run after a change of bindings/.
set -euo pipefail
cd "$(dirname "$0")/.."

.venv/bin/python -m nanobind.stubgen -q -m gapless._core -o src/gapless/_core.pyi
.venv/bin/ruff check -q --fix src/gapless/_core.pyi
.venv/bin/ruff format -q src/gapless/_core.pyi
