#!/usr/bin/env bash
# expect_failure.sh PROGRAM FILTER [TIMES]: runs the tests of a mutant, TIMES over; exits 0 when they
# fail, or a watchdog of theirs ends them.
set -u
program=$1
filter=$2
times=${3:-1}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
ulimit -c 0
[ -x "$program" ] || { echo "$program is not built"; exit 1; }
WEIR_STRESS_TIMES=$times WEIR_WATCHDOG_SECONDS=10 timeout --signal=KILL 100 \
  "$program" --gtest_filter="$filter" --gtest_fail_fast >"$log" 2>&1
status=$?
if [ $status -eq 0 ]; then
  echo "the tests $filter pass without the guard:"
  cat "$log"
  exit 1
fi
if [ $status -eq 137 ]; then
  echo "the tests $filter neither fail nor end"
  tail -n 20 "$log"
  exit 1
fi
if grep -q 'Running 0 tests' "$log"; then
  echo "no test is called $filter"
  exit 1
fi
tail -n 5 "$log"
