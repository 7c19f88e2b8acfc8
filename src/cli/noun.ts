import { Readable } from "node:stream";
import type { Command } from "commander";
import { visible } from "../html.ts";
import { type View, viewText } from "../views/view.ts";
import { tableLines } from "./answer-table.ts";
import { type CliIo, type CommandText, examples, exitCodes, type Options, serviceCommand } from "./cli-io.ts";
import { pour, write, writeJson } from "./output.ts";
import { styledState } from "./terminal.ts";
import { type Asked, malformed, withService } from "./service.ts";

/** An object of the API. */
export type Row = Readonly<Record<string, unknown>>;

export const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null;

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

/** Writes a view as text for people. Resolves to the exit code. */
export async function writeView({ stdout }: CliIo, view: View): Promise<number> {
  await write(stdout, `${visible(viewText(view)).replaceAll(stateInText, (state) => styledState(stdout, state))}\n`);
  return exitCodes.ok;
}

const stateInText = /(?<=^(?:run|\s*(?:state|status):) )\w+/gm;

/** Action of a command that shows one item: as text, or with `--json` as it came. */
export const showAction =
  (collection: string, viewOf: (item: Row) => View) =>
  async (io: CliIo, id: string, { url, json }: Options): Promise<number> => {
    const item = await askService(io, { url, path: `${collection}/${encodeURIComponent(id)}` });
    return json ? writeJson(io, item) : writeView(io, viewOf(item));
  };

/** A list of the API, and how it is shown. */
export interface Listing<Item> {
  /** Below `/api/`. */
  readonly path: string;
  /** Where the answer has the items. */
  readonly field: string;
  /** Fields, or heads with what is below them; the widest one comes last. */
  readonly columns: readonly ((keyof Item & string) | readonly [head: string, cell: (item: Item) => unknown])[];
}

/** Writes a list as a table, or with `--json` as it came. Resolves to the exit code. @throws RemoteProblem, FedwayError */
export async function writeList<Item>(io: CliIo, { json, url }: Options, { path, field, columns }: Listing<Item>) {
  const answer = await withService(io, { url }, (service) =>
    service.read<Readonly<Record<string, readonly Item[]>>>(`/api/${path}`, {}, field),
  );
  const items = answer[field];
  if (!isList(items)) throw malformed();
  if (json) return writeJson(io, answer);
  const heads = columns.map((column) => (typeof column === "string" ? column : column[0]));
  const rows = items.map((item) =>
    columns
      .map((column) => cellText(typeof column === "string" ? item[column] : column[1](item)).replaceAll(/\s+/g, " "))
      .join("\t"),
  );
  const states = heads.find((name) => name === "state" || name === "status");
  const text = [heads.join("\t"), ...rows].join("\n");
  await pour(Readable.from(tableLines(Buffer.from(text), io.stdout, { longest: longestCell, states })), io.stdout);
  if (answer["next"] !== undefined) await write(io.stderr, "There are more: name a larger --limit.\n");
  return exitCodes.ok;
}

const isList = <Item>(value: readonly Item[] | undefined): value is readonly Item[] =>
  Array.isArray(value) && value.every(isRow);

/** As long as a sentence about what changed. */
const longestCell = 200;

/** A value of the API in a line. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map((each) => cellText(each)).join(", ");
  if (!isRow(value)) return typeof value === "string" ? value : JSON.stringify(value);
  return Object.entries(value)
    .map(([name, each]) => `${name} ${cellText(each)}`)
    .join(", ");
}

/** Action of a command that lists everything. */
export const listAction =
  <Item>(listing: Listing<Item>) =>
  (io: CliIo, options: Options): Promise<number> =>
    writeList(io, options, listing);

/** A request to the service. */
interface AskedOfService extends Asked {
  readonly url: string | undefined;
  /** Below `/api/`. */
  readonly path: string;
}

/** The answer; empty where there is nothing to say. @throws RemoteProblem, FedwayError */
const askService = (io: CliIo, { url, path, ...asked }: AskedOfService): Promise<Row> =>
  withService(io, { url }, (service) => service.read<Row>(`/api/${path}`, asked));

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
  (io: CliIo, id: string, { url }: Options): Promise<number> =>
    sendAndWrite(io, { url, path: `${collection}/${encodeURIComponent(id)}${suffix}`, method });
