import { setImmediate as nextTurn } from "node:timers/promises";
import type * as RDF from "@rdfjs/types";
import type { CatalogEntry } from "./catalog.ts";
import { lineWith, parseDocument } from "./document.ts";
import { type DocumentRules, refuseAddress } from "./check-write.ts";
import { looseKey, type UrlKey, urlKeys } from "./index-catalog.ts";
import { type LoadCatalogOptions, readCatalogFiles } from "./read-files.ts";
import { type CatalogFile, type CatalogFiles, resolveCatalog } from "./resolve-catalog.ts";
import { shortName } from "./statements.ts";
import { readFile } from "node:fs/promises";
import { FedwayError } from "../../errors/fedway-error.ts";
import { toDataset } from "../../rdf/triple-index.ts";
import { parseTurtle } from "../../rdf/turtle.ts";
import { shacl } from "../../rdf/vocabularies.ts";

/** Options of `catalog check`. */
interface CheckCatalogOptions extends LoadCatalogOptions {
  /** SHACL shapes, in Turtle. */
  readonly shapesFile: string;
  /** Why requests to a URL would be refused; a warning here, because the operator's settings may differ. */
  readonly refuseUrl?: DocumentRules["refuseUrl"];
}

/** One result of SHACL validation. */
interface ShapeFinding {
  readonly severity: Severity;
  /** Predicate, with its usual prefix where there is one. */
  readonly path?: string | undefined;
  readonly reason: string;
}

/** Something to mend in a catalogue file. */
interface CatalogFinding extends ShapeFinding {
  readonly file: string;
  /** 1-based, where the text shows it. */
  readonly line?: number | undefined;
}

/** Problems of a catalogue. */
export interface CatalogReport {
  /** Files that were read. */
  readonly files: number;
  readonly endpoints: number;
  readonly federations: number;
  /** By file, violations first. */
  readonly findings: readonly CatalogFinding[];
  /** No finding is a violation. */
  readonly conforms: boolean;
}

/**
 * Checks catalogue files thoroughly, for people who edit them: what the service would leave out (violations), what SHACL
 * has to say, and what is odd although it works.
 * @throws FedwayError `CATALOG_INVALID` when a folder or the shapes cannot be read
 */
export async function checkCatalog(options: CheckCatalogOptions): Promise<CatalogReport> {
  const { baseUrl: publicUrl, ownOrigins } = options;
  const keyOf = urlKeys({ publicUrl, ownOrigins });
  const read = await readCatalogFiles(options, keyOf);
  const { entries, federations, problems } = await resolveCatalog(read, []);
  const findings: CatalogFinding[] = problems.map((problem) => ({ ...problem, severity: "violation" }));
  findings.push(...(await checkShapes(read, options, createShapeCheck(options.shapesFile))));
  findings.push(...checkAddresses(read, options, keyOf), ...checkLikeness(read, keyOf));
  findings.push(...checkMembers(read, entries));
  return {
    files: new Set([...read.texts.keys(), ...problems.map(({ file }) => file)]).size,
    endpoints: entries.length,
    federations: federations.length,
    findings: findings.toSorted(compareFindings),
    conforms: findings.every(({ severity }) => severity !== "violation"),
  };
}

function compareFindings(left: CatalogFinding, right: CatalogFinding): number {
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return weights.indexOf(left.severity) - weights.indexOf(right.severity);
}

/** Files that are no Turtle have been reported already. */
async function checkShapes(
  { texts }: CatalogFiles,
  { baseUrl }: CheckCatalogOptions,
  check: ShapeCheck,
): Promise<readonly CatalogFinding[]> {
  const findings: CatalogFinding[] = [];
  for (const [file, text] of texts) {
    const quads = parsed(text, baseUrl);
    if (quads === undefined) continue;
    for (const { severity, path, reason } of await check(quads)) {
      findings.push({ file, line: lineWith(path, text), severity, path, reason });
    }
  }
  return findings;
}

function parsed(text: string, baseUrl: string): ReturnType<typeof parseDocument> | undefined {
  try {
    return parseDocument(text, baseUrl);
  } catch {
    return undefined;
  }
}

function checkAddresses(
  { files }: CatalogFiles,
  { baseUrl, refuseUrl }: CheckCatalogOptions,
  keyOf: UrlKey,
): readonly CatalogFinding[] {
  return files.flatMap((catalogFile) => {
    const { item, isOperators } = catalogFile;
    if (item.kind !== "endpoint") return [];
    const rules = { baseUrl, keyOf, refuseUrl, isOperators: () => isOperators };
    const reason = refuseAddress(item.value.url, rules);
    return reason === undefined ? [] : warning(catalogFile, item.value.url, reason);
  });
}

