#!/usr/bin/env bash
# What ./dev answers without building anything: usage errors, and the three ways of not being able
# to install. Package tools are stood in for by small scripts in front of the PATH.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
fakes=$(mktemp -d)
trap 'rm -rf "$fakes"' EXIT
failures=0

# expect STATUS WORDS COMMAND...: the exit status, and words of the output.
expect() {
  local status=$1 words=$2 output got
  shift 2
  output=$("$@" 2>&1)
  got=$?
  if [ $got -ne "$status" ] || [[ $output != *"$words"* ]]; then
    echo "FAILED: $*: exit $got (wanted $status), said: $output (wanted: $words)"
    failures=$((failures + 1))
  fi
}

# fake NAME SCRIPT: a program of that name.
fake() {
  printf '#!/bin/bash\n%s\n' "$2" >"$fakes/$1"
  chmod +x "$fakes/$1"
}

expect 0 './dev COMMAND' "$root/dev" help
expect 0 './dev COMMAND' "$root/dev"
expect 2 "'nonsense' is not a command" "$root/dev" nonsense
expect 2 "not '--slow'" "$root/dev" test --slow
expect 2 "not '--all'" "$root/dev" format --all
expect 2 'not a folder' "$root/dev" demo "$fakes/nowhere"
expect 2 'seconds at most' "$root/dev" fuzz 5 6

# A system without apt and without the build tools: the list is printed.
mkdir "$fakes/bare"
for tool in awk bash dirname env; do ln -s "$(command -v $tool)" "$fakes/bare/$tool"; done
expect 3 'This system has no apt' env PATH="$fakes/bare" "$root/tools/install_packages.sh" build

# Nothing is missing: nothing is said, asked or fetched.
fake apt-get 'echo "apt-get was called"; exit 1'
fake dpkg-query 'echo installed'
output=$(PATH=$fakes:$PATH "$root/tools/install_packages.sh" build test 2>&1)
if [ $? -ne 0 ] || [ -n "$output" ]; then
  echo "FAILED: nothing is missing, but it says: $output"
  failures=$((failures + 1))
fi

# Something is missing, and neither root nor sudo helps.
fake dpkg-query 'case "${!#}" in libfmt-dev) exit 1 ;; *) echo installed ;; esac'
fake id 'echo 1000'
fake sudo 'exit 1'
expect 3 'install --no-install-recommends libfmt-dev' \
  env PATH="$fakes:$PATH" "$root/tools/install_packages.sh" build

# With sudo: the lists first, then what is missing and nothing else; sizes are told before.
fake sudo 'shift; exec "$@"'
fake apt-cache 'echo "Installed-Size: 1000"'
fake apt-get 'echo "apt: $*" >&2
case "$*" in
  *--print-uris*) echo "'"'x'"' libfmt-dev.deb 5000000 hash" ;;
  *--simulate*) echo "Inst libfmt-dev (9)" ;;
esac'
expect 0 'about 5 MB to download, 1 MB on disk' \
  env PATH="$fakes:$PATH" "$root/tools/install_packages.sh" build
expect 0 'install -y --no-install-recommends libfmt-dev' \
  env PATH="$fakes:$PATH" "$root/tools/install_packages.sh" build

# The installation fails: the command is told.
fake apt-get 'case "$*" in *" -y "*) exit 100 ;; esac'
expect 3 'The installation failed' \
  env PATH="$fakes:$PATH" "$root/tools/install_packages.sh" build

[ $failures -eq 0 ] || exit 1
echo "every answer was as promised"
