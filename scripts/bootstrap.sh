#!/usr/bin/env bash
# bootstrap.sh run|test: make .venv of this checkout ready to run or to test Gapless.
# bootstrap.sh missing: print the Debian packages that are missing, and nothing when none is.
#
# Writes only below the checkout: .venv and build. Stamps in .venv/gapless tell what was done, so that a second call
# needs neither network nor compiler, and compiles again only after a change of C++ or of the build's own files.
# Exit status: 0 ready, 1 a download or the build failed, 2 something is missing that only you can install.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly venv=.venv stamps=.venv/gapless
readonly downloads_run="about 50 MB: cmake 30, numpy 17, nanobind, ninja, rich, scikit-build-core"
readonly downloads_test="about 80 MB: cmake 30, numpy 17, mypy 15, ruff 11, clang-format, hypothesis, nanobind, ninja, pytest, rich, scikit-build-core and what they need"

# Settings of pip and Python that would send packages elsewhere than into .venv.
unset PYTHONHOME PYTHONPATH PIP_TARGET PIP_PREFIX PIP_ROOT PIP_USER PIP_REQUIRE_VIRTUALENV

say() { printf 'gapless: %s\n' "$*" >&2; }

python_to_use() {
  if [ -n "${PYTHON:-}" ]; then printf '%s' "$PYTHON"
  elif [ -x "$venv/bin/python" ]; then printf '%s' "$venv/bin/python"
  else printf 'python3'
  fi
}

readonly cpp20='#include <bit>
#include <concepts>
#include <span>
int main() { return std::popcount(0u); }'

# The first C++ compiler that knows C++20; empty when there is none.
compiler_to_use() {
  local candidate
  for candidate in ${CXX:-c++ g++ clang++}; do
    if "$candidate" -std=c++20 -x c++ -fsyntax-only - <<<"$cpp20" 2>/dev/null; then
      printf '%s' "$candidate"
      return
    fi
  done
}

is_recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }

# Debian packages that are missing, one a line.
missing_packages() {
  local python name
  python=$(python_to_use)
  name=$(basename "$python")
  case "$name" in python3.[0-9]*) ;; *) name=python3 ;; esac  # python3.12 has python3.12-venv; all others python3-venv
  if ! is_recent "$python"; then
    printf '%s\n' "$name" "$name-venv" "$name-dev"
  else
    "$python" -c 'import ensurepip, venv' 2>/dev/null || printf '%s\n' "$name-venv"
    "$python" -c 'import os, sysconfig; open(os.path.join(sysconfig.get_path("include"), "Python.h")).close()' 2>/dev/null ||
      printf '%s\n' "$name-dev"
  fi
  [ -n "$(compiler_to_use)" ] || printf 'g++\n'
  command -v make >/dev/null || printf 'make\n'
}

require_system() {
  local missing sudo="sudo "
  missing=$(missing_packages | paste -sd ' ')
  [ -n "$missing" ] || return 0
  [ "$(id -u)" -ne 0 ] || sudo=""
  say "this machine lacks what Gapless is built with (Python 3.10 or later with venv and headers, a C++20 compiler, make)."
  say "On Debian or Ubuntu this line installs it; then run make again:"
  printf '    %sapt-get install -y %s\n' "$sudo" "$missing" >&2
  exit 2
}

# Run a command quietly; when it fails show the end of what it said.
logged() {
  local log=$1
  shift
  "$@" >"$stamps/$log.log" 2>&1 && return 0
  tail -n 30 "$stamps/$log.log" >&2
  return 1
}

version_of() { "$1" -c 'import sys; print(sys.version)' 2>/dev/null || true; }

# .venv serves when its Python runs, is the one asked for and it has not been moved.
has_venv() {
  [ "$(cat "$stamps/place" 2>/dev/null)" = "$PWD" ] || [ ! -e "$stamps/place" ] || return 1
  local version
  version=$(version_of "$venv/bin/python")
  [ -n "$version" ] && [ "$version" = "$(version_of "$(python_to_use)")" ] && "$venv/bin/python" -c 'import pip' 2>/dev/null
}

make_venv() {
  require_system
  rm -rf "$venv" build
  "${PYTHON:-python3}" -m venv "$venv"
  mkdir -p "$stamps"
  printf '%s\n' "$PWD" >"$stamps/place"
}

install_tools() {  # install_tools run|test
  local files=(-r scripts/requirements-run.txt)
  [ "$1" = run ] || files+=(-r scripts/requirements-test.txt)
  say "downloading from PyPI (once)"
  logged tools "$venv/bin/python" -m pip install --disable-pip-version-check --no-cache-dir "${files[@]}" && return 0
  say "a download failed, see above. Is there a network? pip's own settings (PIP_INDEX_URL, PIP_PROXY) hold here too."
  exit 1
}

build_core() {
  require_system
  say "compiling the C++ core"
  CXX=$(compiler_to_use) logged build "$venv/bin/python" -m pip install --disable-pip-version-check --no-build-isolation \
    --no-deps --editable . && return 0
  say "the build failed, see above; all of it is in $stamps/build.log"
  exit 1
}

digest() { sha256sum "$@" | sha256sum; }
sources() { find core bindings virtual_gpu CMakeLists.txt pyproject.toml -type f ! -path 'core/fuzz/*' ! -path 'core/tests/*' -print0 | LC_ALL=C sort -z; }
digest_of_sources() { sources | xargs -0 sha256sum | sha256sum; }

is_stamped() { [ "$(cat "$stamps/$1" 2>/dev/null)" = "$2" ]; }
stamp() { printf '%s\n' "$2" >"$stamps/$1"; }

announce() {
  local downloads=$downloads_run later=""
  [ "$1" = run ] || downloads=$downloads_test
  [ "$1" = run ] || later=" The tests then fetch PyTorch: 0.56 GB, of which 10 MB stay, and two environments of 1.4 GB that stay."
  say "first run: makes .venv in this folder, downloads $downloads; then compiles the C++ core."
  say "Two to three minutes on two cores, more on a slow machine.$later Nothing outside this folder changes; 'make clean' undoes it; later runs need no network."
}

main() {
  local level=$1 began=$SECONDS tools
  if command -v flock >/dev/null; then  # two makes at a time take turns
    exec 9<pyproject.toml
    flock -n 9 || { say "waiting for another make in this folder"; flock 9; }
  fi
  if ! has_venv; then
    require_system
    announce "$level"
    make_venv
  fi
  mkdir -p "$stamps"
  tools=$(digest scripts/requirements-*.txt)
  if ! is_stamped tools-test "$tools" && { [ "$level" = test ] || ! is_stamped tools-run "$tools"; }; then
    install_tools "$level"
    stamp "tools-$level" "$tools"
  fi
  local built
  built=$(digest_of_sources)
  is_stamped build "$built" || { rm -f "$stamps/build"; build_core; stamp build "$built"; }
  [ "$((SECONDS - began))" -lt 3 ] || say "ready after $((SECONDS - began)) s"
}

case "${1:-}" in
  run | test) main "$1" ;;
  missing) missing_packages ;;
  *) say "usage: bootstrap.sh run|test|missing"; exit 2 ;;
esac
