#!/usr/bin/env bash
# Corese 4.6.1 (Maven fr.inria.corese:corese-core): VALUES with one number in two spellings, joined with a group in braces, gives the
# solutions of the second spelling twice. Needs Java 17 and Maven beside a shell.
#
# Expected: four rows for the third query, the two of each row of VALUES alone, and as many as without the braces (the last query).
# Corese matches numbers by value, which is its choice; but a join has one solution for each pair of compatible ones (SPARQL 1.1
# Query, section 18.5), and braces change nothing here (section 5.2).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>corese</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>fr.inria.corese</groupId><artifactId>corese-core</artifactId><version>4.6.1</version></dependency>
  </dependencies>
</project>
XML
mvn --batch-mode --quiet dependency:copy-dependencies -DoutputDirectory=jars
cat >Run.java <<'JAVA'
import fr.inria.corese.core.Graph;
import fr.inria.corese.core.api.Loader;
import fr.inria.corese.core.load.Load;
import fr.inria.corese.core.query.QueryProcess;

public class Run {
  public static void main(String[] queries) throws Exception {
    var graph = Graph.create();
    Load.create(graph).loadString("<urn:one> <urn:size> 7 . <urn:two> <urn:size> 07 .", Loader.format.TURTLE_FORMAT);
    for (var query : queries) System.out.println("ROWS " + QueryProcess.create(graph).query(query).size() + "  " + query);
    System.exit(0);
  }
}
JAVA
one='VALUES (?v ?k) { (7 "a") }' other='VALUES (?v ?k) { (07 "b") }' both='VALUES (?v ?k) { (7 "a") (07 "b") }'
pattern='?s <urn:size> ?v'
seen=$(java -cp 'jars/*' Run.java "SELECT * { $one { $pattern } }" "SELECT * { $other { $pattern } }" \
  "SELECT * { $both { $pattern } }" "SELECT * { $both $pattern }" 2>/dev/null | grep '^ROWS ')
known="ROWS 2  SELECT * { $one { $pattern } }
ROWS 2  SELECT * { $other { $pattern } }
ROWS 6  SELECT * { $both { $pattern } }
ROWS 4  SELECT * { $both $pattern }"
echo "expected: 4 rows of the third query"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
