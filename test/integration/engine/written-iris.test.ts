import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Federation,
  startEndpoints,
  startFederation,
  type TestEndpoints,
} from "../../support/federation-harness.ts";

const e = "http://e.org/";
const line = (subject: string, predicate: string, object: string): string =>
  `<${e}${subject}> <${e}${predicate}> ${object.startsWith('"') ? object : `<${e}${object}>`} .\n`;

let endpoints: TestEndpoints;
let federation: Federation;

beforeAll(async () => {
  endpoints = await startEndpoints({
    names: line("s1", "city#name", '"Graz"') + line("s2", "city#name", '"Linz"'),
    kinds: line("s1", "city#kind", "kind#big") + line("s2", "city#kind", "kind#small"),
  });
  federation = await startFederation(endpoints.urls);
});
afterAll(async () => {
  await federation.close();
  await endpoints.close();
});

/** IRIs written as prefixed names with escapes, or relative to BASE, wherever a federated query may have them. */
const shouldName = (what: string, prologue: string, pattern: string, names: readonly string[]): void => {
  it(`${what}: ${pattern}`, async () => {
    const inner = pattern
      .replace("NAMES", `<${endpoints.url("names")}>`)
      .replace("KINDS", `<${endpoints.url("kinds")}>`);
    const { rows } = await federation.table(`${prologue} SELECT ?n { ${inner} }`);
    expect(rows.map(([name]) => String(name)).toSorted()).toEqual(names.map((name) => `"${name}"`));
  });
};

const both = "SERVICE NAMES { ?s :city\\#name ?n } SERVICE KINDS { ?s :city\\#kind ?k }";
const relative = "SERVICE NAMES { ?s <../city#name> ?n } SERVICE KINDS { ?s <../city#kind> ?k }";

describe("IRIs of federated queries", () => {
  const prefix = `PREFIX : <${e}>`;
  shouldName("an escaped name", prefix, both, ["Graz", "Linz"]);
  shouldName("an escaped name", prefix, `${both} FILTER(?k = :kind\\#big)`, ["Graz"]);
  shouldName("an escaped name", prefix, `${both} VALUES ?k { :kind\\#small }`, ["Linz"]);
  shouldName("an escaped name", prefix, `${both} FILTER(?k IN (:kind\\#small, :kind\\.x))`, ["Linz"]);
  shouldName("an escaped name", prefix, `${both} BIND(:kind\\#big AS ?b) FILTER(?b = ?k)`, ["Graz"]);
  const base = `BASE <${e}a/b>`;
  shouldName("a relative IRI", base, relative, ["Graz", "Linz"]);
  shouldName("a relative IRI", base, `${relative} FILTER(?k = <../kind#big>)`, ["Graz"]);
  shouldName("a relative IRI", base, `${relative} VALUES ?k { <../kind#small> }`, ["Linz"]);
  shouldName("a relative IRI", base, `${relative} BIND(<../x/../kind#big> AS ?b) FILTER(?b = ?k)`, ["Graz"]);
  const mixed = `BASE <${e}a/b> PREFIX : <../>`;
  shouldName("an escaped name", mixed, `${both} FILTER(?k = :kind\\#big)`, ["Graz"]);
  shouldName("IRI of a reference", base, `${relative} FILTER(?k = IRI("../kind#big"))`, ["Graz"]);
  shouldName("IRI of a reference without BASE", prefix, `${both} FILTER(!BOUND(?b)) BIND(IRI("kind#big") AS ?b)`, [
    "Graz",
    "Linz",
  ]);
});

describe("a function that nobody knows", () => {
  it("is told before any endpoint is asked", async () => {
    const before = endpoints.requests("names").length;
    const query = `SELECT * { SERVICE <${endpoints.url("names")}> { ?s ?p ?n } SERVICE <${endpoints.url("kinds")}> { ?s ?q ?k }
      FILTER(<http://f.example/near>(?n)) }`;
    const table = await federation.table(query);
    expect(table.diagnosis).toMatchObject({ code: "FUNCTION_UNKNOWN" });
    expect(JSON.stringify(table.diagnosis)).toContain("http://f.example/near");
    expect(endpoints.requests("names")).toHaveLength(before);
  });
});
