import type { VoidDescription } from "../void/void-description.ts";
import type { ChosenClasses } from "./choose-classes.ts";
import { plainText } from "./plain-text.ts";

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
