#!/usr/bin/env bash
# Apache Jena ARQ 5.6.0 (Maven org.apache.jena:jena-cmds): ORDER BY ends in an error where one text stands with and without a base
# direction in one language. Needs Java 17 and Maven beside a shell.
#
# Expected: four rows. ORDER BY orders all terms, those without an order in "<" somehow (SPARQL 1.1 Query, section 15.1; SPARQL 1.2
# Query leaves it so), and "a"@en and "a"@en--ltr are two terms (RDF 1.2 Concepts, section "Literals"), which DISTINCT keeps apart.
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
run() {
  echo "SELECT DISTINCT ?o { VALUES ?o { $1 } } $2" >query.rq
  java -cp 'jars/*' arq.arq --query query.rq --results csv >out 2>err || true
  if grep -q "not node equals" err; then echo "an error: $(grep -o 'Looks like the same.*' err | head -1)"; else echo "$(($(wc -l <out) - 1)) rows"; fi
}
seen="without ORDER BY: $(run '"a"@en "a"@en--ltr "a"@en--rtl "b"@en' '')
one of each: $(run '"a"@en "b"@en--ltr "c"@en--rtl "d"@en' 'ORDER BY ?o')
ORDER BY: $(run '"a"@en "a"@en--ltr "a"@en--rtl "b"@en' 'ORDER BY ?o')"
known="without ORDER BY: 4 rows
one of each: 4 rows
ORDER BY: an error: Looks like the same (lang tags) but not node equals"
echo "expected: 4 rows in each line"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
