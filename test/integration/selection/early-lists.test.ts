import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "../../../src/app.ts";
import { eventually } from "../../support/eventually.ts";
import { openService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const servers: SparqlTestServer[] = [];
const ids = ["alpha", "beta", "gamma", "delta", "epsilon"];
let app: App;
let url: string;

/** Things of a class of their own, with a property of their own. */
const thing = (id: string): string =>
  `<http://${id}.example/1> ${type} <http://v.example/${id}> .\n<http://${id}.example/1> <http://v.example/of-${id}> "1" .`;

beforeAll(async () => {
  for (const id of ids) servers.push(await startSparqlTestServer(thing(id)));
  // What comes after the lists never ends.
  for (const server of servers) server.setFault({ kind: "hang", on: /GROUP BY \?c \?p/u });
  const urls = Object.fromEntries(ids.map((id, at) => [id, servers[at]?.url ?? ""]));
  const federation = `@prefix fedway: <https://w3id.org/fedway/ns#> . @prefix dcterms: <http://purl.org/dc/terms/> .
    [] a fedway:Federation ; dcterms:identifier "all" ; dcterms:title "All" ;
      fedway:member ${ids.map((id) => `"${id}"`).join(", ")} .`;
  // As if none of them were small.
  const on = { FEDWAY_FACTS: "on", FEDWAY_MONITOR: "on", FEDWAY_READ_BYTES: "0" };
  app = await openService(urls, on, { "all.ttl": federation });
  url = await app.listen();
});

afterAll(async () => {
  await app.close();
  await Promise.all(servers.map((server) => server.close()));
});

const over = { federationId: "all", strict: false, partial: false, defaultGraphs: [], namedGraphs: [] };
const asked = (pattern: string) => ({ ...over, text: `SELECT * { ${pattern} }` });

it("members are left out by their lists while long descriptions hold all places", async () => {
  await eventually(() => {
    expect(app.queries.explain(asked("?s <http://v.example/of-delta> ?o")).facts).toEqual({ known: 5, members: 5 });
  });
  for (const id of ids) {
    for (const pattern of [`?s a <http://v.example/${id}>`, `?s <http://v.example/of-${id}> ?o`]) {
      const { endpoints, notes } = app.queries.explain(asked(pattern));
      expect(endpoints.map(({ endpoint }) => endpoint)).toEqual([id]);
      expect(notes.map(({ message }) => message).join()).toContain("4 of 5 members are not asked");
    }
  }
  // Lists are published a little before their job goes on.
  await eventually(async () => {
    const answer = await fetch(`${url}/api/jobs?kind=describe-endpoint`);
    const { jobs } = (await answer.json()) as { jobs: readonly { readonly state: string }[] };
    expect(jobs.map(({ state }) => state).toSorted()).toEqual(["running", "running", "waiting", "waiting", "waiting"]);
  });
});
