import type { PublishedFacts } from "../registry/catalog.ts";
import { isWord, type Query } from "../sparql/query.ts";
import { type UsedTerm } from "../sparql/patterns.ts";
import type { PlanContext } from "./plan-request.ts";

/** An endpoint that a query may be meant for. */
export interface Home {
  readonly id: string;
  /** Larger is better; comparable among the readings of one query. */
  readonly score: number;
  /** IRIs of the query's terms that it has. */
  readonly has: readonly string[];
}

/** A feature of the query that distinguishes endpoints, with its weight for each endpoint. */
interface Clue {
  /** Uses in published queries by endpoint id, 0 where they are not known. */
  readonly holders: ReadonlyMap<string, number>;
  readonly weight: number;
  /** A class or property that the holders have. */
  readonly term?: string;
}

/** A namespace says less than a term. */
const spaceWeight = 0.5;
/** How much uses count beside the rarity of a term: they only order those that have the same terms. */
export const usesWeight = 0.1;
/** Constants of long VALUES say nothing new. */
const mostThings = 50;

/**
 * The endpoints that have to do with what a query names, best first: those with its rarest terms, where no term is known those with
 * other terms of their namespaces, then those whose published queries name them most. Copies of the same data count as one holder.
 * @param among only these endpoints
 */
export function rankedHomes(parsed: Query, context: PlanContext, among?: ReadonlySet<string>): readonly Home[] {
  const originalOf = (id: string): string => context.catalog.published.originalOf(id);
  const endpoints = new Set(context.catalog.entries.map(({ id }) => originalOf(id))).size;
  const scores = new Map<string, { score: number; readonly has: string[] }>();
  for (const { holders, weight, term } of cluesOf(parsed, context)) {
    const rarity = weight * Math.log(1 + endpoints / new Set([...holders.keys()].map(originalOf)).size);
    const most = Math.log1p(Math.max(...holders.values()));
    for (const [id, uses] of holders) {
      if (among?.has(id) === false) continue;
      const home = scores.get(id) ?? { score: 0, has: [] };
      scores.set(id, home);
      home.score += rarity * (1 + (most === 0 ? 0 : (usesWeight * Math.log1p(uses)) / most));
      if (term !== undefined) home.has.push(term);
    }
  }
  return [...scores]
    .map(([id, { score, has }]) => ({ id, score, has }))
    .toSorted((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1));
}

function cluesOf(parsed: Query, context: PlanContext): readonly Clue[] {
  const terms = parsed.usedTerms.flatMap((each) => each.terms);
  const answering = context.catalog.entries.map(({ id, url }) => ({ id, host: hostOf(url) }));
  const { services, things } = constantsOf(parsed, new Set(terms.map(({ iri }) => iri)));
  const hosts = new Set([...terms.map(({ iri }) => iri), ...things].flatMap((iri) => hostOf(iri) ?? []));
  const known = terms.map((term) => termClue(term, context)).filter(({ holders }) => holders.size > 0);
  // Where no endpoint has any of the terms, others of their namespaces say where they may be.
  const spaces = known.length > 0 ? [] : terms.map(({ iri }) => vocabularyClue(iri, context));
  const clues = [
    ...known,
    ...spaces,
    ...services.map((iri) => ({ holders: extensionHolders(iri, context), weight: 1 })),
    ...things.map((iri) => thingClue(iri, context)),
    ...[...hosts].map((host) => hostClue(host, answering)),
  ];
  return clues.filter(({ holders }) => holders.size > 0);
}

/** Endpoints that have a term, by descriptions and publications. */
function termClue(term: UsedTerm, context: PlanContext): Clue {
  const { terms: described } = context;
  const holders = new Map<string, number>();
  for (const id of described?.endpointsWith(term) ?? []) holders.set(id, 0);
  const key = keyOf(term.kind, term.iri);
  for (const { id, facts } of publishedAt(context)) {
    const known = facts.terms.get(key);
    // What the endpoint itself says wins.
    if (known && described?.hasTerm(id, term) !== "no") holders.set(id, known.uses);
  }
  return { holders, weight: 1, term: term.iri };
}

