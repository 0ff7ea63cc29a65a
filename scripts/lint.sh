#!/usr/bin/env bash
# lint.sh check|format: ruff, mypy strict and clang-format over the whole tree. check changes nothing and fails on
# the first tool that objects; format rewrites.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin

cpp_files() {
  local folder
  for folder in core bindings virtual_gpu tests/differential; do
    [ ! -d "$folder" ] || find "$folder" -path tests/differential/cache -prune -o -name '*.cpp' -print0 -o -name '*.h' -print0
  done
}

advise_format() {
  echo "lint: 'make format' mends this" >&2
  exit 1
}

case "${1:-}" in
  check)
    "$bin/ruff" check -q .
    "$bin/ruff" format -q --check . || advise_format
    "$bin/mypy" --no-error-summary
    cpp_files | xargs -0 -r "$bin/clang-format" --dry-run -Werror || advise_format
    echo "lint: ruff, mypy and clang-format have no objection"
    ;;
  format)
    "$bin/ruff" check -q --fix . || true
    "$bin/ruff" format -q .
    cpp_files | xargs -0 -r "$bin/clang-format" -i
    ;;
  *)
    echo "usage: lint.sh check|format" >&2
    exit 2
    ;;
esac
