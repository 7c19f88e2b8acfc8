import { healthStates } from "../../monitor/monitor.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { nearest } from "../../errors/nearest.ts";
import type { EntryFilter } from "../../registry/find.ts";
import { CatalogEntry } from "../../registry/catalog.ts";

/** Endpoints on one page unless the request says otherwise. */
const pageSize = 25;
const longest = { q: 500, keyword: 200, class: 2048, property: 2048 } as const;

/** A text that a form sent; a field that was left empty is no filter. @throws FedwayError `REQUEST_INVALID` */
function textOf(query: URLSearchParams, name: keyof typeof longest): string | undefined {
  const text = query.get(name)?.trim() ?? "";
  if (text.length <= longest[name]) return text === "" ? undefined : text;
  throw new FedwayError("REQUEST_INVALID", `"${name}" is longer than ${longest[name]} characters.`);
}

/** One of a closed list of names, or nothing. @throws FedwayError `REQUEST_INVALID` */
export function choiceOf<Name extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly Name[],
): Name | undefined {
  const text = query.get(name) ?? "";
  if (text === "") return undefined;
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  const [like] = nearest(text, choices);
  throw new FedwayError("REQUEST_INVALID", `"${name}" has a value that is not known.`, {
    next: like === undefined ? `Known are ${choices.join(", ")}.` : `Did you mean ${like}?`,
  });
}

/** A whole number within limits. @throws FedwayError `REQUEST_INVALID` */
function numberOf(query: URLSearchParams, name: string, range: { least: number; most: number; usual: number }): number {
  const text = query.get(name) ?? "";
  if (text === "") return range.usual;
  const value = /^\d{1,7}$/.test(text) ? Number(text) : -1;
  if (value >= range.least && value <= range.most) return value;
  throw new FedwayError("REQUEST_INVALID", `"${name}" is no number from ${range.least} to ${range.most}.`);
}

/**
 * Filter of a person, in the parameters of `GET /api/endpoints`; unknown parameters are ignored, as links
 * pick some up on their way. @throws FedwayError `REQUEST_INVALID`
 */
export function readCatalogFilter(query: URLSearchParams): EntryFilter {
  const filter = {
    q: textOf(query, "q"),
    class: textOf(query, "class"),
    property: textOf(query, "property"),
    keyword: textOf(query, "keyword"),
    status: choiceOf(query, "status", healthStates),
    interface: choiceOf(query, "interface", CatalogEntry.properties.interface.enum),
  };
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  return {
    ...given,
    limit: numberOf(query, "limit", { least: 1, most: 200, usual: pageSize }),
    offset: numberOf(query, "cursor", { least: 0, most: 1_000_000, usual: 0 }),
  };
}

/** Parameters that are not what they are without being said, in the order of the form. */
export function filterParameters({ limit, offset, ...wanted }: EntryFilter): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const name of ["q", "class", "property", "keyword", "status", "interface"] as const) {
    const value = wanted[name];
    if (value !== undefined) parameters.set(name, value);
  }
  if (limit !== pageSize) parameters.set("limit", String(limit));
  if (offset > 0) parameters.set("cursor", String(offset));
  return parameters;
}

/** The page that shows what is asked for. */
export function catalogPath(filter: EntryFilter): string {
  const parameters = filterParameters(filter).toString();
  return parameters === "" ? "/" : `/?${parameters}`;
}

/** The page of all endpoints with this value in one field. */
export const catalogPathBy = (name: "keyword" | "class" | "property", value: string): string =>
  catalogPath({ [name]: value, limit: pageSize, offset: 0 });
