import { noteStatus, sourceReport } from "../engine/executor.ts";
import type { ExecutionBounds } from "../engine/federation-engine.ts";
import type { DirectPlan, FederatedPlan, MergedMembers } from "../plan/query-plan.ts";
import { type Exclusions, withoutRoutes } from "../plan/source-selection.ts";
import type { StartedRun } from "./start-run.ts";

/** What one endpoint answered. */
interface WholeAnswer {
  readonly requests: number;
  readonly bytes: number;
}

interface AskOptions {
  readonly signal: AbortSignal;
  readonly onAnswer: (id: string, answer: WholeAnswer) => void;
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
  /** Tells what is asked from now on from all that was asked before. */
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
  /** When what was verified longest ago was; undefined: something was not, within the interval. */
  verifiedAt(exclusions: Exclusions): number | undefined;
  /** Ends the facts of an endpoint. */
  refute(refutation: Refutation): void;
  onRefuted(listener: (refutation: Refutation) => void): () => void;
}

/** An answer, and whether it looks like one of nothing. */
export interface Attempted<T> {
  readonly answer: T;
  readonly isOfNothing: boolean;
}

/** @param mayBeRefuted whether it matters if the answer is of nothing */
type Attempt<T> = (plan: DirectPlan | FederatedPlan, mayBeRefuted: boolean) => Promise<Attempted<T>>;

/** Plans that are made for one run; the last one leaves nothing out. */
const mostPlans = 3;

/**
 * Answers a run so that no answer is one of nothing by facts alone. What a plan leaves out is verified before it is executed
 * where the plan takes a part of the query for empty by it, or where a missing match could add rows; and again, by asking
 * now, when the answer turns out to be of nothing. Whoever has a match after all, or cannot be asked, is in the next plan.
 */
export async function proven<T>(run: StartedRun, sources: SourceVerifier | undefined, attempt: Attempt<T>): Promise<T> {
  if (sources === undefined || run.isTrusting) return (await attempt(run.executable(), false)).answer;
  const since = sources.mark();
  let ask: readonly string[] = [];
  for (let plans = 1; ; plans++) {
    const plan = await narrowed(run, sources, ask);
    const { exclusions } = plan;
    const verified = async (isFresh: boolean): Promise<readonly string[]> => {
      if (exclusions === undefined) return [];
      const options = { ...askingFor(run), since: isFresh ? since : undefined };
      const { refuted, unverified } = await sources.verify(exclusions, options);
      run.bounds.signal.throwIfAborted();
      // Where no part is taken for empty, facts do for an endpoint that cannot be asked.
      return isFresh || exclusions.decisive ? [...refuted, ...unverified] : refuted;
    };
    run.restOn(exclusions);
    let missing = isVerifiedFirst(plan) ? await verified(run.bounds.fresh === true) : [];
    if (missing.length === 0) {
      const { answer, isOfNothing } = await attempt(plan, exclusions !== undefined || routed(plan) !== undefined);
      missing = isOfNothing ? await verified(true) : [];
      if (missing.length === 0) return isOfNothing ? await unrouted(run, sources, { plan, answer, attempt }) : answer;
    }
    ask = [...new Set([...ask, ...missing])].toSorted();
    run.replan(plans < mostPlans - 1 ? { ask } : { prune: false });
  }
}

/** Whether rows could be given that are not in the true answer if what the plan leaves out had matches. */
function isVerifiedFirst(plan: DirectPlan | FederatedPlan): boolean {
  if (plan.exclusions === undefined) return false;
  return plan.exclusions.decisive || (plan.kind === "direct" ? plan : plan.over)?.nonMonotone === true;
}

async function narrowed(
  run: StartedRun,
  sources: SourceVerifier,
  ask: readonly string[],
): Promise<DirectPlan | FederatedPlan> {
  const plan = run.executable();
  if (plan.kind === "direct" || plan.over === undefined || run.bounds.fresh === true) return plan;
  return sources.narrow(plan, { ...askingFor(run), ask });
}

/** The requests are the run's. */
export const askingFor = ({
  bounds,
}: {
  readonly bounds: Pick<ExecutionBounds, "signal" | "sources">;
}): AskOptions => ({
  signal: bounds.signal,
  onAnswer(id, { requests, bytes }) {
    const report = sourceReport(bounds.sources, id);
    report.requests += requests;
    report.bytes += bytes;
    noteStatus(report, "ok");
  },
});

/** What join keys are sent to by facts about terms, with every key for every member; undefined where that is so anyway. */
function routed(plan: DirectPlan | FederatedPlan): MergedMembers | undefined {
  const { over } = plan.kind === "federated" ? plan : {};
  // A single pattern has no keys but those of VALUES.
  const hasKeys = Object.keys(over?.selection?.patterns ?? {}).length > 1 || /\bVALUES\b/iu.test(plan.query);
  const selection = over?.selection && hasKeys ? withoutRoutes(over.selection) : undefined;
  return over && selection && { ...over, selection };
}

interface Routed<T> {
  readonly plan: DirectPlan | FederatedPlan;
  readonly answer: T;
  readonly attempt: Attempt<T>;
}

/**
 * An answer of nothing whose join keys did not go to every member is looked for once more where they do. When it is found so,
 * the members are not what their descriptions say.
 */
async function unrouted<T>(run: StartedRun, sources: SourceVerifier, { plan, answer, attempt }: Routed<T>): Promise<T> {
  const over = routed(plan);
  if (over === undefined || plan.kind === "direct") return answer;
  run.again();
  const { answer: whole, isOfNothing } = await attempt({ ...plan, over }, true);
  if (isOfNothing) return whole;
  const { members, selection } = plan.over ?? {};
  const all = Object.entries(selection?.patterns ?? {});
  for (const [index, { id }] of (members ?? []).entries()) {
    const patterns = all.filter(([, { sources: own }]) =>
      own.some(({ member, subjects }) => member === index && subjects),
    );
    if (id === undefined || patterns.length === 0) continue;
    sources.refute({ endpoint: id, patterns: patterns.map(([key]) => key), since: run.executedAt });
  }
  return whole;
}
