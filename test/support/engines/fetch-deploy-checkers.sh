#!/usr/bin/env bash
# Fetches what the tests of deploy/ and k8s/ need into the user's cache folder, where deploy-checkers.ts looks for it:
# a Python environment with the schemas of Kubernetes and of Compose files (PyPI), and, where kubectl is missing or too
# old to know components, kustomize (built by Go). Prints the folder. Does nothing when all of it is there already.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# version NAME: a constant of deploy-checkers.ts.
version() {
  local found
  found=$(sed -n "s/^const $1 = \"\(.*\)\";\$/\1/p" "$here/../deploy/deploy-checkers.ts")
  if [ -z "$found" ]; then
    echo "fetch-deploy-checkers: no $1 in deploy-checkers.ts" >&2
    exit 1
  fi
  echo "$found"
}
# need PROGRAM PACKAGE
need() {
  if ! command -v "$1" >/dev/null; then
    echo "fetch-deploy-checkers: $1 is not installed; install it with: apt-get install $2" >&2
    exit 1
  fi
}

kubernetes_schemas=$(version kubernetesValidateVersion)
compose_schema=$(version composeSpecVersion)
kustomize=$(version kustomizeVersion)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/fedway/deploy-checkers"
mkdir -p "$folder"

schemas="$folder/schemas-$kubernetes_schemas-$compose_schema"
if [ ! -e "$schemas/complete" ]; then
  need python3 python3-venv
  rm -rf "$schemas"
  python3 -m venv "$schemas" || { echo "fetch-deploy-checkers: apt-get install python3-venv" >&2; exit 1; }
  "$schemas/bin/pip" install --quiet --only-binary :all: \
    "kubernetes-validate==$kubernetes_schemas" "compose-spec==$compose_schema" >&2
  touch "$schemas/complete"
fi

# kubectl brings kustomize along; version 5 is the first in which components and "labels" work as the manifests use them.
if ! kubectl version --client 2>/dev/null | grep -q '^Kustomize Version: v5\.'; then
  if [ ! -x "$folder/kustomize-$kustomize" ]; then
    need go golang-go
    build=$(mktemp -d)
    trap 'rm -rf "$build"' EXIT
    (cd "$build" && GOBIN="$build" go install "sigs.k8s.io/kustomize/kustomize/v5@v$kustomize" >&2)
    mv "$build/kustomize" "$folder/kustomize-$kustomize"
  fi
fi
echo "$folder"
