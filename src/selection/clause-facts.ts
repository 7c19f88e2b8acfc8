import type { AskedClause, ClauseEstimate, EmptyClause } from "../plan/plan-request.ts";
import type { ValueKind, TermSpace } from "../plan/source-selection.ts";
import { usesEnginePredicate } from "../sparql/engine-predicates.ts";
import type { QueryTree } from "../sparql/parse-query.ts";
import { type PatternTerm, plainPatterns } from "../sparql/query-patterns.ts";
import { unmatchedPatterns } from "../sparql/unmatched-patterns.ts";
import type { FactTable } from "./fact-table.ts";
import { MemberView } from "./member-view.ts";

/** Why each of these clauses has no solution at its endpoint; undefined where it may have some. */
export function emptyClauses(clauses: readonly AskedClause[], table: FactTable): readonly (EmptyClause | undefined)[] {
  return ofDescribed(clauses, table, (body, view) => {
    const reasons = unmatchedPatterns(body, (pattern) => {
      const found = view.sourcesOf(pattern);
      const certificate = found?.sources.length === 0 ? found.excluded[0]?.certificate : undefined;
      return certificate && { certificate, pattern: view.excluding(pattern, 0) };
    });
    const [first] = reasons ?? [];
    if (reasons === undefined || first === undefined) return undefined;
    const patterns = reasons.map(({ pattern }) => pattern);
    return { certificate: first.certificate, patterns, seenAt: Date.parse(first.certificate.seenAt) };
  });
}

/**
 * What is expected of each of these clauses: as many solutions as the pattern with the fewest matches has, and as many values
 * of a variable as it has where it has the fewest. Undefined for what is more than a group of triple patterns (how much a
 * FILTER leaves is not known), and where nothing is known of any of them.
 */
export function clauseEstimates(
  clauses: readonly AskedClause[],
  table: FactTable,
): readonly (ClauseEstimate | undefined)[] {
  return ofDescribed(clauses, table, (body, view) => {
    let solutions = Number.POSITIVE_INFINITY;
    const values = new Map<string, number>();
    const kinds = new Map<string, ValueKind>();
    const note = (term: PatternTerm, count: number | undefined, space: TermSpace | undefined): void => {
      if (term.kind !== "variable") return;
      if (count !== undefined) values.set(term.name, Math.min(count, values.get(term.name) ?? count));
      if (space?.kind !== undefined) kinds.set(term.name, space.kind);
    };
    for (const pattern of plainPatterns(body)) {
      const known = view.sourcesOf(pattern)?.sources;
      if (known === undefined) continue;
      solutions = Math.min(solutions, known.length === 0 ? 0 : (known[0]?.triples ?? solutions));
      note(pattern.subject, known[0]?.distinctSubjects, known[0]?.subjects);
      note(pattern.object, known[0]?.distinctObjects, known[0]?.objects);
    }
    return Number.isFinite(solutions) ? { solutions, values, kinds } : undefined;
  });
}

const ofDescribed = <T>(
  clauses: readonly AskedClause[],
  table: FactTable,
  find: (body: QueryTree, view: MemberView) => T | undefined,
): readonly (T | undefined)[] =>
  clauses.map(({ body, endpoint }) => {
    const view = new MemberView(table, [endpoint]);
    return view.isBlank || usesEnginePredicate(body) ? undefined : find(body, view);
  });
