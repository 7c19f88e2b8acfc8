import { open } from "node:fs/promises";
import { join } from "node:path";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Interpretation } from "../rules/interpretations.ts";
import type { ClassRule, HorizontalRule, Precedence, Rule, VerticalRule } from "../rules/problem.ts";
import { datasetPattern, iriPattern } from "../spec.ts";

/** The name of the file that tells what a folder of shards holds. */
export const manifestName = "manifest.json";

/** What is known of a dataset beside its triples. */
export interface Source {
  /** Names it in folders, URLs and the catalogue. */
  readonly dataset: string;
  readonly title: string;
  /** IRI of the licence; of the shards too. */
  readonly licence: string;
  readonly citation?: string;
  /** IRI of where it comes from. */
  readonly source?: string;
}

/** One shard. */
export interface ManifestShard {
  /** `shardIdOf` its key. */
  readonly id: string;
  /** What its triples are about, a sentence; not there in shards of earlier versions. */
  readonly topic?: string;
  readonly key: string;
  /** Path of its file, in the folder of the manifest. */
  readonly file: string;
  readonly triples: number;
  /** Bytes of the file, their sha256 in hex, and the bytes of its lines without compression. */
  readonly bytes: number;
  readonly sha256: string;
  readonly lineBytes: number;
}

/** What a folder of shards holds, and what it was made of. The same inputs and rules give the same bytes. */
export interface Manifest extends Source {
  readonly version: 1;
  /** Hash of all that the bytes depend on: a build with the same one gives the same shards. */
  readonly fingerprint: string;
  readonly rules: readonly Rule[];
  readonly reading: Interpretation;
  readonly precedence: Precedence;
  readonly format: "n-triples" | "n-quads";
  readonly gzip: boolean;
  readonly inputs: readonly {
    readonly name: string;
    readonly format: string;
    readonly bytes: number;
    readonly sha256: string;
  }[];
  /** Statements in the inputs, and different ones among them; these are in the shards, each in one. */
  readonly statements: number;
  readonly triples: number;
  /** Subjects without a class: only predicates can place them. */
  readonly untypedSubjects: { readonly count: number; readonly isAtLeast: boolean };
  /** By key; shards without triples are not there. */
  readonly shards: readonly ManifestShard[];
}

const maxManifestBytes = 64 * 1024 * 1024;

/**
 * Reads the manifest of a finished folder. It may come from anybody: all that the type names is checked, fits into URLs
 * and the catalogue, and leads to no file outside the folder.
 * @throws FedwayError `SHARDS_UNKNOWN` when there is none, `SHARDS_INVALID`, which names the field, when it is not one
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const found = parsed(await manifestText(join(folder, manifestName)));
  if (!isNode(found) || found["version"] !== 1) throw damaged("is damaged, or of another version");
  if (!isManifest(found))
    throw damaged(`has a field "${faultOf(found, manifestFields)}" that is not what it has to be`);
  if (fitsTogether(found)) return found;
  throw damaged("has names that are there twice, or numbers that do not fit together");
}

const damaged = (how: string): FedwayError => new FedwayError("SHARDS_INVALID", `The manifest of the shards ${how}.`);

async function manifestText(path: string): Promise<string> {
  const file = await open(path).catch((cause: unknown) => {
    throw new FedwayError("SHARDS_UNKNOWN", "There are no finished shards in this folder.", { cause });
  });
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > maxManifestBytes) throw damaged("is no file, or larger than it can be");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Node = Readonly<Record<string, unknown>>;
type Holds = (value: unknown) => boolean;
type Fields<Value> = { readonly [Name in keyof Required<Value>]: Holds };

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);

/** The name of the first field that is wrong. */
function faultOf(node: Node, fields: Readonly<Record<string, Holds>>): string | undefined {
  return Object.entries(fields).find(
    ([name, holds]) => !holds(Object.hasOwn(node, name) ? node[name] : undefined),
  )?.[0];
}

