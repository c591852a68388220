#!/usr/bin/env bash
# accept.sh: live figures of this machine, one pass or fail line each. ./dev accept builds first.
# Timed waits stand in for work, so that any machine shows what the controller does.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

weir=${WEIR:-build/release/weir}
work=build/accept
mkdir -p "$work"
failures=0

# run NAME VERB ARGUMENT...: one run, its JSON in $work/NAME.json.
run() {
  local name=$1
  shift
  if ! "$weir" run "$@" --quiet --json >"$work/$name.json"; then
    echo "FAIL  $name: weir run $* did not end well"
    failures=$((failures + 1))
    return 1
  fi
}

# check NAME WORDS EXPRESSION: WORDS tell what the jq EXPRESSION, [value, passed], judges.
check() {
  local name=$1 words=$2 answer value verdict
  answer=$(jq -r "$3 | @tsv" "$work/$name.json" 2>/dev/null) || answer=$'?\tfalse'
  value=${answer%%$'\t'*}
  verdict=${answer##*$'\t'}
  if [ "$verdict" = true ]; then
    printf 'pass  %-18s %s: %s\n' "$name" "$words" "$value"
  else
    printf 'FAIL  %-18s %s: %s\n' "$name" "$words" "$value"
    failures=$((failures + 1))
  fi
}
# Adding 0 keeps a rounded -0.0001 from reading -0.
rounded='def rounded: . * 1000 | round / 1000 + 0;'

# The ResNet-50 case: 2.8 ms an image, a step of 18 ms, a budget of twelve.
long=(--epochs 1000000 --seconds 10)
if run resnet configs/resnet50_case.yaml "${long[@]}"; then
  check resnet 'as written, starved: median gap in ms, over 70' \
    "$rounded"' .consumer.gap_ms.p50 | [rounded, . > 70]'
fi
for mode in shared strict; do
  options=()
  [ $mode = strict ] && options=(--strict)
  file=$work/resnet_$mode.tuned.yaml
  case=configs/resnet50_case_auto.yaml
  name=resnet_$mode
  if run "$name" $case "${long[@]}" ${options[@]+"${options[@]}"} --autotune --emit "$file"; then
    check "$name" 'tuned, median gap of the last half in ms, under 0.25' \
      "$rounded"' .consumer.last_half_gap_ms.p50 | [rounded, . < 0.25]'
    check "$name" 'workers above the fewest that hold the rate, at most 2' \
      "$rounded"' .tuning | .last_half_active_mean - .needed_workers | [rounded, . <= 2]'
  fi
  name=resnet_${mode}_file
  if run "$name" $case "${long[@]}" ${options[@]+"${options[@]}"} --tuned "$file"; then
    check "$name" 'from the file, controller off: median gap in ms, under 0.25' \
      "$rounded"' .consumer.gap_ms.p50 | [rounded, . < 0.25]'
  fi
done

# Waits of 4, 8 and 32 ms on eight workers. The bounds are those of the waits that happened; with
# whole workers one of the eight belongs to the batch.
bounds='
  def times: [.stages[] | select(.name == ("short", "middle", "long"))
              | .service_time_us.mean / 1e6];
  def shared: 8 / (times | add);
  def whole: times as $t | [range(1; 6) as $a | range(1; 7 - $a) as $b
    | [$a / $t[0], $b / $t[1], (7 - $a - $b) / $t[2]] | min] | max;'
for mode in shared strict; do
  options=()
  bound=shared
  [ $mode = strict ] && options=(--strict) && bound=whole
  file=$work/waits_$mode.tuned.yaml
  case=configs/emulated_4_8_32.yaml
  name=waits_$mode
  if run "$name" $case "${long[@]}" ${options[@]+"${options[@]}"} --autotune --emit "$file"; then
    check "$name" 'settled in seconds, at most 2' \
      "$rounded"' .tuning | [(.settle_seconds | rounded), .settled and .settle_seconds <= 2]'
    check "$name" 'moves, at most 3' '.tuning.moves | [., . <= 3]'
  fi
  name=waits_${mode}_file
  if run "$name" $case "${long[@]}" ${options[@]+"${options[@]}"} --tuned "$file"; then
    check "$name" "share of the $bound bound, at least 0.97" \
      "$rounded$bounds .items_per_second / $bound | [rounded, . >= 0.97]"
  fi
done

# Scenarios that timed waits show whole, on the live runtime: the bounds that each file sets, and how
# near the simulator comes that is given the waits that really happened. About two and a half minutes.
"$weir" sim bench/live/*.yaml --live --quiet --json >"$work/scenarios.json"
status=$?
if [ $status -gt 1 ]; then
  echo "FAIL  scenarios: weir sim --live did not end well"
  failures=$((failures + 1))
else
  for file in bench/live/*.yaml; do
    name=live_$(basename "$file" .yaml)
    jq "[.[] | select(.scenario == \"$name\")]" "$work/scenarios.json" >"$work/$name.json"
    check "$name" "$(sed -n 's/^must: {\(.*\)}$/\1/p' "$file")" \
      "$rounded"' .[0] | [(if .passed then "efficiency \(.efficiency | rounded)" else (.missed | join("; ")) end),
                          .passed]'
    check "$name" 'live rate over the simulated one with the same waits, 0.95 to 1.05' \
      "$rounded"' .[0] | .steady_per_second / .simulated_per_second | [rounded, . >= 0.95 and . <= 1.05]'
  done
fi

[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
echo "all passed"
