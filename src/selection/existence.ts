import { LRUCache } from "lru-cache";
import { type Clock, sleep } from "../clock.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { toFedwayError } from "../errors/fedway-error.ts";
import type { AskRequest, Asker, WholeAnswer } from "../outbound/whole-answer.ts";
import type { PlannedEndpoint } from "../plan/query-plan.ts";
import type { AskedPattern } from "../plan/source-selection.ts";
import type { SourceFacts } from "./source-facts.ts";

/** Options of existence queries. */
interface ExistenceOptions {
  readonly asker: Pick<Asker, "ask">;
  readonly clock: Clock;
  /** True if an endpoint is known not to support subqueries. */
  readonly lacksSubqueries: (id: string) => boolean;
  /** For how long facts count as verified by a number of triples, in milliseconds; answers for patterns count for at most five minutes. */
  readonly keepMs: number;
}

/** An endpoint, and the patterns that it is asked for. */
export interface ExistenceQuestion {
  readonly endpoint: PlannedEndpoint;
  readonly patterns: readonly AskedPattern[];
  /** Facts that leave it out, with whose number of triples its own is compared. Absent: there are none. */
  readonly facts?: SourceFacts | undefined;
}

/** Facts of an endpoint that its answer shows to be wrong. */
export interface Contradiction {
  readonly endpoint: PlannedEndpoint;
  readonly facts: SourceFacts;
  /** `patternKey`s of patterns that it has after all; none: only its number of triples is another one. */
  readonly patterns: readonly string[];
  /** Milliseconds since the epoch: when the patterns were last seen to have no match; 0: never. */
  readonly since: number;
}

/** For whom endpoints are asked. */
export interface AskOptions extends Pick<AskRequest, "signal" | "budget"> {
  /** Called for each answer. */
  readonly onAnswer?: (id: string, answer: WholeAnswer) => void;
}

/** How endpoints are asked. */
interface RoundOptions extends AskOptions {
  /** Called where an answer shows that facts are wrong. */
  readonly onContradiction?: ((contradiction: Contradiction) => void) | undefined;
  /** Longest wait for one answer. */
  readonly timeoutMs: number;
  /** `mark` that answers must be newer than; default: any counts that is kept. */
  readonly since?: number | undefined;
  /** Endpoints asked at once; default 24. */
  readonly atOnce?: number | undefined;
  /** Each of them waits so long after an answer before the next one is asked; default 0. */
  readonly pauseMs?: number | undefined;
}

/** An endpoint that did not answer, or not rightly, is not asked again for so long. */
const failureForMs = 60_000;
const endpointsAtOnce = 24;
/** Answers for patterns count no longer. */
const answersForMs = 300_000;
/** An endpoint that takes longer to count is asked to less often. */
const slowCountMs = 1_000;
/** Of all endpoints. */
const keptBytes = 32 * 1024 * 1024;
const mostPatterns = 500;
/** Patterns of one query, and those that wait for the next one; more are not asked for. */
const mostAsked = 32;

interface Known {
  readonly url: string;
  /** Until then it is not asked. */
  readonly until: number;
  readonly answers: ReadonlyMap<string, KnownAnswer>;
  readonly freshness?: Freshness | undefined;
  /** The last count took long. */
  readonly isSlow?: boolean;
  /** Until then it does not count its triples. */
  readonly uncountedUntil: number;
  /** Patterns that were left out by a number of triples alone, the newest last: asked for with the next one. */
  readonly waiting: ReadonlyMap<string, AskedPattern>;
}

/** When a fact was last seen to hold, and until when that counts, in milliseconds since the epoch. */
interface Verified {
  readonly seenAt: number;
  readonly until: number;
}

/** An endpoint had as many triples as its facts say: all of them count as verified. */
interface Freshness extends Verified {
  /** The facts: when they were seen, and their number of triples. */
  readonly of: { readonly seenAt: number; readonly triples: number };
}

