import type { Group, SelectOutline, ServiceElement } from "./outline.ts";
import type { ParsedQuery } from "./parse-query.ts";
import { afterPrologue } from "./resolve-iri.ts";
import { groupsOf, mentionedVariables, visibleInGroup } from "./scope.ts";
import { runSparqlParser } from "./sparql-parser.ts";
import { type Substitution, substitutionOf } from "./substitution.ts";
import { type Token, tokenAt } from "./tokens.ts";
import type { Pattern, PropertyPath, SelectQuery, Term, Triple, VariableTerm } from "sparqljs";

/** A SERVICE clause with a constant target, cut out of a query's text. */
interface ClauseText {
  /** Stands for the target in the skeleton. */
  readonly iri: string;
  /** The target as written, `<...>` included. */
  readonly target: string;
  readonly silent: boolean;
  /** BASE and PREFIX declarations of the query. */
  readonly prologue: string;
  /** The group, braces included. */
  readonly pattern: string;
  readonly variables: readonly { readonly name: string; readonly certain: boolean }[];
  /** Variables of the triples that the group begins with; FILTERs may stand among them. */
  readonly opening: readonly string[];
  /** For a clause inside EXISTS: how values are substituted, which is not the same as joining them. */
  readonly substitution: Substitution | undefined;
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
 * algebra of the whole query.
 */
export function splitClauses({ text, tokens, outline }: ParsedQuery): SplitQuery {
  const prologue = text.slice(0, tokenAt(tokens, afterPrologue(tokens)).start);
  const clauses: ClauseText[] = [];
  let skeleton = "";
  let copied = 0;
  for (const { service, inExists } of servicesOfSelect(outline, false).toSorted(inTextOrder)) {
    const clause = toClause({ text, tokens, prologue, service, inExists, iri: `urn:fedway:clause:${clauses.length}` });
    const target = tokenAt(tokens, service.name);
    const end = tokenAt(tokens, service.to - 1).end;
    skeleton += `${text.slice(copied, target.start)}<${clause.iri}> { ${placeholder(clause)} }`;
    copied = end;
    clauses.push(clause);
  }
  return { skeleton: skeleton + text.slice(copied), clauses };
}

function placeholder({ iri, variables }: ClauseText): string {
  if (variables.length === 0) return "";
  return `<${iri}> <urn:fedway:binds> ${variables.map(({ name }) => `?${name}`).join(", ")}`;
}

interface ClauseSite {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly prologue: string;
  readonly service: ServiceElement;
  readonly inExists: boolean;
  readonly iri: string;
}

function toClause({ text, tokens, prologue, service, inExists, iri }: ClauseSite): ClauseText {
  const { group, silent, name } = service;
  const pattern = text.slice(tokenAt(tokens, group.from).start, tokenAt(tokens, group.to - 1).end);
  const target = tokenAt(tokens, name);
  const parsed = runSparqlParser(`${prologue}SELECT * WHERE ${pattern}`);
  const where = parsed.type === "query" ? (parsed.where ?? []) : [];
  const certain = certainVariables(where);
  const variables = [...visibleInGroup(tokens, group)].map((variable) => ({
    name: variable,
    certain: certain.has(variable),
  }));
  return {
    iri,
    target: text.slice(target.start, target.end),
    silent,
    prologue,
    pattern,
    variables,
    opening: openingOf(tokens, group),
    substitution: inExists ? substitutionOf(tokens, group) : undefined,
    selectivity: selectivityOf(where),
  };
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

interface FoundService {
  readonly service: ServiceElement;
  readonly inExists: boolean;
}

const inTextOrder = (a: FoundService, b: FoundService): number => a.service.from - b.service.from;

const servicesOfSelect = ({ exists, where }: SelectOutline, inExists: boolean): FoundService[] => [
  ...servicesIn(exists, true),
  ...servicesIn(where ? [where] : [], inExists),
];

/** The outermost SERVICE clauses of groups. */
function servicesIn(groups: readonly Group[], inExists: boolean): FoundService[] {
  return groups.flatMap(({ select, elements }) => {
    if (select) return servicesOfSelect(select, inExists);
    return elements.flatMap((element) => {
      if (element.kind === "service") return [{ service: element, inExists }];
      return servicesIn(groupsOf(element), inExists || element.kind === "filter" || element.kind === "bind");
    });
  });
}

/**
 * Variables that every solution of a group's elements binds. Errs on the safe side: one that is left out may still be
 * bound everywhere.
 */
function certainVariables(patterns: readonly Pattern[]): Set<string> {
  return new Set(patterns.flatMap((pattern) => [...certainInPattern(pattern)]));
}

function certainInPattern(pattern: Pattern): Iterable<string> {
  switch (pattern.type) {
    case "bgp":
      return pattern.triples.flatMap(({ subject, predicate, object }) => [subject, predicate, object].flatMap(nameOf));
    case "group":
      return certainVariables(pattern.patterns);
    case "graph":
      return [...nameOf(pattern.name), ...certainVariables(pattern.patterns)];
    case "service":
      // A silenced service may give one solution that binds nothing.
      return pattern.silent ? [] : [...nameOf(pattern.name), ...certainVariables(pattern.patterns)];
    case "union": {
      const [first = [], ...others] = pattern.patterns.map((branch) => new Set(certainInPattern(branch)));
      return [...first].filter((name) => others.every((branch) => branch.has(name)));
    }
    case "values":
      return certainInRows(pattern.values);
    case "query":
      return certainInSelect(pattern);
    default:
      // OPTIONAL and MINUS bind nothing for certain, a BIND's expression may fail.
      return [];
  }
}

function certainInRows(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return [...names].filter((name) => rows.every((row) => row[name] !== undefined)).map((name) => name.slice(1));
}

function certainInSelect(query: SelectQuery): Iterable<string> {
  const inner = certainVariables(query.where ?? []);
  for (const name of certainInRows(query.values ?? [])) inner.add(name);
  const plain = query.variables.flatMap((variable) => ("termType" in variable ? [variable] : []));
  if (plain.some(({ termType }) => termType === "Wildcard")) return inner;
  return plain.map(({ value }) => value).filter((name) => inner.has(name));
}

function nameOf(term: Term | PropertyPath): string[] {
  return isVariable(term) ? [term.value] : [];
}

function isVariable(term: Term | PropertyPath): term is VariableTerm {
  return "termType" in term && term.termType === "Variable";
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
