import { access } from "node:fs/promises";
import { basename, join } from "node:path";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { readBoundedFile } from "../bounded-file.ts";
import {
  faultIn,
  type Guard,
  type Guarded,
  isCount,
  isFlag,
  isListOf,
  isObject,
  isOneOf,
  isShape,
  isText,
  matches,
  optional,
  parsedAs,
} from "../guards.ts";
import { isAbsoluteIri } from "../load/statement.ts";
import { type Precedence, type Rule, ruleKinds, type Interpretation } from "../rules/problem.ts";
import { datasetPattern, iriPattern } from "../spec.ts";

/** Name of the manifest in a folder of shards. */
export const manifestName = "manifest.json";

const isShort = (value: unknown): value is string => isText(value) && value.length <= 2_000;
const isTerm = (value: unknown): value is string => isShort(value) && isAbsoluteIri(value);
const isIri = matches(iriPattern);
const isSha256 = matches(/^[0-9a-f]{64}$/u);
const isForm = isOneOf("pair", "single");

const sourceFields = {
  /** Names it in folders, URLs and the catalogue. */
  dataset: matches(datasetPattern),
  title: isShort,
  /** Licence of the dataset, and so of the shards. */
  licence: isIri,
  citation: optional(isShort),
  /** Where it comes from. */
  source: optional(isIri),
  /** Names of those whom a citation of the benchmark names. */
  creators: optional(isListOf(isShort)),
};

const isSource = isShape(sourceFields);

/** Metadata of a dataset beside its triples. */
export type Source = Guarded<typeof isSource>;

const isShard = isShape({
  /** See `shardIdsOf`. */
  id: matches(/^[a-z0-9][a-z0-9.-]{0,63}$/u),
  /** Topic of its triples, a sentence, where the build gave one. */
  topic: optional(isShort),
  /** Its properties with the classes of their subjects and objects in the whole dataset, where they were gathered. */
  properties: optional(
    isListOf(isShape({ property: isTerm, subjectClasses: isListOf(isTerm), objectClasses: isListOf(isTerm) })),
  ),
  key: isText,
  /** Its path in the folder of the manifest. Names come from ids, so that no manifest leads out of its folder. */
  file: matches(/^shards\/[a-z0-9][a-z0-9.-]*$/u),
  triples: isCount,
  /** Bytes of the file. */
  bytes: isCount,
  sha256: isSha256,
  /** Bytes of its lines, uncompressed. */
  lineBytes: isCount,
});

/** One shard. */
export type ManifestShard = Guarded<typeof isShard>;

const isVertical = isShape({ kind: isOneOf("vertical"), predicates: isListOf(isText) });
const isClass = isShape({ kind: isOneOf("class"), classes: isListOf(isText) });
const isHorizontal = isShape({ kind: isOneOf("horizontal"), class: isText, buckets: isCount });
const isRule = (value: unknown): value is Rule => isVertical(value) || isClass(value) || isHorizontal(value);

const isGroup = isListOf(isText);

const isReading: Guard<Interpretation> = isShape({
  name: isText,
  classRule: isForm,
  verticalRule: isForm,
  typeIsPredicate: isFlag,
  horizontalCoversJoins: isFlag,
  infer: isFlag,
  exists: isFlag,
  buckets: isCount,
});

const isPrecedence = (value: unknown): value is Precedence =>
  isListOf(isOneOf(...ruleKinds))(value) &&
  value.length === ruleKinds.length &&
  new Set(value).size === ruleKinds.length;

const manifestFields = {
  version: isOneOf(1),
  ...sourceFields,
  /** Hash of all that the bytes depend on: a build with the same one gives the same shards. */
  fingerprint: isShort,
  rules: isListOf(isRule),
  reading: isReading,
  precedence: isPrecedence,
  /** Classes and predicates that the rules name by the first of their group; absent where each stands for itself. */
  groups: optional(isShape({ classes: isListOf(isGroup), predicates: isListOf(isGroup), baseBuckets: isCount })),
  format: isOneOf("n-triples", "n-quads"),
  gzip: isFlag,
  inputs: isListOf(
    isShape({
      name: isText,
      format: isText,
      bytes: isCount,
      sha256: isSha256,
      /** Lines that cannot be read and were left out; absent when there are none. */
      badLines: optional(isCount),
    }),
  ),
  /** Statements in the inputs. */
  statements: isCount,
  /** Different statements among them; these are in the shards, each in one. */
  triples: isCount,
  /** Subjects without a class: only predicates can place them. */
  untypedSubjects: isShape({ count: isCount, isAtLeast: isFlag }),
  /** By key; shards without triples are not there. */
  shards: isListOf(isShard),
};

const isManifest = isShape(manifestFields);

/** Content and origin of a folder of shards. The same inputs and rules give the same bytes. */
export type Manifest = Guarded<typeof isManifest>;

const maxManifestBytes = 64 * 1024 * 1024;

/**
 * Reads the manifest of a finished folder. It may come from anybody: all that the type names is checked, fits into URLs
 * and the catalogue, and leads to no file outside the folder.
 * @throws FedwayError `SHARDS_UNKNOWN` when there is none, `SHARDS_INVALID`, which names the field, when it is not one
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const found = parsedAs(await manifestText(join(folder, manifestName)), isObject);
  if (found === undefined || found["version"] !== 1) throw damaged("is damaged, or of another version");
  if (!isManifest(found))
    throw damaged(`has a field "${faultIn(found, manifestFields)}" that has another form than it must have`);
  if (fitsTogether(found)) return found;
  throw damaged("has names that are there twice, or numbers that do not fit together");
}

const damaged = (how: string): FedwayError => new FedwayError("SHARDS_INVALID", `The manifest of the shards ${how}.`);

async function manifestText(path: string): Promise<string> {
  const bytes = await readBoundedFile(path, maxManifestBytes, (fault, cause) =>
    fault === "missing"
      ? new FedwayError("SHARDS_UNKNOWN", "There are no finished shards in this folder.", { cause })
      : damaged("is no file, or larger than it can be"),
  );
  return bytes.toString("utf8");
}

/**
 * The manifest of a folder that may be built into; undefined when there is no such folder.
 * @throws FedwayError `REQUEST_INVALID` when it holds something else than finished shards
 */
export async function manifestIn(folder: string): Promise<Manifest | undefined> {
  try {
    await access(folder);
  } catch {
    return undefined;
  }
  return readManifest(folder).catch((cause: unknown) => {
    throw new FedwayError("REQUEST_INVALID", `There is something else than finished shards in ${basename(folder)}.`, {
      next: "Choose another output folder.",
      cause,
    });
  });
}

/** Fields that are right each may still not fit: names are there once, the shards have all triples. */
function fitsTogether({ shards, inputs, triples, statements }: Manifest): boolean {
  const names = [shards.map(({ id }) => id), shards.map(({ file }) => file), inputs.map(({ name }) => name)];
  if (names.some((each) => new Set(each).size < each.length)) return false;
  return triples === shards.reduce((sum, shard) => sum + shard.triples, 0) && triples <= statements;
}