const nothingKnown: Known = { url: "", until: 0, answers: new Map(), uncountedUntil: 0, waiting: new Map() };

/** Existence of a match, and when it was asked (milliseconds since the epoch). */
interface KnownAnswer {
  readonly exists: boolean;
  readonly seenAt: number;
  readonly until: number;
  /** Position among all questions. */
  readonly order: number;
}

/**
 * Existence of matches at endpoints, and of the data that they were described with. One request asks an endpoint for its number of
 * triples and all patterns that wait. For a while after the number was that of its facts, they leave it out unasked.
 */
export class Existence {
  readonly #options: ExistenceOptions;
  readonly #known = new LRUCache<string, Known>({
    maxSize: keptBytes,
    sizeCalculation: ({ answers, waiting }) =>
      answers.keys().reduce((sum, key) => sum + 200 + 2 * key.length, 350) +
      waiting.values().reduce((sum, { key, text }) => sum + 200 + 2 * (key.length + text.length), 0),
  });
  readonly #asking = new Map<string, Promise<void>>();
  #order = 0;

  constructor(options: ExistenceOptions) {
    this.#options = options;
  }

  /** Separates answers from now on from all earlier ones. */
  mark(): number {
    return this.#order;
  }

  /** Existence of a match of a pattern, if asked since; undefined: not known. */
  answer(endpoint: PlannedEndpoint, key: string, since = -1): KnownAnswer | undefined {
    const answer = this.#of(endpoint).answers.get(key);
    return answer && answer.order > since && (since >= 0 || answer.until > this.#options.clock.now())
      ? answer
      : undefined;
  }

  /** When an endpoint was seen without any match of the pattern; undefined: it may have some. */
  lacks(endpoint: PlannedEndpoint, key: string): KnownAnswer | undefined {
    const answer = this.answer(endpoint, key);
    return answer?.exists === false ? answer : undefined;
  }

  /** When it was verified that an endpoint has no match of a pattern, by its answer or its number of triples; undefined: it was not. */
  verified({ endpoint, facts }: ExistenceQuestion, pattern: AskedPattern): Verified | undefined {
    const answer = this.#of(endpoint).answers.get(pattern.key);
    if (answer?.exists === true) return undefined;
    // One that cannot be asked for patterns would be left out by its number of triples for as long as its facts live.
    const isByNumber = !isInGraph(pattern) && !this.#options.lacksSubqueries(endpoint.id ?? "");
    return this.lacks(endpoint, pattern.key) ?? (isByNumber ? this.#freshness(endpoint, facts) : undefined);
  }

  /** Patterns are asked for when the endpoint's number of triples is asked again, since that proves less than an answer. */
  postpone({ endpoint, patterns }: ExistenceQuestion): void {
    const { id } = endpoint;
    const known = this.#of(endpoint);
    const { answers, waiting, freshness } = known;
    if (id === undefined || freshness === undefined) return;
    const isUnasked = ({ key }: AskedPattern): boolean =>
      !waiting.has(key) && (answers.get(key)?.seenAt ?? 0) < freshness.seenAt;
    const unasked = patterns.filter(isUnasked);
    if (unasked.length === 0) return;
    // Patterns may be views of more: what waits long is a copy.
    const all = [...waiting.values(), ...unasked.map(({ key, text }) => ({ key, text }))];
    this.#known.set(id, { ...known, waiting: mapByKey(foremost(all, answers)) });
  }

  /** Forgets what was asked of an endpoint. */
  forget(id: string): void {
    this.#known.delete(id);
  }

  /**
   * Asks endpoints for what is not known of these patterns, each in one request; one without patterns, for its number of triples.
   * Resolves when all have answered or had their time; never rejects.
   */
  async ask(questions: readonly ExistenceQuestion[], options: RoundOptions): Promise<void> {
    const waiting = questions.filter((question) => this.#open(question, options.since) !== undefined);
    const { signal, pauseMs = 0 } = options;
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
        await this.#askOne(next, options);
        if (pauseMs > 0 && waiting.length > 0) await sleep(pauseMs, { clock: this.#options.clock, signal });
      }
    };
    const workers = Math.min(options.atOnce ?? endpointsAtOnce, waiting.length);
    await Promise.all(Array.from({ length: workers }, worker));
  }

  #of({ id, url }: PlannedEndpoint): Known {
    const known = id === undefined ? undefined : this.#known.get(id);
    return known?.url === url ? known : nothingKnown;
  }

  #freshness(endpoint: PlannedEndpoint, facts: SourceFacts | undefined): Freshness | undefined {
    const { freshness } = this.#of(endpoint);
    const { seenAt, triples } = freshness?.of ?? {};
    if (freshness === undefined || seenAt !== facts?.seenAt || triples !== facts?.triples) return undefined;
    return freshness.until > this.#options.clock.now() ? freshness : undefined;
  }

  /** The question that an endpoint is asked; undefined when all is known, or it cannot be asked. */
  #open(question: ExistenceQuestion, since: number | undefined): Open | undefined {
    const { endpoint, patterns } = question;
    const { id, interface: kind } = endpoint;
    const known = this.#of(endpoint);
    if (id === undefined || kind !== undefined || known.until > this.#options.clock.now()) return undefined;
    const isCounted = this.#isToBeCounted(question);
    const open = patterns.filter((pattern) => this.#isOpen(question, pattern, since));
    const isForCount = isCounted && patterns.length === 0;
    if (this.#options.lacksSubqueries(id)) return isForCount ? { patterns, isCounted } : undefined;
    if (open.length === 0 && !isForCount) return undefined;
    // What is asked anew with them costs no request now, and may save one.
    const all = [...open, ...(isCounted ? known.waiting.values() : []), ...patterns];
    return { patterns: [...mapByKey(all).values()].slice(0, mostAsked), isCounted };
  }

  #isToBeCounted({ endpoint, facts }: ExistenceQuestion): boolean {
    if (facts?.triples === undefined || this.#freshness(endpoint, facts) !== undefined) return false;
    return this.#of(endpoint).uncountedUntil <= this.#options.clock.now();
  }

  #isOpen(question: ExistenceQuestion, pattern: AskedPattern, since: number | undefined): boolean {
    const answer = this.answer(question.endpoint, pattern.key, since);
    // A match that was found by a question without facts contradicts them when it is found again.
    const isUntold = since === undefined && answer?.exists === true && question.facts !== undefined;
    if (answer !== undefined && !isUntold) return false;
    return since !== undefined || this.verified(question, pattern) === undefined;
  }

  /** Waits for another question to the endpoint first: it may be the same. */
  async #askOne(question: ExistenceQuestion, options: RoundOptions): Promise<void> {
    const id = question.endpoint.id ?? "";
    for (let other = this.#asking.get(id); other !== undefined; other = this.#asking.get(id)) await other;
    const open = this.#open(question, options.since);
    if (open === undefined || options.signal.aborted) return;
    const asking = this.#request(question, open, options).finally(() => this.#asking.delete(id));
    this.#asking.set(id, asking);
    await asking;
  }

  async #request(question: ExistenceQuestion, open: Open, options: RoundOptions): Promise<void> {
    const { endpoint } = question;
    const { asker, clock } = this.#options;
    const { signal, budget, timeoutMs } = options;
    const asked = { seenAt: clock.now(), order: ++this.#order };
    const request = { endpoint, query: existenceQuery(open), timeoutMs, maxBytes: 65_536 };
    const asking = asker.ask({ ...request, maxRows: open.patterns.length + 2, signal, budget });
    const answer = await asking.catch((error: unknown) => toFedwayError(error).code);
    // What would have come is unknown.
    if (answer === "BUDGET_SPENT" || (typeof answer === "string" && signal.aborted)) return;
    const existing = typeof answer === "string" ? {} : readAnswer(answer, open);
    const contradiction = this.#contradictionIn(question, open, existing);
    this.#keep(question, open, { ...asked, ...existing, isSlow: clock.now() - asked.seenAt > slowCountMs });
    if (typeof answer !== "string") options.onAnswer?.(endpoint.id ?? endpoint.url, answer);
    if (contradiction !== undefined) options.onContradiction?.(contradiction);
    if (mayCountAlone(answer, open)) await this.#request({ ...question, patterns: [] }, onlyCount, options);
  }

  #contradictionIn(
    { endpoint, facts }: ExistenceQuestion,
    { patterns }: Open,
    existing: Existing,
  ): Contradiction | undefined {
    if (facts === undefined) return undefined;
    const keys = patterns.filter((_, index) => existing.found?.has(index)).map(({ key }) => key);
    const isOther = existing.triples !== undefined && existing.triples !== facts.triples;
    if (keys.length === 0 && !isOther) return undefined;
    const { answers } = this.#of(endpoint);
    const since = Math.min(Number.MAX_SAFE_INTEGER, ...keys.map((key) => answers.get(key)?.seenAt ?? 0));
    return { endpoint, facts, patterns: keys, since };
  }

  #keep({ endpoint, facts }: ExistenceQuestion, { patterns, isCounted }: Open, seen: Seen): void {
    const { found, seenAt, triples } = seen;
    const before = this.#of(endpoint);
    const isSame = triples !== undefined && triples === facts?.triples;
    const isUncounted = isCounted && triples === undefined;
    const answered = found === undefined ? [] : patterns.map(({ key }) => key);
    this.#known.set(endpoint.id ?? "", {
      url: endpoint.url,
      until: found === undefined && triples === undefined ? seenAt + failureForMs : 0,
      answers: this.#withAnswers(before.answers, answered, seen),
      isSlow: isCounted ? seen.isSlow : before.isSlow === true,
      freshness: isSame
        ? {
            seenAt,
            until: seenAt + this.#freshMs(facts, seen.isSlow && before.isSlow === true, seenAt),
            of: { seenAt: facts.seenAt, triples },
          }
        : before.freshness,
      uncountedUntil: isUncounted ? seenAt + this.#options.keepMs : before.uncountedUntil,
      // What an endpoint cannot answer must not keep it from counting.
      waiting: mapByKey([...before.waiting.values()].filter(({ key }) => !patterns.some((asked) => asked.key === key))),
    });
  }

  #withAnswers(before: Known["answers"], keys: readonly string[], { found, seenAt, order }: Seen) {
    const answers = new Map(before);
    const until = seenAt + Math.min(this.#options.keepMs, answersForMs);
    for (const [index, key] of keys.entries()) {
      // The newest are the last.
      answers.delete(key);
      answers.set(key, { exists: found?.has(index) === true, until, seenAt, order });
    }
    for (const key of answers.keys()) {
      if (answers.size <= mostPatterns) break;
      answers.delete(key);
    }
    return answers;
  }

  /**
   * Where counting took long twice in a row, a tenth of the time for which the data have been as described (heuristic freshness of
   * RFC 9111, 4.2.2), at most four times as long as else.
   */
  #freshMs(facts: SourceFacts, isSlow: boolean, now: number): number {
    const { keepMs } = this.#options;
    return isSlow ? Math.max(keepMs, Math.min(4 * keepMs, (now - facts.seenAt) / 10)) : keepMs;
  }
}

