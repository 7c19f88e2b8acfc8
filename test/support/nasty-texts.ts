/** One hostile text and what is nasty about it. */
export interface NastyText {
  readonly name: string;
  readonly text: string;
}

/** `unit` as often as it fits into about `length` characters. */
export const repeated = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length));

const list = (count: number, item: (index: number) => string, between = ","): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(between);

/** Tokens, and halves of tokens, of all the languages that are parsed here. */
const units: readonly string[] = [
  ..."<>\"'\\[({])}@#.:,;&=-_%+~^|?!*/ \n\r\t\0aZ1é".split(""),
  ..."<<|<!--|-->|<![CDATA[|]]>|<?|?>|</a>|<a>|<a/>|<a b='c'|<a b=|b='c' |&amp;|&#x41;|<a:b>|xmlns:a='b' ".split("|"),
  ...'_:a|a:b|a:|:a,|<a> |1.|1e|1e1 |.1|--|\'\'|\'\'\'\'|""|"",|"a",|"a":|\\u0041|\\\\|\\"|\\|\'\'\'|"""'.split("|"),
  ...'[]|[],|{}|{},|{"a":|[[|[{|1,|null,|true |-1,'.split("|"),
  "{|",
  "|}",
  "^^<a>",
  "@en-",
  "PREFIX a: <b> ",
  "@prefix a: <b> .",
  "# \n",
  "\r\n",
  "/../",
  "a/",
  "\u{1f600}",
  "\u0301",
  "SELECT * {",
  "OPTIONAL{",
  "UNION{}",
  "?a ?b ?c . ",
  "(1+",
  "q=0.1,",
  "text/*;",
  "Mon, ",
];

/** Each token very often, by itself and behind the beginnings of a document. */
export function floods(heads: readonly string[], length: number): readonly NastyText[] {
  return heads.flatMap((head) =>
    units.map((unit) => ({
      name: `${JSON.stringify(head.slice(-30))} and ${JSON.stringify(unit)}`,
      get text() {
        return head + repeated(unit, length - head.length);
      },
    })),
  );
}

/** Brackets in brackets. */
const nested = (open: string, inner: string, close: string, depth: number): string =>
  open.repeat(depth) + inner + close.repeat(depth);

const deep = (name: string, [open, inner, close]: readonly [string, string, string], length: number): NastyText => ({
  name,
  text: nested(open, inner, close, Math.floor(length / (open.length + close.length))),
});

/** JSON-LD that is valid, or nearly, and costs a careless parser hours. */
export function nastyJsonLd(length: number): readonly NastyText[] {
  const each = (
    name: string,
    [open, item, close]: readonly [string, (index: number) => string, string],
  ): NastyText => ({
    name,
    text: open + list(Math.floor(length / (item(99_999).length + 1)), item) + close,
  });
  const contextIn = (inner: string): string => `{"@context":{"p":"http://e/p"},"p":${inner}}`;
  const longIri = `http://e/${repeated("a", length / 2)}`;
  const contextOf = (container: string): string =>
    `{"@context":{"p":{"@id":"http://e/p","@container":${container}}},"p":`;
  return [
    deep("a context at every level", ['{"@context":{"p":"http://e/p"},"p":', "{}", "}"], length),
    { name: "a context at each of 40 levels", text: `[${list(length / 1400, () => withinContexts(40, contextIn))}]` },
    deep("nodes in nodes", ['{"http://e/p":', "{}", "}"], length),
    deep("arrays in arrays", ["[", "", "]"], length),
    { name: "nodes of 100 levels", text: `[${list(length / 600, () => nested('{"e:p":', "1", "}", 100))}]` },
    each("one property with many values", ['{"@id":"e:s","e:p":[', (index) => `"v${index}"`, "]}"]),
    each("many numbers without a subject", ['{"e:p":[', () => "1", "]}"]),
    each("many nodes as values", ['{"@id":"e:s","e:p":[', (index) => `{"@id":"e:${index}"}`, "]}"]),
    each("many typed nodes", ["[", (index) => `{"@id":"e:${index}","@type":["e:T"],"e:p":[{"@value":1}]}`, "]"]),
    each("many typed nodes within one", ['{"e:p":[', () => '{"@type":"e:T","e:q":1}', "]}"]),
    each("many types", ['{"@id":"e:s","@type":[', () => '"e:T"', "]}"]),
    each("a list", ['{"@id":"e:s","e:p":{"@list":[', (index) => `"v${index}"`, "]}}"]),
    each("many properties", ['{"@id":"e:s",', (index) => `"e:p${index}":1`, "}"]),
    each("a language map", [`${contextOf('"@language"')}{`, (index) => `"en-${index}":"v"`, "}}"]),
    each("an index map", [`${contextOf('"@index"')}{`, (index) => `"${index}":"v"`, "}}"]),
    each("an id map", [`${contextOf('"@id"')}{`, (index) => `"e:${index}":{"e:p":1}`, "}}"]),
    each("a type map", [`${contextOf('"@type"')}{`, (index) => `"e:${index}":{"e:p":1}`, "}}"]),
    each("a graph map", [`${contextOf('["@graph","@id"]')}{`, (index) => `"e:${index}":{"e:p":1}`, "}}"]),
    each("annotations", ['{"@id":"e:s","e:p":{"@id":"e:o","@annotation":[', (index) => `{"e:q":${index}}`, "]}}"]),
    each("a large context", ['{"@context":{', (index) => `"p${index}":"http://e/${index}"`, '},"p1":1}']),
    each("terms by terms", ['{"@context":{"p0":"e:p",', (index) => `"p${index + 1}":"p${index}:a"`, '},"p1":1}']),
    each("a context in each node", ["[", () => '{"@context":{"p":"e:p"},"@id":"e:s","p":1}', "]"]),
    each("contexts in contexts", [
      `{"@context":{"p":{"@id":"e:p","@context":{${list(900, (index) => `"q${index}":"e:${index}"`)}}}},"p":[`,
      () => '{"q1":1}',
      "]}",
    ]),
    each("a long base", [`{"@context":{"@base":"${longIri}"},"e:p":[`, (index) => `{"@id":"${index}"}`, "]}"]),
    each("a long prefix", [`{"@context":{"p":"${longIri}"},"e:p":[`, (index) => `{"@id":"p:${index}"}`, "]}"]),
    each("a long language", [`{"@context":{"@language":"${repeated("a", length / 2)}"},"e:p":[`, () => '"v"', "]}"]),
    { name: "a long number", text: `{"e:p":${repeated("1", length)}}` },
    { name: "dots in an IRI", text: `{"@id":"${repeated("../", length)}","e:p":1}` },
  ];
}

