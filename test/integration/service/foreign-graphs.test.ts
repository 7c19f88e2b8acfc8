import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createDocumentClient } from "../../../src/outbound/documents.ts";
import { type Held, holding } from "../../support/held-loop.ts";
import { nastyJsonLd, nastyRdfXml, type NastyText } from "../../support/nasty-texts.ts";
import { type DocumentServer, startDocumentServer } from "../../support/document-server.ts";
import { problemOf, type RunningService, startService } from "../../support/running-service.ts";
import { until } from "../../support/eventually.ts";

// Graphs that cost a careless parser minutes, by the three ways in which they reach the service. The aim is 100 ms of
// the event loop at a time; a busy machine with a cold compiler gets ten times as much.
const mostMs = 1000;
const length = 500_000;
/** Of a document that is sent, which has no deadline as short as that of a query. */
const sentLength = 200_000;
const timeoutMs = 700;

interface Case extends NastyText {
  readonly id: string;
  readonly type: string;
}

const casesOf = (prefix: string, type: string, texts: readonly NastyText[]): readonly Case[] =>
  texts.map(({ name, text }, index) => ({ name: `${prefix}: ${name}`, text, type, id: `${prefix}${index}` }));

/** Of each kind of cost one; test/unit/results/foreign-text.test.ts has them all. */
const chosen = new Set([
  "a context at every level",
  "nodes in nodes",
  "arrays in arrays",
  "one property with many values",
  "many typed nodes",
  "an id map",
  "a long prefix",
  "many namespaces",
  "many attributes",
]);

const isChosen = ({ name }: NastyText): boolean => chosen.has(name.replace(/^\w+: /u, ""));
const cases = [
  ...casesOf("jsonld", "application/ld+json", nastyJsonLd(length)),
  ...casesOf("rdfxml", "application/rdf+xml", nastyRdfXml(length)),
].filter(isChosen);
const sentCases = casesOf("jsonld", "application/ld+json", nastyJsonLd(sentLength)).filter(isChosen);

let documents: DocumentServer;
let service: RunningService;

beforeAll(async () => {
  documents = await startDocumentServer();
  for (const { id, text, type } of cases) {
    documents.documents.set(`/${id}/sparql`, { type, body: text });
    documents.documents.set(`/${id}/.well-known/void`, { type, body: text });
  }
  const endpoints = cases.map(({ id }) => [id, `${documents.origin}/${id}/sparql`] as const);
  service = await startService(Object.fromEntries(endpoints));
});
afterAll(async () => {
  await service.close();
  await documents.close();
});

async function shouldNotHold<T>(work: () => Promise<T>): Promise<T> {
  const held: Held<T> = await holding(work);
  expect(held.longestMs).toBeLessThan(mostMs);
  expect(held.totalMs).toBeLessThan(timeoutMs + 20_000);
  if ("thrown" in held.outcome) throw held.outcome.thrown;
  return held.outcome.value;
}

describe("the answer to a CONSTRUCT that must be written in another format", () => {
  it.each(cases)("$name", async ({ id }) => {
    const { status, text } = await shouldNotHold(async () => {
      const response = await service.query("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", {
        path: `/endpoints/${id}/sparql`,
        accept: "text/turtle",
        parameters: { timeout: String(timeoutMs) },
      });
      return { status: response.status, text: await response.text().catch(() => "broken off") };
    });
    // Too deep, too many, too large, too late, or small enough to be answered.
    expect([200, 502, 504], text.slice(0, 500)).toContain(status);
  });
});

describe("a document that is sent", () => {
  it.each(sentCases)("$name", async (sent) => {
    const response = await shouldNotHold(() =>
      fetch(`${service.url}/api/endpoints`, {
        method: "POST",
        headers: { "content-type": sent.type },
        body: sent.text,
      }),
    );
    expect(await problemOf(response)).toMatchObject({ status: 422, code: "ENTRY_INVALID" });
  });
});

describe("a description that is fetched", () => {
  it.each(cases)("$name", async ({ id }) => {
    const client = createDocumentClient({ version: "1.0.0", allowAddresses: ["127.0.0.0/8"] });
    const url = `${documents.origin}/${id}/.well-known/void`;
    const caps = { timeoutMs, maxBytes: 2_000_000, maxQuads: 200_000 };
    const outcome = await shouldNotHold(async () => {
      const { signal } = new AbortController();
      return await client.fetch({ url, signal, ...caps }).then(
        ({ quads }) => quads.length,
        (error: unknown) => error,
      );
    });
    await client.close();
    if (typeof outcome !== "number") expect(outcome).toBeInstanceOf(FedwayError);
  });

  it.each(["jsonld0", "rdfxml0"])("by a job: %s", async (id) => {
    const state = await shouldNotHold(async () => {
      const asked = await fetch(`${service.url}/api/endpoints/${id}/describe`, { method: "POST" });
      const job = new URL(asked.headers.get("location") ?? "", service.url);
      return until(async () => {
        const { state: found } = (await (await fetch(job)).json()) as { state: string };
        return /done|failed/.test(found) && found;
      });
    });
    expect(state).toMatch(/done|failed/);
  });
});
