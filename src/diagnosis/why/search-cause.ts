import { findCause } from "./find-cause.ts";
import type { Finding, Inquiry } from "./inquiry.ts";
import { leftOut } from "./left-out.ts";
import { namedMember } from "./mistaken-endpoint.ts";
import { BudgetSpent } from "./prober.ts";
import { renderParts, serviceOf } from "./query-parts.ts";
import { answered, none } from "./statements.ts";
import { firstThatHelps, lackOf, type Trial, trialsOf } from "./try-offers.ts";

/** Progress of a diagnosis. */
interface Progress {
  best: Finding | undefined;
}

/** The best that could be found within the budget; null when the query has solutions. */
export async function findingOf(inquiry: Inquiry): Promise<Finding | null> {
  const trials = trialsOf(inquiry);
  const progress: Progress = { best: lackOf(inquiry, trials) };
  try {
    return await searched(inquiry, trials, progress);
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    inquiry.prober.prune = true;
    return progress.best ?? notAsked(inquiry);
  }
}

/** @throws BudgetSpent */
async function searched(inquiry: Inquiry, trials: readonly Trial[], progress: Progress): Promise<Finding | null> {
  const { prober } = inquiry;
  const note = (finding: Finding): void => void (progress.best = finding);
  const helped = await firstThatHelps(inquiry, trials);
  if (helped) return namedMember(inquiry, helped);
  const cause = await findCause(inquiry, note);
  if (cause === "solvable" && !prober.prune) return outdated(inquiry);
  if (!prober.byFacts || typeof cause !== "object") return concluded(inquiry, cause, progress);
  note(cause);
  // What facts have decided is asked of everybody.
  prober.prune = false;
  const again = (await held(inquiry, cause)) ? cause : await findCause(inquiry, note);
  return again === "solvable" ? outdated(inquiry) : concluded(inquiry, again, progress);
}

/** @throws BudgetSpent */
async function concluded(
  inquiry: Inquiry,
  cause: Awaited<ReturnType<typeof findCause>>,
  progress: Progress,
): Promise<Finding | null> {
  if (cause === "unknown") return notAsked(inquiry);
  if (cause === "solvable") return leftOut(inquiry);
  progress.best = cause;
  await held(inquiry, cause);
  return namedMember(inquiry, cause);
}

/** Asks what a finding rests on, as far as that was not asked; false where its first claim or the whole is not so. @throws BudgetSpent */
async function held({ all, prober }: Inquiry, { claims: [first, ...others] }: Finding): Promise<boolean> {
  const own = [none(all), ...(first?.grounds ?? [])];
  await prober.ask([...own, ...others.flatMap(({ grounds }) => grounds)].map(({ question }) => question));
  return own.every(({ question, has }) => (prober.evidence(question)?.count ?? 0) > 0 === has);
}

const outdated = ({ all }: Inquiry): Finding => ({
  code: "EMPTY_OUTDATED",
  claims: [
    {
      text: "The query has solutions, though descriptions of its endpoints say that it has none: the data have changed",
      grounds: [answered({ group: renderParts(all) })],
    },
  ],
  next: "Send the query with prune=false, and have the endpoints described anew.",
});

function notAsked({ prober, all }: Inquiry): Finding {
  const hasService = all.some((part) => serviceOf(part) !== undefined);
  const end = prober.spent === undefined ? "" : `; then its ${prober.spent} had been used up`;
  return {
    code: "EMPTY_UNDECIDED",
    claims: [],
    remark: `Which part of the query has no solutions is not known after ${prober.asked} questions${end}.`,
    next: `Ask each ${hasService ? "SERVICE" : "pattern with a constant"} alone.`,
  };
}
