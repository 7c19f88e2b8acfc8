/** A query as a file gives it, not yet looked at. */
export interface QueryEntry {
  /** Where it was found, for messages: "entry 3", "line 12", "all-dogs.rq". */
  readonly place: string;
  readonly id?: string;
  readonly text?: string;
  readonly question?: string;
  /** Why it cannot be used, a sentence. */
  readonly problem?: string;
}

/** Values that fields of an entry must have for the entry to count. */
export type EntryFilter = Readonly<Record<string, string>>;

/** The fields of an entry; only its own, as names come from files. */
export type EntryFields = Readonly<Record<string, unknown>>;

/** Names of the field that holds the query, the first that is there counts. */
export const textFields = ["sparql", "query", "text"] as const;

/** The entry that some fields make; a number is taken as text. */
export function entryOf(fields: EntryFields, place: string): QueryEntry {
  const textField = textFields.find((name) => textIn(fields, name) !== undefined);
  const id = textIn(fields, "id")?.trim();
  const text = textField === undefined ? undefined : textIn(fields, textField);
  const question = textIn(fields, "question")?.trim();
  return {
    place,
    ...(text === undefined && { problem: "The entry has no text under sparql, query or text." }),
    ...(id !== undefined && id !== "" && { id }),
    ...(text !== undefined && { text }),
    ...(question !== undefined && question !== "" && { question }),
  };
}

/** The entry is one of those asked for. */
export function isWanted(fields: EntryFields, only: EntryFilter): boolean {
  return Object.entries(only).every(([name, value]) => textIn(fields, name) === value);
}

function textIn(fields: EntryFields, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}
