import type * as RDF from "@rdfjs/types";
import type { ItemEncoder } from "./encoder.ts";
import type { Bindings } from "./model.ts";
import { datatypeOf, safeLabel, termToText } from "./terms.ts";

/** Writes SELECT answers; `boolean` is there where the format has a form for ASK. */
export interface TupleSyntax {
  readonly rows: (variables: readonly string[]) => ItemEncoder<Bindings>;
  readonly boolean?: (value: boolean) => string;
}

const string = (value: string): string => JSON.stringify(value);

function literalToJson(literal: RDF.Literal): string {
  const value = `{"type":"literal","value":${string(literal.value)}`;
  if (literal.language !== "") return `${value},"xml:lang":${string(literal.language)}}`;
  const datatype = datatypeOf(literal);
  return datatype === undefined ? `${value}}` : `${value},"datatype":${string(datatype)}}`;
}

function termToJson(term: RDF.Term): string {
  switch (term.termType) {
    case "NamedNode":
      return `{"type":"uri","value":${string(term.value)}}`;
    case "Literal":
      return literalToJson(term);
    case "BlankNode":
      return `{"type":"bnode","value":${string(term.value)}}`;
    case "Quad": {
      const [subject, predicate, object] = [term.subject, term.predicate, term.object].map(termToJson);
      return `{"type":"triple","value":{"subject":${subject},"predicate":${predicate},"object":${object}}}`;
    }
    default:
      throw new TypeError(`A ${term.termType} is no result.`);
  }
}

/** SPARQL 1.1 Query Results JSON Format. */
export const jsonSyntax: TupleSyntax = {
  boolean: (value) => `{"head":{},"boolean":${value}}\n`,
  rows: (variables) => {
    const keys = variables.map((name): readonly [string, string] => [name, `${string(name)}:`]);
    let separator = "";
    return {
      open: () => `{"head":{"vars":${JSON.stringify(variables)}},"results":{"bindings":[`,
      item: (row) => {
        let cells = "";
        for (const [name, key] of keys) {
          const term = row.get(name);
          if (term !== undefined) cells += `${cells === "" ? "" : ","}${key}${termToJson(term)}`;
        }
        const text = `${separator}\n{${cells}}`;
        separator = ",";
        return text;
      },
      close: () => "\n]}}\n",
    };
  },
};

/** What XML 1.0 (production 2) has no way to write; it becomes U+FFFD. */
const notXml = /[\p{Cs}\ufffe\uffff]|(?![\t\n\r\u007f-\u009f])\p{Cc}/gu;
const special = /[&<>"'\t\n\r\p{Cc}\p{Cs}\ufffe\uffff]/u;
const references: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** Text for element content and attribute values alike. */
const xml = (text: string): string =>
  special.test(text)
    ? text.replaceAll(notXml, "\ufffd").replaceAll(/[&<>"'\t\n\r]/g, (character) => references[character]!)
    : text;

function literalToXml(literal: RDF.Literal): string {
  const text = xml(literal.value);
  if (literal.language !== "") return `<literal xml:lang="${xml(literal.language)}">${text}</literal>`;
  const datatype = datatypeOf(literal);
  return datatype === undefined
    ? `<literal>${text}</literal>`
    : `<literal datatype="${xml(datatype)}">${text}</literal>`;
}

function termToXml(term: RDF.Term): string {
  switch (term.termType) {
    case "NamedNode":
      return `<uri>${xml(term.value)}</uri>`;
    case "Literal":
      return literalToXml(term);
    case "BlankNode":
      return `<bnode>${xml(safeLabel(term.value))}</bnode>`;
    case "Quad": {
      const [subject, predicate, object] = [term.subject, term.predicate, term.object].map(termToXml);
      return `<triple><subject>${subject}</subject><predicate>${predicate}</predicate><object>${object}</object></triple>`;
    }
    default:
      throw new TypeError(`A ${term.termType} is no result.`);
  }
}

const xmlStart = '<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n';

/** SPARQL Query Results XML Format. */
export const xmlSyntax: TupleSyntax = {
  boolean: (value) => `${xmlStart}<head/>\n<boolean>${value}</boolean>\n</sparql>\n`,
  rows: (variables) => {
    const tags = variables.map((name): readonly [string, string] => [name, `<binding name="${xml(name)}">`]);
    return {
      open: () =>
        `${xmlStart}<head>${variables.map((name) => `<variable name="${xml(name)}"/>`).join("")}</head>\n<results>\n`,
      item: (row) => {
        let cells = "";
        for (const [name, tag] of tags) {
          const term = row.get(name);
          if (term !== undefined) cells += `${tag}${termToXml(term)}</binding>`;
        }
        return `<result>${cells}</result>\n`;
      },
      close: () => "</results>\n</sparql>\n",
    };
  },
};

/** The empty literal is written as `""`, to tell it from an unbound variable where the reader looks at quotes. */
const csvField = (text: string): string =>
  text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

function termToCsv(term: RDF.Term | undefined): string {
  if (term === undefined) return "";
  if (term.termType === "NamedNode" || term.termType === "Literal") return csvField(term.value);
  return csvField(termToText(term));
}

/** SPARQL 1.1 Query Results CSV (section 3): values without their types. */
export const csvSyntax: TupleSyntax = {
  rows: (variables) => ({
    open: () => `${variables.map(csvField).join(",")}\r\n`,
    item: (row) => `${variables.map((name) => termToCsv(row.get(name))).join(",")}\r\n`,
    close: () => "",
  }),
};

const termToTsv = (term: RDF.Term | undefined): string => (term === undefined ? "" : termToText(term));

/** SPARQL 1.1 Query Results TSV (section 4): terms in Turtle syntax. */
export const tsvSyntax: TupleSyntax = {
  rows: (variables) => ({
    open: () => `${variables.map((name) => `?${name}`).join("\t")}\n`,
    item: (row) => `${variables.map((name) => termToTsv(row.get(name))).join("\t")}\n`,
    close: () => "",
  }),
};
