import { certainVariables, parsedGroup } from "./certain-variables.ts";
import { type ClauseNeeds, clauseNeeds } from "./clause-needs.ts";
import { textOf } from "./edit-text.ts";
import type { Group } from "./outline.ts";
import type { ParsedQuery } from "./parse-query.ts";
import { afterPrologue } from "./resolve-iri.ts";
import { mentionedVariables, visibleInGroup } from "./scope.ts";
import { isMonotone } from "./monotone.ts";
import { type Substitution, substitutionOf } from "./substitution.ts";
import { type Token, tokenAt } from "./tokens.ts";
import { sendableCondition } from "./sendable-condition.ts";
import type { Pattern, Term, Triple } from "sparqljs";

/** A SERVICE clause, cut out of a query's text. */
interface ClauseText {
  /** Stands for the target in the skeleton. */
  readonly iri: string;
  /** The target as written, `<...>` or `?` included. */
  readonly target: string;
  readonly silent: boolean;
  /** BASE and PREFIX declarations of the query. */
  readonly prologue: string;
  /** The group, braces included, and the conditions of the query that it can be asked with. */
  readonly pattern: string;
  readonly variables: readonly { readonly name: string; readonly certain: boolean }[];
  /** Each solution is wanted once. */
  readonly distinct: true | undefined;
  /** Any so many solutions are enough. */
  readonly limit: number | undefined;
  /** Variables of the triples that the group begins with; FILTERs may stand among them. */
  readonly opening: readonly string[];
  /** For a clause inside EXISTS: how values are substituted, which is not the same as joining them. */
  readonly substitution: Substitution | undefined;
  /** Missing triples can add solutions to its own. */
  readonly nonMonotone: "body" | undefined;
  readonly selectivity: number;
}

/** A query without the bodies of its SERVICE clauses, and those bodies. */
interface SplitQuery {
  readonly skeleton: string;
  readonly clauses: readonly ClauseText[];
}

/**
 * Cuts the outermost SERVICE clauses out of a query. What remains has in each place a clause of the same scope,
 * `SERVICE <urn:fedway:clause:N> { <urn:fedway:clause:N> <urn:fedway:binds> ?its, ?variables }`, so that it parses to the
 * algebra of the whole query, but for variables that nothing outside of the clause looks at.
 */
export function splitClauses(query: ParsedQuery): SplitQuery {
  const { text, tokens } = query;
  const prologue = text.slice(0, tokenAt(tokens, afterPrologue(tokens)).start);
  const clauses: ClauseText[] = [];
  let skeleton = "";
  let copied = 0;
  for (const needs of clauseNeeds(query)) {
    const { service } = needs;
    const clause = toClause({ text, tokens, prologue, needs, iri: `urn:fedway:clause:${clauses.length}` });
    const target = tokenAt(tokens, service.name);
    const end = tokenAt(tokens, service.to - 1).end;
    skeleton += `${text.slice(copied, target.start)}<${clause.iri}> { ${placeholder(clause, target)} }`;
    copied = end;
    clauses.push(clause);
  }
  return { skeleton: skeleton + text.slice(copied), clauses };
}

function placeholder({ iri, variables }: ClauseText, target: Token): string {
  const names = new Set(variables.map(({ name }) => name));
  if (target.kind === "var") names.add(target.text.slice(1));
  if (names.size === 0) return "";
  return `<${iri}> <urn:fedway:binds> ${[...names].map((name) => `?${name}`).join(", ")}`;
}

interface ClauseSite {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly prologue: string;
  readonly needs: ClauseNeeds;
  readonly iri: string;
}

function toClause(site: ClauseSite): ClauseText {
  const { text, tokens, prologue, needs, iri } = site;
  const { group, silent, name } = needs.service;
  const target = tokenAt(tokens, name);
  const where = parsedGroup(prologue, textOf(site, group));
  const certain = certainVariables(where);
  const visible = [...visibleInGroup(tokens, group)];
  const shown = visible.filter((variable) => needs.variables?.has(variable) !== false);
  const substitution = needs.inExists ? substitutionOf(tokens, group) : undefined;
  const isAnyEnough = needs.once && shown.length === 0 && !substitution;
  const limit = isAnyEnough ? Math.min(1, needs.limit ?? 1) : needs.limit;
  const conditions = pushedConditions(site, certain);
  return {
    iri,
    target: text.slice(target.start, target.end),
    silent,
    prologue,
    pattern: withConditions(textOf(site, group), group, conditions),
    variables: shown.map((variable) => ({ name: variable, certain: certain.has(variable) })),
    // Where no variable is left out, few patterns have a solution twice.
    distinct: needs.once && limit !== 1 && (shown.length < visible.length || limit !== undefined) ? true : undefined,
    limit,
    opening: openingOf(tokens, group),
    substitution,
    nonMonotone: isMonotone(where) ? undefined : "body",
    selectivity: selectivityOf(where) + conditions.length * PUSHED_SELECTIVITY,
  };
}

/** The conditions that the clause can be asked with: it binds all of their variables. */
function pushedConditions(site: ClauseSite, certain: ReadonlySet<string>): readonly string[] {
  const { tokens, prologue, needs } = site;
  // What is written behind a subselect goes around it, where values that are substituted no longer have their places.
  if (needs.inExists && needs.service.group.select) return [];
  return needs.conditions.flatMap((range) => {
    const names = [...mentionedVariables(tokens, range)];
    if (names.length === 0 || names.some((name) => !certain.has(name))) return [];
    const [parsed] = parsedGroup(prologue, `{ FILTER(${textOf(site, range)}) }`);
    const condition = parsed?.type === "filter" ? sendableCondition(parsed.expression) : undefined;
    return condition ? [`FILTER(${condition.text})`] : [];
  });
}

/** Behind everything else in the group, so that what stands in it keeps its place. */
function withConditions(pattern: string, { select }: Group, conditions: readonly string[]): string {
  if (conditions.length === 0) return pattern;
  const body = select ? pattern : pattern.slice(1, -1);
  return `{${body} ${conditions.join(" ")} }`;
}

function openingOf(tokens: readonly Token[], { select, elements }: Group): readonly string[] {
  if (select) return [];
  const other = elements.findIndex(({ kind }) => kind !== "triples" && kind !== "filter");
  const first = other < 0 ? elements : elements.slice(0, other);
  const names = new Set<string>();
  for (const element of first) {
    if (element.kind === "triples") for (const name of mentionedVariables(tokens, element)) names.add(name);
  }
  return [...names];
}

/** How much constants narrow a group: subjects and objects that are terms (classes aside), filters, inline data. */
function selectivityOf(patterns: readonly Pattern[]): number {
  return patterns.reduce((sum, pattern) => sum + selectivityOfPattern(pattern), 0);
}

// As much as a constant in the place of an object.
const PUSHED_SELECTIVITY = 2;
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
