import type { Repair } from "../../errors/fedway-error.ts";

/** A part of a text that may be the query, and what is left out around it. */
export interface QuerySlice {
  readonly start: number;
  readonly end: number;
  readonly repairs: readonly Repair[];
}

const reasoningEnd = /<\/(?:think|thinking|thought|reasoning|reflection|analysis|scratchpad)>/gi;
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
  for (const fence of fences(text, from)) {
    const code = text.slice(fence.start, fence.end);
    if (form.test(code)) found.set(code.trim(), fence);
  }
  const [only, ...others] = found.values();
  return others.length === 0 ? only : undefined;
}

/** The code of each fence. Each line is read once: an expression for a fence goes back over long runs of its marks. */
function* fences(text: string, from: number): Generator<Span> {
  for (let lineEnd = text.indexOf("\n", from); lineEnd >= 0; lineEnd = text.indexOf("\n", from)) {
    const mark = openingMark(text.slice(from, lineEnd));
    from = lineEnd + 1;
    if (mark === undefined) continue;
    const fence = { start: from, end: fenceEnd(text, from, mark) };
    yield fence;
    from = text.indexOf(mark, fence.end) + mark.length;
    if (fence.end === text.length) return;
  }
}

/** Three or more marks behind which the line has no backtick. */
function openingMark(line: string): string | undefined {
  const last = line.lastIndexOf("`");
  let first = last;
  while (line[first - 1] === "`") first -= 1;
  return last - first >= 2 ? line.slice(first, last + 1) : /~{3,}/.exec(line.slice(last + 1))?.[0];
}

/** The end of the line before the one that begins with the mark; the end of the text where none does. */
function fenceEnd(text: string, from: number, mark: string): number {
  for (let end = text.indexOf("\n", from); end >= 0; end = text.indexOf("\n", end + 1)) {
    let at = end + 1;
    while (text[at] === " " || text[at] === "\t") at += 1;
    if (text.startsWith(mark, at)) return end;
  }
  return text.length;
}

const mostStarts = 6;
const mostEnds = 8;
/** Lines behind a query that are looked at, from the last one on. */
const mostBreaks = 40;

function* withoutProse(text: string, { start, end }: Span): Generator<Span> {
  const inside = text.slice(start, end);
  const starts = [...inside.matchAll(queryStart)].slice(0, mostStarts).map(({ index }) => start + index);
  for (const from of starts) {
    if (hidesQuery(text.slice(start, from))) return;
    for (const to of endsOf(text, from, end)) yield { start: from, end: to };
  }
}

const hidesQuery = (dropped: string): boolean => /[{}]|<[^\s<>][^\s<>:]*:[^\s<>]*>/.test(dropped);

/** Ends behind which nothing but prose follows, the farthest first. */
function endsOf(text: string, from: number, end: number): readonly number[] {
  const last = text.lastIndexOf("}", end - 1) + 1;
  const behind = last > from ? text.slice(last, end) : "";
  const breaks = [...behind.matchAll(/\n|`+/g)].map(({ index }) => last + index);
  const limit = /^\s*(?:(?:LIMIT|OFFSET)\s+\d+\s*)+/i.exec(behind)?.[0].trimEnd().length;
  const ends = [
    end,
    ...breaks.slice(-mostBreaks).toReversed(),
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
