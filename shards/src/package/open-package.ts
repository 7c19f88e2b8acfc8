import { createHash } from "node:crypto";
import { type FileHandle, readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { FedwayError, toFedwayError } from "../../../src/errors/fedway-error.ts";
import { openToRead, readBoundedFile } from "../bounded-file.ts";
import { checkFile } from "../finished-folder.ts";
import {
  type Guard,
  isCount,
  isListOf,
  isObject,
  isOneOf,
  isShape,
  isText,
  matches,
  optional,
  parsedAs,
} from "../guards.ts";
import { type Check, Findings } from "../verify/verification.ts";
import type { PackagedQuery } from "./package-items.ts";
import type { PackageManifest } from "./package-shards.ts";

/** Names the format in manifests of packages. */
export const packageFormat = "fedway-benchmark-package";

/** A question, and the id of its query. */
export interface PackagedQuestion {
  readonly id: string;
  readonly question: string;
  readonly query: string;
  /** Names of the audit's doubts. */
  readonly flags: readonly string[];
}

/** A shard of the package; `entry` is its id in a catalogue. */
export interface PackagedEndpoint {
  readonly id: string;
  readonly entry: string;
  readonly url: string;
  readonly topic: string;
}

/** A package as evaluators read it. */
export interface BenchmarkPackage {
  readonly folder: string;
  readonly manifest: PackageManifest;
  readonly questions: readonly PackagedQuestion[];
  readonly queries: ReadonlyMap<string, PackagedQuery>;
  readonly endpoints: readonly PackagedEndpoint[];
}

/** The place of a dataset's package in a data folder. */
export const packageFolder = (dataDir: string, dataset: string): string => join(dataDir, "packages", dataset);

/**
 * A URL that others can be built upon: http(s) without credentials, query and fragment, and no slash at its end.
 * @throws FedwayError `REQUEST_INVALID`
 */
export function plainUrl(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/u.test(url.protocol) && `${url.username}${url.search}${url.hash}` === "";
  if (isPlain) return url.href.replace(/(?<!\/)\/+$/u, "");
  const shown = JSON.stringify(text.slice(0, 100));
  throw new FedwayError("REQUEST_INVALID", `The base URL has to be like https://benchmark.example, not ${shown}.`);
}

/** Reads a package. @throws FedwayError `REQUEST_INVALID`: it is none, is of another version, is damaged or too large */
export async function openPackage(path: string): Promise<BenchmarkPackage> {
  const folder = resolve(path);
  const manifest = await readPackageManifest(folder);
  const questions = await linesOf(folder, "questions.jsonl", isQuestion);
  const queries = new Map((await linesOf(folder, "queries.jsonl", isQuery)).map((query) => [query.id, query]));
  const endpoints = parsedAs(await textOf(folder, "endpoints.json"), isListOf(isEndpoint));
  if (endpoints === undefined) throw invalid(folder, "its endpoints.json is damaged");
  const lost = questions.find(({ query }) => !queries.has(query));
  if (lost !== undefined) throw invalid(folder, `the query of its question ${lost.id} is missing`);
  return { folder, manifest, questions, queries, endpoints };
}

/** @throws FedwayError `REQUEST_INVALID` as `openPackage` */
async function readPackageManifest(folder: string): Promise<PackageManifest> {
  const manifest = parsedAs(await textOf(folder, "manifest.json"), isObject);
  if (manifest?.["format"] !== packageFormat) throw invalid(folder, "its manifest.json is not that of a package");
  if (manifest["version"] !== 1) throw invalid(folder, "it is of a version that this Fedway cannot read");
  if (!isManifest(manifest)) throw invalid(folder, "its manifest.json is damaged");
  return manifest;
}

/** True if the folder has the manifest of a package, of any version. */
export async function isPackage(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, "manifest.json"), "utf8").catch(() => "");
  return parsedAs(text, isObject)?.["format"] === packageFormat;
}

/** Compares each file with its checksum. @throws FedwayError `REQUEST_INVALID` as `openPackage` */
export async function checkPackage(folder: string): Promise<Check> {
  const { files } = await readPackageManifest(folder);
  const findings = new Findings("package");
  for (const { name, bytes, sha256 } of files) {
    try {
      await checkFile(join(folder, name), { file: name, bytes, sha256 });
    } catch (error) {
      findings.wrongIs(name, toFedwayError(error).message);
    }
  }
  return findings.checkOf(files.length);
}

/**
 * The manifest or a file that it lists, to be sent as it is.
 * @throws FedwayError `SHARDS_UNKNOWN`: there is no package, or it has no such file; `SHARDS_INVALID`: the file is another one
 */
