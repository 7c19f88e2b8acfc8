import { Parser } from "n3";
import { describe, expect, it } from "vitest";
import { expandTemplate, fragmentUrl, type SearchForm, readTpfPage } from "../../../../src/engine/sources/tpf-page.ts";
import { patternVariable } from "../../../../src/engine/sources/triple-pattern.ts";
import { blankNodeFromLabel, literalFromParts, nodeFromIri, termToText } from "../../../../src/results/terms.ts";
import { createTpfPages, type TpfOptions } from "../../../support/tpf-server.ts";

const base = "http://frag.example/data";
const data = '<x:a> <x:p> "1" .\n<x:a> <x:q> _:n .\n_:n <x:p> <x:b> .\n';

function page(url: string, options: TpfOptions = {}, origin = base) {
  const { body, mediaType } = createTpfPages(data, base, { pageSize: 2, ...options })(url);
  const quads = new Parser({ format: mediaType, baseIRI: url }).parse(body);
  return readTpfPage({ url, mediaType, quads }, new URL(origin));
}

describe.each(["turtle", "trig"] as const)("a page in %s", (format) => {
  it("has data, total, form and next page", () => {
    const { triples, total, next, form } = page(base, { format });
    const lines = triples.map((t) => [t.subject, t.predicate, t.object].map((term) => termToText(term)).join(" "));
    expect(lines.toSorted()).toEqual(['<x:a> <x:p> "1"', "<x:a> <x:q> _:n"]);
    expect(total).toBe(3);
    expect(next).toBe(`${base}?page=2`);
    expect(form?.variables).toEqual({ subject: "subject", predicate: "predicate", object: "object" });
  });

  it("that is the last has no next", () => {
    const { triples, next } = page(`${base}?page=2`, { format });
    expect(triples.map(({ subject }) => termToText(subject))).toEqual(["_:n"]);
    expect(next).toBeUndefined();
  });

  it("labels a blank node as other pages do", () => {
    const [first, second] = [base, `${base}?page=2`].map((url) => page(url, { format }).triples);
    const label = second?.[0]?.subject;
    expect(label && first?.some(({ object }) => object.equals(label))).toBe(true);
  });

  it.each([
    ["http://elsewhere.example/2", undefined],
    ["http://frag.example:81/2", undefined],
    ["ftp://frag.example/2", undefined],
    ["https://frag.example/2", "https://frag.example/2"],
  ])("links to %s: %s", (next, expected) => {
    const read = () => page(base, { format, next: () => next }).next;
    if (expected === undefined) expect(read).toThrow(expect.objectContaining({ code: "ENDPOINT_MALFORMED" }));
    else expect(read()).toBe(expected);
  });

  it("with a form on another origin is malformed", () => {
    expect(() => page(base, { format, template: "http://elsewhere.example/{?subject}" })).toThrow(
      expect.objectContaining({ code: "ENDPOINT_MALFORMED" }),
    );
  });

  it("without a form has none", () => {
    expect(page(base, { format, formless: true }).form).toBeUndefined();
  });
});

it("takes data that look like controls for data, where a graph holds the controls", () => {
  const hydra = "http://www.w3.org/ns/hydra/core#";
  const quads = new Parser({ format: "application/trig" }).parse(
    `<${base}> <${hydra}next> <http://elsewhere.example/> . <g:meta> { <${base}> <${hydra}totalItems> 7 }`,
  );
  const read = readTpfPage({ url: base, mediaType: "application/trig", quads }, new URL(base));
  expect(read).toMatchObject({ next: undefined, total: 7 });
  expect(read.triples).toHaveLength(1);
});

describe("a search form", () => {
  const form = (template: string): SearchForm => ({
    template,
    base,
    variables: { subject: "s", predicate: "p", object: "o" },
  });
  const any = patternVariable("x");
  const xsd = "http://www.w3.org/2001/XMLSchema#";

  it.each([
    ["an IRI", nodeFromIri("http://x/?a=b&c"), "?o=http%3A%2F%2Fx%2F%3Fa%3Db%26c"],
    ["a string", literalFromParts('a "b"\n'), "?o=%22a%20%22b%22%0A%22"],
    ["a language", literalFromParts("a", "en"), "?o=%22a%22%40en"],
    ["a datatype", literalFromParts("1", undefined, `${xsd}integer`), `?o=${encodeURIComponent(`"1"^^${xsd}integer`)}`],
    ["a blank node, which it cannot say", blankNodeFromLabel("b"), ""],
    ["a variable", any, ""],
    ["a lone surrogate", literalFromParts("\ud800"), "?o=%22%EF%BF%BD%22"],
  ])("is filled in with %s", (_, object, query) => {
    const url = fragmentUrl(form(`${base}{?s,p,o}`), { subject: any, predicate: any, object });
    expect(url).toBe(base + query);
  });

  it.each([
    ["{?s,o}", "?s=1&o=3"],
    ["?x=1{&s,p}", "?x=1&s=1&p=2"],
    ["/{s}/{p}", "/1/2"],
    ["{?none}", ""],
  ])("%s becomes %s", (template, expected) => {
    const values = new Map(Object.entries({ s: "1", p: "2", o: "3" }));
    expect(expandTemplate(form(template), values)).toBe(expected);
  });

  it.each(["{+s}", "{#s}", "{s*}", "{s:3}", "{}", "x".repeat(5_000)])("%.10s is refused", (template) => {
    expect(() => expandTemplate(form(template), new Map())).toThrow(
      expect.objectContaining({ code: "ENDPOINT_MALFORMED" }),
    );
  });
});
