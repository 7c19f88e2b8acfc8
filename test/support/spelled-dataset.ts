import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openWorkspace, type ShardWorkspace } from "./shard-workspace.ts";

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

/** Shards of a dataset with two spellings of many values, and the lines that they were made of. */
export async function openSpelledWorkspace(): Promise<
  ShardWorkspace & { readonly folder: string; readonly lines: readonly string[] }
> {
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
  const { folder = "" } = await workspace.build();
  return { ...workspace, folder, lines };
}
