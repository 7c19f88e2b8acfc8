import { itemAt } from "../../values.ts";
import type { Query } from "../parse/query.ts";
import { QueryTree } from "../parse/query-tree.ts";
import type { ServiceClause } from "../structure/analysis.ts";
import { certainVariables, requiredTriples } from "../structure/certain-variables.ts";
import type { Group } from "../parse/outline.ts";
import { isPath } from "../patterns/query-patterns.ts";
import { declarationsOf } from "../parse/prologue.ts";
import { mentionedVariables, visibleInGroup } from "../structure/scope.ts";
import { isMonotoneGroup } from "../patterns/monotone.ts";
import { type Substitution, substitutionOf } from "./substitution.ts";
import { type Token } from "../parse/tokens.ts";
import { unitedServices } from "./united-services.ts";
import type { Pattern, Term, Triple } from "sparqljs";

/** A variable that a clause can bind. */
interface ClauseVariable {
  /** Without `?`. */
  readonly name: string;
  /** Bound in every solution of the clause (no OPTIONAL, UNION branch, UNDEF or failing BIND can leave it out). */
  readonly certain: boolean;
  /** It stands for properties. */
  readonly kind?: "property" | undefined;
  /** It is subject or predicate of a triple that each solution matches. */
  readonly noLiterals?: true | undefined;
}

/**
 * A SERVICE clause, cut out of a query's text: requests to its endpoint are built from exactly this text, so no algebra is
 * printed back to SPARQL on the way.
 */
export interface ClauseText {
  /** `urn:fedway:clause:N`. */
  readonly iri: string;
  /** Stands for the clause in the skeleton, together with those of the same pattern that a UNION joins: the IRI of the first. */
  readonly place?: string | undefined;
  readonly silent: boolean;
  /** Variables in scope at the clause's end (SPARQL 1.1 Query, section 18.2.1), in order of appearance. */
  readonly variables: readonly ClauseVariable[];
  /** BASE and PREFIX declarations that `pattern` needs. */
  readonly prologue: string;
  /** The clause's group graph pattern, braces included. */
  readonly pattern: string;
  /** Variables that triples at the very beginning of `pattern` bind, before anything but FILTERs; absent for a subselect. */
  readonly opening?: readonly string[] | undefined;
  /** For a clause inside EXISTS: how values are substituted, which is not the same as joining them. */
  readonly substitution?: Substitution | undefined;
  /**
   * "place": missing solutions of it can add rows to the answer that are not in the true one. "body": that is so only where
   * its endpoint answers it in part.
   */
  readonly nonMonotone?: "place" | "body" | undefined;
  /** Constants that narrow the pattern (terms other than classes and predicates, FILTERs, VALUES rows); orders joins. */
  readonly selectivity: number;
}

/** With its target as written, `<...>` or `?` included. */
type TargetedClause = ClauseText & { readonly target: string };

/**
 * Cuts the outermost SERVICE clauses out of a query. What remains has in each place a clause of the same scope,
 * `SERVICE <urn:fedway:clause:N> { <urn:fedway:clause:N> <urn:fedway:binds> ?its, ?variables }`, so that it parses to the
 * algebra of the whole query. A UNION of one pattern at several endpoints is one such clause.
 */
export function splitClauses(query: Query) {
  const { text, tokens } = query;
  const clauses: TargetedClause[] = [];
  const bodies: QueryTree[] = [];
  let skeleton = "";
  let copied = 0;
  const united = new Map(unitedServices(query).flatMap((each) => each.services.map((service) => [service.from, each])));
  const services = query.services.filter(({ parent }) => parent === undefined);
  for (const service of services.toSorted((a, b) => a.element.from - b.element.from)) {
    const { union, services: together } = united.get(service.element.from) ?? {
      union: service.element,
      services: [service.element],
    };
    if (together[0]?.from !== service.element.from) continue;
    const place = `urn:fedway:clause:${clauses.length}`;
    const clause = toClause(query, service, place);
    const target = itemAt(tokens, service.element.name);
    const silent = clause.silent ? "SILENT " : "";
    const before = text.slice(copied, itemAt(tokens, union.from).start);
    skeleton += `${before}SERVICE ${silent}<${place}> { ${placeholder(clause, target)} }`;
    copied = itemAt(tokens, union.to - 1).end;
    for (const { name, group } of together) {
      const { start, end } = itemAt(tokens, name);
      bodies.push(QueryTree.ofGroup(group));
      clauses.push({ ...clause, iri: `urn:fedway:clause:${clauses.length}`, target: text.slice(start, end) });
    }
  }
  return { skeleton: skeleton + text.slice(copied), clauses, bodies };
}

