import type { PublishedFigure, ComparedFigure } from "./compared-figures.ts";
import { elsewhere } from "./query-shards.ts";

const longestText = 400;

/** A text from outside, on one line and not too long for a page. */
export function brief(text: string, most = longestText): string {
  const line = text.replaceAll(/\s+/gu, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most).toWellFormed()} …`;
}

const whole = new Intl.NumberFormat("en");
const decimal = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** `1,234`. */
export const numberText = (value: number): string => whole.format(value);

/** `1 shard`, `3 shards`. */
export const amountText = (value: number, one: string, several = `${one}s`): string =>
  `${numberText(value)} ${value === 1 ? one : several}`;

/** A fraction of 1 as `4.84 %`; less than all is never 100 %, more than nothing never 0 %. */
export function shareText(share: number): string {
  if (share === 0 || share === 1) return `${share * 100} %`;
  return `${Math.min(99.99, Math.max(0.01, share * 100)).toFixed(2)} %`;
}

/** `3.7`, or of several observations `mean 3.7, median 4, 2 to 8`; unknown figures are left out. */
export function figureText({ mean, median, min, max }: PublishedFigure, unit: ComparedFigure["unit"]): string {
  const text = (value: number): string => (unit === "share" ? shareText(value) : decimal.format(value));
  const range = min === undefined || max === undefined ? undefined : `${text(min)} to ${text(max)}`;
  if (min !== undefined && min === max) return text(min);
  return [
    mean === undefined ? undefined : `${median === undefined ? "" : "mean "}${text(mean)}`,
    median === undefined ? undefined : `median ${text(median)}`,
    range,
  ]
    .filter((part) => part !== undefined)
    .join(", ");
}

/** Figures under a name: of one dataset, or of datasets whose shards were made alike. */
export interface FigureColumn {
  readonly title: string;
  readonly figures: readonly ComparedFigure[];
}

/** Every figure that any of the columns has beside the published one, in words, in the order in which they come first. */
export function figureRows(columns: readonly FigureColumn[]) {
  const known = columns.map(({ figures }) => new Map(figures.map((figure) => [figure.id, figure])));
  const each = new Map(columns.flatMap(({ figures }) => figures.map((figure) => [figure.id, figure])));
  return [...each.values()].map(({ id, title, definition, unit, published }) => ({
    id,
    title,
    definition,
    /** In the order of the columns; undefined where it is not known. */
    values: known.map((figures) => {
      const value = figures.get(id)?.value;
      return value === undefined ? undefined : figureText(value, unit);
    }),
    /** Undefined where nothing comparable was published. */
    published: published === undefined ? undefined : figureText(published, unit),
  }));
}

/** Short names of IRIs. */
export type NameOf = (iri: string) => string;

const localOf = (iri: string): string => /(?<![^/#])[^/#]+$/u.exec(iri.slice(0, 2000))?.[0] ?? iri;

/**
 * Text after the last `/`, or after it the `#`, where no other of these IRIs ends alike; else the whole IRI.
 * @param groups of terms: the first one stands for all
 */
export function createNames(iris: Iterable<string>, groups: readonly (readonly string[])[] = []): NameOf {
  const users = new Map<string, number>();
  for (const iri of new Set(iris)) users.set(localOf(iri), (users.get(localOf(iri)) ?? 0) + 1);
  const others = new Map(groups.map((terms) => [terms[0], terms.length - 1]));
  return (iri) => {
    const name = brief(users.get(localOf(iri)) === 1 ? localOf(iri) : iri, 120);
    const more = others.get(iri) ?? 0;
    return more === 0 ? name : `${name} (and ${more} more)`;
  };
}

/** The parts of `h/<class>/<bucket>`, `c/<class>`, `v/<predicate>`, `base`, `base/<bucket>`, `elsewhere`. */
export function partsOfKey(key: string) {
  if (key === elsewhere) return { kind: "elsewhere" };
  const iri = key.slice(2);
  if (key.startsWith("c/")) return { kind: "class", iri };
  if (key.startsWith("v/")) return { kind: "vertical", iri };
  if (!key.startsWith("h/")) return { kind: "base", bucket: key.split("/")[1] };
  const end = iri.lastIndexOf("/");
  return { kind: "horizontal", iri: iri.slice(0, end), bucket: iri.slice(end + 1) };
}

/** `instances of Person, bucket 0`, `triples with price`, ... */
export function shardWords(key: string, nameOf: NameOf): string {
  const { kind, iri = "", bucket = "" } = partsOfKey(key);
  switch (kind) {
    case "horizontal":
      return `instances of ${nameOf(iri)}, bucket ${brief(bucket, 10)}`;
    case "class":
      return `instances of ${nameOf(iri)}`;
    case "vertical":
      return `triples with ${nameOf(iri)}`;
    case "base":
      return `base: what no rule claims${bucket === "" ? "" : `, bucket ${bucket}`}`;
    default:
      return elsewhere;
  }
}
