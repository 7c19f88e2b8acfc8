import type { Command } from "commander";
import { FedwayError } from "../errors/fedway-error.ts";
import { type CliIo, exitCodes, type Running, serviceCommand, type ServiceOptions, wholeNumber } from "./cli-io.ts";
import type { View } from "../views/view.ts";
import { endpointJobs, withEndpoint } from "./endpoint-jobs.ts";
import { addNoun, listAction, showAction, writeJson, writeView } from "./noun.ts";
import { jobWithProgress } from "./describe-command.ts";
import { withService } from "./service.ts";

type Row = Readonly<Record<string, unknown>>;

const column = (name: string) => (row: Row) => cellOf(row[name]);

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map((each) => cellOf(each)).join(", ");
  if (!isRow(value)) return typeof value === "string" ? value : JSON.stringify(value);
  return Object.entries(value)
    .map(([name, each]) => `${name} ${cellOf(each)}`)
    .join(", ");
}

interface Noun {
  readonly about: string;
  /** Below `/api/`, and the field of its answer. */
  readonly path: string;
  readonly columns: readonly string[];
  /** One of them, in the examples. */
  readonly example: string;
}

const nouns: Readonly<Record<string, Noun>> = {
  endpoints: {
    about: "endpoints of the catalogue",
    path: "endpoints",
    columns: ["id", "status", "title", "url"],
    example: "people",
  },
  federations: {
    about: "federations of the catalogue",
    path: "federations",
    columns: ["id", "endpointsTotal", "title"],
    example: "catalog",
  },
  jobs: {
    about: "work in the background",
    path: "jobs",
    columns: ["id", "kind", "state", "createdAt"],
    example: "describe.people",
  },
  incidents: {
    about: "times in which endpoints were down",
    path: "incidents",
    columns: ["id", "endpoint", "state", "opened", "closed", "summary"],
    example: "1f-...",
  },
  shards: {
    about: "hosted shards",
    path: "shards",
    columns: ["dataset", "shards", "triples", "title"],
    example: "harbour",
  },
};

/** Adds these nouns, each with `list` and `show`. */
export function addNouns(program: Command, running: Running, names: readonly string[]): void {
  for (const [name, { about, path, columns, example }] of Object.entries(nouns)) {
    if (!names.includes(name)) continue;
    const command = addNoun(program, name, { about, help: [`${name} list`, `${name} show ${example}`] });
    const listing = (limit: number | undefined) => ({
      path: limit === undefined ? path : `${path}?limit=${limit}`,
      field: path,
      columns: Object.fromEntries(columns.map((each) => [each, column(each)])),
    });
    command("list", `list ${about}`)
      .option("-n, --limit <number>", "most of them", wholeNumber)
      .option("--json", "as JSON")
      .action(
        running((io, { limit, ...options }: ServiceOptions & { readonly limit?: number }) =>
          listAction<Row>(listing(limit))(io, options),
        ),
      );
    command(`show <${name.replace(/s$/, "")}>`, "show one of them")
      .option("--json", "as JSON")
      .action(running(showAction(path, (row) => rowView(row))));
  }
}

/** The fields of an answer; those with fields of their own are below it, lists of them as tables. */
function rowView(row: Row, title = cellOf(row["id"] ?? row["dataset"] ?? row["name"])): View {
  const fields = Object.entries(row);
  return {
    title,
    facts: fields.map(([name, value]) => [`${name}:`, isNested(value) ? undefined : cellOf(value)]),
    children: fields.flatMap(([name, value]) => (isNested(value) ? nestedView(value, name) : [])),
  };
}

const isNested = (value: unknown): value is Row | readonly Row[] =>
  Array.isArray(value) ? value.length > 0 && value.every(isRow) : isRow(value);

function nestedView(value: Row | readonly Row[], title: string): View {
  if (!isRows(value)) return rowView(value, title);
  const columns = [...new Set(value.flatMap((each) => Object.keys(each)))];
  return { title, table: { columns, rows: value.map((each) => columns.map((name) => cellOf(each[name]))) } };
}

