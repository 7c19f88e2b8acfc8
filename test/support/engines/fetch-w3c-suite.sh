#!/usr/bin/env bash
# Fetches the W3C's SPARQL 1.0 and 1.1 test suites into the user's cache folder, where ../w3c/suite.ts looks for them:
# they are part of RDF4J's test package on Maven Central. Prints the folder. Does nothing when they are there already.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -n 's/^const suiteVersion = "\(.*\)";$/\1/p' "$here/../w3c/suite.ts")
sha256=046c90ad463f8834992481b465073d0dc93f7843263fac19a0f268065564745e
if [ -z "$version" ]; then
  echo "fetch-w3c-suite: no suiteVersion in $here/../w3c/suite.ts" >&2
  exit 1
fi
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fedway"
folder="$cache/w3c-sparql-$version"

if [ ! -e "$folder/complete" ]; then
  for need in "mvn maven" "python3 python3"; do
    command -v "${need% *}" >/dev/null || { echo "fetch-w3c-suite: apt-get install ${need#* }" >&2; exit 1; }
  done
  mvn --batch-mode --quiet --strict-checksums dependency:copy \
    -Dartifact="org.eclipse.rdf4j:rdf4j-sparql-testsuite:$version" \
    -DoutputDirectory="$cache" -Dmdep.useBaseVersion=true >&2
  jar="$cache/rdf4j-sparql-testsuite-$version.jar"
  echo "$sha256  $jar" | sha256sum --check --quiet >&2
  rm -rf "$folder"
  python3 -m zipfile -e "$jar" "$folder"
  touch "$folder/complete"
fi
echo "$folder"
