import { tagOf } from "../../rdf/term-text.ts";
import { amountText } from "../../figures.ts";
import type { WholeAnswer } from "../../outbound/whole-answer.ts";
import type * as RDF from "@rdfjs/types";
import type { FedwayError } from "../../errors/fedway-error.ts";
import type { ProbeOutcome } from "./capabilities.ts";
import type { Answered, Failed } from "../descriptions/request-log.ts";

/** Undefined when an answer is the right one, else the unexpected one, in one line. */
export type Judge = (answer: WholeAnswer) => string | undefined;

const longest = 200;

/** One line of bounded length, without control characters. */
const oneLine = (text: string): string =>
  text
    .slice(0, 4 * longest)
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .slice(0, longest);

const isNumber = (text: string): boolean => text.length < 40 && /^[+-]?[\d.]+(?:[eE][+-]?\d+)?$/u.test(text);

/** Numbers by value: `2`, `2.0` and `"2"^^xsd:decimal` are one answer. Their datatypes are a probe of their own. */
function cellOf(term: RDF.Term | undefined): string {
  if (term === undefined) return "-";
  return term.termType === "Literal" && isNumber(term.value) ? String(Number(term.value)) : term.value;
}

/** A term with everything that makes it this term and no other. */
function exactly(term: RDF.Term | undefined): string {
  if (term === undefined) return "-";
  if (term.termType !== "Literal") return `${term.termType} ${term.value}`;
  const suffix = term.language === "" ? `^^${term.datatype.value}` : `@${tagOf(term)}`;
  return `"${term.value}"${suffix}`;
}

const shown = (lines: readonly string[]): string =>
  oneLine(`${amountText(lines.length, "row")}${lines.length === 0 ? "" : `: ${lines.slice(0, 5).join(" | ")}`}`);

function compared(got: readonly string[], expected: readonly string[]): string | undefined {
  const same = JSON.stringify(got.toSorted()) === JSON.stringify(expected.toSorted());
  return same ? undefined : shown(got);
}

const linesOf =
  (variables: readonly string[], cell: (term: RDF.Term | undefined) => string) =>
  ({ rows }: WholeAnswer): string[] =>
    rows.map((row) => variables.map((name) => cell(row.get(name))).join(", "));

/** These solutions in any order; a cell is a term's value, `-` where it is unbound. */
export const solutions =
  (variables: readonly string[], ...expected: readonly (readonly string[])[]): Judge =>
  (answer) =>
    compared(
      linesOf(variables, cellOf)(answer),
      expected.map((row) => row.join(", ")),
    );

/** These terms of one variable in any order, with datatype and language. */
export const terms =
  (variable: string, ...expected: readonly string[]): Judge =>
  (answer) =>
    compared(linesOf([variable], exactly)(answer), expected);

/** One solution with a blank node. */
export const blankNode =
  (variable: string): Judge =>
  ({ rows }) => {
    const term = rows[0]?.get(variable);
    if (rows.length === 1 && term?.termType === "BlankNode") return undefined;
    return shown(rows.map((row) => exactly(row.get(variable))));
  };

/** These triples and no others: subject, predicate and object by value. */
export const triples =
  (...expected: readonly (readonly string[])[]): Judge =>
  ({ quads }) =>
    compared(
      quads.map(({ subject, predicate, object }) => [subject, predicate, object].map(cellOf).join(" ")),
      expected.map((triple) => triple.join(" ")),
    );

/** Statuses that speak of the request's surroundings, not of the query. */
const besideTheQuery = new Set([401, 404, 405, 407, 408, 415, 421, 425, 429]);

/** The endpoint turned this query down, and gave the blame to the query. */
function isRefusal({ code, details }: FedwayError): boolean {
  if (code !== "ENDPOINT_REJECTED_QUERY" && code !== "ENDPOINT_REFUSED") return false;
  const status = details.upstreamStatus ?? 0;
  return status >= 400 && status < 500 && !besideTheQuery.has(status);
}

/** Judges an answer or failure of a probed construct. */
export function outcomeOf(attempt: Answered<WholeAnswer> | Failed, judge: Judge): ProbeOutcome {
  const { value: answer, durationMs } = attempt;
  if (answer === undefined) {
    const { error } = attempt;
    const verdict = isRefusal(error) ? "refused" : "failed";
    return { verdict, detail: oneLine(`${error.code}: ${error.message}`), durationMs };
  }
  const instead = judge(answer);
  if (instead === undefined) return { verdict: "right", durationMs };
  // Rows reported missing do not make the received ones wrong.
  if (answer.partial !== undefined) return { verdict: "failed", detail: oneLine(answer.partial.detail), durationMs };
  return { verdict: "wrong", detail: instead, durationMs };
}
