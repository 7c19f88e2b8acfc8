import type { Random } from "../../../support/random.ts";
import { tokenize } from "../../../../src/sparql/query.ts";
import type { GoldQuery } from "./gold-queries.ts";
import { type Desk, run } from "./scripted-agent.ts";

/** Properties and texts of the endpoints of a query, by the IRI of the class or property. */
export interface DataSchema {
  readonly propertiesOf: ReadonlyMap<string, readonly string[]>;
  readonly valuesOf: ReadonlyMap<string, readonly string[]>;
}

/** A query that is broken by means of its data's schema. */
export interface SchemaMistake {
  readonly kind: string;
  readonly text: string;
  /** The broken query asks for something that the data do not have: its empty answer is right. */
  readonly isRightEmpty: boolean;
}

const prefixOf = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/PREFIX\s+([\w-]*:)\s*<([^>]*)>/gi)].map(([, prefix = "", iri = ""]) => [prefix, iri]));

const columns = async (desk: Desk, gold: GoldQuery, text: string): Promise<readonly (readonly (string | null)[])[]> =>
  (await run(desk, { ...gold, text })).rows;

/** Reads classes with their properties, and some texts of each property, where a federation is asked. */
export async function readSchema(desk: Desk, gold: GoldQuery): Promise<DataSchema> {
  const pairs = await columns(desk, gold, "SELECT DISTINCT ?c ?p { ?s a ?c ; ?p ?o }");
  const texts = await columns(desk, gold, "SELECT DISTINCT ?p ?o { ?s ?p ?o FILTER(isLiteral(?o)) } LIMIT 4000");
  const grouped = (rows: readonly (readonly (string | null)[])[]): Map<string, string[]> => {
    const found = new Map<string, string[]>();
    for (const [key, value] of rows) found.set(key ?? "", [...(found.get(key ?? "") ?? []), value ?? ""]);
    return found;
  };
  return { propertiesOf: grouped(pairs), valuesOf: grouped(texts) };
}

function pick<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items.length === 0 ? undefined : items[random.below(items.length)];
}

/** Breaks a query in each of the ways that its schema gives. */
export function schemaMistakes({ text }: GoldQuery, schema: DataSchema, random: Random): readonly SchemaMistake[] {
  const prefixes = prefixOf(text);
  const tokens = tokenize(text);
  const names = tokens.flatMap((token, at) => {
    if (token.kind !== "pname" || tokens[at - 1]?.text.toUpperCase() === "PREFIX" || tokens[at - 1]?.text === "^^")
      return [];
    const cut = token.text.indexOf(":") + 1;
    const namespace = prefixes.get(token.text.slice(0, cut)) ?? "";
    const iri = (namespace + token.text.slice(cut)).replaceAll("\\", "");
    const isClass = schema.propertiesOf.has(iri);
    return tokens[at + 1]?.kind === "iri" ? [] : [{ token, iri, isClass }];
  });
  const everywhere = (name: string, by: string): string =>
    tokens
      .filter((each) => each.kind === "pname" && each.text === name)
      .toReversed()
      .reduce((changed, { start, end }) => changed.slice(0, start) + by + changed.slice(end), text);
  const property = pick(
    names.filter(({ isClass, iri }) => !isClass && iri.includes("#")),
    random,
  );
  const type = pick(
    names.filter(({ isClass }) => isClass),
    random,
  );
  const siblings = [...schema.propertiesOf.values()].filter((all) => property && all.includes(property.iri)).flat();
  const sibling = pick(
    siblings.filter((iri) => iri !== property?.iri && !iri.endsWith("#type")),
    random,
  );
  const otherClass = pick(
    [...schema.propertiesOf.keys()].filter((iri) => iri !== type?.iri),
    random,
  );
  const found: SchemaMistake[] = [];
  const add = (kind: string, broken: string | undefined, isRightEmpty = false): void => {
    if (broken !== undefined && broken !== text) found.push({ kind, text: broken, isRightEmpty });
  };
  if (property) {
    const name = property.token.text;
    const [table = "", column = ""] = name.split("\\#");
    add("property: table.column", everywhere(name, `${table}.${column}`));
    add("property: column alone", everywhere(name, `:${column}`));
    add("property: of a word", everywhere(name, `${table}\\#${column.split(/[_-]/).at(-1)}_name`));
    add("property: sibling", sibling && everywhere(name, `<${sibling}>`));
  }
  if (type) add("class: another", otherClass && everywhere(type.token.text, `<${otherClass}>`));
  for (const each of constantMistakes(text, schema, random)) add(each.kind, each.text, each.isRightEmpty);
  for (const each of addedMistakes(text)) add(each.kind, each.text, each.isRightEmpty);
  return found;
}

/** Another value, or a bound that leaves nothing, for one constant of a comparison. */
function constantMistakes(text: string, schema: DataSchema, random: Random): readonly SchemaMistake[] {
  const tokens = tokenize(text);
  const constants = tokens.filter(
    (token, at) =>
      (token.kind === "string" || token.kind === "number") &&
      ["=", "<", ">", "<=", ">="].includes(tokens[at - 1]?.text ?? ""),
  );
  const constant = pick(constants, random);
  const replaced = ({ start, end }: { start: number; end: number }, by: string): string =>
    text.slice(0, start) + by + text.slice(end);
  if (!constant) return [];
  const before = tokens[tokens.indexOf(constant) - 1]?.text ?? "";
  const value = pick([...schema.valuesOf.values()].flat(), random);
  const mistake = (kind: string, is: boolean, by: string | undefined): readonly SchemaMistake[] =>
    is && by !== undefined ? [{ kind, text: replaced(constant, by), isRightEmpty: true }] : [];
  return [
    ...mistake("value: of another property", constant.kind === "string", value),
    ...mistake("bound: too high", before.startsWith(">"), "987654321"),
    ...mistake("bound: too low", before.startsWith("<"), "-987654321"),
    ...mistake("number: none", before === "=" && constant.kind === "number", "987654321"),
  ];
}

/** A condition that leaves nothing. */
function addedMistakes(text: string): readonly SchemaMistake[] {
  const variable = tokenize(text).find(({ kind }) => kind === "var")?.text ?? "?s";
  const close = text.lastIndexOf("}");
  const group = /group\s+by/i.test(text);
  const added = [
    ["filter: added", true, `${text.slice(0, close)} FILTER(STR(${variable}) = "no such thing") ${text.slice(close)}`],
    ["having: too high", group && !/having|order\s+by/i.test(text), `${text.trimEnd()} HAVING(COUNT(*) > 98765)`],
    ["offset: too far", !/offset|limit/i.test(text), `${text} OFFSET 98765`],
  ] as const;
  return added.flatMap(([kind, is, broken]) => (is ? [{ kind, text: broken, isRightEmpty: true }] : []));
}
