const xsd = (name: string): string => `<http://www.w3.org/2001/XMLSchema#${name}>`;
const iri = (name: string): string => `<http://example.org/${name}>`;
const typed = (text: string, type: string): string => `"${text}"^^${xsd(type)}`;

const line = (subject: string, property: string, object: string): string => `${subject} ${iri(property)} ${object} .\n`;
const typeLine = (subject: string, name: string): string =>
  `${subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ${iri(name)} .\n`;

/** Declarations for queries over this data. */
export const prefixes = `PREFIX ex: <http://example.org/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
`;

/** The graph of Virtuoso with what other engines have in their default graphs; it has system graphs of its own, too. */
export const virtuosoGraph = "http://example.org/default";

/** Terms by kind, as they are written into the data of both sides of a join. */
export const terms: Readonly<Record<string, readonly string[]>> = {
  string: ['"x"', '"y"', typed("x", "string"), typed("z", "string")],
  language: ['"a"@en', '"a"@EN', '"b"@de-AT', '"b"@de-at'],
  integer: [typed("1", "integer"), typed("01", "integer"), typed("1", "int"), typed("2", "integer")],
  decimal: [typed("1.50", "decimal"), typed("1.5", "decimal"), typed("0.5", "decimal")],
  double: [typed("1.5E0", "double"), typed("1.5", "double"), typed("1500", "double")],
  boolean: [typed("true", "boolean"), typed("1", "boolean"), typed("false", "boolean")],
  date: [typed("2020-02-29", "date"), typed("2020-02-29Z", "date"), typed("2021-01-01", "date")],
  dateTime: [
    typed("2020-02-29T12:00:00Z", "dateTime"),
    typed("2020-02-29T12:00:00", "dateTime"),
    typed("2020-02-29T12:00:00.500+01:00", "dateTime"),
  ],
  long: [`"${"long text ".repeat(400)}1"`, `"${"long text ".repeat(400)}2"`],
  iri: [iri("item/1"), iri("item/2"), iri("a(b)'c%20d"), "<http://example.org/\u4E2D,x;y?z=1&w=2#h>"],
};

/** Each term of a kind as the object of `property-kind`, of a subject of its own; the last one of each kind only where `last`. */
const holders = (property: string, last: boolean): string =>
  Object.entries(terms)
    .flatMap(([kind, all]) =>
      all
        .slice(0, last ? undefined : -1)
        .map((term, at) => line(iri(`${property}/${kind}/${at}`), `${property}-${kind}`, term)),
    )
    .join("");

/**
 * N-Triples of the member that keys come from: each term is the object of `left-KIND`; items 1 to 6, `n` numbers them.
 */
const left: string = [
  holders("left", true),
  ...Array.from({ length: 6 }, (_, at) => line(iri(`item/${at + 1}`), "n", typed(`${at + 1}`, "integer"))),
  line(iri("item/1"), "root", iri("item/1")),
  line(iri("item/5"), "root", iri("item/5")),
  ...Object.entries(terms).flatMap(([kind, all]) =>
    all.map((_, at) => line(iri(`right/${kind}/${at}`), "same", iri(`right/${kind}/${at}`))),
  ),
  ...["link", "weight", "nothing"].map((name) => line(iri("names"), "names", iri(name))),
].join("");

/**
 * N-Triples of the engine under test: each term but the last of its kind as object of `right-KIND`; `link` from a source to items
 * 1 to 3 (item 1 has two), `sub` as a chain of items, blank nodes that hold items.
 */
const right: string = [
  holders("right", false),
  line(iri("source/1"), "link", iri("item/1")),
  line(iri("source/2"), "link", iri("item/1")),
  line(iri("source/2"), "link", iri("item/2")),
  line(iri("source/3"), "link", iri("item/3")),
  line(iri("source/1"), "typed", typed("w", "string")),
  line(iri("source/1"), "weight", typed("3", "integer")),
  line(iri("source/2"), "weight", typed("7", "integer")),
  line(iri("source/3"), "weight", typed("5", "integer")),
  line(iri("item/1"), "sub", iri("item/2")),
  line(iri("item/2"), "sub", iri("item/3")),
  line(iri("item/5"), "sub", iri("item/5")),
  line("_:box", "holds", iri("item/1")),
  line("_:box", "holds", iri("item/2")),
  line("_:crate", "holds", iri("item/2")),
].join("");

const inGraph = (name: string, triples: string): string => triples.replaceAll(/ \.$/gm, ` ${iri(name)} .`);

