import type { VoidDescription } from "../void/void-description.ts";
import type { ChosenClasses } from "./choose-classes.ts";
import { plainText } from "./plain-text.ts";

/** First line of a view: whose schema it is. */
export function viewTitle({ id, title, endpoint, unfinished }: VoidDescription): string {
  const name = plainText(title ?? id ?? "", 80);
  const url = plainText(endpoint, 200);
  return `${name === "" ? url : `${name}, ${url}`}${unfinished ? " (description unfinished)" : ""}`;
}

/** A line for each wanted class that the description does not have. */
export function notFoundText(notFound: ChosenClasses["notFound"]): readonly string[] {
  return notFound.map(({ name, nearest }) => {
    const hint = nearest.length === 0 ? "" : `; similar: ${nearest.join(", ")}`;
    return `No class ${name} in the description${hint}`;
  });
}