const withinContexts = (levels: number, contextIn: (inner: string) => string): string =>
  levels === 0 ? "{}" : contextIn(withinContexts(levels - 1, contextIn));

const rdfRoot = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"';

/** The same in RDF/XML. */
export function nastyRdfXml(length: number): readonly NastyText[] {
  const inRoot = (content: string, attributes = ""): string => `${rdfRoot}${attributes}>${content}</rdf:RDF>`;
  const half = repeated("a", length / 2);
  const namespaces = list(length / 40, (index) => ` xmlns:p${index}="e:"`, "");
  return [
    { name: "nodes in nodes", text: inRoot(deep("", ["<e:a><e:b>", "", "</e:b></e:a>"], length).text) },
    {
      name: "XML in a literal",
      text: inRoot(`<e:a><e:b rdf:parseType="Literal">${repeated("<b/>", length)}</e:b></e:a>`),
    },
    { name: "many namespaces", text: inRoot(repeated("<e:a/>", length / 2), namespaces) },
    { name: "many attributes", text: inRoot(`<e:a ${list(length / 14, (index) => `e:p${index}="v"`, " ")}/>`) },
    {
      name: "a long base",
      text: inRoot(repeated('<e:a rdf:about="b"/>', length / 2), ` xml:base="http://e/${half}/"`),
    },
    { name: "a long namespace", text: inRoot(repeated("<l:a/>", length / 2), ` xmlns:l="http://e/${half}"`) },
    { name: "a long language", text: inRoot(repeated('<e:a e:p="v"/>', length / 2), ` xml:lang="${half}"`) },
    { name: "many values", text: inRoot(`<e:a>${repeated("<e:b>1</e:b>", length)}</e:a>`) },
    {
      name: "a collection",
      text: inRoot(`<e:a><e:b rdf:parseType="Collection">${repeated("<e:c/>", length)}</e:b></e:a>`),
    },
    { name: "brackets in a value", text: inRoot(`<e:a e:b="${repeated(">", length)}"/>`) },
    { name: "references", text: inRoot(`<e:a><e:b>${repeated("&amp;", length)}</e:b></e:a>`) },
    {
      name: "dots in an IRI",
      text: inRoot(`<e:a rdf:about="${repeated("../", length)}"/>`, ' xml:base="http://e/a/"'),
    },
  ];
}

/** The same in Turtle; N-Triples is a part of it. */
export function nastyTurtle(length: number): readonly NastyText[] {
  const half = repeated("a", length / 2);
  return [
    { name: "nodes in nodes", text: `<e:s> <e:p> ${deep("", ["[<e:p> ", "1", "]"], length).text} .` },
    { name: "lists in lists", text: `<e:s> <e:p> ${deep("", ["(", "", ")"], length).text} .` },
    { name: "triples in triples", text: `${deep("", ["<<", "<e:s>", " <e:p> <e:o> >>"], length).text} <e:p> <e:o> .` },
    { name: "triple terms", text: `<e:s> <e:p> ${deep("", ["<<( <e:s> <e:p> ", "1", " )>>"], length).text} .` },
    { name: "many values", text: `<e:s> <e:p> ${repeated("1,", length)}1 .` },
    { name: "many prefixes", text: list(length / 24, (index) => `@prefix p${index}: <e:> .`, "\n") },
    { name: "a long prefix", text: `@prefix : <http://e/${half}> . :s :p ${repeated(":a,", length / 2)}:b .` },
    { name: "a long base", text: `@base <http://e/${half}/> . <s> <p> ${repeated("<../a>,", length / 2)}<b> .` },
    { name: "a long literal", text: `<e:s> <e:p> """${repeated("\\\\", length)}""" .` },
    { name: "a literal of quotes", text: `<e:s> <e:p> """${repeated('"" ', length)}""" .` },
    { name: "dots in an IRI", text: `@base <http://e/a/> . <${repeated("../", length)}> <p> <o> .` },
    { name: "escapes in an IRI", text: `<e:${repeated("\\u0041", length)}> <e:p> <e:o> .` },
  ];
}

