import { createHash } from "node:crypto";

/** A statement as its terms, in N-Triples syntax, and the shard that it lies in. */
export interface Row {
  readonly shard: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
}

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
/** Shares of things that are dropped, of those that are doubled, and of values that change places. */
const shares = { dropped: 0.3, doubled: 0.6, moved: 0.6, relinked: 0.8, near: 0.7 } as const;

/** The values that queries compare with, by property in N-Triples syntax. */
export type Constants = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The same dataset with other facts, whose classes, properties and datatypes stay: some things are dropped with all that refers to
 * them, some are doubled with other values, also with those that queries compare with, and some values of each property change places. Values that repeat a key of a linked
 * thing (`concert#stadium_id` beside a link to the stadium) stay what they are, so that queries by key and by link agree.
 */
export function alteredRows(
  rows: readonly Row[],
  { seed, constants }: { readonly seed: string; readonly constants: Constants },
): readonly Row[] {
  const chance = (...parts: readonly string[]): number =>
    createHash("md5")
      .update([seed, ...parts].join("\n"))
      .digest()
      .readUInt32BE() /
    2 ** 32;
  const gone = droppedSubjects(rows, (subject) => chance("drop", subject) < shares.dropped);
  const kept = rows.filter(({ subject, object }) => !gone.has(subject) && !gone.has(object));
  const keys = linkedKeys(kept);
  const movable = kept.filter(({ predicate, object }) => object.startsWith('"') && !keys.has(predicate));
  const moved = new Map<Row, string>();
  for (const own of Map.groupBy(movable, poolOf).values()) {
    const order = own
      .filter(({ subject, predicate, object }) => chance("move", subject, predicate, object) < shares.moved)
      .map((row) => ({ row, at: chance("order", row.subject, row.predicate, row.object) }))
      .toSorted((left, right) => left.at - right.at || (left.row.subject < right.row.subject ? -1 : 1));
    for (const [at, { row }] of order.entries())
      moved.set(row, order[(at + 1) % order.length]?.row.object ?? row.object);
  }
  const others = Map.groupBy(movable, poolOf);
  const twinOf = (thing: string, twin: number): string | undefined =>
    chance("double", thing, String(twin)) < shares.doubled && subjects.has(thing)
      ? `${thing.slice(0, -1)}-copy${twin}>`
      : undefined;
  const subjects = new Set(kept.map(({ subject }) => subject));
  const bySubject = Map.groupBy(kept, ({ subject }) => subject);
  /** The thing that a twin links to where the thing itself has a twin. */
  const relinked = ({ subject, predicate, object }: Row, twin: number): string | undefined =>
    predicate !== type && chance("relink", subject, predicate) < shares.relinked ? twinOf(object, twin) : undefined;
  const keyOf = (thing: string, key: string, twin: number): string => nextKey(key, chance("key", thing, String(twin)));
  const valueOf = (row: Row, twin: number): string => {
    const { subject, predicate, object } = row;
    if (!object.startsWith('"')) return relinked(row, twin) ?? object;
    const { isKey, links } = keys.get(predicate) ?? { isKey: false };
    if (isKey) return keyOf(subject, object, twin);
    if (links === undefined) return otherValue(row, twin);
    const link = bySubject.get(subject)?.find((each) => links.has(each.predicate) && relinked(each, twin));
    return link === undefined ? object : keyOf(link.object, object, twin);
  };
  const otherValue = (row: Row, twin: number): string => {
    const { subject, predicate, object } = row;
    const own = (others.get(poolOf(row)) ?? []).map((other) => other.object);
    const near = [...(constants.get(predicate) ?? [])].flatMap((constant) => nearOf(constant, object, own));
    const isNear = near.length > 0 && chance("near", subject, predicate, String(twin)) < shares.near;
    const values = isNear ? near : own;
    return values[Math.floor(chance("other", subject, predicate, String(twin)) * values.length)] ?? object;
  };
  const most = kept.length < fewRows ? 3 : 1;
  const twins = Array.from({ length: most }, (_, twin) =>
    kept.flatMap((row): readonly Row[] => {
      const subject = twinOf(row.subject, twin);
      return subject === undefined ? [] : [{ ...row, subject, object: valueOf(row, twin) }];
    }),
  );
  return kept.map((row) => withObject(row, moved.get(row) ?? row.object)).concat(twins.flat());
}

