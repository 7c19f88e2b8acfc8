import type { PlannedEndpoint } from "../plan/query-plan.ts";
import type { AskedPattern, PatternSource, ValueKind } from "../plan/source-selection.ts";
import { iriText } from "../rdf/term-text.ts";
import { plainPatterns, unmatchedPatterns } from "../sparql/patterns.ts";
import { usesEnginePredicate } from "./engine-predicates.ts";
import type { QueryTree } from "../sparql/query.ts";
import type { FactTable } from "./fact-table.ts";
import { MemberView } from "./member-view.ts";
import { claimOf } from "./term-claims.ts";

/** A SERVICE clause as a query of its own, and the endpoint that it is for. */
interface Clause {
  readonly body: QueryTree;
  readonly endpoint: PlannedEndpoint;
}

/** Why each of these clauses has no solution at its endpoint; undefined where it may have some. */
export function emptyClauses(clauses: readonly Clause[], table: FactTable) {
  return ofDescribed(clauses, table, (body, view) => {
    const reasons = unmatchedPatterns(body, (pattern) => {
      const found = view.sourcesOf(pattern);
      const certificate = found?.sources.length === 0 ? found.excluded[0]?.certificate : undefined;
      return certificate && { certificate, pattern: view.excluding(pattern, 0) };
    });
    const [first] = reasons ?? [];
    if (reasons === undefined || first === undefined) return undefined;
    const patterns = reasons.map(({ pattern }) => pattern);
    return { certificate: first.certificate, patterns, seenAt: view.seenAt(0) ?? Number.POSITIVE_INFINITY };
  });
}

/**
 * Estimates of each of these clauses: as many solutions as the pattern with the fewest matches has, and as many values
 * of a variable as it has where it has the fewest. Undefined for anything more than a group of triple patterns (the effect of a
 * FILTER is not known), and where nothing is known of any of them.
 */
export function clauseEstimates(clauses: readonly Clause[], table: FactTable) {
  return ofDescribed(clauses, table, (body, view, { id, url }) =>
    estimateOf(body, view, table.get(id, url)?.seenAt ?? 0),
  );
}

function estimateOf(body: QueryTree, view: MemberView, seenAt: number) {
  let solutions = Number.POSITIVE_INFINITY;
  const values = new Map<string, number>();
  const kinds = new Map<string, ValueKind>();
  const claims = new Map<string, AskedPattern>();
  for (const pattern of plainPatterns(body)) {
    const known = view.sourcesOf(pattern)?.sources;
    if (known === undefined) continue;
    const [source] = known;
    solutions = Math.min(solutions, source === undefined ? 0 : (source.triples ?? solutions));
    for (const { name, count, kind, claim } of variablePlaces(pattern, source)) {
      if (count !== undefined) values.set(name, Math.min(count, values.get(name) ?? count));
      if (kind !== undefined) kinds.set(name, kind);
      if (claim) claims.set(claim.key, claim);
    }
  }
  const restsOn = { patterns: [...claims.values()], seenAt };
  return Number.isFinite(solutions) ? { solutions, values, kinds, restsOn } : undefined;
}

/** Known facts about variables as subject and object; a kind comes with the pattern that has no match if it is right. */
function variablePlaces(
  { subject, predicate, object }: ReturnType<typeof plainPatterns>[number],
  source?: PatternSource,
) {
  const property = predicate.kind === "iri" ? iriText(predicate.iri) : undefined;
  const places = [
    { term: subject, place: "?s", count: source?.distinctSubjects, space: source?.subjects },
    { term: object, place: "?o", count: source?.distinctObjects, space: source?.objects },
  ] as const;
  return places.flatMap(({ term, place, count, space }) => {
    if (term.kind !== "variable") return [];
    const kind = property === undefined ? undefined : space?.kind;
    const claim = kind === undefined || property === undefined ? undefined : claimOf(space, property, place);
    return [{ name: term.name, count, kind, claim }];
  });
}

const ofDescribed = <T>(
  clauses: readonly Clause[],
  table: FactTable,
  find: (body: QueryTree, view: MemberView, endpoint: PlannedEndpoint) => T | undefined,
): readonly (T | undefined)[] =>
  clauses.map(({ body, endpoint }) => {
    const view = new MemberView(table, [endpoint]);
    return view.isBlank || usesEnginePredicate(body) ? undefined : find(body, view, endpoint);
  });
