#!/usr/bin/env bash
# Fetches the foreign clients of test/interop/clients into the user's cache folder, where clients.test.ts and openapi.test.ts
# look for them: Python environments of clients and of agent frameworks (PyPI), the jars of pom.xml (Maven Central) and the packages of package.json (npm).
# Prints the folder. Does nothing when they are there.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
clients="$here/../../interop/clients"
# What is fetched is told by these files: another content, another folder.
version=$(cat "$clients/requirements.txt" "$clients/frameworks.txt" "$clients/pom.xml" "$clients/package.json" | sha256sum | cut -c1-12)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/fedway/clients-$version"
# need PROGRAM PACKAGE
need() {
  if ! command -v "$1" >/dev/null; then
    echo "fetch-clients: $1 is not installed; install it with: apt-get install $2" >&2
    exit 1
  fi
}

if [ ! -e "$folder/complete" ]; then
  need python3 python3-venv
  need javac default-jdk-headless
  need mvn maven
  rm -rf "$folder"
  mkdir -p "$folder"
  python3 -m venv "$folder/python" || { echo "fetch-clients: apt-get install python3-venv" >&2; exit 1; }
  "$folder/python/bin/pip" install --quiet --requirement "$clients/requirements.txt" >&2
  python3 -m venv "$folder/frameworks"
  "$folder/frameworks/bin/pip" install --quiet --requirement "$clients/frameworks.txt" >&2
  mvn --batch-mode --quiet --strict-checksums --file "$clients/pom.xml" dependency:copy-dependencies \
    -DoutputDirectory="$folder/jars" >&2
  mkdir "$folder/npm"
  cp "$clients/package.json" "$folder/npm/"
  npm install --prefix "$folder/npm" --ignore-scripts --no-audit --no-fund --no-package-lock --silent >&2
  touch "$folder/complete"
fi
echo "$folder"
