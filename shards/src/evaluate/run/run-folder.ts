import { open, readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { makeFolder } from "../../../../src/make-folder.ts";
import { systemClock } from "../../../../src/clock.ts";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { type Guard, isCount, isListOf, isObject, isShape, isText, parsedAs } from "../../guards.ts";
import { lockTarget } from "../../target-lock.ts";
import type { QuestionRecord } from "../records.ts";

/** `run.json`: the questions, and the model that is asked. */
export interface RunDescription {
  /** Checksum of the package's manifest, which has those of all its files. */
  readonly package: { readonly dataset: string; readonly sha256: string };
  readonly setup: { readonly name: string };
  readonly model: string;
  /** Ids of those that are asked, those of earlier starts included; absent: all of the package. */
  readonly questions?: readonly string[] | undefined;
  /** Of the first start; another start may have others. */
  readonly limits: object;
  readonly versions: { readonly fedway: string; readonly node: string; readonly package: string };
}

const format = { format: "fedway-evaluation-run", version: 1 } as const;
const maxBytes = 1024 * 1024 * 1024;

/** The records that a folder has, and the place of further ones. */
export type RunFolder = Awaited<ReturnType<typeof openRunFolder>>;

/** Opens a run folder of an agent. @throws FedwayError as `openLines` */
export const openRunFolder = (folder: string, run: RunDescription) => openLines(folder, run, isRecord);

/**
 * Opens a run folder, new or begun. What a killed process left of its last line is dropped.
 * @throws FedwayError `REQUEST_INVALID`: it is of another package, setup or model, damaged, or in use
 */
export async function openLines<Line>(folder: string, run: RunDescription, holds: Guard<Line>) {
  await makeFolder(folder);
  const path = join(folder, "runs.jsonl");
  const lock = await lockTarget(path, systemClock).catch((cause: unknown) => {
    throw invalid(folder, "another process writes into it; wait until it is done", cause);
  });
  try {
    await describe(folder, run);
    const records = await wholeRecords(folder, path, holds);
    const file = await open(path, "a");
    return {
      records,
      /** Appends a record with one write: a killed process leaves at most one line unfinished. */
      add: (record: Line): Promise<void> => file.appendFile(`${JSON.stringify(record)}\n`),
      async close(): Promise<void> {
        await file.close();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function describe(folder: string, run: RunDescription): Promise<void> {
  const path = join(folder, "run.json");
  const text = await readFile(path, "utf8").catch(() => undefined);
  const describeAs = async (described: object): Promise<void> => {
    await writeFile(`${path}.new`, `${JSON.stringify(described, undefined, 2)}\n`);
    return rename(`${path}.new`, path);
  };
  if (text === undefined) return describeAs({ ...format, ...run });
  const found = parsedAs(text, isObject);
  if (found?.["format"] !== format.format || found["version"] !== format.version)
    throw invalid(folder, "its run.json is not that of a run of version 1");
  for (const part of ["package", "setup", "model"] as const)
    if (!isDeepStrictEqual(found[part], JSON.parse(JSON.stringify(run[part]))))
      throw invalid(folder, `its run is of another ${part}`);
  const before = found["questions"];
  if (!isIds(before)) return;
  const questions = run.questions && [...new Set([...before, ...run.questions])];
  if (questions?.length !== before.length) await describeAs({ ...found, questions });
}

const isIds = isListOf(isText);

async function wholeRecords<Line>(folder: string, path: string, holds: Guard<Line>): Promise<readonly Line[]> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size === 0) return [];
  if (size > maxBytes) throw invalid(folder, "its runs.jsonl is larger than 1 GB");
  const bytes = await readFile(path);
  const end = bytes.lastIndexOf("\n") + 1;
  if (end < bytes.length) {
    await truncate(path, end);
  }
  const lines = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
  return lines.map((line, at) => {
    const record = parsedAs(line, holds);
    if (record !== undefined) return record;
    throw invalid(folder, `line ${at + 1} of its runs.jsonl is damaged`);
  });
}

const hasFields = isShape({
  question: isText,
  repeat: isCount,
  outcome: isText,
  tokens: isShape({ input: isCount, output: isCount }),
});
const isRecord = (value: unknown): value is QuestionRecord => hasFields(value);

const invalid = (folder: string, reason: string, cause?: unknown): FedwayError =>
  new FedwayError("REQUEST_INVALID", `The run folder ${folder} cannot be used: ${reason}.`, {
    next: "Name another folder with --out.",
    cause,
  });
