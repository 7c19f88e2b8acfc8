import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../../make-folder.ts";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { FedwayError } from "../../../errors/fedway-error.ts";
import { iriParts } from "../../../rdf/display-text.ts";
import {
  amount,
  type FactsFile,
  factsFileText,
  iri,
  parseFactsFile,
  prefixMap,
  sourceSchema,
  termFacts,
  urlLists,
} from "./facts-file.ts";

const termSchema = Type.Object({ iri, ...termFacts.properties });

const collected = Type.Object({
  id: Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,63}$" }),
  url: iri,
  ...urlLists,
  prefixes: Type.Optional(
    Type.Object({
      // Empty where nothing is known.
      predefined: Type.Object({ basis: Type.Optional(Type.String()), map: Type.Optional(prefixMap) }),
      usedUndeclared: prefixMap,
      examples: prefixMap,
    }),
  ),
  classes: Type.Optional(Type.Array(termSchema)),
  properties: Type.Optional(Type.Array(termSchema)),
  resourceSpaces: Type.Optional(Type.Array(Type.Object({ iri, uses: Type.Optional(amount) }))),
  sources: Type.Array(sourceSchema),
});

/** A collection of facts as it is published: one file for all endpoints. */
const collection = Compile(
  Type.Object({ format: Type.Literal(1), asOf: Type.String(), facts: Type.Array(collected, { maxItems: 5_000 }) }),
);

type Collected = Static<typeof collected>;

/** Result of a refresh, by file name without its ending. */
export interface Refreshed {
  readonly written: readonly string[];
  readonly unchanged: number;
}

/**
 * Writes the facts of a collection as one file an endpoint; files of endpoints that it does not have stay, with their date.
 * @throws FedwayError `REQUEST_INVALID` when the collection cannot be read; nothing is changed then
 */
export async function refreshPublished(collectionFile: string, folder: string): Promise<Refreshed> {
  const files = filesOf(await readFile(collectionFile, "utf8").catch(refuse("cannot be read")));
  await makeFolder(folder);
  const written: string[] = [];
  for (const [id, text] of files) {
    const path = join(folder, `${id}.json`);
    if ((await readFile(path, "utf8").catch(() => undefined)) === text) continue;
    await writeFile(path, text);
    written.push(id);
  }
  return { written, unchanged: files.size - written.length };
}

function filesOf(text: string): ReadonlyMap<string, string> {
  try {
    const value: unknown = JSON.parse(text);
    if (!collection.Check(value)) {
      const [first] = collection.Errors(value);
      throw new TypeError(`${first?.instancePath ?? "/"} ${first?.message ?? "does not fit"}`);
    }
    return new Map(value.facts.map((each) => [each.id, checked(fileOf(each, value.asOf))] as const));
  } catch (error) {
    return refuse("is no collection of published facts")(error);
  }
}

/** The text, as whoever reads it will accept it. */
function checked(file: object): string {
  const text = factsFileText(file);
  parseFactsFile(text);
  return text;
}

const refuse =
  (why: string) =>
  (cause: unknown): never => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new FedwayError("REQUEST_INVALID", `The file ${why}: ${reason}`, {
      cause,
      next: "It is JSON with format, asOf and facts; catalog/README.md describes it.",
    });
  };

const filled = <Value extends object>(value: Value | undefined): Value | undefined =>
  value !== undefined && Object.keys(value).length > 0 ? value : undefined;

function fileOf(each: Collected, asOf: string): object {
  const { url, sources, aliases, parts, mirrors, pages, pseudoServices } = each;
  const { predefined: { basis, map } = {}, usedUndeclared, examples } = each.prefixes ?? {};
  const fields = {
    aliases: filled(aliases?.filter((alias) => alias !== url)),
    parts: filled(parts),
    mirrors: filled(mirrors),
    pages: filled(pages),
    pseudoServices: filled(pseudoServices),
    prefixes: {
      predefined: basis !== undefined && map !== undefined ? { basis, map } : undefined,
      usedUndeclared: filled(usedUndeclared),
      examples: filled(examples),
    },
    classes: filled(bySpace(each.classes)),
    properties: filled(bySpace(each.properties)),
    resourceSpaces: filled(Object.fromEntries((each.resourceSpaces ?? []).map(({ iri: at, uses = 0 }) => [at, uses]))),
  };
  return { format: 1, url, asOf, ...fields, sources };
}

function bySpace(terms: Collected["classes"] = []): NonNullable<FactsFile["classes"]> {
  const spaces: NonNullable<FactsFile["classes"]> = {};
  for (const { iri: name, ...said } of terms) {
    const { namespace, local } = iriParts(name);
    const isUsesOnly = Object.keys(said).length === 1 && said.uses !== undefined;
    (spaces[namespace] ??= {})[local] = isUsesOnly ? (said.uses ?? 0) : said;
  }
  return spaces;
}
