#!/usr/bin/env bash
# oxigraph 0.5.11 (npm): COUNT without GROUP BY has no row where the optimiser knows that the pattern is empty (FILTER(false), VALUES
# without rows), and one row, 0, where evaluation finds it empty.
#
# Expected: one row with 0 in all three. Without GROUP BY there is one group, of no solutions too (SPARQL 1.1 Query, section 18.5.1,
# and the W3C test agg-empty-group-count-2).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund oxigraph@0.5.11 >/dev/null
cat >run.mjs <<'JS'
import { Store } from "oxigraph";

const store = new Store();
store.load('<urn:s> <urn:p> "x" .', { format: "nt" });
for (const pattern of ["?s <urn:none> ?o", "?s ?p ?o FILTER(false)", "?s ?p ?o VALUES ?o {}"]) {
  const rows = store.query(`SELECT (COUNT(*) AS ?n) { ${pattern} }`).map((row) => row.get("n").value);
  console.log(`${pattern} -> ${rows.length} rows ${rows.join()}`);
}
JS
seen=$(node run.mjs)
known='?s <urn:none> ?o -> 1 rows 0
?s ?p ?o FILTER(false) -> 0 rows 
?s ?p ?o VALUES ?o {} -> 0 rows '
echo 'expected: 1 rows 0 in each line'
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
