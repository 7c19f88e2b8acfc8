import { html } from "../../../html.ts";
import type { RunRecord } from "../../../query/records.ts";
import { draw } from "./elements.ts";
import { brokenOff, endOf, problemHtml, progressText, type ShownProblem, type State, stateHtml } from "./outcome.ts";
import { planDisplay } from "./plan-view.ts";
import { explainQuery, problemIn, runOf, sleep, type Target, whyEmpty } from "./requests.ts";

/** How long the end of a run whose answer has come is waited for. */
const lateMs = 2_000;

/** Answer as YASQE gives it; a failure is an error with the text of the response. */
export type Answer = Error | (Pick<Response, "headers"> & { readonly content: string });

/** Elements of a tab that show its query. */
export interface Place {
  /** Has the class `running` while a query runs, and `answered` where there is an answer to show. */
  readonly root: HTMLElement;
  readonly state: HTMLElement;
  readonly elapsed: HTMLElement;
  readonly problem: HTMLElement;
  readonly plan: HTMLElement;
  /** Marks a line of the query, counted from 1. */
  mark(line: number): void;
}

const pollMs = 500;
const unreachable: State = ["failed", "The service could not be reached. Try again in a moment.", "down"];

/** One query that YASQE sends: its plan and progress, then how it ended. */
export class FollowedQuery {
  /** Names the run before the first byte of the answer brings its id. */
  readonly session: string;
  readonly #place: Place;
  readonly #query: string;
  readonly #display: ReturnType<typeof planDisplay>;
  /** Aborted when nothing of it is shown any more. */
  readonly #left = new AbortController();
  #isOver = false;

  constructor(place: Place, { tab, query, target }: { tab: string; query: string; target: Target }) {
    this.session = `console-${tab}-${Date.now().toString(36)}`;
    this.#place = place;
    this.#query = query;
    this.#display = planDisplay(place.plan);
    place.problem.replaceChildren();
    place.root.classList.remove("answered");
    place.root.classList.add("running");
    this.#say(["running", ""]);
    void this.#explain(target);
    void this.#follow();
  }

  /** Shows nothing of it any more. */
  leave(): void {
    this.#end();
    this.#left.abort();
  }

  cancelled(): void {
    this.leave();
    this.#say(["cancelled", "You cancelled it.", "down"]);
    this.#display({ status: "cancelled" });
  }

  /** Shows how it ended. */
  async ended(answer: Answer, tookMs: number): Promise<void> {
    const problem = answer instanceof Error ? problemIn(answer.message) : undefined;
    const record = await this.#recordOf(answer, problem);
    if (this.#left.signal.aborted) return;
    this.#end();
    if (record !== undefined) this.#display({ sources: record.sources, steps: record.steps, status: record.status });
    if (answer instanceof Error) this.#failed(answer, problem, record);
    else await this.#answered(answer.content, record, tookMs);
  }

  /** Undefined for a query that was refused before it became a run. */
  async #recordOf(answer: Answer, problem: ShownProblem | undefined): Promise<RunRecord | undefined> {
    const id = answer instanceof Error ? problem?.run : (answer.headers.get("Fedway-Run") ?? undefined);
    if (problem !== undefined && id === undefined) return undefined;
    return runOf(this.session, id, lateMs).catch(() => undefined);
  }

  /** Shows an answer, unless it broke off: it would look complete. */
  async #answered(content: string, record: RunRecord | undefined, tookMs: number): Promise<void> {
    this.#say(endOf(record, tookMs), record);
    if (record?.status === "failed" || record?.status === "cancelled") return this.#fault(brokenOff(record));
    if (content !== "") this.#place.root.classList.add("answered");
    if (record?.status === "empty") await this.#explainEmpty(record.id);
  }

  #end(): void {
    this.#isOver = true;
    this.#place.elapsed.textContent = "";
    this.#place.root.classList.remove("running");
  }

  #failed(error: Error, problem: ShownProblem | undefined, record: RunRecord | undefined): void {
    if (problem === undefined && record === undefined) return this.#say(unreachable);
    // Browsers say little of a connection that ended; other errors are ours.
    const broken = error instanceof TypeError ? "The answer broke off before its end." : error.message;
    this.#say(["failed", problem === undefined ? broken : `${problem.title}.`, "down"], record);
    const fault = problem ?? (record?.status === "failed" ? brokenOff(record) : undefined);
    if (fault !== undefined) this.#fault(fault);
  }

  #say(state: State, record?: RunRecord): void {
    draw(this.#place.state, stateHtml(state, record));
  }

  #fault(problem: ShownProblem): void {
    this.#show(problem, "down");
    if (problem.where?.line !== undefined) this.#place.mark(problem.where.line);
  }

  #show(problem: ShownProblem, mark = ""): void {
    draw(this.#place.problem, html`<div class="banner ${mark}">${problemHtml(problem, this.#query)}</div>`);
  }

  async #explain(target: Target): Promise<void> {
    const plan = await explainQuery(this.#query, target, this.#left.signal).catch(() => undefined);
    // A query without a plan fails for the same reason.
    if (plan !== undefined && "kind" in plan && !this.#left.signal.aborted) this.#display({ plan });
  }

  /** Shows time, rows and endpoints while it runs. */
  async #follow(): Promise<void> {
    const startedMs = performance.now();
    for (let record: RunRecord | undefined; !this.#isOver; ) {
      this.#place.elapsed.textContent = progressText(record, performance.now() - startedMs);
      await sleep(pollMs);
      if (!this.#isOver) record = await runOf(this.session).catch(() => undefined);
      if (!this.#isOver && record !== undefined) this.#display({ sources: record.sources, steps: record.steps });
    }
  }

  async #explainEmpty(run: string): Promise<void> {
    draw(this.#place.problem, html`<p class="muted">Looking for the reason …</p>`);
    const why = await whyEmpty(run, { session: this.session, signal: this.#left.signal }).catch(() => undefined);
    if (this.#left.signal.aborted) return;
    this.#place.problem.replaceChildren();
    if (why !== undefined) this.#show(why);
  }
}
