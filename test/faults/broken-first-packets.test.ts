import { createServer } from "node:http";
import zlib from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCatalogFolder, endpointTurtle, federationTurtle } from "../support/catalog-folder.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { type Listening, listening } from "../support/listening.ts";

// An endpoint's answer that turns out broken in the packet that it comes in: the client gets a problem document at once,
// whatever the route, the format, and the coding on either side, and never a byte of it.

const mediaTypes = {
  json: "application/sparql-results+json",
  xml: "application/sparql-results+xml",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  turtle: "text/turtle",
  ntriples: "application/n-triples",
  jsonld: "application/ld+json",
} as const;
type Format = keyof typeof mediaTypes;
const formats = Object.keys(mediaTypes) as readonly Format[];
const isGraph = (format: Format): boolean => format === "turtle" || format === "ntriples" || format === "jsonld";

const triple = '<http://example.org/a> <http://example.org/p> "b';
const rows = '{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":"1"}}';
const xmlHead = '<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head></head>';

const brokenBodies: Readonly<Record<Format, readonly string[]>> = {
  json: ["", "{}", "[]", "x", rows],
  xml: ["", "x", "<sparql", xmlHead],
  csv: ["", '"x'],
  tsv: ["", '?x\n"1'],
  turtle: [triple],
  ntriples: [triple],
  jsonld: ["", "x", "[", '[{"@id":"http://example.org/a"'],
};

const encoders = {
  identity: (body: string) => Buffer.from(body),
  gzip: (body: string) => zlib.gzipSync(body),
  br: (body: string) => zlib.brotliCompressSync(body),
  deflate: (body: string) => zlib.deflateSync(body),
} as const;
type Coding = keyof typeof encoders;
const codings = Object.keys(encoders) as readonly Coding[];

/** Bodies that are not, or not to their end, in the coding that they are said to be in. */
function brokenCodings(coding: Coding): readonly Buffer[] {
  if (coding === "identity") return [];
  const whole = encoders[coding](rows.repeat(20));
  return [Buffer.from("nothing of the kind"), whole.subarray(0, whole.length - 6)];
}

interface Answered {
  readonly format: Format;
  readonly coding: Coding;
  readonly bytes: Buffer;
  /** The head comes in a packet of its own. */
  readonly headFirst: boolean;
}

let next: Answered = { format: "json", coding: "identity", bytes: Buffer.alloc(0), headFirst: false };
let upstream: Listening;
let service: RunningService;
let url: string;

beforeAll(async () => {
  const server = createServer((incoming, response) => {
    incoming.resume().once("end", () => {
      const { format, coding, bytes, headFirst } = next;
      response.writeHead(200, {
        "content-type": mediaTypes[format],
        "transfer-encoding": "chunked",
        ...(coding !== "identity" && { "content-encoding": coding }),
      });
      if (headFirst) response.flushHeaders();
      setTimeout(() => response.end(bytes), headFirst ? 5 : 0);
    });
  });
  upstream = await listening(server);
  url = `${upstream.origin}/sparql`;
  const catalog = await createCatalogFolder();
  await catalog.write({
    "broken.ttl": endpointTurtle("broken", url),
    "all.ttl": federationTurtle("all", 'fedway:member "broken"'),
  });
  // Beyond the time of a test: at a query's deadline everything ends somehow.
  service = await startService({}, { FEDWAY_CATALOG: catalog.path, FEDWAY_TIMEOUT_MS: "3600000" });
});
afterAll(async () => {
  await service.close();
  await upstream.close();
});

const pattern = "?x <http://example.org/p> ?y";

function queryFor(route: string, format: Format): string {
  const where = route === "/sparql" ? `SERVICE <${url}> { ${pattern} }` : pattern;
  return `${isGraph(format) ? `CONSTRUCT { ${pattern} }` : "SELECT ?x"} WHERE { ${where} }`;
}

interface Asked {
  readonly route: string;
  readonly accept: Format;
  readonly acceptCoding: Coding;
  readonly method?: "GET" | "HEAD";
}

