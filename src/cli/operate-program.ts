import { type Command, InvalidArgumentError, Option } from "commander";
import { type CliIo, exitCodes, type Options, type Running, wholeNumber } from "./cli-io.ts";
import { addNoun, itemAction, listAction, sendAndWrite, writeList } from "./noun.ts";
import { oneLine, write, writeJson } from "./output.ts";
import { withService } from "./service.ts";

/** Adds `maintenance`. */
export function addMaintenance(program: Command, running: Running): void {
  const help = ["maintenance list", "maintenance add people --to $(date -ud '+2 hours' +%FT%TZ) --reason 'new disks'"];
  const about = "times in which an endpoint's probes do not count";
  const command = addNoun(program, "maintenance", { about, help });
  command("list [endpoint]", "those under way and planned").option("--json", "as JSON").action(running(listWindows));
  command("add <endpoint>", "plan one")
    .requiredOption("--to <moment>", "its end, ISO 8601 with time zone")
    .option("--from <moment>", "its beginning (now)")
    .option("--reason <text>", "shown with it")
    .action(
      running((io, endpoint: string, { url, from, to, reason }: Options<"from" | "to" | "reason">) =>
        sendAndWrite(io, { url, path: windowsOf(endpoint), body: { from, to, reason } }),
      ),
    );
  command("remove <window>", "call one off").action(running(itemAction("DELETE", "maintenance")));
}

const windowsOf = (endpoint: string): string => `endpoints/${encodeURIComponent(endpoint)}/maintenance`;

type Window = Readonly<Record<"id" | "endpoint" | "from" | "to" | "reason", string>>;

const listWindows = (io: CliIo, endpoint: string | undefined, options: Options): Promise<number> =>
  writeList<Window>(io, options, {
    path: endpoint === undefined ? "maintenance" : windowsOf(endpoint),
    field: "maintenance",
    columns: [["window", ({ id }) => id], "endpoint", "from", "to", "reason"],
  });

type Quota = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** `hour:requests=1000`, repeated, as the API has it. */
function quota(text: string, before: Quota = {}): Quota {
  const [, window = "", kind = "", most = ""] = /^(hour|day):(requests|rows|seconds)=(\d{1,12})$/.exec(text) ?? [];
  if (window === "") throw new InvalidArgumentError("Such as hour:requests=1000 or day:seconds=600 is expected.");
  return { ...before, [window]: { ...before[window], [kind]: Number(most) } };
}

/** Adds `keys`: named clients of a running service. */
export function addKeys(program: Command, running: Running): void {
  const help = ["keys add ada", "keys add bot --role query --quota hour:requests=1000 --expires 90"];
  const about = "name the clients of a running service, and give them keys";
  const command = addNoun(program, "keys", { about, help });
  const roles = ["read", "query", "write", "admin"];
  const limits = "hour:requests=1000; windows hour, day; kinds requests, rows, seconds; repeatable";
  command("list", "list clients with their roles, keys and use").option("--json", "as JSON").action(running(listKeys));
  command("add <name>", "add a client (lower-case letters, digits and -); prints its key, this once")
    .addOption(new Option("-r, --role <role>", "what it may do").choices(roles).default("query"))
    .option("-q, --quota <limit>", limits, quota)
    .option("--expires <days>", "days after which the key ends", wholeNumber)
    .option("--json", "the answer as JSON")
    .action(
      running((io, name: string, { role, quota: most, ...options }: KeyOptions) =>
        makeKey(io, options, { path: "keys", body: { name, role, quota: most } }),
      ),
    );
  command("rotate <name>", "make a client another key; prints it, this once")
    .option("-g, --grace <hours>", "how long the old key still opens (24)", wholeNumber)
    .option("--now", "end the old key at once")
    .option("--expires <days>", "days after which the new key ends", wholeNumber)
    .option("--json", "the answer as JSON")
    .action(
      running((io, name: string, { grace = 24, now, ...options }: KeyOptions) =>
        makeKey(io, options, {
          path: `keys/${encodeURIComponent(name)}/rotate`,
          body: { graceSeconds: now ? 0 : grace * 3_600 },
        }),
      ),
    );
  command("remove <name>", "revoke all keys of a client").action(running(itemAction("DELETE", "keys")));
}

