#!/usr/bin/env bash
# fuzz.sh [NAME]: fuzz the core with libFuzzer and the address and undefined-behaviour sanitizers. Runs every
# core/fuzz/NAME_fuzz.cpp, or the one named, over core/fuzz/corpus/NAME and core/fuzz/crashes/NAME, RUNS inputs each
# (100,000 unless set), and prints libFuzzer's own lines: `cov:` counts the edges reached.
#
# New inputs go to build/fuzz/NAME.found; a crash is written there too. Put it into core/fuzz/crashes/NAME and mend it.
# Exit status: 0 nothing found, 1 an input crashed, hung or grew too large, 2 something is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly build=build/fuzz
shopt -s nullglob
sources=(core/fuzz/${1:-*}_fuzz.cpp)
[ -e "${sources[0]:-}" ] || { echo "fuzz: there is no core/fuzz/${1:-NAME}_fuzz.cpp" >&2; exit 2; }

compiler=${CXX:-clang++}
empty='extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, decltype(sizeof 0)) { return 0; }'
mkdir -p "$build"
"$compiler" -fsanitize=fuzzer,address,undefined -x c++ - -o "$build/probe" <<<"$empty" 2>/dev/null || {
  echo "fuzz: $compiler with libFuzzer is not here. On Debian or Ubuntu: apt-get install -y clang" >&2
  exit 2
}
.venv/bin/cmake -S . -B "$build" -G Ninja -DCMAKE_MAKE_PROGRAM="$PWD/.venv/bin/ninja" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_BUILD_TYPE=Release -DGAPLESS_FUZZ=ON >"$build/configure.log" || { cat "$build/configure.log" >&2; exit 1; }
.venv/bin/cmake --build "$build" >"$build/build.log" || { tail -n 30 "$build/build.log" >&2; exit 1; }

status=0
for source in "${sources[@]}"; do
  name=$(basename "$source" _fuzz.cpp)
  found=$build/$name.found
  mkdir -p "$found"
  folders=("$found")
  for kind in corpus crashes; do [ ! -d "core/fuzz/$kind/$name" ] || folders+=("core/fuzz/$kind/$name"); done
  echo "fuzz: $name, ${RUNS:-100000} inputs"
  "$build/${name}_fuzz" -runs="${RUNS:-100000}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$found/crash." "${folders[@]}" 2>"$build/$name.log" || status=1
  grep -E '(INITED|DONE|ERROR|SUMMARY|Test unit written|stat::)' "$build/$name.log" || tail -n 20 "$build/$name.log"
done
exit "$status"
