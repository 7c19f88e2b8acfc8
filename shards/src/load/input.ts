import { basename } from "node:path";
import { FedwayError } from "../../../src/errors/fedway-error.ts";

/** Syntaxes that are read. */
export type InputFormat = "n-triples" | "n-quads" | "turtle" | "trig" | "rdf-xml" | "json-ld";

/** One RDF file; gzip is recognised by its first bytes. */
export interface Input {
  readonly path: string;
  /**
   * Name in errors, which also separates its blank nodes from those of other files: two runs that give a file the same name
   * give its blank nodes the same IRIs. The file's name by default.
   */
  readonly name?: string;
  /** By the ending of the path by default. */
  readonly format?: InputFormat;
  /** Leave out lines of N-Triples and N-Quads that cannot be read, and note them; an error otherwise. */
  readonly skipBadLines?: boolean | undefined;
}

/** An input of which everything is known. */
export interface NamedInput extends Input {
  readonly name: string;
  readonly format: InputFormat;
}

const formatOfEnding: Readonly<Record<string, InputFormat>> = {
  nt: "n-triples",
  nq: "n-quads",
  ttl: "turtle",
  trig: "trig",
  rdf: "rdf-xml",
  owl: "rdf-xml",
  xml: "rdf-xml",
  jsonld: "json-ld",
  json: "json-ld",
};

/**
 * Fills in names and formats.
 * @throws FedwayError `REQUEST_INVALID` for an ending that says nothing, or two inputs with one name
 */
export function namedInputs(inputs: readonly Input[]): readonly NamedInput[] {
  const named = inputs.map((input): NamedInput => {
    const name = input.name ?? basename(input.path);
    return { ...input, name, format: input.format ?? formatOf(name) };
  });
  const twice = named.find(({ name }, index) => named.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) {
    throw new FedwayError("REQUEST_INVALID", `Two input files are called ${twice.name}.`, {
      next: "Give each a name of its own: it separates their blank nodes.",
    });
  }
  return named;
}

/** The format that a file name's ending stands for, in front of `.gz` too. */
function formatOf(name: string): InputFormat {
  const ending = /\.([a-z]+)(?:\.gz)?$/u.exec(name.toLowerCase())?.[1] ?? "";
  const format = Object.hasOwn(formatOfEnding, ending) ? formatOfEnding[ending] : undefined;
  if (format !== undefined) return format;
  throw new FedwayError("REQUEST_INVALID", `The ending of ${name} does not show its format.`, {
    next: `Known endings: ${Object.keys(formatOfEnding).join(", ")}, each also with .gz behind it.`,
  });
}

/** The error of an input that cannot be read. */
export function invalidInput(
  name: string,
  reason: string,
  at: { readonly line?: number; readonly cause?: unknown } = {},
) {
  const { line, cause } = at;
  const place = line === undefined ? name : `${name}, line ${line}`;
  return new FedwayError("DATASET_INVALID", `${place}: ${reason}.`, {
    ...(line !== undefined && { where: { line } }),
    ...(cause !== undefined && { cause }),
  });
}

/** The error of an input that is not what an earlier pass found. */
export const changedInput = (name: string): FedwayError =>
  new FedwayError("DATASET_INVALID", `${name}: the file was changed while it was being read.`);

/** Characters that have no place in an IRI, and the sign that escapes them. */
const notInIri = /[% <>"\{\}\|^`\\[[\p{ASCII}&&\p{Cc}]--[\x7f]]]/gv;

const percent = (character: string): string => encodeURIComponent(character);

/**
 * The IRI, in front of `a:<number>` or `b:<label>`, that stands for blank nodes of an input (RDF 1.1, section 3.5). It
 * depends on the input's name only: labelled nodes keep theirs whatever the order of statements and files.
 */
export const skolemBase = (inputName: string): string =>
  `urn:fedway:genid:${encodeURIComponent(inputName.toWellFormed())}:`;

/** What a labelled blank node is called behind `skolemBase`. */
export const skolemLabel = (label: string): string => `b:${label.toWellFormed().replaceAll(notInIri, percent)}`;

/** What the n-th node without a label is called behind `skolemBase`. */
export const skolemNumber = (number: number): string => `a:${number}`;
