import { withUrls, type GeneratedQuery, type Urls } from "./query-generator-syntax.ts";

/** Kind of value that a predicate, and so a variable, has; only values of one kind are compared or ordered. */
export type Kind =
  | "iri"
  | "string"
  | "lang"
  | "integer"
  | "decimal"
  | "double"
  | "date"
  | "boolean"
  /** A number in one of several spellings: joined on and compared, but never a constant. */
  | "spelled"
  | "blank"
  /** A blank node that may be joined on, which the oracle can judge where all data lies in one graph. */
  | "node"
  | "any";

/** Source of all decisions. */
export interface Draw {
  /** Integer from 0 up to, not including, `bound`. */
  below(bound: number): number;
  chance(percent: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** One triple in N-Triples syntax and the endpoints that have it. */
export interface Fact {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly kind: Kind;
  readonly endpoints: readonly number[];
}

/** Data split over endpoints. */
export interface GeneratedData {
  readonly endpoints: number;
  readonly facts: readonly Fact[];
  /** Clauses may be for `<endpoint:dead>`, too, and facts name it. */
  readonly dead?: boolean;
}

/** One differential case: a query and the data it runs over. */
export interface GeneratedCase {
  readonly data: GeneratedData;
  readonly query: GeneratedQuery;
}

const XSD = "http://www.w3.org/2001/XMLSchema#";
export const typePredicate = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
export const word = (name: string): string => `<http://vocabulary.example/${name}>`;
const item = (number: number): string => `<http://data.example/item/${number}>`;
export const typed = (value: string, type: string): string => `"${value}"^^<${XSD}${type}>`;

/** Predicates from item to item; the only ones that property paths repeat. */
export const linkPredicates: readonly string[] = [word("knows"), word("near")];

/** Objects of a predicate. */
export interface PredicateRule {
  readonly predicate: string;
  readonly kind: Kind;
  readonly object: (draw: Draw) => string;
}

// Outside ASCII: letters that a locale orders or folds otherwise, an invisible one, and one beyond 16 bits behind one that
// UTF-16 would order after it.
const names = ["Ada", "ada", "Bela", "Be\u00ADla", "\u00C4rger", "Zo\u00EB", "\uFF5Ea", "\u{1F600}a"] as const;
const spellings = [typed("1", "integer"), typed("01", "integer"), typed("1", "int"), typed("2", "integer")] as const;
// Pools are small, so that literals join between endpoints. Lexical forms are canonical but for one predicate: equal values
// are equal terms to Oxigraph, which stores values, but not to engines that store spellings.
export const predicateRules: readonly PredicateRule[] = [
  { predicate: typePredicate, kind: "iri", object: (d) => word(d.pick(["Person", "Product", "Place"])) },
  { predicate: word("knows"), kind: "iri", object: (d) => item(d.below(7)) },
  { predicate: word("near"), kind: "iri", object: (d) => item(d.below(7)) },
  { predicate: word("name"), kind: "string", object: (d) => `"${d.pick(names)}"` },
  { predicate: word("label"), kind: "lang", object: (d) => `"${d.pick(names)}"@${d.pick(["en", "de"])}` },
  { predicate: word("code"), kind: "string", object: (d) => `"K${d.below(5)}"` },
  { predicate: word("age"), kind: "integer", object: (d) => typed(String(1 + d.below(9)), "integer") },
  { predicate: word("rank"), kind: "integer", object: (d) => typed(String(1 + d.below(5)), "integer") },
  {
    predicate: word("price"),
    kind: "decimal",
    object: (d) => typed(d.pick(["0.5", "1.25", "2.5", "10.75"]), "decimal"),
  },
  { predicate: word("weight"), kind: "double", object: (d) => typed(d.pick(["1.5", "2.25", "30.5"]), "double") },
  { predicate: word("born"), kind: "date", object: (d) => typed(`20${10 + d.below(9)}-0${1 + d.below(9)}-15`, "date") },
  { predicate: word("active"), kind: "boolean", object: (d) => typed(d.pick(["true", "false"]), "boolean") },
  // Blank nodes stand in object position only and are never joined on: a blank node is local to one answer, so the
  // oracle, which joins them inside one store, could not judge such a join.
  { predicate: word("address"), kind: "blank", object: (d) => `_:b${d.below(4)}` },
];

export const spelledRule: PredicateRule = {
  predicate: word("size"),
  kind: "spelled",
  object: (d) => d.pick(spellings),
};

/** Data over 2 to 4 endpoints: shared subjects, overlapping predicates, a class split over endpoints. */
export function generateData(draw: Draw): GeneratedData {
  return generateFacts(draw, { endpoints: 2 + draw.below(3), count: 22 + draw.below(30), rules: predicateRules });
}

/** Predicates whose objects are endpoints, so that data name the targets of clauses; those of mirrors may be dead. */
export const serverPredicates = { server: word("server"), mirror: word("mirror") } as const;

/** The same with facts that name endpoints, beside one that refuses connections. */
export function generateServiceData(draw: Draw): GeneratedData {
  const endpoints = 2 + draw.below(3);
  const rule = (predicate: string, dead: number): PredicateRule => ({
    predicate,
    kind: "iri",
    object: (d) => `<endpoint:${d.chance(dead) ? "dead" : d.below(endpoints)}>`,
  });
  const rules = [...predicateRules, rule(serverPredicates.server, 0), rule(serverPredicates.mirror, 40)];
  return { ...generateFacts(draw, { endpoints, count: 25 + draw.below(30), rules }), dead: true };
}

/** Data whose numbers are spelled in several ways, too, for endpoints that keep spellings. */
export function generateSpelledData(draw: Draw, endpoints: number, count: number): GeneratedData {
  return generateFacts(draw, { endpoints, count, rules: [...predicateRules, spelledRule, spelledRule] });
}

interface Extent {
  readonly endpoints: number;
  readonly count: number;
  readonly rules: readonly PredicateRule[];
}

function generateFacts(draw: Draw, { endpoints, count, rules: own }: Extent): GeneratedData {
  const facts = new Map<string, Fact>();
  const add = (fact: Fact): void => {
    const key = `${fact.subject} ${fact.predicate} ${fact.object}`;
    const known = facts.get(key);
    const where = new Set([...(known?.endpoints ?? []), ...fact.endpoints]);
    facts.set(key, { ...fact, endpoints: [...where].toSorted((a, b) => a - b) });
  };
  for (let endpoint = 0; endpoint < endpoints; endpoint++) {
    add({
      subject: item(draw.below(3)),
      predicate: typePredicate,
      object: word("Person"),
      kind: "iri",
      endpoints: [endpoint],
    });
  }
  for (let index = 0; index < count; index++) add(generateFact(draw, endpoints, own));
  return { endpoints, facts: [...facts.values()] };
}

function generateFact(draw: Draw, endpoints: number, own: readonly PredicateRule[]): Fact {
  const rule = draw.pick(own);
  // A few subjects have most of the facts, as in real data, and half of a predicate's facts are at one endpoint.
  const subject = item(Math.min(draw.below(7), draw.below(7)));
  const home = draw.chance(50) ? own.indexOf(rule) % endpoints : draw.below(endpoints);
  const where = draw.chance(20) ? [home, draw.below(endpoints)] : [home];
  return {
    subject,
    predicate: rule.predicate,
    object: rule.object(draw),
    kind: rule.kind,
    endpoints: [...new Set(where)],
  };
}

/** Facts of one endpoint. */
export function factsAt(data: GeneratedData, endpoint: number): readonly Fact[] {
  return data.facts.filter((fact) => fact.endpoints.includes(endpoint));
}

/** The data of one endpoint as N-Triples; `urls` when facts may name endpoints. */
export function nTriplesAt(data: GeneratedData, endpoint: number, urls?: Urls): string {
  const text = factsAt(data, endpoint)
    .map((fact) => `${fact.subject} ${fact.predicate} ${fact.object} .\n`)
    .join("");
  return urls ? withUrls(text, urls) : text;
}
