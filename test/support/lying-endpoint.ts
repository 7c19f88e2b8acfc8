import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { text as readText } from "node:stream/consumers";
import { listening } from "./listening.ts";

const json = "application/sparql-results+json";
const xml = "application/sparql-results+xml";
const java =
  "\njava.util.concurrent.ExecutionException: Query on <http://ex.org/g> was cut\n\tat com.bigdata.rdf.Task.run(Task.java:1)\n";

/** Rows of the columns that a query asks for: as many subjects, each with the same values. */
function tableOf(columns: readonly string[], count: number): string {
  const rows = Array.from({ length: count }, (_, n) =>
    columns.map((name) => `"${name}":{"type":"uri","value":"x:${name === "s" ? `s${n}` : name}"}`).join(","),
  );
  return `{"head":{"vars":${JSON.stringify(columns)}},"results":{"bindings":[{${rows.join("},{")}}]}}`;
}

const columnsOf = (query: string): readonly string[] =>
  [...(/SELECT\s+(?:DISTINCT\s+)?((?:\?\w+\s*)+)/u.exec(query)?.[1] ?? "?s ?n").matchAll(/\?(\w+)/gu)].map(
    ([, name = ""]) => name,
  );

/** What one lie sends. */
interface Reply {
  readonly body: string | Buffer;
  readonly type?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds before it. */
  readonly afterMs?: number;
  /** The body is sent in chunks, without its length; its end waits for the client's head (`goOn`). */
  readonly streamed?: true;
}

const many = 3_000;
const latin1 = (columns: readonly string[]): Buffer =>
  Buffer.from(tableOf(columns, 1).replaceAll("x:s0", "x:ä"), "latin1");
const xmlTable = (columns: readonly string[]): string =>
  `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head>${columns.map((name) => `<variable name="${name}"/>`).join("")}</head><results></results></sparql>`;
const bidi = `\u202Egnorw\u0000\u001B[31m ${"long ".repeat(200_000)}`;

/** Every way to be wrong that looks right. */
const lies = {
  none: (columns) => ({ body: tableOf(columns, 3) }),
  "a table": () => ({ body: tableOf(["s", "n"], 1) }),
  "a boolean": () => ({ body: '{"head":{},"boolean":true}' }),
  "a column less": (columns) => ({ body: tableOf(columns.slice(1), 2) }),
  "a row without ?n": (columns) => ({ body: tableOf(columns, 3).replace(/,"n":\{[^}]*\}|"n":\{[^}]*\},?/u, "") }),
  "a row without ?s": (columns) => ({ body: tableOf(columns, 3).replace(/,"s":\{[^}]*\}|"s":\{[^}]*\},?/u, "") }),
  "no columns": () => ({ body: '{"head":{"vars":[]},"results":{"bindings":[]}}' }),
  "other columns": () => ({ body: tableOf(["s", "p", "o"], 2) }),
  "other columns in XML": () => ({ body: xmlTable(["s", "p"]), type: xml }),
  "other columns in TSV": () => ({ body: "?s\t?p\n", type: "text/tab-separated-values" }),
  "an error as CSV": () => ({ body: "Timeout: try again", type: "text/csv" }),
  "Latin-1": (columns) => ({ body: latin1(columns) }),
  "Latin-1 in CSV": (columns) => ({
    body: Buffer.from(`${columns.join(",")}\nä,1\n`, "latin1"),
    type: "text/csv; charset=iso-8859-1",
  }),
  "an error in JSON": () => ({ body: '{"exception":"no index of <x:p>","status":"ERROR"}' }),
  "an error in plain JSON": () => ({ body: '{"exception":"no index of <x:p>"}', type: "application/json" }),
  "a table in plain JSON": () => ({ body: tableOf(["s"], 1), type: "application/json" }),
  "an error as text": () => ({ body: "Error at <x:p>.", type: "text/plain" }),
  "an error as Turtle": () => ({ body: "Error at <x:p>.", type: "text/turtle" }),
  "an error labelled JSON": () => ({ body: "Error at <x:p>" }),
  "a page": () => ({ body: "<html><body>Closed &lt;x:p&gt;</body></html>", type: "text/html" }),
  "a page as XML": () => ({
    body: '<html xmlns="http://www.w3.org/1999/xhtml"><body>Closed</body></html>',
    type: "application/xml",
  }),
  "a trace behind rows": (columns) => ({ body: tableOf(columns, 3).slice(0, -3) + java }),
  "a trace behind the end": (columns) => ({ body: tableOf(columns, 3) + java }),
  "a trace behind XML": (columns) => ({ body: xmlTable(columns) + java, type: xml }),
  "a trace behind many rows": (columns) => ({ body: tableOf(columns, many).slice(0, -3) + java, streamed: true }),
  "cut behind many rows": (columns) => ({ body: tableOf(columns, many).slice(0, -60), streamed: true }),
  "cut short": (columns) => ({ body: tableOf(columns, 3).slice(0, -20) }),
  empty: () => ({ body: "" }),
  "no bindings": () => ({ body: '{"head":{"vars":["s","n"]},"results":{}}' }),
  "206": (columns) => ({ body: tableOf(columns, 3), status: 206 }),
  "cut at a cap": (columns) => ({
    body: tableOf(columns, many),
    headers: { "x-sparql-maxrows": `${many}` },
    streamed: true,
  }),
  "cut without a sign": (columns) => ({ body: tableOf(columns, 1_000) }),
  "400 as text": () => ({ body: "SP031: no <http://ex.org/p> here", type: "text/plain", status: 400 }),
  "400 as JSON": () => ({
    body: '{"exception":"Not declared: <http://ex.org/p>","query":"secret"}',
    type: "application/json",
    status: 400,
  }),
  "hostile words": () => ({ body: bidi, type: "text/plain", status: 500 }),
  "a late 500": () => ({ body: "Out of <x:order>", type: "text/plain", status: 500, afterMs: 600 }),
  "a late reset": () => ({ body: "", status: 0, afterMs: 600 }),
} as const satisfies Readonly<Record<string, (columns: readonly string[]) => Reply>>;

export type Lie = keyof typeof lies;

const TAIL = 500;

async function send(
  response: ServerResponse,
  { body, type = json, status = 200, headers, streamed }: Reply,
  clientHasHead: Promise<void>,
): Promise<void> {
  if (status === 0) {
    response.socket?.resetAndDestroy();
    return;
  }
  const length = streamed ? {} : { "content-length": String(Buffer.byteLength(body)) };
  response.writeHead(status, { "content-type": type, ...length, ...headers });
  if (!streamed) return void response.end(body);
  response.write(body.slice(0, -TAIL));
  await clientHasHead;
  response.end(body.slice(-TAIL));
}

/** A server of endpoints that lie, at `/{lie}/{any name}`. */
export async function startLyingEndpoints() {
  let head = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    void (async () => {
      const query = new URLSearchParams(await readText(request)).get("query") ?? "";
      const lie = decodeURIComponent((request.url ?? "").split("/")[1] ?? "") as Lie;
      const make: (columns: readonly string[]) => Reply = lies[lie];
      const reply = make(columnsOf(query));
      if (reply.afterMs !== undefined) await sleep(reply.afterMs);
      await send(response, reply, head.promise);
    })();
  });
  const { origin, close } = await listening(server);
  return {
    url: (lie: Lie, name: string): string => `${origin}/${encodeURIComponent(lie)}/${name}`,
    /** Streamed bodies end from now on only after `goOn`, which is for when the client has its head. */
    holdTails: (): void => void (head = Promise.withResolvers()),
    goOn: (): void => head.resolve(),
    close,
  };
}
