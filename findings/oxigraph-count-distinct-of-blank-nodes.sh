#!/usr/bin/env bash
# oxigraph 0.5.11 (npm): COUNT(DISTINCT *) also compares the nodes that a blank node of the pattern, or the middle of a path, stands for.
#
# Expected: 1 for both patterns, as many as SELECT DISTINCT * has rows. A solution binds variables, and a blank node is none
# (SPARQL 1.1 Query, sections 18.3 and 18.5.1.2: Count(*) of the distinct solutions).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund oxigraph@0.5.11 >/dev/null
cat >run.mjs <<'JS'
import { Store } from "oxigraph";

const store = new Store();
store.load("<urn:s> <urn:p> <urn:x>, <urn:y> . <urn:x> <urn:q> <urn:o> . <urn:y> <urn:q> <urn:o> .", { format: "ttl" });
for (const pattern of ["?s <urn:p> []", "?s <urn:p>/<urn:q> ?o"]) {
  const [count] = store.query(`SELECT (COUNT(DISTINCT *) AS ?n) { ${pattern} }`);
  const rows = store.query(`SELECT DISTINCT * { ${pattern} }`);
  console.log(`${pattern}: COUNT(DISTINCT *) ${count.get("n").value}, rows of SELECT DISTINCT * ${rows.length}`);
}
JS
seen=$(node run.mjs)
known='?s <urn:p> []: COUNT(DISTINCT *) 2, rows of SELECT DISTINCT * 1
?s <urn:p>/<urn:q> ?o: COUNT(DISTINCT *) 2, rows of SELECT DISTINCT * 1'
echo 'expected: COUNT(DISTINCT *) 1 in both lines'
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
