import { setImmediate as nextTurn } from "node:timers/promises";
import { compareText } from "../../rdf/canonical.ts";
import type { CatalogDrift, CatalogEntry, CatalogProblem, Federation } from "./catalog.ts";
import { toProblem } from "./document.ts";
import type { CatalogItem } from "./parse-entry.ts";
import type { Overlay } from "./overlays.ts";
import { EntryProblem } from "./statements.ts";

/** One catalogue file that could be read. */
export interface CatalogFile {
  /** See `documentKey`. */
  readonly key: string;
  readonly file: string;
  /** The operator wrote it. */
  readonly isOperators: boolean;
  readonly text: string;
  readonly item: CatalogItem;
  /** Comparison key of an endpoint's URL. */
  readonly urlKey?: string | undefined;
  /** Changes with the text. */
  readonly hash: string;
}

/** Result of reading the files. */
export interface CatalogFiles {
  /** In reading order; equal ids or URLs are still among them. */
  readonly files: readonly CatalogFile[];
  readonly problems: readonly CatalogProblem[];
  /** Texts of all files that hold text, the unusable ones included. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Lays the changes over the files: a change or deletion hides the file with its id. Ids and URLs are unique in what is
 * shown: changes come before files, older changes before newer ones, files in reading order. An entry that cannot be shown is a
 * problem. The result depends on nothing else, so a restart shows the same.
 */
export async function resolveCatalog(catalogFiles: CatalogFiles, overlays: readonly Overlay[]): Promise<Resolution> {
  const resolution = new Resolution(catalogFiles.problems);
  const ordered = overlays.toSorted(
    (left, right) => compareText(left.changedAt, right.changedAt) || compareText(left.key, right.key),
  );
  for (const overlay of ordered) resolution.addOverlay(overlay);
  for (const [index, file] of catalogFiles.files.entries()) {
    if (index > 0 && index % filesPerTurn === 0) await nextTurn();
    resolution.addFile(file);
  }
  return resolution;
}

/** Files that are laid out before others have their turn. */
const filesPerTurn = 1_000;

/** Merges the files and the changes to them. */
class Resolution {
  readonly entries: CatalogEntry[] = [];
  readonly federations: Federation[] = [];
  readonly problems: CatalogProblem[];
  readonly drift: CatalogDrift[] = [];
  /** Origin of each shown document, by `documentKey`. */
  readonly shown = new Map<string, CatalogFile | Overlay>();
  /** The file of each id, hidden ones included, by `documentKey`. */
  readonly fileOf = new Map<string, CatalogFile>();
  /** Comparison keys of the shown entries' URLs. */
  readonly urlKeys = new Map<CatalogEntry, string>();
  readonly #overlays = new Map<string, Overlay>();
  readonly #urls = new Map<string, string>();

  constructor(problems: readonly CatalogProblem[]) {
    this.problems = [...problems];
  }

  addOverlay(overlay: Overlay): void {
    const { key, item, deleted, problem, urlKey } = overlay;
    const from = overlayName(overlay);
    this.#overlays.set(key, overlay);
    if (deleted) return;
    try {
      if (item === undefined) throw new EntryProblem(problem ?? "The stored change cannot be read.");
      this.#takeUrl(item, { urlKey, from });
      this.#show(item, overlay);
    } catch (thrown) {
      this.problems.push(toProblem(from, thrown));
    }
  }

  addFile(catalogFile: CatalogFile): void {
    const { key, file, text, item, urlKey } = catalogFile;
    try {
      refuseTaken(this.fileOf.get(key)?.file, `dcterms:identifier "${item.id}"`, `"${item.id}"`);
      const overlay = this.#overlays.get(key);
      if (overlay === undefined) {
        this.#takeUrl(item, { urlKey, from: file });
        this.#show(item, catalogFile);
      } else {
        this.#addDrift(overlay, catalogFile);
      }
      this.fileOf.set(key, catalogFile);
    } catch (thrown) {
      this.problems.push(toProblem(file, thrown, text));
    }
  }

  #show(item: CatalogItem, source: CatalogFile | Overlay): void {
    this.shown.set(source.key, source);
    if (item.kind === "federation") this.federations.push(item.value);
    else {
      this.entries.push(item.value);
      if (source.urlKey !== undefined) this.urlKeys.set(item.value, source.urlKey);
    }
  }

  #takeUrl(item: CatalogItem, { urlKey, from }: { urlKey: string | undefined; from: string }): void {
    if (urlKey === undefined || item.kind !== "endpoint") return;
    const property = item.value.interface === "file" ? "void:dataDump" : "dcat:endpointURL";
    refuseTaken(this.#urls.get(urlKey), `${property} <${item.value.url}>`, item.value.url);
    this.#urls.set(urlKey, from);
  }

  #addDrift({ kind, id, deleted, over }: Overlay, { file, hash }: CatalogFile): void {
    this.drift.push({ kind, id, file, how: deleted ? "file-hidden-by-deletion" : "file-hidden-by-change" });
    if (over !== hash) this.drift.push({ kind, id, file, how: "file-changed-since" });
  }
}

/** How problems and conflicts name a change. */
const overlayName = ({ kind, id }: Overlay): string => `the change of ${kind} "${id}"`;

function refuseTaken(from: string | undefined, what: string, about: string): void {
  if (from !== undefined) throw new EntryProblem(`${what} is already taken by ${from}.`, about);
}
