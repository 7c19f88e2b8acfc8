import { createServer } from "node:http";
import zlib from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSparqlClient, type OpenSparqlClient } from "../../../src/outbound/client.ts";
import { createAsker } from "../../../src/outbound/whole-answer.ts";
import { requestFault } from "../../../src/results/json-structure.ts";
import { parseAnswer } from "../../../src/results/parse.ts";
import { graphDecoders } from "../../../src/results/parse.ts";
import { listening } from "../../support/listening.ts";
import { collect, each } from "../../support/result-terms.ts";

/** Each document is at one bound, or one step beyond it; far below what would hurt a parser. */
interface Format {
  readonly mediaType: string;
  readonly kind: "bindings" | "quads";
  /** A document with one literal of this many characters. */
  readonly literal: (characters: number) => string;
  /** The deepest document that is read, and how one more level is refused; absent: the format has no levels. */
  readonly nesting?: {
    readonly levels: number;
    readonly beyond: number;
    readonly document: (levels: number) => string;
  };
  /** The most prefixes, or columns; absent: the format has none. */
  readonly names?: { readonly most: number; readonly document: (count: number) => string };
}

const repeated = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => part(index)).join("");
const xmlns = (count: number): string => repeated(count, (index) => ` xmlns:n${index}="urn:n${index}:"`);
const table = (head: string, row: string): string => `{"head":{"vars":[${head}]},"results":{"bindings":[{${row}}]}}`;
const columns = (count: number, of: (name: string) => string, between: string): string =>
  Array.from({ length: count }, (_, index) => of(`v${index}`)).join(between);
const xmlTable = (head: string, row: string): string =>
  `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head>${head}</head><results><result>${row}</result></results></sparql>`;
const rdfNs = 'xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:"';
const rdfXml = (inside: string, more = ""): string => `<r:RDF ${rdfNs}${more}>${inside}</r:RDF>`;
const prefixes = (count: number): string => repeated(count, (index) => `@prefix n${index}: <urn:n${index}:> .\n`);
const nested = (open: string, inside: string, close: string): ((levels: number) => string) => {
  return (levels) => `<urn:s> <urn:p> ${open.repeat(levels)}${inside}${close.repeat(levels)} .`;
};
const brackets = nested("[ <urn:p> ", "1", " ]");
const tripleTerms = nested("<<( <urn:s> <urn:p> ", "<urn:o>", " )>>");

