import { type Command, InvalidArgumentError, Option } from "commander";
import { FedwayError } from "../errors/fedway-error.ts";
import { type CliIo, examples, exitCodes, httpUrl, type Running, wholeNumber } from "./cli-io.ts";
import { oneLine, write } from "./output.ts";
import { type AskedOfService, askService } from "./runner.ts";

interface KeyOptions {
  readonly url?: string;
  readonly json?: boolean;
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
  const keys = program.command("keys").description("name the clients of a running service, and give them keys");
  const command = (name: string, text: string): Command =>
    keys
      .command(name)
      .description(text)
      .option("--json", "the answer as JSON")
      .option("--url <url>", "at this running service", httpUrl);
  command("list", "list clients with their roles, keys and use").action(running(listKeys));
  command("add", "add a client; prints its key, this once")
    .argument("<name>", "lower-case letters, digits and -")
    .addOption(
      new Option("-r, --role <role>", "what it may do").choices(["read", "query", "write", "admin"]).default("query"),
    )
    .option(
      "-q, --quota <limit>",
      "hour:requests=1000; windows hour, day; kinds requests, rows, seconds; repeatable",
      quota,
    )
    .option("--expires <days>", "days after which the key ends", wholeNumber)
    .addHelpText("after", () =>
      examples("keys add ada", "keys add bot --role query --quota hour:requests=1000 --expires 90"),
    )
    .action(
      running((io, name: string, options: KeyOptions) => {
        const { role, quota: limits, expires } = options;
        return makeKey(io, options, { path: "", body: { name, role, quota: limits, expiresIn: secondsOf(expires) } });
      }),
    );
  command("rotate", "make a client another key; prints it, this once")
    .argument("<name>")
    .option("-g, --grace <hours>", "how long the old key still opens (24)", wholeNumber)
    .option("--now", "end the old key at once")
    .option("--expires <days>", "days after which the new key ends", wholeNumber)
    .action(
      running((io, name: string, options: KeyOptions) => {
        const { grace = 24, now = false, expires } = options;
        const body = { graceSeconds: now ? 0 : grace * 3_600, expiresIn: secondsOf(expires) };
        return makeKey(io, options, { path: `/${encodeURIComponent(name)}/rotate`, body });
      }),
    );
  command("remove", "revoke all keys of a client")
    .argument("<name>")
    .action(
      running(async (io, name: string, options: KeyOptions) => {
        await ask(io, options, { method: "DELETE", path: `/${encodeURIComponent(name)}` });
        return exitCodes.ok;
      }),
    );
}

const secondsOf = (days: number | undefined): number | undefined => (days === undefined ? undefined : days * 86_400);

const ask = (io: CliIo, { url }: KeyOptions, { path, ...asked }: AskedOfService): Promise<Response> =>
  askService(io, url, { path: `keys${path}`, ...asked });

interface ShownClient {
  readonly name: string;
  readonly role: string;
  readonly keys: readonly { readonly endsAt?: string; readonly live: boolean }[];
  readonly used: Readonly<Record<"hour" | "day", Readonly<Record<"requests" | "rows" | "seconds", number>>>>;
}

const isList = (value: unknown): value is { readonly clients: readonly ShownClient[] } =>
  typeof value === "object" && value !== null && "clients" in value && Array.isArray(value.clients);

const isKey = (value: unknown): value is { readonly key: string } =>
  typeof value === "object" && value !== null && "key" in value && typeof value.key === "string";

const malformed = (): FedwayError =>
  new FedwayError("ENDPOINT_MALFORMED", "The service did not answer as one with keys does.", {
    next: "Is this the address of a Fedway service? Its GET /health/live answers 200.",
  });

async function listKeys(io: CliIo, options: KeyOptions): Promise<number> {
  const listed: unknown = await (await ask(io, options, { method: "GET", path: "" })).json();
  if (!isList(listed)) throw malformed();
  const text = options.json ? JSON.stringify(listed, undefined, 2) : listed.clients.map(lineOf).join("\n");
  if (text !== "") await write(io.stdout, `${text}\n`);
  return exitCodes.ok;
}

function lineOf({ name, role, keys, used }: ShownClient): string {
  const live = keys.filter((key) => key.live);
  const ends = live.flatMap(({ endsAt = [] }) => endsAt).map((end) => `, one until ${end}`);
  const { requests, rows, seconds } = used.day;
  return oneLine(
    `${name} ${role}: ${live.length} keys${ends.join("")}; today ${requests} requests, ${rows} rows, ${seconds} s`,
  );
}

/** The key alone goes to standard output. */
async function makeKey(io: CliIo, options: KeyOptions, asked: AskedOfService): Promise<number> {
  const made: unknown = await (await ask(io, options, asked)).json();
  if (!isKey(made)) throw malformed();
  await write(io.stdout, options.json ? `${JSON.stringify(made, undefined, 2)}\n` : `${oneLine(made.key)}\n`);
  await write(
    io.stderr,
    "Keep it now: it is not shown again. Send it as Authorization: Bearer, or as the password of Basic.\n",
  );
  return exitCodes.ok;
}
