import type { FedwayError } from "../../errors/fedway-error.ts";
import { describedFederation } from "../../registry/catalog.ts";
import { isWord, substituted, type Token } from "../../sparql/query.ts";
import { itemAt } from "../../values.ts";
import { type CheckOptions, type Place, vocabulariesFor } from "./lookups.ts";
import type { TextAttempt } from "./service-names.ts";
import { readTokens } from "./update-to-select.ts";

/** Looks up names of classes and properties at the endpoints that are asked. */
export interface KnownNames {
  /** The class that is most like a name, as `<iri>`. */
  readonly classNamed: (name: string) => string | undefined;
  /** The property that is most like a name, as `<iri>`; one of these classes comes first. */
  readonly propertyNamed: (name: string, classes: readonly string[]) => string | undefined;
}

/** Endpoints whose terms are compared. */
const mostAsked = 50;
const leastLike = 0.5;

/** The names at a place; those of all described endpoints where none is chosen. */
export function namesAt({ endpointId, federationId }: Place, { catalog, finder, models }: CheckOptions): KnownNames {
  const federation = catalog.federation(federationId ?? describedFederation.id);
  const members = federation ? catalog.membersOf(federation).map(({ id }) => id) : [];
  const ids = endpointId === undefined ? members.slice(0, mostAsked) : [endpointId];
  const best = (kind: "class" | "property", name: string, near?: ReadonlySet<string>): string | undefined => {
    const written = [name, name.replace(/^(?:has|is|get)_?(?=[A-Z_])/, "")];
    const found = written.flatMap((local) => finder.nearest(ids, { kind, iri: `urn:name/${local}`, near }).slice(0, 1));
    const [first] = found.toSorted((one, other) => other.score - one.score);
    return first !== undefined && first.score >= leastLike ? first.term : undefined;
  };
  return {
    classNamed: (name) => best("class", name),
    propertyNamed: (name, classes) => {
      const near = new Set<string>();
      for (const { properties } of vocabulariesFor(ids, models))
        for (const [iri, { allSubjects }] of properties)
          if (classes.some((each) => allSubjects.has(each.slice(1, -1)))) near.add(iri);
      return best("property", name, near);
    },
  };
}

/**
 * The text with the terms that are most like its names: `?x a Singer`, `?x :hasName ?n`, `<name>`, where a name has no namespace.
 * @param error of the parser, which names an undeclared prefix
 */
export function* withNames(text: string, error: FedwayError, known: KnownNames): Generator<TextAttempt> {
  const tokens = readTokens(text) ?? [];
  const prefix = /prefix "([^"]*:)"/.exec(error.message)?.[1];
  const nameAt = (at: number): string | undefined => localName(tokens, at, { text, prefix });
  const isClassAt = (at: number): boolean => isWord(tokens[at - 1], "A") || tokens[at - 1]?.text === "rdf:type";
  const classes = tokens.flatMap(({ start, end }, at) => {
    const name = isClassAt(at) ? nameAt(at) : undefined;
    const iri = name === undefined ? undefined : known.classNamed(name);
    return iri === undefined ? [] : { start, end, text: iri };
  });
  const meant = classes.map((each) => each.text);
  const properties = tokens.flatMap(({ start, end }, at) => {
    const name = isPropertyAt(tokens, at) ? nameAt(at) : undefined;
    const iri = name === undefined ? undefined : known.propertyNamed(name, meant);
    return iri === undefined ? [] : { start, end, text: iri };
  });
  const edits = [...classes, ...properties].toSorted((one, other) => one.start - other.start);
  if (edits.length === 0) return;
  const why = "the term that is most like the name";
  const repairs = edits.map(({ start, end, text: after }) => ({
    kind: "name",
    before: text.slice(start, end),
    after,
    applied: false,
    why,
  }));
  yield { text: substituted(text, edits).text, repairs };
}

/** A word, a relative IRI or a name with the prefix that has no meaning, without what stands before its local part. */
function localName(
  tokens: readonly Token[],
  at: number,
  { text, prefix = ":" }: { readonly text: string; readonly prefix: string | undefined },
): string | undefined {
  const { kind, start, end } = itemAt(tokens, at);
  const written = text.slice(start, end);
  if (kind === "word") return tokens[at + 1]?.text === "(" ? undefined : written;
  if (kind === "pname") return written.startsWith(prefix) ? written.slice(prefix.length) : undefined;
  return kind === "iri" || kind === "string" ? /^[<"'](\w+)[>"']$/.exec(written)?.[1] : undefined;
}

const subjects: ReadonlySet<string> = new Set(["var", "iri", "pname", "blank"]);

/** Behind a subject that begins a pattern, or behind a semicolon. */
function isPropertyAt(tokens: readonly Token[], at: number): boolean {
  const [token, subject, before] = [tokens[at], tokens[at - 1], tokens[at - 2]];
  if (isWord(token, "A", "FILTER", "OPTIONAL", "BIND", "VALUES", "MINUS") || token?.kind === "string") return false;
  if (subject?.text === ";") return true;
  return subjects.has(subject?.kind ?? "") && [".", "{", "}"].includes(before?.text ?? "");
}
