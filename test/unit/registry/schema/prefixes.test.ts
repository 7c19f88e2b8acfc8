import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wellKnownPrefixes } from "../../../../src/rdf/well-known-prefixes.ts";
import { PrefixTable } from "../../../../src/registry/schema.ts";

const shouldShorten = (iris: readonly string[], text: string) =>
  it(`shortens ${JSON.stringify(iris[0]).slice(0, 70)}`, () => {
    expect(new PrefixTable(iris).short(iris[0] ?? "").text).toBe(text);
  });

/** Used twice, so that its namespace gets a prefix. */
const twice = (namespace: string): readonly string[] => [`${namespace}a`, `${namespace}b`];

describe("PrefixTable", () => {
  shouldShorten(["http://xmlns.com/foaf/0.1/name"], "foaf:name");
  shouldShorten(["http://www.w3.org/2001/XMLSchema#string"], "xsd:string");
  shouldShorten(["http://purl.uniprot.org/core/Protein"], "up:Protein");
  shouldShorten(["http://once.example/x/a"], "<http://once.example/x/a>");
  shouldShorten(twice("http://example.org/museum#"), "museum:a");
  shouldShorten(twice("http://vocab.getty.example/ontology/v1.2/"), "getty:a");
  shouldShorten(twice("https://w3id.org/my-Model/2020/"), "mymodel:a");
  shouldShorten(twice("http://foaf.example/foaf/"), "foaf2:a");
  shouldShorten(twice("urn:isbn:"), "isbn:a");
  shouldShorten(twice("http://127.0.0.1/"), "ns:a");
  shouldShorten(["http://schema.org/name.", "http://schema.org/x"], "<http://schema.org/name.>");
  shouldShorten(["http://schema.org/a,b"], "<http://schema.org/a,b>");
  shouldShorten(["http://schema.org/"], "<http://schema.org/>");
  shouldShorten(["__proto__"], "<__proto__>");
  shouldShorten(["http://x.example/a b>\n\u202Ec"], "<http://x.example/a\\u0020b\\u003E\\u000A\\u202Ec>");
  shouldShorten([`http://schema.org/${"a".repeat(200)}`], `<http://schema.org/${"a".repeat(200)}>`);

  it("names every namespace once, and prefixes read back", () => {
    const host = fc.constantFrom("a.example", "foaf.example", "schema.example", "b.example");
    const path = fc.constantFrom(
      "foaf",
      "core",
      "museum",
      "ns",
      "2020",
      "__proto__",
      "constructor",
      "Ω",
      "x".repeat(400),
    );
    const namespace = fc.tuple(host, path, fc.constantFrom("#", "/")).map(([h, p, end]) => `http://${h}/${p}${end}`);
    const iri = fc.tuple(namespace, fc.constantFrom("a", "b", "c-1", "")).map(([ns, local]) => ns + local);
    let shortened = 0;
    const run = (iris: readonly string[]): void => {
      const table = new PrefixTable(iris);
      const reversed = new PrefixTable(iris.toReversed());
      const namespaces = new Map<string, string>();
      for (const each of iris) {
        const {
          text,
          prefixes: [prefix],
        } = table.short(each);
        expect(reversed.short(each).text).toBe(text);
        if (prefix === undefined) continue;
        shortened++;
        expect(table.expand(text)).toBe(each);
        expect(prefix).toMatch(/^[a-z][A-Za-z0-9-]*$/);
        const known = namespaces.get(prefix) ?? table.namespace(prefix);
        expect(table.namespace(prefix)).toBe(known);
        namespaces.set(prefix, known ?? "");
      }
      expect(new Set(namespaces.values()).size).toBe(namespaces.size);
    };
    fc.assert(fc.property(fc.array(iri, { minLength: 20, maxLength: 60, size: "max" }), run), { seed: 5, numRuns: 60 });
    expect(shortened).toBeGreaterThan(500);
  });

  it("has no prefix twice in the well-known table, and no namespace without an end", () => {
    expect(wellKnownPrefixes.size).toBeGreaterThan(80);
    expect(new Set(wellKnownPrefixes.values()).size).toBe(wellKnownPrefixes.size);
    const open = [...wellKnownPrefixes.keys()].filter((namespace) => !/[#/]$/.test(namespace));
    expect(open).toEqual(["http://www.w3.org/XML/1998/namespace"]);
  });
});
