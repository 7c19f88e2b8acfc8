import type { SourceReport } from "../engine/reports.ts";
import type { PlanNote } from "../plan/query-plan.ts";

/** Notes for the reader on how the sources of an answer were asked. */
export const sourceNotes = (sources: readonly SourceReport[]): readonly PlanNote[] =>
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
