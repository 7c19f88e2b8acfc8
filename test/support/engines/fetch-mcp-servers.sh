#!/usr/bin/env bash
# Fetches other MCP servers for SPARQL (PyPI) into the user's cache folder, where `npm run bench -- agents tools` looks at
# what they show a model. Prints the folder of their Python environment. Does nothing when they are there.
set -euo pipefail

packages=(mcp-sparql==0.1.0 sparql-llm==0.1.4)
version=$(printf '%s\n' "${packages[@]}" | sha256sum | cut -c1-12)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/fedway/mcp-servers-$version"
if [ ! -e "$folder/complete" ]; then
  rm -rf "$folder"
  python3 -m venv "$folder" || { echo "fetch-mcp-servers: apt-get install python3-venv" >&2; exit 1; }
  "$folder/bin/pip" install --quiet "${packages[@]}" >&2
  touch "$folder/complete"
fi
echo "$folder"
