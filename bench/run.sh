#!/usr/bin/env bash
# run.sh [NAME]: runs every benchmark that was built, or the one called NAME. ./dev bench builds.
# WEIR_BENCH_PHOTOS tells them a folder of photographs.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

mapfile -t names < <(grep -v '^$' build/release/bench/names.txt 2>/dev/null)
if [ ${#names[@]} -eq 0 ]; then echo "bench: none is built" >&2; exit 1; fi
if [ $# -ge 1 ]; then
  if ! printf '%s\n' "${names[@]}" | grep -qxF -- "$1"; then
    echo "bench: '$1' is none of: ${names[*]}" >&2
    exit 2
  fi
  names=("$1")
fi
tools/make_photos.sh || exit
export WEIR_BENCH_PHOTOS=$PWD/build/demo/photos
status=0
for name in "${names[@]}"; do
  echo "== $name"
  "build/release/bench/$name" || status=1
done
exit $status
