import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { ScanVerdict } from "../results/answer-reader.ts";
import type { Bindings } from "../results/model.ts";
import { acceptFor } from "../results/negotiation.ts";
import { parseAnswer } from "../results/parse.ts";
import type { QueryTask } from "./task.ts";
import { decodedBody } from "./content-coding.ts";
import { quoted } from "./excerpt.ts";
import { headerOf, type ResponseHeaders } from "./media-types.ts";
import { brokeOff } from "./refusals.ts";
import type { AnswerEnd, PartialReason, SparqlRequest } from "./sparql-request.ts";
import { parseCheck } from "./whole-answer.ts";

/** Signs in the head or the trailers of an answer that it is not whole. */
export interface PartialSigns {
  /** Rows are missing. */
  readonly partial?: PartialReason | undefined;
  /** The endpoint reports a failure beside a good status: header and value. */
  readonly failure?: string | undefined;
  /** Rows that the endpoint says there are. */
  readonly total?: number | undefined;
  /** Virtuoso's row cap, sent with a plain 200; only the number of rows shows if it was hit. */
  readonly rowCap?: number | undefined;
  /** A cap that is known of the endpoint while this answer names none: cut answers look like whole ones. */
  readonly silentCap?: number | undefined;
}

const anytime: PartialReason = {
  how: "virtuoso-anytime",
  detail: "The endpoint ran out of time and sent the rows it had so far (Virtuoso anytime query, S1TAT).",
};
const status206: PartialReason = {
  how: "status-206",
  detail: "The endpoint marked its answer as partial (HTTP status 206).",
};

/** Nothing is said; nearly all answers have these. */
export const noSigns: PartialSigns = {};

type Reads = (value: string, name: string) => PartialSigns | undefined;

const told = (how: PartialReason["how"], value: string, name: string): PartialSigns => ({
  partial: { how, detail: `The endpoint says that its answer is not whole (${name}${quoted(value)}).` },
});
const fails = (value: string, name: string): PartialSigns => ({ failure: `${name}${quoted(value)}` });

const isNothing = (value: string): boolean => /^(?:|0|no|none|null|false|off|ok)$/iu.test(value);
const badStatus = /^(?:[45]\d\d\b|err|fail|exception|abort|cancel|timed?[ -]?out)/iu;
const partialStatus = /^(?:206\b|partial|incomplete|truncated)/iu;

const pages: Reads = (value, name) => (isNothing(value) ? undefined : told("next-page", value, name));
const failing: Reads = (value, name) => (isNothing(value) ? undefined : fails(value, name));

function ofStatus(value: string, name: string): PartialSigns | undefined {
  if (badStatus.test(value)) return fails(value, name);
  return partialStatus.test(value) ? told("announced", value, name) : undefined;
}

/** SQLSTATE (ISO 9075): classes 00, 01 and 02 are no errors. */
function ofSqlState(value: string, name: string): PartialSigns | undefined {
  if (value.toUpperCase() === "S1TAT") return { partial: anytime };
  return /^(?:0[0-2].*)?$/u.test(value) ? undefined : fails(value, name);
}

