import { FedwayError, toProblem } from "../errors/fedway-error.ts";
import { visible } from "../html.ts";
import { parsedJson } from "../values.ts";
import { type CliIo, exitCodes, type Options, UsageError } from "./cli-io.ts";
import { hasFields, RemoteProblem, searchOf, type Service, unreachable, withService } from "./service.ts";
import { pour, write, writeJson, writeNote } from "./output.ts";
import { resultFormats } from "../results/formats.ts";
import { formatNamed } from "../results/negotiation.ts";
import { tableLines } from "./answer-table.ts";
import { isTerminal, startSpinner, styled } from "./terminal.ts";
import type { PlanDescription, RunRecord } from "../query/records.ts";
import { planText } from "../views/plan-view.ts";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { isUtf8 } from "node:buffer";

/** Options of `query` and `explain`. */
type QueryOptions = Options<
  "endpoint" | "federation" | "format",
  "partial" | "subset" | "strict" | "provenance" | "spreadsheet" | "portable" | "analyze",
  "timeout"
> & { readonly prune?: boolean | "trust" };

/** Asks the service; what fails is shown with its place in the query. */
const asking = (
  io: CliIo,
  { text, url }: { readonly text: string; readonly url: string | undefined },
  use: (service: Service) => Promise<number>,
): Promise<number> =>
  withService(io, { url }, use).catch((error: unknown) => {
    if (error instanceof FedwayError && error.code === "CONFIG_INVALID") throw error;
    throw new RemoteProblem(error instanceof RemoteProblem ? error.problem : toProblem(error), text);
  });

const forTerminal = "text/tab-separated-values, text/turtle;q=0.9, application/sparql-results+json;q=0.5";
const forPipe = "text/csv, text/turtle;q=0.9, application/sparql-results+json;q=0.5";

/** @throws UsageError for a format that is not known */
function acceptOf(io: CliIo, { format, spreadsheet = false }: QueryOptions): string {
  if (spreadsheet && (format ?? "csv") !== "csv")
    throw new UsageError("--spreadsheet marks cells of CSV: leave out --format, or name csv");
  if (spreadsheet) return "text/csv";
  if (format === undefined) return isTerminal(io.stdout) ? forTerminal : forPipe;
  const named = (["bindings", "boolean", "quads"] as const).flatMap(
    (kind) => formatNamed(format, kind)?.mediaType ?? [],
  );
  if (named.length > 0) return [...new Set(named)].join(", ");
  const names = resultFormats.map(({ name }) => name).join(", ");
  throw new UsageError(`"${format}" is no format; known are ${names}, and their media types`);
}

/** `fedway query`: the answer to standard output as it arrives. Resolves to the exit code. */
export async function runQuery(io: CliIo, argument: string, options: QueryOptions): Promise<number> {
  const accept = acceptOf(io, options);
  const text = await queryText(argument, io);
  return asking(io, { text, url: options.url }, async (service) => {
    const headers = { "Content-Type": "application/sparql-query", Accept: accept };
    const stopSpinner = startSpinner(io.stderr);
    const response = await service.ask(pathOf(options), { headers, body: text, asClient: true }).finally(stopSpinner);
    const record = (wait?: number): Promise<Ended> => recordOf(service, response.headers, wait);
    const notes = response.headers.get("Fedway-Notes")?.split(",") ?? [];
    // The header has their codes only.
    const messages = notes.length === 0 ? [] : ((await record()).notes ?? []).map(({ message }) => message);
    for (const note of messages.length > 0 ? messages : notes) await writeNote(io, note);
    await deliver(io, response, options.format).catch(async (error: unknown) => {
      const { code, detail } = await record(lateMs);
      throw code === undefined
        ? unreachable(error, io.interrupted)
        : new FedwayError(code, detail ?? "The answer broke off.");
    });
    return closing(io, await record(lateMs), options);
  });
}

function pathOf({
  endpoint,
  federation,
  timeout,
  partial,
  subset,
  strict,
  provenance,
  spreadsheet,
  prune = true,
}: QueryOptions): string {
  const place =
    federation === undefined
      ? endpoint === undefined
        ? ""
        : `/endpoints/${encodeURIComponent(endpoint)}`
      : `/federations/${encodeURIComponent(federation)}`;
  const allowed = subset ? "subset" : partial;
  const pruned = prune === true ? undefined : prune;
  return `${place}/sparql${searchOf({ timeout, partial: allowed, strict, provenance, spreadsheet, prune: pruned })}`;
}

