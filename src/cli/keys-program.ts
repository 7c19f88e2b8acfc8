import { type Command, InvalidArgumentError, Option } from "commander";
import { type CliIo, exitCodes, type Running, wholeNumber, type ServiceOptions } from "./cli-io.ts";
import { addNoun, askService, itemAction, listAction, writeJson } from "./noun.ts";
import { oneLine, write } from "./output.ts";

interface KeyOptions extends ServiceOptions {
  readonly role?: string;
  readonly quota?: Quota;
  readonly expires?: number;
  readonly grace?: number;
  readonly now?: boolean;
}

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
    .action(running(addClient));
  command("rotate <name>", "make a client another key; prints it, this once")
    .option("-g, --grace <hours>", "how long the old key still opens (24)", wholeNumber)
    .option("--now", "end the old key at once")
    .option("--expires <days>", "days after which the new key ends", wholeNumber)
    .option("--json", "the answer as JSON")
    .action(running(rotateKey));
  command("remove <name>", "revoke all keys of a client").action(running(itemAction("DELETE", "keys")));
}

interface ShownClient {
  readonly name: string;
  readonly role: string;
  readonly keys: readonly { readonly endsAt?: string; readonly live: boolean }[];
  readonly used: { readonly day: Readonly<Record<"requests" | "rows" | "seconds", number>> };
}

const listKeys = listAction<ShownClient>({
  path: "keys",
  field: "clients",
  columns: {
    client: ({ name }) => name,
    role: ({ role }) => role,
    "requests today": ({ used }) => used.day.requests,
    rows: ({ used }) => used.day.rows,
    seconds: ({ used }) => used.day.seconds,
    keys: keysText,
  },
});

function keysText({ keys }: ShownClient): string {
  const live = keys.filter((key) => key.live);
  return [live.length, ...live.flatMap(({ endsAt = [] }) => endsAt).map((end) => `one until ${end}`)].join(", ");
}

const secondsOf = (days: number | undefined): number | undefined => (days === undefined ? undefined : days * 86_400);

function addClient(io: CliIo, name: string, { role, quota: limits, expires, ...options }: KeyOptions): Promise<number> {
  const body = { name, role, quota: limits, expiresIn: secondsOf(expires) };
  return makeKey(io, { ...options, path: "keys", body });
}

function rotateKey(io: CliIo, name: string, { grace = 24, now, expires, ...options }: KeyOptions): Promise<number> {
  const body = { graceSeconds: now ? 0 : grace * 3_600, expiresIn: secondsOf(expires) };
  return makeKey(io, { ...options, path: `keys/${encodeURIComponent(name)}/rotate`, body });
}

type KeyRequest = ServiceOptions & { readonly path: string; readonly body: object };

/** The key alone goes to standard output. */
async function makeKey(io: CliIo, { json, ...asked }: KeyRequest): Promise<number> {
  const made = await askService(io, { url: undefined, ...asked });
  if (json) await writeJson(io, made);
  else await write(io.stdout, `${oneLine(String(made["key"]))}\n`);
  await write(
    io.stderr,
    "Keep it now: it is not shown again. Send it as Authorization: Bearer, or as the password of Basic.\n",
  );
  return exitCodes.ok;
}
