#!/usr/bin/env bash
# run.sh [--quick] [NAME]: runs every benchmark that was built, or the one called NAME; ./dev bench
# builds. --quick: once each with a tiny budget, to see that they run.
# WEIR_BENCH_PHOTOS and WEIR_BENCH_LARGE name folders of photographs and of large ones; without them
# they are cut from packaged ones. NAME peers: other loaders for which WEIR_BENCH_PYTHON (python3) has the
# packages, beside weir; nothing is installed for it.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

folder=${WEIR_BENCH_BUILD:-build/release}/bench
options=()
if [ "${1:-}" = --quick ]; then options=(--quick); shift; fi
mapfile -t names < <(grep -v '^$' "$folder/names.txt" 2>/dev/null)
if [ ${#names[@]} -eq 0 ]; then echo "bench: none is built" >&2; exit 1; fi
if [ "${1:-}" = peers ]; then
  if [ -z "${WEIR_BENCH_PHOTOS:-}" ]; then
    tools/make_photos.sh || exit 1
    WEIR_BENCH_PHOTOS=$PWD/build/demo/photos
  fi
  sizes=(384 7)
  [ ${#options[@]} -eq 0 ] || sizes=(64 1)
  status=0
  for threads in 1 2; do
    "${WEIR_BENCH_PYTHON:-python3}" bench/peers/compare.py "$folder/images" "$WEIR_BENCH_PHOTOS" \
      "${sizes[0]}" "$threads" "${sizes[1]}" || status=1
  done
  exit $status
fi
if [ $# -ge 1 ]; then
  if ! printf '%s\n' "${names[@]}" | grep -qxF -- "$1"; then
    echo "bench: '$1' is none of: ${names[*]}" >&2
    exit 2
  fi
  names=("$1")
fi
status=0
for name in "${names[@]}"; do
  if [ "$name" = images ]; then
    if [ -z "${WEIR_BENCH_PHOTOS:-}" ]; then
      tools/make_photos.sh || { status=1; continue; }
      export WEIR_BENCH_PHOTOS=$PWD/build/demo/photos
    fi
    if [ -z "${WEIR_BENCH_LARGE:-}" ]; then
      tools/make_photos.sh build/bench/large_photos 96 2000 1500 450000 || { status=1; continue; }
      export WEIR_BENCH_LARGE=$PWD/build/bench/large_photos
    fi
  fi
  echo "== $folder/$name ${options[*]-}"
  "$folder/$name" ${options[@]+"${options[@]}"} || status=1
done
exit $status
