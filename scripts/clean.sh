#!/usr/bin/env bash
# clean.sh: remove all that the Makefile's targets made in this checkout, and only that.
set -euo pipefail
cd "$(dirname "$0")/.."

rm -rf .venv build dist tests/differential/cache tests/virtual/cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
find benchmarks examples scripts src tests -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
find src -name '*.so' -delete
echo "removed .venv, build, dist and caches"