/** SPARQL Query Results JSON. */
export function nastyResultsJson(length: number): readonly NastyText[] {
  const answer = (rows: string, vars = '"a"'): string => `{"head":{"vars":[${vars}]},"results":{"bindings":[${rows}]}}`;
  const cell = '{"type":"literal","value":"v"}';
  return [
    { name: "a deep head", text: `{"head":${deep("", ["[", "", "]"], length).text},"results":{"bindings":[]}}` },
    { name: "a deep row", text: answer(`{"a":${deep("", ["[", "", "]"], length).text}}`) },
    {
      name: "triples in triples",
      text: answer(`{"a":${deep("", ['{"type":"triple","value":{"subject":', cell, "}}"], length).text}}`),
    },
    { name: "many empty rows", text: answer(repeated("{},", length).slice(0, -1)) },
    {
      name: "many variables",
      text: answer(repeated("{},", length / 2).slice(0, -1), repeated('"a",', length / 2).slice(0, -1)),
    },
    { name: "a row of many cells", text: answer(`{${list(length / 45, (index) => `"c${index}":${cell}`)}}`) },
    { name: "a long value", text: answer(`{"a":{"type":"literal","value":"${repeated("\\u0041", length)}"}}`) },
    {
      name: "rows before the head",
      text: `{"results":{"bindings":[${list(length / 40, () => `{"a":${cell}}`)}]},"head":{"vars":["a"]}}`,
    },
    {
      name: "empty rows before the head",
      text: `{"results":{"bindings":[${repeated("{},", length).slice(0, -1)}]},"head":{"vars":["a"]}}`,
    },
    {
      name: "rows without a head",
      text: `{"results":{"bindings":[${list(length / 45, (index) => `{"a${index}":${cell}}`)}]}}`,
    },
    {
      name: "arrays behind the rows",
      text: `{"head":{"vars":[]},"results":{"bindings":[]},"x":[${repeated("[],", length)}1]}`,
    },
  ];
}

/** SPARQL Query Results XML. */
export function nastyResultsXml(length: number): readonly NastyText[] {
  const root = '<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="a"/></head><results>';
  const answer = (rows: string): string => `${root}${rows}</results></sparql>`;
  const row = '<result><binding name="a"><literal>v</literal></binding></result>';
  const cell = (value: string): string => answer(`<result><binding name="a">${value}</binding></result>`);
  return [
    { name: "elements in elements", text: answer(deep("", ["<result>", "", "</result>"], length).text) },
    { name: "many rows", text: answer(repeated(row, length)) },
    { name: "many empty rows", text: answer(repeated("<result/>", length)) },
    { name: "brackets in an attribute", text: cell(`<literal datatype="${repeated(">", length)}">v</literal>`) },
    {
      name: "many attributes",
      text: cell(`<literal ${list(length / 10, (index) => `a${index}="v"`, " ")}>v</literal>`),
    },
    { name: "a tag of letters", text: cell(`<literal a="b" ${repeated("a", length)}>v</literal>`) },
    { name: "many comments", text: cell(`<literal>${repeated("<!---->", length)}</literal>`) },
    { name: "many sections", text: cell(`<literal>${repeated("<![CDATA[]]>", length)}</literal>`) },
    { name: "references", text: cell(`<literal>${repeated("&#65;", length)}</literal>`) },
    { name: "carriage returns", text: cell(`<literal>${repeated("\r", length)}</literal>`) },
  ];
}

/** CSV and TSV. */
export function nastyRecords(length: number): readonly NastyText[] {
  return [
    { name: "empty quotes in one line", text: `a\n${repeated('"",', length)}` },
    { name: "doubled quotes", text: `a\n"${repeated('""', length)}"\n` },
    { name: "quotes inside fields", text: `a\n${repeated('a"', length)}\n` },
    { name: "short lines", text: `a\n${repeated("b\n", length)}` },
    { name: "short quoted lines", text: `a\n${repeated('"b"\n', length)}` },
    { name: "many columns", text: `${repeated("a,", length / 2)}\n${repeated("b,", length / 2)}\n` },
    { name: "many columns by tabs", text: `${repeated("?a\t", length / 2)}\n${repeated("1\t", length / 2)}\n` },
    { name: "digits", text: `?a\n${repeated("1", length)}x\n` },
    { name: "digits and a dot", text: `?a\n${repeated("1", length)}.${repeated("1", 10)}ex\n` },
    { name: "a long literal", text: `?a\n"${repeated("\\\\", length)}"@${repeated("a-", 100)}\n` },
    { name: "blank nodes", text: `?a\n_:${repeated("a.", length)}\n` },
  ];
}
