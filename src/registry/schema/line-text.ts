import type { Count, FactStatus, VoidDescription } from "../void/void-description.ts";
import type { CountValue, ChosenClasses } from "./schema-view.ts";
import { plainText } from "./text.ts";

/** What the marks of `countText` mean, as told in the views. */
export const marksLegend = "~ sampled, >= at least, ? unknown";

/** Writes counts of one description. */
type CountWriter = (count: Count | undefined, known?: FactStatus) => string;

/**
 * How counts of this description are written: `12`, `>=12` (lower bound), `~12` (sampled), `12*` (told by the
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

/** How the legend names the publisher's counts; empty when there are none. */
export function claimedLegend({ source }: VoidDescription): string {
  if (source === "mixed") return ", * told by the publisher";
  return source === "retrieved" ? "; all as told by the publisher" : "";
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
