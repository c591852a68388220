#!/usr/bin/env bash
# make_photos.sh: cuts 2,000 tiles from the packaged photographs into build/demo/photos, once.
# A folder that was cut half is never seen under its final name.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

photos=build/demo/photos
[ -d $photos ] && exit 0
mapfile -t photographs < <(dpkg -L lomiri-wallpapers-16.04 lomiri-wallpapers-20.04 \
  mate-backgrounds forensics-samples-files 2>/dev/null |
  grep -iE '\.jpe?g$' | grep -v -e /abstract/ -e /desktop/)
if [ ${#photographs[@]} -eq 0 ]; then
  echo "No packaged photographs are installed (see [photographs] in packages.txt)." >&2
  exit 3
fi
echo "Cutting 2,000 tiles from packaged photographs, once:"
rm -rf $photos.part
build/release/tools/cut_tiles $photos.part "${photographs[@]}" --count 2000 2>build/cut_tiles.log ||
  { cat build/cut_tiles.log >&2; exit 1; }
mv $photos.part $photos
