#!/usr/bin/env bash
# Compiles the library and the program with clang, syntax only, lock annotations as errors.
# It builds nothing, so a check takes a fraction of a build.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

compiler=
for name in clang++-14 clang++; do
  if command -v "$name" >/dev/null; then compiler=$name; break; fi
done
if [ -z "$compiler" ]; then echo "check_locks: clang++ is missing" >&2; exit 3; fi

log=$(cmake --preset clang -DCMAKE_CXX_COMPILER="$compiler" -DWEIR_BUILD_TESTS=OFF 2>&1) ||
  { echo "$log" >&2; exit 1; }

# The commands of weir's own sources, without their outputs.
sed -n 's/^ *"command": "\(.*\)",$/\1/p' build/clang/compile_commands.json |
  sed -e 's/\\"/"/g' -e 's/ -o [^ ]*//' -e 's/ -c / -fsyntax-only -c /' >build/clang/commands
count=$(wc -l <build/clang/commands)
echo "$count sources"
cd build/clang && tr '\n' '\0' <commands | xargs -0 -P "$(nproc)" -n 1 sh -c
