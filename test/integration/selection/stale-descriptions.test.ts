import { afterAll, beforeAll, expect, it } from "vitest";
import { tableOf } from "../../support/table-rows.ts";
import { eventually } from "../../support/eventually.ts";
import { openService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";
import { isExistenceQuery } from "../../support/existence-query.ts";

const x = (name: string): string => `<http://x.example/${name}>`;
const names = Array.from({ length: 50 }, (_, n) => `${x(`s${n}`)} ${x("name")} "${n}" .\n`);
const ids = ["s1", "s2", "s3"];
const servers = new Map<string, SparqlTestServer>();
const federation = `@prefix fedway: <https://w3id.org/fedway/ns#> . @prefix dcterms: <http://purl.org/dc/terms/> .
  [] a fedway:Federation ; dcterms:identifier "all" ; dcterms:title "All" ; fedway:member ${ids.map((id) => `"${id}"`).join(", ")} .`;
let close = async (): Promise<void> => {};
let url = "";

beforeAll(async () => {
  for (const id of ids) servers.set(id, await startSparqlTestServer(names.join("")));
  const app = await openService(
    Object.fromEntries([...servers].map(([id, server]) => [id, server.url])),
    { FEDWAY_READ_BYTES: "0" },
    { "all.ttl": federation },
  );
  close = () => app.close();
  url = await app.listen();
});

afterAll(async () => {
  await close();
  await Promise.all([...servers.values()].map((server) => server.close()));
});

interface Table {
  readonly status: string;
  readonly run: string;
  readonly rows: readonly (readonly (string | null)[])[];
  readonly boolean?: boolean;
  readonly facts?: { readonly seenAt: string; readonly verifiedAt?: string; readonly refuted?: readonly string[] };
}

async function table(query: string, options: object = {}): Promise<Table> {
  const response = await fetch(`${url}/api/query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, terms: "ntriples", ...options }),
  });
  return tableOf(await response.text()) as Table;
}

const refuted = async (): Promise<string[]> =>
  (await (await fetch(`${url}/metrics`)).text()).match(/^fedway_facts_refuted_total\{.*$/gmu) ?? [];

/** No endpoint is being described: a request for it would join a job that has read older data. */
const described = () =>
  eventually(async () => {
    expect(await (await fetch(`${url}/metrics`)).text()).not.toMatch(/^fedway_jobs_open\{.*\} [1-9]/mu);
  });

/** All are described as they are; then one triple of the first is another one. */
async function swapped(): Promise<void> {
  await described();
  const before = names.join("");
  for (const id of ids) {
    servers.get(id)?.setData(before);
    await fetch(`${url}/api/endpoints/${id}/describe`, { method: "POST" });
  }
  // Of nobody it is known any more that it has the new property.
  await eventually(async () => {
    const { rows } = await table(`SELECT * { ?s ${x("nick")} ?n }`, { federation: "all", prune: "trust" });
    const { sources } = (await explained(`SELECT * { ?s ${x("nick")} ?n }`)) as { sources: { members: string[] }[] };
    expect([rows, sources[0]?.members]).toEqual([[], []]);
  });
  await described();
  servers.get("s1")?.setData(names.slice(1).join("") + `${x("p1")} ${x("nick")} "n" .\n`);
  for (const server of servers.values()) server.clearRequests();
}

async function explained(query: string): Promise<unknown> {
  const response = await fetch(`${url}/api/explain`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, federation: "all" }),
  });
  return response.json();
}

const service = (id: string, body: string): string => `SERVICE <${id}> { ${body} }`;
const nick = `?s ${x("nick")} ?n`;
const everywhere = ids.map((id) => `{ ${service(id, nick)} }`).join(" UNION ");
const [name, firstName] = [`?s ${x("name")} ?o`, `${x("s1")} ${x("name")} ?o`];

/** The answers that the new triple is in; `trusted`: what a description of before makes of them. */
const cases: readonly (readonly [query: string, over: boolean, trusted: string, now: string])[] = [
  [`SELECT ?s { ${service("s1", nick)} }`, false, "empty 0", "ok 1"],
  [`SELECT ?s { ${everywhere} }`, false, "empty 0", "ok 1"],
  [
    `SELECT ?s ?n { ${service("s2", name)} OPTIONAL { ${service("s1", `?any ${x("nick")} ?n`)} } }`,
    false,
    "ok 50 -",
    "ok 50",
  ],
  [`SELECT ?s { ${nick} }`, true, "empty 0", "ok 1"],
  [`ASK { ${nick} }`, true, "ok false", "ok true"],
  [`SELECT (COUNT(*) AS ?c) { ${nick} }`, true, "ok 0", "ok 1"],
  [`SELECT ?o ?n { ${firstName} OPTIONAL { ${nick} } }`, true, "ok 1 -", "ok 1"],
  [`SELECT ?o { ${firstName} FILTER NOT EXISTS { ${nick} } }`, true, "ok 1", "empty 0"],
  [`SELECT ?o { ${firstName} MINUS { ?any ${x("nick")} "n" . ${firstName} } }`, true, "ok 1", "empty 0"],
  [`SELECT ?o ?n { { ${firstName} } UNION { ${nick} } }`, true, "ok 1 -", "ok 2"],
];

/** The status of an answer, and its rows, value or count; `-`: a variable is unbound in all rows. */
function summary({ status, rows, boolean }: Table): string {
  if (boolean !== undefined) return `${status} ${boolean}`;
  const count = /^"(\d+)"\^\^/u.exec(rows[0]?.[0] ?? "")?.[1];
  if (rows.length === 1 && count !== undefined) return `${status} ${count}`;
  const isUnbound = rows.length > 0 && (rows[0] ?? []).some((_, at) => rows.every((row) => row[at] === null));
  return `${status} ${rows.length}${isUnbound ? " -" : ""}`;
}

it.each(cases)("%s", async (query, over, trusted, now) => {
  await swapped();
  const place = over ? { federation: "all" } : {};
  expect(summary(await table(query, { ...place, prune: "trust" }))).toBe(trusted);
  for (const server of servers.values()) server.clearRequests();
  expect(summary(await table(query, place))).toBe(now);
  for (const server of servers.values()) {
    const small = server.requests.filter(({ query: text }) => text !== undefined && isExistenceQuery(text));
    expect(small.map(({ query: text }) => text).slice(1)).toEqual([]);
  }
});

it("a fact that is found to be wrong behind an answer is counted, and noted in the answer's record", async () => {
  await swapped();
  servers
    .get("s1")
    ?.setData(`${names.slice(2).join("")}${x("s0")} ${x("late")} "1" .\n${x("s0")} ${x("name")} "0" .\n`);
  servers.get("s2")?.setData(`${names.join("")}${x("s0")} ${x("late")} "2" .\n`);
  await fetch(`${url}/api/endpoints/s2/describe`, { method: "POST" });
  const query = `SELECT ?o { ?s ${x("late")} ?o }`;
  await eventually(async () => {
    const { rows } = await table(query, { federation: "all", prune: "trust" });
    expect(rows).toEqual([['"2"']]);
  });
  const before = await refuted();
  const stale = await table(query, { federation: "all" });
  expect(stale.rows).toEqual([['"2"']]);
  await eventually(async () => {
    const record = (await (await fetch(`${url}/api/runs/${stale.run}`)).json()) as Table;
    expect(record.facts?.refuted).toEqual(["s1"]);
  });
  expect(await refuted()).not.toEqual(before);
  expect((await table(query, { federation: "all" })).rows).toHaveLength(2);
});
