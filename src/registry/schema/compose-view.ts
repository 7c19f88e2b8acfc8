import { estimateTokens } from "../../token-estimate.ts";
import type { BuiltFacts, VoidDescription, Count, FactStatus } from "../descriptions/void-description.ts";
import type {
  ChosenClasses,
  SchemaClass,
  SchemaDetail,
  SchemaFact,
  SchemaJson,
  SchemaPath,
  SchemaProperty,
  SchemaView,
  CountValue,
  ValueExamples,
} from "./schema-view.ts";
import type { Part } from "./part-lines.ts";
import type { PrefixTable } from "./prefixes.ts";
import { plainText } from "../../rdf/display-text.ts";

/** Parts of a view. */
export interface ViewContent {
  readonly description: VoidDescription;
  readonly table: PrefixTable;
  readonly chosen: ChosenClasses;
  readonly examples: readonly ValueExamples[];
  /** The endpoint's labels of classes and properties whose names say little, by IRI. */
  readonly labels: ReadonlyMap<string, string>;
  readonly parts: readonly Part[];
  /** The classes at both ends of a property, as the builder of a shard states them. */
  readonly built: ReadonlyMap<string, BuiltEnds>;
  /** URL of the document that holds the view. */
  readonly document?: string | undefined;
}

/** Classes of the subjects and objects of a property in the dataset that a shard is a part of. */
export type BuiltEnds = Pick<BuiltFacts["properties"][number], "subjectClasses" | "objectClasses">;

/** One line, with the facts in it for the JSON. */
export interface ViewLine {
  readonly text: string;
  /** Prefixes that must be declared for it. */
  readonly prefixes?: readonly string[];
  readonly fact?: SchemaFact;
  readonly class?: SchemaClass;
  readonly property?: SchemaProperty;
  readonly path?: SchemaPath | undefined;
  readonly part?: Part;
  readonly examples?: ValueExamples | undefined;
  /** Known properties, and values and ranges, that the line does not show. */
  readonly properties?: number | undefined;
  readonly values?: number | undefined;
}

/** The lines of a view. */
export interface ViewLines {
  /** Lines that say what the view is. */
  readonly head: readonly string[];
  /**
   * The lines, most important first, each with at most `mostProperties` properties. Undefined stands for a line whose names
   * are too long to be shown.
   */
  readonly body: (mostProperties: number) => Iterable<ViewLine | undefined>;
  /** Lines for the room that is left behind the others; those that find none count as nothing left out. */
  readonly spare?: Iterable<ViewLine>;
  /** Number of lines that `body` gives. */
  readonly total: number;
  /** Name of the lines, in the plural. */
  readonly unit: string;
  /** How to get the omitted parts. */
  readonly more: string;
  /** Stands before the notice of lines that were left out, in views that are no plain text. */
  readonly notice?: (omitted: number) => string;
  readonly complete: boolean;
}

interface Framing {
  readonly content: ViewContent;
  readonly detail: SchemaDetail;
  readonly maxTokens: number;
}

/** Most properties a line, tried in turn until every line fits; else the last holds. */
const propertyLimits = [400, 40, 15, 6] as const;
/** Lines that may be skipped as too long for the rest of the budget before the others are given up. */
const mostMisses = 10;

/** Puts lines, the prefixes they need and a notice of what was left out into the budget, a line at a time. */
export function* composeView(lines: ViewLines, framing: Framing): Generator<void, SchemaView> {
  const reserve = estimateTokens(noticeText(lines, lines.total)) + 1;
  let filled: Filled | undefined;
  for (const limit of propertyLimits) {
    const whole = yield* fill(lines, framing, { limit, reserve: 0 });
    if (whole.missed + whole.longNames === 0) return finish(whole, lines, framing);
    filled = yield* fill(lines, framing, { limit, reserve });
    if (filled.missed === 0) break;
  }
  return finish(filled ?? (yield* fill(lines, framing, { limit: propertyLimits[3], reserve })), lines, framing);
}

interface Filled {
  readonly head: readonly string[];
  readonly shown: readonly ViewLine[];
  readonly spare: readonly ViewLine[];
  readonly prefixes: ReadonlySet<string>;
  /** Lines that were tried and did not fit. */
  readonly missed: number;
  readonly longNames: number;
}

function* fill(lines: ViewLines, framing: Framing, how: { limit: number; reserve: number }): Generator<void, Filled> {
  let left = framing.maxTokens - how.reserve;
  const takes = (cost: number): boolean => {
    if (cost > left) return false;
    left -= cost;
    return true;
  };
  const head = lines.head.filter((line) => takes(estimateTokens(line) + 1));
  const prefixes = new Set<string>();
  const shown: ViewLine[] = [];
  const put = (line: ViewLine, into: ViewLine[]): boolean => {
    const fresh = [...new Set(line.prefixes)].filter((prefix) => !prefixes.has(prefix));
    const cost = [line.text, ...fresh.map((prefix) => framing.content.table.declaration(prefix))]
      .map((text) => estimateTokens(text) + 1)
      .reduce((sum, tokens) => sum + tokens, 0);
    if (!takes(cost)) return false;
    into.push(line);
    for (const prefix of fresh) prefixes.add(prefix);
    return true;
  };
  let missed = lines.head.length - head.length;
  let longNames = 0;
  for (const line of lines.body(how.limit)) {
    yield;
    if (line === undefined) {
      longNames++;
      continue;
    }
    if (!put(line, shown) && (++missed >= mostMisses || how.reserve === 0)) break;
  }
  const spare: ViewLine[] = [];
  let spareMisses = 0;
  for (const line of lines.spare ?? []) if (!put(line, spare) && ++spareMisses >= mostMisses) break;
  return { head, shown, spare, prefixes, missed, longNames };
}

