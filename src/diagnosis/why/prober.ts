import type * as RDF from "@rdfjs/types";
import { cancellation, toFedwayError } from "../../errors/fedway-error.ts";
import type { RequestBudget } from "../../outbound/request-budget.ts";
import type { Probe, ProbeRequest } from "../../query/probe.ts";
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

/** Nothing more may be asked: neither a failure nor an answer. */
export class BudgetSpent extends Error {}

interface ProberOptions {
  readonly run: Probe;
  readonly now: () => number;
  readonly head: { readonly prologue: string; readonly dataset: string };
  readonly target: ProbeTarget;
}

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

  constructor(options: ProberOptions, budget: ProbeBudget) {
    this.#options = options;
    this.#budget = budget;
    this.#until = options.now() + budget.timeoutMs;
  }

  /** Existence of solutions of each group. @throws BudgetSpent */
  async anySolutions(
    groups: readonly string[],
    target = this.#options.target,
  ): Promise<readonly (boolean | undefined)[]> {
    const found = await this.#numbered(
      groups.map((group) => `SELECT (NUMBER AS ?fedwayPart) WHERE { ${group} } LIMIT 1`),
      target,
    );
    return found.map((rows) => rows && rows.length > 0);
  }

  /** Different values, one list for each group. @throws BudgetSpent */
  async terms(wanted: readonly TermsWanted[]): Promise<readonly (readonly RDF.Term[] | undefined)[]> {
    const found = await this.#numbered(
      wanted.map(
        ({ group, of, most }) =>
          `SELECT DISTINCT (NUMBER AS ?fedwayPart) (${of} AS ?fedwayTerm) WHERE { ${group} } LIMIT ${most}`,
      ),
      this.#options.target,
    );
    return found.map((rows) => rows?.flatMap((row) => row.get("fedwayTerm") ?? []));
  }

  /** The first rows of a whole SELECT query; undefined when it failed. @throws BudgetSpent */
  async rows(query: string, maxRows: number): Promise<readonly Bindings[] | undefined> {
    return this.#run(query, { target: this.#options.target, maxRows });
  }

  async #numbered(
    selects: readonly string[],
    target: ProbeTarget,
  ): Promise<readonly (readonly Bindings[] | undefined)[]> {
    const answers: (readonly Bindings[] | undefined)[] = [];
    for (let at = 0; at < selects.length; at += mostTogether) {
      answers.push(...(await this.#together(selects.slice(at, at + mostTogether), target)));
    }
    return answers;
  }

  async #together(
    selects: readonly string[],
    target: ProbeTarget,
  ): Promise<readonly (readonly Bindings[] | undefined)[]> {
    const numbered = selects.map((select, at) => select.replace("NUMBER", String(at)));
    const rows = await this.#ask(numbered.map((select) => `{ ${select} }`).join(" UNION "), target);
    if (rows) return numbered.map((_, at) => rows.filter((row) => row.get("fedwayPart")?.value === String(at)));
    const each: (readonly Bindings[] | undefined)[] = [];
    if (selects.length > 1) for (const select of numbered) each.push(await this.#ask(`{ ${select} }`, target));
    return selects.length > 1 ? each : [undefined];
  }

  #ask(where: string, target: ProbeTarget): Promise<readonly Bindings[] | undefined> {
    const { prologue, dataset } = this.#options.head;
    return this.#run(`${prologue}SELECT * ${dataset} WHERE { ${where} }`, { target, maxRows: 10_000 });
  }

  /** Undefined when it failed. @throws BudgetSpent; FedwayError `CANCELLED` */
  async #run(
    text: string,
    { target, maxRows }: { readonly target: ProbeTarget; readonly maxRows: number },
  ): Promise<readonly Bindings[] | undefined> {
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
      const { rows, requests, byFacts } = await run(asked);
      this.requests += requests;
      this.byFacts ||= byFacts;
      return rows;
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
