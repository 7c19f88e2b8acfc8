import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { FederationEngine } from "../../../src/engine/executor.ts";
import { engineAnswer, toBounds, toFederatedPlan } from "../../support/engine-answer.ts";
import { createStoreClient, type StoreClient } from "../../support/store-client.ts";

const oneALine = (triples: string): string => triples.replaceAll(" . ", " .\n");
const people = oneALine(
  `<x:ann> <x:age> "30" . <x:ann> <x:in> <x:oslo> . <x:bob> <x:age> "20" . <x:bob> <x:in> <x:rome> . <x:cy> <x:age> "20" .`,
);
const places = oneALine(
  `<x:oslo> <x:name> "Oslo" . <x:oslo> <x:of> <x:no> . <x:rome> <x:name> "Rome" . <x:rome> <x:of> <x:it> .`,
);
const ages = `SERVICE <x:people> { ?p <x:age> ?a }`;
const homes = `SERVICE <x:people> { ?p <x:in> ?c }`;
const names = `SERVICE <x:places> { ?c <x:name> ?n }`;

/** Queries over two endpoints, and their answers: a line a row, in any order. */
const cases: readonly (readonly [query: string, answer: readonly string[]])[] = [
  [`SELECT ?p ?n { ${homes} ${names} }`, [`<x:ann> "Oslo"`, `<x:bob> "Rome"`]],
  [
    `SELECT ?p ?n { ${ages} OPTIONAL { ${homes} ${names} FILTER(?n != "Rome") } }`,
    [`<x:ann> "Oslo"`, `<x:bob> -`, `<x:cy> -`],
  ],
  [`SELECT ?p { ${ages} MINUS { ${homes} ${names} } }`, [`<x:cy>`]],
  [`SELECT ?p { ${ages} FILTER NOT EXISTS { ${homes} ${names} } }`, [`<x:cy>`]],
  [
    `SELECT ?p ?known { ${ages} BIND(EXISTS { ${homes} ${names} } && ?a = "30" AS ?k) BIND(STR(?k) AS ?known) }`,
    [`<x:ann> "true"`, `<x:bob> "false"`, `<x:cy> "false"`],
  ],
  [
    `SELECT ?x { { ${ages} BIND(?p AS ?x) } UNION { ${names} BIND(?n AS ?x) } FILTER(STR(?x) != "Rome") }`,
    [`<x:ann>`, `<x:bob>`, `<x:cy>`, `"Oslo"`],
  ],
  [
    `SELECT ?a (COUNT(?n) AS ?k) { ${ages} OPTIONAL { ${homes} ${names} } } GROUP BY ?a HAVING(COUNT(?n) < 3)`,
    [`"30" "1"^^<http://www.w3.org/2001/XMLSchema#integer>`, `"20" "1"^^<http://www.w3.org/2001/XMLSchema#integer>`],
  ],
  [`SELECT DISTINCT ?a { ${ages} OPTIONAL { ${homes} ${names} } }`, [`"30"`, `"20"`]],
  [`SELECT REDUCED ?n { ${homes} ${names} }`, [`"Oslo"`, `"Rome"`]],
  [`SELECT ?n { ${homes} ${names} } ORDER BY DESC(?n) LIMIT 1`, [`"Rome"`]],
  [`SELECT ?n { ${homes} ${names} } ORDER BY ?n OFFSET 1`, [`"Rome"`]],
  [`SELECT ?n { VALUES ?p { <x:ann> <x:dan> } ${homes} ${names} }`, [`"Oslo"`]],
  [`SELECT ?m { ${homes} ${names} SERVICE <x:places> { ?d <x:name> ?m } FILTER(?m = ?n) }`, [`"Oslo"`, `"Rome"`]],
  [`SELECT ?n { { SELECT ?c { ${homes} } LIMIT 5 } ${names} }`, [`"Oslo"`, `"Rome"`]],
  [`SELECT ?p ?n { ${homes} SERVICE SILENT <x:nowhere> { ?c <x:name> ?n } }`, [`<x:ann> -`, `<x:bob> -`]],
  [`SELECT ?n { VALUES ?g { <x:places> } ${homes} SERVICE <x:places> { ?c <x:name> ?n } }`, [`"Oslo"`, `"Rome"`]],
  [`ASK { ${homes} ${names} FILTER(?n = "Rome") }`, ["true"]],
  [`ASK { ${homes} ${names} FILTER(?n = "Bonn") }`, ["false"]],
  [`CONSTRUCT { ?p <x:at> ?n } { ${homes} ${names} }`, [`<x:ann> <x:at> "Oslo"`, `<x:bob> <x:at> "Rome"`]],
  [`DESCRIBE ?c { ${homes} ${names} }`, []],
  [`SELECT * {}`, [""]],
  [`BASE <x:y> SELECT ?i { BIND(IRI("#z") AS ?i) ${ages} } LIMIT 1`, ["<x:y#z>"]],
];

/** What every engine does, whoever dispatches its operators. */
export function describeEngine(name: string, create: (client: StoreClient) => FederationEngine): void {
  const open = (): { client: StoreClient; engine: FederationEngine } => {
    const client = createStoreClient({ "x:people": people, "x:places": places });
    return { client, engine: create(client) };
  };

  describe(name, () => {
    it.each(cases)("%s", async (query, answer) => {
      expect((await engineAnswer(query, open().engine)).toSorted()).toEqual(answer.toSorted());
    });

    it("fails with the error of a member", async () => {
      const { client, engine } = open();
      client.fail("x:places", new FedwayError("ENDPOINT_FAILED", "It is broken.", { fault: "http-5xx" }));
      await expect(engineAnswer(`SELECT ?n { ${homes} ${names} }`, engine)).rejects.toMatchObject({
        code: "ENDPOINT_FAILED",
      });
    });

    it("fails with the reason of its signal", async () => {
      const reason = new FedwayError("DEADLINE_EXCEEDED", "The time is up.");
      const bounds = { ...toBounds(), signal: AbortSignal.abort(reason) };
      await expect(open().engine.execute(toFederatedPlan(`ASK { ${homes} ${names} }`), bounds)).rejects.toBe(reason);
    });

    it("asks for nothing when its rows are left before the first", async () => {
      const { client, engine } = open();
      const result = await engine.execute(toFederatedPlan(`SELECT ?n { ${homes} ${names} }`), toBounds());
      if (result.kind === "bindings") await result.rows[Symbol.asyncIterator]().return?.();
      expect(client.requests).toHaveLength(0);
    });
  });
}