const noticeText = ({ total, unit, more, notice }: ViewLines, omitted: number): string =>
  `${notice?.(omitted) ?? ""}${omitted} of ${total} ${unit} left out; ${more}`;

function finish(filled: Filled, lines: ViewLines, framing: Framing): SchemaView {
  const { head, shown, spare, longNames } = filled;
  const prefixes = [...filled.prefixes].toSorted();
  const omitted = {
    lines: lines.total - shown.length,
    properties: sum(shown.map((line) => line.properties ?? 0)),
    values: sum(shown.map((line) => line.values ?? 0)),
    longNames,
  };
  const told = [
    ...head,
    ...prefixes.map((prefix) => framing.content.table.declaration(prefix)),
    ...[...shown, ...spare].map((line) => line.text),
  ];
  const withNotice = omitted.lines === 0 ? told : [...told, noticeText(lines, omitted.lines)];
  // A budget that is too small for the notice alone leaves nothing to say.
  const text = [withNotice, told].map((all) => all.join("\n")).find((each) => fits(each, framing)) ?? "";
  return {
    text,
    json: asJson(framing, prefixes, [...shown, ...spare]),
    truncated: omitted.lines + omitted.properties + omitted.values > 0 || head.length < lines.head.length,
    omitted,
    estimatedTokens: estimateTokens(text),
    complete: lines.complete,
  };
}

const fits = (text: string, { maxTokens }: Framing): boolean => estimateTokens(text) <= maxTokens;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function asJson({ content, detail }: Framing, prefixes: readonly string[], shown: readonly ViewLine[]): SchemaJson {
  const { notFound } = content.chosen;
  return {
    detail,
    endpoint: content.description.endpoint,
    prefixes: Object.fromEntries(prefixes.map((prefix) => [prefix, content.table.namespace(prefix) ?? ""])),
    ...(detail === "summary" && { facts: shown.flatMap((line) => line.fact ?? []) }),
    ...(detail !== "paths" && { classes: shown.flatMap((line) => line.class ?? []) }),
    ...(detail === "lines" && { properties: shown.flatMap((line) => line.property ?? []) }),
    ...(shown.some((line) => line.examples) && { examples: shown.flatMap((line) => line.examples ?? []) }),
    ...(shown.some((line) => line.part) && { parts: shown.flatMap((line) => line.part ?? []) }),
    ...(detail === "paths" && { paths: shown.flatMap((line) => line.path ?? []) }),
    ...(notFound.length > 0 && { notFound }),
  };
}

/** Legend of the marks of `countText` in views. */
export const marksLegend = "~ sampled, >= at least, ? unknown";

/** Writes counts of one description. */
type CountWriter = (count: Count | undefined, known?: FactStatus) => string;

/**
 * How counts of this description are written: `12`, `>=12` (lower bound), `~12` (sampled), `12*` (stated by the
 * publisher, where the description is mixed), `?` (unknown), `~?` (seen in a sample, never counted).
 */
export function countWriter(description: VoidDescription): CountWriter {
  const claimedMark = description.source === "mixed" ? "*" : "";
  return (count, known) => {
    if (!isKnown(count)) return known === "sampled" ? "~?" : "?";
    if (count.status === "sampled") return `~${count.value}`;
    if (count.status === "lowerBound" || count.status === "exists") return `>=${count.value}`;
    return count.status === "claimed" ? `${count.value}${claimedMark}` : String(count.value);
  };
}

/** How the legend names what the publisher and the builder of a shard state; empty when there is nothing of it. */
export function claimedLegend({ source, built }: VoidDescription): string {
  const builder = built === undefined ? "" : ", ^ stated by the shard builder";
  if (source === "mixed") return `, * stated by the publisher${builder}`;
  return source === "retrieved" ? `; all as stated by the publisher${builder}` : builder;
}

/** A count for JSON. */
export const countValue = (count: Count | undefined): CountValue =>
  isKnown(count) ? { value: count.value, status: count.status } : null;

const isKnown = (count: Count | undefined): count is Count =>
  Number.isFinite(count?.value) && (count?.value ?? -1) >= 0;

/** First line of a view: whose schema it is, and where its data are when a plain pattern would find nothing. */
export function viewTitle({ id, title, endpoint, unfinished, namedGraphs }: VoidDescription): string {
  const name = plainText(title ?? id ?? "", 80);
  const url = plainText(endpoint, 200);
  const where = namedGraphs === undefined ? "" : "; the default graph is empty, write GRAPH ?g { ... }";
  return `${name === "" ? url : `${name}, ${url}`}${unfinished ? " (description unfinished)" : ""}${where}`;
}

/** A line for each wanted class that the description does not have. */
export function notFoundText(notFound: ChosenClasses["notFound"]): readonly string[] {
  return notFound.map(({ name, nearest }) => {
    const hint = nearest.length === 0 ? "" : `; similar: ${nearest.join(", ")}`;
    return `No class ${name} in the description${hint}`;
  });
}
