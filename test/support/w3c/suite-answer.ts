import { extname } from "node:path";
import { Readable } from "node:stream";
import type oxigraph from "oxigraph";
import type { QueryResult } from "../../../src/results/model.ts";
import { parseAnswer } from "../../../src/results/parse.ts";
import { termToText } from "../../../src/results/terms.ts";
import { canonicalText } from "../canonical-answer.ts";
import { suiteText, suiteTriples } from "./suite.ts";

/**
 * An answer as lines of terms: a row's cells are `?name` and a term in turn, a triple's are its three terms. Numbers are
 * compared by value (`canonicalText`), blank nodes up to their labels.
 */
export interface SuiteAnswer {
  readonly kind: "bindings" | "boolean" | "quads";
  readonly lines: readonly (readonly string[])[];
  /** Order of the rows is part of the answer. */
  readonly inOrder: boolean;
}

/** Blank nodes of data for several endpoints, which are IRIs there: no blank node is the same at two endpoints. */
export const blankIris = "urn:w3c-blank:";

const canonical = (text: string): string => {
  if (text.startsWith(`<${blankIris}`)) return `_:${text.slice(1 + blankIris.length, -1)}`;
  return text.startsWith("_:") ? text : canonicalText(text);
};

const mediaTypes: Readonly<Record<string, string>> = {
  ".srx": "application/sparql-results+xml",
  ".srj": "application/sparql-results+json",
  ".tsv": "text/tab-separated-values",
  ".csv": "text/csv",
};

/** The format to ask for, so that each one is asked for where the suite expects it. */
export const wantedFormat = (result: string, kind: SuiteAnswer["kind"]): string =>
  kind === "quads" ? "application/n-triples" : (mediaTypes[extname(result)] ?? "application/sparql-results+json");

/** The answer that a file of the suites holds. */
export async function expectedAnswer(result: string): Promise<SuiteAnswer> {
  const mediaType = mediaTypes[extname(result)];
  if (mediaType === undefined) return expectedGraph(suiteTriples(result));
  const text = suiteText(result);
  return readAnswer(text, mediaType, /<boolean>|"boolean"/u.test(text) ? "boolean" : "bindings");
}

/** The answer that a body holds. */
export async function readAnswer(body: string, mediaType: string, kind: SuiteAnswer["kind"]): Promise<SuiteAnswer> {
  return answerOf(await parseAnswer(Readable.from([Buffer.from(body)]), { mediaType, kind }));
}

/** A result in comparable form. */
export async function answerOf(result: QueryResult): Promise<SuiteAnswer> {
  const { kind } = result;
  if (kind === "boolean") return { kind, lines: [[String(result.value)]], inOrder: false };
  const lines: string[][] = [];
  if (kind === "quads") {
    for await (const { subject, predicate, object } of result.quads)
      lines.push([subject, predicate, object].map((term) => canonical(termToText(term))));
    return { kind, lines: distinct(lines), inOrder: false };
  }
  for await (const row of result.rows) lines.push(line([...row].map(([name, term]) => [name, termToText(term)])));
  return { kind, lines, inOrder: true };
}

const line = (cells: readonly (readonly [string, string])[]): string[] =>
  cells.toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(([name, text]) => [`?${name}`, canonical(text)]);

const distinct = (lines: readonly string[][]): readonly string[][] => [
  ...new Map(lines.map((one) => [one.join(" "), one])).values(),
];

const rs = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#";

