import type { ErrorCode } from "../errors/codes.ts";
import type { Problem } from "../errors/fedway-error.ts";
import type { Hint } from "./tool.ts";

/** Next steps for a model where the problem's own advice is for people and HTTP clients; the first possible one is shown. */
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
  /\/(?:api|sparql|docs|login|health)\b|\b(?:GET|POST|PUT|DELETE) \/|\bFedway-|\bFEDWAY_|\bREDIS_|\bmaxRows\b|\bpartial(?:=|\b.{0,200}\bagain\b|\.)|\bfedway \w+|(?:^|\s)--\w/;

/** The problem with advice that a model can follow: no routes, headers or settings, and no tool that is switched off. */
export function problemForModel(problem: Problem, hint: Hint): Problem {
  const own = (problem.next ?? "")
    // The dots of `{ ... }` end no sentence.
    .split(/(?<=(?<!\.\.)[.?!])\s+/)
    .map((sentence) => (/\/adapters\b/.test(sentence) ? "{accept_adapter} keeps it for all queries." : sentence))
    .filter((sentence) => sentence !== "" && !notForModels.test(sentence.replaceAll(/\bhttps?:\S+/g, "")))
    .flatMap((sentence) => hint(sentence) ?? []);
  const better = (advice[problem.code] ?? []).flatMap((sentence) => hint(sentence) ?? []).slice(0, 1);
  const next = [...(own.some((sentence) => sentence.startsWith("Did you mean")) ? own : better), ...own];
  return {
    ...problem,
    ...shortEvidence(problem),
    next: next.length === 0 ? undefined : [...new Set(next)].slice(0, 2).join(" "),
  };
}

/** Characters of questions that a model is shown. */
const mostEvidence = 2_000;

/** The first question of each statement, as far as they are short. */
function shortEvidence({ statements }: Problem): Pick<Problem, "statements"> {
  let room = mostEvidence;
  const short = statements?.flatMap(({ claim, evidence: [first] }) => {
    room -= first?.query.length ?? 0;
    return first === undefined || room < 0 ? [] : [{ claim, evidence: [first] }];
  });
  return short === undefined || short.length === 0 ? { statements: undefined } : { statements: short };
}
