#!/usr/bin/env bash
# demo.sh [DIR]: the main job on photographs, untuned and tuned. ./dev demo installs, builds and
# calls this. WEIR names the program; what is made and measured stays in build/demo.
set -u
set -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

weir=${WEIR:-build/release/weir}
work=build/demo
gain_rounds=3
gain_seconds=3
case_seconds=6
mkdir -p "$work"
rm -f "$work"/kernel_*.json "$work"/plain_*.json

say() { printf '%s\n' "$*"; }
stop() { printf 'demo: %s\n' "$*" >&2; exit 1; }

# measure NAME ARGUMENT...: one run, its JSON in $work/NAME.json.
measure() {
  local name=$1
  shift
  "$weir" run "$@" --quiet --json >"$work/$name.json" || stop "failed: $weir run $*"
}
field() { jq -r "$2" "$work/$1.json"; }
# all NAME FILTER: over the rounds of NAME together.
all() { jq -r -s "$2" "$work/$1"_[0-9]*.json; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
# less_than A B: compares two numbers, which need not be whole.
less_than() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

row() {
  jq -r --arg name "$1" '
    def fixed(places): pow(10; places) as $p | (. * $p | round) / $p;
    def cpu: [.stages[] | .cpu_user_seconds + .cpu_system_seconds] | add;
    [$name, (.consumer.gap_ms.mean | fixed(2)), (.consumer.gap_ms.p95 | fixed(2)),
     (.consumer.step_ms.mean | fixed(2)), (.items_per_second | round), (cpu | fixed(1)),
     ([.stages[] | "\(.name) \(.running_mean | fixed(2))/\(.target | fixed(2))"] | join(", "))]
    | @tsv' "$work/$1.json"
}
table() {
  local name
  printf '%-11s %9s %9s %9s %9s %7s   %s\n' "" "gap ms" "gap p95" "step ms" "images/s" "CPU s" \
    "workers per stage (running/target)"
  for name in "$@"; do
    row "$name" | awk -F '\t' \
      '{ printf "%-11s %9.2f %9.2f %9.2f %9d %7.1f   %s\n", $1, $2, $3, $4, $5, $6, $7 }'
  done
}
# verdict NAME STEP_MS: fed when the consumer waits for less than a twentieth of its step.
verdict() {
  local gap
  gap=$(field "$1" .consumer.gap_ms.mean)
  if less_than "$gap" "$(awk -v s="$2" 'BEGIN { print s / 20 }')"; then
    say "$1: fed. The training waits $(printf '%.2f' "$gap") ms between its steps of $2 ms."
  else
    say "$1: starved. The training waits $(printf '%.2f' "$gap") ms between its steps of $2 ms."
  fi
}

# tune FILE ARGUMENT...: writes FILE, or says why there is none: then 1, and the demo goes on without.
tune() {
  local file=$1 status
  shift
  rm -f "$file"
  "$weir" tune "$@" --seconds 60 --emit "$file" && return
  status=$?
  [ "$status" = 3 ] || stop "weir tune failed with status $status"
  return 1
}

[ -x "$weir" ] || stop "$weir is not there; ./dev build makes it"

if [ $# -ge 1 ]; then
  photos=$1
else
  photos=$work/photos
  tools/make_photos.sh || exit
fi
photos=$(cd -- "$photos" && pwd) || stop "cannot enter $photos"
say "Photographs: $photos"
job=(configs/demo.yaml --data "$photos" --epochs 1000000)

# The first run warms the page cache and tells the budget.
measure probe "${job[@]}" --seconds 4
budget=$(field probe .budget.threads)
# One worker by the image kernel, as it comes, and by the plain operators, in turns, so that a machine
# that is busier now than then does not decide: what the kernel gains, which no thread can.
for ((round = 1; round <= gain_rounds; ++round)); do
  measure "kernel_$round" "${job[@]}" --seconds "$gain_seconds" --workers 1
  measure "plain_$round" "${job[@]}" --seconds "$gain_seconds" --workers 1 --image-path plain
done
steps=$(all kernel '[([.[].batches] | add), 2] | max')
batch_ms=$(all kernel '([.[] | .seconds - .first_batch_seconds] | add) * 1000 /
                       ([([.[].batches - 1] | add), 1] | max)')
step_us=$(awk -v t="$batch_ms" -v n="$budget" 'BEGIN { printf "%d", 1.25 * t / n * 1000 }')
step_ms=$(awk -v s="$step_us" 'BEGIN { printf "%.2f", s / 1000 }')
say "One worker makes a batch in $(printf '%.1f' "$batch_ms") ms; the budget here is $budget threads" \
  "($(field probe .budget.source))."
rate='([.[].items] | add) / ([.[].seconds] | add)'
cpu='([.[].stages[] | .cpu_user_seconds + .cpu_system_seconds] | add) * 1000 / ([.[].items] | add)'
kernel_rate=$(all kernel "$rate")
plain_rate=$(all plain "$rate")
kernel_cpu=$(all kernel "$cpu")
plain_cpu=$(all plain "$cpu")
say "Decode, crop, flip and normalise run as one image kernel: $(printf '%.0f' "$kernel_rate") images/s" \
  "a worker, by the plain operators (image_path: plain) $(printf '%.0f' "$plain_rate"):" \
  "$(ratio "$kernel_rate" "$plain_rate") times as many," \
  "with $(printf '%.2f' "$kernel_cpu") instead of $(printf '%.2f' "$plain_cpu") CPU seconds for 1,000 images."
say "Emulated training step: 1.25 * $(printf '%.1f' "$batch_ms") ms / $budget = $step_ms ms, just" \
  "feedable on this machine."
say ""

job+=(--step-time "${step_us}us")
measure before "${job[@]}" --steps "$steps" --workers 1
measure default "${job[@]}" --steps "$steps"
tuned=$work/demo.tuned.yaml
say "Tuning (60 s at most): weir tune ${job[*]} --emit $tuned"
rows=(before default)
if tune "$tuned" "${job[@]}"; then
  measure tuned "${job[@]}" --steps "$steps" --tuned "$tuned"
  rows+=(tuned)
fi

say ""
say "$steps batches with a training step of $step_ms ms. before: one worker, the known mistake;"
say "default: no tuning; tuned: the file that weir tune wrote, controller off."
table "${rows[@]}"
for name in "${rows[@]}"; do verdict "$name" "$step_ms"; done
if [ "${#rows[@]}" = 3 ] && awk -v a="$(field default .items_per_second)" -v b="$(field tuned .items_per_second)" \
  'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= 0.03 * b) }'; then
  say "default and tuned agree within 3 %: on $budget threads the default split is already right."
fi

say ""
say "The ResNet-50 case: a stage that waits 2.8 ms an image, a training step of 18 ms, a budget of"
say "twelve workers. The waits are timed, so any machine shows it."
measure case_before configs/resnet50_case.yaml --epochs 1000000 --seconds "$case_seconds"
case_tuned=$work/resnet50_case.tuned.yaml
say "Tuning: weir tune configs/resnet50_case_auto.yaml --emit $case_tuned"
rows=(case_before)
if tune "$case_tuned" configs/resnet50_case_auto.yaml; then
  measure case_tuned configs/resnet50_case_auto.yaml --epochs 1000000 --seconds "$case_seconds" \
    --tuned "$case_tuned"
  rows+=(case_tuned)
fi
say ""
table "${rows[@]}"
if [ "${#rows[@]}" = 2 ]; then
  say "Median gap before: $(printf '%.2f' "$(field case_before .consumer.gap_ms.p50)") ms," \
    "tuned: $(printf '%.2f' "$(field case_tuned .consumer.gap_ms.p50)") ms."
fi

say ""
say "The tuned files, which a next run starts from with --tuned:"
for file in "$tuned" "$case_tuned"; do
  if [ -f "$file" ]; then say "  $file"; else say "  $file: none was written, see above"; fi
done
