import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Manifest } from "../../shards/src/materialise/manifest.ts";
import {
  fault,
  hostPackages,
  makePackage,
  packagedQueries,
  throughComunica,
  throughFedway,
} from "../support/benchmark-package.ts";
import type { RunningService } from "../support/running-service.ts";
import { openWorkspace } from "../support/shard-workspace.ts";

// A store by value makes one triple of two spellings of a value; files, endpoints and gold are to be the same terms.
const xsd = "http://www.w3.org/2001/XMLSchema#";
const v = (name: string): string => `<https://spelled.example/${name}>`;
const typed = (text: string, name: string): string => `"${text}"^^<${xsd}${name}>`;

/** Ten things with each code in two spellings, and visits with durations, times, flags and prices that are not canonical. */
function* statements(): Generator<readonly [string, string, string]> {
  const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
  for (let n = 0; n < 50; n += 1) {
    const thing = v(`thing/${n}`);
    yield [thing, type, v("Thing")];
    yield [thing, v("code"), typed(`${n % 40}`.padStart(3, "0"), "integer")];
    if (n < 10) yield [thing, v("code"), typed(`${n}`, "integer")];
    yield [thing, v("price"), typed(`${n}.${n % 2 === 0 ? "50" : "5"}`, "decimal")];
    yield [thing, v("madeBy"), v(`maker/${n % 8}`)];
    yield [thing, v("sold"), typed(`${n % 3 === 0 ? 1 : n % 3 === 1}`, "boolean")];
  }
  for (let n = 0; n < 8; n += 1) {
    yield [v(`maker/${n}`), type, v("Maker")];
    yield [v(`maker/${n}`), v("name"), `"Maker ${n}"`];
  }
  for (let n = 0; n < 44; n += 1) {
    const visit = v(`visit/${n}`);
    yield [visit, type, v("Visit")];
    yield [visit, v("of"), v(`thing/${n}`)];
    yield [visit, v("lasted"), typed(n % 2 === 0 ? `PT${n + 60}M` : `PT1H${n}M`, "dayTimeDuration")];
    const hour = n % 4 === 0 ? "24" : `${n % 4}`.padStart(2, "0");
    yield [visit, v("began"), typed(`2020-01-${`${(n % 28) + 1}`.padStart(2, "0")}T${hour}:00:00Z`, "dateTime")];
    yield [visit, v("rank"), typed(`${n % 5}`, "int")];
  }
}
const prefix = `PREFIX : <https://spelled.example/> PREFIX xsd: <${xsd}> `;
const queries: Readonly<Record<string, string>> = {
  codes: "SELECT ?t ?c ?n { ?t :code ?c ; :madeBy ?m . ?m :name ?n }",
  codeCount: "SELECT (COUNT(?c) AS ?n) { ?t :code ?c ; :madeBy/:name ?m }",
  spelling: "SELECT ?t ?n { ?t :code 007 ; :madeBy ?m . ?m :name ?n }",
  value: "SELECT ?t ?c ?n { ?t :code ?c ; :madeBy ?m . ?m :name ?n FILTER(?c = 7) }",
  sameCode: "SELECT ?a ?b { ?a :code ?c . ?b :code ?c . ?a :madeBy ?m . ?m :name 'Maker 1' FILTER(?a != ?b) }",
  sold: "SELECT ?t ?s ?n { ?t :sold ?s ; :madeBy ?m . ?m :name ?n FILTER(?s) }",
  soldSpelling: "SELECT ?t ?v { ?t :sold true . ?v :of ?t }",
  dearest: "SELECT ?n (MAX(?p) AS ?most) { ?t :price ?p ; :madeBy ?m . ?m :name ?n } GROUP BY ?n",
  dearestThing: "SELECT ?t ?n { { SELECT (MAX(?p) AS ?x) { ?u :price ?p } } ?t :price ?x ; :madeBy/:name ?n }",
  total: "SELECT ?n (SUM(?p) AS ?sum) { ?t :price ?p ; :madeBy ?m . ?m :name ?n } GROUP BY ?n",
  cheap: "SELECT ?t ?p ?l { ?t :price ?p . ?v :of ?t ; :lasted ?l FILTER(?p < 12.0) }",
  lasted: "SELECT ?v ?l ?n { ?v :lasted ?l ; :of ?t . ?t :madeBy/:name ?n }",
  midnight: "SELECT ?v ?b ?c { ?v :began ?b ; :of ?t . ?t :code ?c FILTER(STRENDS(STR(?b), 'T24:00:00Z')) }",
  late: "SELECT ?v ?b ?c { ?v :began ?b ; :of ?t . ?t :code ?c FILTER(?b > '2020-01-20T23:00:00Z'^^xsd:dateTime) }",
  ranks: "SELECT ?r (COUNT(?t) AS ?n) { ?v :rank ?r ; :of ?t . ?t :sold ?s } GROUP BY ?r",
  ranked: "SELECT ?v ?r ?c { ?v :rank ?r ; :of ?t . ?t :code ?c FILTER(?r >= 3) } ORDER BY DESC(?r) ?v ?c",
};

