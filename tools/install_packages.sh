#!/usr/bin/env bash
# install_packages.sh GROUP...: installs what is missing of these groups of packages.txt, after
# saying what and how much. Exits 3 where it cannot, with the command to run instead.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

say() { printf '%s\n' "$*" >&2; }

# Prints the lines of the groups, comments and blanks removed: "a", "?a" or "a|b".
wanted() {
  awk -v groups=" $* " '
    { sub(/#.*/, ""); gsub(/[ \t]/, "") }
    /^\[.*\]$/ { inside = index(groups, " " substr($0, 2, length($0) - 2) " ") > 0; next }
    inside && length($0) > 0 { print }' packages.txt
}

installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

entries=$(wanted "$@")
if [ -z "$entries" ]; then say "install_packages: no such group: $*"; exit 2; fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  # Another system: the programs may be there all the same, so only the build can tell.
  if command -v cmake >/dev/null && command -v ninja >/dev/null; then exit 0; fi
  say "This system has no apt. Install what these Debian packages hold, then run this again:"
  printf '  %s\n' $entries >&2
  exit 3
fi

missing=()
for entry in $entries; do
  found=no
  for name in ${entry//[|?]/ }; do
    if installed "$name"; then found=yes; break; fi
  done
  [ $found = yes ] || missing+=("$entry")
done
[ ${#missing[@]} -gt 0 ] || exit 0

names=()
for entry in "${missing[@]}"; do entry=${entry%%|*}; names+=("${entry#\?}"); done
say "Missing packages: ${names[*]}"
root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    say "Neither root nor sudo without a password is at hand. Run this, then try again:"
    say "  sudo apt-get update && sudo apt-get install --no-install-recommends ${names[*]}"
    exit 3
  fi
  root=(sudo -n)
fi
apt=(${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq
  -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)

"${apt[@]}" update >&2 || say "apt-get update failed; going on with the lists that are here."

# Of alternatives the first that the package sources know; an optional one may be left out.
names=()
for entry in "${missing[@]}"; do
  chosen=
  for name in ${entry//[|?]/ }; do
    if apt-cache show --no-all-versions "$name" >/dev/null 2>&1; then chosen=$name; break; fi
  done
  if [ -n "$chosen" ]; then
    names+=("$chosen")
  elif [ "${entry#\?}" != "$entry" ]; then
    say "Left out: ${entry#\?} (the package sources of this system do not know it)."
  else
    say "The package sources of this system know none of: ${entry//|/, }."
    exit 3
  fi
done
[ ${#names[@]} -gt 0 ] || exit 0

download=$("${apt[@]}" --print-uris install --no-install-recommends "${names[@]}" 2>/dev/null |
  awk '$1 ~ /^\x27/ { bytes += $3 } END { printf "%.0f", bytes / 1e6 }')
all=$("${apt[@]}" --simulate install --no-install-recommends "${names[@]}" 2>/dev/null |
  awk '/^Inst / { print $2 }')
disk=$(apt-cache show --no-all-versions $all 2>/dev/null |
  awk '/^Installed-Size:/ { kib += $2 } END { printf "%.0f", kib * 1024 / 1e6 }')
say "Installing ${#names[@]} packages and what they need ($(echo "$all" | wc -l) in all):" \
  "about ${download} MB to download, ${disk} MB on disk."
if ! "${apt[@]}" install -y --no-install-recommends "${names[@]}" >&2; then
  say "The installation failed. The command was:"
  say "  apt-get install --no-install-recommends ${names[*]}"
  exit 3
fi
