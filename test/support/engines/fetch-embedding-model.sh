#!/usr/bin/env bash
# Fetches embedding models (jars of LangChain4j on Maven Central with ONNX and tokenizer) and their runtime
# (onnxruntime-node, npm) into the user's cache folder, where ../embedding-models.ts looks for them. Arguments: names of
# models; default all-minilm-l6-v2-q. Prints one folder a model. Does nothing when they are there.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# version NAME: a constant of embedding-models.ts.
version() {
  local found
  found=$(sed -n "s/^const $1 = \"\(.*\)\";\$/\1/p" "$here/../embedding-models.ts")
  if [ -z "$found" ]; then
    echo "fetch-embedding-model: no $1 in embedding-models.ts" >&2
    exit 1
  fi
  echo "$found"
}
models=$(version modelsVersion)
runtime=$(version runtimeVersion)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fedway/embedding-models-$models"

sha256_of() {
  case $1 in
    all-minilm-l6-v2-q) echo 0ddd616ba32450cbc31c6c3f124084254d9cf56e21ecb0a00f7ccfde34db1e93 ;;
    bge-small-en-v15-q) echo 40173ec8c8c88f3c9502b7ab0481beee947223c11218b37dd3191bdd816a0718 ;;
    e5-small-v2-q) echo 2624d383a63921ca678d1c2ac876f8309e136f0825e842f2278b5aad75ed5252 ;;
    *)
      echo "fetch-embedding-model: $1 is not known; all-minilm-l6-v2-q, bge-small-en-v15-q and e5-small-v2-q are" >&2
      exit 1
      ;;
  esac
}

fetch() {
  local name=$1 folder="$cache/$1" sha256 jar
  sha256=$(sha256_of "$name")
  if [ ! -e "$folder/complete" ]; then
    for need in "mvn maven" "python3 python3"; do
      command -v "${need% *}" >/dev/null || { echo "fetch-embedding-model: apt-get install ${need#* }" >&2; exit 1; }
    done
    rm -rf "$folder"
    mkdir -p "$folder/jar" "$folder/1_Pooling"
    mvn --batch-mode --quiet --strict-checksums dependency:copy \
      -Dartifact="dev.langchain4j:langchain4j-embeddings-$name:$models" \
      -DoutputDirectory="$folder/jar" -Dmdep.useBaseVersion=true >&2
    jar="$folder/jar/langchain4j-embeddings-$name-$models.jar"
    echo "$sha256  $jar" | sha256sum --check --quiet >&2
    python3 -m zipfile -e "$jar" "$folder/jar"
    mv "$folder"/jar/*-tokenizer.json "$folder/tokenizer.json"
    mv "$folder"/jar/*.onnx "$folder/model.onnx"
    rm -rf "$folder/jar"
    # BGE models say with their first token what they make of a text, the others with the mean of all.
    case $name in bge-*) first=true ;; *) first=false ;; esac
    echo "{\"pooling_mode_cls_token\": $first}" >"$folder/1_Pooling/config.json"
    touch "$folder/complete"
  fi
  echo "$folder"
}

# Beside the models: Node looks for packages in the folders above, too. Its scripts would fetch libraries for graphics cards.
if [ ! -e "$cache/runtime-$runtime" ]; then
  mkdir -p "$cache"
  npm install --prefix "$cache" --ignore-scripts --no-audit --no-fund --no-package-lock --no-save --silent \
    "onnxruntime-node@$runtime" >&2
  # Those for other systems are 250 of its 290 MB.
  find "$cache/node_modules/onnxruntime-node/bin" -mindepth 2 -maxdepth 2 -type d ! -name "$(uname -s | tr '[:upper:]' '[:lower:]')" \
    -exec rm -rf {} +
  touch "$cache/runtime-$runtime"
fi
for name in "${@:-all-minilm-l6-v2-q}"; do fetch "$name"; done