/** RFC 9110, section 14.4: `items 0-999/5000`, whatever the unit. */
function ofRange(value: string, name: string): PartialSigns | undefined {
  const [, first, last, size] = /^\S{1,40}\s+(\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/u.exec(value) ?? [];
  if (first === undefined) return undefined;
  const isAll = Number(first) === 0 && Number(last) + 1 === Number(size);
  return isAll ? undefined : told("next-page", value, name);
}

/** RFC 8288: `<http://...>; rel="next"`. */
const isNext = (value: string): boolean =>
  value.split(";").some((parameter) => /^rel ?= ?"?(?:[\w-]+ )?next\b/iu.test(parameter.trim()));

const ofTotal: Reads = (value) => (/^\d{1,15}$/u.test(value) ? { total: Number(value) } : undefined);

/** Headers and trailers by the form of their names; the first that fits is read. */
const readers: readonly (readonly [RegExp, Reads])[] = [
  [/^x-sql-state$/, ofSqlState],
  [/^x-sparql-maxrows$/, (value) => (/^\d{1,12}$/u.test(value) ? { rowCap: Number(value) } : undefined)],
  [/^link$/, (value, name) => (isNext(value) ? pages(value, name) : undefined)],
  [/^content-range$/, ofRange],
  [/^x-(?:total|total-count|total-results|result-count)$/, ofTotal],
  [/^x-(?:next-page|next|next-link|next-cursor|has-more|has-next|continuation|continuation-token)$/, pages],
  [/^(?:x-)?(?:[a-z0-9]+-)?(?:truncated|incomplete|partial)(?:-results?)?$/, pages],
  [/^grpc-status$/, (value, name) => (value === "0" ? undefined : fails(value, name))],
  [/^(?:x-)?(?:[a-z0-9]+-)?status$/, ofStatus],
  [/^(?:x-)?(?:[a-z0-9]+-){0,2}(?:error|exception)(?:-(?:code|message|detail|type))?$/, failing],
  [/^x-amzn-errortype$/, failing],
  [
    /^warning$/,
    (value, name) => (/truncat|incomplete|partial/iu.test(value) ? told("announced", value, name) : undefined),
  ],
];

/** Reads the signs in a response head, or in trailers. */
export function partialSigns(status: number, headers: ResponseHeaders): PartialSigns {
  const found = Object.keys(headers).flatMap((name) => {
    const [, reads] = readers.find(([pattern]) => pattern.test(name)) ?? [];
    return reads?.((headerOf(headers, name) ?? "").trim(), name) ?? [];
  });
  if (found.length === 0) return status === 206 ? { partial: status206 } : noSigns;
  const partials = found.flatMap(({ partial }) => partial ?? []);
  const marked = status === 206 ? status206 : partials[0];
  // Virtuoso's own sign says more than a status, and a status more than the rest.
  return Object.assign({}, ...found, { partial: partials.includes(anytime) ? anytime : marked });
}

/** The signs in the head, and the row cap that is known of the endpoint. */
export function signsFor({ request, state }: QueryTask, status: number, headers: ResponseHeaders): PartialSigns {
  const signs = partialSigns(status, headers);
  if (signs.rowCap !== undefined) {
    state.rowCap = { rows: signs.rowCap, isSilent: false };
    return signs;
  }
  const { rowCap } = state;
  // One that names its cap with rows names none with triples.
  const known = request.kind === "quads" || rowCap?.isSilent ? rowCap?.rows : undefined;
  const silentCap = known ?? request.endpoint.rowCap;
  return silentCap === undefined ? signs : { ...signs, silentCap };
}

/** Forgets the known cap of an endpoint after an answer with more rows: the cap has been raised. */
export function reviewRowCap({ request, state }: QueryTask, outcome: AnswerEnd | FedwayError): void {
  if (state.rowCap === undefined || request.kind !== "bindings" || outcome instanceof FedwayError) return;
  if (outcome.partial === undefined && (outcome.rows ?? 0) > state.rowCap.rows) state.rowCap = undefined;
}

/** How an answer ended whose bytes are all there. */
interface Ended {
  /** Signs in the head, and in the trailers. */
  readonly signs: readonly PartialSigns[];
  readonly verdict: ScanVerdict;
  readonly request: SparqlRequest;
}

/** Why a whole document lacks rows; undefined where nothing says so. */
export function lackOf({ signs, verdict, request }: Ended): PartialReason | undefined {
  const { rows, partial, total } = verdict;
  if ((partial ?? total) === undefined && signs.every((sign) => sign === noSigns)) return undefined;
  const inDocument = partial === undefined ? undefined : told("announced", partial, "its document").partial;
  const inHead = signs.find((sign) => sign.partial !== undefined)?.partial;
  const totals = [total, ...signs.map((sign) => sign.total)];
  const [head = {}] = signs;
  return inHead ?? inDocument ?? belowTotal(totals, rows, request) ?? cappedBy(head, rows, request);
}

/** The failure that trailers report. */
export const failureIn = ({ failure }: PartialSigns): FedwayError | undefined =>
  failure === undefined
    ? undefined
    : brokeOff(`The endpoint reports a failure beside its answer (${failure}).`, { fault: "malformed" });

function belowTotal(
  totals: readonly (number | undefined)[],
  rows: number | undefined,
  { kind, limit, query }: SparqlRequest,
): PartialReason | undefined {
  // Whether rows before an OFFSET are among them differs.
  if (kind === "boolean" || /\boffset\s/iu.test(query)) return undefined;
  const total = totals.find((one) => one !== undefined);
  if (total === undefined || rows === undefined || rows >= total || rows === limit) return undefined;
  return { how: "next-page", detail: `The endpoint sent ${rows} of the ${total} rows that it says there are.` };
}

/**
 * The verdict on a row cap once all rows were seen. Rows that cannot be counted are not taken for complete unless the
 * query's own LIMIT keeps them below the cap; exactly as many as that LIMIT allows are. It says nothing of triples.
 */
function cappedBy(
  { rowCap, silentCap }: PartialSigns,
  rows: number | undefined,
  { kind, limit }: SparqlRequest,
): PartialReason | undefined {
  const cap = rowCap ?? silentCap;
  if (cap === undefined || kind === "boolean") return undefined;
  const asked = (kind === "bindings" && limit) || Number.POSITIVE_INFINITY;
  const how = rowCap === undefined ? "row-cap" : "virtuoso-maxrows";
  if (rows === undefined) return asked <= cap ? undefined : { how, detail: uncounted(cap) };
  if (rows < cap || rows === asked) return undefined;
  return rowCap === undefined ? maybeCut(cap, rows, kind) : { how, detail: cutAt(cap) };
}

const cutAt = (cap: number): string => `The endpoint cut the answer at its limit of ${cap} rows (MaxRows).`;

function maybeCut(cap: number, rows: number, kind: SparqlRequest["kind"]): PartialReason | undefined {
  // More solutions than a silent cap: it has been raised since. Triples are no solutions.
  if (kind === "bindings" && rows > cap) return undefined;
  const what = `this one of ${rows} rows or triples may lack some`;
  return { how: "row-cap", detail: `The endpoint is known to cut answers at ${cap} rows without a sign: ${what}.` };
}

const uncounted = (cap: number): string =>
  `The endpoint cuts answers at ${cap} rows and the rows of this one could not be counted.`;

/** The error of a partial answer that the caller does not accept. @param status HTTP status of the answer */
export function partialRefused({ detail }: PartialReason, status: number): FedwayError {
  return new FedwayError("ENDPOINT_PARTIAL", detail, {
    fault: "partial",
    upstreamStatus: status,
    next: "Ask again with partial=true to take what there is, or narrow the query: add LIMIT or name more terms.",
  });
}

const fewestRows = 1_000;
const countName = "fedway_rows";
/** No answer has as many rows. */
const beyondAll = 999_999_999;
/** Time for one question: at most this, and half of what is left. */
const mostMs = 15_000;

/**
 * Checks an answer that looks whole and may have been cut without a sign: it has a round number of rows that no LIMIT
 * explains. The endpoint is asked to count them, and for a row behind them, which does not depend on an order: at most
 * three small questions. What it is found to cut at is known from then on.
 * @returns undefined where there is nothing to check; else the end, or the error for who does not take a part
 */
export function checkForSilentCut(
  task: QueryTask,
  end: AnswerEnd,
  status: number,
): Promise<AnswerEnd | FedwayError> | undefined {
  const { request } = task;
  const { rows, partial } = end;
  if (request.checksForSilentCut !== true || partial !== undefined) return undefined;
  if (request.kind === "quads") return checkGraph(task, end, status);
  if (request.kind === "boolean") return undefined;
  if (rows === undefined || rows < fewestRows || rows === request.limit || !isRound(rows)) return undefined;
  return checkRows(task, { ...end, rows }, status);
}

/** As people set limits: thousands, and powers of two. */
const isRound = (rows: number): boolean => rows % 1_000 === 0 || (rows & (rows - 1)) === 0;

async function checkRows(
  task: QueryTask,
  end: AnswerEnd & { readonly rows: number },
  status: number,
): Promise<AnswerEnd | FedwayError> {
  const { request, state, context } = task;
  const questions = new Questions(task);
  try {
    const more = await hasMore(questions, end.rows);
    const checked = { ...end, requests: questions.requests };
    if (more === false) return checked;
    if (more === true) {
      state.rowCap = { rows: end.rows, isSilent: true };
      context.onLearned?.(request.endpoint, { rowCap: end.rows });
    }
    const partial = more === true ? cutWithoutSign(end.rows) : unknownCut(end.rows);
    return request.acceptPartial === true ? { ...checked, partial } : task.located(partialRefused(partial, status));
  } catch (error) {
    return task.located(toFedwayError(error));
  }
}

const fewestTriples = 10;

/**
 * The same for a graph, whose triples do not show how many solutions there were: the endpoint is asked to count the triples,
 * unless a graph at least half as large, or a table, has been found to be whole.
 */
function checkGraph(task: QueryTask, end: AnswerEnd, status: number): Promise<AnswerEnd | FedwayError> | undefined {
  const { request, state } = task;
  const triples = end.rows ?? end.atMost ?? 0;
  const known = Math.max(2 * state.wholeTriples, request.endpoint.wholeRows ?? 0);
  const { tripleCount } = request;
  if (tripleCount === undefined || triples < fewestTriples || triples <= known) return undefined;
  return checkTriples(task, { ...end, triples, tripleCount }, status);
}

async function checkTriples(
  task: QueryTask,
  { triples, tripleCount, ...end }: AnswerEnd & { readonly triples: number; readonly tripleCount: string },
  status: number,
): Promise<AnswerEnd | FedwayError> {
  const { request, state } = task;
  const questions = new Questions(task);
  try {
    const count = await questions.ask(tripleCount);
    const checked = { ...end, requests: questions.requests };
    if (count !== undefined && count <= triples) state.wholeTriples = triples;
    if (count === undefined || count <= triples) return checked;
    const detail = `The endpoint sent ${end.rows === undefined ? "at most " : ""}${triples} of the ${count} triples of this graph and did not say so.`;
    const partial: PartialReason = { how: "row-cap", detail };
    return request.acceptPartial === true ? { ...checked, partial } : task.located(partialRefused(partial, status));
  } catch (error) {
    return task.located(toFedwayError(error));
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
  readonly #task: QueryTask;
  readonly #parts: QueryParts | undefined;

  constructor(task: QueryTask) {
    this.#task = task;
    this.#parts = partsOf(task.request.query);
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
    const found = await this.#ask(behind(this.#task.request.query, rows));
    return found && found.length > 0;
  }

  async #ask(query: string): Promise<readonly Bindings[] | undefined> {
    const { request, context, clock } = this.#task;
    const deadlineMs = Math.min(request.deadlineMs, clock.now() + Math.min(mostMs, this.#task.leftMs / 2));
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
  checksForSilentCut: false,
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