/** Errors with which another query may be answered. */
const ofQueries: ReadonlySet<ErrorCode> = new Set([
  "ENDPOINT_TIMEOUT",
  "DEADLINE_EXCEEDED",
  "ENDPOINT_FAILED",
  "ENDPOINT_REJECTED_QUERY",
]);

/** Perhaps it is the patterns that fail: of most changes the number of triples alone gives notice. */
const mayCountAlone = (answer: WholeAnswer | ErrorCode, { isCounted, patterns }: Open): boolean =>
  typeof answer === "string" && ofQueries.has(answer) && isCounted && patterns.length > 0;

/** A question of one request. */
interface Open {
  readonly patterns: readonly AskedPattern[];
  /** The number of all triples, too. */
  readonly isCounted: boolean;
}

const onlyCount: Open = { patterns: [], isCounted: true };

/** Contents of its answer. */
interface Existing {
  /** Positions of the patterns that something matches; undefined when the answer cannot be relied upon. */
  readonly found?: ReadonlySet<number> | undefined;
  /** Number of all triples; undefined: not known. */
  readonly triples?: number | undefined;
}

interface Seen extends Existing {
  readonly seenAt: number;
  readonly order: number;
  readonly isSlow: boolean;
}

/** Facts are those of default graphs. The text of a pattern may be written only when it is read. */
const isInGraph = ({ key }: AskedPattern): boolean => / GRAPH (?:\?|<[^<>]*>)$/u.test(key);

