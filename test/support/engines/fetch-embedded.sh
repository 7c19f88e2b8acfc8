#!/usr/bin/env bash
# Fetches the engines of embedded/ into the user's cache folder, where embedded.ts looks for them: Blazegraph, RDF4J and Corese
# from Maven Central, compiled with the server in front of them, pyoxigraph and rdflib from PyPI. Prints the folder. Does nothing
# when they are there.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/embedded" && pwd)
# What is fetched is told by these files: another content, another folder.
version=$(cat "$here"/*.java "$here"/*/*.java "$here"/*/pom.xml "$here"/python/requirements.txt | sha256sum | cut -c1-12)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/fedway/engines-$version"

if [ ! -e "$folder/complete" ]; then
  for need in "mvn maven" "javac default-jdk-headless" "python3 python3-venv"; do
    command -v "${need% *}" >/dev/null || { echo "fetch-embedded: ${need% *} is not installed; install it with: apt-get install ${need#* }" >&2; exit 1; }
  done
  rm -rf "$folder"
  mkdir -p "$folder"
  for engine in blazegraph rdf4j corese; do
    mvn --batch-mode --quiet --strict-checksums --file "$here/$engine/pom.xml" dependency:copy-dependencies \
      -DoutputDirectory="$folder/$engine" >&2
    javac -nowarn -d "$folder/$engine" -cp "$folder/$engine/*" "$here/SparqlServer.java" "$here/$engine/Engine.java"
  done
  python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet --requirement "$here/python/requirements.txt" >&2
  touch "$folder/complete"
fi
echo "$folder"
