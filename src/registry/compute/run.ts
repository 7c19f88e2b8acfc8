import type { Count, MeasurementRecord } from "../void/void-description.ts";
import type { Agenda } from "./agenda.ts";
import type { DescribeTarget } from "./describer.ts";
import { isCut } from "./evidence.ts";
import type { FactBase } from "./fact-base.ts";
import type { Family, FamilyName } from "./families.ts";
import { type Observation, readObservation, solutionsOf } from "./observation.ts";
import { type Dialect, groupsQuery, type Selection } from "./queries.ts";
import type { Session, Unanswered } from "./session.ts";
import { StopRun } from "./stop-run.ts";

/** The most that was seen of a key in one family. */
export interface Best {
  readonly groups: number;
  readonly solutions: number;
}

/** All solutions of a list family and its distinct keys. */
export interface ListTotal {
  readonly solutions: number;
  /** Undefined where only solutions can be counted. */
  readonly keys: number | undefined;
  readonly record: number;
}

/** One run of the describer and what it has learnt of its endpoint. */
export interface Run {
  readonly target: DescribeTarget;
  readonly session: Session;
  readonly base: FactBase;
  /** What the publisher's description says: keys worth asking for, and a second way to what agrees with it. */
  readonly claims: FactBase;
  readonly agenda: Agenda;
  dialect: Dialect;
  /** Rows after which answers are cut; absent: unknown, or none. */
  cap: number | undefined;
  /** An answer with 20,000 rows came whole. */
  uncapped: boolean;
  /** Keys in one query. */
  readonly mostKeys: number;
  /** Characters of all keys in one query. */
  readonly mostText: number;
  /** Rows taken in so far, which bounds what is kept. */
  rowsSeen: number;
  /** Keys that were counted slice by slice, which takes many queries. */
  sliced: number;
  /** Two answers contradicted each other: nothing that is found from now on is called exact or complete. */
  lies: boolean;
  /** Work (solutions) above which an answer has been caught lacking some. */
  lieWork: number;
  /** Solutions that a count of the first ones looks at; shrinks while that is too much. */
  limit: number;
  /** Weight from which single keys of a family have failed: heavier ones are not tried. */
  readonly heavy: Map<FamilyName, number>;
  /** Families whose global query failed or was cut. */
  readonly tooMuch: Map<FamilyName, "failed" | "cut">;
  /** Solutions and distinct keys of the list families, each counted in one row. */
  readonly listTotals: Map<FamilyName, ListTotal>;
  readonly best: Map<FamilyName, Map<string, Best>>;
  /** Tells the caller how far the run is. */
  readonly progress: (stage: string, done: number, total: number) => void;
}

/** Rows of one run; each may be a fact that is kept. */
const mostRowsSeen = 2_000_000;

/** Asks for the groups of a family and reads them. */
export async function observe(
  run: Run,
  family: Family,
  options: { readonly selection: Selection; readonly rung: MeasurementRecord["rung"] },
): Promise<Observation | Unanswered> {
  const { selection, rung } = options;
  const outcome = await run.session.ask({ query: groupsQuery(family, selection, run.dialect), rung });
  if (!outcome.ok) return outcome;
  const { answer, record, sound } = outcome;
  run.rowsSeen += answer.rows.length;
  if (run.rowsSeen > mostRowsSeen) throw new StopRun("budget");
  const only = selection.keys?.length === 1 ? selection.keys[0] : undefined;
  const observation = readObservation(answer, {
    family,
    ...(only !== undefined && { only }),
    record,
    rung,
    sound,
    cut: !hasAll(family, selection, answer.rows.length) && isCutFor(run, answer.rows.length),
    counted: run.dialect.count,
  });
  return observation;
}

/** A row for each of the keys that were asked for: there can be no more. */
function hasAll(family: Family, { keys }: Selection, rows: number): boolean {
  return family.detail.length === 0 && keys !== undefined && rows === keys.length;
}

/** Whether an answer with so many rows may have been cut at this endpoint. */
export function isCutFor(run: Run, rows: number): boolean {
  // A cap above the 20,000 rows of the probe is as unknown as any.
  return run.uncapped && rows < 20_000 ? false : isCut(rows, run.cap);
}

/** Whether it is an observation. */
export const isSeen = (outcome: Observation | Unanswered): outcome is Observation => "groups" in outcome;

/** Notes what an observation showed of a key; whether it is more than before. */
export function improves(
  run: Run,
  family: Family,
  at: { readonly key: string; readonly observation: Observation },
): boolean {
  const groups = at.observation.groups.get(at.key);
  const seen: Best = { groups: groups?.size ?? 0, solutions: solutionsOf(groups) ?? 0 };
  const ofFamily = run.best.get(family.name) ?? new Map<string, Best>();
  run.best.set(family.name, ofFamily);
  const before = ofFamily.get(at.key);
  ofFamily.set(at.key, {
    groups: Math.max(seen.groups, before?.groups ?? 0),
    solutions: Math.max(seen.solutions, before?.solutions ?? 0),
  });
  return before !== undefined && (seen.groups > before.groups || seen.solutions > before.solutions);
}

/** Remembers that an answer about so much work lacked some of it. */
export function caughtLying(run: Run, work: number, record: number): void {
  run.lies = true;
  run.lieWork = Math.min(run.lieWork, Math.max(1, work));
  run.agenda.note({ what: silentLoss, why: "partial", record });
}

/** Name of the unknown fact that keeps an endpoint's contradictions across runs. */
export const silentLoss = "answers that contradict each other without saying that they are partial";

/** What a key weighs: solutions of its own pattern, as far as known. */
export function weightIn({ base, claims }: Run, family: Family): (key: string) => number {
  return (key) => (countOf(base, family, key) ?? countOf(claims, family, key))?.value ?? 1;
}

function countOf({ classes, properties, namedGraphs }: FactBase, family: Family, key: string): Count | undefined {
  if (family.key === "c") return classes.get(key)?.entities;
  return (family.key === "p" ? properties : namedGraphs).get(key)?.triples;
}