/** URLs that differ only in what seldom makes a difference. Equal ones have been reported already. */
function checkLikeness({ files }: CatalogFiles, keyOf: UrlKey): readonly CatalogFinding[] {
  const seen = new Map<string, { readonly file: string; readonly key: string }>();
  return files.flatMap((catalogFile) => {
    const { item, file } = catalogFile;
    const key = item.kind === "endpoint" ? keyOf(item.value.url) : undefined;
    if (item.kind !== "endpoint" || key === undefined) return [];
    const first = seen.get(looseKey(key));
    if (first === undefined) seen.set(looseKey(key), { file, key });
    if (first === undefined || first.key === key) return [];
    return warning(catalogFile, item.value.url, `The URL is nearly that of ${first.file}.`);
  });
}

function checkMembers({ files }: CatalogFiles, entries: readonly CatalogEntry[]): readonly CatalogFinding[] {
  const ids = new Set(entries.map(({ id }) => id));
  return files.flatMap((catalogFile) => {
    const { item } = catalogFile;
    if (item.kind !== "federation") return [];
    const missing = item.value.members.filter((id) => !ids.has(id));
    return missing.flatMap((id) => warning(catalogFile, `"${id}"`, `The member "${id}" is not in the catalogue.`));
  });
}

function warning({ file, text }: CatalogFile, about: string, reason: string): readonly CatalogFinding[] {
  return [{ file, severity: "warning", reason, line: lineWith(about, text) }];
}

/** How much a finding weighs: a violation refuses the document. */
type Severity = "violation" | "warning" | "info";

/** Validates documents against SHACL shapes, most important findings first. */
export type ShapeCheck = (quads: readonly RDF.Quad[]) => Promise<readonly ShapeFinding[]>;

/** Findings about one document: at least half as many as this are reported. */
const maxErrors = 400;
const limits = { baseIri: "urn:fedway:shapes:", maxBytes: 1_000_000, maxQuads: 20_000 };

/**
 * SHACL Core over one document at a time. The validator is loaded when the first document is checked.
 * @throws FedwayError `CATALOG_INVALID`, when it is called, for shapes that cannot be read
 */
export function createShapeCheck(shapesFile: string): ShapeCheck {
  let loading: Promise<ShapeCheck> | undefined;
  return async (quads) => {
    loading ??= loadShapes(shapesFile);
    return (await loading)(quads);
  };
}

async function loadShapes(shapesFile: string): Promise<ShapeCheck> {
  // It brings many RDF libraries along, which a service that never changes its catalogue does not need.
  const { default: Validator } = await import("rdf-validate-shacl");
  // Loading it, preparing the shapes and the first use each take a turn.
  await nextTurn();
  const shapes = toDataset(await readShapes(shapesFile));
  const create = () => new Validator(shapes, { maxErrors });
  let validator = create();
  let found = 0;
  await nextTurn();
  return async (quads) => {
    // Making one takes long; but it counts its findings over all documents, and stops at `maxErrors`.
    if (found > maxErrors / 2) {
      validator = create();
      found = 0;
    }
    const report = await validator.validate(toDataset(quads));
    found += report.results.length;
    const findings = report.results.map(({ severity, path, message }) => toFinding(severity, path, message));
    return findings.toSorted((left, right) => weights.indexOf(left.severity) - weights.indexOf(right.severity));
  };
}

async function readShapes(shapesFile: string): Promise<readonly RDF.Quad[]> {
  try {
    return parseTurtle(await readFile(shapesFile, "utf8"), limits);
  } catch (cause) {
    const reason = cause instanceof FedwayError ? ` ${cause.message}` : "";
    throw new FedwayError("CATALOG_INVALID", `The shapes ${shapesFile} cannot be read.${reason}`, { cause });
  }
}

const weights: readonly Severity[] = ["violation", "warning", "info"];
const severities: ReadonlyMap<string, Severity> = new Map([
  [shacl.Violation, "violation"],
  [shacl.Warning, "warning"],
  [shacl.Info, "info"],
]);

function toFinding(
  severity: RDF.Term | null,
  path: RDF.Term | null | undefined,
  messages: readonly RDF.Term[],
): ShapeFinding {
  const [message] = messages;
  return {
    severity: severities.get(severity?.value ?? "") ?? "violation",
    path: path?.termType === "NamedNode" ? shortName(path.value) : undefined,
    reason: message?.value ?? "The document does not have the shape of its kind.",
  };
}
