import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cli } from "../../support/run-cli.ts";
import { eventually } from "../../support/eventually.ts";
import { type RunningService, startService } from "../../support/running-service.ts";
import { startScriptedModel } from "../../support/scripted-model.ts";

// One text has one meaning, wherever it is sent: the same rows at each door.

let service: RunningService;
let model: Awaited<ReturnType<typeof startScriptedModel>>;
beforeAll(async () => {
  model = await startScriptedModel();
  service = await startService({}, { FEDWAY_EXAMPLES: "on", FEDWAY_CHAT: model.url, FEDWAY_CHAT_MODEL: "scripted" });
  const ids = ["library", "museums", "people", "places", "weather"];
  for (const id of ids) await fetch(`${service.url}/api/endpoints/${id}/describe`, { method: "POST" });
  await eventually(async () => {
    const { endpoints } = await jsonOf(await fetch(`${service.url}/api/federations/catalog`));
    expect(endpoints).toHaveLength(ids.length);
  });
});
afterAll(async () => {
  await service?.close();
  await model?.close();
});

/** What the doors answer, as far as it is read here. */
interface Answer {
  readonly rows?: readonly object[];
  readonly notes?: readonly { readonly code: string }[];
  readonly code?: string;
  readonly suggested?: string;
  readonly endpoints?: readonly unknown[];
  readonly result?: { readonly csv?: string };
  readonly data?: { readonly rows?: readonly object[]; readonly query?: string; readonly valid?: boolean };
}

const jsonOf = async (response: Response): Promise<Answer> => (await response.json()) as Answer;

const post = async (path: string, body: object): Promise<Answer> => {
  const response = await fetch(`${service.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return jsonOf(response);
};
const lines = (csv: string): readonly string[] => csv.trim().split(/\r?\n/).slice(1);

/** Of a cell as JSON has it. */
const valueOf = (cell: unknown): string =>
  typeof cell === "object" && cell !== null && "value" in cell ? String(cell.value) : String(cell);

/** Rows of a question that the model answers with a query; `setup` as the evaluator sends it. */
async function asked(query: string, setup?: object): Promise<readonly string[]> {
  model.answer({ text: `\`\`\`sparql\n${query}\n\`\`\`` });
  const { result } = await post("/api/ask", { question: "Which?", rounds: 0, ...(setup && { setup }) });
  return lines((result?.csv ?? "").replace(/^(?:PREFIX .*\n)*/, ""));
}

type Doors = Readonly<Record<string, (query: string) => Promise<readonly string[]>>>;
/** Values of the only column. */
const doors: Doors = {
  "/sparql": async (query) => lines(await (await service.query(query, { accept: "text/csv" })).text()),
  "/api/query": async (query) => {
    const { rows } = await post("/api/query", { query });
    return (rows ?? []).map((row) => valueOf(Object.values(row)[0]));
  },
  run_query: async (query) => {
    const { data } = await post("/api/tools/run_query", { query, format: "json" });
    return (data?.rows ?? []).map((row) => valueOf(Object.values(row)[0]));
  },
  "/api/ask": (query) => asked(query),
  evaluation: (query) => asked(query, { tools: ["run_query"], prompt: "Write a query.", lookup: false }),
  "fedway query": async (query) => {
    const { out } = await cli(["query", "--url", service.url, "--format", "csv", query], { fetch });
    return lines(out);
  },
};

const names = "?p foaf:name ?n";
const first = "ORDER BY ?n LIMIT 3";
/** Texts, and how many rows they have. */
const table: readonly (readonly [string, number])[] = [
  ["SELECT (COUNT(*) AS ?n) { ?x schema:birthPlace ?y }", 1],
  [
    "SELECT ?n { ?s schema:birthPlace ?p ; foaf:name ?n . ?w dcterms:creator ?s ; dcterms:title ?t . ?p rdfs:label ?l ; dbo:populationTotal ?x } ORDER BY ?n LIMIT 1",
    1,
  ],
  [`SELECT ?n { SERVICE <people> { ${names} } } ${first}`, 3],
  [`SELECT ?n { ${names} } ${first}`, 3],
  [`PREFIX foaf: <http://xmlns.com/foaf/0.1/> SELECT ?n { ${names} } ${first}`, 3],
  [`PREFIX foaf: <http://no.example/> SELECT ?n { ${names} } ${first}`, 0],
  [`SELECT ?n FROM <people> { ${names} } ${first}`, 3],
  [`SELECT ?n FROM <examples> { ${names} } ${first}`, 3],
  [`SELECT ?n FROM <catalog> { ${names} } ${first}`, 3],
  ["SELECT (COUNT(DISTINCT ?c) AS ?n) { ?s a ?c }", 1],
  ["SELECT ?n { GRAPH ?g { ?s ?p ?n } }", 0],
];

describe("a text has the same rows at each door", () => {
  it.each(table)("%s", async (query, rows) => {
    const found: Record<string, readonly string[]> = {};
    for (const [door, ask] of Object.entries(doors)) found[door] = await ask(query);
    const [expected] = Object.values(found);
    expect(expected).toHaveLength(rows);
    expect(found).toEqual(Object.fromEntries(Object.keys(doors).map((door) => [door, expected])));
    expect((await post("/api/tools/check_query", { query })).data).toMatchObject({ valid: true });
  });

  it("a legal text is run as it was sent", async () => {
    for (const [query] of table.filter(([text]) => /^PREFIX|COUNT\(DISTINCT/.test(text))) {
      expect((await post("/api/tools/check_query", { query })).data?.query).toBe(query);
      const { notes } = await post("/api/query", { query });
      expect(notes?.map(({ code }) => code)).not.toContain("PREFIXES_FILLED_IN");
    }
  });

  it("and other errors of syntax are mended in tools alone", async () => {
    const query = `SELECT ?n { SERVICE <people> { ${names} } ${first}`;
    const response = await service.query(query);
    expect(response.status).toBe(400);
    const { code, suggested = "" } = await jsonOf(response);
    expect([code, suggested]).toEqual(["QUERY_SYNTAX", expect.stringMatching(/^PREFIX foaf: .*\} *\} ORDER BY/s)]);
    expect((await post("/api/query", { query })).suggested).toBe(suggested);
    expect(await doors["run_query"]?.(query)).toEqual(await doors["/sparql"]?.(suggested));
  });
});