function placeholder({ place, variables }: ClauseText, target: Token): string {
  const names = new Set(variables.map(({ name }) => name));
  if (target.kind === "var") names.add(target.text.slice(1));
  if (names.size === 0) return "";
  return `<${place}> <urn:fedway:binds> ${[...names].map((name) => `?${name}`).join(", ")}`;
}

function toClause(query: Query, service: ServiceClause, place: string): ClauseText {
  const { text, tokens } = query;
  const { group, silent } = service.element;
  const prologue = declarationsOf(text, tokens);
  const pattern = query.textOf(group);
  const where = group.patterns;
  const certain = certainVariables(where);
  const predicates = predicateVariables(where);
  const resources = new Set(resourceVariables(where));
  return {
    iri: place,
    place,
    silent,
    prologue,
    pattern,
    variables: [...visibleInGroup(tokens, group)].map((variable) => ({
      name: variable,
      certain: certain.has(variable),
      kind: predicates.has(variable) ? "property" : undefined,
      noLiterals: resources.has(variable) || undefined,
    })),
    opening: group.select ? undefined : openingOf(tokens, group),
    substitution: service.place.includes("exists") ? substitutionOf(tokens, group) : undefined,
    nonMonotone: query.mayAddRows && !isMonotoneGroup(where) ? "body" : undefined,
    selectivity: selectivityOf(where),
  };
}

function openingOf(tokens: readonly Token[], { elements }: Group): readonly string[] {
  const other = elements.findIndex(({ kind }) => kind !== "triples" && kind !== "filter");
  const first = other < 0 ? elements : elements.slice(0, other);
  const names = new Set<string>();
  for (const element of first) {
    if (element.kind === "triples") for (const name of mentionedVariables(tokens, element)) names.add(name);
  }
  return [...names];
}

/** Variables that stand for the predicate of a triple pattern, which each solution matches. */
const predicateVariables = (patterns: readonly Pattern[]): Set<string> =>
  new Set(
    requiredTriples(patterns).flatMap(({ predicate }) =>
      !isPath(predicate) && predicate.termType === "Variable" ? predicate.value : [],
    ),
  );

/** Variables whose values are no literals, because of the place where they stand in triples that each solution matches. */
const resourceVariables = (patterns: readonly Pattern[]): readonly string[] =>
  patterns.flatMap((pattern): readonly string[] => {
    switch (pattern.type) {
      case "bgp":
        return pattern.triples.flatMap(({ subject, predicate }) => [
          ...(beginsAtResource(predicate) ? variableIn(subject) : []),
          ...(isPath(predicate) ? [] : variableIn(predicate)),
        ]);
      case "group":
        return resourceVariables(pattern.patterns);
      case "graph":
        return [...variableIn(pattern.name), ...resourceVariables(pattern.patterns)];
      case "query": {
        const shown = new Set(pattern.variables.flatMap((one) => ("termType" in one ? [one.value] : [])));
        const inner = resourceVariables(pattern.where ?? []);
        return shown.has("*") ? inner : inner.filter((name) => shown.has(name));
      }
      default:
        return [];
    }
  });

const variableIn = (term: Term): readonly string[] => (term.termType === "Variable" ? [term.value] : []);

/** Zero-length and inverse paths begin at literals, too. */
function beginsAtResource(path: Triple["predicate"]): boolean {
  if (!isPath(path)) return true;
  const [first] = path.items;
  const isOnward = path.pathType === "/" || path.pathType === "+";
  return isOnward && first !== undefined && beginsAtResource(first);
}

/** How much constants narrow a group: subjects and objects that are terms (classes aside), filters, inline data. */
function selectivityOf(patterns: readonly Pattern[]): number {
  return patterns.reduce((sum, pattern) => sum + selectivityOfPattern(pattern), 0);
}

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

function selectivityOfPattern(pattern: Pattern): number {
  switch (pattern.type) {
    case "bgp":
      return pattern.triples.reduce((sum, triple) => sum + selectivityOfTriple(triple), 0);
    case "filter":
      return 1;
    case "values":
      return 4;
    case "query":
      return selectivityOf(pattern.where ?? []) + (pattern.limit === undefined ? 0 : 2);
    case "group":
    case "graph":
      return selectivityOf(pattern.patterns);
    default:
      return 0;
  }
}

function selectivityOfTriple({ subject, predicate, object }: Triple): number {
  const isClass = "termType" in predicate && predicate.value === rdfType;
  return (isConstant(subject) ? 3 : 0) + (isConstant(object) && !isClass ? 2 : 0);
}

function isConstant({ termType }: Term): boolean {
  return termType === "NamedNode" || termType === "Literal";
}
