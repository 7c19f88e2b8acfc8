import { itemAt } from "../../../src/values.ts";
import {
  type Element,
  elementsWithin,
  isWord,
  type Query,
  parseQuery,
  type TextEdit,
} from "../../../src/sparql/query.ts";

/** The text with GRAPH in the place of SERVICE: what one store with the shards as named graphs is asked. */
export function graphForm(text: string): Query {
  const query = parseQuery(text);
  const services = [...elementsWithin(query.outline.groups)].filter(({ kind }) => kind === "service");
  return parseQuery(query.cut(services.map(({ from }) => ({ range: { from, to: from + 1 }, replacement: "GRAPH" }))));
}

/**
 * The same query for a store that has the shards as named graphs: a UNION of one pattern in each of several graphs is written as that
 * pattern in a graph that is one of them. Oxigraph 0.5 goes through a whole branch of a UNION for each solution of another one.
 * @param query as `graphForm` gives it
 * @param without URL of a shard that is not there
 */
export function queryOfGraphs(query: Query, without?: string): string {
  const lost = `<${without}>`;
  const elements = [...elementsWithin(query.outline.groups)];
  const unions = canHaveMore(query) ? elements.flatMap((element) => alikeBranches(query, element) ?? []) : [];
  const written = new Set(unions.flatMap(({ branches }) => branches));
  const missing = elements.filter(
    (each) => each.kind === "graph" && graphIn(query, each) === lost && !written.has(each),
  );
  const taken = query.variablesIn({ from: 0, to: query.tokens.length });
  let number = 0;
  const variable = (): string => {
    do number += 1;
    while (taken.has(`graph${number}`));
    return `?graph${number}`;
  };
  const edits = unions.map(({ element, graphs, pattern }): TextEdit => {
    const name = variable();
    const there = graphs.filter((graph) => graph !== lost).join(", ");
    return { range: element, replacement: `GRAPH ${name} ${pattern} FILTER(${name} IN (${there}))` };
  });
  const gaps = missing.map(({ from }) => ({
    range: { from: from + 1, to: from + 2 },
    replacement: "<urn:fedway:down>",
  }));
  return query.cut([...edits, ...gaps, ...(unions.length > 0 ? writtenStars(query) : [])]);
}

const graphIn = (query: Query, { from }: Element): string => itemAt(query.tokens, from + 1).text;

/** A UNION of one and the same group in each of several graphs. */
function alikeBranches(query: Query, element: Element) {
  const { kind, groups } = element;
  const branches = groups.flatMap(({ elements }) => elements);
  const isOfGraphs = groups.every(({ elements }) => elements.length === 1 && elements[0]?.kind === "graph");
  if (kind !== "union" || groups.length === 1 || !isOfGraphs) return undefined;
  const [pattern = "", ...others] = new Set(
    branches.flatMap((each) => each.groups).map((group) => query.textOf(group)),
  );
  return others.length > 0
    ? undefined
    : { element, branches, pattern, graphs: branches.map((each) => graphIn(query, each)) };
}

const starsOf = ({ selects }: Query) => selects.filter(({ projectsAll }) => projectsAll);

/** False for queries that would show variables that are added, or count them. */
const canHaveMore = (query: Query): boolean =>
  !query.tokens.some(
    (token, at) =>
      isWord(token, "DISTINCT") && query.tokens[at + 1]?.text === "*" && query.tokens[at + 2]?.text === ")",
  ) && starsOf(query).every((select) => query.projected(select).size > 0);

/** `SELECT *` without the variables that are added. */
const writtenStars = (query: Query): readonly TextEdit[] =>
  starsOf(query).map((select) => ({
    range: { from: select.head.to - 1, to: select.head.to },
    replacement: Array.from(query.projected(select), (name) => `?${name}`).join(" "),
  }));
