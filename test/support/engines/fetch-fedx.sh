#!/usr/bin/env bash
# Fetches FedX (part of RDF4J) with the jars it needs, as fedx/pom.xml names them, from Maven Central into the user's cache
# folder, where fedx.ts looks for them. Prints the folder. Does nothing when they are there.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# What is fetched is told by this file: another content, another folder.
version=$(sha256sum "$here/fedx/pom.xml" | cut -c1-12)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/fedway/fedx-$version"

if [ ! -e "$folder/complete" ]; then
  for need in "mvn maven" "javac default-jdk-headless"; do
    command -v "${need% *}" >/dev/null || { echo "fetch-fedx: ${need% *} is not installed; install it with: apt-get install ${need#* }" >&2; exit 1; }
  done
  mkdir -p "$folder"
  mvn --batch-mode --quiet --strict-checksums --file "$here/fedx/pom.xml" dependency:copy-dependencies \
    -DoutputDirectory="$folder" >&2
  touch "$folder/complete"
fi
echo "$folder"
