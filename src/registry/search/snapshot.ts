import { createHash } from "node:crypto";
import type { FactStatus } from "../void/void-description.ts";
import { createState, type IndexedDescription, type IndexState, putEntry, takeTerm } from "./index-state.ts";
import type { CurrentState, Restored, SearchLimits } from "./search-index.ts";
import { type Term, termKey } from "./term-table.ts";

/** Grows when the form of snapshots changes. */
const format = 1;
const beginning = /^\{"format":(\d{1,9}),"sha256":"([0-9a-f]{64})","content":/;

type StoredTerm = readonly [kind: "c" | "p", iri: string, label?: string];
type StoredUse = readonly [term: number, value?: number, status?: FactStatus];

interface StoredDescription extends Omit<IndexedDescription, "keys"> {
  readonly id: string;
  readonly uses: readonly StoredUse[];
}

/** Descriptions as far as they are indexed. The entries are at hand at every start, and words are quickly indexed again. */
interface Content {
  readonly terms: readonly StoredTerm[];
  readonly descriptions: readonly StoredDescription[];
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The state as JSON, with its own checksum; undefined beyond the limit. */
export function writeSnapshot(state: IndexState): string | undefined {
  const terms = [...state.table.all()];
  const numberOf = new Map(terms.map(({ key }, number) => [key, number]));
  const content: Content = {
    terms: terms.map(storedTerm),
    descriptions: [...state.endpoints].flatMap(([id, { described }]) =>
      described === undefined ? [] : storedDescription(state, id, { described, numberOf }),
    ),
  };
  const text = JSON.stringify(content);
  if (Buffer.byteLength(text) > state.limits.snapshotBytes) return undefined;
  return `{"format":${format},"sha256":"${sha256(text)}","content":${text}}`;
}

function storedTerm({ kind, iri, label }: Term): StoredTerm {
  const letter = kind === "class" ? "c" : "p";
  return label === undefined ? [letter, iri] : [letter, iri, label];
}

function storedDescription(
  { table }: IndexState,
  id: string,
  { described, numberOf }: { described: IndexedDescription; numberOf: ReadonlyMap<string, number> },
): StoredDescription {
  const { keys, ...rest } = described;
  const uses = keys.map((key): StoredUse => {
    const count = table.endpointsOf(key).get(id);
    const number = numberOf.get(key) ?? -1;
    return count === undefined ? [number] : [number, count.value, count.status];
  });
  return { id, ...rest, uses };
}

/** The state of a snapshot, brought up to date; a new one from the entries where the snapshot is of no use. */
export function readSnapshot(
  text: string,
  current: CurrentState,
  limits: SearchLimits,
): { readonly state: IndexState; readonly restored: Restored } {
  const stored = storedState(text, current, limits);
  const state = stored ?? createState(limits);
  for (const entry of current.entries) putEntry(state, entry.id, entry);
  const missing = [...current.descriptions.keys()].filter((id) => state.endpoints.get(id)?.described === undefined);
  return { state, restored: { usable: stored !== undefined, missing: missing.toSorted() } };
}

function storedState(text: string, current: CurrentState, limits: SearchLimits): IndexState | undefined {
  try {
    const content = verifiedContent(text);
    return content === undefined ? undefined : rebuilt(content, current, limits);
  } catch {
    // Whatever is wrong with a snapshot, the index can be built without it.
    return undefined;
  }
}

/** The checksum proves that the content is what `writeSnapshot` wrote. */
function verifiedContent(text: string): Content | undefined {
  const [start = "", version, digest] = beginning.exec(text.slice(0, 200)) ?? [];
  const content = text.slice(start.length, -1);
  if (version !== String(format) || sha256(content) !== digest) return undefined;
  const parsed: Content = JSON.parse(content);
  return parsed;
}

/** Descriptions that have not changed since. */
function rebuilt({ terms, descriptions }: Content, current: CurrentState, limits: SearchLimits): IndexState {
  const state = createState(limits);
  const known = terms.map(([letter, iri, label]): Term => {
    const kind = letter === "c" ? "class" : "property";
    return { key: termKey(kind, iri), kind, iri, label };
  });
  for (const { id, uses, ...rest } of descriptions) {
    if (current.descriptions.get(id) !== rest.version) continue;
    const keys = uses.flatMap(([number, value, status]) => {
      const term = known[number];
      if (term === undefined) throw new Error("the snapshot names a term that it does not have");
      const count = value === undefined || status === undefined ? undefined : { value, status };
      return takeTerm(state, term, { id, count }) ? term.key : [];
    });
    // Smaller limits than those of the snapshot keep terms out now.
    const fewer = uses.length - keys.length;
    const described = { ...rest, keys, leftOut: rest.leftOut + fewer };
    state.endpoints.set(id, { described: fewer === 0 ? described : withoutProofs(described) });
  }
  return state;
}

const withoutProofs = (described: IndexedDescription): IndexedDescription => ({
  ...described,
  classesComplete: false,
  propertiesComplete: false,
});
