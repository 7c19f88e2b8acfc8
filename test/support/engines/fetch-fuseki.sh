#!/usr/bin/env bash
# Fetches the Fuseki jar from Maven Central into the user's cache folder, where fuseki.ts looks for it.
# Prints the jar's path. Does nothing when it is there already or FEDWAY_FUSEKI_JAR names another.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -n 's/^const fusekiVersion = "\(.*\)";$/\1/p' "$here/fuseki.ts")
if [ -z "$version" ]; then
  echo "fetch-fuseki: no fusekiVersion in $here/fuseki.ts" >&2
  exit 1
fi
folder="${XDG_CACHE_HOME:-$HOME/.cache}/fedway"
jar="${FEDWAY_FUSEKI_JAR:-$folder/jena-fuseki-server-$version.jar}"

if [ ! -s "$jar" ]; then
  if [ -n "${FEDWAY_FUSEKI_JAR:-}" ]; then
    echo "fetch-fuseki: FEDWAY_FUSEKI_JAR names $jar, which does not exist" >&2
    exit 1
  fi
  if ! command -v mvn >/dev/null; then
    echo "fetch-fuseki: mvn is not installed; install it with: apt-get install maven" >&2
    exit 1
  fi
  # dependency:copy takes the jar from Maven's own repository or from Maven Central, with its checksum verified.
  mvn --batch-mode --quiet --strict-checksums dependency:copy \
    -Dartifact="org.apache.jena:jena-fuseki-server:$version" \
    -DoutputDirectory="$folder" -Dmdep.useBaseVersion=true >&2
  [ -s "$jar" ] || { echo "fetch-fuseki: mvn put no jar at $jar" >&2; exit 1; }
fi
echo "$jar"
