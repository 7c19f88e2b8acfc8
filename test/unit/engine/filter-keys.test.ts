import { expect, it } from "vitest";
import { BlockSizes } from "../../../src/engine/clause-query.ts";
import { createClauseExecutor } from "../../../src/engine/clause-executor.ts";
import { ExecutionAccount } from "../../../src/engine/execution-account.ts";
import type { ExecutionBounds } from "../../../src/engine/execution-bounds.ts";
import type { FederatedClause } from "../../../src/plan/query-plan.ts";
import type { SparqlRequest } from "../../../src/outbound/sparql-request.ts";
import { literalFromParts } from "../../../src/results/terms.ts";

const xsd = "http://www.w3.org/2001/XMLSchema#";
const integer = (value: string) => ({ type: "literal", value, datatype: `${xsd}integer` });
const clause: FederatedClause = {
  iri: "urn:fedway:clause:0",
  endpoint: { id: "a", url: "http://a.example/sparql", keys: "filter" },
  silent: false,
  variables: [{ name: "v", certain: true }],
  prologue: "",
  pattern: "{ ?s <urn:v> ?v }",
  selectivity: 0,
};

interface Endpoint {
  /** Values of `?v` that pass the FILTER. */
  readonly filtered: readonly object[];
  /** Of a subject that is found by the key: its values that are equal to the first of them. */
  readonly ofBoth: readonly object[];
  /** The first of them is in its triples. */
  readonly isStored?: boolean;
  readonly partial?: true;
}

/** Asks for `"01"^^xsd:integer`, twice; the endpoint's questions, and the values that it is said to have for the key. */
async function askedOf({ filtered, ofBoth, isStored = true, partial }: Endpoint) {
  const questions: string[] = [];
  const rowsOf = (query: string): readonly object[] => {
    const s = { type: "uri", value: "urn:s" };
    if (query.includes("?v")) return filtered.map((v) => ({ v }));
    questions.push(query);
    if (query.includes("?o")) return ofBoth.map((o) => (query.includes("DISTINCT ?o") ? { o } : { s, p: s, o }));
    return isStored ? [{ s, p: s }] : [];
  };
  const query = async (request: SparqlRequest) => {
    const vars = request.columns?.asked ?? [];
    const body = Buffer.from(JSON.stringify({ head: { vars }, results: { bindings: rowsOf(request.query) } }));
    const whole = { decodedBytes: body.length, wireBytes: body.length };
    const head = { status: 200, mediaType: "application/sparql-results+json", contentEncoding: "identity" };
    return { ...head, body, requests: 1, whole, end: Promise.resolve(whole) };
  };
  const bounds: ExecutionBounds = {
    signal: new AbortController().signal,
    deadlineMs: Number.MAX_SAFE_INTEGER,
    partial: partial ?? false,
    sources: new Map(),
  };
  const executor = createClauseExecutor({
    client: { query },
    bounds,
    sizes: new BlockSizes(),
    account: new ExecutionAccount({ maxSolutions: 1_000, maxHeldBytes: 2 ** 27, now: () => 0 }),
  });
  const keys = { variables: ["v"], rows: [[literalFromParts("01", "", `${xsd}integer`)]] };
  const values: (string | undefined)[] = [];
  for (let time = 0; time < 2; time++)
    for await (const rows of executor.solutions(clause, keys)) values.push(...rows.map((row) => row.get("v")?.value));
  return { values, questions, status: bounds.sources.get("a")?.status };
}

it("a term in another spelling is the key's where the endpoint finds it by the key, which is asked once", async () => {
  const { values, questions } = await askedOf({ filtered: [integer("1")], ofBoth: [integer("1")] });
  expect(values).toEqual(["01", "01"]);
  expect(questions).toHaveLength(1);
});

it.each([[[]], [[integer("01")]]])(
  "a term in another spelling is another one where the key finds %j",
  async (ofBoth) => {
    const { values, questions } = await askedOf({ filtered: [integer("1"), integer("01")], ofBoth });
    expect(values).toEqual(["01", "01"]);
    expect(questions).toHaveLength(2);
  },
);

it.each([
  ["no subject shows it, as all have the key as well", { ofBoth: [integer("1"), integer("01")] }],
  ["it is in no triple", { ofBoth: [], isStored: false }],
])("rows with a term in another spelling are not left out in silence where %s", async (_, lack) => {
  const lacking = { filtered: [integer("1"), integer("01")], ...lack };
  await expect(askedOf(lacking)).rejects.toMatchObject({ code: "ENDPOINT_PARTIAL" });
  expect(await askedOf({ ...lacking, partial: true })).toMatchObject({ values: ["01", "01"], status: "partial" });
});

it("rows that are of no key by value are not left out in silence", async () => {
  await expect(askedOf({ filtered: [integer("2")], ofBoth: [] })).rejects.toMatchObject({ code: "ENDPOINT_PARTIAL" });
});
