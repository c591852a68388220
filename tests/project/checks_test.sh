#!/usr/bin/env bash
# The two checks of the sources are of use only if they find what they are for: each breach here,
# planted in a small tree, must be reported, and the tree without them must pass.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

fresh_tree() {
  rm -rf "${tree:?}"/*
  local folder
  for folder in machine pipeline policies tuner; do
    mkdir -p "$tree/$folder/weir"
    printf '#pragma once\n' >"$tree/$folder/weir/${folder}_face.hpp"
    echo "$folder" >"$tree/$folder/README.md"
    echo "FILES weir/${folder}_face.hpp" >"$tree/$folder/CMakeLists.txt"
  done
  mkdir -p "$tree/src"
  echo src >"$tree/src/README.md"
  printf '#pragma once\n' >"$tree/pipeline/weir/telemetry.hpp"
  printf '#pragma once\n' >"$tree/pipeline/queue.hpp"
  printf '#include "pipeline/queue.hpp"\n' >"$tree/pipeline/queue.cpp"
  echo 'queue.cpp weir/telemetry.hpp' >>"$tree/pipeline/CMakeLists.txt"
  echo 'share.cpp' >>"$tree/policies/CMakeLists.txt"
  echo 'topology.cpp' >>"$tree/machine/CMakeLists.txt"
  printf '#include <weir/telemetry.hpp>\n' >"$tree/policies/share.cpp"
  printf '#include <hwloc.h>\n' >"$tree/machine/topology.cpp"
}

expect_pass() {
  local output
  if ! output=$("$here/$1" "$tree"); then
    echo "FAILED: $1 reports a tree without a breach: $output"
    failures=$((failures + 1))
  fi
}

# expect_breach CHECK FILE LINE WORDS: the file gets the line; the report names the file and WORDS.
expect_breach() {
  local check=$1 file=$2 line=$3 words=$4 output
  fresh_tree
  printf '%b\n' "$line" >>"$tree/$file"
  if output=$("$here/$check" "$tree"); then
    echo "FAILED: $check does not see: $file: $line"
    failures=$((failures + 1))
  elif [[ $output != *$file*$words* ]]; then
    echo "FAILED: $check on $file says: $output"
    failures=$((failures + 1))
  fi
}

fresh_tree
expect_pass include_arrows.sh
expect_pass style.sh

arrows=include_arrows.sh
expect_breach $arrows machine/topology.cpp '#include <weir/pipeline_face.hpp>' 'must not include pipeline/'
expect_breach $arrows pipeline/queue.cpp '#include <weir/tuner_face.hpp>' 'must not include tuner/'
expect_breach $arrows pipeline/queue.cpp '#include <weir/policies_face.hpp>' 'must not include policies/'
expect_breach $arrows policies/share.cpp '#include <weir/pipeline_face.hpp>' 'must not include pipeline/'
expect_breach $arrows policies/share.cpp '#include "pipeline/queue.hpp"' 'must not include pipeline/'
expect_breach $arrows policies/share.cpp '#include <weir/machine_face.hpp>' 'must not include machine/'
expect_breach $arrows tuner/tuner.cpp '#include "src/verb.hpp"' 'must not include src/'
expect_breach $arrows pipeline/weir/telemetry.hpp '#include "pipeline/queue.hpp"' 'private'
expect_breach $arrows pipeline/queue.cpp '#include "queue.hpp"' 'from the root'
expect_breach $arrows pipeline/queue.cpp '#include <weir/nowhere.hpp>' 'no folder has'
expect_breach $arrows pipeline/queue.cpp '#include <hwloc.h>' 'stays in machine/'
expect_breach $arrows pipeline/queue.cpp '  #  include <numa.h>' 'stays in machine/'
expect_breach $arrows pipeline/queue.hpp '#include <opencv2/core.hpp>' 'inside one source'
expect_breach $arrows tuner/loop.hpp '#include <boost/asio.hpp>' 'inside one source'
expect_breach $arrows tuner/weir/tuner_face.hpp '#include <fmt/core.h>' 'a consumer has none'

style=style.sh
long=$(printf 'x%.0s' {1..101})
expect_breach $style pipeline/queue.cpp "// $long" 'over 100 columns'
expect_breach $style pipeline/queue.cpp '\tint x;' 'a tab'
expect_breach $style pipeline/queue.cpp "$(printf '//\\n%.0s' {1..500})" 'split it by noun'
expect_breach $style pipeline/queue.hpp "$(printf '//\\n%.0s' {1..400})" 'split it by noun'
expect_breach $style pipeline/Queue2.cpp '// x' 'snake_case'
expect_breach $style pipeline/queue_utils.hpp '#pragma once' 'says nothing'
expect_breach $style pipeline/queue.cpp 'class QueueManager {};' 'says nothing'
expect_breach $style pipeline/edge.hpp '// no guard' 'no #pragma once'
expect_breach $style pipeline/edge.cpp '// x' 'in no CMakeLists.txt'
expect_breach $style pipeline/weir/edge.hpp '#pragma once' 'in no CMakeLists.txt'
expect_breach $style machine/machine_face.cpp '#include <vector>' 'first'

[ $failures -eq 0 ] || exit 1
echo "every planted breach was found"
