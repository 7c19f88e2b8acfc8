import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import { toFedwayError } from "../errors/fedway-error.ts";
import type { AskRequest, Asker, WholeAnswer } from "../outbound/whole-answer.ts";
import type { PlannedEndpoint } from "../plan/query-plan.ts";
import type { AskedPattern, Exclusion } from "../plan/source-selection.ts";

/** Options of existence queries. */
interface ExistenceOptions {
  readonly asker: Pick<Asker, "ask">;
  readonly clock: Clock;
  /** True if an endpoint is known not to support subqueries. */
  readonly lacksSubqueries: (id: string) => boolean;
  /** Lifetime of answers, in milliseconds. */
  readonly keepMs: number;
}

/** An endpoint, and the patterns that it is asked for. */
export type ExistenceQuestion = Pick<Exclusion, "endpoint" | "patterns">;

/** How endpoints are asked. */
interface AskOptions extends Pick<AskRequest, "signal" | "budget"> {
  /** Called for each answer. */
  readonly onAnswer?: ((id: string, answer: WholeAnswer) => void) | undefined;
  /** Longest wait for one answer. */
  readonly timeoutMs: number;
  /** `mark` that answers must be newer than; default: any counts that is kept. */
  readonly since?: number | undefined;
  /** Endpoints asked at once; default 24. */
  readonly atOnce?: number | undefined;
}

/** An endpoint that did not answer, or not rightly, is not asked again for so long. */
const failureForMs = 60_000;
const endpointsAtOnce = 24;
/** Of all endpoints. */
const keptBytes = 32 * 1024 * 1024;
const mostPatterns = 500;
/** Patterns of one query; more are not asked for. */
const mostAsked = 32;

interface Known {
  readonly url: string;
  /** Until then it is not asked. */
  readonly until: number;
  readonly answers: ReadonlyMap<string, KnownAnswer>;
}

/** Existence of a match, and when it was asked (milliseconds since the epoch). */
interface KnownAnswer {
  readonly exists: boolean;
  readonly seenAt: number;
  readonly until: number;
  /** When the answer before was seen. */
  readonly before: number | undefined;
  /** Position among all questions. */
  readonly order: number;
}

/** Existence of matches at endpoints, asked in batches; the answers for all queries are kept for a while. */
export class Existence {
  readonly #options: ExistenceOptions;
  readonly #known = new LRUCache<string, Known>({
    maxSize: keptBytes,
    sizeCalculation: ({ answers }) => answers.keys().reduce((sum, key) => sum + 200 + 2 * key.length, 250),
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
  answer({ id, url }: PlannedEndpoint, key: string, since = -1): KnownAnswer | undefined {
    const known = id === undefined ? undefined : this.#known.get(id);
    const answer = known?.url === url ? known.answers.get(key) : undefined;
    return answer && answer.order > since && (since >= 0 || answer.until > this.#options.clock.now())
      ? answer
      : undefined;
  }

  /** When an endpoint was seen without any match of the pattern; undefined: it may have some. */
  lacks(endpoint: PlannedEndpoint, key: string): KnownAnswer | undefined {
    const answer = this.answer(endpoint, key);
    return answer?.exists === false ? answer : undefined;
  }

  /** Forgets what was asked of an endpoint. */
  forget(id: string): void {
    this.#known.delete(id);
  }

  /**
   * Asks endpoints for what is not known of these patterns, each in one request. Resolves when all have answered or had their
   * time; never rejects.
   */
  async ask(questions: readonly ExistenceQuestion[], options: AskOptions): Promise<void> {
    const waiting = questions.filter((question) => this.#open(question, options.since).length > 0);
    const worker = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined && !options.signal.aborted; next = waiting.pop()) {
        await this.#askOne(next, options);
      }
    };
    const workers = Math.min(options.atOnce ?? endpointsAtOnce, waiting.length);
    await Promise.all(Array.from({ length: workers }, worker));
  }