const isRows = (value: Row | readonly Row[]): value is readonly Row[] => Array.isArray(value);

/** Adds `status`: how the endpoints are. */
export function addStatus(program: Command, running: Running): void {
  serviceCommand(program, "status", { about: "show how the endpoints are, by the latest probes" })
    .option("--json", "as JSON")
    .action(running(listAction<Row>({ path: "status", field: "endpoints", columns: statusColumns })));
}

const statusColumns = {
  endpoint: column("endpoint"),
  state: column("state"),
  since: column("since"),
  "last probe": ({ last }: Row) => (isRow(last) ? cellOf(last["at"]) : "never"),
  ms: ({ last }: Row) => (isRow(last) ? cellOf(last["durationMs"]) : ""),
};

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null;

/** Adds `probe`. */
export function addProbe(program: Command, running: Running): void {
  serviceCommand(program, "probe", { about: "show if an endpoint is up, what it can do and how fast it is" })
    .argument("<endpoint>", "URL of a SPARQL endpoint, or its id in the catalogue")
    .option("--json", "the findings as JSON")
    .action(running(runProbe));
}

/** `fedway probe`: has the service probe an endpoint. Resolves to the exit code, a failure for one that is down. */
const runProbe = (io: CliIo, target: string, { url, json }: ServiceOptions): Promise<number> =>
  withService(io, { url, jobs: endpointJobs }, (service) =>
    withEndpoint(service, target, async (id) => {
      const path = `/api/endpoints/${encodeURIComponent(id)}/capabilities`;
      const next = "Check the URL, and that the endpoint can be reached from here.";
      const { state } = await jobWithProgress(io, { service, path, next });
      if (state === "cancelled") return exitCodes.interrupted;
      const found: unknown = await (await service.ask(path)).json();
      if (!isFindings(found)) throw new FedwayError("ENDPOINT_MALFORMED", "The service did not answer with findings.");
      await (json ? writeJson(io, found) : writeView(io, findingsView(found)));
      return found.reachable ? exitCodes.ok : exitCodes.failed;
    }),
  );

const isFindings = (value: unknown): value is Findings =>
  typeof value === "object" && value !== null && "constructs" in value && "methods" in value;

interface Findings {
  readonly endpoint: string;
  readonly reachable: boolean;
  readonly constructs: Readonly<Record<string, { readonly verdict: string; readonly durationMs: number }>>;
  readonly methods: readonly string[];
  readonly formats: readonly string[];
  readonly rowCap?: number;
  readonly maxValuesRows?: number;
  readonly unfinished?: boolean;
}

function findingsView({
  endpoint,
  reachable,
  constructs,
  methods,
  formats,
  rowCap,
  maxValuesRows,
  unfinished,
}: Findings) {
  const outcomes = Object.entries(constructs);
  const by = (verdict: string) => outcomes.flatMap(([name, outcome]) => (outcome.verdict === verdict ? name : []));
  const times = outcomes.map(([, { durationMs }]) => durationMs).toSorted((one, other) => one - other);
  const median = times[Math.floor(times.length / 2)];
  return {
    title: endpoint,
    facts: [
      ["state:", reachable ? "up" : "down: it did not answer the first query rightly"],
      ["median time:", median === undefined ? undefined : `${Math.round(median)} ms`],
      ["can do:", by("right").join(", ") || undefined],
      ["wrong answers:", by("wrong").join(", ") || undefined],
      ["refused:", by("refused").join(", ") || undefined],
      ["failed:", by("failed").join(", ") || undefined],
      ["requests by:", methods.join(", ") || undefined],
      ["formats:", formats.join(", ") || undefined],
      ["cuts answers at:", rowCap === undefined ? undefined : `${rowCap} rows`],
      ["keys at once:", maxValuesRows === undefined ? undefined : String(maxValuesRows)],
      ["unfinished:", unfinished ? "it stopped answering" : undefined],
    ] as const,
  };
}
