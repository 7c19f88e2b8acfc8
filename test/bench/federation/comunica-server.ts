import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream";
import { QueryEngine } from "@comunica/query-sparql";
import { listening } from "../../support/listening.ts";

// Comunica as npm brings it, behind HTTP. Its argument is a file of member URLs, one a line; prints its own URL. Takes the
// query from a POST form and answers SPARQL JSON.

const [file = ""] = process.argv.slice(2);
const urls = readFileSync(file, "utf8").split("\n");
const engine = new QueryEngine();

async function answer(query: string): Promise<NodeJS.ReadableStream> {
  // A query that says itself where things are is asked of no source.
  const members = /\bSERVICE\b/u.test(query) ? [] : urls;
  const sources = members.map((value) => ({ type: "sparql" as const, value })) as unknown as [string];
  const result = await engine.query(query, { sources });
  return (await engine.resultToString(result, "application/sparql-results+json")).data;
}

const server = createServer((request, response) => {
  text(request)
    .then((body) => answer(new URLSearchParams(body).get("query") ?? ""))
    .then((body) =>
      pipeline(body, response.writeHead(200, { "content-type": "application/sparql-results+json" }), () => {}),
    )
    .catch((error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)));
});
const { origin } = await listening(server);
process.stdout.write(`${origin}\n`);
