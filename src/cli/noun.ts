import { Readable } from "node:stream";
import type { Command } from "commander";
import { FedwayError } from "../errors/fedway-error.ts";
import { visible } from "../html.ts";
import { type View } from "../views/view.ts";
import { viewText } from "../views/view-text.ts";
import { parsedJson } from "../json.ts";
import { tableLines } from "./answer-table.ts";
import { type CliIo, type CommandText, examples, exitCodes, serviceCommand, type ServiceOptions } from "./cli-io.ts";
import { pour, write } from "./output.ts";
import { styledState } from "./terminal.ts";
import { type Asked, unreachable, withService } from "./service.ts";

/** Adds a noun, such as `runs`. Returns what adds its commands, each with `--url`. */
export function addNoun(program: Command, name: string, { about, help = [] }: CommandText) {
  const noun =
    program.commands.find((each) => each.name() === name) ??
    program
      .command(name)
      .description(about)
      .addHelpText("after", examples(...help));
  return (usage: string, text: string): Command => serviceCommand(noun, usage, { about: text });
}

/** Writes a view as text for people. */
export const writeView = ({ stdout }: CliIo, view: View): Promise<void> =>
  write(stdout, `${visible(viewText(view)).replaceAll(stateInText, (state) => styledState(stdout, state))}\n`);

const stateInText = /(?<=^(?:run|\s*(?:state|status):) )\w+/gm;

/** Action of a command that shows one item: as text, or with `--json` as it came. */
export const showAction =
  (collection: string, viewOf: (item: Readonly<Record<string, unknown>>) => View) =>
  async (io: CliIo, id: string, { url, json }: ServiceOptions): Promise<number> => {
    const item = await askService(io, { url, path: `${collection}/${encodeURIComponent(id)}` });
    if (json) return writeJson(io, item);
    await writeView(io, viewOf(item));
    return exitCodes.ok;
  };

/** A list of the API, and how it is shown. */
interface Listing<Item> {
  /** Below `/api/`. */
  readonly path: string;
  /** Where the answer has the items. */
  readonly field: string;
  /** Columns by their heads; the widest one comes last. */
  readonly columns: Readonly<Record<string, (item: Item) => string | number | undefined>>;
}

/** Writes a list as a table, or with `--json` as it came. @throws RemoteProblem, FedwayError */
export async function writeList<Item>(
  io: CliIo,
  { json, url }: ServiceOptions,
  { path, field, columns }: Listing<Item>,
) {
  const answer = await askService(io, { url, path });
  const items = answer[field];
  if (!Array.isArray(items)) throw malformed();
  if (json) await writeJson(io, answer);
  else await writeTable(io, [Object.keys(columns), ...items.map((item: Item) => cellsOf(item, columns))]);
  if (answer["next"] !== undefined && !json) await write(io.stderr, "There are more: name a larger --limit.\n");
}

/** Action of a command that lists everything. */
export const listAction =
  <Item>(listing: Listing<Item>) =>
  async (io: CliIo, options: ServiceOptions): Promise<number> => {
    await writeList(io, options, listing);
    return exitCodes.ok;
  };

const cellsOf = <Item>(item: Item, columns: Listing<Item>["columns"]): readonly string[] =>
  Object.values(columns).map((cell) => String(cell(item) ?? "").replaceAll(/\s+/g, " "));

/** As long as a sentence about what changed. */
const longestCell = 200;

async function writeTable(io: CliIo, rows: readonly (readonly string[])[]): Promise<void> {
  const text = rows.map((row) => row.join("\t")).join("\n");
  const states = rows[0]?.find((name) => name === "state" || name === "status");
  const lines = tableLines(Buffer.from(text), io.stdout, { longest: longestCell, ...(states && { states }) });
  await pour(Readable.from(lines), io.stdout);
}

/** Writes a value as JSON. Resolves to the exit code. */
export async function writeJson(io: CliIo, value: unknown): Promise<number> {
  await write(io.stdout, `${JSON.stringify(value, undefined, 2)}\n`);
  return exitCodes.ok;
}

/** An object of the API. @throws FedwayError `ENDPOINT_MALFORMED`, and where the answer is cut off */
export async function readAnswer(io: CliIo, response: Response): Promise<Readonly<Record<string, unknown>>> {
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(error, io.interrupted);
  });
  const answer = parsedJson(text);
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw malformed();
  return { ...answer };
}

const malformed = (): FedwayError =>
  new FedwayError("ENDPOINT_MALFORMED", "The service did not answer as a Fedway service does.", {
    next: "Is this its address? Its GET /health/live answers 200.",
  });

/** A request to the service. */
interface AskedOfService extends Asked {
  readonly url: string | undefined;
  /** Below `/api/`. */
  readonly path: string;
}

/** The answer; empty where there is nothing to say. @throws RemoteProblem, FedwayError */
export const askService = (
  io: CliIo,
  { url, path, ...asked }: AskedOfService,
): Promise<Readonly<Record<string, unknown>>> =>
  withService(io, { url }, async (service) => {
    const response = await service.ask(`/api/${path}`, asked);
    return response.status === 204 ? {} : readAnswer(io, response);
  });

/** Asks, and writes the answer as JSON, or that something is removed. Resolves to the exit code. */
export async function sendAndWrite(io: CliIo, asked: AskedOfService): Promise<number> {
  const answer = await askService(io, asked);
  if (Object.keys(answer).length > 0) return writeJson(io, answer);
  await write(io.stdout, "removed\n");
  return exitCodes.ok;
}

/** Action of a command on one item: `DELETE keys/{id}`, `POST watches/{id}/run`. */
export const itemAction =
  (method: "GET" | "POST" | "DELETE", collection: string, suffix = "") =>
  (io: CliIo, id: string, { url }: ServiceOptions): Promise<number> =>
    sendAndWrite(io, { url, path: `${collection}/${encodeURIComponent(id)}${suffix}`, method });
