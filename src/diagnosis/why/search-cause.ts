import type { Evidence } from "../evidence.ts";
import { findCause } from "./find-cause.ts";
import { describedBy, type EvidentFinding, type Finding, type Inquiry } from "./inquiry.ts";
import { leftOut } from "./left-out.ts";
import { namedMember } from "./mistaken-endpoint.ts";
import { BudgetSpent } from "./prober.ts";
import { renderParts, serviceOf } from "./query-parts.ts";
import { firstThatHelps, lackOf, type Trial, trialsOf } from "./try-offers.ts";

/** Progress of a diagnosis. */
interface Progress {
  best: Finding | undefined;
  evidence: Evidence;
}

const asked: Evidence = { kind: "asked" };

/** The best that could be found within the budget; null when the query has solutions. */
export async function findingOf(inquiry: Inquiry): Promise<EvidentFinding | null> {
  const trials = trialsOf(inquiry);
  const lack = lackOf(inquiry, trials);
  const progress: Progress = { best: lack?.finding, evidence: lack?.evidence ?? asked };
  try {
    return await searched(inquiry, trials, progress);
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    const { best: finding, evidence } = progress;
    return finding ? { finding, evidence } : { finding: notAsked(inquiry) };
  }
}

/** @throws BudgetSpent */
async function searched(
  inquiry: Inquiry,
  trials: readonly Trial[],
  progress: Progress,
): Promise<EvidentFinding | null> {
  const { prober } = inquiry;
  const helped = await firstThatHelps(inquiry, trials);
  if (helped) return { ...helped, finding: namedMember(inquiry, helped.finding) };
  progress.evidence = asked;
  const cause = await findCause(inquiry, (finding) => void (progress.best = finding));
  if (cause === "solvable" && !prober.prune) return outdated;
  return prober.byFacts && typeof cause === "object"
    ? await askedOfAll(inquiry, cause, progress)
    : await concluded(inquiry, cause, progress);
}

/** Confirms a finding by facts at all endpoints. @throws BudgetSpent */
async function askedOfAll(inquiry: Inquiry, found: Finding, progress: Progress): Promise<EvidentFinding | null> {
  progress.best = found;
  progress.evidence = describedBy(inquiry, found);
  inquiry.prober.prune = false;
  const isConfirmed = await confirmed(inquiry, found);
  if (isConfirmed === undefined) return { finding: found, evidence: progress.evidence };
  const cause = isConfirmed ? found : await findCause(inquiry, (finding) => void (progress.best = finding));
  progress.evidence = asked;
  return cause === "solvable" ? outdated : concluded(inquiry, cause, progress);
}

/** @throws BudgetSpent */
async function concluded(
  inquiry: Inquiry,
  cause: Awaited<ReturnType<typeof findCause>>,
  progress: Progress,
): Promise<EvidentFinding | null> {
  const { evidence } = progress;
  if (cause === "unknown") return { finding: notAsked(inquiry) };
  if (cause !== "solvable") {
    progress.best = cause;
    return { finding: namedMember(inquiry, cause), evidence };
  }
  const finding = await leftOut(inquiry);
  return finding && { finding, evidence };
}

/** True if a finding holds when all endpoints are asked; undefined when that is not known. @throws BudgetSpent */
async function confirmed({ parts, prober }: Inquiry, { part, isEmptyAlone }: Finding): Promise<boolean | undefined> {
  const groups = part && isEmptyAlone ? [parts, [part]] : [parts];
  const has = await prober.anySolutions(groups.map(renderParts));
  return has.includes(true) ? false : has.includes(undefined) ? undefined : true;
}

const outdated: EvidentFinding = {
  finding: {
    code: "EMPTY_OUTDATED",
    message:
      "The query has solutions, though descriptions of its endpoints say that it has none: the data have changed",
    next: "Send the query with prune=false, and have the endpoints described anew.",
  },
  evidence: asked,
};

function notAsked({ prober, parts }: Inquiry): Finding {
  const hasService = parts.some((part) => serviceOf(part) !== undefined);
  const end = prober.spent === undefined ? "" : `; then its ${prober.spent} had been used up`;
  return {
    code: "EMPTY_UNDECIDED",
    message: `Which part of the query has no solutions is not known after ${prober.asked} questions${end}.`,
    next: `Ask each ${hasService ? "SERVICE" : "pattern with a constant"} alone.`,
  };
}
