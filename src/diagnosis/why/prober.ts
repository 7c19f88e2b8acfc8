import type * as RDF from "@rdfjs/types";
import { cancellation, type Evidence, toFedwayError } from "../../errors/fedway-error.ts";
import type { RequestBudget } from "../../outbound/request-budget.ts";
import type { Probe, ProbeAnswer, ProbeRequest } from "../../query/probe.ts";
import type { Bindings } from "../../results/model.ts";

/** Where questions are sent. */
export type ProbeTarget = Pick<ProbeRequest, "endpointId" | "federationId">;

/** Budget for the questions of one diagnosis. */
export interface ProbeBudget {
  readonly maxQuestions: number;
  /** Milliseconds for all of them: the guard of what the questions are bounded by. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly owner?: string | undefined;
  /** Requests to endpoints, for all questions. */
  readonly requests: RequestBudget;
}

/** A group pattern, and a variable of it whose values are wanted. */
export interface TermsWanted {
  /** Without braces. */
  readonly group: string;
  /** A variable or expression, such as `?x`. */
  readonly of: string;
  readonly most: number;
}

/** A question about the data: the existence of solutions, different values, or a whole query. */
export type Question =
  | { readonly group: string; readonly target?: ProbeTarget | undefined }
  | TermsWanted
  | { readonly query: string };

/** Nothing more may be asked: neither a failure nor an answer. */
export class BudgetSpent extends Error {}

interface ProberOptions {
  readonly run: Probe;
  readonly now: () => number;
  readonly head: { readonly prologue: string; readonly dataset: string };
  readonly target: ProbeTarget;
  /** Versions of the descriptions by which endpoints may be left out. */
  readonly describedAt: readonly string[];
}

/** Characters of questions whose answers are remembered. */
const mostKept = 2_000_000;

/** A question of several in one request, and as it is asked alone. */
interface Numbered {
  readonly select: string;
  readonly query: string;
}

type Counted = Pick<ProbeAnswer, "requests" | "byFacts"> & { readonly count: number };

const keyOf = (query: string, { endpointId = "", federationId = "" }: ProbeTarget): string =>
  `${endpointId} ${federationId} ${query}`;

/** Groups that are asked together. */
const mostTogether = 24;

/**
 * Asks about groups, many in one request: a UNION of subqueries with LIMIT, each of which gives its number. Where such a
 * request fails the groups are asked one by one. Unknown results are undefined.
 */
export class Prober {
  /** Questions asked so far. */
  asked = 0;
  /** Requests that endpoints had for them. */
  requests = 0;
  /** An answer rests on facts: somebody was not asked. */
  byFacts = false;
  /** False to ask all endpoints regardless of facts. */
  prune = true;
  /** Of what there was too little for all questions. */
  spent: "questions" | "requests" | "time" | undefined;
  readonly #options: ProberOptions;
  readonly #budget: ProbeBudget;
  readonly #until: number;
  /** Answers by place and question. */
  readonly #known = new Map<string, Evidence>();
  #kept = 0;

  constructor(options: ProberOptions, budget: ProbeBudget) {
    this.#options = options;
    this.#budget = budget;
    this.#until = options.now() + budget.timeoutMs;
  }

  /**
   * The answer to a question; undefined where it was not asked, or failed. One by facts is none once everybody is asked.
   */
  evidence(question: Question): Evidence | undefined {
    const { query, target } = this.#asked(question);
    const known = this.#known.get(keyOf(query, target));
    return known?.by === "description" && !this.prune ? undefined : known;
  }

  /** Asks those questions that have no answer yet. @throws BudgetSpent */
  async ask(questions: readonly Question[]): Promise<void> {
    const open = questions.filter((question) => this.evidence(question) === undefined);
    await this.anySolutions(
      open.flatMap((each) => ("group" in each && !("of" in each) && !each.target ? each.group : [])),
    );
    await this.terms(open.flatMap((each) => ("of" in each ? each : [])));
    for (const each of open) {
      if ("query" in each) await this.rows(each.query, 1);
      else if (!("of" in each) && each.target) await this.anySolutions([each.group], each.target);
    }
  }

