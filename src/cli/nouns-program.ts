import { type Command, Option } from "commander";
import type { RunRecord } from "../query/records.ts";
import { resources } from "../views/resources.ts";
import { runView } from "../views/run-view.ts";
import type { View } from "../views/view.ts";
import {
  type CliIo,
  exitCodes,
  milliseconds,
  type Options,
  type Running,
  serviceCommand,
  wholeNumber,
} from "./cli-io.ts";
import { addNoun, cellText, isRow, listAction, type Listing, type Row, showAction, writeList } from "./noun.ts";
import { write } from "./output.ts";
import { hasFields, searchOf, withService } from "./service.ts";

/** Adds these nouns, each with `list` and `show`. */
export function addNouns(program: Command, running: Running, names: readonly (keyof typeof resources)[]): void {
  for (const name of names) {
    const { noun } = resources[name];
    if (noun === undefined) continue;
    const { about, columns, example } = noun;
    const command = addNoun(program, name, { about, help: [`${name} list`, `${name} show ${example}`] });
    command("list", `list ${about}`)
      .option("-n, --limit <number>", "most of them", wholeNumber)
      .option("--json", "as JSON")
      .action(
        running((io, { limit, ...options }: Options<never, never, "limit">) =>
          writeList<Row>(io, options, { path: `${name}${searchOf({ limit })}`, field: name, columns }),
        ),
      );
    command(`show <${name.replace(/s$/, "")}>`, "show one of them")
      .option("--json", "as JSON")
      .action(running(showAction(name, (row) => rowView(row))));
  }
}

/** The fields of an answer; those with fields of their own are below it, lists of them as tables. */
function rowView(row: Row, title = cellText(row["id"] ?? row["dataset"] ?? row["name"])): View {
  const fields = Object.entries(row);
  return {
    title,
    facts: fields.map(([name, value]) => [`${name}:`, isNested(value) ? undefined : cellText(value)]),
    children: fields.flatMap(([name, value]) => (isNested(value) ? nestedView(value, name) : [])),
  };
}

const isNested = (value: unknown): value is Row | Row[] =>
  Array.isArray(value) ? value.length > 0 && value.every(isRow) : isRow(value);

function nestedView(value: Row | Row[], title: string): View {
  if (!Array.isArray(value)) return rowView(value, title);
  const columns = [...new Set(value.flatMap((each) => Object.keys(each)))];
  return { title, table: { columns, rows: value.map((each: Row) => columns.map((name) => cellText(each[name]))) } };
}

/** Adds `status`: how the endpoints are. */
export function addStatus(program: Command, running: Running): void {
  const columns: Listing<ShownState>["columns"] = [
    "endpoint",
    "state",
    "since",
    ["last probe", ({ last }) => last?.at ?? "never"],
    ["ms", ({ last }) => last?.durationMs],
  ];
  serviceCommand(program, "status", { about: "show how the endpoints are, by the latest probes" })
    .option("--json", "as JSON")
    .action(running(listAction({ path: "status", field: "endpoints", columns })));
}

type ShownState = Readonly<Record<"endpoint" | "state" | "since", string>> & {
  readonly last?: { readonly at: string; readonly durationMs: number };
};

/** Adds `runs`. */
export function addRuns(program: Command, running: Running): void {
  const help = ["runs list --status running --longest", "runs show 1f-...", "runs cancel 1f-..."];
  const command = addNoun(program, "runs", { about: "running and recent queries", help });
  const statuses = ["running", "ok", "empty", "partial", "failed", "cancelled"];
  command("list", "list them, newest first; with the admin token those of all clients")
    .addOption(new Option("--status <status>", "only those").choices(statuses))
    .option("-e, --endpoint <id>", "only those that ask this endpoint")
    .option("--client <name>", "only those of this client's key")
    .option("--min-ms <ms>", "only those that take at least so long", milliseconds)
    .option("--since <moment>", "only those that began then or later (ISO 8601)")
    .option("--longest", "the longest first")
    .option("-n, --limit <number>", "most runs, up to 100 (50)", wholeNumber)
    .option("--json", "as JSON")
    .action(running(listRuns));
  command("show <run>", "how a run went")
    .option("--json", "its record as JSON")
    .action(
      running(
        showAction("runs", (record) =>
          hasFields<RunRecord>(record, "sources", "notes") ? runView(record) : { title: "No run." },
        ),
      ),
    );
  command("cancel <run>", "end a run; its client gets the error CANCELLED").action(running(cancelRun));
}

const runColumns: Listing<RunRecord>["columns"] = [
  ["run", ({ id }) => id],
  "status",
  ["elapsed", ({ elapsedMs }) => `${elapsedMs ?? "?"} ms`],
  ["what", ({ call, plan }) => call ?? plan],
  "client",
  ["endpoints", ({ sources }) => sources.map(({ endpoint }) => endpoint).join(",")],
  ["query", ({ asked, queryHash }) => asked?.query ?? queryHash?.slice(0, 12)],
];

function listRuns(io: CliIo, { url, json, longest, ...filter }: Options<"since", "longest">): Promise<number> {
  const search = searchOf({ ...filter, order: longest ? "longest" : undefined });
  const service = { ...(url && { url }), ...(json && { json }) };
  return writeList(io, service, { path: `runs${search}`, field: "runs", columns: runColumns });
}

async function cancelRun(io: CliIo, id: string, { url }: Options): Promise<number> {
  const path = `/api/runs/${encodeURIComponent(id)}`;
  const { status } = await withService(io, { url }, (service) => service.ask(path, { method: "DELETE" }));
  await write(io.stdout, status === 202 ? "asked to end; not seen to yet\n" : "cancelled\n");
  return exitCodes.ok;
}
