import { LRUCache } from "lru-cache";
import type { AnswerBytes } from "../engine/executor.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { type Problem, toProblem } from "../errors/problem.ts";
import type { QueryPlan } from "../plan/query-plan.ts";
import { type ResultFormat, resultFormats } from "../results/formats.ts";
import { isWhole } from "../results/gathered-body.ts";
import type { AnswerKind } from "../results/model.ts";
import { negotiateFormat } from "../results/negotiation.ts";
import { toPlanDescription } from "./describe-plan.ts";
import { executable } from "./evaluate.ts";
import type { QueryAnswer, QueryRequest, TabularAnswer } from "./query-service.ts";
import type { RunEnd } from "./run-log.ts";
import type { StartedRun } from "./start-run.ts";
import type { Table } from "./tabulate.ts";
import { brokenOff, completed, firstByteStatus, lacksRows } from "./verdict.ts";

// Clients of one kind send one Accept header; working it out is not free, nor is the key.
let latest: (Pick<QueryRequest, "accept" | "format"> & { kind: AnswerKind; wanted: ResultFormat }) | undefined;
const negotiated = new LRUCache<string, ResultFormat>({ max: 500 });

/** The format the client gets. @throws FedwayError the reason of a rejected plan, or `NOT_ACCEPTABLE` */
export function wantedFormat(plan: QueryPlan, { accept, format }: QueryRequest): ResultFormat {
  const kind = executable(plan).answer;
  if (latest?.kind === kind && latest.accept === accept && latest.format === format) return latest.wanted;
  const wanted = negotiate(kind, { accept, format });
  if ((accept?.length ?? 0) < 1_000) latest = { kind, accept, format, wanted };
  return wanted;
}

function negotiate(kind: AnswerKind, { accept, format }: Pick<QueryRequest, "accept" | "format">): ResultFormat {
  const key = JSON.stringify([kind, format, accept?.slice(0, 1_000)]);
  const known = negotiated.get(key);
  if (known) return known;
  const wish = { ...(accept !== undefined && { accept }), ...(format !== undefined && { format }) };
  const wanted = negotiateFormat(kind, wish);
  if (!wanted) throw notAcceptable(kind, format);
  if ((accept?.length ?? 0) < 1_000) negotiated.set(key, wanted);
  return wanted;
}

function notAcceptable(kind: AnswerKind, format: string | undefined): FedwayError {
  const offered = resultFormats.filter(({ kinds, writable }) => writable && kinds.includes(kind));
  const wanted = format === undefined ? "None of the formats in Accept" : `No format "${format.slice(0, 50)}"`;
  return new FedwayError("NOT_ACCEPTABLE", `${wanted} can carry ${kind}.`, {
    next: `Ask for one of ${offered.map(({ name, mediaType }) => `${mediaType} (${name})`).join(", ")}.`,
  });
}

/** What a shell sends for a started run. */
export function toQueryAnswer(
  { id, plan, cached, bounds, planMs }: StartedRun,
  { body, contentEncoding, rows }: AnswerBytes,
  { format, firstByteMs }: { readonly format: ResultFormat; readonly firstByteMs: number },
): QueryAnswer {
  if (plan.kind === "rejected") throw new Error("A rejected plan has no answer");
  return {
    runId: id,
    plan,
    kind: plan.answer,
    contentType: format.contentType,
    contentEncoding,
    body,
    status: firstByteStatus(bounds.sources.values(), isWhole(body), rows),
    notes: plan.notes,
    timings: { planMs, firstByteMs, planCached: cached },
  };
}

/** The table of an answer that failed before its first row. */
export const noTable: Table = { columns: [], rows: [], truncated: false };

/** Ends a run whose rows are collected. Rows before a failure are kept only when partial answers were asked for. */
export function toTabularAnswer(run: StartedRun, table: Table, thrown: unknown = table.error): TabularAnswer {
  const { id, plan, bounds } = run;
  const kept = thrown !== undefined && !bounds.partial ? { ...noTable, columns: table.columns } : table;
  const end = endOf(run, kept, thrown);
  run.end(end);
  return {
    run: id,
    status: end.status,
    plan: toPlanDescription(plan),
    columns: kept.columns,
    rows: kept.rows,
    ...(kept.boolean !== undefined && { boolean: kept.boolean }),
    truncated: kept.truncated,
    sources: [...bounds.sources.values()],
    notes: plan.kind === "rejected" ? [] : plan.notes,
    diagnosis: diagnose(run, end),
  };
}

/** Why an answer is failed or partial. One that only `maxRows` cut needs no diagnosis: `truncated` says it. */
function diagnose({ id, bounds }: StartedRun, { error }: RunEnd): Problem | null {
  if (error) return toProblem(error, id);
  const lacking = [...bounds.sources.values()].filter(lacksRows);
  const [first] = lacking;
  if (!first) return null;
  const how = lacking.map(({ endpoint, status, reason }) => `${endpoint} ${status}${reason ? ` (${reason})` : ""}`);
  const details = {
    fault: "partial",
    where: { endpoint: first.endpoint },
    next: "The sources say what each endpoint gave; narrow the query or ask again without partial.",
  } as const;
  return toProblem(new FedwayError("ENDPOINT_PARTIAL", `Rows are missing: ${how.join(", ")}.`, details), id);
}

function endOf(run: StartedRun, { rows, boolean, truncated }: Table, thrown: unknown): RunEnd {
  if (thrown !== undefined && rows.length === 0) return brokenOff(run.fail(thrown));
  if (thrown !== undefined) return { status: "partial", rows: rows.length, error: toFedwayError(thrown) };
  if (truncated) return { status: "partial", rows: rows.length };
  return completed(run.bounds.sources.values(), boolean === undefined ? rows.length : undefined);
}