const formats: Readonly<Record<string, Format>> = {
  "SPARQL JSON": {
    mediaType: "application/sparql-results+json",
    kind: "bindings",
    literal: (characters) => table('"a"', `"a":{"type":"literal","value":"${"x".repeat(characters)}"}`),
    // Depth is looked at every 64 bytes.
    nesting: {
      levels: 128,
      beyond: 128 + 65,
      document: (levels) =>
        table(
          '"a"',
          `"a":{"type":"literal","value":"x","of":${"[".repeat(levels - 5)}${" ".repeat(200)}${"]".repeat(levels - 5)}}`,
        ),
    },
    names: {
      most: 10_000,
      document: (count) =>
        table(
          columns(count, (name) => `"${name}"`, ","),
          "",
        ),
    },
  },
  "SPARQL XML": {
    mediaType: "application/sparql-results+xml",
    kind: "bindings",
    literal: (characters) =>
      xmlTable('<variable name="a"/>', `<binding name="a"><literal>${"x".repeat(characters)}</literal></binding>`),
    nesting: {
      levels: 63,
      beyond: 65,
      document: (levels) => {
        const [uri, triples] = ["<uri>urn:x</uri>", (levels - 5) / 2];
        const behind = `</subject><predicate>${uri}</predicate><object>${uri}</object></triple>`;
        const term = "<triple><subject>".repeat(triples) + uri + behind.repeat(triples);
        return xmlTable('<variable name="a"/>', `<binding name="a">${term}</binding>`);
      },
    },
    names: {
      most: 10_000,
      document: (count) =>
        xmlTable(
          columns(count, (name) => `<variable name="${name}"/>`, ""),
          "",
        ),
    },
  },
  CSV: {
    mediaType: "text/csv",
    kind: "bindings",
    literal: (characters) => `a\r\n${"x".repeat(characters)}\r\n`,
    names: { most: 10_000, document: (count) => `${columns(count, (name) => name, ",")}\r\n` },
  },
  TSV: {
    mediaType: "text/tab-separated-values",
    kind: "bindings",
    literal: (characters) => `?a\n"${"x".repeat(characters)}"\n`,
    names: { most: 10_000, document: (count) => `${columns(count, (name) => `?${name}`, "\t")}\n` },
  },
  Turtle: {
    mediaType: "text/turtle",
    kind: "quads",
    literal: (characters) => `<urn:s> <urn:p> "${"x".repeat(characters)}" .`,
    nesting: { levels: 128, beyond: 129, document: brackets },
    names: { most: 10_000, document: (count) => `${prefixes(count)}<urn:s> <urn:p> 1 .` },
  },
  "N-Triples": {
    mediaType: "application/n-triples",
    kind: "quads",
    literal: (characters) => `<urn:s> <urn:p> "${"x".repeat(characters)}" .`,
    nesting: { levels: 128, beyond: 129, document: tripleTerms },
  },
  "JSON-LD": {
    mediaType: "application/ld+json",
    kind: "quads",
    literal: (characters) => `{"@id":"urn:s","urn:p":"${"x".repeat(characters)}"}`,
    nesting: {
      levels: 128,
      beyond: 129,
      document: (levels) => `${'{"urn:p":'.repeat(levels)}"x"${"}".repeat(levels)}`,
    },
    names: {
      // The context itself and the list that it is in count as well.
      most: 9_990,
      document: (count) =>
        `{"@context":{${columns(count, (name) => `"${name}":"urn:${name}:"`, ",")}},"@id":"urn:s","urn:p":1}`,
    },
  },
  "RDF/XML": {
    mediaType: "application/rdf+xml",
    kind: "quads",
    literal: (characters) =>
      rdfXml(`<r:Description r:about="urn:s"><e:p>${"x".repeat(characters)}</e:p></r:Description>`),
    nesting: {
      levels: 255,
      beyond: 257,
      document: (levels) =>
        rdfXml(`${"<e:c><e:p>".repeat((levels - 1) / 2)}x${"</e:p></e:c>".repeat((levels - 1) / 2)}`),
    },
    names: {
      most: 998,
      document: (count) => rdfXml(`<r:Description r:about="urn:s"><e:p>x</e:p></r:Description>`, xmlns(count)),
    },
  },
};

const codings = {
  identity: (body: Buffer) => body,
  gzip: (body: Buffer) => zlib.gzipSync(body),
  deflate: (body: Buffer) => zlib.deflateSync(body),
  br: (body: Buffer) => zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 3 } }),
  zstd: (body: Buffer) => zlib.zstdCompressSync(body),
} as const;
type Coding = keyof typeof codings;

let client: OpenSparqlClient;
let origin: string;
let served: { readonly mediaType: string; readonly body: Buffer; readonly coding: Coding };
const server = createServer((request, response) => {
  request.resume();
  const { mediaType, body, coding } = served;
  response.writeHead(200, { "content-type": mediaType, ...(coding !== "identity" && { "content-encoding": coding }) });
  response.end(codings[coding](body));
});
let closeServer: () => Promise<void>;

beforeAll(async () => {
  ({ origin, close: closeServer } = await listening(server));
  client = createSparqlClient({ version: "1", allowAddresses: ["127.0.0.1"], retry: { limit: 0 } });
});
afterAll(async () => {
  await client.close();
  await closeServer();
});

/** Reads a document as the answer of an endpoint. */
async function read({ mediaType, kind }: Format, document: string, coding: Coding, maxBytes = 20_000_000) {
  served = { mediaType, body: Buffer.from(document), coding };
  const documents = { fetch: () => Promise.reject(new Error("no document is fetched")) };
  const asker = createAsker({ client, documents, pastBreaker: true });
  const endpoint = { id: "e", url: `${origin}/sparql`, formats: [mediaType] };
  const query = kind === "quads" ? "CONSTRUCT WHERE { ?s ?p ?o }" : "SELECT * { ?s ?p ?o }";
  const signal = new AbortController().signal;
  return await asker.ask({
    endpoint,
    query,
    kind,
    accept: mediaType,
    signal,
    timeoutMs: 20_000,
    maxRows: 100_000,
    maxBytes,
  });
}

const tooMuch = { code: expect.stringMatching(/^(?:ENDPOINT_MALFORMED|ANSWER_TOO_LARGE)$/) as string };

