import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/** The SPARQL Protocol in front of an engine that runs in the same process, on the port of the loopback address that the property `port` names. */
class SparqlServer {
  /** Evaluates a query, writes the answer, and returns its media type. */
  interface Evaluation {
    String write(String query, OutputStream body) throws Exception;
  }

  static final String rows = "application/sparql-results+json";
  static final String triples = "application/n-triples";

  /** A query that fails is a 500 with the engine's text. */
  static void start(Evaluation evaluation) throws IOException {
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.getInteger("port")), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/", exchange -> answer(exchange, evaluation));
    server.start();
  }

  private static void answer(HttpExchange exchange, Evaluation evaluation) throws IOException {
    var body = new ByteArrayOutputStream();
    var status = 200;
    String type;
    try {
      type = evaluation.write(queryOf(exchange), body);
    } catch (Throwable failure) {
      status = 500;
      type = "text/plain; charset=utf-8";
      body.reset();
      body.writeBytes(String.valueOf(failure).getBytes(StandardCharsets.UTF_8));
    }
    exchange.getResponseHeaders().add("Content-Type", type);
    exchange.sendResponseHeaders(status, body.size() == 0 ? -1 : body.size());
    exchange.getResponseBody().write(body.toByteArray());
    exchange.close();
  }

  private static String queryOf(HttpExchange exchange) throws IOException {
    var text = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    var type = String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type"));
    if (type.startsWith("application/sparql-query")) return text;
    var form = type.startsWith("application/x-www-form-urlencoded") ? text : exchange.getRequestURI().getRawQuery();
    for (var field : String.valueOf(form).split("&")) {
      if (field.startsWith("query=")) return URLDecoder.decode(field.substring(6), StandardCharsets.UTF_8);
    }
    throw new IOException("no query");
  }
}
