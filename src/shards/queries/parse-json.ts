import { FedwayError } from "../../errors/fedway-error.ts";
import { type EntryFields, type EntryFilter, entryOf, isWanted, type QueryEntry } from "./query-entry.ts";

/**
 * The entries of a JSON array of objects with `id`, `sparql` (or `query`, `text`) and `question`. What is no object
 * becomes an entry without text.
 * @throws FedwayError `REQUEST_INVALID` for what is no JSON array
 */
export function entriesFromJson(text: string, only: EntryFilter = {}): readonly QueryEntry[] {
  const value = parsed(text);
  if (!Array.isArray(value)) {
    throw new FedwayError("REQUEST_INVALID", "The queries are JSON, but no array.", {
      next: 'Write [{"id": "q1", "sparql": "SELECT ...", "question": "..."}].',
    });
  }
  return value.flatMap((entry: unknown, index) => {
    const place = `entry ${index + 1}`;
    if (!isFields(entry)) return [{ place, problem: "The entry is no object." }];
    return isWanted(entry, only) ? [entryOf(entry, place)] : [];
  });
}

const isFields = (value: unknown): value is EntryFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replaceAll(/\s+/g, " ").slice(0, 200) : "";
    throw new FedwayError("REQUEST_INVALID", `The queries are not valid JSON: ${reason}.`, { cause });
  }
}