  /** All patterns, those first of which nothing is known; none when there are no such, or the endpoint cannot be asked. */
  #open({ endpoint, patterns }: ExistenceQuestion, since: number | undefined): readonly AskedPattern[] {
    const { id, url, interface: kind } = endpoint;
    if (id === undefined || kind !== undefined || this.#options.lacksSubqueries(id)) return [];
    const known = this.#known.get(id);
    if (known?.url === url && known.until > this.#options.clock.now()) return [];
    const open = patterns.filter(({ key }) => this.answer(endpoint, key, since) === undefined);
    // What is asked anew with them costs no request now, and may save one.
    return open.length === 0 ? open : [...new Set([...open, ...patterns])].slice(0, mostAsked);
  }

  /** Waits for another question to the endpoint first: it may be the same. */
  async #askOne(question: ExistenceQuestion, options: AskOptions): Promise<void> {
    const { id = "" } = question.endpoint;
    for (let other = this.#asking.get(id); other !== undefined; other = this.#asking.get(id)) await other;
    const open = this.#open(question, options.since);
    if (open.length === 0 || options.signal.aborted) return;
    const asking = this.#request(question.endpoint, open, options).finally(() => this.#asking.delete(id));
    this.#asking.set(id, asking);
    await asking;
  }

  async #request(
    endpoint: PlannedEndpoint,
    patterns: readonly AskedPattern[],
    { signal, budget, timeoutMs, onAnswer }: AskOptions,
  ): Promise<void> {
    const { asker, clock } = this.#options;
    const asked = { seenAt: clock.now(), order: ++this.#order };
    const request = { endpoint, query: existenceQuery(patterns), timeoutMs, maxBytes: 65_536 };
    const asking = asker.ask({ ...request, maxRows: patterns.length + 2, signal, budget });
    const answer = await asking.catch((error: unknown) => toFedwayError(error).code);
    // What would have come is unknown.
    if (answer === "BUDGET_SPENT" || (typeof answer === "string" && signal.aborted)) return;
    const found = typeof answer === "string" ? undefined : foundIn(answer, patterns.length + 1);
    this.#keep(endpoint, found && patterns.map(({ key }, index) => [key, found.has(index)] as const), asked);
    if (typeof answer !== "string") onAnswer?.(endpoint.id ?? endpoint.url, answer);
  }

  #keep(
    { id = "", url }: PlannedEndpoint,
    found: readonly (readonly [string, boolean])[] | undefined,
    asked: Pick<KnownAnswer, "seenAt" | "order">,
  ): void {
    const before = this.#known.get(id);
    const answers = new Map(before?.url === url ? before.answers : []);
    const until = asked.seenAt + this.#options.keepMs;
    for (const [key, exists] of found ?? []) {
      const { seenAt } = answers.get(key) ?? {};
      // The newest are the last.
      answers.delete(key);
      answers.set(key, { exists, until, before: seenAt, ...asked });
    }
    for (const key of answers.keys()) {
      if (answers.size <= mostPatterns) break;
      answers.delete(key);
    }
    this.#known.set(id, { url, answers, until: found === undefined ? asked.seenAt + failureForMs : 0 });
  }
}

/**
 * Finds any triple too, first and last: an answer without both may be that of an empty endpoint, or cut at any row. With
 * patterns in GRAPH it may be a triple of any graph.
 */
function existenceQuery(patterns: readonly AskedPattern[]): string {
  const isInGraph = patterns.some(({ text }) => text.startsWith("GRAPH"));
  const any = isInGraph ? "{ ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } }" : "?s ?p ?o";
  const parts = [any, ...patterns.map(({ text }) => text), any];
  return `SELECT ?n WHERE { ${parts.map((text, at) => `{ SELECT (${at} AS ?n) WHERE { ${text} } LIMIT 1 }`).join(" UNION ")} }`;
}

/** Positions of the patterns that something matches; undefined when the answer cannot be relied upon. */
function foundIn({ rows, partial }: WholeAnswer, last: number): ReadonlySet<number> | undefined {
  const numbers = new Set(rows.map((row) => Number(row.get("n")?.value)));
  if (partial !== undefined || !numbers.has(0) || !numbers.has(last) || numbers.has(Number.NaN)) return undefined;
  return new Set(numbers.values().map((number) => number - 1));
}
