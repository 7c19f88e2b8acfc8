import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { CatalogProblem } from "../catalog.ts";
import { parseFactsFile } from "./facts-file.ts";
import { publishedFacts, type PublishedFacts } from "./published-facts.ts";

const maxFiles = 5_000;
const maxFileBytes = 1_000_000;
const maxTerms = 200_000;

/** Published facts, and the files that could not be used. */
export interface PublishedFiles {
  readonly facts: readonly PublishedFacts[];
  readonly problems: readonly CatalogProblem[];
}

/**
 * Reads the `*.json` files of folders in name order, one endpoint a file; of two for the same URL the first is kept. A
 * folder that is not there has none.
 */
export async function readPublished(folders: readonly string[]): Promise<PublishedFiles> {
  const facts = new Map<string, PublishedFacts>();
  const problems: CatalogProblem[] = [];
  let terms = 0;
  for (const folder of new Set(folders)) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names
      .filter((each) => each.endsWith(".json"))
      .toSorted()
      .slice(0, maxFiles)) {
      const file = join(folder, name);
      try {
        if ((await stat(file)).size > maxFileBytes) throw new RangeError("The file is larger than 1 MB.");
        const read = publishedFacts(parseFactsFile(await readFile(file, "utf8")));
        terms += read.terms.size;
        if (terms > maxTerms) throw new RangeError(`The files have more than ${maxTerms} classes and properties.`);
        if (!facts.has(read.url)) facts.set(read.url, read);
      } catch (error) {
        problems.push({ file, reason: error instanceof Error ? error.message : String(error) });
      }
    }
  }
  return { facts: [...facts.values()], problems };
}
