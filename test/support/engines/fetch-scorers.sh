#!/usr/bin/env bash
# Fetches t2s-metrics and text2sparql-client (PyPI), which score benchmark packages in test/interop/package.test.ts, into the
# user's cache folder. Prints the folder of their Python environment. Does nothing when they are there.
# Both are installed without what they only need elsewhere (dashboards, pandas); pytrec-eval has no wheel, so that
# pytrec-eval-terrier, the same module, stands in.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
requirements="$here/../../interop/scorers/requirements.txt"
scorers=(t2s-metrics==1.2.0 text2sparql-client==2.1.0)
version=$({ cat "$requirements"; printf '%s\n' "${scorers[@]}"; } | sha256sum | cut -c1-12)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/fedway/scorers-$version"
if [ ! -e "$folder/complete" ]; then
  rm -rf "$folder"
  python3 -m venv "$folder" || { echo "fetch-scorers: apt-get install python3-venv" >&2; exit 1; }
  "$folder/bin/pip" install --quiet --requirement "$requirements" >&2
  "$folder/bin/pip" install --quiet --no-deps --ignore-requires-python "${scorers[@]}" >&2
  touch "$folder/complete"
fi
echo "$folder"
