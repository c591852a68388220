#!/usr/bin/env bash
# include_arrows.sh [ROOT]: who includes whom. Prints each include that breaks a rule, with its
# place, and exits 1; exits 0 and prints nothing otherwise.
#
#   machine -> nothing of ours       pipeline -> machine
#   policies -> three of the headers that both sides share
#   tuner -> policies, pipeline, machine       src -> all
#
# A public header includes public ones only, and no third party. hwloc and libnuma stay in machine/;
# hwloc, libnuma, yaml-cpp, OpenCV, libjpeg and Boost are included by sources, never by headers.
set -u
export LC_ALL=C
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}" || exit 2

# FOLDER:LINE of every include of the five folders, as "file line <target>" or "file line "target"".
includes() {
  grep -rnE --include='*.hpp' --include='*.cpp' '^[[:space:]]*#[[:space:]]*include' \
    machine pipeline policies tuner src 2>/dev/null |
    sed -nE 's/^([^:]+):([0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*([<"])([^>"]+)[>"].*/\1 \2 \3 \4/p'
}

# Which folder owns each public header: "telemetry.hpp pipeline".
owners() {
  local folder header
  for folder in machine pipeline policies tuner src; do
    for header in "$folder"/weir/*.hpp; do
      [ -e "$header" ] && echo "${header##*/} $folder"
    done
  done
}

includes | awk -v owners="$(owners)" '
  BEGIN {
    n = split(owners, lines, "\n")
    for (i = 1; i <= n; ++i) { split(lines[i], pair, " "); owner[pair[1]] = pair[2] }
    owner["version.hpp"] = owner["export.hpp"] = "generated"
    allowed["machine"] = " machine "
    allowed["pipeline"] = " machine pipeline "
    allowed["policies"] = " policies "
    allowed["tuner"] = " machine pipeline policies tuner "
    allowed["src"] = " machine pipeline policies tuner src "
    shared["telemetry.hpp"] = shared["allocation.hpp"] = shared["error.hpp"] = 1
  }
  function wrong(why) {
    printf "%s:%s: includes %s: %s\n", file, line, target, why
    bad = 1
  }
  {
    file = $1; line = $2; target = $4
    folder = file; sub(/\/.*/, "", folder)
    public_header = file ~ /^[a-z]+\/weir\//
    header = file ~ /\.hpp$/

    if (target ~ /^weir\//) {
      name = substr(target, 6)
      if ($3 != "<") wrong("public headers are included with angle brackets")
      if (!(name in owner)) { wrong("no folder has this public header"); next }
      to = owner[name]
      if (to == "generated") next
      if (folder == "policies" && to == "pipeline" && name in shared) next
      if (folder == "policies" && to == "machine" && name in shared) next
      if (index(allowed[folder], " " to " ") == 0)
        wrong(folder "/ must not include " to "/")
      next
    }
    if (target ~ /^(machine|pipeline|policies|tuner|src|tests|examples|bench|tools)\//) {
      to = target; sub(/\/.*/, "", to)
      if ($3 != "\"") wrong("private headers are included with quotes")
      if (public_header) wrong("a public header must not include a private one")
      if (index(allowed[folder], " " to " ") == 0)
        wrong(folder "/ must not include " to "/")
      next
    }
    if ($3 == "\"") { wrong("a private header is named from the root of the project"); next }
    if (target ~ /^(hwloc|numa)/ && folder != "machine") wrong("stays in machine/")
    if (header && target ~ /^(hwloc|numa|yaml-cpp|opencv2|jpeglib|jerror|turbojpeg|boost)/)
      wrong("third-party types stay inside one source")
    if (public_header && target ~ /^(fmt|nlohmann|CLI|xxhash)/)
      wrong("a consumer has none of these headers")
  }
  END { exit bad }'
