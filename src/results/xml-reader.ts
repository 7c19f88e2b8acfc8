import { createUtf8Reader, malformed } from "./decoder.ts";

/** Receives the parts of an XML document; names come without their prefix. */
export interface XmlHandler {
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  close(name: string): void;
  /** Character data with references resolved; one run of text may come in several pieces. */
  text(text: string): void;
}

const maxDepth = 64;
const noAttributes: ReadonlyMap<string, string> = new Map();
const predefined: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

const broken = (what: string): Error => malformed(`The endpoint's XML answer is malformed: ${what}.`);

function resolveReference(reference: string): string {
  const name = reference.slice(1, -1);
  const text = predefined.get(name);
  if (text !== undefined) return text;
  const code = name.startsWith("#x") ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  if (!isCharacter) throw broken("it holds a reference that XML does not define");
  return String.fromCodePoint(code);
}

/** References resolved, line ends as the XML recommendation wants them (section 2.11). */
function characterData(raw: string): string {
  const text = raw.includes("\r") ? raw.replaceAll(/\r\n?/g, "\n") : raw;
  if (!text.includes("&")) return text;
  return text.replaceAll(/&(?:(?:#x[0-9a-fA-F]{1,6}|#\d{1,7}|\w{1,8});)?/g, resolveReference);
}

const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

const attribute = /\s*([^\s=/"']+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const maxAttributes = 64;

/** What is no attribute ends the list: each part of the tag is looked at once. */
function attributesOf(tag: string): ReadonlyMap<string, string> {
  if (!tag.includes("=")) return noAttributes;
  const attributes = new Map<string, string>();
  attribute.lastIndex = 0;
  for (let found = attribute.exec(tag); found !== null; found = attribute.exec(tag)) {
    const [, name = "", double, single] = found;
    attributes.set(name, characterData(double ?? single ?? ""));
    if (attributes.size > maxAttributes) throw broken("a tag has too many attributes");
  }
  return attributes;
}

/**
 * A small XML reader for result documents: no document type declarations, no entities beside the five predefined
 * ones, at most 64 levels. Unlike a general parser it is bounded and recognises elements under any prefix.
 */
export class XmlReader {
  readonly #handler: XmlHandler;
  readonly #utf8 = createUtf8Reader("XML");
  readonly #open: string[] = [];
  #rest = "";
  /** Where the search for the end of the current piece goes on, and the quote that is open there. */
  #searched = 0;
  #quote = "";
  #rootSeen = false;

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  push(bytes: Uint8Array): void {
    this.#rest += this.#utf8.read(bytes);
    this.#consume();
  }

  /** @throws FedwayError when the document is not closed */
  end(): void {
    this.#rest += this.#utf8.end();
    this.#consume();
    if (!this.#rootSeen) throw broken("it has no root element");
    if (this.#open.length > 0) throw broken("it ends before its root element is closed");
    if (this.#rest.trim() !== "") throw broken("it ends inside markup");
  }

  #consume(): void {
    let at = 0;
    for (;;) {
      const next = this.#piece(at);
      if (next < 0) break;
      at = next;
    }
    this.#rest = this.#rest.slice(at);
    this.#searched = Math.max(0, this.#searched - at);
  }

  /** Handles the piece at `from` and gives the index behind it; -1 while its end is not there. */
  #piece(from: number): number {
    const rest = this.#rest;
    const start = rest.indexOf("<", from);
    if (start < 0) return -1;
    if (start > from) this.#text(rest.slice(from, start));
    const second = rest[start + 1];
    if (second === undefined) return start > from ? start : -1;
    const end = this.#endOfMarkup(start, second);
    if (end >= 0) return end;
    return start > from ? start : -1;
  }

  #endOfMarkup(start: number, second: string): number {
    const rest = this.#rest;
    if (second === "?") return this.#after("?>", start);
    if (second !== "!") return this.#tag(start);
    if (rest.startsWith("<!--", start)) return this.#after("-->", start + 4);
    if (rest.startsWith("<![CDATA[", start)) {
      const end = this.#after("]]>", start + 9);
      if (end >= 0) this.#handler.text(rest.slice(start + 9, end - 3));
      return end;
    }
    if ("<!--".startsWith(rest.slice(start)) || "<![CDATA[".startsWith(rest.slice(start))) return -1;
    throw broken("document type declarations are not read");
  }

  #after(closer: string, from: number): number {
    const found = this.#rest.indexOf(closer, Math.max(from, this.#searched - closer.length));
    this.#searched = found < 0 ? this.#rest.length : 0;
    return found < 0 ? -1 : found + closer.length;
  }

  #tag(start: number): number {
    const rest = this.#rest;
    const end = this.#endOfTag(start);
    if (end < 0) return -1;
    if (rest[start + 1] === "/") this.#closeTag(rest.slice(start + 2, end).trim());
    else this.#openTag(rest.slice(start + 1, end));
    return end + 1;
  }

  /** A bracket inside a quoted value does not end the tag. */
  #endOfTag(start: number): number {
    const rest = this.#rest;
    for (let at = Math.max(start, this.#searched); at < rest.length; at += 1) {
      const character = rest[at]!;
      if (this.#quote !== "") {
        if (character === this.#quote) this.#quote = "";
      } else if (character === ">") {
        this.#searched = 0;
        return at;
      } else if (character === '"' || character === "'") this.#quote = character;
    }
    this.#searched = rest.length;
    return -1;
  }

  #openTag(tag: string): void {
    if (this.#open.length === 0 && this.#rootSeen) throw broken("there is text after its end");
    if (this.#open.length === maxDepth) throw broken("it is nested too deeply");
    this.#rootSeen = true;
    const qualified = /^[^\s/]+/.exec(tag)?.[0] ?? "";
    const name = localName(qualified);
    if (name === "") throw broken("a tag has no name");
    this.#handler.open(name, attributesOf(tag.slice(qualified.length)));
    if (tag.endsWith("/")) this.#handler.close(name);
    else this.#open.push(qualified);
  }

  #closeTag(qualified: string): void {
    if (this.#open.pop() !== qualified) throw broken("its tags do not match");
    this.#handler.close(localName(qualified));
  }

  #text(raw: string): void {
    if (this.#open.length > 0) this.#handler.text(characterData(raw));
    else if (raw.trim() !== "") throw broken(this.#rootSeen ? "there is text after its end" : "it is not XML");
  }
}
