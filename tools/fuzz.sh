#!/usr/bin/env bash
# fuzz.sh [SECONDS]: builds the fuzz targets with the sanitizers and runs each for SECONDS (600), all
# at once and out of the way of others. What a run learns is kept for the next one, in
# build/asan/fuzz/learnt. Exits 1 on a finding, 2 on wrong usage, 3 where it cannot run.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

seconds=${1:-600}
if [ $# -gt 1 ] || ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: fuzz.sh [SECONDS]" >&2
  exit 2
fi

build=${WEIR_FUZZ_BUILD:-build/asan}
targets=(decode kernel pipeline_file)
if [ -z "${WEIR_FUZZ_BUILD:-}" ]; then
  log=$(cmake --preset asan 2>&1) || { echo "$log" >&2; exit 1; }
fi
if ! cmake --build "$build" --parallel "$(nproc)" --target weir_make_corpus \
  "${targets[@]/#/weir_fuzz_}"; then
  grep -q '^WEIR_LIBFUZZER:' "$build/CMakeCache.txt" && exit 1
  echo "fuzz: libFuzzer is missing; Debian's package is libclang-rt-14-dev" >&2
  exit 3
fi

cd "$build/fuzz" || exit 3
mkdir -p findings
./weir_make_corpus corpus || exit 1
declare -A running
for target in "${targets[@]}"; do
  kind=images
  more=()
  if [ $target = pipeline_file ]; then kind=files; more=(-dict=corpus/files.dict); fi
  mkdir -p "learnt/$target"
  UBSAN_OPTIONS=print_stacktrace=1 nice -n 19 "./weir_fuzz_$target" -max_total_time="$seconds" \
    -timeout=60 -rss_limit_mb=4096 -max_len=20000 -close_fd_mask=2 -print_final_stats=1 \
    -artifact_prefix="findings/$target-" ${more[@]+"${more[@]}"} "learnt/$target" "corpus/$kind" \
    >"$target.log" 2>&1 &
  running[$target]=$!
done
trap 'kill "${running[@]}" 2>/dev/null' INT TERM

status=0
for target in "${targets[@]}"; do
  if wait "${running[$target]}"; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$target.log")
    echo "$target: ${runs:-?} runs in $seconds s, no finding"
  else
    status=1
    echo "$target: a finding; see $build/fuzz/$target.log and $build/fuzz/findings" >&2
    grep -m3 -E 'ERROR|runtime error|does not hold' "$target.log" >&2
  fi
done
exit $status
