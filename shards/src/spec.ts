import { FedwayError } from "../../src/errors/fedway-error.ts";
import { nearest } from "../../src/errors/nearest.ts";
import { isObject } from "./guards.ts";
import { type Precedence, ruleKinds, type ShardTargets, type Interpretation } from "./rules/problem.ts";

/**
 * How rules are chosen. `balanced`: no shard gives the whole answer of a query alone, where data allow, each query is covered
 * by a rule, and kinds of rules and sizes of shards are even. `guaranteed`: the fewest rules such that each query touches two
 * shards. `paper`: the published method as it is.
 */
export type ShardMode = (typeof shardModes)[number];

/** The default one first. */
export const shardModes = ["balanced", "guaranteed", "paper"] as const;

/** Licence of data whose copyright was not evaluated. */
export const noLicence = "http://rightsstatements.org/vocab/CNE/1.0/";

const maxInputs = 1_000;
const maxDatasets = 1_000;
const maxTextLength = 2_000;
/** Ids of datasets; the endings are those of folders and files beside a target. */
export const datasetPattern = /^(?!.*\.(?:building|replaced|lock|taking)$)[a-z0-9][a-z0-9._-]{0,31}$/u;
/** Absolute IRIs. */
export const iriPattern = /^[a-z][a-z0-9+.-]{0,30}:[^\s<>"{}|^`\\]{1,2000}$/iu;
// Control characters, and those that change the direction of what follows.
const unprintable = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;

const invalid = (message: string, next?: string): FedwayError =>
  new FedwayError("REQUEST_INVALID", `The description of the shards: ${message}`, next === undefined ? {} : { next });

/** Reads the value of a field; throws with the reason why it is none. */
type Read<Value> = (value: unknown, name: string) => Value;

type Readers<Values> = { readonly [Name in keyof Values]: Read<Values[Name]> };
type ValuesOf<Fields> = { readonly [Name in keyof Fields]: Fields[Name] extends Read<infer Value> ? Value : never };

const text: Read<string> = (value, name) => {
  if (typeof value !== "string" || value.trim() === "") throw invalid(`${name} has to be a text.`);
  if (value.length > maxTextLength) throw invalid(`${name} is longer than ${maxTextLength} characters.`);
  if (unprintable.test(value) || !value.isWellFormed()) throw invalid(`${name} has characters that are not printable.`);
  return value;
};

const iri: Read<string> = (value, name) => {
  const found = text(value, name);
  if (!iriPattern.test(found)) throw invalid(`${name} has to be an IRI.`);
  return found;
};

const dataset: Read<string> = (value, name) => {
  const found = text(value, name);
  if (datasetPattern.test(found)) return found;
  throw invalid(
    `${name} has to be 1 to 32 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit, and may not end in .building, .replaced, .lock or .taking.`,
  );
};

const flag: Read<boolean> = (value, name) => {
  if (typeof value !== "boolean") throw invalid(`${name} has to be true or false.`);
  return value;
};

const wholeNumber =
  (least: number, most: number): Read<number> =>
  (value, name) => {
    if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
    throw invalid(`${name} has to be a whole number from ${least} to ${most}.`);
  };

const buckets = wholeNumber(2, 64);

const inputs: Read<readonly string[]> = (value, name) => {
  if (!Array.isArray(value) || value.length === 0) throw invalid(`${name} has to be a list of files, one or more.`);
  if (value.length > maxInputs) throw invalid(`${name} names more than ${maxInputs} files.`);
  const files = value.map((each) => text(each, name));
  if (new Set(files).size < files.length) throw invalid(`${name} names a file twice.`);
  return files;
};

function choice<const Values extends readonly string[]>(values: Values): Read<Values[number]> {
  return (value, name) => {
    const found = values.find((each) => each === value);
    if (found === undefined) throw invalid(`${name} has to be one of ${values.join(", ")}.`);
    return found;
  };
}

const precedence: Read<Precedence> = (value, name) => {
  const found = Array.isArray(value) ? value.map((each) => choice(ruleKinds)(each, name)) : [];
  const [first, second, third] = found;
  if (found.length !== 3 || new Set(found).size !== 3 || !first || !second || !third) {
    throw invalid(`${name} has to name ${ruleKinds.join(", ")}, each once.`);
  }
  return [first, second, third];
};

const object: Read<Readonly<Record<string, unknown>>> = (value, name) => {
  if (isObject(value)) return value;
  throw invalid(`${name} has to be an object.`);
};

const texts: Read<Readonly<Record<string, string>>> = (value, name) =>
  Object.fromEntries(
    Object.entries(object(value, name)).map(([field, wanted]) => [text(field, name), text(wanted, name)]),
  );

const creators: Read<readonly string[]> = (value, name) => {
  if (Array.isArray(value) && value.length > 0 && value.length <= 100) return value.map((each) => text(each, name));
  throw invalid(`${name} has to be a list of 1 to 100 names.`);
};

const prefixName = /^(?:[a-z](?:[a-z0-9._-]{0,60}[a-z0-9_-])?)?$/iu;

const prefixes: Read<Readonly<Record<string, string>>> = (value, name) =>
  Object.fromEntries(
    Object.entries(object(value, name)).map(([prefix, namespace]) => {
      if (prefixName.test(prefix)) return [prefix, iri(namespace, name)];
      throw invalid(`${name} has ${JSON.stringify(prefix.slice(0, 60))}, which is no prefix.`);
    }),
  );

const ruleForm = choice(["pair", "single"]);
const readingFields = {
  classRule: ruleForm,
  verticalRule: ruleForm,
  typeIsPredicate: flag,
  horizontalCoversJoins: flag,
  infer: flag,
  exists: flag,
  buckets,
} satisfies Readers<Omit<Interpretation, "name">>;

const reading: Read<string | Partial<Omit<Interpretation, "name">>> = (value, name) =>
  typeof value === "string" ? text(value, name) : fieldsOf<Omit<Interpretation, "name">>(value, readingFields, name);

const share: Read<number> = (value, name) => {
  if (typeof value === "number" && value >= 0 && value <= 1) return value;
  throw invalid(`the share of ${name} rules has to be a number from 0 to 1.`);
};

/** Shares may be rounded to two digits. */
const shareSlack = 0.02;

const shares: Read<ShardTargets["shares"] & {}> = (value, name) => {
  const found = fieldsOf(value, { vertical: share, class: share, horizontal: share }, name);
  const given = Object.values(found);
  const sum = given.reduce((left, right) => left + right, 0);
  const isWhole = given.length === ruleKinds.length;
  if (sum <= 1 + shareSlack && (!isWhole || sum >= 1 - shareSlack)) return found;
  throw invalid(
    `the ${name} add up to ${Number(sum.toFixed(4))}.`,
    `Give shares of ${ruleKinds.join(", ")} rules that add up to 1, or leave one out: it may then have any share.`,
  );
};

const requiredFields = {
  /** Names the dataset in URLs, folders and the catalogue: `[a-z0-9][a-z0-9._-]{0,31}`. */
  dataset,
  /** RDF files, one or more. */
  inputs,
  /** A JSON or CSV file, or a folder of `.rq` files. */
  queries: text,
  /** IRI of the licence of the source. */
  licence: iri,
};

const defaultedFields = {
  title: text,
  mode: choice(shardModes),
  /** Shards are compressed with gzip. */
  gzip: flag,
  /** Lines of N-Triples and N-Quads that cannot be read are left out and noted; an error otherwise. */
  skipBadLines: flag,
};

const optionalFields = {
  /** Only queries with these values in these fields: one file may hold those of several datasets. */
  only: texts,
  /** Declared in front of queries that use them without declaring them: prefix, which may be empty, to IRI. */
  prefixes,
  /** A file of Turtle, N-Triples or RDF/XML. */
  ontology: text,
  /** Name of a reading, or what differs from the literal one. */
  reading,
  precedence,
  /** Buckets of horizontal rules, 2 to 64. */
  buckets,
  /** Target shares of rule kinds; default of balanced mode: the published ones. */
  shares,
  /** Most shards, where federation allows it; default of balanced mode: 8. One shard is no federation. */
  maxShards: wholeNumber(2, 10_000),
  /** Least triples of a shard, where federation and the most shards allow it. */
  minShardTriples: wholeNumber(1, 1_000_000_000),
  /** Folder of the result; absent: the data folder's place for this dataset. */
  output: text,
  /** Style of the shards' ids in URLs: `readable` ids show their content; default `readable`. */
  ids: choice(["readable", "opaque"]),
  /** What shards are about, by their keys, instead of a sentence that is made of their classes and properties. */
  topics: texts,
  /** Names of those whom a citation of the benchmark names. */
  creators,
  /** How the source wants to be cited. */
  citation: text,
  /** IRI of where the source comes from. */
  source: iri,
};

type Undefinable<Values> = { readonly [Name in keyof Values]?: Values[Name] | undefined };

/** The shards to build, as written; paths are as written too. */
export type ShardSpec = ValuesOf<typeof requiredFields & typeof defaultedFields> &
  Undefinable<ValuesOf<typeof optionalFields>>;

/** The known fields of an object; a field that is not known is an error. */
function fieldsOf<Values>(value: unknown, readers: Readers<Values>, what: string): Partial<Values> {
  const known = Object.keys(readers);
  const found: Partial<Values> = {};
  for (const [name, each] of Object.entries(object(value, what))) {
    if (!isKeyOf(name, readers)) throw unknownField(name, known, what);
    if (each !== undefined) found[name] = readers[name](each, name);
  }
  return found;
}

const isKeyOf = <Of extends object>(name: PropertyKey, fields: Of): name is keyof Of => Object.hasOwn(fields, name);

function unknownField(name: string, known: readonly string[], what: string): FedwayError {
  const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name;
  const [like] = nearest(name, known, 1);
  const next = like === undefined ? `Known fields: ${known.join(", ")}.` : `Did you mean "${like}"?`;
  return invalid(`${what} has the unknown field ${JSON.stringify(shown)}.`, next);
}

/**
 * Reads the shards to build from parsed JSON. Paths are not looked at: see `locateSpec`.
 * @throws FedwayError `REQUEST_INVALID` that names the field
 */
export function readShardSpec(json: unknown): ShardSpec {
  const readers = { ...requiredFields, ...defaultedFields, ...optionalFields };
  const {
    dataset: id,
    inputs: files,
    queries,
    licence,
    ...more
  } = fieldsOf<ValuesOf<typeof readers>>(json, readers, "it");
  if (id === undefined) throw missing("dataset", "a short name such as planets");
  if (files === undefined) throw missing("inputs", "a list of RDF files");
  if (queries === undefined) throw missing("queries", "a JSON or CSV file, or a folder of .rq files");
  if (licence === undefined) throw missing("licence", "the IRI of the source's licence");
  const aimed = (["shares", "maxShards", "minShardTriples"] as const).find((name) => more[name] !== undefined);
  if (more.mode === "paper" && aimed !== undefined) {
    throw invalid(
      `${aimed} has no meaning in paper mode, which knows one criterion.`,
      "Leave it out, or choose balanced or guaranteed mode.",
    );
  }
  const { title = id, mode = shardModes[0], gzip = false, skipBadLines = false } = more;
  return { ...more, title, mode, gzip, skipBadLines, dataset: id, inputs: files, queries, licence };
}

/**
 * The descriptions that a file holds: one, or with `datasets` (a list of names) instead of `dataset` one for each of them,
 * whose name then stands wherever a text says `{dataset}`.
 * @throws FedwayError `REQUEST_INVALID` that names the field
 */
export function readShardSpecs(json: unknown): readonly ShardSpec[] {
  if (!isObject(json) || !("datasets" in json)) return [readShardSpec(json)];
  const { datasets, ...shared } = json;
  if ("dataset" in shared) throw invalid("it has both dataset and datasets.");
  if (!Array.isArray(datasets) || datasets.length === 0 || datasets.length > maxDatasets) {
    throw invalid(`datasets has to be a list of 1 to ${maxDatasets} names.`);
  }
  const names = datasets.map((each) => dataset(each, "datasets"));
  if (new Set(names).size < names.length) throw invalid("datasets has a name twice.");
  return names.map((name) => readShardSpec({ ...named(shared, name), dataset: name }));
}

const named = (fields: object, name: string): object =>
  Object.fromEntries(Object.entries(fields).map(([field, value]: [string, unknown]) => [field, filled(value, name)]));

function filled(value: unknown, name: string): unknown {
  if (typeof value === "string") return value.replaceAll("{dataset}", name);
  if (Array.isArray(value)) return value.map((each: unknown) => filled(each, name));
  return isObject(value) ? named(value, name) : value;
}

const missing = (name: string, what: string): FedwayError => invalid(`${name} is missing.`, `Give ${what}.`);