describe.each(Object.keys(codings) as Coding[])("answers in %s", (coding) => {
  it.each(Object.entries(formats))("%s: bytes", async (_, format) => {
    const document = format.literal(3_000);
    const { rows, quads } = await read(format, document, coding, document.length);
    expect(rows.length + quads.length).toBe(1);
    await expect(read(format, document, coding, document.length - 1)).rejects.toMatchObject({
      code: "ANSWER_TOO_LARGE",
    });
  });

  it.each(Object.entries(formats).filter(([, { nesting }]) => nesting))("%s: nesting", async (_, format) => {
    const { levels, beyond, document } = format.nesting!;
    const { rows, quads } = await read(format, document(levels), coding);
    expect(rows.length + quads.length).toBeGreaterThan(0);
    await expect(read(format, document(beyond), coding)).rejects.toMatchObject({
      ...tooMuch,
      message: expect.stringMatching(/nested more than \d+ levels/),
    });
  });

  // Ten thousand of them take a while, and have passed the decoder when the reader sees them.
  const named = coding === "identity" || coding === "zstd" ? Object.entries(formats) : [];
  it.each(named.filter(([, { names }]) => names))("%s: prefixes or columns", async (_, { names, ...format }) => {
    const { most, document } = names!;
    await read(format, document(most), coding);
    await expect(read(format, document(most + 11), coding)).rejects.toMatchObject(tooMuch);
  });
});

describe("an item that does not end", () => {
  const maxTermBytes = 100_000;
  const parsed = async ({ mediaType, kind }: Format, document: string): Promise<number> => {
    const limits = { maxTermBytes };
    const result = await parseAnswer(each([Buffer.from(document)]), { mediaType, kind, limits });
    if (result.kind === "boolean") throw new Error("a boolean");
    return (await collect<unknown>(result.kind === "quads" ? result.quads : result.rows)).length;
  };
  it.each(Object.entries(formats))("%s: length of a term", async (_, format) => {
    expect(await parsed(format, format.literal(30_000))).toBe(1);
    // Pieces have 64 kB: one more is looked at.
    await expect(parsed(format, format.literal(maxTermBytes + 2 * 65_536))).rejects.toMatchObject({
      code: "ANSWER_TOO_LARGE",
    });
  });
});

describe("brackets of Turtle and TriG", () => {
  const decoder = (format: "turtle" | "trig") => graphDecoders[format]({});
  const inPieces = (format: "turtle" | "trig", text: string, size = 9): number => {
    const bytes = Buffer.from(text);
    const reader = decoder(format);
    let triples = 0;
    for (let at = 0; at < bytes.length; at += size) {
      triples += [...(reader.push(bytes.subarray(at, at + size)) as readonly unknown[])].length;
    }
    return triples;
  };
  it.each([
    ["brackets", brackets],
    ["lists", nested("( ", "1", " )")],
    ["triple terms", tripleTerms],
  ])("%s, split at each byte", (_, document) => {
    for (const size of [1, 2, 3, 64, 100_000]) {
      expect(() => inPieces("turtle", document(128), size)).not.toThrow();
      expect(() => inPieces("turtle", document(129), size)).toThrow(/nested more than 128 levels deep/);
    }
  });

  it("count in graphs of TriG and in annotations", () => {
    const graph = (levels: number) => `<urn:g> { ${brackets(levels)} }`;
    expect(inPieces("trig", graph(127))).toBe(128);
    expect(() => inPieces("trig", graph(128))).toThrow(/nested more than 128/);
    const annotated = (levels: number) => `<urn:s> <urn:p> <urn:o> {| <urn:q> ${"[ <urn:p> ".repeat(levels)}1`;
    expect(() => inPieces("turtle", annotated(127))).not.toThrow();
    expect(() => inPieces("turtle", annotated(128))).toThrow(/nested more than 128/);
  });

  it("do not count in strings, IRIs, comments and names, nor one after the other", () => {
    const many = "[(<<{".repeat(100);
    const text = `# ${many}
      @prefix e: <urn:e#${"(".repeat(200)}> .
      e:a\\(\\( e:p "${many}", '${many}', """${many}" ${many}""", '''${many}''', "a\\"${many}", e:${"\\(".repeat(200)} .
      ${"e:a e:p [], ( 1 ) .\n".repeat(300)}`;
    expect(inPieces("turtle", text, 1)).toBe(6 + 4 * 300);
  });
});

it("JSON of requests is bounded at 64 levels", () => {
  const nestedJson = (levels: number) => Buffer.from("[".repeat(levels) + "]".repeat(levels));
  expect(requestFault(nestedJson(64))).toBeUndefined();
  expect(requestFault(nestedJson(65))).toMatch(/nested more than 64 levels/);
});
