import type { CatalogEntry } from "./catalog.ts";
import { lineWith } from "./catalog-problem.ts";
import { refuseAddress } from "./check-document.ts";
import { looseKey, type UrlKey, urlKeys } from "./create-catalog.ts";
import { parseDocument } from "./parse-document.ts";
import { type LoadCatalogOptions, readCatalogFiles } from "./read-catalog.ts";
import { type CatalogFile, type CatalogFiles, resolveCatalog } from "./resolve-catalog.ts";
import { createShapeCheck, type Severity, type ShapeCheck } from "./shapes.ts";

/** What `catalog check` looks at. */
export interface CheckCatalogOptions extends LoadCatalogOptions {
  /** SHACL shapes, in Turtle. */
  readonly shapesFile: string;
  /** Why requests to a URL would be refused; a warning here, because the operator's settings may differ. */
  readonly refuseUrl?: (url: string) => string | undefined;
}

/** Something to mend in a catalogue file. */
export interface CatalogFinding {
  readonly file: string;
  /** 1-based, where the text shows it. */
  readonly line?: number;
  readonly severity: Severity;
  /** Predicate, with its usual prefix where there is one. */
  readonly path?: string;
  readonly reason: string;
}

/** What is wrong with a catalogue. */
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
  const keyOf = urlKeys({ publicUrl, ...(ownOrigins && { ownOrigins }) });
  const read = await readCatalogFiles(options, keyOf);
  const { entries, federations, problems } = resolveCatalog(read, []);
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

const severities: readonly Severity[] = ["violation", "warning", "info"];

function compareFindings(left: CatalogFinding, right: CatalogFinding): number {
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return severities.indexOf(left.severity) - severities.indexOf(right.severity);
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
      const line = path === undefined ? undefined : lineWith(path, text);
      const place = { ...(line !== undefined && { line }), ...(path !== undefined && { path }) };
      findings.push({ file, severity, reason, ...place });
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
    const { described } = catalogFile;
    if (described.kind !== "endpoint") return [];
    const reason = refuseAddress(described.value.url, { baseUrl, keyOf, ...(refuseUrl && { refuseUrl }) });
    return reason === undefined ? [] : warning(catalogFile, described.value.url, reason);
  });
}

/** URLs that differ only in what seldom makes a difference. Equal ones have been reported already. */
function checkLikeness({ files }: CatalogFiles, keyOf: UrlKey): readonly CatalogFinding[] {
  const seen = new Map<string, { readonly file: string; readonly key: string }>();
  return files.flatMap((catalogFile) => {
    const { described, file } = catalogFile;
    const key = described.kind === "endpoint" ? keyOf(described.value.url) : undefined;
    if (described.kind !== "endpoint" || key === undefined) return [];
    const first = seen.get(looseKey(key));
    if (first === undefined) seen.set(looseKey(key), { file, key });
    if (first === undefined || first.key === key) return [];
    return warning(catalogFile, described.value.url, `The URL is nearly that of ${first.file}.`);
  });
}

function checkMembers({ files }: CatalogFiles, entries: readonly CatalogEntry[]): readonly CatalogFinding[] {
  const ids = new Set(entries.map(({ id }) => id));
  return files.flatMap((catalogFile) => {
    const { described } = catalogFile;
    if (described.kind !== "federation") return [];
    const missing = described.value.members.filter((id) => !ids.has(id));
    return missing.flatMap((id) => warning(catalogFile, `"${id}"`, `The member "${id}" is not in the catalogue.`));
  });
}

function warning({ file, text }: CatalogFile, about: string, reason: string): readonly CatalogFinding[] {
  const line = lineWith(about, text);
  return [{ file, severity: "warning", reason, ...(line !== undefined && { line }) }];
}
