#!/usr/bin/env bash
# Runs clang-tidy over the library and the program, or over the named sources.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

tool=
for name in clang-tidy-14 clang-tidy; do
  if command -v "$name" >/dev/null; then tool=$name; break; fi
done
if [ -z "$tool" ]; then echo "tidy: clang-tidy is missing" >&2; exit 3; fi

log=$(cmake --preset clang 2>&1) || { echo "$log" >&2; exit 1; }
if [ $# -gt 0 ]; then
  printf '%s\0' "$@"
else
  find machine pipeline policies tuner src -name '*.cpp' -print0
fi | xargs -0 -P "$(nproc)" -n 1 "$tool" -p build/clang --quiet
