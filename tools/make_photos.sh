#!/usr/bin/env bash
# make_photos.sh [FOLDER COUNT WIDTH HEIGHT BYTES]: cuts tiles from the packaged photographs, once;
# without arguments those of the demo, 2,000 of 500x375 and 110 kB, into build/demo/photos.
# A folder that was cut half is never seen under its final name.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

photos=${1:-build/demo/photos}
count=${2:-2000}
[ -d "$photos" ] && exit 0
mkdir -p "$(dirname "$photos")"
mapfile -t photographs < <(dpkg -L lomiri-wallpapers-16.04 lomiri-wallpapers-20.04 \
  mate-backgrounds forensics-samples-files 2>/dev/null |
  grep -iE '\.jpe?g$' | grep -v -e /abstract/ -e /desktop/)
if [ ${#photographs[@]} -eq 0 ]; then
  echo "No packaged photographs are installed (see [photographs] in packages.txt)." >&2
  exit 3
fi
echo "Cutting $count tiles from packaged photographs, once:"
rm -rf "$photos.part"
build/release/tools/cut_tiles "$photos.part" "${photographs[@]}" --count "$count" \
  --width "${3:-500}" --height "${4:-375}" --mean-bytes "${5:-110000}" 2>build/cut_tiles.log ||
  { cat build/cut_tiles.log >&2; exit 1; }
mv "$photos.part" "$photos"
