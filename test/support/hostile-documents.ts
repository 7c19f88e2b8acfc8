import { createServer } from "node:http";
import { listening } from "./listening.ts";

/** Documents that once held the event loop, or ended the process, as an answer to CONSTRUCT. */
const documents: Readonly<Record<string, { readonly type: string; readonly body: () => string }>> = {
  "jsonld-contexts": {
    type: "application/ld+json",
    body: () => `${'{"@context":{"p":"urn:p"},"p":'.repeat(800)}"x"${"}".repeat(800)}`,
  },
  "jsonld-nodes": { type: "application/ld+json", body: () => `${'{"urn:p":'.repeat(10_000)}"x"${"}".repeat(10_000)}` },
  "jsonld-arrays": {
    type: "application/ld+json",
    body: () => `{"@id":"urn:s","urn:p":${"[".repeat(50_000)}"x"${"]".repeat(50_000)}}`,
  },
  "jsonld-values": {
    type: "application/ld+json",
    body: () => `{"@id":"urn:s","urn:p":[${Array.from({ length: 100_000 }, (_, n) => `"value ${n}"`).join(",")}]}`,
  },
  rdfxml: {
    type: "application/rdf+xml",
    body: () =>
      `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:">${"<rdf:Description><u:p>".repeat(50_000)}`,
  },
};

/** An HTTP server that answers whatever is asked at `/NAME/sparql` with that document. */
export interface HostileDocuments {
  /** Endpoint URL by name. */
  readonly urls: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function startHostileDocuments(): Promise<HostileDocuments> {
  const bodies = new Map(Object.entries(documents).map(([name, { body }]) => [name, Buffer.from(body())]));
  const server = createServer((request, response) => {
    request.resume();
    const name = (request.url ?? "").split("/")[1] ?? "";
    const body = bodies.get(name);
    response.writeHead(body ? 200 : 404, { "content-type": documents[name]?.type ?? "text/plain" }).end(body);
  });
  const { origin, ...listener } = await listening(server);
  return {
    urls: Object.fromEntries(Object.keys(documents).map((name) => [name, `${origin}/${name}/sparql`])),
    ...listener,
  };
}
