import type * as RDF from "@rdfjs/types";
import { type AnswerHead, createUtf8Reader, malformed, variablesOf } from "./answer-reader.ts";
import type { Bindings } from "./model.ts";
import type { XmlReader } from "./read-xml.ts";
import { blankNodeFromLabel, literalFromCell, nodeFromIri, tripleFromParts } from "./terms.ts";
import { XmlEncoding } from "./xml-encoding.ts";

const maxAttributes = 64;
const noAttributes: ReadonlyMap<string, string> = new Map();

const broken = (what: string): Error => malformed(`The endpoint's XML answer is malformed: ${what}`);

/** A triple term under construction. */
interface TripleParts {
  role: string;
  readonly parts: Map<string, RDF.Term>;
}

/**
 * Makes rows, with `triple` as in SPARQL 1.2, of the text up to where a reader has found that elements of the upper levels end. No
 * document type declarations, no entities beside the five predefined ones; elements are recognised under any prefix.
 */
export class XmlRows {
  head: AnswerHead | undefined;
  readonly #reader: XmlReader;
  readonly #encoding = new XmlEncoding();
  readonly #utf8 = createUtf8Reader("XML");
  /** Text behind the last element that was read. */
  #rest = "";
  /** The open elements, outermost first; names with their prefixes. */
  readonly #open: string[] = [];
  /** Name of the element below the root. */
  #part = "";
  readonly #triples: TripleParts[] = [];
  #headSeen = false;
  #rows: Bindings[] = [];
  #rowCount = 0;
  #row = new Map<string, RDF.Term>();
  #name = "";
  #text = "";
  #attributes = noAttributes;

  constructor(reader: XmlReader) {
    this.#reader = reader;
  }

  read(received: Uint8Array): readonly Bindings[] {
    return this.#take(this.#encoding.toUtf8(received));
  }

  #take(bytes: Uint8Array): readonly Bindings[] {
    this.#reader.push(bytes);
    const { fault, soundTo } = this.#reader;
    if (fault !== undefined) throw broken(fault);
    const text = this.#rest + this.#utf8.read(bytes.subarray(0, soundTo));
    const rest = this.#utf8.read(bytes.subarray(soundTo));
    this.#rest = soundTo === 0 ? text + rest : rest;
    return soundTo === 0 ? [] : this.#read(text);
  }

  finish(): readonly Bindings[] {
    const last = this.#take(this.#encoding.end());
    const verdict = this.#reader.end();
    if (!verdict.complete) throw broken(verdict.detail ?? "");
    const rows = this.#read(this.#rest + this.#utf8.end());
    if (this.head === undefined) throw broken("it has neither results nor boolean.");
    return last.length === 0 ? rows : [...last, ...rows];
  }

  #read(text: string): readonly Bindings[] {
    this.#rows = [];
    for (let at = 0; at < text.length; ) {
      const found = text.indexOf("<", at);
      const start = found < 0 ? text.length : found;
      if (start > at) this.#append(characterData(text.slice(at, start)));
      at = found < 0 ? start : this.#markup(text, start);
    }
    return this.#rows;
  }

  /** Gives the index behind the markup that begins at `start`. */
  #markup(text: string, start: number): number {
    const second = text[start + 1];
    if (second === "?") return behind(text, "?>", start + 2);
    if (second === "!") return this.#commentOrData(text, start);
    const end = endOfTag(text, start + 1);
    if (second === "/") this.#closeTag(text.slice(start + 2, end).trim());
    else this.#openTag(text.slice(start + 1, end));
    return end + 1;
  }

  #commentOrData(text: string, start: number): number {
    if (text.startsWith("<!--", start)) return behind(text, "-->", start + 4);
    if (!text.startsWith("<![CDATA[", start)) throw broken("document type declarations are not read.");
    const end = behind(text, "]]>", start + 9);
    this.#append(text.slice(start + 9, end - 3));
    return end;
  }

  #append(text: string): void {
    if (this.#open.length > 1) this.#text += text;
  }

  #openTag(tag: string): void {
    const qualified = /^[^\s/]+/.exec(tag)?.[0] ?? "";
    const name = localName(qualified);
    if (name === "") throw broken("a tag has no name.");
    this.#attributes = attributesOf(tag.slice(qualified.length));
    this.#text = "";
    const depth = this.#open.length;
    if (depth === 1) this.#openPart(name);
    else if (depth === 2) this.#openInPart(name);
    else if (depth === 3 && name === "binding") this.#name = this.#bindingName();
    else if (depth > 3) this.#openTerm(name);
    this.#open.push(qualified);
    if (tag.endsWith("/")) this.#closeTag(qualified);
  }

  #openPart(name: string): void {
    this.#part = name;
    if (name === "head") this.#headSeen = true;
    if (name === "results") {
      if (!this.#headSeen) throw broken("its results come before its head.");
      this.head = { variables: variablesOf(this.#reader.variables ?? []) };
    }
  }

  #openInPart(name: string): void {
    if (name === "result") this.#row = new Map();
  }

  #openTerm(name: string): void {
    if (name === "triple") this.#triples.push({ role: "", parts: new Map() });
    const triple = this.#triples.at(-1);
    if (triple !== undefined && (name === "subject" || name === "predicate" || name === "object")) triple.role = name;
  }

  #closeTag(qualified: string): void {
    if (this.#open.pop() !== qualified) throw broken("its tags do not match.");
    const name = localName(qualified);
    const depth = this.#open.length;
    if (depth === 1 && name === "boolean") this.#boolean();
    else if (depth === 2 && name === "result") this.#closeRow();
    else if (depth > 3) this.#closeTerm(name);
    this.#text = "";
  }

  #boolean(): void {
    const value = this.#text.trim();
    if (value !== "true" && value !== "false") throw broken("its boolean is neither true nor false.");
    this.head = { boolean: value === "true" };
  }

  #closeRow(): void {
    this.#rowCount += 1;
    if (this.#part === "results") this.#rows.push(this.#row);
  }

  #closeTerm(name: string): void {
    if (name === "subject" || name === "predicate" || name === "object") return;
    const term = this.#term(name);
    const triple = this.#triples.at(-1);
    if (triple === undefined) this.#row.set(this.#name, term);
    else triple.parts.set(triple.role, term);
  }

  #literal(): RDF.Literal {
    const literal = literalFromCell({
      value: this.#text,
      language: this.#attributes.get("xml:lang") ?? this.#attributes.get("lang"),
      direction: this.#attributes.get("its:dir"),
      datatype: this.#attributes.get("datatype"),
    });
    if (literal === undefined) throw broken(`row ${this.#rowCount + 1} has an invalid base direction.`);
    return literal;
  }

  #term(name: string): RDF.Term {
    switch (name) {
      case "uri":
        return nodeFromIri(this.#text.trim());
      case "bnode":
        return blankNodeFromLabel(this.#text.trim());
      case "literal":
        return this.#literal();
      case "triple":
        return this.#closeTriple();
      default:
        throw broken(`row ${this.#rowCount + 1} has an unknown kind of term for ?${this.#name.slice(0, 50)}.`);
    }
  }

  #closeTriple(): RDF.Term {
    const parts = this.#triples.pop()?.parts;
    const [subject, predicate, object] = ["subject", "predicate", "object"].map((role) => parts?.get(role));
    const triple = subject && predicate && object ? tripleFromParts(subject, predicate, object) : undefined;
    if (triple === undefined) throw broken(`row ${this.#rowCount + 1} has a triple that is not whole.`);
    return triple;
  }

  #bindingName(): string {
    const name = this.#attributes.get("name");
    if (name === undefined) throw broken(`row ${this.#rowCount + 1} has a binding without a name.`);
    return name;
  }
}

