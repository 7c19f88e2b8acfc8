import { noteStatus, sourceReport } from "../engine/executor.ts";
import type { ExecutionBounds } from "../engine/execution-bounds.ts";
import type { RequestBudget } from "../outbound/request-budget.ts";
import type { DirectPlan, FederatedPlan } from "../plan/query-plan.ts";
import { allExclusions, type Exclusions } from "../plan/source-selection.ts";
import type { StartedRun } from "./start-run.ts";

/** Answer of one endpoint. */
interface WholeAnswer {
  readonly requests: number;
  readonly bytes: number;
}

interface AskOptions {
  readonly signal: AbortSignal;
  readonly budget?: RequestBudget | undefined;
  readonly onAnswer: (id: string, answer: WholeAnswer) => void;
}

/** Age of the facts by which endpoints are left out. */
interface FactsAge {
  /** Milliseconds since the oldest was found or last verified. */
  readonly ms: number;
  readonly isOld: boolean;
  /** Ids of endpoints that were seen to change within a day. */
  readonly changed: readonly string[];
}

/** A fact that was found to be wrong: the answers that left out the endpoint's matches since then may lack rows. */
export interface Refutation {
  readonly endpoint: string;
  readonly patterns: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Asks endpoints whether they have matches; `selection/` fits. */
export interface SourceVerifier {
  /** Separates questions from now on from all earlier ones. */
  mark(): number;
  /** The plan without members that have no match; `ask` names some that stay. */
  narrow(plan: FederatedPlan, options: AskOptions & { readonly ask: readonly string[] }): Promise<FederatedPlan>;
  /**
   * Asks what a plan leaves out; never rejects.
   * @returns ids of endpoints that have a match, and of those that could not be asked
   */
  verify(
    exclusions: Exclusions,
    options: AskOptions & { readonly since: number | undefined },
  ): Promise<{ readonly refuted: readonly string[]; readonly unverified: readonly string[] }>;
  /** The same in the background, for what was not verified within the interval. */
  verifyLater(exclusions: Exclusions): void;
  /** All that must have no match for an answer to a plan, or one of nothing, to be right, be it as old as its facts. */
  restingOn(plan: DirectPlan | FederatedPlan, isOfNothing?: boolean): Exclusions | undefined;
  /** Those that may be wrong; undefined: none. Facts of hosted data that cannot have changed are certain. */
  doubtful(exclusions: Exclusions | undefined): Exclusions | undefined;
  /** When what was verified longest ago was; undefined: something was not, within the interval. */
  verifiedAt(exclusions: Exclusions): number | undefined;
  /** The age of what endpoints are left out by. */
  age(exclusions: Exclusions): FactsAge;
  /** Ends the facts of an endpoint. */
  refute(refutation: Refutation): void;
  onRefuted(listener: (refutation: Refutation) => void): () => void;
}

/** An answer, and whether it looks like one of nothing. */
export interface Executed<T> {
  readonly answer: T;
  readonly isOfNothing: boolean;
}

/** @param mayBeRefuted whether it matters if the answer is of nothing */
export type Execution<T> = (plan: DirectPlan | FederatedPlan, mayBeRefuted: boolean) => Promise<Executed<T>>;

/** Plans that are made for one run; the last one leaves nothing out. */
const mostPlans = 3;

/**
 * Answers a run so that no answer is one of nothing by facts alone. What a plan leaves out is verified before it is executed
 * where the plan takes a part of the query for empty by it, or where a missing match could add rows; and again, by asking
 * now, when the answer turns out to be of nothing, together with what was left out while it was evaluated. Whoever has a match after all, or cannot be asked, is in the next plan.
 */
export async function verified<T>(
  run: StartedRun,
  verifier: SourceVerifier | undefined,
  execute: Execution<T>,
): Promise<T> {
  if (verifier === undefined || run.isTrusting) {
    const plan = run.executable();
    run.restOn(verifier?.restingOn(plan));
    return (await execute(plan, false)).answer;
  }
  const since = verifier.mark();
  const isFresh = run.bounds.fresh === true;
  let ask: readonly string[] = [];
  for (let plans = 1; ; plans++) {
    const plan = await narrowed(run, verifier, ask);
    const resting = verifier.restingOn(plan);
    run.restOn(resting);
    let missing = isVerifiedFirst(plan, resting) ? await missed(resting, { run, verifier, since, isFresh }) : [];
    if (missing.length === 0) {
      const { answer, isOfNothing } = await execute(plan, resting !== undefined);
      missing = isOfNothing
        ? await missedNow(verifier.restingOn(plan, true), { run, verifier, since, isFresh: true })
        : [];
      if (missing.length === 0) return answer;
    }
    ask = [...new Set([...ask, ...missing])].toSorted();
    run.replan(plans < mostPlans - 1 ? { ask } : { prune: false });
  }
}

interface Asking {
  readonly run: StartedRun;
  readonly verifier: SourceVerifier;
  readonly since: number;
  /** Only what is asked since counts. */
  readonly isFresh: boolean;
}

/** Ids of endpoints that have a match after all, or cannot be asked whether they have. */
async function missed(
  exclusions: Exclusions | undefined,
  { run, verifier, since, isFresh }: Asking,
): Promise<readonly string[]> {
  if (exclusions === undefined) return [];
  const options = { ...askingFor(run), since: isFresh ? since : undefined };
  const { refuted, unverified } = await verifier.verify(exclusions, options);
  run.bounds.signal.throwIfAborted();
  // Where no part is taken for empty, facts do for an endpoint that cannot be asked.
  return isFresh || exclusions.decisive ? [...refuted, ...unverified] : refuted;
}

/** The same for all that an answer rests on, with what was left out while it was evaluated. */
async function missedNow(resting: Exclusions | undefined, asking: Asking): Promise<readonly string[]> {
  const { pruned } = asking.run;
  const doubtful = asking.verifier.doubtful(pruned?.exclusions(true));
  const missing = await missed(allExclusions([resting, doubtful]), asking);
  // Keys that were not remembered cannot be asked for.
  const unasked = pruned?.isSampled ? (doubtful?.list ?? []).flatMap(({ endpoint }) => endpoint.id ?? []) : [];
  pruned?.settle();
  return [...missing, ...unasked];
}

/** True if rows outside the true answer could be given, should the endpoints that the plan leaves out have matches. */
function isVerifiedFirst(plan: DirectPlan | FederatedPlan, resting: Exclusions | undefined): boolean {
  if (resting === undefined) return false;
  return resting.decisive || (plan.kind === "direct" ? plan : plan.over)?.nonMonotone === true;
}

async function narrowed(
  run: StartedRun,
  verifier: SourceVerifier,
  ask: readonly string[],
): Promise<DirectPlan | FederatedPlan> {
  const plan = run.executable();
  if (plan.kind === "direct" || plan.over === undefined || run.bounds.fresh === true) return plan;
  return verifier.narrow(plan, { ...askingFor(run), ask });
}

/** The requests are the run's. */
export const askingFor = ({ bounds }: { readonly bounds: ExecutionBounds }): AskOptions => ({
  signal: bounds.signal,
  budget: bounds.requests,
  onAnswer(id, { requests, bytes }) {
    const report = sourceReport(bounds.sources, id);
    report.requests += requests;
    report.bytes += bytes;
    noteStatus(report, "ok");
  },
});
