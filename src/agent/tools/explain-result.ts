import { Type } from "typebox";
import type { EmptyDiagnosis, Explainer } from "../../diagnosis/why/explainer.ts";
import { FedwayError, toProblem, type Problem } from "../../errors/fedway-error.ts";
import { ownRun, runUnknown, type QueryService } from "../../query/query-service.ts";
import { lacksRows } from "../../query/run-log.ts";
import type { RunRecord } from "../../query/records.ts";
import { mayCountNothing } from "../../query/table.ts";
import { plainText } from "../../rdf/display-text.ts";
import type { Reply } from "../reply.ts";
import { notesOf } from "../results/show-result.ts";
import { defineTool, type ToolCall } from "../tool.ts";

interface Parts {
  readonly queries: Pick<QueryService, "runRecord">;
  readonly explainer: Explainer;
}

type OwnRun = Awaited<ReturnType<typeof ownRun>>;

/** Says why a run was empty or partial. */
export const explainResult = ({ queries, explainer }: Parts) =>
  defineTool({
    name: "explain_result",
    title: "Explain an empty or partial result",
    text: ["Says why a run was empty or partial, and what to write instead."],
    input: Type.Object({ run_id: Type.String({ minLength: 1, maxLength: 200 }) }),
    output: { run: "string", status: "string", sources: "array", notes: "array" },
    annotations: { openWorldHint: true },
    async run({ run_id: id }, call) {
      const run = await ownRun(queries, id.trim(), call.owner);
      if (run.asked.session !== undefined && run.asked.session !== call.session) throw runUnknown();
      const isOneValue = run.rows === undefined || (run.rows === 1 && mayCountNothing(run.asked.query ?? ""));
      const isToBeAsked = run.status === "empty" || (run.status === "ok" && isOneValue);
      return isToBeAsked ? explainRun(run, explainer, call) : showRun(run, { problem: problemOfRun(run) });
    },
  });

/** Asks the parts of a run's query. */
async function explainRun(run: OwnRun, explainer: Explainer, call: ToolCall): Promise<Reply> {
  const { query, endpoint, federation } = run.asked;
  const { signal, owner, admitted } = call;
  if (query === undefined) return showRun(run, { problem: notKept() });
  const asked = { query, endpoint, federation };
  call.onProgress?.("The parts of the query are asked one by one.");
  return showRun(run, await explainer.explain(asked, { signal, owner, admitted }));
}

const notKept = (): Problem =>
  toProblem(
    new FedwayError("EMPTY_UNDECIDED", "The query of this run was too long to be kept, so its parts cannot be asked.", {
      next: "Ask parts of the query alone.",
    }),
  );

/** Why a run is partial or failed, by its record; null for one that is neither. */
function problemOfRun({ status, code, detail, sources }: RunRecord): Problem | null {
  const lacking = sources.filter(lacksRows);
  const where = lacking[0] && { endpoint: lacking[0].endpoint };
  if (code !== undefined) return toProblem(new FedwayError(code, detail ?? "", { where }));
  if (status !== "partial") return null;
  const names = lacking.map(sourceText).join("; ");
  const message =
    names === "" ? "The answer was cut at the number of rows that were wanted." : `Rows are missing: ${names}.`;
  return toProblem(
    new FedwayError("ENDPOINT_PARTIAL", message, { where, next: "Narrow the query, or ask again later." }),
  );
}

const sourceText = ({ endpoint, status, rows, requests, reason }: RunRecord["sources"][number]): string =>
  `${plainText(endpoint, 80)} ${status}, rows: ${rows ?? "unknown"}, requests: ${requests}${reason === undefined ? "" : ` (${plainText(reason, 80)})`}`;

const mostSources = 10;

function showRun(
  { id, status, rows, sources, notes }: RunRecord,
  { problem, questions, requests, complete }: Partial<EmptyDiagnosis>,
): Reply {
  const left = complete === false ? "; then the limit of a diagnosis was reached, and other parts were not asked" : "";
  const counted = `Questions asked about it: ${questions}, in requests to endpoints: ${requests ?? 0}${left}.`;
  return {
    status: `status: ${status}${rows === undefined ? "" : `, ${rows} rows`}${problem ? "" : `. ${verdicts[status]}`}`,
    cause: problem,
    rows: sources.slice(0, mostSources).map((source) => `source: ${sourceText(source)}`),
    notes: [...(questions === undefined ? [] : [counted]), ...notesOf(notes)],
    data: {
      run: id,
      status,
      rows,
      sources,
      notes,
      questions: questions ?? 0,
      requests: requests ?? 0,
      ...(complete !== undefined && { complete }),
    },
  };
}

/** Texts for runs without a problem. */
const verdicts: Readonly<Record<RunRecord["status"], string>> = {
  running: "The run is not finished yet.",
  ok: "Nothing is missing: each endpoint gave its whole answer.",
  empty: "The query has solutions now: the data have changed since it was run.",
  partial: "Part of the answer is missing.",
  failed: "The run failed.",
  cancelled: "The run was cancelled before its end.",
};