/** Endpoints that have other terms of the same namespace. */
function vocabularyClue(iri: string, context: PlanContext): Clue {
  const space = /^.*[/#]/.exec(iri)?.[0] ?? iri;
  const having = [...publishedAt(context)].filter(({ facts }) => facts.vocabularies.has(space));
  return { holders: new Map(having.map(({ id }) => [id, 0])), weight: spaceWeight };
}

/** Key of a class or property among the published facts of an endpoint. */
export const keyOf = (kind: UsedTerm["kind"], iri: string): string => `${kind === "class" ? "c" : "p"} ${iri}`;

/**
 * Endpoints that have an IRI the query names beside classes and properties: as one of its terms, or in the namespace of its things.
 */
function thingClue(iri: string, context: PlanContext): Clue {
  const holders = new Map<string, number>();
  for (const { id, facts } of publishedAt(context)) {
    const term = facts.terms.get(keyOf("class", iri)) ?? facts.terms.get(keyOf("property", iri));
    const uses = term?.uses ?? usesOfSpace(iri, facts);
    if (uses !== undefined) holders.set(id, uses);
  }
  return { holders, weight: spaceWeight };
}

/** Uses of the longest beginning of an IRI that is known of an endpoint's things. */
function usesOfSpace(iri: string, { resourceSpaces }: PublishedFacts): number | undefined {
  let best: string | undefined;
  for (const space of resourceSpaces.keys()) {
    if (iri.startsWith(space) && space.length > (best?.length ?? 0)) best = space;
  }
  return best === undefined ? undefined : resourceSpaces.get(best);
}

/** Endpoints at the host of the IRIs, else at a neighbouring one: `sparql.uniprot.org` for `purl.uniprot.org`. */
function hostClue(
  host: string,
  answering: readonly { readonly id: string; readonly host?: string | undefined }[],
): Clue {
  const there = answering.filter((each) => each.host === host);
  const beside = answering.filter((each) => each.host !== undefined && domainOf(each.host) === domainOf(host));
  const holders = (there.length > 0 ? there : beside).map(({ id }) => [id, 0] as const);
  return { holders: new Map(holders), weight: spaceWeight };
}

const hostOf = (iri: string): string | undefined => /^https?:\/\/([^/?#:]+)/i.exec(iri)?.[1]?.toLowerCase();

/** A host without its first label, where two are left. */
const domainOf = (host: string): string => host.replace(/^[^.]+\.(?=[^.]+\.)/, "");

/** The endpoints whose engine knows a SERVICE target as an extension, with the uses that are not known. */
export function extensionHolders(iri: string, { catalog }: PlanContext): ReadonlyMap<string, number> {
  const known = catalog.entries.filter(
    ({ id, pseudoServices }) =>
      pseudoServices.includes(iri) || catalog.published.facts(id)?.pseudoServices.includes(iri),
  );
  return new Map(known.map(({ id }) => [id, 0]));
}

function* publishedAt({ catalog }: PlanContext): Generator<{ readonly id: string; readonly facts: PublishedFacts }> {
  for (const id of catalog.published.ids) {
    const facts = catalog.published.facts(id);
    if (facts) yield { id, facts };
  }
}

/** SERVICE targets, and the other IRIs of a query, each once. */
function constantsOf({ tokens, prologue }: Query, terms: ReadonlySet<string>) {
  const services = new Set<string>();
  const things = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    if (at < prologue.length || (token.kind !== "iri" && token.kind !== "pname")) continue;
    const iri = prologue.iriOf(token);
    const before = isWord(tokens[at - 1], "SILENT") ? tokens[at - 2] : tokens[at - 1];
    if (isWord(before, "SERVICE")) services.add(iri);
    else if (!terms.has(iri) && !iri.startsWith(xsd) && things.size < mostThings) things.add(iri);
  }
  return { services: [...services], things: [...things] };
}

const xsd = "http://www.w3.org/2001/XMLSchema#";
