import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import type { Asker, WholeAnswer } from "../outbound/whole-answer.ts";
import type { PlannedEndpoint } from "../plan/query-plan.ts";

/** What existence is asked with. */
interface ExistenceOptions {
  readonly asker: Pick<Asker, "ask">;
  readonly clock: Clock;
  /** Whether an endpoint is known not to do subqueries. */
  readonly lacksSubqueries: (id: string) => boolean;
}

/** A pattern as an existence query has it. */
export interface AskedPattern {
  /** `patternKey`. */
  readonly key: string;
  /** As SPARQL, without a dot. */
  readonly text: string;
}

/** Answers count for so long, whichever they are. */
export const answersForMs = 10 * 60_000;
/** A member that did not answer, or not rightly, is not asked again for so long. */
const failureForMs = 60_000;
const timeoutMs = 1_000;
const membersAtOnce = 24;
const mostMembers = 2_000;
const mostPatterns = 500;
/** Patterns of one query; more are not asked for. */
const mostAsked = 32;

interface Known {
  readonly url: string;
  readonly until: number;
  /** By key: whether anything matches, and when that was seen (milliseconds since the epoch). */
  readonly answers: ReadonlyMap<string, { readonly exists: boolean; readonly seenAt: number; readonly until: number }>;
}

/** Answers to whether members have matches of patterns; those of all queries are kept for a while. */
export class Existence {
  readonly #options: ExistenceOptions;
  readonly #known = new LRUCache<string, Known>({ max: mostMembers });

  constructor(options: ExistenceOptions) {
    this.#options = options;
  }

  /** When a member was seen without any match of the pattern; undefined: it may have some. */
  lacks({ id, url }: PlannedEndpoint, key: string): number | undefined {
    const known = id === undefined ? undefined : this.#known.get(id);
    const answer = known?.url === url ? known.answers.get(key) : undefined;
    const isCertain = answer?.exists === false && answer.until > this.#options.clock.now();
    return isCertain ? answer.seenAt : undefined;
  }

  /** Forgets what was asked of an endpoint. */
  forget(id: string): void {
    this.#known.delete(id);
  }

  /**
   * Asks members for what is not known of these patterns, each in one request. Resolves when all have answered or had a second;
   * never rejects. @param onAnswer hears of each answer that came
   */
  async ask(
    members: readonly PlannedEndpoint[],
    patterns: readonly AskedPattern[],
    {
      signal,
      onAnswer,
    }: { readonly signal: AbortSignal; readonly onAnswer: (id: string, answer: WholeAnswer) => void },
  ): Promise<void> {
    const waiting = members.flatMap((member) => {
      const open = this.#open(member, patterns);
      return open.length === 0 ? [] : [{ member, open }];
    });
    const worker = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined && !signal.aborted; next = waiting.pop()) {
        const { member, open } = next;
        const answer = await this.#askOne(member, open, signal);
        if (answer !== undefined) onAnswer(member.id ?? member.url, answer);
      }
    };
    await Promise.all(Array.from({ length: membersAtOnce }, worker));
  }

  /** Patterns of which nothing is known at a member that can be asked. */
  #open({ id, url, interface: kind }: PlannedEndpoint, patterns: readonly AskedPattern[]): readonly AskedPattern[] {
    if (id === undefined || kind !== undefined || this.#options.lacksSubqueries(id)) return [];
    const known = this.#known.get(id);
    const now = this.#options.clock.now();
    if (known === undefined || known.url !== url) return patterns.slice(0, mostAsked);
    if (known.until > now) return [];
    return patterns.filter(({ key }) => (known.answers.get(key)?.until ?? 0) <= now).slice(0, mostAsked);
  }

  async #askOne(
    member: PlannedEndpoint,
    patterns: readonly AskedPattern[],
    signal: AbortSignal,
  ): Promise<WholeAnswer | undefined> {
    const { asker, clock } = this.#options;
    const seenAt = clock.now();
    const request = { endpoint: member, query: existenceQuery(patterns), timeoutMs, maxBytes: 65_536 };
    const answer = await asker.ask({ ...request, maxRows: patterns.length + 2, signal }).catch(() => undefined);
    const found = answer && foundIn(answer, patterns.length + 1);
    this.#keep(member, found && patterns.map(({ key }, index) => [key, found.has(index)] as const), seenAt);
    return answer;
  }

  #keep(
    { id = "", url }: PlannedEndpoint,
    found: readonly (readonly [string, boolean])[] | undefined,
    seenAt: number,
  ): void {
    const before = this.#known.get(id);
    const answers = new Map(before?.url === url ? before.answers : []);
    for (const [key, exists] of found ?? []) answers.set(key, { exists, seenAt, until: seenAt + answersForMs });
    // The oldest go.
    for (const key of answers.keys()) {
      if (answers.size <= mostPatterns) break;
      answers.delete(key);
    }
    this.#known.set(id, { url, answers, until: found === undefined ? seenAt + failureForMs : 0 });
  }
}

/** Finds any triple too, first and last: an answer without both may be that of an empty endpoint, or cut at any row. */
function existenceQuery(patterns: readonly AskedPattern[]): string {
  const parts = ["?s ?p ?o", ...patterns.map(({ text }) => text), "?s ?p ?o"];
  return `SELECT ?n WHERE { ${parts.map((text, at) => `{ SELECT (${at} AS ?n) WHERE { ${text} } LIMIT 1 }`).join(" UNION ")} }`;
}

/** Positions of the patterns that something matches; undefined when the answer cannot be relied upon. */
function foundIn({ rows, partial }: WholeAnswer, last: number): ReadonlySet<number> | undefined {
  const numbers = new Set(rows.map((row) => Number(row.get("n")?.value)));
  if (partial !== undefined || !numbers.has(0) || !numbers.has(last) || numbers.has(Number.NaN)) return undefined;
  return new Set(numbers.values().map((number) => number - 1));
}
