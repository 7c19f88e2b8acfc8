import { createHash } from "node:crypto";
import type { PlannedEndpoint } from "./query-plan.ts";
import type { AskedPattern, Exclusion, Exclusions, HolderQuestion } from "./source-selection.ts";

/** A unit that a member is not asked for, or not with all of its rows, by facts about the member's triples. */
interface Pruning {
  readonly endpoint: PlannedEndpoint;
  /** Milliseconds since the epoch: when the facts about the member were seen. */
  readonly seenAt: number;
  readonly question: HolderQuestion;
  /** Indices of the rows that it is asked with. */
  readonly held: readonly number[];
}

/**
 * Memory limits of one run: rows of keys, and times that a member was not asked with some; and bytes of keys in one existence query.
 */
const mostRows = 20_000;
const mostNotes = 50_000;
const mostBytes = 32_768;
/** Rows of an existence query in the background. */
const sampled = 64;

/**
 * Questions that copies of triples spared the members of one run, recorded so that they can be verified: by existence queries for
 * the same patterns with the same keys.
 */
export class PrunedKeys {
  /** By the text of a unit, then by URL. */
  readonly #units = new Map<string, Map<string, Pruning[]>>();
  /** Ids of the members of each unit, once the keys are forgotten. */
  #kept: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  #asked: ReadonlySet<string> = new Set();
  #rows = 0;
  #notes = 0;
  #last: HolderQuestion | undefined;
  #isSampled = false;

  /** Some keys were not remembered, or are too many for one query. */
  get isSampled(): boolean {
    return this.#isSampled;
  }

  /** Ids of the members that were not asked for a unit. */
  get endpoints(): readonly string[] {
    const all = new Set<string>();
    for (const ids of this.#ids().values()) for (const id of ids) all.add(id);
    return [...all];
  }

  /** True if a member must be asked regardless of facts. */
  asks(id: string | undefined): boolean {
    return id !== undefined && this.#asked.has(id);
  }

  add(pruning: Pruning): void {
    const { question, endpoint } = pruning;
    const unit = question.patterns.map((pattern) => pattern.join(" ")).join(" . ");
    const members = this.#units.get(unit) ?? new Map<string, Pruning[]>();
    this.#units.set(unit, members);
    const before = members.get(endpoint.url) ?? [];
    members.set(endpoint.url, before);
    if (this.#last !== question) this.#rows += question.rows.length;
    this.#last = question;
    this.#isSampled ||= this.#rows > mostRows || ++this.#notes > mostNotes;
    // The first at least.
    if (!this.#isSampled || before.length === 0) before.push(pruning);
  }

  /** Starts again, with members that must be asked regardless of facts. */
  clear(asked: readonly string[] = [...this.#asked]): void {
    this.#asked = new Set(asked);
    this.#units.clear();
    this.#kept = new Map();
    this.#rows = 0;
    this.#notes = 0;
    this.#last = undefined;
    this.#isSampled = false;
  }

  /** Forgets the keys: they are verified, or are to be. */
  settle(): void {
    const ids = this.#ids();
    this.clear();
    this.#kept = ids;
  }

  /** True if an endpoint was not asked for one of these patterns, which an existence query asked about. */
  has(endpoint: string, keys: readonly string[]): boolean {
    return this.#ids()
      .entries()
      .some(([unit, ids]) => ids.has(endpoint) && keys.some((key) => `${key} #`.startsWith(`${unit} #`)));
  }

  #ids(): ReadonlyMap<string, ReadonlySet<string>> {
    if (this.#units.size === 0) return this.#kept;
    const ids = new Map<string, ReadonlySet<string>>();
    for (const [unit, members] of this.#units) {
      ids.set(unit, new Set([...members.values()].flatMap(([one]) => one?.endpoint.id ?? [])));
    }
    return ids;
  }

  /**
   * Questions that must have no match: each unit with its keys, large ones sampled.
   * @param isExact true if questions with other keys are other questions; else one counts for all
   */
  exclusions(isExact: boolean): Exclusions | undefined {
    const byUrl = new Map<string, Exclusion & { readonly patterns: AskedPattern[] }>();
    for (const [unit, members] of this.#units) {
      for (const [url, noted] of members) {
        const [first] = noted;
        if (first === undefined) continue;
        const exclusion = byUrl.get(url) ?? { endpoint: first.endpoint, seenAt: first.seenAt, patterns: [] };
        byUrl.set(url, exclusion);
        exclusion.patterns.push(isExact ? this.#exactly(unit, noted) : loosely(unit, noted));
      }
    }
    return byUrl.size === 0 ? undefined : { list: [...byUrl.values()], decisive: false };
  }

  #exactly(unit: string, noted: readonly Pruning[]): AskedPattern {
    const blocks = valuesOf(noted, Number.POSITIVE_INFINITY);
    const isLong = blocks.length > mostBytes;
    this.#isSampled ||= isLong;
    if (isLong) return loosely(unit, noted);
    const keys = createHash("sha256").update(blocks).digest("base64url");
    return { key: blocks === "" ? unit : `${unit} #${keys}`, text: `${blocks}${unit}` };
  }
}

const loosely = (unit: string, noted: readonly Pruning[]): AskedPattern => ({
  key: noted.some(({ question }) => question.variables.length === 0) ? unit : `${unit} #keys`,
  // Written only when it is asked.
  get text() {
    return `${valuesOf(noted, sampled)}${unit}`;
  },
});

/** The pruned keys as UNION of VALUES; "" without keys. At most `most` rows, spread over all, other ones each time. */
function valuesOf(noted: readonly Pruning[], most: number): string {
  const blocks = new Map<string, Set<string>>();
  for (const { question, held } of noted) {
    const isHeld = new Set(held);
    const names = question.variables.map((name) => `?${name}`).join(" ");
    const rows = blocks.get(names) ?? new Set<string>();
    blocks.set(names, rows);
    for (const [index, text] of rowTexts(question).entries()) if (!isHeld.has(index)) rows.add(text);
  }
  // Without keys no other question says more.
  if (blocks.has("")) return "";
  const all = [...blocks].map(([names, rows]) => `{ VALUES (${names}) { ${spread([...rows], most).join(" ")} } }`);
  return `${all.join(" UNION ")} `;
}

/** Written once for all members. */
function rowTexts(question: HolderQuestion): readonly string[] {
  const texts =
    written.get(question) ?? question.rows.map((row) => `(${row.map((text) => text || "UNDEF").join(" ")})`);
  written.set(question, texts);
  return texts;
}

const written = new WeakMap<HolderQuestion, readonly string[]>();

function spread(rows: readonly string[], most: number): readonly string[] {
  if (rows.length <= most) return rows;
  const step = rows.length / most;
  const from = Math.random() * step;
  return Array.from({ length: most }, (_, at) => rows[Math.floor(from + at * step)] ?? "");
}
