#!/usr/bin/env bash
# @traqula/parser-sparql-1-2, version 1.3.1 (npm): with a factory that tracks source locations, each node has the offset where it starts,
# and NaN where it ends. Needs Node and npm.
#
# Expected: both offsets. The option of the factory is documented as "Whether this AstFactory will track source location", and a location has
# two numbers by its type. The lexer is built with positions of starts only; `lexerConfig: { positionTracking: "full" }`, which the READMEs of
# these packages do not name, gives the ends.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund @traqula/parser-sparql-1-2@1.3.1 @traqula/rules-sparql-1-2@1.3.0 >/dev/null
cat >run.mjs <<'JS'
import { Parser } from "@traqula/parser-sparql-1-2";
import { AstFactory } from "@traqula/rules-sparql-1-2";

for (const lexerConfig of [undefined, { positionTracking: "full" }]) {
  const defaultContext = { astFactory: new AstFactory({ tracksSourceLocation: true }) };
  const { where } = new Parser({ defaultContext, ...(lexerConfig && { lexerConfig }) }).parse("SELECT ?x { ?x ?p 1 }");
  console.log(`WHERE: ${where.loc.start} to ${where.loc.end}`);
}
JS
seen=$(node run.mjs)
known='WHERE: 10 to NaN
WHERE: 10 to 21'
echo "expected: 10 to 21 in both lines"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
