import type { SourceReport } from "../engine/reports.ts";
import { notesIfEmpty } from "../plan/passes.ts";
import type { PlanNote, QueryPlan } from "../plan/query-plan.ts";
import type { ChosenBy, RunStatus } from "./records.ts";

/** Parts of a plan that the record of its run shows. */
export interface PlanOutline {
  readonly kind: QueryPlan["kind"];
  readonly notes: readonly PlanNote[];
}

/** Notes on a plan for the reader of an answer with this status. */
export function planNotes(plan: QueryPlan, status: RunStatus | undefined): readonly PlanNote[] {
  if (plan.kind === "rejected") return [];
  return status === "empty" ? [...plan.notes, ...notesIfEmpty(plan)] : plan.notes;
}

/** Notes on a plan, on the facts that it rests on, and on its sources as known by now. */
export function notesOf(
  onPlan: readonly PlanNote[],
  sources: Iterable<SourceReport>,
  facts: ChosenBy | undefined,
): readonly PlanNote[] {
  const noted = [...sources].filter(isNoted);
  if (noted.length === 0 && facts === undefined) return onPlan;
  return [...onPlan, ...(facts === undefined ? [] : factsNotes(facts)), ...sourceNotes(noted)];
}

/** It was not asked as written, or not it. */
const isNoted = ({ setAside, status, mirror }: SourceReport): boolean =>
  setAside !== undefined || status === "silenced" || mirror !== undefined;

const sourceNotes = (sources: readonly SourceReport[]): readonly PlanNote[] =>
  [setAsideNote, silencedNote, mirrorNote].flatMap((noteOf) => sources.flatMap(noteOf));

function mirrorNote({ endpoint, mirror }: SourceReport): readonly PlanNote[] {
  if (mirror === undefined) return [];
  return [
    { code: "MIRROR_ANSWERED", message: `${mirror} answered in place of ${endpoint}, which failed or lacked rows.` },
  ];
}

function setAsideNote({ endpoint, setAside }: SourceReport): readonly PlanNote[] {
  if (!setAside) return [];
  const { keys, unanswered, example } = setAside;
  const what = keys === 1 ? `The join key ${example}` : `${keys} join keys (such as ${example})`;
  const lack = unanswered > 0 ? `; ${endpoint} did not answer for ${unanswered === keys ? "it" : unanswered}` : "";
  return [
    {
      code: "KEYS_SET_ASIDE",
      message: `${what} cannot be written in a query and was matched by text at ${endpoint}.${lack}`,
    },
  ];
}

function silencedNote({ endpoint, status, reason = "unknown" }: SourceReport): readonly PlanNote[] {
  if (status !== "silenced") return [];
  const message = `${endpoint} failed (${reason}); its SERVICE SILENT counts as one empty solution.`;
  return [{ code: "SILENCED", message }];
}

/** Endpoints that a note names. */
const mostNamed = 5;

/** Notes on facts that are old, or about endpoints that have changed lately: the answer may lack rows of these. */
function factsNotes({ ageMs = 0, isOld, changed = [] }: ChosenBy): readonly PlanNote[] {
  const age = `facts found or verified ${ageText(ageMs)} ago; prune=false asks all`;
  const more = changed.length > mostNamed ? ` and ${changed.length - mostNamed} more` : "";
  const names = `${changed.slice(0, mostNamed).join(", ")}${more}`;
  return [
    ...(isOld ? [{ code: "FACTS_OLD", message: `Endpoints were left out by ${age}.` } as const] : []),
    ...(changed.length > 0
      ? [{ code: "MEMBERS_CHANGED", message: `Changed within a day and left out: ${names}, by ${age}.` } as const]
      : []),
  ];
}

/** "90 s", "3 h", "2 days". */
function ageText(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  return hours >= 2 ? `${Math.floor(hours)} h` : `${Math.round(ms / 1_000)} s`;
}