type KeyOptions = Options<"role", "now", "expires" | "grace"> & { readonly quota?: Quota };

interface ShownClient {
  readonly name: string;
  readonly role: string;
  readonly keys: readonly { readonly endsAt?: string; readonly live: boolean }[];
  readonly used: { readonly day: Readonly<Record<"requests" | "rows" | "seconds", number>> };
}

const listKeys = listAction<ShownClient>({
  path: "keys",
  field: "clients",
  columns: [
    ["client", ({ name }) => name],
    "role",
    ["requests today", ({ used }) => used.day.requests],
    ["rows", ({ used }) => used.day.rows],
    ["seconds", ({ used }) => used.day.seconds],
    ["keys", keysText],
  ],
});

function keysText({ keys }: ShownClient): string {
  const live = keys.filter((key) => key.live);
  return [live.length, ...live.flatMap(({ endsAt = [] }) => endsAt).map((end) => `one until ${end}`)].join(", ");
}

/** The key alone goes to standard output. */
async function makeKey(
  io: CliIo,
  { json, url, expires: days }: KeyOptions,
  { path, body }: { readonly path: string; readonly body: object },
): Promise<number> {
  const expiresIn = days === undefined ? undefined : days * 86_400;
  const made = await withService(io, { url }, (service) =>
    service.read<{ readonly key: unknown }>(`/api/${path}`, { body: { ...body, expiresIn } }, "key"),
  );
  if (json) await writeJson(io, made);
  else await write(io.stdout, `${oneLine(String(made.key))}\n`);
  await write(
    io.stderr,
    "Keep it now: it is not shown again. Send it as Authorization: Bearer, or as the password of Basic.\n",
  );
  return exitCodes.ok;
}

/** Adds `watches`. */
export function addWatches(program: Command, running: Running): void {
  const help = ["watches add ./queries --endpoint people", "watches list", "watches accept by-birth"];
  const about = "queries that the service runs on a schedule, to see when their answers change";
  const command = addNoun(program, "watches", { about, help });
  command("list", "list them with what changed").option("--json", "as JSON").action(running(listWatches));
  command("add <path...>", "watch .rq files (which may begin with # endpoint: id), SHACL examples, or folders of them")
    .option("-e, --endpoint <id>", "catalogue id for all of them")
    .option("-F, --federation <id>", "federation for all of them")
    .option("--every <minutes>", "minutes between two runs", wholeNumber)
    .action(running(addQueries));
  command("show <id>", "show a watched query as JSON").action(running(itemAction("GET", "watches")));
  command("run <id>", "run a watched query now, as a job").action(running(itemAction("POST", "watches", "/run")));
  command("accept <id>", "make its latest answer the normal one").action(
    running(itemAction("POST", "watches", "/accept")),
  );
  command("remove <id>", "watch a query no longer").action(running(itemAction("DELETE", "watches")));
}

interface ShownWatch {
  readonly id: string;
  readonly state: string;
  readonly drifts: Readonly<Record<string, { readonly summary: string }>>;
}

const listWatches = listAction<ShownWatch>({
  path: "watches",
  field: "watches",
  columns: [
    ["watch", ({ id }) => id],
    "state",
    [
      "what changed",
      ({ drifts }) =>
        Object.values(drifts)
          .map(({ summary }) => summary)
          .join(" "),
    ],
  ],
});

async function addQueries(
  io: CliIo,
  paths: readonly string[],
  { url, endpoint, federation, every: everyMinutes }: Options<"endpoint" | "federation", never, "every">,
): Promise<number> {
  const given = { ...(endpoint && { endpoint }), ...(federation && { federation }), everyMinutes };
  const { readCollection } = await import("../watch/read-collection.ts");
  return withService(io, { url }, async (service) => {
    let isWhole = true;
    for (const path of paths) {
      const { queries, problems } = await readCollection(path, service.url);
      for (const { id, ...query } of queries) {
        await service.ask(`/api/watches/${id}`, { method: "PUT", body: { ...query, ...given } });
        await write(io.stdout, `${id}\n`);
      }
      for (const { file, reason } of problems) await write(io.stderr, `${oneLine(`${file}: ${reason}`)}\n`);
      isWhole &&= problems.length === 0 && queries.length > 0;
    }
    return isWhole ? exitCodes.ok : exitCodes.failed;
  });
}