/** Status and code; a status without an answer is a failure of its own. */
async function ask({ route, accept, acceptCoding, method = "GET" }: Asked): Promise<string> {
  const target = `${service.url}${route}?query=${encodeURIComponent(queryFor(route, accept))}`;
  const headers = { accept: mediaTypes[accept], "accept-encoding": acceptCoding };
  const response = await fetch(target, { method, headers });
  if (method === "HEAD") return String(response.status);
  const body: unknown = await response.json().catch((error: unknown) => ({ code: String(error) }));
  const code = typeof body === "object" && body !== null && "code" in body ? String(body.code) : "no code";
  return `${response.status} ${code}`;
}

async function outcomes(asked: Asked, answers: readonly Answered[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const answer of answers) {
    next = answer;
    found.push(await ask(asked));
  }
  return found;
}

const expected = /^502 (?:ENDPOINT_BROKE_OFF|ENDPOINT_MALFORMED)$/u;

const allBroken = (format: Format, coding: Coding, headFirst = false): readonly Answered[] =>
  [...brokenBodies[format].map(encoders[coding]), ...brokenCodings(coding)].map((bytes) => ({
    format,
    coding,
    bytes,
    headFirst,
  }));

describe.each(["/sparql", "/endpoints/broken/sparql", "/federations/all/sparql"])("%s", (route) => {
  // Every pair of codings by one of the direct routes, every coding on either side by the others.
  const clientCodings = (at: number): readonly Coding[] =>
    route === "/sparql" ? codings : codings.filter((_, other) => (other - at + codings.length) % codings.length < 2);

  it.each(formats)("%s in every coding, for clients of every coding", async (format) => {
    for (const [at, coding] of codings.entries()) {
      for (const acceptCoding of clientCodings(at)) {
        const found = await outcomes({ route, accept: format, acceptCoding }, allBroken(format, coding));
        expect(found.length).toBeGreaterThan(0);
        expect(
          found.filter((each) => !expected.test(each)),
          `${coding} to ${acceptCoding}`,
        ).toEqual([]);
      }
    }
  });
});

describe("the same for", () => {
  it.each(formats)("%s whose head comes in a packet of its own", async (format) => {
    for (const coding of codings) {
      const asked = { route: "/sparql", accept: format, acceptCoding: coding };
      const found = await outcomes(asked, allBroken(format, coding, true));
      expect(found.filter((each) => !expected.test(each))).toEqual([]);
    }
  });

  it.each(formats)("%s of which another format is made", async (format) => {
    const accept = isGraph(format) ? (format === "turtle" ? "ntriples" : "turtle") : format === "csv" ? "tsv" : "csv";
    for (const acceptCoding of codings) {
      const found = await outcomes({ route: "/sparql", accept, acceptCoding }, allBroken(format, "gzip"));
      expect(found.filter((each) => !expected.test(each))).toEqual([]);
    }
  });

  it("HEAD", async () => {
    for (const coding of codings) {
      const asked = { route: "/sparql", accept: "json", acceptCoding: coding, method: "HEAD" } as const;
      expect(new Set(await outcomes(asked, allBroken("json", "identity")))).toEqual(new Set(["502"]));
    }
  });

  it("POST /api/query, whose answer tells of the failure", async () => {
    for (const coding of codings) {
      for (const answer of allBroken("json", coding)) {
        next = answer;
        const body = JSON.stringify({ query: queryFor("/sparql", "json") });
        const headers = { "content-type": "application/json" };
        const response = await fetch(`${service.url}/api/query`, { method: "POST", headers, body });
        expect(await response.text()).toMatch(/ENDPOINT_BROKE_OFF|ENDPOINT_MALFORMED/u);
      }
    }
  });
});

it("answers that are whole pass in every coding", async () => {
  for (const coding of codings) {
    for (const acceptCoding of codings) {
      next = { format: "json", coding, bytes: encoders[coding](`${rows}]}}`), headFirst: false };
      const target = `${service.url}/sparql?query=${encodeURIComponent(queryFor("/sparql", "json"))}`;
      const headers = { accept: mediaTypes.json, "accept-encoding": acceptCoding };
      const response = await fetch(target, { headers });
      expect(await response.text()).toBe(`${rows}]}}`);
    }
  }
});
