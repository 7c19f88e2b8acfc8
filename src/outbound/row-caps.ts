import { type FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { Bindings } from "../results/model.ts";
import { acceptFor } from "../results/negotiation.ts";
import { parseAnswer } from "../results/parse.ts";
import type { Call } from "./call.ts";
import { decodedBody } from "./content-coding.ts";
import { partialRefused } from "./partial-answers.ts";
import type { AnswerEnd, PartialReason, SparqlRequest } from "./sparql-client.ts";
import { parseCheck } from "./whole-answer.ts";

const fewestRows = 1_000;
const countName = "fedway_rows";
/** No answer has as many rows. */
const beyondAll = 999_999_999;
/** Time for one question: at most this, and half of what is left. */
const mostMs = 15_000;

/**
 * Looks into an answer that looks whole and may have been cut without a sign: it has a round number of rows that no LIMIT
 * explains. The endpoint is asked to count them, and for a row behind them, which does not depend on an order: at most
 * three small questions. What it is found to cut at is known from then on.
 * @returns undefined where there is nothing to look into; else the end, or the error for who does not take a part
 */
export function lookedInto(call: Call, end: AnswerEnd, status: number): Promise<AnswerEnd | FedwayError> | undefined {
  const { request } = call;
  const { rows, partial } = end;
  if (request.looksInto !== true || partial !== undefined) return undefined;
  if (request.kind === "quads") return lookedIntoGraph(call, end, status);
  if (request.kind === "boolean") return undefined;
  if (rows === undefined || rows < fewestRows || rows === request.limit || !isRound(rows)) return undefined;
  return look(call, { ...end, rows }, status);
}

/** As people set limits: thousands, and powers of two. */
const isRound = (rows: number): boolean => rows % 1_000 === 0 || (rows & (rows - 1)) === 0;

async function look(
  call: Call,
  end: AnswerEnd & { readonly rows: number },
  status: number,
): Promise<AnswerEnd | FedwayError> {
  const { request, state, context } = call;
  const questions = new Questions(call);
  try {
    const more = await hasMore(questions, end.rows);
    const looked = { ...end, requests: questions.requests };
    if (more === false) return looked;
    if (more === true) {
      state.rowCap = { rows: end.rows, isSilent: true };
      context.onLearned?.(request.endpoint, { rowCap: end.rows });
    }
    const partial = more === true ? cutWithoutSign(end.rows) : unknownCut(end.rows);
    return request.acceptPartial === true ? { ...looked, partial } : call.located(partialRefused(partial, status));
  } catch (error) {
    return call.located(toFedwayError(error));
  }
}

const fewestTriples = 10;

/**
 * The same for a graph, whose triples do not show how many solutions there were: the endpoint is asked to count the triples,
 * unless a graph at least half as large, or a table, has been found to be whole.
 */
function lookedIntoGraph(call: Call, end: AnswerEnd, status: number): Promise<AnswerEnd | FedwayError> | undefined {
  const { request, state } = call;
  const triples = end.rows ?? end.atMost ?? 0;
  const known = Math.max(2 * state.wholeTriples, request.endpoint.wholeRows ?? 0);
  if (request.tripleCount === undefined || triples < fewestTriples || triples <= known) return undefined;
  return lookAtGraph(call, { ...end, triples }, status);
}

async function lookAtGraph(
  call: Call,
  { triples, ...end }: AnswerEnd & { readonly triples: number },
  status: number,
): Promise<AnswerEnd | FedwayError> {
  const { request, state } = call;
  const questions = new Questions(call);
  try {
    const count = await questions.ask(request.tripleCount ?? "");
    const looked = { ...end, requests: questions.requests };
    if (count !== undefined && count <= triples) state.wholeTriples = triples;
    if (count === undefined || count <= triples) return looked;
    const detail = `The endpoint sent ${end.rows === undefined ? "at most " : ""}${triples} of the ${count} triples of this graph and did not say so.`;
    const partial: PartialReason = { how: "row-cap", detail };
    return request.acceptPartial === true ? { ...looked, partial } : call.located(partialRefused(partial, status));
  } catch (error) {
    return call.located(toFedwayError(error));
  }
}

const cutWithoutSign = (rows: number): PartialReason => ({
  how: "row-cap",
  detail: `The endpoint cut its answer at ${rows} rows and did not say so: it has more.`,
});

const unknownCut = (rows: number): PartialReason => ({
  how: "row-cap-unknown",
  detail: `The endpoint sent exactly ${rows} rows, and did not answer when it was asked whether it has more: it is unknown if it cuts answers there.`,
});

/** Undefined when the endpoint does not say. */
async function hasMore(questions: Questions, rows: number): Promise<boolean | undefined> {
  const count = await questions.count();
  if (count !== undefined && count > rows) return true;
  const hasOne = await questions.hasRowBehind(rows);
  if (hasOne !== true) return count === undefined ? hasOne : false;
  // Its count may have been cut too, or it may not heed OFFSET.
  const beyond = await questions.hasRowBehind(beyondAll);
  if (beyond === false) return true;
  return count === undefined ? undefined : false;
}

/** Questions about the rows of one query. */
class Questions {
  /** Requests that they took. */
  requests = 0;
  readonly #call: Call;
  readonly #parts: QueryParts | undefined;

  constructor(call: Call) {
    this.#call = call;
    this.#parts = partsOf(call.request.query);
  }

  /** Undefined when it is not answered. */
  async count(): Promise<number | undefined> {
    if (this.#parts === undefined) return undefined;
    const { prologue, dataset, select } = this.#parts;
    return this.ask(`${prologue}SELECT (COUNT(*) AS ?${countName}) ${dataset}WHERE { ${select}\n}`);
  }

  /** The number that a query counts. */
  async ask(query: string): Promise<number | undefined> {
    const rows = await this.#ask(query);
    const count = rows?.[0]?.get(countName)?.value ?? "";
    return /^\d{1,15}$/u.test(count) ? Number(count) : undefined;
  }

  async hasRowBehind(rows: number): Promise<boolean | undefined> {
    const found = await this.#ask(behind(this.#call.request.query, rows));
    return found && found.length > 0;
  }

  async #ask(query: string): Promise<readonly Bindings[] | undefined> {
    const { request, context, clock } = this.#call;
    const deadlineMs = Math.min(request.deadlineMs, clock.now() + Math.min(mostMs, this.#call.leftMs / 2));
    try {
      this.requests += 1;
      const answer = await context.query({ ...aboutRows(request), query, deadlineMs });
      this.requests += answer.requests - 1;
      answer.end.catch(() => {});
      const check = parseCheck({ ...request, deadlineMs }, clock.now);
      const { mediaType } = answer;
      const result = await parseAnswer(decodedBody(answer), { mediaType, kind: "bindings", check });
      const found: Bindings[] = [];
      if (result.kind === "bindings") for await (const row of result.rows) found.push(row);
      return found;
    } catch (error) {
      if (request.signal.aborted) throw error;
      return undefined;
    }
  }
}

const mostBytes = 1_048_576;

const aboutRows = (request: SparqlRequest): SparqlRequest => ({
  ...request,
  kind: "bindings",
  accept: acceptFor("bindings"),
  encoding: "decode",
  columns: undefined,
  limit: undefined,
  looksInto: false,
  tripleCount: undefined,
  acceptPartial: true,
  maxBytes: mostBytes,
});

/** The parts of a SELECT query that stand apart when it becomes a subquery. */
interface QueryParts {
  readonly prologue: string;
  /** FROM and FROM NAMED. */
  readonly dataset: string;
  /** The rest. */
  readonly select: string;
}

const prologueOf = /^(?:\s|#[^\n]*\n|prefix\s+[^\s<]+\s*<[^>]*>|base\s*<[^>]*>|version\s*(?:"[^"]*"|'[^']*'))*/iu;
/** Texts in which FROM is no keyword, then FROM with its graph, and the beginning of the pattern. */
const beforePattern =
  /<[^<>"{}|^`\\\s]*>|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|\bfrom\s+(?:named\s+)?(?:<[^>]*>|[^\s<{:]*:[^\s{]*)|\{/giu;

/** Undefined for a text that is no SELECT query. */
function partsOf(query: string): QueryParts | undefined {
  const prologue = prologueOf.exec(query)?.[0] ?? "";
  const text = query.slice(prologue.length);
  if (!/^select\b/iu.test(text)) return undefined;
  const graphs: RegExpExecArray[] = [];
  for (const found of text.matchAll(beforePattern)) {
    if (found[0] === "{") break;
    if (/^from\b/iu.test(found[0])) graphs.push(found);
  }
  let select = text;
  for (const { index, 0: graph } of graphs.toReversed())
    select = select.slice(0, index) + select.slice(index + graph.length);
  return { prologue, dataset: graphs.map(([graph]) => `${graph} `).join(""), select };
}

/** LIMIT and OFFSET at the end can only be the outermost ones. */
const lastModifiers = /\b(limit|offset)\s{1,20}(\d{1,12})\s{0,20}(?:(limit|offset)\s{1,20}(\d{1,12})\s{0,20})?$/iu;

/** The same query, for one row behind those that came. */
function behind(query: string, rows: number): string {
  const found = lastModifiers.exec(query.slice(-120));
  const own = found?.[0] ?? "";
  const offset = Number(/offset\s+(\d+)/iu.exec(own)?.[1] ?? 0);
  return `${query.slice(0, query.length - own.length)}\nOFFSET ${offset + rows} LIMIT 1`;
}