export async function openPackagedFile(
  folder: string,
  name: string,
): Promise<{ readonly handle: FileHandle; readonly bytes: number }> {
  if (!(await isPackage(folder))) {
    const next = "POST /api/shards/{dataset}/package makes it.";
    throw new FedwayError("SHARDS_UNKNOWN", "There is no package of this dataset.", { next });
  }
  const { files } = await readPackageManifest(folder);
  const listed = files.find((file) => file.name === name);
  if (listed === undefined && name !== "manifest.json") {
    const next = "Its manifest.json lists the files.";
    throw new FedwayError("SHARDS_UNKNOWN", "The package has no file of this name.", { next });
  }
  const damaged = new FedwayError("SHARDS_INVALID", `The file ${name} of the package is missing or has changed.`);
  // A link may lead out of the folder.
  const isLink = (await realpath(join(folder, name)).catch(() => "")) !== join(await realpath(folder), name);
  if (isLink) throw damaged;
  const handle = await openToRead(join(folder, name));
  const { size } = await handle.stat();
  if (listed === undefined || size === listed.bytes) return { handle, bytes: size };
  await handle.close();
  throw damaged;
}

const maxBytes = 256 * 1024 * 1024;

async function textOf(folder: string, name: string): Promise<string> {
  const bytes = await readBoundedFile(join(folder, name), maxBytes, (fault, cause) => {
    const reasons = {
      missing: "has no",
      "not a file": "has something that is not a file as its",
      "too large": "has too large a",
    };
    return invalid(folder, `it ${reasons[fault]} ${name}`, cause);
  });
  return bytes.toString("utf8");
}

async function linesOf<Value>(folder: string, name: string, holds: Guard<Value>): Promise<readonly Value[]> {
  const lines = (await textOf(folder, name)).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line, at) => {
    const value = parsedAs(line, holds);
    if (value === undefined) throw invalid(folder, `line ${at + 1} of its ${name} is damaged`);
    return value;
  });
}

const invalid = (folder: string, reason: string, cause?: unknown): FedwayError =>
  new FedwayError("REQUEST_INVALID", `The package in ${folder} cannot be read: ${reason}.`, {
    next: "Make it again: fedway shards package.",
    cause,
  });

const isString = (value: unknown): value is string => typeof value === "string";
const isTexts = isListOf(isString);

const isQuestion: Guard<PackagedQuestion> = isShape({ id: isText, question: isString, query: isText, flags: isTexts });
const isEndpoint: Guard<PackagedEndpoint> = isShape({ id: isText, entry: isText, url: isText, topic: isString });

const hasManifestFields = isShape({
  dataset: isText,
  title: isText,
  baseUrl: isText,
  engine: isShape({ name: isText, version: isText }),
  questions: isCount,
  queries: isCount,
  outcomes: isObject,
  leftOut: isListOf(isObject),
  // No name leads out of the folder.
  files: isListOf(
    isShape({
      name: matches(/^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/u),
      bytes: isCount,
      sha256: matches(/^[0-9a-f]{64}$/u),
    }),
  ),
});
const isManifest = (value: unknown): value is PackageManifest => hasManifestFields(value);

const isRows = isListOf(isTexts);
const answerKinds: Readonly<Record<string, Guard<unknown>>> = {
  bindings: isShape({
    columns: isTexts,
    rows: isRows,
    multisetSignature: isText,
    ties: optional(isListOf(isShape({ take: isCount, others: optional(isRows) }))),
  }),
  boolean: isShape({ value: (value) => typeof value === "boolean" }),
  graph: isShape({ triples: isTexts }),
};
const isAnswer: Guard<unknown> = (value): value is unknown =>
  isObject(value) && isText(value["signature"]) && answerKinds[String(value["kind"])]?.(value) === true;

const hasQueryFields = isShape({
  id: isText,
  questions: isTexts,
  outcome: isOneOf("answered", "empty", "unequal", "not-federable", "unanswered"),
  query: isText,
  gold: optional(isText),
  trivial: optional(isText),
  endpoints: isTexts,
  unmatched: isTexts,
  fanOut: isShape({ implied: isCount, realised: isCount }),
  touched: isTexts,
  rules: isTexts,
  apartBy: isTexts,
  strata: optional(isTexts),
  needed: optional(isTexts),
  answer: optional(isAnswer),
});
const isQuery = (value: unknown): value is PackagedQuery => hasQueryFields(value);

/** Checksum of a package's manifest, which has those of all its files: the same for the same package. */
export const packageChecksum = async ({ folder }: BenchmarkPackage): Promise<string> =>
  createHash("sha256")
    .update(await readFile(join(folder, "manifest.json")))
    .digest("hex");
