#!/usr/bin/env bash
# Blazegraph 2.1.4 (Maven com.blazegraph:bigdata-core; Wikidata runs a build of it): a number that VALUES binds comes back in the spelling
# of another row of VALUES. Needs Java 17 and Maven beside a shell.
#
# Expected: 07 beside "b" in both queries. Terms of a solution of VALUES are those that are written there (SPARQL 1.1 Query, section
# 10.2). Blazegraph holds numbers as values, and in the second query it spells both rows as the first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>blazegraph</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>com.blazegraph</groupId><artifactId>bigdata-core</artifactId><version>2.1.4</version></dependency>
  </dependencies>
</project>
XML
mvn --batch-mode --quiet dependency:copy-dependencies -DoutputDirectory=jars
cat >Run.java <<'JAVA'
import com.bigdata.journal.BufferMode;
import com.bigdata.rdf.sail.BigdataSail;
import com.bigdata.rdf.sail.BigdataSailRepository;
import java.io.StringReader;
import java.util.Properties;
import org.openrdf.query.QueryLanguage;
import org.openrdf.rio.RDFFormat;

public class Run {
  public static void main(String[] queries) throws Exception {
    var properties = new Properties();
    properties.setProperty(BigdataSail.Options.BUFFER_MODE, BufferMode.MemStore.toString());
    var repository = new BigdataSailRepository(new BigdataSail(properties));
    repository.initialize();
    var connection = repository.getUnisolatedConnection();
    connection.begin();
    var data = "<urn:one> <urn:size> 7 .";
    connection.add(new StringReader(data), "urn:base:", RDFFormat.TURTLE);
    connection.commit();
    for (var query : queries) {
      var rows = connection.prepareTupleQuery(QueryLanguage.SPARQL, query).evaluate();
      System.out.print("ROWS");
      while (rows.hasNext()) {
        var row = rows.next();
        System.out.print(" " + row.getValue("v").stringValue() + "/" + row.getValue("k").stringValue());
      }
      System.out.println("  " + query);
    }
    connection.close();
    repository.shutDown();
    System.exit(0);
  }
}
JAVA
pattern='?s <urn:size> ?v'
seen=$(java -cp 'jars/*' Run.java "SELECT * { VALUES (?v ?k) { (07 \"b\") } $pattern }" \
  "SELECT * { VALUES (?v ?k) { (7 \"a\") (07 \"b\") } $pattern } ORDER BY ?k" 2>/dev/null | grep '^ROWS ')
known="ROWS 07/b  SELECT * { VALUES (?v ?k) { (07 \"b\") } $pattern }
ROWS 7/a 7/b  SELECT * { VALUES (?v ?k) { (7 \"a\") (07 \"b\") } $pattern } ORDER BY ?k"
echo "expected: 07/b in both"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
