const RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const XSD = "http://www.w3.org/2001/XMLSchema#";
const EX = "http://example.org/";

/** Declarations for the queries of this suite. */
export const prefixes = `PREFIX ex: <${EX}>
PREFIX xsd: <${XSD}>
`;

/** The graph that Virtuoso's data lies in, beside its own system graphs. */
export const virtuosoGraph = "http://example.org/graph/data";

const line = (...terms: readonly string[]): string => `${terms.join(" ")} .\n`;
const iri = (name: string): string => `<${EX}${name}>`;
const typed = (value: string | number, type: string): string => `"${value}"^^<${XSD}${type}>`;

/** One resource with a literal of every kind that results formats treat differently, and a blank node. */
export const termSamples: string = [
  line(iri("sample"), `<${RDF_TYPE}>`, iri("Sample")),
  line(iri("sample"), iri("plain"), '"a \\"quoted\\" text, with comma"'),
  line(iri("sample"), iri("lang"), '"grüß dich"@de-AT'),
  line(iri("sample"), iri("integer"), typed(42, "integer")),
  line(iri("sample"), iri("decimal"), typed("3.5", "decimal")),
  line(iri("sample"), iri("double"), typed("1.5E3", "double")),
  line(iri("sample"), iri("boolean"), typed("true", "boolean")),
  line(iri("sample"), iri("date"), typed("2020-02-29", "date")),
  line(iri("sample"), iri("custom"), `"v"^^${iri("type")}`),
  line(iri("sample"), iri("string"), typed("typed", "string")),
  line(iri("sample"), iri("link"), "<http://example.org/\u4E2D>"),
  line(iri("sample"), iri("lines"), '"line1\\nline2\\ttab"'),
  line(iri("sample"), iri("astral"), '"\u{1F600}"'),
  line(iri("holder"), iri("part"), "_:part"),
  line("_:part", iri("inside"), '"in a blank node"'),
].join("");

/** Works of art; `creator` leads to `people`. Every seventh has no year. */
export function works(count: number): string {
  let text = "";
  for (let i = 0; i < count; i++) {
    text += line(iri(`work/${i}`), `<${RDF_TYPE}>`, iri("Work"));
    text += line(iri(`work/${i}`), iri("title"), `"Work number ${i}"@en`);
    text += line(iri(`work/${i}`), iri("creator"), iri(`person/${i % 60}`));
    text += line(iri(`work/${i}`), iri("price"), typed(`${i}.25`, "decimal"));
    if (i % 7 !== 0) text += line(iri(`work/${i}`), iri("year"), typed(1500 + (i % 400), "integer"));
  }
  return text;
}

/** People; `birthplace` leads to `places`. The last ten made no work, every fifth has no birthplace. */
export function people(): string {
  let text = "";
  for (let i = 0; i < 70; i++) {
    text += line(iri(`person/${i}`), `<${RDF_TYPE}>`, iri("Person"));
    text += line(iri(`person/${i}`), iri("name"), `"Person ${i}"`);
    text += line(iri(`person/${i}`), iri("born"), typed(`18${String(10 + i)}-03-01`, "date"));
    if (i % 5 !== 0) text += line(iri(`person/${i}`), iri("birthplace"), iri(`place/${i % 12}`));
  }
  return text;
}

/** Places; the first three are unknown to `people`. */
export function places(): string {
  let text = "";
  for (let i = 0; i < 15; i++) {
    text += line(iri(`place/${i}`), iri("label"), `"Place ${i}"@en`);
    text += line(iri(`place/${i}`), iri("country"), iri(`country/${i % 4}`));
    text += line(iri(`place/${i}`), iri("population"), typed(i * 1000, "integer"));
  }
  return text;
}

/** `count` resources with one number each, for answers that take long. */
export function numbers(count: number): string {
  let text = "";
  for (let i = 0; i < count; i++) text += line(iri(`number/${i}`), iri("n"), typed(i, "integer"));
  return text;
}

/** `count` resources with a text of 1,500 characters each, for answers that are large. */
export function texts(count: number): string {
  let text = "";
  for (let i = 0; i < count; i++) text += line(iri(`text/${i}`), iri("text"), `"${`${i} `.padEnd(1_500, "lorem ")}"`);
  return text;
}
