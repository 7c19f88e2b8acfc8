import type * as RDF from "@rdfjs/types";
import type { Bindings } from "./model.ts";
import { type Remark, remarkMember, remarkText } from "./remark.ts";
import { datatypeOf, safeLabel, termToText } from "./terms.ts";
import { isReadableTag, tagOf } from "../rdf/term-text.ts";
import { FedwayError } from "../errors/fedway-error.ts";

/** Writes one format as text; `open` comes first, `close` last, one `item` a row or triple in between. */
export interface ItemEncoder<T> {
  /** With the remark known so far, for formats that can say it before their items. */
  open(remark?: Remark): string;
  item(item: T): string;
  /** With the remark where `remarks` says so. */
  close(remark?: Remark): string;
  /** The format has a place for a remark: a comment, or a member that readers skip. */
  readonly remarks: boolean;
  /** The format lacks terms that answers may well have: `item` throws `NOT_ACCEPTABLE`, and the head waits for more than one item. */
  readonly refuses?: boolean;
}

/** Writes SELECT answers; `boolean` is there where the format has a form for ASK. */
export interface TupleSyntax {
  readonly rows: (variables: readonly string[]) => ItemEncoder<Bindings>;
  readonly boolean?: (value: boolean, remark?: Remark) => string;
}

/** Prefixes by namespace, which ends with "#" or "/" and needs no escaping. */
export type Prefixes = ReadonlyMap<string, string>;

/** Local names that need no escaping in any Turtle parser. */
const plainLocalName = /^[A-Za-z_](?:[\w.-]*[\w-])?$/;

const string = (value: string): string => JSON.stringify(value);

function literalToJson(literal: RDF.Literal): string {
  const value = `{"type":"literal","value":${string(literal.value)}`;
  if (literal.language !== "") {
    const direction = literal.direction ? `,"its:dir":${string(literal.direction)}` : "";
    return `${value},"xml:lang":${string(literal.language)}${direction}}`;
  }
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
  boolean: (value, remark) => `{"head":{}${remarkMember(remark)},"boolean":${value}}\n`,
  rows: (variables) => {
    const keys = variables.map((name): readonly [string, string] => [name, `${string(name)}:`]);
    let separator = "";
    let isSaid = false;
    return {
      // Before the rows where it is known: Oxigraph's reader takes no member behind them.
      open: (remark) => {
        isSaid = remark !== undefined;
        return `{"head":{"vars":${JSON.stringify(variables)}}${remarkMember(remark)},"results":{"bindings":[`;
      },
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
      close: (remark) => `\n]}${isSaid ? "" : remarkMember(remark)}}\n`,
      remarks: true,
    };
  },
};

