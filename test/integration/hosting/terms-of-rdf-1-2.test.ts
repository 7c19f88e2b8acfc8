import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EndpointPool } from "../../../src/hosting/endpoint-pool.ts";
import type { HostedEndpoint } from "../../../src/hosting/hosted-endpoint.ts";
import { parseAnswer } from "../../../src/results/parse.ts";
import { termToText } from "../../../src/results/terms.ts";
import { limits, queryOf } from "../../support/endpoint-under-test.ts";
import { each, readQuads, readRows } from "../../support/result-terms.ts";

const strings = ['"a"@en', '"a"@en--ltr', '"a"@en--rtl', '"a"@zh-classical'];
const triples = ['<<( <urn:a> <urn:b> "o"@en--ltr )>>', '<<( <urn:a> <urn:b> <<( <urn:c> <urn:d> "o"@ar--rtl )>> )>>'];
const all = [...strings, ...triples];
const sorted = (texts: readonly string[]): readonly string[] => texts.toSorted();

let endpoint: HostedEndpoint;
beforeAll(() => {
  const text = all.map((term) => `<urn:s> <urn:p> ${term} .`).join("\n");
  endpoint = new EndpointPool(limits).endpoint({ id: "terms", source: { kind: "text", text }, memoryMb: 64 });
});
afterAll(() => endpoint.close());

describe("terms of RDF 1.2 at a hosted endpoint", () => {
  it.each(["application/sparql-results+json", "application/sparql-results+xml", "text/tab-separated-values"])(
    "are held in %s",
    async (accept) => {
      const { body, mediaType } = await endpoint.query(queryOf("SELECT ?o { ?s ?p ?o }", { accept }));
      const { rows } = await readRows(await parseAnswer(each([body]), { mediaType, kind: "bindings" }));
      expect(sorted(rows.map((row) => termToText(row.get("o")!)))).toEqual(sorted(all));
    },
  );

  it.each([
    ["application/n-triples", all],
    ["text/turtle", all],
    ["application/rdf+xml", all],
    ["application/ld+json", strings],
  ] as const)("are held in %s", async (accept, held) => {
    const query = `CONSTRUCT { ?s ?p ?o } { ?s ?p ?o ${held === all ? "" : "FILTER(isLiteral(?o))"} }`;
    const { body, mediaType } = await endpoint.query(queryOf(query, { accept, kind: "quads" }));
    const quads = await readQuads(await parseAnswer(each([body]), { mediaType, kind: "quads" }));
    expect(sorted(quads.map(({ object }) => termToText(object)))).toEqual(sorted(held));
  });

  it("are refused in words where JSON-LD has no triple terms", async () => {
    const query = queryOf("CONSTRUCT WHERE { ?s ?p ?o }", { accept: "application/ld+json", kind: "quads" });
    await expect(endpoint.query(query)).rejects.toThrow("JSON-LD does not support");
  });
});
