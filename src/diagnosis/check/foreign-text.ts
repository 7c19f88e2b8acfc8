import type { Repair } from "../../errors/fedway-error.ts";

/** A part of a text that may be the query, and what is left out around it. */
export interface QuerySlice {
  readonly start: number;
  readonly end: number;
  readonly repairs: readonly Repair[];
}

const reasoningEnd = /<\/(?:think|thinking|thought|reasoning|reflection|analysis|scratchpad)>/gi;
const reasoning = /<(think|thinking|thought|reasoning|reflection|analysis|scratchpad)>[\s\S]*?<\/\1>/gi;
const fenced = /(```+|~~~+)[^\n`]*\n([\s\S]*?)(?:\n[ \t]*\1|$)/g;
const form = /\b(?:SELECT|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE)\b/i;
const queryStart =
  /(?<![\w:?$/#<-])(?:PREFIX\s+[\w.-]*:\s*<|BASE\s*<|(?:SELECT|CONSTRUCT|ASK|DESCRIBE|INSERT|DELETE|WITH)\b)/gi;

/**
 * The parts of a text that may be the query alone, most of it first: the whole; what follows reasoning tags; the only code
 * fence with a query in it; the rest without prose before and behind it. Prose cannot be a broken part of
 * the query: no braces, no variables, no IRIs in it.
 */
export function* querySlices(text: string): Generator<QuerySlice> {
  yield { start: 0, end: text.length, repairs: [] };
  const start = behindReasoning(text);
  const answer = { start, end: text.length };
  if (start > 0) yield sliceOf(text, answer);
  const fence = onlyFence(text, start);
  if (fence !== undefined) yield sliceOf(text, fence);
  for (const part of withoutProse(text, fence ?? answer)) yield sliceOf(text, part);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const shownAtMost = 120;

function sliceOf(text: string, { start, end }: Span): QuerySlice {
  const around = [text.slice(0, start), text.slice(end)].filter((part) => part.trim() !== "");
  const before = around.map((part) => part.trim());
  const shown = before.map((part) => (part.length > shownAtMost ? `${part.slice(0, shownAtMost)}…` : part));
  return {
    start,
    end,
    repairs: shown.map((part) => ({ kind: "text-around", before: part, after: "", applied: true })),
  };
}

/** Where the answer begins: behind the last closing tag that no query holds. */
function behindReasoning(text: string): number {
  let start = 0;
  for (const { index, 0: tag } of text.matchAll(reasoningEnd)) start = index + tag.length;
  return start;
}

/** The code in the one fence that has a query; undefined when there is none, or several that differ. */
function onlyFence(text: string, from: number): Span | undefined {
  const found = new Map<string, Span>();
  for (const { index, 0: whole, 2: code = "" } of text.slice(from).matchAll(fenced)) {
    if (!form.test(code)) continue;
    const start = from + index + whole.indexOf("\n") + 1;
    found.set(code.trim(), { start, end: start + code.length });
  }
  const [only, ...others] = found.values();
  return others.length === 0 ? only : undefined;
}

const mostStarts = 6;
const mostEnds = 8;

function* withoutProse(text: string, { start, end }: Span): Generator<Span> {
  const inside = text.slice(start, end);
  const starts = [...inside.matchAll(queryStart)].slice(0, mostStarts).map(({ index }) => start + index);
  for (const from of starts) {
    if (hidesQuery(text.slice(start, from).replaceAll(reasoning, ""))) return;
    for (const to of endsOf(text, from, end)) yield { start: from, end: to };
  }
}

const hidesQuery = (dropped: string): boolean => /[{}]|<[^\s<>]+:[^\s<>]*>/.test(dropped);

/** Ends behind which nothing but prose follows, the farthest first. */
function endsOf(text: string, from: number, end: number): readonly number[] {
  const last = text.lastIndexOf("}", end - 1) + 1;
  const behind = last > from ? text.slice(last, end) : "";
  const breaks = [...behind.matchAll(/\n|`+/g)].map(({ index }) => last + index);
  const limit = /^\s*(?:(?:LIMIT|OFFSET)\s+\d+\s*)+/i.exec(behind)?.[0].trimEnd().length;
  const ends = [
    end,
    ...breaks.toReversed(),
    ...(limit === undefined ? [] : [last + limit]),
    ...(last > from ? [last] : []),
  ];
  return [...new Set(ends)].filter((to) => isProse(text.slice(to, end))).slice(0, mostEnds);
}

/** Nothing, only marks, or a sentence: three words and no part of a query. */
function isProse(dropped: string): boolean {
  if (!/[\p{L}\p{N}]/u.test(dropped)) return !/[{}]/.test(dropped);
  if (hidesQuery(dropped) || /[?$]\w|^\s*(?:FETCH|LIMIT|OFFSET|TOP)\b/i.test(dropped)) return false;
  return (dropped.match(/\p{L}{2,}/gu) ?? []).length >= 3;
}
