import { itemAt } from "../../values.ts";
import { resolveReference } from "../../rdf/resolve-reference.ts";
import { iriText } from "../../rdf/term-text.ts";
import { isWord, type Token } from "./tokens.ts";

/** BASE and PREFIX declarations of a query, resolved (SPARQL 1.1 Query, section 4.1.1). */
export class Prologue {
  /** Prefix with its colon to namespace IRI. */
  readonly prefixes: ReadonlyMap<string, string>;
  /** Base IRI behind the prologue; undefined when none is declared. */
  readonly base: string | undefined;
  /** Number of tokens of the prologue. */
  readonly length: number;

  constructor(prefixes: ReadonlyMap<string, string>, base?: string, length = 0) {
    this.prefixes = prefixes;
    this.base = base;
    this.length = length;
  }

  /** The absolute IRI that an `iri` or `pname` token of a valid query stands for. */
  iriOf({ kind, text }: Token): string {
    if (kind !== "pname") return resolve(text.slice(1, -1), this.base);
    const colon = text.indexOf(":") + 1;
    return `${this.prefixes.get(text.slice(0, colon)) ?? ""}${text.slice(colon).replaceAll(/\\(.)/g, "$1")}`;
  }

  /** An absolute IRI with a prefix that is declared, else in full. */
  written(iri: string): string {
    for (const [prefix, namespace] of this.prefixes) {
      const local = iri.slice(namespace.length);
      if (namespace !== "" && iri.startsWith(namespace) && plainLocal.test(local)) return prefix + local;
    }
    return iriText(iri);
  }
}

const plainLocal = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$/;

/** As it is written where there is nothing to resolve it against. */
const resolve = (reference: string, base: string | undefined): string => resolveReference(reference, base) ?? reference;

/** Index of the first token behind BASE, PREFIX and VERSION declarations. */
export function afterPrologue(tokens: readonly Token[]): number {
  let at = 0;
  while (isWord(tokens[at], "BASE", "PREFIX") || isVersion(tokens, at)) at += isWord(tokens[at], "PREFIX") ? 3 : 2;
  return Math.min(at, tokens.length);
}

/** VERSION and a string in single quotation marks (SPARQL 1.2 Query, production 7). */
const isVersion = (tokens: readonly Token[], at: number): boolean =>
  isWord(tokens[at], "VERSION") && /^(?:"(?!"")|'(?!''))/u.test(tokens[at + 1]?.text ?? "");

/** The declarations of names, without that of a version, which endpoints of SPARQL 1.1 refuse. */
export function declarationsOf(text: string, tokens: readonly Token[]): string {
  let declarations = "";
  let from = 0;
  const end = afterPrologue(tokens);
  for (let at = 0; at < end; at++) {
    if (!isVersion(tokens, at)) continue;
    declarations += text.slice(from, itemAt(tokens, at).start);
    from = itemAt(tokens, at + 1).end;
  }
  return declarations + text.slice(from, itemAt(tokens, end).start);
}

/** The declarations of a query that the parser accepted; each is resolved against the BASE before it. */
export function readPrologue(tokens: readonly Token[]): Prologue {
  const prefixes = new Map<string, string>();
  const length = afterPrologue(tokens);
  let base: string | undefined;
  for (let at = 0; at < length; ) {
    if (isVersion(tokens, at)) {
      at += 2;
      continue;
    }
    const isBase = isWord(tokens[at], "BASE");
    const iri = resolve(itemAt(tokens, at + (isBase ? 1 : 2)).text.slice(1, -1), base);
    if (isBase) base = iri;
    else prefixes.set(itemAt(tokens, at + 1).text, iri);
    at += isBase ? 2 : 3;
  }
  return new Prologue(prefixes, base, length);
}

/** Local names by prefix (without its colon) that a text uses without declaring it. */
export function undeclaredPrefixes(tokens: readonly Token[]): ReadonlyMap<string, ReadonlySet<string>> {
  const declared = new Set(
    tokens.filter((_, at) => isWord(tokens[at - 1], "PREFIX")).map(({ text }) => text.slice(0, -1)),
  );
  const missing = new Map<string, Set<string>>();
  for (const { kind, text } of tokens) {
    if (kind !== "pname") continue;
    const colon = text.indexOf(":");
    const prefix = text.slice(0, colon);
    if (declared.has(prefix)) continue;
    const locals = missing.get(prefix) ?? new Set();
    missing.set(prefix, locals.add(text.slice(colon + 1).replaceAll(/\\(.)/g, "$1")));
  }
  return missing;
}
