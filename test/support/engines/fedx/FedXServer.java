import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import org.eclipse.rdf4j.federated.FedXFactory;
import org.eclipse.rdf4j.federated.repository.FedXRepository;
import org.eclipse.rdf4j.query.BooleanQuery;
import org.eclipse.rdf4j.query.Query;
import org.eclipse.rdf4j.query.TupleQuery;
import org.eclipse.rdf4j.query.resultio.sparqljson.SPARQLBooleanJSONWriter;
import org.eclipse.rdf4j.query.resultio.sparqljson.SPARQLResultsJSONWriter;
import org.eclipse.rdf4j.repository.RepositoryConnection;

/**
 * FedX as it comes, behind HTTP: its argument is a file of member URLs, one a line. Prints its own URL. Takes the query
 * from a POST form and answers SPARQL JSON.
 */
public class FedXServer {
  public static void main(String[] args) throws IOException {
    var federation = FedXFactory.newFederation();
    for (var url : Files.readAllLines(Path.of(args[0]))) federation.withSparqlEndpoint(url);
    FedXRepository repository = federation.create();
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/", exchange -> answer(exchange, repository));
    server.start();
    System.out.println("http://127.0.0.1:" + server.getAddress().getPort() + "/");
  }

  private static void answer(HttpExchange exchange, FedXRepository repository) throws IOException {
    var body = new ByteArrayOutputStream();
    var status = 200;
    try (RepositoryConnection connection = repository.getConnection()) {
      var form = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      var text = URLDecoder.decode(form.substring("query=".length()), StandardCharsets.UTF_8);
      Query query = connection.prepareQuery(text);
      if (query instanceof BooleanQuery ask) {
        new SPARQLBooleanJSONWriter(body).handleBoolean(ask.evaluate());
      } else {
        ((TupleQuery) query).evaluate(new SPARQLResultsJSONWriter(body));
      }
    } catch (Exception failure) {
      status = 500;
      body.reset();
      body.writeBytes(String.valueOf(failure).getBytes(StandardCharsets.UTF_8));
    }
    exchange.getResponseHeaders().add("content-type", status == 200 ? "application/sparql-results+json" : "text/plain");
    exchange.sendResponseHeaders(status, body.size() == 0 ? -1 : body.size());
    exchange.getResponseBody().write(body.toByteArray());
    exchange.close();
  }
}
