import { amountText } from "../figures.ts";
import { escapeOf } from "../rdf/term-text.ts";
import { rdf, rdfs } from "../rdf/vocabularies.ts";
import { wellKnownNamespaces } from "../rdf/well-known-prefixes.ts";
import type { Catalog } from "../registry/catalog.ts";
import { PrefixTable } from "../registry/schema.ts";
import { bracketedIri, iriParts, plainText } from "../rdf/display-text.ts";
import { Prologue, undeclaredPrefixes } from "../sparql/query.ts";
import type { Option } from "./completion.ts";
import {
  endsOf,
  type KnownEndpoint,
  type KnownValue,
  type NodeTerms,
  termsIn,
  touchingTerms,
  valuesIn,
} from "./known-terms.ts";
import { atCursor, type ReadQuery } from "./read-query.ts";

/** Options that are shown. */
export const mostOptions = 50;

type Scope = readonly KnownEndpoint[];

const modifiers = "GROUP BY|HAVING|ORDER BY|LIMIT|OFFSET|VALUES";
const elements = "OPTIONAL|FILTER|SERVICE|BIND|VALUES|MINUS|GRAPH|SELECT|UNION";
const functions =
  "BOUND|STR|LANG|LANGMATCHES|DATATYPE|REGEX|CONTAINS|STRSTARTS|STRENDS|STRLEN|LCASE|UCASE|REPLACE|SUBSTR|CONCAT|YEAR|MONTH|DAY|NOW|IF|COALESCE|EXISTS|NOT EXISTS|IN|NOT IN|COUNT|SUM|MIN|MAX|AVG|SAMPLE|DISTINCT|AS";
/** Keywords by slot. */
const keywordsIn: Readonly<Record<string, string>> = {
  start: "SELECT|ASK|CONSTRUCT|DESCRIBE|PREFIX|BASE",
  select: "DISTINCT|REDUCED|WHERE|FROM",
  service: "SILENT",
  tail: `${modifiers}|WHERE|UNION`,
  order: `ASC|DESC|${modifiers}`,
  limit: "LIMIT|OFFSET",
  predicate: "a",
  subject: elements,
  end: elements,
  expression: functions,
};
const withoutVariables: ReadonlySet<string> = new Set(["start", "prefix", "base", "tail", "limit", "end"]);
const withNames: ReadonlySet<string> = new Set(["subject", "predicate", "object"]);

/** Options at a cursor, the likeliest kind first. */
export function optionsAt(
  query: ReadQuery,
  scope: Scope,
  catalog: Pick<Catalog, "entries" | "federations">,
): readonly Option[] {
  const { place, typed } = query;
  const { slot } = place;
  const isName = /^\w+$/.test(typed) && withNames.has(slot);
  return [
    ...(slot === "service" ? targetOptions(query, catalog) : knownOptions(query, scope)),
    ...(withoutVariables.has(slot) ? [] : variableOptions(query)),
    ...keywordOptions(query, keywordsIn[slot] ?? ""),
    ...(slot === "prefix" || isName ? prefixOptions(query, scope, slot === "prefix") : []),
  ];
}

/** Properties, classes and values. */
function knownOptions(query: ReadQuery, scope: Scope): readonly Option[] {
  const { slot, predicate, isPath = false } = query.place;
  const property = slot === "object" ? query.iriOf(predicate) : comparedProperty(query);
  if (slot === "predicate") {
    const touching = touchingTerms(scope, nodeTerms(query), "out");
    const inOrder = (terms: ReturnType<typeof termsIn>) => termOptions(query, scope, touchingFirst(terms, touching));
    const own = isPath ? [] : inOrder(termsIn(scope, "property", classesOf(query, scope)));
    return own.length > 0 ? own : inOrder(termsIn(scope, "property"));
  }
  if (property !== undefined && statesClass(property, scope)) {
    const touching = touchingTerms(scope, nodeTerms(query), "classes");
    return termOptions(query, scope, touchingFirst(termsIn(scope, "class"), touching));
  }
  const isValue = property !== undefined && !/^[?$]/.test(query.typed);
  return isValue ? valueOptions(query, scope, valuesIn(scope, property)) : [];
}

const statesClass = (property: string, scope: Scope): boolean =>
  property === rdf.type ||
  property === rdfs.subClassOf ||
  scope.some(({ shapes }) => shapes.some(({ typeBy }) => typeBy === property));

/** Terms of the other triples that the subject at the cursor stands in. */
function nodeTerms({ triples, place: { subject }, iriOf }: ReadQuery): NodeTerms {
  const own = triples.filter((triple) => triple.subject === subject && triple.object !== atCursor);
  const of = (all: typeof own): readonly string[] => all.flatMap(({ predicate }) => predicate ?? []);
  return {
    classes: own.flatMap(({ object }) => iriOf(object) ?? []),
    out: of(own),
    into: of(triples.filter(({ object }) => object === subject)),
  };
}

