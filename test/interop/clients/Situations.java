import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.jena.atlas.json.JSON;
import org.apache.jena.graph.Node;
import org.apache.jena.query.QueryExecution;
import org.apache.jena.sparql.exec.http.QueryExecutionHTTP;
import org.eclipse.rdf4j.model.Literal;
import org.eclipse.rdf4j.model.Value;
import org.eclipse.rdf4j.query.QueryResults;
import org.eclipse.rdf4j.repository.sparql.SPARQLRepository;

/**
 * Asks queries as the users of Jena and RDF4J do, with the libraries' defaults. Usage: java Situations.java FILE; reads and
 * prints what situations.py does.
 */
public class Situations {
  record Situation(String situation, String url, String form, String query) {
    Situation by(String client) {
      return new Situation(situation, url.replace("CLIENT", client.toLowerCase()), form, query);
    }
  }

  public static void main(String[] arguments) throws Exception {
    List<Situation> asked = new ArrayList<>();
    for (var item : JSON.parseAny(Files.readString(Path.of(arguments[0]))).getAsArray()) {
      var one = item.getAsObject();
      asked.add(new Situation(text(one, "situation"), text(one, "url"), text(one, "form"), text(one, "query")));
    }
    for (var one : asked) report("Jena", one, () -> jena(one.by("Jena")));
    for (var one : asked) report("RDF4J", one, () -> rdf4j(one.by("RDF4J")));
    System.exit(0);
  }

  static String text(org.apache.jena.atlas.json.JsonObject object, String key) {
    return object.get(key).getAsString().value();
  }

  static Object jena(Situation one) {
    try (QueryExecution execution = QueryExecutionHTTP.create().endpoint(one.url()).queryString(one.query()).build()) {
      switch (one.form()) {
        case "ASK":
          return execution.execAsk();
        case "CONSTRUCT":
          return execution.execConstruct().size();
        default:
          List<String> rows = new ArrayList<>();
          var answer = execution.execSelect();
          while (answer.hasNext()) {
            var row = answer.next();
            List<String> cells = new ArrayList<>();
            for (String name : answer.getResultVars()) {
              var node = row.get(name);
              cells.add(node == null ? null : shown(node.asNode()));
            }
            rows.add(array(cells));
          }
          return rows;
      }
    }
  }

  static String shown(Node node) {
    if (!node.isLiteral()) return node.toString();
    var direction = node.getLiteralBaseDirection();
    return node.getLiteralLexicalForm()
        + (node.getLiteralLanguage().isEmpty() ? "" : "@" + node.getLiteralLanguage())
        + (direction == null ? "" : "--" + direction);
  }

  static Object rdf4j(Situation one) {
    var repository = new SPARQLRepository(one.url());
    try (var connection = repository.getConnection()) {
      switch (one.form()) {
        case "ASK":
          return connection.prepareBooleanQuery(one.query()).evaluate();
        case "CONSTRUCT":
          return QueryResults.asList(connection.prepareGraphQuery(one.query()).evaluate()).size();
        default:
          List<String> rows = new ArrayList<>();
          try (var answer = connection.prepareTupleQuery(one.query()).evaluate()) {
            while (answer.hasNext()) {
              var row = answer.next();
              List<String> cells = new ArrayList<>();
              for (String name : answer.getBindingNames()) {
                Value value = row.getValue(name);
                cells.add(value == null ? null : value instanceof Literal literal ? shown(literal) : value.stringValue());
              }
              rows.add(array(cells));
            }
          }
          return rows;
      }
    } finally {
      repository.shutDown();
    }
  }

  static String shown(Literal literal) {
    return literal.getLabel() + literal.getLanguage().map(language -> "@" + language).orElse("");
  }

  static void report(String client, Situation one, Callable<Object> work) {
    Object outcome;
    try {
      outcome = work.call();
    } catch (Exception | LinkageError error) {
      outcome = "{\"error\": " + quoted(error.getClass().getSimpleName() + ": " + error.getMessage()) + "}";
    }
    System.out.printf(
        "{\"client\": %s, \"situation\": %s, \"outcome\": %s}%n", quoted(client), quoted(one.situation()), outcome);
  }

  static String array(List<String> cells) {
    List<String> texts = new ArrayList<>();
    for (String cell : cells) texts.add(cell == null ? "null" : quoted(cell));
    return texts.toString();
  }

  static String quoted(String text) {
    return '"' + text.replaceAll("[\\x00-\\x1f\"\\\\]", " ") + '"';
  }
}
