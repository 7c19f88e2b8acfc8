import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { FedwayError, libraryMessage } from "../../../errors/fedway-error.ts";
import { parseTurtle } from "../../../rdf/turtle.ts";
import { outcomeSchema, type RawExample, toExample } from "./example.ts";
import { examplesIn } from "./read-shacl.ts";
import { parsedJson } from "../../../values.ts";

/** Contents of a folder of examples. */
export interface ExampleFile {
  readonly file: string;
  readonly examples: readonly RawExample[];
  /** Why the file, or a line of it, was left out. */
  readonly problem?: string;
}

const maxBytes = 16 * 1024 * 1024;
const maxQuads = 200_000;
const mostFiles = 1_000;
const mostLines = 20_000;

const isLine = Compile(
  Type.Object({
    question: Type.String(),
    query: Type.String(),
    endpoints: Type.Optional(Type.Array(Type.String())),
    outcome: Type.Optional(outcomeSchema),
    feedback: Type.Optional(Type.String()),
  }),
);

/**
 * The examples in the `*.ttl` (SHACL) and `*.jsonl` files of a folder, in name order; sub-folders are not looked into. A
 * file that cannot be used has a problem and the others are read.
 * @throws FedwayError `CONFIG_INVALID` when the folder cannot be read
 */
export async function readExampleFolder(folder: string, baseUrl: string): Promise<readonly ExampleFile[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new FedwayError("CONFIG_INVALID", `The folder ${folder} of example queries cannot be read.`, { cause });
  });
  const files = names
    .filter((name) => /\.(?:ttl|jsonl)$/.test(name))
    .toSorted()
    .slice(0, mostFiles);
  const read: ExampleFile[] = [];
  for (const name of files) read.push(await readExampleFile(join(folder, name), baseUrl));
  return read;
}

/**
 * The examples in one file: Turtle with SHACL executables, or lines of JSON with `question`, `query` and optionally
 * `endpoints` (ids or URLs), `outcome` and `feedback`. Never fails: faults become its problem.
 */
async function readExampleFile(file: string, baseUrl: string): Promise<ExampleFile> {
  try {
    const text = await readText(file);
    if (file.endsWith(".jsonl")) return { file, ...examplesInLines(text) };
    const quads = parseTurtle(text, { baseIri: `${baseUrl}/`, maxBytes, maxQuads });
    return { file, examples: examplesIn(quads) };
  } catch (thrown) {
    const line = thrown instanceof FedwayError ? thrown.details.where?.line : undefined;
    const reason = libraryMessage(thrown) ?? "it cannot be read";
    return { file, examples: [], problem: line === undefined ? reason : `line ${line}: ${reason}` };
  }
}

async function readText(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw new FedwayError("REQUEST_TOO_LARGE", `The file is larger than ${maxBytes} bytes.`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

function examplesInLines(text: string): Pick<ExampleFile, "examples" | "problem"> {
  const lines = text.split("\n").slice(0, mostLines);
  const examples: RawExample[] = [];
  const wrong: number[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const value = parsedJson(line);
    if (isLine.Check(value)) examples.push({ ...value, targets: value.endpoints ?? [] });
    else wrong.push(at + 1);
  }
  if (wrong.length === 0) return { examples };
  const places = wrong.slice(0, 5).join(", ");
  return { examples, problem: `${wrong.length} lines are no example (line ${places}${wrong.length > 5 ? ", …" : ""})` };
}

/** The examples of one file that can be used as they are, and how many there are in all. */
export async function readExamples(file: string, baseUrl: string) {
  const { examples: found, problem } = await readExampleFile(file, baseUrl);
  const examples = found.flatMap((raw) => toExample(raw, { kind: "file", name: file }, () => []) ?? []);
  return { examples, total: found.length, problem };
}
