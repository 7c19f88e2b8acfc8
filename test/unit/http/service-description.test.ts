import { Parser, type Quad } from "n3";
import { describe, expect, it } from "vitest";
import { describeService } from "../../../src/http/service-description.ts";

const service = { url: "https://sparql.example/sparql", federated: true };
const sd = "http://www.w3.org/ns/sparql-service-description#";
const objectsOf = (quads: readonly Quad[], predicate: string): readonly string[] =>
  quads.filter((quad) => quad.predicate.value === predicate).map((quad) => quad.object.value);

const shouldDescribe = (format: string, contentType: string): void =>
  it(`describes the service as ${format}`, () => {
    const described = describeService(service, undefined, format);
    expect(described.contentType).toBe(contentType);
    const quads = new Parser().parse(described.body);
    expect(objectsOf(quads, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type")).toStrictEqual([`${sd}Service`]);
    expect(objectsOf(quads, `${sd}endpoint`)).toStrictEqual(["https://sparql.example/sparql"]);
    expect(objectsOf(quads, `${sd}supportedLanguage`)).toStrictEqual([`${sd}SPARQL11Query`]);
    expect(objectsOf(quads, `${sd}feature`)).toStrictEqual([`${sd}BasicFederatedQuery`]);
    expect(objectsOf(quads, `${sd}resultFormat`)).toStrictEqual([
      "http://www.w3.org/ns/formats/SPARQL_Results_JSON",
      "http://www.w3.org/ns/formats/SPARQL_Results_XML",
      "http://www.w3.org/ns/formats/SPARQL_Results_CSV",
      "http://www.w3.org/ns/formats/SPARQL_Results_TSV",
      "http://www.w3.org/ns/formats/Turtle",
      "http://www.w3.org/ns/formats/N-Triples",
      "http://www.w3.org/ns/formats/JSON-LD",
    ]);
  });

const shouldPick = (accept: string | undefined, contentType: string): void =>
  it(`answers ${accept} with ${contentType}`, () =>
    expect(describeService(service, accept, undefined).contentType).toBe(contentType));

describe("formats", () => {
  shouldDescribe("turtle", "text/turtle; charset=utf-8");
  shouldDescribe("application/n-triples", "application/n-triples");
  it("describes the service as JSON-LD", () => {
    const { body } = describeService({ ...service, federated: false }, "application/ld+json", undefined);
    expect(JSON.parse(body)).toMatchObject({
      "@context": { sd },
      "@type": "sd:Service",
      "sd:endpoint": { "@id": "https://sparql.example/sparql" },
    });
    expect(body).not.toContain("BasicFederatedQuery");
  });
});

describe("negotiation", () => {
  shouldPick(undefined, "text/turtle; charset=utf-8");
  shouldPick("*/*", "text/turtle; charset=utf-8");
  shouldPick("text/*", "text/turtle; charset=utf-8");
  shouldPick("application/ld+json", "application/ld+json");
  shouldPick("text/turtle;q=0.5, application/n-triples", "application/n-triples");
  shouldPick("application/*;q=0.9, text/turtle;q=0.1", "application/n-triples");
  shouldPick("text/turtle;q=0, */*", "application/n-triples");
  shouldPick("text/html, application/xhtml+xml, */*;q=0.8", "text/turtle; charset=utf-8");
  it("refuses what it has not", () =>
    expect(() => describeService(service, "image/png", undefined)).toThrow("cannot be had"));
});
