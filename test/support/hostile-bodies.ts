import type { ServerResponse } from "node:http";
import zlib from "node:zlib";
import type { HostileCase } from "./hostile-server.ts";

const json = "application/sparql-results+json";

/** A SPARQL JSON document with `rows` rows of about 80 bytes. */
export function resultsOf(rows: number): string {
  const bindings = Array.from({ length: rows }, (_, row) =>
    JSON.stringify({ x: { type: "uri", value: `http://example.org/thing/${row}` } }),
  );
  return `{"head":{"vars":["x"]},"results":{"bindings":[${bindings.join(",")}]}}`;
}

/** Sends a whole body with its length. */
export function reply(response: ServerResponse, headers: Record<string, string>, body: string | Buffer): void {
  response.writeHead(Number(headers["status"] ?? 200), {
    "content-type": json,
    ...headers,
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

const small = resultsOf(3);
const large = resultsOf(3000);
const turtle = "<http://example.org/a> <http://example.org/p> <http://example.org/b> .\n";

const encoded =
  (coding: string, encode: (body: string) => Buffer): HostileCase =>
  ({ response }) =>
    reply(response, { "content-encoding": coding }, encode(large));

/** 200 MB of blanks in the middle of a document, as about 200 kB of gzip. */
function writeBomb(response: ServerResponse): void {
  response.writeHead(200, { "content-type": json, "content-encoding": "gzip" });
  const gzip = zlib.createGzip({ level: 9 });
  gzip.on("error", () => {});
  gzip.pipe(response);
  const blanks = Buffer.alloc(1024 * 1024, " ");
  let left = 200;
  gzip.write('{"head":{"vars":["x"]},"results":{"bindings":[');
  const more = (): void => {
    while (left > 0) {
      left -= 1;
      if (!gzip.write(blanks)) {
        gzip.once("drain", more);
        return;
      }
    }
    gzip.end("]}}");
  };
  response.on("close", () => gzip.destroy());
  more();
}

/** An answer without end, as fast as the reader takes it. */
function writeEndless(response: ServerResponse): void {
  response.writeHead(200, { "content-type": json });
  response.write('{"head":{"vars":["x"]},"results":{"bindings":[');
  const row = `${JSON.stringify({ x: { type: "literal", value: "y".repeat(1000) } })},`;
  const block = Buffer.from(row.repeat(64));
  const more = (): void => {
    while (!response.destroyed && response.write(block));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
}

const fixed =
  (headers: Record<string, string>, body: string | Buffer = small): HostileCase =>
  ({ response }) =>
    reply(response, headers, body);

/** The first media type of an Accept header. */
const firstType = (accept = ""): string => accept.split(/[,;]/u)[0] ?? "";

const virtuosoBodies: Readonly<Record<string, string>> = {
  [json]: small,
  "text/tab-separated-values": '"x"\n"http://example.org/thing/0"\n',
  "text/csv": '"x"\n"nodeID://b10000"\n',
  "text/turtle": turtle,
  "application/n-triples": turtle.repeat(4),
};

/** Like Virtuoso 7: the format named first, SELECT cut at three rows with a sign, CONSTRUCT at four triples without. */
const virtuoso: HostileCase = ({ request, response }) => {
  const type = firstType(request.headers.accept);
  const cap: Record<string, string> = request.body.includes("capped") ? { "x-sparql-maxrows": "3" } : {};
  const raised = request.body.includes("raised") && type === json;
  const body = raised ? large : (virtuosoBodies[type] ?? "");
  reply(response, { server: "Virtuoso/07.20.3229 (Linux) x86_64", "content-type": type, ...cap }, body);
};

/** The answer to the question whether a format keeps terms. */
const knownInTsv = String.raw`?x
<urn:x:i>
"l"@en
5
1.5E3
"a\tb\nc\\d\"e"
`;

/** The URL fixes the format: one answer to queries, one to the question for known terms, the first five lines to that without escapes. */
const tsvOnly =
  (answer: string, terms: string): HostileCase =>
  ({ request, response }) => {
    const known = request.body.includes("%5Ct") ? terms : terms.split("\n").slice(0, 5).join("\n");
    reply(
      response,
      { "content-type": "text/tab-separated-values" },
      request.body.includes("urn%3Ax%3Ai") ? known : answer,
    );
  };

/** Answers with status 2xx: good ones to compare with, encoded, partial, mislabelled and boundless ones. */
export const hostileBodies: Readonly<Record<string, HostileCase>> = {
  ok: fixed({}),
  // A round number of rows would be looked into.
  "ok-large": fixed({}, resultsOf(3001)),
  "ok-chunked": ({ response }) => {
    response.writeHead(200, { "content-type": json });
    response.write(small.slice(0, 20));
    response.end(small.slice(20));
  },
  "ok-boolean": fixed({}, '{"head":{},"boolean":true}'),
  "ok-turtle": fixed({ "content-type": "text/turtle" }, turtle),
  "ok-close-delimited": ({ response }) => {
    response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-type: ${json}\r\nconnection: close\r\n\r\n${small}`);
  },
  "as-json": fixed({ "content-type": "application/json; charset=utf-8" }),
  "as-xml": fixed(
    { "content-type": "text/xml" },
    '<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="x"/></head><results></results></sparql>',
  ),
  "as-plain": fixed({ "content-type": "text/plain" }, turtle),

  gzip: encoded("gzip", (body) => zlib.gzipSync(body)),
  deflate: encoded("deflate", (body) => zlib.deflateSync(body)),
  "deflate-raw": encoded("deflate", (body) => zlib.deflateRawSync(body)),
  brotli: encoded("br", (body) => zlib.brotliCompressSync(body)),
  zstd: encoded("zstd", (body) => zlib.zstdCompressSync(body)),
  "gzip-large": encoded("gzip", () => zlib.gzipSync(resultsOf(200_000), { level: 1 })),
  "gzip-bomb": ({ response }) => writeBomb(response),
  "gzip-bomb-small": fixed({ "content-encoding": "gzip" }, zlib.gzipSync(Buffer.alloc(8 * 1024 * 1024, " "))),
  "bad-gzip": fixed({ "content-encoding": "gzip" }, small),
  "bad-gzip-large": fixed({ "content-encoding": "gzip" }, large),
  "cut-gzip": fixed({ "content-encoding": "gzip" }, zlib.gzipSync(large).subarray(0, 200)),
  "gzip-trailing": ({ response }) => {
    response.writeHead(200, { "content-type": json, "content-encoding": "gzip" });
    response.write(zlib.gzipSync(large));
    setTimeout(() => response.end("and then some text"), 100);
  },
  // The decoder is done at the end of the stream and would drop what follows.
  "deflate-trailing": ({ response }) => {
    response.writeHead(200, { "content-type": json, "content-encoding": "deflate" });
    response.write(Buffer.concat([zlib.deflateSync(large), Buffer.from("and then some text")]));
    setTimeout(() => response.end("and more"), 100);
  },
  "deflate-trailing-at-once": ({ response }) => {
    response.writeHead(200, { "content-type": json, "content-encoding": "deflate" });
    response.end(Buffer.concat([zlib.deflateSync(large), Buffer.from("and then some text")]));
  },
  ...Object.fromEntries(
    [
      ["deflate", zlib.deflateSync(small)] as const,
      ["br", zlib.brotliCompressSync(small)] as const,
      ["zstd", zlib.zstdCompressSync(small)] as const,
    ].map(([coding, body]) => [
      `${coding}-trailing-small`,
      fixed({ "content-encoding": coding }, Buffer.concat([body, Buffer.from("and then some text")])),
    ]),
  ),
  "unknown-encoding": fixed({ "content-encoding": "rot13" }),
  "stacked-encoding": fixed({ "content-encoding": "gzip, gzip" }),

  "partial-206": fixed({ status: "206" }),
  s1tat: fixed({ "x-sql-state": "S1TAT" }, resultsOf(0)),
  "s1tat-206": fixed({ status: "206", "x-sql-state": "S1TAT" }),
  "maxrows-hit": fixed({ "x-sparql-maxrows": "3" }),
  "maxrows-missed": fixed({ "x-sparql-maxrows": "1000" }),
  "maxrows-hit-large": fixed({ "x-sparql-maxrows": "3000" }, large),

  virtuoso,
  "virtuoso-tsv": tsvOnly(
    '"x"\n"http://example.org/thing/0"\n',
    '"x"\n"urn:x:i"\n"l"\n5\n1500.0\n"a\\tb\\nc\\\\d\\"e"\n',
  ),
  "whole-tsv": tsvOnly("?x\n<http://e/>\n", knownInTsv),
  "chunked-tsv": ({ request, response }) => {
    response.writeHead(200, { "content-type": "text/tab-separated-values" });
    response.end(request.body.includes("urn%3Ax%3Ai") ? knownInTsv : "?x\n<http://e/>\n");
  },
  "qlever-tsv": tsvOnly("?x\n<http://e/>\n", knownInTsv.replace(/".{9,}"/u, String.raw`"a b\nc\d"e"`)),
  "tabs-tsv": tsvOnly("?x\n<http://e/>\n", knownInTsv.replace(String.raw`\t`, "\t")),
  "lines-tsv": tsvOnly("?x\n<http://e/>\n", knownInTsv.replace(String.raw`\n`, "\n")),
  "spaces-tsv": tsvOnly("?x\n<http://e/>\n", knownInTsv.replace(String.raw`\t`, " ")),
  "silent-tsv": tsvOnly("?x\n<http://e/>\n", "?x\n"),
  "fuseki-csv": ({ request, response }) =>
    reply(
      response,
      { "content-type": "text/csv" },
      request.body.includes("urn%3Ax%3Ai")
        ? 'x,b\r\nurn:x:i,b0\r\nl,b1\r\n5,b2\r\n1.5E3,b3\r\n"a\tb\nc\\d""e",b4\r\n'
        : "x\r\nb0\r\n",
    ),

  html: fixed(
    { "content-type": "text/html" },
    "<html><title>Query</title><body>Type\u0007 your <b>query</b> here</body></html>",
  ),
  "wrong-kind": fixed({ "content-type": "text/turtle" }, turtle),
  "no-type": ({ response }) => {
    response.end(small);
  },
  "no-content": ({ response }) => {
    response.writeHead(204).end();
  },
  "truncated-json": fixed({}, `${small.slice(0, -12)}java.util.concurrent.TimeoutException: Query deadline is expired`),
  "truncated-json-large": fixed({}, `${large.slice(0, -12)}java.util.concurrent.TimeoutException\n\tat com.bigdata`),
  "empty-body": fixed({}, ""),
  huge: fixed({}, resultsOf(20_000)),
  endless: ({ response }) => writeEndless(response),
};