const isText: Holds = (value) => typeof value === "string" && value !== "";
const isShort: Holds = (value) => typeof value === "string" && value !== "" && value.length <= 2_000;
const isFlag: Holds = (value) => typeof value === "boolean";
const isCount: Holds = (value) => Number.isSafeInteger(value) && Number(value) >= 0;

const matches =
  (pattern: RegExp): Holds =>
  (value) =>
    typeof value === "string" && pattern.test(value);
const oneOf =
  (...values: readonly unknown[]): Holds =>
  (value) =>
    values.includes(value);
const optional =
  (holds: Holds): Holds =>
  (value) =>
    value === undefined || holds(value);
const listOf =
  (holds: Holds): Holds =>
  (value) =>
    Array.isArray(value) && value.every(holds);
const nodeOf =
  <Value>(fields: Fields<Value>): Holds =>
  (value) =>
    isNode(value) && faultOf(value, fields) === undefined;

const isIri = matches(iriPattern);
const isSha256 = matches(/^[0-9a-f]{64}$/u);
const isForm = oneOf("pair", "single");
const kinds = ["vertical", "class", "horizontal"];

const ruleOf: { readonly [Kind in Rule["kind"]]: Holds } = {
  vertical: nodeOf<VerticalRule>({ kind: oneOf("vertical"), predicates: listOf(isText) }),
  class: nodeOf<ClassRule>({ kind: oneOf("class"), classes: listOf(isText) }),
  horizontal: nodeOf<HorizontalRule>({ kind: oneOf("horizontal"), class: isText, buckets: isCount }),
};

const isReading = nodeOf<Interpretation>({
  name: isText,
  classRule: isForm,
  verticalRule: isForm,
  typeIsPredicate: isFlag,
  horizontalCoversJoins: isFlag,
  infer: isFlag,
  exists: isFlag,
  buckets: isCount,
});

const isShard = nodeOf<ManifestShard>({
  id: matches(/^[a-z0-9][a-z0-9.-]{0,63}$/u),
  key: isText,
  // Names come from ids, so that no manifest leads out of its folder.
  file: matches(/^shards\/[a-z0-9][a-z0-9.-]*$/u),
  triples: isCount,
  bytes: isCount,
  sha256: isSha256,
  lineBytes: isCount,
  topic: optional(isShort),
});

const manifestFields: Fields<Manifest> = {
  version: oneOf(1),
  dataset: matches(datasetPattern),
  title: isShort,
  licence: isIri,
  citation: optional(isShort),
  source: optional(isIri),
  fingerprint: isShort,
  rules: listOf((value) => Object.values(ruleOf).some((holds) => holds(value))),
  reading: isReading,
  precedence: (value) =>
    listOf(oneOf(...kinds))(value) &&
    Array.isArray(value) &&
    value.length === new Set(value).size &&
    value.length === kinds.length,
  format: oneOf("n-triples", "n-quads"),
  gzip: isFlag,
  inputs: listOf(
    nodeOf<Manifest["inputs"][number]>({ name: isText, format: isText, bytes: isCount, sha256: isSha256 }),
  ),
  statements: isCount,
  triples: isCount,
  untypedSubjects: nodeOf<Manifest["untypedSubjects"]>({ count: isCount, isAtLeast: isFlag }),
  shards: listOf(isShard),
};

const isManifest = (value: unknown): value is Manifest => isNode(value) && faultOf(value, manifestFields) === undefined;

/** Fields that are right each may still not fit: names are there once, the shards have all triples. */
function fitsTogether({ shards, inputs, triples, statements }: Manifest): boolean {
  const names = [shards.map(({ id }) => id), shards.map(({ file }) => file), inputs.map(({ name }) => name)];
  if (names.some((each) => new Set(each).size < each.length)) return false;
  return triples === shards.reduce((sum, shard) => sum + shard.triples, 0) && triples <= statements;
}
