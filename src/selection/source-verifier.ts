import type { DirectPlan, FederatedPlan, PlannedEndpoint } from "../plan/query-plan.ts";
import { allExclusions, type AskedPattern, type Exclusion, type Exclusions } from "../plan/source-selection.ts";
import type { AskOptions, Contradiction, Existence, ExistenceQuestion } from "./existence.ts";
import type { FactTable } from "./fact-table.ts";
import { askedPatterns, selectAsked } from "./select-sources.ts";
import { termClaims } from "./term-claims.ts";

/** Result of asking the endpoints that a plan leaves out, by their catalogue ids. */
interface Verdict {
  /** They have a match. */
  readonly refuted: readonly string[];
  /** They could not be asked, or gave no answer that can be relied upon. */
  readonly unverified: readonly string[];
}

/** A fact by which an endpoint was left out is wrong. */
interface Refutation {
  readonly endpoint: string;
  /** `patternKey`s of patterns that it has after all. */
  readonly patterns: readonly string[];
  /** Milliseconds since the epoch: the answers since then may lack rows. */
  readonly since: number;
}

interface NarrowOptions extends AskOptions {
  /** Catalogue ids of members that are not left out. */
  readonly ask?: readonly string[] | undefined;
}

interface VerifyOptions extends AskOptions {
  /** A `mark`: only later answers count. Absent: answers within the interval count too. */
  readonly since?: number | undefined;
}

interface VerifierOptions {
  readonly existence: Existence;
  readonly table: FactTable;
  readonly now: () => number;
  /** True if members without facts are asked for theirs. */
  readonly narrows: boolean;
  /** Ends the facts of an endpoint, and has it described anew. */
  readonly end: (id: string) => void;
  /** True for endpoints that were seen to change lately. */
  readonly hasChanged: (id: string) => boolean;
  /** Age from which facts are old, in milliseconds. */
  readonly oldMs: number;
}

/** Members of which nothing is known, and patterns, from which on a round of existence queries can spare more than it costs. */
const worthMembers = 8;
const worthPatterns = 3;
/** A member that does not answer so soon counts as relevant; one that is left out, as not verified. */
const narrowingMs = 1_000;
const verifyingMs = 5_000;
/** Endpoints that wait for the background, and patterns of each; more are verified with a later answer. */
const mostPending = 2_000;
const mostPatterns = 32;
/** In the background: at most 40 requests a second to all endpoints. */
const backgroundAtOnce = 4;
const backgroundPauseMs = 100;
/** The number of triples alone is worth waiting for longer. */
const countingMs = 10_000;

/** The exclusions of a plan are verified until then, the first of them at this time (milliseconds since the epoch). */
interface Verified {
  readonly at: number;
  readonly until: number;
}

/** Asks endpoints for matches: those that plans leave out, before an answer or after it, and those without facts. */
export class SourceVerifier {
  readonly #options: VerifierOptions;
  readonly #verified = new WeakMap<Exclusions, Verified>();
  readonly #resting = new WeakMap<FederatedPlan, { readonly on: Exclusions | undefined }>();
  readonly #listeners = new Set<(refutation: Refutation) => void>();
  readonly #pending = new Map<string, ExistenceQuestion>();
  readonly #ending = new AbortController();
  #working: Promise<void> | undefined;

  constructor(options: VerifierOptions) {
    this.#options = options;
  }

  /** Separates questions from now on from all earlier ones. */
  mark(): number {
    return this.#options.existence.mark();
  }

  /** The plan without members that, when asked, had no match of its patterns; asks where nothing is known and it pays. */
  async narrow(plan: FederatedPlan, { ask = [], ...asking }: NarrowOptions): Promise<FederatedPlan> {
    const { existence, table, narrows } = this.#options;
    const members = (narrows && plan.over?.selection && plan.over.members) || [];
    const all = members.length < worthMembers ? [] : askedPatterns(plan);
    const isInGraph = all.some(({ text }) => text.startsWith("GRAPH"));
    // Of named graphs nothing is known.
    const isUnknown = ({ id, url }: PlannedEndpoint): boolean =>
      isInGraph || table.get(id, url)?.properties === undefined;
    const unknown = members.filter(isUnknown);
    const patterns = unknown.length < worthMembers ? [] : all;
    if (patterns.length < worthPatterns) return plan;
    const questions = unknown.map((endpoint) => ({ endpoint, patterns }));
    await existence.ask(questions, { ...asking, timeoutMs: narrowingMs });
    return selectAsked(plan, table, (member, key) =>
      ask.includes(member.id ?? "") ? undefined : existence.lacks(member, key),
    );
  }