const withObject = ({ shard, subject, predicate }: Row, object: string): Row => ({ shard, subject, predicate, object });

/** Datasets of fewer statements have up to three twins of a thing. */
const fewRows = 20_000;

/** Chosen things and, again and again, those that link to them, as rows of a table that refer to others go with them. */
function droppedSubjects(rows: readonly Row[], isChosen: (subject: string) => boolean): ReadonlySet<string> {
  const subjects = new Set(rows.map(({ subject }) => subject));
  const referring = Map.groupBy(
    rows.filter(({ predicate, object }) => predicate !== type && subjects.has(object)),
    ({ object }) => object,
  );
  // Things that many others refer to stay, or little would be left.
  const few = 5;
  const pending = [...subjects].filter((subject) => (referring.get(subject)?.length ?? 0) <= few && isChosen(subject));
  const gone = new Set<string>();
  for (let subject = pending.pop(); subject !== undefined; subject = pending.pop()) {
    if (gone.has(subject)) continue;
    gone.add(subject);
    for (const row of referring.get(subject) ?? []) pending.push(row.subject);
  }
  return gone;
}

interface LinkedKey {
  /** Other things repeat it. */
  isKey: boolean;
  /** Links to the things whose key it repeats. */
  links: Set<string> | undefined;
}

/** Properties whose values are, wherever a thing links to another, those of a property of the other, which is a key. */
function linkedKeys(rows: readonly Row[]): ReadonlyMap<string, LinkedKey> {
  const bySubject = Map.groupBy(rows, ({ subject }) => subject);
  const seen = new Map<
    string,
    { readonly link: string; readonly copy: string; readonly key: string; isEqual: boolean }
  >();
  for (const { subject, predicate: link, object } of rows) {
    const linked = link === type ? undefined : bySubject.get(object);
    if (linked === undefined) continue;
    for (const left of literalsOf(bySubject.get(subject))) {
      for (const right of literalsOf(linked)) {
        const name = `${link} ${left.predicate} ${right.predicate}`;
        const pair = seen.get(name) ?? { link, copy: left.predicate, key: right.predicate, isEqual: true };
        pair.isEqual &&= left.object === right.object;
        seen.set(name, pair);
      }
    }
  }
  const keys = new Map<string, LinkedKey>();
  const of = (name: string): LinkedKey => {
    const known = keys.get(name) ?? { isKey: false, links: undefined };
    keys.set(name, known);
    return known;
  };
  for (const { link, copy, key, isEqual } of seen.values()) {
    if (!isEqual) continue;
    of(key).isKey = true;
    of(copy).links = (of(copy).links ?? new Set()).add(link);
  }
  return keys;
}

const literalsOf = (rows: readonly Row[] = []): readonly Row[] => rows.filter(({ object }) => object.startsWith('"'));

/** A literal with another text and the same datatype or language. */
const withText = (object: string, text: string): string => `"${text}"${object.slice(object.lastIndexOf('"') + 1)}`;
const textOf = (object: string): string => object.slice(1, object.lastIndexOf('"'));

/** Another value of a key. */
function nextKey(object: string, chance: number): string {
  const more = String(Math.floor(chance * 1e6)).padStart(6, "0");
  return withText(object, /^\d+$/u.test(textOf(object)) ? `9${more}` : `${textOf(object)} ${more}`);
}

/** Values change places within a shard, so that no shard has matches of constants that it had none of. */
const poolOf = ({ shard, predicate }: Row): string => `${shard} ${predicate}`;

/** A constant and its neighbours, as values of the property of `object`: numbers one up and down, texts with more behind. */
function nearOf(constant: string, object: string, known: readonly string[]): readonly string[] {
  const near = (text: string): string => withText(object, text);
  if (/^-?\d{1,15}$/u.test(constant)) return [-1, 0, 1].map((by) => near(String(Number(constant) + by)));
  return [near(`${constant} too`), ...[near(constant)].filter((each) => known.includes(each))];
}