/** Milliseconds to wait for the end of a run whose answer has ended: another process may have answered, and its record is late. */
const lateMs = 5_000;

type Ended = Partial<Pick<RunRecord, "id" | "status" | "partial" | "notes" | "code" | "detail">>;

/** The record of a run, waiting up to `wait` milliseconds for its end; without one, what the head of its answer says. */
async function recordOf(service: Service, headers: Headers, wait?: number): Promise<Ended> {
  const id = headers.get("Fedway-Run");
  if (id === null) return {};
  const path = `/api/runs/${encodeURIComponent(id)}${searchOf({ wait })}`;
  const record = await service.read<RunRecord>(path, { asClient: true }, "status").catch((): Ended => ({}));
  if (record.status !== undefined && record.status !== "running") return record;
  const [status, partial] = [headers.get("Fedway-Status"), headers.get("Fedway-Partial")];
  if (status === "partial") return { ...record, status, partial: partial === "subset" ? partial : "uncertain" };
  return record;
}

/** To a terminal rows go as a table, ASK as a word, JSON and XML with a line end behind them; to a pipe all goes as it is. */
async function deliver(io: CliIo, response: Response, format: string | undefined): Promise<void> {
  const contentType = response.headers.get("Content-Type") ?? "";
  const isWord = format === undefined && contentType.startsWith("application/sparql-results+json");
  if (isWord && isTerminal(io.stdout)) return write(io.stdout, `${wordOf(await response.text())}\n`);
  const body = response.body === null ? Buffer.alloc(0) : Readable.fromWeb(response.body);
  if (!isTerminal(io.stdout)) return pour(body, io.stdout);
  const isTable = format === undefined && contentType.startsWith("text/tab-separated-values");
  if (isTable) return pour(Readable.from(tableLines(body, io.stdout)), io.stdout);
  await pour(body, io.stdout, /\bjson\b/.test(contentType));
  if (!contentType.startsWith("text/")) await write(io.stdout, "\n");
}

/** `true` or `false`; an answer of another form as it came. */
function wordOf(json: string): string {
  const answer = parsedJson(json);
  return hasFields<{ readonly boolean: unknown }>(answer, "boolean") && typeof answer.boolean === "boolean"
    ? `${answer.boolean}`
    : json;
}

/** A partial answer is a success only if partial results were allowed. */
async function closing(io: CliIo, record: Ended, { partial, subset }: QueryOptions): Promise<number> {
  const { id, status = "ok", partial: kind } = record;
  if (status === "ok" || status === "empty") return exitCodes.ok;
  if (status === "running") {
    // An answer that was not cut off is complete, or says at its end what is missing.
    await writeNote(io, `The record of the run is late; whether rows are missing says: fedway runs show ${id}`);
    return exitCodes.ok;
  }
  const effect =
    kind === "uncertain"
      ? " (uncertain): some rows may be wrong, because the query uses MINUS, counts or OPTIONAL on missing data"
      : ": rows may be missing";
  const style = status === "partial" ? "yellow" : "red";
  await write(io.stderr, `${styled(io.stderr, style, `The answer is ${status}${effect}.`)}\n`);
  return status === "partial" && (partial || subset) ? exitCodes.ok : exitCodes.failed;
}

/** `fedway explain`: the plan to standard output; a plan that is a rejection is a failure. Resolves to the exit code. */
export async function runExplain(io: CliIo, argument: string, options: QueryOptions): Promise<number> {
  checkExplainOptions(options);
  const { url, endpoint, federation, strict, prune, analyze, timeout: timeoutMs, partial, subset } = options;
  const query = await queryText(argument, io);
  const run = analyze && { analyze, timeoutMs, partial: subset ? "subset" : partial };
  return asking(io, { text: query, url }, async (service) => {
    const body = { query, endpoint, federation, strict, prune, ...run };
    const plan = await service.read<PlanDescription>("/api/explain", { body, asClient: true }, "kind", "notes");
    return writePlan(io, plan, options);
  });
}

