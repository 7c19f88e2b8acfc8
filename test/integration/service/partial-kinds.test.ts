import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { federationTurtle } from "../../support/catalog-folder.ts";
import {
  type Federation,
  startEndpoints,
  startFederation,
  type TestEndpoints,
} from "../../support/federation-harness.ts";

const people = Array.from({ length: 30 }, (_, n) => `<x:s${n}> <x:n> "${n}" .`).join("\n");

let endpoints: TestEndpoints;
let federation: Federation;
beforeAll(async () => {
  // One for each query: those that fail often cool down.
  const failing = Array.from({ length: 16 }, (_, n) => [`b${n}`, people.replaceAll("x:n", "x:q")] as const);
  endpoints = await startEndpoints({ a: people, ...Object.fromEntries(failing) });
  for (const [name] of failing) endpoints.setFault(name, { kind: "status", status: 500 });
  const members = failing.map(([name]) => [
    `all-${name}.ttl`,
    federationTurtle(`all-${name}`, `fedway:member "a", "${name}"`),
  ]);
  federation = await startFederation(endpoints.urls, {}, Object.fromEntries(members));
});
afterAll(async () => {
  await federation.close();
  await endpoints.close();
});

let used = 0;

/** @param query its `<b>` is an endpoint that fails; without SERVICE it is asked of the federation of both */
function shouldBe(kind: "subset" | "uncertain", query: string, rows: number): void {
  it(`${query} is ${kind} where <b> fails`, async () => {
    const b = `b${used++}`;
    const text = query.replace("<a>", `<${endpoints.url("a")}>`).replace("<b>", `<${endpoints.url(b)}>`);
    const place = query.includes("SERVICE") ? {} : { federationId: `all-${b}` };
    const table = await federation.table(text, { partial: true, ...place });
    expect(table).toMatchObject({ status: "partial", partial: kind, diagnosis: { where: { endpoint: b } } });
    expect(table.diagnosis?.next).toContain(kind === "uncertain" ? "partial=subset" : "without partial");
    expect(table.rows).toHaveLength(rows);
    expect(await federation.app.queries.runRecord(table.run)).toMatchObject({ status: "partial", partial: kind });

    const certain = await federation.table(text, { partial: "subset", ...place });
    if (kind === "subset") {
      expect(certain).toMatchObject({ status: "partial", partial: "subset" });
      expect(certain.rows).toStrictEqual(table.rows);
    } else {
      expect(certain).toMatchObject({ status: "failed", rows: [], diagnosis: { where: { endpoint: b } } });
    }
  });
}

const good = "SERVICE <a> { ?s <x:n> ?n }";
const failed = "SERVICE <b> { ?s <x:q> ?q }";

describe("a partial answer", () => {
  shouldBe("subset", `SELECT ?s { { ${good} } UNION { ${failed} } }`, 30);
  shouldBe("subset", `SELECT ?s { ${good} ${failed} }`, 0);
  shouldBe("subset", `SELECT ?s { ${good} FILTER(?n = "3" || EXISTS { ${failed} }) }`, 1);
  shouldBe("uncertain", `SELECT ?s { ${good} MINUS { ${failed} } }`, 30);
  shouldBe("uncertain", `SELECT ?s { ${good} FILTER NOT EXISTS { ${failed} } }`, 30);
  shouldBe("uncertain", `SELECT ?s ?q { ${good} OPTIONAL { ${failed} } }`, 30);
  shouldBe("uncertain", `SELECT (COUNT(*) AS ?count) { ${good} ${failed} }`, 1);
  shouldBe("uncertain", `SELECT ?s { { ${good} } UNION { ${failed} } } ORDER BY ?s LIMIT 3`, 3);
  shouldBe("subset", "SELECT ?s { ?s <x:n> ?n }", 30);
  shouldBe("uncertain", "SELECT ?s { ?s <x:n> ?n MINUS { ?s <x:q> ?q } }", 30);
});

describe("an answer that its endpoint gives in part", () => {
  const shouldBePart = (kind: "subset" | "uncertain", query: string): void => {
    it(`${query} is ${kind}`, async () => {
      const b = `b${used++}`;
      const json = { "content-type": "application/sparql-results+json" };
      const row = { s: { type: "uri", value: "x:s1" } };
      const body = JSON.stringify({ head: { vars: ["s"] }, results: { bindings: [row] } });
      endpoints.setFault(b, { kind: "status", status: 206, headers: json, body });
      const table = await federation.table(query, { partial: true, endpointId: b });
      expect(table).toMatchObject({ status: "partial", partial: kind, rows: [["<x:s1>"]] });
      const certain = await federation.table(query, { partial: "subset", endpointId: b });
      expect(certain).toMatchObject(
        kind === "subset"
          ? { status: "partial", partial: "subset" }
          : { status: "failed", diagnosis: { code: "ENDPOINT_PARTIAL", where: { endpoint: b } } },
      );
    });
  };
  shouldBePart("subset", "SELECT ?s { ?s <x:q> ?q }");
  shouldBePart("uncertain", "SELECT ?s { ?s <x:q> ?q MINUS { ?s <x:n> ?n } }");
});