/** A graph, or solutions described in one (the DAWG's result set vocabulary). */
function expectedGraph(triples: readonly oxigraph.Quad[]): SuiteAnswer {
  const of = (subject: oxigraph.Term, name: string): oxigraph.Term[] =>
    triples
      .filter((triple) => triple.subject.equals(subject) && triple.predicate.value === rs + name)
      .map(({ object }) => object);
  const set = triples.find(({ object }) => object.value === `${rs}ResultSet`)?.subject;
  if (!set) {
    const lines = triples.map((triple) => [triple.subject, triple.predicate, triple.object].map(textOf).map(canonical));
    return { kind: "quads", lines: distinct(lines), inOrder: false };
  }
  const [value] = of(set, "boolean");
  if (value) return { kind: "boolean", lines: [[value.value]], inOrder: false };
  const solutions = of(set, "solution").map((solution) => ({
    index: Number(of(solution, "index")[0]?.value),
    cells: of(solution, "binding").flatMap((binding) =>
      of(binding, "variable").map((name) => [name.value, textOf(of(binding, "value")[0])] as const),
    ),
  }));
  const inOrder = solutions.length > 0 && solutions.every(({ index }) => !Number.isNaN(index));
  const sorted = inOrder ? solutions.toSorted((a, b) => a.index - b.index) : solutions;
  return { kind: "bindings", lines: sorted.map(({ cells }) => line(cells)), inOrder };
}

const textOf = (term: oxigraph.Term | undefined): string => String(term);

/** How an answer differs from the expected one; undefined when it is the same. */
export function suiteDifference(
  expected: SuiteAnswer,
  actual: SuiteAnswer,
  { inOrder = false, lax = false } = {},
): string | undefined {
  const same = lax ? isWithin(expected.lines, actual.lines) : isSame(expected.lines, actual.lines, inOrder);
  if (expected.kind === actual.kind && same) return undefined;
  const lacking = (from: Lines, other: Lines, sign: string) => {
    const others = new Set(other.map(shape));
    return from.filter((one) => !others.has(shape(one))).map((one) => `  ${sign} ${one.join(" ")}`);
  };
  return [
    `expected ${expected.lines.length} lines${inOrder ? " in order" : ""}, got ${actual.lines.length}`,
    ...lacking(expected.lines, actual.lines, "-").slice(0, 20),
    ...lacking(actual.lines, expected.lines, "+").slice(0, 20),
  ].join("\n");
}

const shape = (one: readonly string[]): string => one.map((cell) => (cell.startsWith("_:") ? "_:" : cell)).join(" ");

type Lines = SuiteAnswer["lines"];

/** Every expected row at least once, and none more often than expected (mf:LaxCardinality). */
function isWithin(expected: Lines, actual: Lines): boolean {
  const count = (lines: Lines, text: string) => lines.filter((one) => one.join(" ") === text).length;
  const texts = [...expected, ...actual].map((one) => one.join(" "));
  return texts.every((text) => count(actual, text) >= 1 && count(actual, text) <= count(expected, text));
}

/** Equal up to a bijection of blank nodes, found by trying. */
function isSame(expected: Lines, actual: Lines, inOrder: boolean): boolean {
  if (expected.length !== actual.length) return false;
  const used = new Set<number>();
  let tries = 100_000;
  const matchFrom = (at: number, labels: ReadonlyMap<string, string>): boolean => {
    const wanted = expected[at];
    if (!wanted) return true;
    return actual.some((one, index) => {
      if (used.has(index) || (inOrder && index !== at) || tries-- <= 0) return false;
      const extended = withLabels(wanted, one, labels);
      if (!extended) return false;
      used.add(index);
      if (matchFrom(at + 1, extended)) return true;
      used.delete(index);
      return false;
    });
  };
  return matchFrom(0, new Map());
}

/** The labels with those that make two lines equal; undefined when none do. */
function withLabels(
  wanted: readonly string[],
  got: readonly string[],
  labels: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> | undefined {
  if (wanted.length !== got.length) return undefined;
  const extended = new Map(labels);
  for (const [index, term] of wanted.entries()) {
    const other = got[index] ?? "";
    const isBlank = term.startsWith("_:") && other.startsWith("_:");
    if (!isBlank && term !== other) return undefined;
    if (!isBlank) continue;
    if ((extended.get(term) ?? other) !== other || (extended.get(`<${other}`) ?? term) !== term) return undefined;
    extended.set(term, other).set(`<${other}`, term);
  }
  return extended;
}