  /** Existence of solutions of each group. @throws BudgetSpent */
  async anySolutions(
    groups: readonly string[],
    target = this.#options.target,
  ): Promise<readonly (boolean | undefined)[]> {
    const known = (group: string): boolean | undefined => {
      const evidence = this.evidence({ group, target });
      return evidence && evidence.count > 0;
    };
    const open = [...new Set(groups)].filter((group) => known(group) === undefined);
    await this.#numbered(
      open.map((group) => ({
        select: `SELECT (NUMBER AS ?fedwayPart) WHERE { ${group} } LIMIT 1`,
        query: this.#asked({ group }).query,
      })),
      target,
    );
    return groups.map(known);
  }

  /** Different values, one list for each group. @throws BudgetSpent */
  async terms(wanted: readonly TermsWanted[]): Promise<readonly (readonly RDF.Term[] | undefined)[]> {
    const found = await this.#numbered(
      wanted.map((each) => ({
        select: `SELECT DISTINCT (NUMBER AS ?fedwayPart) (${each.of} AS ?fedwayTerm) WHERE { ${each.group} } LIMIT ${each.most}`,
        query: this.#asked(each).query,
      })),
      this.#options.target,
    );
    return found.map((rows) => rows?.flatMap((row) => row.get("fedwayTerm") ?? []));
  }

  /** The first rows of a whole SELECT query; undefined when it failed. @throws BudgetSpent */
  async rows(query: string, maxRows: number): Promise<readonly Bindings[] | undefined> {
    const { target } = this.#options;
    const answer = await this.#run(query, { target, maxRows });
    if (answer) this.#keep(query, target, { ...answer, count: answer.rows.length });
    return answer?.rows;
  }

  /** A question as a query of its own, and where it is sent. */
  #asked(question: Question): { readonly query: string; readonly target: ProbeTarget } {
    const { head, target } = this.#options;
    if ("query" in question) return { query: question.query, target };
    const [projection, modifier] =
      "of" in question ? [`DISTINCT (${question.of} AS ?value)`, `LIMIT ${question.most}`] : ["*", "LIMIT 1"];
    const dataset = head.dataset === "" ? "" : `${head.dataset} `;
    const query = `${head.prologue}SELECT ${projection} ${dataset}WHERE { ${question.group} } ${modifier}`;
    return { query, target: ("target" in question ? question.target : undefined) ?? target };
  }

  /** Takes it from the endpoints' descriptions that some questions have no solutions. */
  describe(questions: readonly Question[]): void {
    for (const question of questions) {
      const { query, target } = this.#asked(question);
      if (!this.#known.has(keyOf(query, target))) this.#keep(query, target, { count: 0, requests: 0, byFacts: true });
    }
  }

  #keep(query: string, target: ProbeTarget, { count, requests, byFacts }: Counted): void {
    const { now, describedAt } = this.#options;
    const key = keyOf(query, target);
    if (!this.#known.has(key)) this.#kept += key.length;
    if (this.#kept > mostKept) return;
    const [oldest] = describedAt.toSorted();
    // Rows are there whoever was not asked.
    const by = byFacts && count === 0 ? "description" : requests > 0 ? "answer" : "query";
    const time = (by === "description" ? oldest : undefined) ?? new Date(now()).toISOString();
    const place = { endpoint: target.endpointId, federation: target.federationId };
    this.#known.set(key, { ...place, query, count, time, by });
  }

  async #numbered(
    asked: readonly Numbered[],
    target: ProbeTarget,
  ): Promise<readonly (readonly Bindings[] | undefined)[]> {
    const answers: (readonly Bindings[] | undefined)[] = [];
    for (let at = 0; at < asked.length; at += mostTogether) {
      answers.push(...(await this.#together(asked.slice(at, at + mostTogether), target)));
    }
    return answers;
  }

  async #together(
    asked: readonly Numbered[],
    target: ProbeTarget,
  ): Promise<readonly (readonly Bindings[] | undefined)[]> {
    const numbered = asked.map(({ select, query }, at) => ({
      query,
      number: String(at),
      select: `{ ${select.replace("NUMBER", String(at))} }`,
    }));
    const all = await this.#ask(numbered.map(({ select }) => select).join(" UNION "), target);
    const each: (readonly Bindings[] | undefined)[] = [];
    for (const { query, number, select } of numbered) {
      const answer = all ?? (asked.length > 1 ? await this.#ask(select, target) : undefined);
      const rows = answer?.rows.filter((row) => row.get("fedwayPart")?.value === number);
      if (answer && rows) this.#keep(query, target, { ...answer, count: rows.length });
      each.push(rows);
    }
    return each;
  }

  #ask(where: string, target: ProbeTarget): Promise<ProbeAnswer | undefined> {
    const { prologue, dataset } = this.#options.head;
    return this.#run(`${prologue}SELECT * ${dataset} WHERE { ${where} }`, { target, maxRows: 10_000 });
  }

  /** Undefined when it failed. @throws BudgetSpent; FedwayError `CANCELLED` */
  async #run(
    text: string,
    { target, maxRows }: { readonly target: ProbeTarget; readonly maxRows: number },
  ): Promise<ProbeAnswer | undefined> {
    const { run, now } = this.#options;
    const { signal, maxQuestions, owner, requests: budget } = this.#budget;
    const timeoutMs = Math.floor(this.#until - now());
    if (signal.aborted) throw cancellation(signal);
    if (this.asked >= maxQuestions) throw this.#overspent("questions");
    if (timeoutMs < 1) throw this.#overspent("time");
    this.asked++;
    try {
      const { prune } = this;
      const asked = { text, ...target, maxRows, timeoutMs, signal, owner, budget, prune };
      const answer = await run(asked);
      this.requests += answer.requests;
      this.byFacts ||= answer.byFacts;
      return answer;
    } catch (error) {
      if (signal.aborted) throw cancellation(signal);
      const { code } = toFedwayError(error);
      if (code === "BUDGET_SPENT") throw this.#overspent("requests");
      if (this.#until - now() < 10) throw this.#overspent("time");
      // A defect of ours must be seen; what an endpoint does with an unusual query is no news.
      if (code === "INTERNAL") throw error;
      return undefined;
    }
  }

  #overspent(what: "questions" | "requests" | "time"): BudgetSpent {
    this.spent = what;
    return new BudgetSpent();
  }
}
