#!/usr/bin/env bash
# Apache Jena ARQ 5.6.0 (Maven org.apache.jena:jena-cmds): UCASE, LCASE, CONCAT, SUBSTR, STRBEFORE, STRAFTER and REPLACE of a string with
# a base direction are errors, although ARQ reads such strings and has LANGDIR and STRLANGDIR. Needs Java 17 and Maven beside a shell.
#
# Expected: each function gives its text with the language and the direction of its argument. SPARQL 1.2 Query (section "Functions on
# Strings") counts rdf:dirLangString among the string literals that these functions take and return (https://github.com/w3c/sparql-query,
# issue 180); pyoxigraph 0.5.13 gives "AB"@en--ltr and so on. A query with FILTER(STRSTARTS(?label, "a")) leaves out such labels.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>jena</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.jena</groupId><artifactId>jena-cmds</artifactId><version>5.6.0</version></dependency>
  </dependencies>
</project>
XML
mvn --batch-mode --quiet dependency:copy-dependencies -DoutputDirectory=jars
cat >query.rq <<'SPARQL'
SELECT ?o ?direction ?upper ?lower ?both ?part ?before ?after ?other {
  VALUES ?o { "ab"@en--ltr "ab"@en }
  BIND(LANGDIR(?o) AS ?direction)
  BIND(UCASE(?o) AS ?upper) BIND(LCASE(?o) AS ?lower) BIND(CONCAT(?o, ?o) AS ?both) BIND(SUBSTR(?o, 2) AS ?part)
  BIND(STRBEFORE(?o, "b") AS ?before) BIND(STRAFTER(?o, "a") AS ?after) BIND(REPLACE(?o, "a", "x") AS ?other)
}
SPARQL
seen=$(java -cp 'jars/*' arq.arq --query query.rq --results tsv 2>/dev/null | tail -n +2)
known=$(printf '%s\t' '"ab"@en--ltr' '"ltr"' '' '' '' '' '' '' '')
known="${known%?}
$(printf '%s\t' '"ab"@en' '""' '"AB"@en' '"ab"@en' '"abab"@en' '"b"@en' '"a"@en' '"b"@en' '"xb"@en' | sed 's/\t$//')"
echo 'expected: "ab"@en--ltr "ltr" "AB"@en--ltr "ab"@en--ltr "abab"@en--ltr "b"@en--ltr "a"@en--ltr "b"@en--ltr "xb"@en--ltr'
echo "seen (unbound is empty; the second row has no direction):"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
