#!/usr/bin/env bash
# check_aarch64.sh: compile the core for aarch64 with Debian's cross compiler. Nothing is linked or run; it shows that
# the core holds nothing that only x86-64 has. `apt-get install g++-aarch64-linux-gnu` brings the compiler.
set -euo pipefail
cd "$(dirname "$0")/.."

compiler=${CXX_AARCH64:-aarch64-linux-gnu-g++}
command -v "$compiler" >/dev/null || { echo "check_aarch64: $compiler is not here: apt-get install -y g++-aarch64-linux-gnu" >&2; exit 2; }
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

find core -name '*.cpp' ! -path 'core/fuzz/*' ! -path 'core/tests/*' -print0 |
  xargs -0 -P "$(nproc)" -I {} sh -c '"$1" -std=c++20 -O2 -Wall -Wextra -Werror -Icore -c "$2" -o "$3/$(echo "$2" | tr / _).o"' _ "$compiler" {} "$build"
echo "check_aarch64: $(find "$build" -name '*.o' | wc -l) files of core compile with $("$compiler" -dumpmachine) $("$compiler" -dumpversion)"
