import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { QueryEngine } from "@comunica/query-sparql";
import { listening } from "../listening.ts";

/** Plain Comunica as a SPARQL endpoint without data, which evaluates SERVICE clauses. */
export async function startComunica() {
  const engine = new QueryEngine();
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const query = new URLSearchParams(await text(request)).get("query") ?? "";
      const accept = request.headers.accept ?? "";
      const result = await engine.query(query, {
        sources: [{ type: "serialized", value: "", mediaType: "text/turtle", baseIRI: "urn:none:" }],
      });
      const { data } = await engine.resultToString(result, accept);
      response.setHeader("content-type", accept).end(await text(data));
    };
    answer().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const { origin, close } = await listening(server);
  return { url: `${origin}/sparql`, stop: close };
}
