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
import { parseShapesFile, publishedShapes, shapeLists } from "./shapes-file.ts";

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

/** A collection of facts as it is published: one file for all endpoints. Compiled where it is read, as a start needs none of it. */
const collection = Type.Object({
  format: Type.Literal(1),
  asOf: Type.String(),
  facts: Type.Array(collected, { maxItems: 5_000 }),
});

type Collected = Static<typeof collected>;

const shaped = Type.Object({
  id: collected.properties.id,
  url: iri,
  like: Type.Optional(Type.Array(Type.String())),
  ...shapeLists,
});

/** A collection of shapes; `sources` are of all of them. */
const shapeCollection = Type.Object({
  format: Type.Literal(1),
  asOf: Type.String(),
  sources: Type.Array(sourceSchema),
  endpoints: Type.Array(shaped, { maxItems: 5_000 }),
});

type Shaped = Static<typeof shaped>;

/** Result of a refresh, by file name without its ending. */
export interface Refreshed {
  readonly written: readonly string[];
  readonly unchanged: number;
}

/**
 * Writes a collection of facts, or one of shapes, as one file an endpoint; files of endpoints that it does not have stay, with
 * their date.
 * @throws FedwayError `REQUEST_INVALID` when the collection cannot be read; nothing is changed then
 */
export async function refreshPublished(collectionFile: string, folder: string): Promise<Refreshed> {
  const { files, isOfShapes } = filesOf(await readFile(collectionFile, "utf8").catch(refuse("cannot be read")));
  const place = isOfShapes ? join(folder, "shapes") : folder;
  await makeFolder(place);
  const written: string[] = [];
  for (const [id, text] of files) {
    const path = join(place, `${id}.json`);
    if ((await readFile(path, "utf8").catch(() => undefined)) === text) continue;
    await writeFile(path, text);
    written.push(id);
  }
  return { written, unchanged: files.size - written.length };
}

/** Texts of the files by id. */
interface Files {
  readonly files: ReadonlyMap<string, string>;
  readonly isOfShapes: boolean;
}

function filesOf(text: string): Files {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "endpoints" in value) {
      return { files: shapeFiles(value), isOfShapes: true };
    }
    const validator = Compile(collection);
    if (!validator.Check(value)) throw fault(validator.Errors(value));
    const files = new Map(value.facts.map((each) => [each.id, checked(fileOf(each, value.asOf))] as const));
    return { files, isOfShapes: false };
  } catch (error) {
    return refuse("is no collection of published facts or shapes")(error);
  }
}

function shapeFiles(value: object): Files["files"] {
  const validator = Compile(shapeCollection);
  if (!validator.Check(value)) throw fault(validator.Errors(value));
  const { asOf, sources, endpoints } = value;
  const urls = new Map(endpoints.map(({ id, url }) => [id, url]));
  const files = endpoints.map((each) => {
    const text = factsFileText(shapesFileOf(each, { asOf, urls, sources: sourcesOf(each, sources) }));
    publishedShapes(parseShapesFile(text));
    return [each.id, text] as const;
  });
  return new Map(files);
}

type Sources = FactsFile["sources"];

/** Those that its shapes are from. */
const sourcesOf = ({ shapes = [], models = [] }: Shaped, all: Sources): Sources => {
  const places = new Set([...shapes, ...models].flatMap(({ src = [] }) => src));
  return all.filter((_, at) => places.has(at));
};

interface ShapesAbout {
  readonly asOf: string;
  readonly urls: ReadonlyMap<string, string>;
  readonly sources: Sources;
}

function shapesFileOf({ url, like = [], typeBy, terms, shapes, models }: Shaped, about: ShapesAbout): object {
  const bare = (all: Shaped["shapes"] = []) =>
    filled(
      all.map((each) => ({ of: each.of, star: each.star, chain: each.chain, uses: each.uses, graph: each.graph })),
    );
  const fields = { typeBy, terms, shapes: bare(shapes), models: bare(models) };
  const others = filled(like.flatMap((id) => about.urls.get(id) ?? []));
  return { format: 1, url, asOf: about.asOf, like: others, ...fields, sources: about.sources };
}

const fault = ([first]: readonly { readonly instancePath: string; readonly message: string }[]): TypeError =>
  new TypeError(`${first?.instancePath ?? "/"} ${first?.message ?? "does not fit"}`);

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
      next: "It is JSON with format, asOf and facts or endpoints; catalog/README.md describes it.",
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
