#!/usr/bin/env bash
# style.sh [ROOT]: what the house style promises and a search can see. Prints each breach with its
# place and exits 1; exits 0 and prints nothing otherwise.
set -u
export LC_ALL=C.UTF-8
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}" || exit 2

breaches=$(
  folders=()
  for folder in machine pipeline policies tuner src tools examples tests bench; do
    [ -d $folder ] && folders+=($folder)
  done
  mapfile -t headers < <(find "${folders[@]}" -name '*.hpp')
  mapfile -t sources < <(find "${folders[@]}" -name '*.cpp')

  # Length.
  for file in "${headers[@]}" "${sources[@]}"; do
    lines=$(wc -l <"$file")
    most=500
    [ "${file%.hpp}" != "$file" ] && most=400
    [ "$lines" -le $most ] || echo "$file: $lines lines, at most $most: split it by noun"
  done
  if [ ${#headers[@]} -gt 0 ] || [ ${#sources[@]} -gt 0 ]; then
    grep -HnE '^.{101,}' "${headers[@]}" "${sources[@]}" |
      sed -E 's/^([^:]+:[0-9]+):.*/\1: over 100 columns/'
    grep -HnP '\t' "${headers[@]}" "${sources[@]}" | sed -E 's/^([^:]+:[0-9]+):.*/\1: a tab/'
    grep -HnE '#include "\.\.?/' "${headers[@]}" "${sources[@]}" |
      sed -E 's/^([^:]+:[0-9]+):.*/\1: an include that climbs folders/'
    grep -HnE '\b(class|struct|namespace) [A-Za-z_]*(Utils?|Helpers?|Common|Manager)\b' \
      "${headers[@]}" "${sources[@]}" | sed -E 's/^([^:]+:[0-9]+):.*/\1: a name that says nothing/'
  fi

  # Names.
  for file in "${headers[@]}" "${sources[@]}"; do
    name=${file##*/}
    [[ ${name%.*} =~ ^[a-z][a-z0-9_]*$ ]] || echo "$file: file names are snake_case"
    [[ $name =~ (^|_)(utils?|helpers?|common|manager)\. ]] && echo "$file: a name that says nothing"
  done

  # A header compiles once, and alone: the source of the same name includes it first.
  for file in "${headers[@]}"; do
    grep -q '^#pragma once$' "$file" || echo "$file: no #pragma once"
  done
  for file in "${sources[@]}"; do
    folder=${file%%/*}
    name=${file##*/}
    name=${name%.cpp}
    own=
    [ -e "${file%.cpp}.hpp" ] && own="\"${file%.cpp}.hpp\""
    [ -z "$own" ] && [ -e "$folder/weir/$name.hpp" ] && own="<weir/$name.hpp>"
    [ -z "$own" ] && continue
    first=$(grep -m1 '^#include' "$file")
    [ "$first" = "#include $own" ] || echo "$file: does not include $own first"
  done

  # The build knows every source, and installs every public header.
  for folder in machine pipeline policies tuner src; do
    [ -d $folder ] || continue
    lists=$(find $folder -name CMakeLists.txt -o -name '*.cmake' | xargs -r cat)
    while read -r file; do
      grep -qE "(^|[ (/])${file##*/}([ )]|\$)" <<<"$lists" ||
        echo "$file: in no CMakeLists.txt of $folder/"
    done < <(find $folder -name '*.cpp' -o -path '*/weir/*.hpp')
  done

  # Each code folder explains itself.
  for folder in machine pipeline policies tuner src; do
    [ -d $folder ] && [ ! -e $folder/README.md ] && echo "$folder/README.md: missing"
  done
  :
)
if [ -n "$breaches" ]; then
  printf '%s\n' "$breaches"
  exit 1
fi