async function writePlan(io: CliIo, plan: PlanDescription, { portable, json }: QueryOptions): Promise<number> {
  if (portable && plan.problem) throw new RemoteProblem(plan.problem);
  if (portable) return writePortable(io, plan);
  await (json ? writeJson(io, plan) : write(io.stdout, `${visible(planText(plan))}\n`));
  if (plan.run !== undefined && failures.has(plan.run.status)) {
    await write(io.stderr, failureText(plan.run));
    return exitCodes.failed;
  }
  if (plan.problem && plan.kind === "rejected") throw new RemoteProblem(plan.problem);
  return plan.kind === "rejected" ? exitCodes.failed : exitCodes.ok;
}

/** An option that has no effect is a misunderstanding. @throws UsageError */
function checkExplainOptions({ portable, json, analyze, timeout, partial, subset }: QueryOptions): void {
  if (portable && json)
    throw new UsageError("--portable writes a query and --json a plan, which has that query, too: use one of them");
  if (portable && analyze) throw new UsageError("--portable writes a query and --analyze runs it: use one of them");
  if (analyze) return;
  const given = { "--timeout": timeout !== undefined, "--partial": partial, "--subset": subset };
  const [idle] = Object.entries(given).find(([, isGiven]) => isGiven) ?? [];
  if (idle !== undefined) throw new UsageError(`${idle} is for a run: use it with --analyze`);
}

type Failure = Pick<NonNullable<PlanDescription["run"]>, "status" | "code" | "detail">;

function failureText({ status, code, detail = "" }: Failure): string {
  const what = status === "cancelled" ? "The run was cancelled" : `The run ${status}`;
  return `${visible(`${what}${code === undefined ? "" : ` (${code})`}. ${detail}`.trimEnd())}\n`;
}

const failures: ReadonlySet<string> = new Set(["failed", "cancelled"]);

/** The plan as a query for any engine. */
async function writePortable(io: CliIo, { portable }: PlanDescription): Promise<number> {
  const text = portable?.query;
  if (text !== undefined) {
    for (const { code, message } of portable?.notes ?? []) await write(io.stderr, `note ${code}: ${message}\n`);
    await write(io.stdout, `${text.trimEnd()}\n`);
    return exitCodes.ok;
  }
  const why = portable?.why ?? "The query is not executed; explain it without --portable to see why.";
  const next = portable?.next === undefined ? "" : ` ${portable.next}`;
  await write(io.stderr, `There is no portable plan. ${why}${next}\n`);
  return exitCodes.failed;
}

/** `fedway serve`: listens until interrupted, with `settings` beside its options. Resolves to the exit code. */
export async function runServe(
  io: CliIo,
  { host, port, catalog }: Options<"host" | "port" | "catalog">,
  settings: Readonly<Record<string, string>> = {},
): Promise<number> {
  const given = { HOST: host, PORT: port, FEDWAY_CATALOG: catalog };
  const set = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const app = await io.openApp({ ...settings, ...Object.fromEntries(set) });
  const url = await app.listen();
  await write(io.stderr, app.startMessage(url));
  if (!io.interrupted.aborted) {
    await new Promise<void>((resolve) => {
      io.interrupted.addEventListener("abort", () => resolve(), { once: true });
    });
  }
  const { reason } = io.interrupted as { readonly reason: unknown };
  await app.close({ drain: reason instanceof Error && reason.message === "SIGTERM" });
  return exitCodes.ok;
}

function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new FedwayError("QUERY_ENCODING", "The query is not UTF-8 text.");
  return bytes.toString("utf8");
}

const looksLikeQuery = (text: string): boolean => /[\s{}]/.test(text);

/**
 * The query that an argument means: `-` is standard input, the name of a file its content, anything with blanks or
 * braces is the query itself.
 * @throws UsageError when it is neither; FedwayError `QUERY_ENCODING`
 */
export async function queryText(argument: string, { stdin }: Pick<CliIo, "stdin">): Promise<string> {
  if (argument === "-") {
    const chunks: Buffer[] = [];
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
    return decoded(Buffer.concat(chunks));
  }
  if (looksLikeQuery(argument)) {
    const content = await readFile(argument).catch(() => undefined);
    return content ? decoded(content) : argument;
  }
  const content = await readFile(argument).catch((error: unknown) => {
    throw new UsageError(`"${argument}" is no file that can be read, and no query`, { cause: error });
  });
  return decoded(content);
}
