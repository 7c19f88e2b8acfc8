import type { Problem, Repair } from "../errors/fedway-error.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { estimateTokens } from "../registry/schema/compose-view.ts";
import { plainText } from "../registry/schema/text.ts";
import type { Hint } from "./tool.ts";

/** Tokens of a diagnosis. */
const mostTokens = 150;
/** Characters of a suggested query; what changes in a longer one is said by its repairs. */
const longestSuggested = 4_000;
/** Of its first line, where the others need the room. */
const mostDetailTokens = 60;

/** What a model does next where the problem's own advice is for people and HTTP clients; the first that can be said. */
const advice: Partial<Record<ErrorCode, readonly string[]>> = {
  ENDPOINT_UNKNOWN: ["{find_endpoints} gives the ids of endpoints that fit a question."],
  DESCRIPTION_UNKNOWN: [
    "Nothing is known of its schema yet: SELECT DISTINCT ?class { ?s a ?class } LIMIT 50 with {run_query} and its id as {run_query.endpoint} shows its classes.",
  ],
  RUN_UNKNOWN: ["Run the query again with {run_query}; records are kept for a while only."],
  RESULT_UNKNOWN: ["Run the query again with {run_query}; results are kept for a while only."],
  RESULT_EXPIRED: ["Run the query again with {run_query}."],
  SERVICE_REQUIRED: [
    "Name an endpoint or federation as {run_query.endpoint}; {find_endpoints} gives the ids of those that fit a question.",
    "Name an endpoint or federation as {run_query.endpoint}.",
  ],
  SERVICE_TARGET_REFUSED: [
    "SERVICE takes the URL or id of an endpoint, or the id of a federation; {find_endpoints} gives ids that fit a question.",
    "SERVICE takes the URL or id of an endpoint, or the id of a federation.",
  ],
  ANSWER_TOO_LARGE: ["Ask for fewer rows or columns: add LIMIT or name more terms."],
  DEADLINE_EXCEEDED: ["Narrow the query with LIMIT or more constants, or raise {run_query.timeout_s}."],
};

/** Words that only the operator or a client of the HTTP API can do anything with. */
const notForModels =
  /\/(?:api|sparql|docs|login|health)\b|\b(?:GET|POST|PUT|DELETE) \/|\bFedway-|\bFEDWAY_|\bREDIS_|\bmaxRows\b|\bpartial(?:=|\b.*\bagain\b|\.)|\bfedway \w+|(?:^|\s)--\w/;

/** The problem with advice that a model can follow: no routes, headers or settings, and no tool that is switched off. */
export function problemForModel(problem: Problem, hint: Hint): Problem {
  const own = (problem.next ?? "")
    .split(/(?<=[.?!])\s+/)
    .filter((sentence) => sentence !== "" && !notForModels.test(sentence))
    .flatMap((sentence) => hint(sentence) ?? []);
  const better = (advice[problem.code] ?? []).flatMap((sentence) => hint(sentence) ?? []).slice(0, 1);
  const next = [...(own.some((sentence) => sentence.startsWith("Did you mean")) ? own : better), ...own];
  return { ...problem, next: next.length === 0 ? undefined : [...new Set(next)].slice(0, 2).join(" ") };
}

/**
 * What is wrong, where, what would mend it and what to do next, in at most 150 tokens, and the query with that. What helps most is never left out for
 * what only tells more: the first repair comes before the next step, then what is nearest, then the place.
 */
export function problemText(problem: Problem): string {
  const { code, detail, repairs = [], suggested, suggestions = [], endpoints = [], next = "" } = problem;
  const nearest = suggestions.slice(0, 3).map(({ term }) => plainText(term, 80));
  const [first, second] = repairs.map(repairText);
  const lines: readonly Line[] = [
    { text: labelled("Where: ", placeText(problem)), rank: 4 },
    { text: first ?? "", rank: 1 },
    { text: second ?? "", rank: 5 },
    { text: labelled("Nearest: ", nearest.join(" | ")), rank: 3 },
    { text: labelled("Next: ", plainText(next, 240)), rank: 2 },
    { text: labelled("Endpoints: ", endpoints.slice(0, 5).join(", ")), rank: 6 },
  ];
  const said = `${code}: ${plainText(detail, 300)}`;
  const told = within(shortened(said, mostDetailTokens), lines, shortened(said, mostTokens));
  return suggested === undefined || suggested.length > longestSuggested ? told : `${told}\nsuggested:\n${suggested}`;
}

interface Line {
  readonly text: string;
  /** Smaller is more important. */
  readonly rank: number;
}

const labelled = (label: string, text: string): string => (text === "" ? "" : label + text);

function placeText({ where: { line, column, endpoint, pattern } = {} }: Problem): string {
  const parts = [
    line !== undefined && `line ${line}${column === undefined ? "" : `:${column}`}`,
    endpoint !== undefined && `endpoint ${plainText(endpoint, 80)}`,
    pattern !== undefined && `pattern ${plainText(pattern, 120)}`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}

/** A repair that was made or is offered, on one line. */
export function repairText({ applied, before, after, why }: Repair): string {
  const [from, to] = [plainText(before, 120), plainText(after, 300)];
  const change =
    from === "" ? `added ${to}` : to === "" ? `removed ${from}` : from === to ? `moved ${to}` : `${from} -> ${to}`;
  return `${applied ? "Repaired" : "Repair"}: ${change}${why === undefined ? "" : ` (${why})`}`;
}

/** In their order the lines that fit beside the first one, chosen by rank; the first is as long as they leave room. */
function within(short: string, lines: readonly Line[], long: string): string {
  const chosen = new Set<Line>();
  const textWith = (head: string): string =>
    [head, ...lines.filter((line) => chosen.has(line)).map(({ text }) => text)].join("\n");
  for (const line of lines.toSorted((left, right) => left.rank - right.rank)) {
    if (line.text === "") continue;
    chosen.add(line);
    if (estimateTokens(textWith(short)) > mostTokens) chosen.delete(line);
  }
  const whole = textWith(long);
  return estimateTokens(whole) <= mostTokens ? whole : textWith(short);
}

function shortened(text: string, most: number): string {
  let short = text;
  while (estimateTokens(short) > most) short = `${short.slice(0, Math.floor(short.length * 0.8))}…`;
  return short;
}