/** Characters that XML 1.0 (production 2) cannot write; outside of literals they become U+FFFD. */
const notXml = /[\p{Cs}\ufffe\uffff]|(?![\t\n\r\u007f-\u009f])\p{Cc}/gu;
/** True if XML can hold the text as it is. */
export const isXmlText = (text: string): boolean => text.search(notXml) === -1;
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
export const xml = (text: string): string =>
  special.test(text)
    ? text.replaceAll(notXml, "\ufffd").replaceAll(/[&<>"'\t\n\r]/g, (character) => references[character]!)
    : text;

/** The error for an answer that a format cannot hold. */
export const unwritable = (what: string, format: string, others: string): FedwayError =>
  new FedwayError("NOT_ACCEPTABLE", `The answer has ${what}, which ${format} cannot hold.`, {
    next: `Ask for ${others}.`,
  });

/** @throws FedwayError `NOT_ACCEPTABLE` for a character that XML 1.0 cannot hold */
function literalToXml(literal: RDF.Literal): string {
  if (!isXmlText(literal.value)) {
    throw unwritable("a control character", "SPARQL XML", "application/sparql-results+json or text/csv");
  }
  const text = xml(literal.value);
  if (literal.language !== "") {
    const direction = literal.direction
      ? ` its:dir="${literal.direction}" its:version="2.0" xmlns:its="http://www.w3.org/2005/11/its"`
      : "";
    return `<literal xml:lang="${xml(literal.language)}"${direction}>${text}</literal>`;
  }
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

/** A remark as a comment on a line of its own. */
export const xmlRemark = (remark: Remark | undefined): string =>
  remark === undefined ? "" : `<!-- ${remarkText(remark).replaceAll(notXml, "\ufffd")} -->\n`;

const lineRemark = (remark: Remark | undefined): string => (remark === undefined ? "" : `# ${remarkText(remark)}\n`);

const xmlStart = '<?xml version="1.0" encoding="UTF-8"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n';

/** SPARQL Query Results XML Format. */
export const xmlSyntax: TupleSyntax = {
  boolean: (value, remark) => `${xmlStart}<head/>\n<boolean>${value}</boolean>\n${xmlRemark(remark)}</sparql>\n`,
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
      close: (remark) => `</results>\n${xmlRemark(remark)}</sparql>\n`,
      remarks: true,
    };
  },
};

/** The empty literal is written as `""`, to tell it from an unbound variable where the reader looks at quotes and there is more than one column. */
const csvField = (text: string): string =>
  text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

function termToCsv(term: RDF.Term): string {
  if (term.termType === "NamedNode" || term.termType === "Literal") return csvField(term.value);
  return csvField(termToText(term));
}

/** SPARQL 1.1 Query Results CSV (section 3): values without their types. */
export const csvSyntax: TupleSyntax = {
  rows: (variables) => {
    // Readers skip empty lines: pandas, and the DictReader of Python.
    const unbound = variables.length === 1 ? '""' : "";
    const cell = (term: RDF.Term | undefined): string => (term === undefined ? unbound : termToCsv(term));
    return {
      open: () => `${variables.map(csvField).join(",")}\r\n`,
      item: (row) => `${variables.map((name) => cell(row.get(name))).join(",")}\r\n`,
      close: () => "",
      remarks: false,
    };
  },
};

const termToTsv = (term: RDF.Term | undefined): string => (term === undefined ? "" : textOf(term));

/** SPARQL 1.1 Query Results TSV (section 4): terms in Turtle syntax. */
export const tsvSyntax: TupleSyntax = {
  rows: (variables) => ({
    open: () => `${variables.map((name) => `?${name}`).join("\t")}\n`,
    item: (row) => `${variables.map((name) => termToTsv(row.get(name))).join("\t")}\n`,
    close: () => "",
    remarks: false,
  }),
};

/** @throws FedwayError `NOT_ACCEPTABLE` for a language that would end the term, or be read as more than one */
function textOf(term: RDF.Term): string {
  const last = lastOf(term);
  if (last.termType === "Literal" && last.language !== "" && !isReadableTag(tagOf(last))) {
    const what = `the language ${JSON.stringify(last.language.slice(0, 100))}`;
    throw unwritable(what, "this format", "application/sparql-results+json or application/ld+json");
  }
  return termToText(term);
}

/** The term, or the one place in a triple term where a literal may stand. */
const lastOf = (term: RDF.Term): RDF.Term => (term.termType === "Quad" ? lastOf(term.object) : term);

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** RDF 1.1 N-Triples. */
export function createNTriplesEncoder(): ItemEncoder<RDF.Quad> {
  return {
    open: () => "",
    item: ({ subject, predicate, object }) => `${textOf(subject)} ${textOf(predicate)} ${textOf(object)} .\n`,
    close: lineRemark,
    remarks: true,
  };
}

/** RDF 1.1 Turtle without prefixes; neighbours with the same subject and predicate share them. */
export function createTurtleEncoder(prefixes: Prefixes = new Map()): ItemEncoder<RDF.Quad> {
  let subject = "";
  let predicate = "";
  const written = (term: RDF.Term): string => {
    if (term.termType !== "NamedNode" || prefixes.size === 0) return textOf(term);
    const end = Math.max(term.value.lastIndexOf("#"), term.value.lastIndexOf("/")) + 1;
    const prefix = prefixes.get(term.value.slice(0, end));
    const local = term.value.slice(end);
    return prefix !== undefined && plainLocalName.test(local) ? `${prefix}:${local}` : termToText(term);
  };
  const start = (quad: RDF.Quad): string => {
    const nextSubject = written(quad.subject);
    const nextPredicate = quad.predicate.value === rdfType ? "a" : written(quad.predicate);
    const sameSubject = nextSubject === subject;
    const samePredicate = sameSubject && nextPredicate === predicate;
    const closer = subject === "" ? "" : " .\n";
    subject = nextSubject;
    predicate = nextPredicate;
    if (samePredicate) return ", ";
    return sameSubject ? ` ;\n  ${predicate} ` : `${closer}${subject} ${predicate} `;
  };
  return {
    open: () => Array.from(prefixes, ([namespace, prefix]) => `@prefix ${prefix}: <${namespace}> .\n`).join(""),
    item: (quad) => start(quad) + written(quad.object),
    close: (remark) => (subject === "" ? "" : " .\n") + lineRemark(remark),
    remarks: true,
  };
}

const nodeId = (term: RDF.Term): string =>
  string(term.termType === "BlankNode" ? `_:${safeLabel(term.value)}` : term.value);

function objectToJsonLd(term: RDF.Term): string {
  if (term.termType !== "Literal") return `{"@id":${nodeId(term)}}`;
  const value = `{"@value":${string(term.value)}`;
  if (term.language !== "") {
    const direction = term.direction ? `,"@direction":${string(term.direction)}` : "";
    return `${value},"@language":${string(term.language)}${direction}}`;
  }
  const datatype = datatypeOf(term);
  return datatype === undefined ? `${value}}` : `${value},"@type":${string(datatype)}}`;
}

/** More predicates than this in one node object start another one, so that memory stays bounded. */
const maxPredicates = 1000;

/**
 * JSON-LD 1.1 in expanded form. Neighbours with the same subject share a node object; a predicate that comes back
 * later in the same object would be a repeated JSON key, so it starts another object.
 */
export function createJsonLdEncoder(): ItemEncoder<RDF.Quad> {
  let node = "";
  let key = "";
  let used = new Set<string>();
  const start = (quad: RDF.Quad): string => {
    const nextNode = nodeId(quad.subject);
    const nextKey = string(quad.predicate.value);
    if (nextNode === node && nextKey === key) return ",";
    const sameNode = nextNode === node && !used.has(nextKey) && used.size < maxPredicates;
    const closer = node === "" ? "\n" : "]},\n";
    key = nextKey;
    if (sameNode) {
      used.add(key);
      return `],${key}:[`;
    }
    node = nextNode;
    used = new Set([key]);
    return `${closer}{"@id":${node},${key}:[`;
  };
  return {
    open: () => "[",
    item: (quad) => {
      if (quad.subject.termType === "Quad" || quad.object.termType === "Quad") {
        throw new FedwayError("NOT_ACCEPTABLE", "The answer has triple terms, which JSON-LD 1.1 cannot hold.", {
          next: "Ask for text/turtle or application/n-triples.",
        });
      }
      return start(quad) + objectToJsonLd(quad.object);
    },
    // A node without an IRI among its keys, of which JSON-LD makes no triple.
    close(remark) {
      const said = remarkMember(remark);
      return `${node === "" ? "" : "]}\n"}${said === "" ? "" : `${node === "" ? "" : ","}{${said.slice(1)}}\n`}]\n`;
    },
    remarks: true,
    refuses: true,
  };
}
