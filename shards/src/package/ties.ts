import { compareText } from "../../../src/rdf/canonical.ts";
import { type Group, groupsWithin, type Query, parseQuery } from "../../../src/sparql/query.ts";
import { rowsOfTerms } from "../verify/answer-store.ts";
import { type KeyedQuery, keyedQuery } from "../verify/uncut-query.ts";
import { cellsOf } from "./canonical-rows.ts";
import type { Solution, WholeStore } from "./whole-store.ts";

/** Solutions that are equal in order, of which LIMIT and OFFSET leave any `take`. */
interface TiedSolutions {
  readonly tied: readonly Solution[];
  readonly take: number;
}

/** The classes of equal solutions, in order, of which LIMIT and OFFSET leave some. */
export function tiedSolutions(
  { keys, offset, limit = Infinity }: KeyedQuery,
  solutions: readonly Solution[],
): readonly TiedSolutions[] {
  const classes: Solution[][] = [];
  let last: string | undefined;
  for (const solution of solutions) {
    const text = JSON.stringify(cellsOf(solution, keys));
    if (text !== last) classes.push([]);
    classes.at(-1)?.push(solution);
    last = text;
  }
  let at = 0;
  return classes.flatMap((tied) => {
    const from = Math.max(at, offset);
    at += tied.length;
    const take = Math.min(at, offset + limit) - from;
    return take > 0 ? [{ tied, take }] : [];
  });
}

/** A query for each choice that LIMIT and OFFSET inside of it leave. */
interface ChosenQueries {
  readonly queries: readonly Query[];
  /** There are no other choices. */
  readonly isComplete: boolean;
}

const mostQueries = 20;
/** Solutions that one LIMIT may take of a class. */
const mostTaken = 100;

/**
 * Writes the solutions that a sub-SELECT with LIMIT or OFFSET may have in its place, for each choice among equal ones; at most 20
 * queries. Inner ones come first, as their choices are part of those around them. The query itself where it leaves no choice, and
 * where choices are unknown. @throws as the store
 */
export async function chosenQueries(query: Query, store: WholeStore): Promise<ChosenQueries> {
  const pending = [{ query, settled: 0 }];
  const queries: Query[] = [];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    if (queries.length === mostQueries) return { queries, isComplete: false };
    const { query: open, settled } = next;
    const groups = limitedGroups(open);
    const group = groups?.at(-1 - settled);
    const choices = group && (await choicesOf(open, group, store));
    if (groups === undefined || (group !== undefined && choices === undefined))
      return { queries: [query], isComplete: false };
    if (group === undefined) queries.push(open);
    else if (choices === undefined || choices.length < 2) pending.unshift({ query: open, settled: settled + 1 });
    else {
      const chosen = choices.map((replacement) => parseQuery(open.cut([{ range: group, replacement }])));
      pending.unshift(...chosen.map((each) => ({ query: each, settled })));
    }
  }
  return { queries, isComplete: true };
}

/**
 * The sub-SELECTs with LIMIT or OFFSET, each before those inside it. Undefined when one is not evaluated alone over the default
 * graph of the store.
 */
function limitedGroups({ outline }: Query): readonly Group[] | undefined {
  const groups = [...groupsWithin(outline.groups)];
  const limited = groups.filter(
    ({ select }) => select !== undefined && ("limit" in select.tree || "offset" in select.tree),
  );
  const tested = [outline, ...groups.flatMap(({ select }) => select ?? [])].flatMap(({ exists }) => exists);
  const elsewhere = groups
    .flatMap(({ elements }) => elements)
    .filter(({ kind }) => kind === "filter" || kind === "bind" || kind === "graph" || kind === "service")
    .flatMap((element) => element.groups);
  const apart = new Set(groupsWithin([...tested, ...elsewhere]));
  const isUnknown = outline.datasets.length > 0 || limited.some((group) => apart.has(group));
  return limited.length > 0 && isUnknown ? undefined : limited;
}

/** Groups of inline data with the solutions that a sub-SELECT may have; those of an only choice are not written. */
async function choicesOf(query: Query, { select }: Group, store: WholeStore): Promise<readonly string[] | undefined> {
  if (select === undefined) return undefined;
  const declared = query.textOf({ from: 0, to: query.prologue.length });
  const keyed = keyedQuery(parseQuery(`${declared}\n${query.textOf(select)}`));
  const answer = keyed && (await store.ask(keyed.text));
  if (keyed === undefined || answer?.kind !== "bindings") return undefined;
  const classes = tiedSolutions(keyed, answer.solutions).map(({ tied, take }) => ({
    take,
    rows: tied.map((solution) => rowOf(solution, keyed.columns)).toSorted((a, b) => compareText(a.text, b.text)),
  }));
  const cut = classes.filter(isCut);
  if (cut.length === 0) return [""];
  if (cut.some(({ take }) => take > mostTaken)) return undefined;
  const whole = classes.filter((each) => !isCut(each)).flatMap(({ take, rows }) => rows.slice(0, take));
  const choices: string[] = [];
  for (const chosen of picksOfAll(cut)) {
    const rows = rowsOfTerms(
      keyed.columns,
      [...whole, ...chosen].map(({ solution }) => solution),
    );
    if (rows === undefined) return undefined;
    const names = keyed.columns.map((name) => `?${name}`).join(" ");
    choices.push(`{ VALUES (${names}) { ${rows.map((row) => `(${row.join(" ")})`).join(" ")} } }`);
    // One more shows that there are others.
    if (choices.length > mostQueries) break;
  }
  return choices;
}

interface RankedRow {
  readonly solution: Solution;
  readonly text: string;
}

interface RankedClass {
  readonly take: number;
  readonly rows: readonly RankedRow[];
}

const isCut = ({ take, rows }: RankedClass): boolean =>
  take < rows.length && rows.some(({ text }) => text !== rows[0]?.text);

const rowOf = (solution: Solution, columns: readonly string[]): RankedRow => ({
  solution,
  text: JSON.stringify(columns.map((name) => solution[name] ?? null)),
});

function* picksOfAll([first, ...more]: readonly RankedClass[]): Generator<readonly RankedRow[]> {
  if (first === undefined) yield [];
  else for (const own of picksOf(first)) for (const others of picksOfAll(more)) yield [...own, ...others];
}

/** Any `take` of sorted rows, each multiset once. */
function* picksOf({ take, rows }: RankedClass): Generator<readonly RankedRow[]> {
  if (take === 0) yield [];
  const firsts = take === 0 ? [] : rows.slice(0, rows.length - take + 1);
  for (const [at, row] of firsts.entries()) {
    if (row.text === rows[at - 1]?.text) continue;
    for (const others of picksOf({ take: take - 1, rows: rows.slice(at + 1) })) yield [row, ...others];
  }
}