/** Terms that stand together with those of the query before all others, and else as they were. */
const touchingFirst = <Term extends { readonly iri: string }>(
  terms: readonly Term[],
  touching: ReadonlyMap<string, number>,
): readonly Term[] =>
  touching.size === 0
    ? terms
    : terms.toSorted((one, other) => (touching.get(other.iri) ?? 0) - (touching.get(one.iri) ?? 0));

/** Classes that the subject at the cursor has, or has to have for its other properties and for what leads to it. */
function classesOf({ triples, place: { subject }, iriOf }: ReadQuery, scope: Scope): ReadonlySet<string> {
  const own = triples.filter((triple) => triple.subject === subject);
  const stated = own.filter(({ predicate }) => predicate === rdf.type).flatMap(({ object }) => iriOf(object) ?? []);
  const leading = triples.filter(({ object }) => object === subject);
  const [first = new Set<string>(), ...sets] = [
    ...own.map(({ predicate }) => endsOf(scope, predicate, "subject")),
    ...leading.map(({ predicate }) => endsOf(scope, predicate, "object")),
  ].filter(({ size }) => size > 0);
  return stated.length > 0 ? new Set(stated) : sets.reduce((all, set) => all.intersection(set), first);
}

/** The property whose values are listed or compared: of the last variable before the cursor. */
function comparedProperty({ before, triples, typed, place: { slot } }: ReadQuery): string | undefined {
  const isOperand = /^["'<]/.test(typed) || (typed === "" && /^[=!<>,]+$/.test(before.at(-1)?.text ?? ""));
  if (slot !== "data" && !(slot === "expression" && isOperand)) return undefined;
  const variable = before.findLast(({ kind }) => kind === "var")?.text;
  return triples.find(({ object }) => object === variable)?.predicate;
}

/** The typed text, without the sign that opens it, in lower case. */
const bareText = ({ typed }: ReadQuery): string => typed.replace(/^(?:<|[?$]|"{1,3}|'{1,3})/, "").toLowerCase();

/** First those of which a text begins with what was typed, then those of which one contains it. */
function fitting<One>(all: Iterable<One>, typed: string, textsOf: (one: One) => readonly string[]): One[] {
  const [first, others]: [One[], One[]] = [[], []];
  for (const one of all) {
    const texts = textsOf(one).map((text) => text.toLowerCase());
    if (texts.some((text) => text.startsWith(typed))) first.push(one);
    else if (texts.some((text) => text.includes(typed))) others.push(one);
  }
  return [...first, ...others].slice(0, mostOptions + 1);
}

const wellKnown = new PrefixTable([]);

/** Namespaces that a prefix (without colon) stands for: declared, in the endpoints' schemas, well known. */
function namespacesOf({ prefixes }: ReadQuery, scope: Scope, prefix: string): readonly string[] {
  const declared = prefixes.get(`${prefix}:`);
  const known = [...scope.map(({ table }) => table.namespace(prefix)), wellKnownNamespaces.get(prefix)];
  return declared === undefined ? [...new Set(known.filter((namespace) => namespace !== undefined))] : [declared];
}

const declared = (prefix: string, namespace: string): string => `PREFIX ${prefix}: ${bracketedIri(namespace)}`;

/** An IRI as the query writes it: in full behind `<`, else with its prefix, which may have to be declared. */
function written(query: ReadQuery, scope: Scope, iri: string): Pick<Option, "insert" | "declare"> {
  const { prefixes, typed } = query;
  if (typed.startsWith("<")) return { insert: bracketedIri(iri) };
  const short = new Prologue(prefixes).written(iri);
  if (!short.startsWith("<")) return { insert: short };
  for (const table of [...scope.map((each) => each.table), wellKnown]) {
    const { text: insert, prefixes: needed } = table.short(iri);
    for (const prefix of needed) {
      const namespace = table.namespace(prefix);
      if (namespace !== undefined && !prefixes.has(`${prefix}:`))
        return { insert, declare: declared(prefix, namespace) };
    }
  }
  return { insert: bracketedIri(iri) };
}

const mostNamed = 3;

/** Of several endpoints: those that have it. */
function holders(at: Iterable<string>, scope: Scope): readonly string[] {
  const ids = [...at];
  const more = ids.length > mostNamed ? ` and ${ids.length - mostNamed} more` : "";
  return scope.length < 2 ? [] : [ids.slice(0, mostNamed).join(", ") + more];
}

/** Classes or properties, with how often and at which endpoints they are. */
function termOptions(query: ReadQuery, scope: Scope, terms: ReturnType<typeof termsIn>): readonly Option[] {
  const [, prefix, local = ""] = /^(?!<)([^:]*):(.*)$/s.exec(query.typed) ?? [];
  const spaces = prefix === undefined ? [""] : namespacesOf(query, scope, prefix);
  const textsOf = ({ iri, label = "" }: ReturnType<typeof termsIn>[number]): readonly string[] =>
    prefix === undefined ? [iriParts(iri).local, label, iri] : [iriParts(iri).local, label];
  const within = terms.filter(({ iri }) => spaces.some((space) => iri.startsWith(space)));
  const typed = prefix === undefined ? bareText(query) : local.toLowerCase();
  return fitting(within, typed, textsOf).map(({ kind, iri, label, count, at }) => {
    const { insert, declare } = written(query, scope, iri);
    const name = label === undefined || label === iriParts(iri).local ? [] : [plainText(label, 60)];
    const counted = count >= 1 ? [amountText(count, kind === "class" ? "instance" : "triple")] : [];
    const detail = [...name, ...counted, ...holders(at, scope)].join(" · ");
    return { kind, label: plainText(insert, 200), insert, detail, declare };
  });
}

const bare =
  /^"([+-]?\d+(?:\.\d+)?|true|false)"\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#(?:integer|decimal|boolean)>$/;

/** Literals and things of the data: behind a quotation mark literals alone, behind `<` things. */
function valueOptions(query: ReadQuery, scope: Scope, values: readonly KnownValue[]): readonly Option[] {
  const sign = query.typed.charAt(0);
  const wanted = values.filter(({ term }) =>
    sign === "<" ? term.startsWith("<") : !/["']/.test(sign) || term.startsWith('"'),
  );
  return fitting(wanted, bareText(query), ({ literal }) => [literal.slice(1)]).map(({ term, literal, at }) => {
    // Invisible characters are escaped, as what is inserted is to be seen.
    const text = term.replaceAll(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => (each.length === 1 ? escapeOf(each) : each));
    const isThing = term.startsWith("<");
    const insert = isThing ? written(query, [], term.slice(1, -1)).insert : (bare.exec(text)?.[1] ?? text);
    const detail = [...(isThing ? [plainText(term, 120)] : []), ...holders([at], scope)].join(" · ");
    return { kind: "value", label: plainText(isThing ? literal : insert, 120), insert, detail };
  });
}

const variableOptions = (query: ReadQuery): readonly Option[] =>
  fitting(/^[<"']/.test(query.typed) ? [] : query.variables, bareText(query), (name) => [name.slice(1)]).map(
    (name) => ({ kind: "variable", label: name, insert: name }),
  );

const keywordOptions = ({ typed }: ReadQuery, words: string): readonly Option[] =>
  words
    .split("|")
    .filter((word) => word !== "" && word.toLowerCase().startsWith(typed.toLowerCase()))
    .map((word) => ({ kind: "keyword", label: word, insert: word }));

/** Prefixes that are not declared yet, those that the query uses first: as declarations, or to begin a name with. */
function prefixOptions(query: ReadQuery, scope: Scope, isDeclaring: boolean): readonly Option[] {
  const named = isDeclaring ? query.before.at(-1) : undefined;
  const used = isDeclaring ? undeclaredPrefixes([...query.before, ...query.after]).keys() : [];
  const typed = query.typed.replace(/:$/, "").toLowerCase();
  const all = [...new Set([...used, ...wellKnownNamespaces.keys()])];
  const open = all.filter((prefix) => !query.prefixes.has(`${prefix}:`) && prefix.toLowerCase().startsWith(typed));
  const wanted = named?.kind === "pname" ? [named.text.slice(0, -1)] : open;
  return wanted.flatMap((prefix) => {
    const [namespace] = namespacesOf(query, scope, prefix);
    if (namespace === undefined) return [];
    const declare = declared(prefix, namespace);
    const insert = isDeclaring ? declare.replace(named?.kind === "pname" ? /^.*: / : /^PREFIX /, "") : `${prefix}:`;
    return { kind: "prefix", label: insert, insert, detail: namespace, declare: isDeclaring ? undefined : declare };
  });
}

const keywordPrefix = "fedway:keyword/";

/** Endpoints, federations and keywords that SERVICE takes. */
function targetOptions(
  query: ReadQuery,
  { entries, federations }: Pick<Catalog, "entries" | "federations">,
): readonly Option[] {
  const keywords = [...new Set(entries.flatMap((entry) => entry.keywords))].toSorted();
  const targets = [
    ...federations.map(({ id, title }) => ({ id, title, what: "federation" })),
    ...entries.map(({ id, title }) => ({ id, title, what: "endpoint" })),
    ...keywords.map((title) => ({
      id: keywordPrefix + encodeURIComponent(title),
      title,
      what: "all with the keyword",
    })),
  ];
  return fitting(targets, bareText(query), ({ id, title }) => [id, title]).map(({ id, title, what }) => {
    const detail = `${what} · ${plainText(title, 100)}`;
    return { kind: "service", label: id, insert: bracketedIri(id), detail };
  });
}