const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

function behind(text: string, closer: string, from: number): number {
  const found = text.indexOf(closer, from);
  if (found < 0) throw broken("it ends inside markup.");
  return found + closer.length;
}

/** A bracket inside a quoted value does not end the tag. */
function endOfTag(text: string, from: number): number {
  let at = from;
  for (; text[at] !== ">"; at += 1) {
    if (at === text.length) throw broken("it ends inside markup.");
    const quote = text[at]!;
    if (quote === '"' || quote === "'") at = behind(text, quote, at + 1) - 1;
  }
  return at;
}

const attribute = /\s*([^\s=/"']+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;

/** The first piece that is no attribute ends the list: each part of the tag is looked at once. */
function attributesOf(tag: string): ReadonlyMap<string, string> {
  if (!tag.includes("=")) return noAttributes;
  const attributes = new Map<string, string>();
  attribute.lastIndex = 0;
  for (let found = attribute.exec(tag); found !== null; found = attribute.exec(tag)) {
    const [, name = "", double, single] = found;
    attributes.set(name, characterData(double ?? single ?? ""));
    if (attributes.size > maxAttributes) throw broken("a tag has too many attributes.");
  }
  return attributes;
}

const predefined: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

/** References resolved, line ends as the XML recommendation wants them (section 2.11). */
function characterData(raw: string): string {
  const text = raw.includes("\r") ? raw.replaceAll(/\r\n?/g, "\n") : raw;
  if (!text.includes("&")) return text;
  return text.replaceAll(/&(?:(?:#x[0-9a-fA-F]{1,6}|#\d{1,7}|\w{1,8});)?/g, resolveReference);
}

function resolveReference(reference: string): string {
  const name = reference.slice(1, -1);
  const text = predefined.get(name);
  if (text !== undefined) return text;
  const code = name.startsWith("#x") ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  if (!isCharacter) throw broken("it holds a reference that XML does not define.");
  return String.fromCodePoint(code);
}