  /** All that must have no match for an answer to a plan to be right: its exclusions, and its claims about terms. */
  restingOn(plan: DirectPlan | FederatedPlan, isOfNothing = false): Exclusions | undefined {
    if (plan.kind === "direct") return plan.exclusions;
    const known = isOfNothing ? undefined : this.#resting.get(plan);
    if (known !== undefined) return known.on;
    const on = allExclusions([plan.exclusions, termClaims(plan, this.#options.table, { isOfNothing })]);
    if (!isOfNothing) this.#resting.set(plan, { on });
    return on;
  }

  /** The exclusions that may be wrong: not those by facts of hosted data that are there unchanged. */
  doubtful(exclusions: Exclusions | undefined): Exclusions | undefined {
    const { table } = this.#options;
    const list = exclusions?.list.filter(({ endpoint, seenAt }) => {
      const facts = table.get(endpoint.id, endpoint.url);
      return facts?.seenAt !== seenAt || table.isOfBuild(facts) !== true;
    });
    if (exclusions === undefined || list === undefined || list.length === 0) return undefined;
    return list.length === exclusions.list.length ? exclusions : { ...exclusions, list };
  }

  /** When the exclusion that was verified longest ago was, in milliseconds since the epoch; undefined: one was not, lately. */
  verifiedAt(exclusions: Exclusions): number | undefined {
    const doubtful = this.doubtful(exclusions);
    return doubtful === undefined ? this.#options.now() : this.#verifiedOf(doubtful)?.at;
  }

  /** The age of the facts, and of the answers, by which endpoints are left out; data that cannot have changed are as of now. */
  age(exclusions: Exclusions): {
    readonly ms: number;
    readonly isOld: boolean;
    readonly changed: readonly string[];
  } {
    const { existence, hasChanged, oldMs, now } = this.#options;
    const list = this.doubtful(exclusions)?.list ?? [];
    let since = now();
    for (const exclusion of list) {
      const question = this.#questionOf(exclusion);
      // Members without facts were asked.
      const found = Number.isFinite(exclusion.seenAt) ? exclusion.seenAt : Number.NEGATIVE_INFINITY;
      for (const pattern of exclusion.patterns) {
        const verified = Math.max(found, existence.verified(question, pattern)?.seenAt ?? Number.NEGATIVE_INFINITY);
        if (Number.isFinite(verified)) since = Math.min(since, verified);
      }
    }
    const ms = now() - since;
    const changed = list.flatMap(({ endpoint: { id } }) => (id !== undefined && hasChanged(id) ? [id] : []));
    return { ms, isOld: ms > oldMs, changed };
  }

  /** Asks the endpoints that a plan leaves out by doubtful facts, each once; never rejects. */
  async verify(all: Exclusions, { since, ...asking }: VerifyOptions): Promise<Verdict> {
    const refuted: string[] = [];
    const unverified: string[] = [];
    const verdict = { refuted, unverified };
    const exclusions = since === undefined ? this.#unverified(all) : this.doubtful(all);
    if (exclusions === undefined) return verdict;
    const questions = exclusions.list.map((exclusion) => this.#questionOf(exclusion));
    const changed = new Set<string | undefined>();
    const onContradiction = (contradiction: Contradiction): void => {
      changed.add(contradiction.endpoint.id);
      this.#onContradiction(contradiction);
    };
    await this.#options.existence.ask(questions, { ...asking, since, timeoutMs: verifyingMs, onContradiction });
    for (const question of questions) {
      const found = this.#judge(question, since);
      // Its data are others than those that leave it out.
      const how = found === "unverified" && changed.has(question.endpoint.id) ? "refuted" : found;
      if (how !== undefined) verdict[how].push(question.endpoint.id ?? question.endpoint.url);
    }
    return verdict;
  }

  /** Verifies in the background all that was not verified within the interval. */
  verifyLater(given: Exclusions): void {
    const exclusions = this.#unverified(given);
    if (exclusions === undefined || this.#ending.signal.aborted) return;
    for (const exclusion of exclusions.list) this.#pend(this.#questionOf(exclusion));
    if (this.#pending.size > 0) this.#working ??= this.#work();
  }

  /** Asks an endpoint for its number of triples, unless it was asked of late; another one than its facts have ends them. Never rejects. */
  async checkTriples(endpoint: PlannedEndpoint, signal: AbortSignal): Promise<void> {
    const facts = this.#options.table.get(endpoint.id, endpoint.url);
    const onContradiction = this.#onContradiction;
    if (facts !== undefined)
      await this.#options.existence.ask([{ endpoint, patterns: [], facts }], {
        signal,
        timeoutMs: countingMs,
        onContradiction,
      });
  }

  /** An endpoint has what its facts deny: ends the facts and notifies the listeners. */
  refute(refutation: Refutation): void {
    this.#options.end(refutation.endpoint);
    for (const listener of this.#listeners) listener(refutation);
  }

  /** Calls the listener with each fact that was found to be wrong, until the function that comes back is called. */
  onRefuted(listener: (refutation: Refutation) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#working;
  }

  /** Endpoints are asked in the order in which they were left out first; where there is no room, with a later answer. */
  #pend(question: ExistenceQuestion): void {
    const { endpoint, patterns } = question;
    const id = endpoint.id ?? endpoint.url;
    const open = patterns.filter((pattern) => this.#options.existence.verified(question, pattern) === undefined);
    const waiting = this.#pending.get(id);
    if (open.length === 0 || (waiting === undefined && this.#pending.size >= mostPending)) return;
    const all = new Map([...(waiting?.patterns ?? []), ...open].map((pattern) => [pattern.key, pattern]));
    this.#pending.set(id, { ...question, patterns: [...all.values()].slice(0, mostPatterns) });
  }

  async #work(): Promise<void> {
    const { signal } = this.#ending;
    while (this.#pending.size > 0 && !signal.aborted) {
      const list = [...this.#pending.values()];
      this.#pending.clear();
      const onContradiction = this.#onContradiction;
      const pace = { atOnce: backgroundAtOnce, pauseMs: backgroundPauseMs };
      await this.#options.existence.ask(list, { signal, timeoutMs: verifyingMs, onContradiction, ...pace });
    }
    this.#working = undefined;
  }

  /** Ends the facts that an answer shows to be wrong; they may have ended, or come anew, since they were asked about. */
  readonly #onContradiction = ({ endpoint, facts, patterns, since }: Contradiction): void => {
    const { table, end } = this.#options;
    if (endpoint.id === undefined || table.get(endpoint.id, endpoint.url)?.seenAt !== facts.seenAt) return;
    if (patterns.length > 0) this.refute({ endpoint: endpoint.id, patterns, since });
    else end(endpoint.id);
  };

  #questionOf({ endpoint, patterns, seenAt }: Exclusion): ExistenceQuestion {
    const facts = this.#options.table.get(endpoint.id, endpoint.url);
    return { endpoint, patterns, facts: facts?.seenAt === seenAt ? facts : undefined };
  }

  /** Judges one exclusion by the answers; undefined: it holds. */
  #judge(question: ExistenceQuestion, since: number | undefined): keyof Verdict | undefined {
    const { existence } = this.#options;
    const { endpoint, patterns } = question;
    if (patterns.some(({ key }) => existence.answer(endpoint, key, since)?.exists === true)) return "refuted";
    const isVerified = (pattern: AskedPattern): boolean =>
      since === undefined
        ? existence.verified(question, pattern) !== undefined
        : existence.answer(endpoint, pattern.key, since) !== undefined;
    return patterns.every(isVerified) ? undefined : "unverified";
  }

  /** Those that may be wrong and were not verified within the interval. */
  #unverified(all: Exclusions): Exclusions | undefined {
    const doubtful = this.doubtful(all);
    return doubtful === undefined || this.#verifiedOf(doubtful) ? undefined : doubtful;
  }

  /** Undefined: some exclusion is not verified. */
  #verifiedOf(exclusions: Exclusions): Verified | undefined {
    const known = this.#verified.get(exclusions);
    if (known !== undefined && known.until > this.#options.now()) return known;
    let at = Number.POSITIVE_INFINITY;
    let until = Number.POSITIVE_INFINITY;
    const questions = exclusions.list.map((exclusion) => this.#questionOf(exclusion));
    for (const question of questions) {
      for (const pattern of question.patterns) {
        const seen = this.#options.existence.verified(question, pattern);
        at = Math.min(at, seen?.seenAt ?? at);
        until = Math.min(until, seen?.until ?? Number.NEGATIVE_INFINITY);
      }
    }
    // Also where another endpoint cannot be verified.
    for (const question of questions) this.#options.existence.postpone(question);
    if (until === Number.NEGATIVE_INFINITY) return undefined;
    const verified = { at, until };
    this.#verified.set(exclusions, verified);
    return verified;
  }
}
