import type { Pattern } from "sparqljs";
import { editText, type TextEdit, textOf } from "./edit-text.ts";
import type { Group, ServiceElement, TokenRange } from "./outline.ts";
import type { ParsedQuery } from "./parse-query.ts";
import { isPath } from "./query-patterns.ts";
import { visibleInGroup } from "./scope.ts";
import { runSparqlParser } from "./parser-tables.ts";
import { isWord, type Token, tokenAt } from "./tokens.ts";
import { xsd } from "../rdf/vocabularies.ts";

/** How the solutions of a clause would be counted. */
export interface CountedClause {
  readonly service: ServiceElement;
  readonly isGrouped: boolean;
}

/**
 * The text of a query over a UNION of SERVICE clauses, with its COUNTs in the clauses and the sums of these outside; undefined
 * for every other query, and where one of the clauses may not count. A UNION has the solutions of all of its branches, so
 * they add up. It may be grouped by predicates: these are IRIs, which everybody tells apart alike, while endpoints store
 * literals of one value as one term, or group them as one; and there are few, while an endpoint has as many groups of
 * subjects as it has resources, which with their counts can be more to send than the solutions.
 */
export function withCountsInClauses(
  query: ParsedQuery,
  mayCount: (clause: CountedClause) => boolean,
): string | undefined {
  const services = unitedServices(query);
  const counts = services && countsOf(query);
  if (!services || !counts) return undefined;
  const { keys, calls } = counts;
  const isGrouped = keys.length > 0;
  const wanted = [...new Set(calls.map(({ argument }) => argument))];
  if (!services.every((service) => mayCount({ service, isGrouped }) && binds(query, service.group, { keys, wanted }))) {
    return undefined;
  }
  const name = freshName(query);
  const named = new Map(wanted.map((argument, index) => [argument, `${name}${index}`]));
  const names = keys.map((key) => `${key} `).join("");
  const inner = [...named].map(([argument, variable]) => `(COUNT(${argument}) AS ${variable})`).join(" ");
  const groupBy = isGrouped ? ` GROUP BY ${names.trim()}` : "";
  return editText(query, [
    // An endpoint may give its counts as numbers of another type, or as texts.
    ...calls.map(({ range, argument }) => edit(range, `SUM(<${xsd.integer}>(${named.get(argument) ?? ""}))`)),
    ...services.map(({ group }) => edit(group, `{ SELECT ${names}${inner} WHERE ${textOf(query, group)}${groupBy} }`)),
  ]);
}

const edit = (range: TokenRange, replacement: string): TextEdit => ({ range, replacement });

/** The clauses of a WHERE that is a UNION of them and nothing else. */
function unitedServices({ outline }: ParsedQuery): readonly ServiceElement[] | undefined {
  const { form, where, values, exists } = outline;
  if (form !== "SELECT" || where === undefined || values !== undefined || exists.length > 0) return undefined;
  return servicesOf(where);
}

function servicesOf({ select, elements }: Group): readonly ServiceElement[] | undefined {
  const [element, another] = elements;
  if (select || another) return undefined;
  if (element?.kind === "service") return element.silent ? undefined : [element];
  if (element?.kind !== "union") return undefined;
  const branches = element.branches.map((branch) => servicesOf(branch));
  return branches.every((services) => services !== undefined) ? branches.flat() : undefined;
}

interface Counts {
  /** Variables of GROUP BY, with `?` or `$`. */
  readonly keys: readonly string[];
  readonly calls: readonly CountCall[];
}

interface CountCall {
  readonly range: TokenRange;
  /** `*`, or a variable. */
  readonly argument: string;
}

const aggregates = ["COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT"];

/** What a query counts, if that is all it does with its solutions but for grouping them by variables. */
function countsOf(query: ParsedQuery): Counts | undefined {
  const { tokens, outline } = query;
  const keys = keysOf(query);
  const own = [outline.head, outline.tail].flatMap(({ from, to }) => [...tokens.keys()].slice(from, to));
  const found = own.filter((at) => isWord(tokens[at], ...aggregates)).map((at) => countAt(tokens, at));
  const calls = found.flatMap((call) => call ?? []);
  if (!keys || calls.length === 0 || calls.length < found.length) return undefined;
  const isCounted = (at: number): boolean => calls.some(({ range }) => at >= range.from && at < range.to);
  const variables = own.filter((at) => tokens[at]?.kind === "var" && !isCounted(at));
  const assigned = variables.filter((at) => isWord(tokens[at - 1], "AS"));
  const known = new Set([...keys, ...assigned.map((at) => tokens[at]?.text)]);
  return variables.every((at) => known.has(tokens[at]?.text)) ? { keys, calls } : undefined;
}

/** `COUNT(*)` or `COUNT(?v)`. */
function countAt(tokens: readonly Token[], at: number): CountCall | undefined {
  const [argument, end] = [tokenAt(tokens, at + 2), tokenAt(tokens, at + 3)];
  const isPlain = isWord(tokens[at], "COUNT") && (argument.kind === "var" || argument.text === "*") && end.text === ")";
  return isPlain ? { range: { from: at, to: at + 4 }, argument: argument.text } : undefined;
}

/** The variables of GROUP BY, none without it; undefined where it has expressions. */
function keysOf({ tokens, outline: { tail } }: ParsedQuery): readonly string[] | undefined {
  if (!isWord(tokens[tail.from], "GROUP")) return [];
  const keys: string[] = [];
  for (let at = tail.from + 2; at < tail.to; at++) {
    const token = tokenAt(tokens, at);
    if (isWord(token, "HAVING", "ORDER", "LIMIT", "OFFSET")) break;
    if (token.kind !== "var") return undefined;
    keys.push(token.text);
  }
  return [...new Set(keys)];
}

/** Whether a clause has what is counted of it, and binds each key to a predicate in every solution. */
function binds(
  query: ParsedQuery,
  group: Group,
  { keys, wanted }: { readonly keys: readonly string[]; readonly wanted: readonly string[] },
): boolean {
  const visible = visibleInGroup(query.tokens, group);
  if (!wanted.every((argument) => argument === "*" || visible.has(argument.slice(1)))) return false;
  if (keys.length === 0) return true;
  const prologue = textOf(query, { from: 0, to: query.prologue.length });
  const parsed = runSparqlParser(`${prologue} SELECT * WHERE ${textOf(query, group)}`);
  const predicates = new Set(parsed.type === "query" ? namesOfPredicates(parsed.where ?? []) : []);
  return keys.every((key) => predicates.has(key.slice(1)));
}

/** Variables that stand for the predicate of a triple pattern, which each solution matches. */
function namesOfPredicates(patterns: readonly Pattern[]): readonly string[] {
  return patterns.flatMap((pattern) => {
    if (pattern.type === "group") return namesOfPredicates(pattern.patterns);
    if (pattern.type !== "bgp") return [];
    return pattern.triples.flatMap(({ predicate }) =>
      !isPath(predicate) && predicate.termType === "Variable" ? predicate.value : [],
    );
  });
}

/** The beginning of variables that the query does not have. */
function freshName({ text }: ParsedQuery): string {
  let name = "fedway_count";
  while (text.includes(name)) name += "_";
  return `?${name}`;
}
