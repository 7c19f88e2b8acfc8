import { Readable } from "node:stream";
import oxigraph from "oxigraph";
import { SparqlXmlParser } from "sparqlxml-parse";
import {
  bindingsAnswer,
  type CanonicalAnswer,
  canonicalLiteral,
  canonicalRow,
  canonicalTerm,
  canonicalText,
  graphAnswer,
} from "./canonical-answer.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";

/** An answer body in a form that engines can be compared in; strict about the syntax of its media type. */
export async function readAnswer(response: Response): Promise<CanonicalAnswer> {
  const type = (response.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "";
  const body = await response.text();
  if (response.status !== 200) throw new Error(`status ${response.status}: ${body.slice(0, 2_000)}`);
  const read = readers[type];
  if (!read) throw new Error(`no reader for ${type}: ${body.slice(0, 500)}`);
  return read(body);
}

const readers: Readonly<Record<string, (body: string) => CanonicalAnswer | Promise<CanonicalAnswer>>> = {
  "application/sparql-results+json": readJson,
  "application/sparql-results+xml": readXml,
  "text/csv": readCsv,
  "text/tab-separated-values": readTsv,
  "text/turtle": (body) => readGraph(body, "ttl"),
  "application/n-triples": (body) => readGraph(body, "nt"),
  "application/ld+json": (body) => readGraph(body, "jsonld"),
};

/** Virtuoso writes the boolean true as 1 in JSON; both are the same value (XML Schema 1.1, part 2, section 3.3.2). */
const booleans: Readonly<Record<string, string>> = { "1": "true", "0": "false" };

interface JsonTerm {
  readonly type: string;
  readonly value: string;
  readonly datatype?: string;
  readonly "xml:lang"?: string;
}

interface JsonAnswer {
  readonly boolean?: boolean;
  readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] };
}

function readJson(body: string): CanonicalAnswer {
  const json: JsonAnswer = JSON.parse(body);
  if (json.boolean !== undefined) return { kind: "boolean", value: json.boolean };
  if (!json.results) throw new Error(`neither boolean nor results: ${body.slice(0, 500)}`);
  const rows = json.results.bindings.map((row) =>
    canonicalRow(Object.entries(row).map(([name, term]) => [name, jsonTerm(term)] as const)),
  );
  return bindingsAnswer(rows, false);
}

function jsonTerm({ type, value, datatype = "", "xml:lang": language = "" }: JsonTerm): string {
  if (type === "uri") return `<${value}>`;
  if (type === "bnode") return "_:";
  if (type !== "literal" && type !== "typed-literal") throw new Error(`a JSON term of type ${type}`);
  return literal(value, language, datatype);
}

const literal = (value: string, language: string, datatype: string): string =>
  canonicalLiteral({
    value: datatype === `${XSD}boolean` ? (booleans[value] ?? value) : value,
    language,
    datatype,
  });

async function readXml(body: string): Promise<CanonicalAnswer> {
  const parser = new SparqlXmlParser();
  if (/<boolean>/u.test(body)) {
    return { kind: "boolean", value: await parser.parseXmlBooleanStream(Readable.from([body])) };
  }
  const rows: string[] = [];
  for await (const row of parser.parseXmlResultsStream(Readable.from([body]))) {
    const terms: Readonly<Record<string, oxigraph.Term>> = Object(row);
    rows.push(canonicalRow(Object.entries(terms).map(([name, term]) => [name, termText(term)] as const)));
  }
  return bindingsAnswer(rows, false);
}

const termText = (term: oxigraph.Term): string =>
  term.termType === "Literal" ? literal(term.value, term.language, term.datatype.value) : canonicalTerm(term);

/** CSV has no term types (SPARQL 1.1 Query Results CSV and TSV Formats, section 3): cells are compared as text. */
function readCsv(body: string): CanonicalAnswer {
  const [names = [], ...records] = csvRecords(body);
  const rows = records.map((cells) =>
    canonicalRow(names.map((name, column) => [name, csvCell(cells[column] ?? "")] as const)),
  );
  return bindingsAnswer(rows, false);
}

function csvRecords(body: string): readonly (readonly string[])[] {
  const records: string[][] = [];
  let record: string[] = [];
  for (const [, quoted, plain, end] of body.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gu)) {
    if (quoted === undefined && plain === "" && end === "" && record.length === 0) continue;
    record.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
}

/** Numbers by value, any blank node as `_:`. */
function csvCell(text: string): string {
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u.test(text)) return String(Number(text));
  return text.startsWith("_:") ? "_:" : text;
}

/** TSV, strictly: variables with `?`, terms in Turtle syntax without line breaks (same document, section 4). */
function readTsv(body: string): CanonicalAnswer {
  const lines = body.replace(/\r?\n$/u, "").split(/\r?\n/u);
  const names = (lines[0] ?? "").split("\t");
  for (const name of names) if (!/^\?\w+$/u.test(name)) throw new Error(`not the name of a TSV column: ${name}`);
  const rows = lines.slice(1).map((line) => {
    const cells = line.split("\t");
    if (cells.length !== names.length) throw new Error(`a TSV line of ${cells.length} cells: ${line}`);
    const bound = names.flatMap((name, column) => {
      const cell = cells[column] ?? "";
      return cell === "" ? [] : [[name.slice(1), tsvTerm(cell)] as const];
    });
    return canonicalRow(bound);
  });
  return bindingsAnswer(rows, false);
}

function tsvTerm(cell: string): string {
  const isTerm = /^(?:<[^<>"\s]*>|_:\S+|".*"(?:@[\w-]+|\^\^<[^<>\s]*>)?|true|false|[+-]?[\d.]+(?:[eE][+-]?\d+)?)$/u;
  if (!isTerm.test(cell)) throw new Error(`not a TSV term: ${cell}`);
  return canonicalText(cell.replace(/^"([01])"(?=\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#boolean>)/u, booleanText));
}

const booleanText = (_: string, digit: string): string => `"${booleans[digit] ?? digit}"`;

function readGraph(body: string, format: "ttl" | "nt" | "jsonld"): CanonicalAnswer {
  const quads = oxigraph.parse(body, { format, base_iri: "http://example.org/base" });
  return graphAnswer(
    quads.map(({ subject, predicate, object }) => [subject, predicate, object].map(termText).join(" ")),
  );
}

/** Cells of `POST /api/query` as an answer. */
export function readTable(columns: readonly string[], rows: readonly (readonly (string | null)[])[]): CanonicalAnswer {
  const lines = rows.map((row) =>
    canonicalRow(
      columns.flatMap((name, column) => {
        const cell = row[column];
        return cell === null || cell === undefined ? [] : [[name, tsvTerm(cell)] as const];
      }),
    ),
  );
  return bindingsAnswer(lines, false);
}
