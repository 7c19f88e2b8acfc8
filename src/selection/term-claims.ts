import type { FederatedPlan, MergedMembers } from "../plan/query-plan.ts";
import {
  allExclusions,
  type AskedPattern,
  type Exclusions,
  type TermSpace,
  type ValueKind,
} from "../plan/source-selection.ts";
import { stringText } from "../rdf/term-text.ts";
import { xsd } from "../rdf/vocabularies.ts";
import { parseQuery } from "../sparql/query.ts";
import type { FactTable } from "./fact-table.ts";

/**
 * Claims of a plan about its members' terms, by which keys are routed, patterns asked as one, and numbers added up at members:
 * no member has a triple with another term. Undefined where nothing is known, or nothing hangs on it: where one pattern without
 * keys is all that is asked, only whether the solutions of several members are compared.
 */
export function termClaims(
  { over, query, clauses }: FederatedPlan,
  table: FactTable,
  { isOfNothing }: { readonly isOfNothing: boolean },
): Exclusions | undefined {
  const outside = over && !((isOfNothing || hasOneSource(over)) && isOnePattern(query)) ? [over] : [];
  // Clauses are asked with keys.
  const merged = [...outside, ...clauses.flatMap(({ endpoint }) => endpoint.over ?? [])];
  return allExclusions(merged.map((each) => membersClaims(each, table)));
}

function membersClaims({ members, selection }: MergedMembers, table: FactTable): Exclusions | undefined {
  if (selection === undefined) return undefined;
  const byMember = new Map<number, Map<string, AskedPattern>>();
  for (const [pattern, { sources }] of Object.entries(selection.patterns)) {
    const property = pattern.split(" ", 2)[1] ?? "?";
    for (const { member, subjects, objects } of sources) {
      const own = byMember.get(member) ?? new Map<string, AskedPattern>();
      byMember.set(member, own);
      for (const claim of [claimOf(subjects, property, "?s"), claimOf(objects, property, "?o")]) {
        if (claim) own.set(claim.key, claim);
      }
    }
  }
  const list = [...byMember].flatMap(([member, patterns]) => {
    const endpoint = members[member];
    const facts = endpoint && table.get(endpoint.id, endpoint.url);
    return endpoint && facts && patterns.size > 0
      ? [{ endpoint, patterns: [...patterns.values()], seenAt: facts.seenAt }]
      : [];
  });
  return list.length === 0 ? undefined : { list, decisive: false };
}

const hasOneSource = ({ selection }: MergedMembers): boolean =>
  Object.values(selection?.patterns ?? {}).every(({ sources }) => sources.length < 2);

function isOnePattern(query: string): boolean {
  const parsed = parseQuery(query);
  const { where, values } = parsed.ast;
  return (
    parsed.patterns.length < 2 &&
    !/"(?:pathType|values)"/u.test(JSON.stringify({ where, ...(values && { values }) })) &&
    !parsed.isSummary
  );
}

const claims = new WeakMap<TermSpace, AskedPattern>();

/** A pattern for the triples that have a term outside of the space; spaces of other than literals are of one property and place each. */
export function claimOf(space: TermSpace | undefined, property: string, place: "?s" | "?o"): AskedPattern | undefined {
  const known = space && claims.get(space);
  if (space === undefined || known !== undefined) return known;
  const { prefixes, noLiterals, noBlankNodes, kind } = space;
  const outside = isLiteralKind(kind)
    ? // Of an IRI and a blank node DATATYPE is an error.
      [`!isLiteral(${place})`, `DATATYPE(${place}) != <${xsd.namespace}${kind}>`]
    : [
        ...outsidePrefixes(prefixes, place),
        ...(noLiterals && place === "?o" ? [`isLiteral(${place})`] : []),
        ...(noBlankNodes ? [`isBlank(${place})`] : []),
      ];
  if (outside.length === 0) return undefined;
  const text = `?s ${property === "?" ? "?p" : property} ?o FILTER(${outside.join(" || ")})`;
  const claim = { key: text, text };
  // Those of a datatype are shared by properties.
  if (!isLiteralKind(kind)) claims.set(space, claim);
  return claim;
}

const isLiteralKind = (kind: ValueKind | undefined): boolean =>
  kind !== undefined && kind !== "iri" && kind !== "property";

function outsidePrefixes(prefixes: TermSpace["prefixes"], place: string): readonly string[] {
  if (prefixes === undefined) return [];
  const begins = prefixes.map((prefix) => `STRSTARTS(STR(${place}), ${stringText(prefix)})`).join(" || ");
  return [begins === "" ? `isIRI(${place})` : `isIRI(${place}) && !(${begins})`];
}
