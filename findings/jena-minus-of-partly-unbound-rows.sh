#!/usr/bin/env bash
# Apache Jena ARQ 5.6.0 (Maven org.apache.jena:jena-cmds; 6.2.0 does the same): MINUS removes a row that agrees with no row of its right
# side, where another variable that both sides have is unbound in that row. With and without the optimiser. Needs Java 17 and Maven
# beside a shell.
#
# Expected: the row stays. MINUS removes a solution only for a right one that is compatible with it (SPARQL 1.1 Query, section 18.5),
# and two solutions that give ?b different values are not (section 18.3), whatever ?c is.
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
  echo "SELECT ?a ?b ?c { VALUES (?a ?b ?c) { $1 } MINUS { VALUES (?a ?b ?c) { (1 3 4) } } }" >query.rq
  echo "$(($(java -cp 'jars/*' arq.arq "--optimize=$2" --query query.rq --results csv | wc -l) - 1)) row(s)"
}
seen="(1 2 UNDEF), optimised: $(run '(1 2 UNDEF)' on)
(1 2 UNDEF), not optimised: $(run '(1 2 UNDEF)' off)
(1 2 4): $(run '(1 2 4)' on)
(1 3 UNDEF), which agrees: $(run '(1 3 UNDEF)' on)"
known="(1 2 UNDEF), optimised: 0 row(s)
(1 2 UNDEF), not optimised: 0 row(s)
(1 2 4): 1 row(s)
(1 3 UNDEF), which agrees: 0 row(s)"
echo "MINUS (1 3 4); expected: 1 row in the first three lines, 0 in the last"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
