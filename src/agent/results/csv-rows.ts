import { itemAt, valueFor } from "../../values.ts";
import { wellKnownPrefixes } from "../../rdf/well-known-prefixes.ts";
import { iriParts, plainText, valueText } from "../../rdf/display-text.ts";

type Rows = readonly (readonly (string | null)[])[];

/** Rows as CSV with the prefixes that their IRIs are shortened with. */
export interface CsvRows {
  /** `PREFIX p: <...>`, as SPARQL writes them. */
  readonly prefixes: readonly string[];
  /**
   * `name:type` of each column: iri, string, @en, integer ...; `name:@en|string` where cells differ, the commonest type first:
   * its cells are plain, the others are SPARQL terms.
   */
  readonly header: string;
  readonly lines: readonly string[];
  /** Some cells are longer than what is shown of them. */
  readonly cut: boolean;
}

/** A cell in N-Triples syntax, taken apart. */
interface Cell {
  /** Type of the column when all cells have it. */
  readonly type: string;
  readonly value: string;
}

const xsd = "http://www.w3.org/2001/XMLSchema#";

/**
 * Writes rows for a model: the type of a column once in the header instead of in each cell, IRIs with prefixes. Cells are
 * data of strangers: control characters are escaped, and what is longer than `mostCharacters` is cut.
 * @param queryText whose own prefixes are preferred
 */
export function csvRows(
  columns: readonly string[],
  rows: Rows,
  { queryText, mostCharacters }: { readonly queryText: string; readonly mostCharacters: number },
): CsvRows {
  const cells = rows.map((row) => row.map((cell) => (cell === null ? null : cellOf(cell))));
  const prefixOf = choosePrefixes(cells.flat(), queryText);
  const types = columns.map((_name, at) => typesOf(cells.flatMap((row) => row[at] ?? [])));
  const used = new Set<string>();
  let cut = false;
  const write = (cell: Cell | null, of: readonly string[]): string => {
    if (cell === null) return "";
    const text = valueText(cellText(cell, of, shorten), mostCharacters);
    if (text.endsWith("…")) cut = true;
    return quoted(text, cell.type !== "iri");
  };
  const shorten = (iri: string): string => {
    const { namespace, local } = iriParts(iri);
    const prefix = prefixOf.get(namespace);
    if (prefix === undefined || !safeLocal.test(local)) return `<${iri}>`;
    used.add(namespace);
    return `${prefix}:${local}`;
  };
  const lines = cells.map((row) => row.map((cell, at) => write(cell, itemAt(types, at))).join(","));
  const prefixes = [...used].toSorted().map((namespace) => `PREFIX ${valueFor(prefixOf, namespace)}: <${namespace}>`);
  const header = columns.map((name, at) => quoted([name, ...headed(itemAt(types, at))].join(":"), false)).join(",");
  return { prefixes, header, lines, cut };
}

/** Local names that SPARQL takes without escapes. */
const safeLocal = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$/;

/** @param text as `termToText` writes it, so that the last quotation mark ends the literal */
function cellOf(text: string): Cell {
  if (text.startsWith("<") && !text.startsWith("<<")) return { type: "iri", value: text.slice(1, -1) };
  if (!text.startsWith('"')) return { type: text.startsWith("_:") ? "blank" : "term", value: text };
  const end = text.lastIndexOf('"');
  return { type: literalType(text.slice(end + 1)), value: unescaped(text.slice(1, end)) };
}

/** `string`, `@en`, `integer`, `<http://...>`, from what follows the quotation mark. */
function literalType(suffix: string): string {
  if (suffix === "") return "string";
  if (suffix.startsWith("@")) return suffix;
  const datatype = suffix.slice("^^<".length, -1);
  return datatype.startsWith(xsd) ? datatype.slice(xsd.length) : `<${plainText(datatype, 120)}>`;
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["b", "\b"],
  ["f", "\f"],
]);

const unescaped = (text: string): string =>
  text.replaceAll(/\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)/gs, (_all, escape: string) => {
    if (escape.length === 1) return escapes.get(escape) ?? escape;
    const code = Number.parseInt(escape.slice(1), 16);
    return code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
  });

/** The types of cells, the commonest first. */
function typesOf(cells: readonly Cell[]): readonly string[] {
  const groups = [...Map.groupBy(cells, ({ type }) => type)];
  return groups.toSorted(([, left], [, right]) => right.length - left.length).map(([type]) => type);
}

const mostHeaded = 3;

const headed = (types: readonly string[]): readonly string[] =>
  types.length === 0 ? [] : [[...types.slice(0, mostHeaded), ...(types.length > mostHeaded ? ["…"] : [])].join("|")];

/** Types whose values SPARQL writes without quotation marks, and how these look. */
const bare: ReadonlyMap<string, RegExp> = new Map([
  ["integer", /^[+-]?\d+$/],
  ["decimal", /^[+-]?\d*\.\d+$/],
  ["boolean", /^(?:true|false)$/],
]);

/** A text that could be taken for the term that another cell of its column is. */
const termLike = /^(?:['"<]|_:|[\w.-]*:\S*$|[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$|(?:true|false)$)/i;

/** Plain in the column's own type; other cells as SPARQL writes them, with single quotation marks, which CSV does not double. */
function cellText(
  { type, value }: Cell,
  [own, ...others]: readonly string[],
  shorten: (iri: string) => string,
): string {
  if (type === "iri") return shorten(value);
  if (type === own && (others.length === 0 || !termLike.test(value))) return value;
  if (type === "blank" || type === "term" || bare.get(type)?.test(value)) return value;
  const text = `'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
  if (type === "string") return text;
  if (type.startsWith("@")) return text + type;
  return `${text}^^${type.startsWith("<") ? type : `xsd:${type}`}`;
}

/** RFC 4180; an empty literal differs from an unbound cell. */
const quoted = (text: string, isLiteral: boolean): string =>
  /[",]/.test(text) || (isLiteral && text === "") ? `"${text.replaceAll('"', '""')}"` : text;

const mostPrefixes = 20;
const declarations = /PREFIX\s+([A-Za-z][\w.-]{0,30}):\s*<([^<>"{}|^`\\\s]{1,300})>/gi;

/** A prefix for each namespace that is used often enough to be worth one: the query's, else well known, else a made-up one. */
function choosePrefixes(cells: readonly (Cell | null)[], queryText: string): ReadonlyMap<string, string> {
  const own = new Map([...queryText.slice(0, 20_000).matchAll(declarations)].map(([, name, iri]) => [iri, name]));
  const chosen = new Map<string, string>();
  const names = new Set<string>();
  for (const namespace of frequentNamespaces(cells)) {
    const known = own.get(namespace) ?? wellKnownPrefixes.get(namespace);
    const prefix = known === undefined || names.has(known) ? `n${chosen.size + 1}` : known;
    chosen.set(namespace, prefix);
    names.add(prefix);
  }
  return chosen;
}

/** Most frequent first. */
function frequentNamespaces(cells: readonly (Cell | null)[]): readonly string[] {
  const iris = cells.flatMap((cell) => (cell?.type === "iri" ? cell.value : []));
  const counts = new Map<string, number>();
  for (const iri of iris) {
    const { namespace } = iriParts(iri);
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  return [...counts]
    .filter(([namespace, count]) => count > 1 && namespace.length <= 300 && plainNamespace.test(namespace))
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, mostPrefixes)
    .map(([namespace]) => namespace);
}

const plainNamespace = /^[a-z][a-z0-9+.-]*:[^\s<>"{}|^`\\]*$/i;