/** Triples by named graph, at the engine under test and at the other member. */
export const rightGraphs: Readonly<Record<string, string>> = {
  "graph/1": line(iri("source/1"), "made", iri("thing/1")),
  "graph/2": line(iri("source/2"), "made", iri("thing/2")) + line(iri("source/4"), "made", iri("thing/1")),
};
const leftGraphs: Readonly<Record<string, string>> = {
  "graph/1": line(iri("thing/1"), "called", '"one"') + line(iri("thing/2"), "called", '"two"'),
  "graph/2": line(iri("thing/2"), "called", '"zwei"'),
};

/** N-Quads of the graphs. */
const quadsOf = (graphs: Readonly<Record<string, string>>): string =>
  Object.entries(graphs)
    .map(([name, triples]) => inGraph(name, triples))
    .join("");
export const leftQuads = left + line(iri("thing/1"), "called", '"in no graph"') + quadsOf(leftGraphs);
export const rightQuads = right + line(iri("source/5"), "made", iri("thing/2")) + quadsOf(rightGraphs);

/** One resource with a literal of every kind that results formats treat differently, and a blank node. */
export const termSamples: string = [
  typeLine(iri("sample"), "Sample"),
  line(iri("sample"), "plain", '"a \\"quoted\\" text, with comma"'),
  line(iri("sample"), "lang", '"grüß dich"@de-AT'),
  line(iri("sample"), "integer", typed("42", "integer")),
  line(iri("sample"), "decimal", typed("3.5", "decimal")),
  line(iri("sample"), "double", typed("1.5E3", "double")),
  line(iri("sample"), "boolean", typed("true", "boolean")),
  line(iri("sample"), "date", typed("2020-02-29", "date")),
  line(iri("sample"), "custom", `"v"^^${iri("type")}`),
  line(iri("sample"), "string", typed("typed", "string")),
  line(iri("sample"), "link", "<http://example.org/\u4E2D>"),
  line(iri("sample"), "lines", '"line1\\nline2\\ttab"'),
  line(iri("sample"), "astral", '"\u{1F600}"'),
  line(iri("holder"), "part", "_:part"),
  line("_:part", "inside", '"in a blank node"'),
].join("");

/** Works of art; `creator` leads to `people`. Every seventh has no year. */
export function works(count: number): string {
  let text = "";
  for (let i = 0; i < count; i++) {
    text += typeLine(iri(`work/${i}`), "Work");
    text += line(iri(`work/${i}`), "title", `"Work number ${i}"@en`);
    text += line(iri(`work/${i}`), "creator", iri(`person/${i % 60}`));
    text += line(iri(`work/${i}`), "price", typed(`${i}.25`, "decimal"));
    if (i % 7 !== 0) text += line(iri(`work/${i}`), "year", typed(`${1500 + (i % 400)}`, "integer"));
  }
  return text;
}

/** People; `birthplace` leads to `places`. The last ten made no work, every fifth has no birthplace. */
export function people(): string {
  let text = "";
  for (let i = 0; i < 70; i++) {
    text += typeLine(iri(`person/${i}`), "Person");
    text += line(iri(`person/${i}`), "name", `"Person ${i}"`);
    text += line(iri(`person/${i}`), "born", typed(`18${String(10 + i)}-03-01`, "date"));
    if (i % 5 !== 0) text += line(iri(`person/${i}`), "birthplace", iri(`place/${i % 12}`));
  }
  return text;
}

/** Places; the first three are unknown to `people`. */
export function places(): string {
  let text = "";
  for (let i = 0; i < 15; i++) {
    text += line(iri(`place/${i}`), "label", `"Place ${i}"@en`);
    text += line(iri(`place/${i}`), "country", iri(`country/${i % 4}`));
    text += line(iri(`place/${i}`), "population", typed(`${i * 1000}`, "integer"));
  }
  return text;
}

/** `count` resources with one number each, for answers that take long. */
export function numbers(count: number): string {
  let text = "";
  for (let i = 0; i < count; i++) text += line(iri(`number/${i}`), "n", typed(`${i}`, "integer"));
  return text;
}

/** `count` resources with a text of 1,500 characters each, for answers that are large. */
export function texts(count: number): string {
  let text = "";
  for (let i = 0; i < count; i++) text += line(iri(`text/${i}`), "text", `"${`${i} `.padEnd(1_500, "lorem ")}"`);
  return text;
}