let folder: string;
let benchmark: string;
let manifest: Manifest;
let outcome: string;
let findings: readonly unknown[];
let service: RunningService;
beforeAll(async () => {
  const workspace = await openWorkspace();
  const lines = Array.from(statements(), (terms) => `${terms.join(" ")} .\n`);
  await writeFile(join(workspace.input, "spelled.nt"), lines.join(""));
  const asked = Object.entries(queries).map(([id, query]) => ({ id, question: `Which ${id}?`, query: prefix + query }));
  await writeFile(join(workspace.input, "spelled.json"), JSON.stringify(asked));
  await workspace.describe({
    dataset: "spelled",
    inputs: ["spelled.nt"],
    queries: "spelled.json",
    ontology: undefined,
  });
  ({ folder = "" } = await workspace.build());
  manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as Manifest;
  expect(manifest.triples).toBe(new Set(lines).size);
  const found = await workspace.verify(folder);
  ({ outcome } = found);
  findings = found.checks.flatMap((check) => check.findings);
  ({ folder: benchmark } = await makePackage(folder));
  service = await hostPackages(benchmark);
}, 180_000);
afterAll(() => service.close());

it("verification finds the triples of the files in the hosted shards", () => {
  expect([outcome, findings]).toEqual(["held", []]);
});

it("hosted shards have the triples and the terms of their files", async () => {
  const lines: string[] = [];
  for (const { id, triples, file } of manifest.shards) {
    const url = `${service.url}/shards/spelled/${id}/sparql`;
    const ask = async (query: string, accept: string): Promise<string> =>
      (await fetch(`${url}?query=${encodeURIComponent(query)}`, { headers: { accept } })).text();
    expect(await ask("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "text/csv")).toBe(`n\r\n${triples}\r\n`);
    const hosted = (await ask("CONSTRUCT WHERE { ?s ?p ?o }", "application/n-triples")).trim().split("\n");
    expect(hosted.toSorted()).toEqual((await readFile(join(folder, file), "utf8")).trim().split("\n").toSorted());
    lines.push(...hosted);
  }
  expect(new Set(lines).size).toBe(manifest.triples);
});

it("gold answers count and show the terms of the files", async () => {
  const gold = new Map((await packagedQueries(benchmark)).map(({ id, answer }) => [id, answer]));
  const rowsOf = (id: string): readonly (readonly string[])[] => {
    const answer = gold.get(id);
    return answer?.kind === "bindings" ? answer.rows : [];
  };
  expect(rowsOf("codeCount")).toEqual([["60"]]);
  expect(rowsOf("codes")).toHaveLength(60);
  expect(rowsOf("spelling")).toHaveLength(2);
  expect(rowsOf("value")).toHaveLength(3);
  expect(rowsOf("dearestThing")).toHaveLength(1);
  expect(rowsOf("midnight")).toHaveLength(14);
  expect(rowsOf("lasted").filter(([, lasted]) => lasted?.includes('"PT60M"') === true)).toHaveLength(1);
});

type Ask = (query: string) => Promise<string>;
const throughFederation =
  ({ query }: RunningService): Ask =>
  async (text) =>
    (await query(text, { path: "/federations/spelled/sparql" })).text();

it.each<[string, "gold" | "trivial" | "query", (of: RunningService) => Ask]>([
  ["Fedway over the endpoints of the gold queries", "gold", throughFedway],
  ["Fedway over the trivial queries", "trivial", throughFedway],
  ["Fedway over the federation", "query", throughFederation],
  ["Comunica", "gold", throughComunica],
])("%s gives the gold answers", async (_, form, through) => {
  const ask = through(service);
  const faults: string[] = [];
  for (const query of await packagedQueries(benchmark)) {
    const found = await fault(query, query[form], ask);
    if (found !== undefined) faults.push(`${query.id} ${found}`);
  }
  expect(faults).toEqual([]);
});