const mapByKey = (patterns: readonly AskedPattern[]): ReadonlyMap<string, AskedPattern> =>
  new Map(patterns.map((pattern) => [pattern.key, pattern]));

/**
 * The patterns that wait, where there are too many: half of the places are for those that were asked before, which come again and
 * again, the longest unasked first; the others for the newest.
 */
function foremost(patterns: readonly AskedPattern[], answers: Known["answers"]): readonly AskedPattern[] {
  if (patterns.length <= mostAsked) return patterns;
  const askedAt = ({ key }: AskedPattern): number => answers.get(key)?.seenAt ?? Number.POSITIVE_INFINITY;
  const recurring = patterns
    .filter(({ key }) => answers.has(key))
    .toSorted((one, other) => askedAt(one) - askedAt(other));
  const kept = recurring.slice(0, mostAsked / 2);
  return [...kept, ...patterns.filter((pattern) => !kept.includes(pattern)).slice(kept.length - mostAsked)];
}

/**
 * Counts the triples, or finds any, first, and finds any last: an answer without both may be that of an empty endpoint, or cut at
 * any row. With patterns in GRAPH it may be a triple of any graph.
 */
function existenceQuery({ patterns, isCounted }: Open): string {
  const any = patterns.some(isInGraph) ? "{ ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } }" : "?s ?p ?o";
  if (isCounted && patterns.length === 0) return "SELECT (0 AS ?n) (COUNT(*) AS ?c) WHERE { ?s ?p ?o }";
  const one = (text: string, at: number): string => `{ SELECT (${at} AS ?n) WHERE { ${text} } LIMIT 1 }`;
  const count = "{ SELECT (0 AS ?n) (COUNT(*) AS ?c) WHERE { ?s ?p ?o } }";
  const parts = [any, ...patterns.map(({ text }) => text), any].map(one);
  return `SELECT ${isCounted ? "?n ?c" : "?n"} WHERE { ${(isCounted ? [count, ...parts.slice(1)] : parts).join(" UNION ")} }`;
}

function readAnswer({ rows, partial }: WholeAnswer, { patterns, isCounted }: Open): Existing {
  if (partial !== undefined) return {};
  const triples = isCounted ? countIn(rows) : undefined;
  // Where there are no triples, nothing matches.
  const isNothing = triples === 0 && rows.length === 1 && !patterns.some(isInGraph);
  if (isNothing || (isCounted && patterns.length === 0)) return { triples, found: new Set() };
  const numbers = new Set(rows.map((row) => Number(row.get("n")?.value)));
  if (!numbers.has(0) || !numbers.has(patterns.length + 1) || numbers.has(Number.NaN)) return { triples };
  return { triples, found: new Set([...numbers].map((number) => number - 1)) };
}

function countIn(rows: WholeAnswer["rows"]): number | undefined {
  const text = rows.find((row) => row.get("n")?.value === "0")?.get("c")?.value;
  return text !== undefined && /^\d+$/u.test(text) ? Number(text) : undefined;
}
