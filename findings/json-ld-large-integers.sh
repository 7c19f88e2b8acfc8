#!/usr/bin/env bash
# jsonld-streaming-parser 5.0.1: an integer from 2^53 on has the datatype xsd:integer or xsd:string, depending on whether it is
# exactly a double: 9007199254740992 is an integer, 9007199254740993 a string.
#
# Expected: xsd:integer for both. A number without a fraction below 1e21 is an integer (JSON-LD 1.1 Processing Algorithms and API,
# Object to RDF Conversion, and Data Round Tripping); jsonld.js 9.0.0, run beside it, gives xsd:integer, rounded to a double.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund jsonld-streaming-parser@5.0.1 jsonld@9.0.0 >/dev/null
cat >run.mjs <<'JS'
import { Readable } from "node:stream";
import { JsonLdParser } from "jsonld-streaming-parser";
import jsonld from "jsonld";

for (const number of ["9007199254740991", "9007199254740992", "9007199254740993", "12345678901234567890"]) {
  const document = `{"@id":"urn:s","urn:p":${number}}`;
  const [, peer] = await jsonld.toRDF(JSON.parse(document), { format: "application/n-quads" }).then((text) => /#(\w+)>/.exec(text));
  for await (const { object } of Readable.from([document]).pipe(new JsonLdParser()))
    console.log(`${number} -> ${object.value} ${object.datatype.value.split("#")[1]} (jsonld.js: ${peer})`);
}
JS
seen=$(node run.mjs)
known='9007199254740991 -> 9007199254740991 integer (jsonld.js: integer)
9007199254740992 -> 9007199254740992 integer (jsonld.js: integer)
9007199254740993 -> 9007199254740993 string (jsonld.js: integer)
12345678901234567890 -> 12345678901234567890 string (jsonld.js: integer)'
echo "expected: integer in each line"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
