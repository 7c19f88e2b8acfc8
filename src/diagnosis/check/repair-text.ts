import { FedwayError, type Repair } from "../../errors/fedway-error.ts";
import { dialectEdits, offsetAt, type Query, substituted } from "../../sparql/query.ts";
import { withBraces } from "./braces.ts";
import { querySlices } from "./foreign-text.ts";
import { type KnownNames, withNames } from "./known-names.ts";
import { type TextAttempt, withServiceNames } from "./service-names.ts";
import { withTable } from "./table-query.ts";
import { readTokens, updateVerb } from "./update-to-select.ts";

/** Sources for repairs of a text. */
export interface RepairSources {
  /** True for the id of an endpoint or federation. */
  readonly isId: (id: string) => boolean;
  /** The text as the planner reads it, or its error. */
  readonly read: (text: string) => ReadText | FedwayError;
  readonly names: KnownNames;
}

/** A legal text, or one that was made legal. */
export interface ReadText {
  /** With its prefixes declared. */
  readonly text: string;
  /** Of `text` with catalogue ids replaced by URLs. */
  readonly parsed: Query;
  readonly repairs: readonly Repair[];
}

/** A text that could not be made to run. */
export interface UnrepairedText {
  /** Why, at its place in the text as it was written. */
  readonly error: FedwayError;
  /** The text without what stands around the query. */
  readonly core: string;
  /** A text that would run, if it shows how its writer must be understood. */
  readonly offered?: Pick<ReadText, "text" | "repairs"> | undefined;
}

/** Longer texts are not repaired. */
const longestRepaired = 100_000;
const mostAttempts = 60;
/** Characters that are parsed in all attempts with each set of steps, where an attempt counts as four thousand at least. */
const mostParsed = 200_000;
const fewestOfAttempt = 4_000;
/** Faults of one text. */
const mostSteps = 40;

/** A text on its way, and why it does not parse yet. */
interface Draft {
  readonly text: string;
  readonly error: FedwayError;
  readonly repairs: readonly Repair[];
}

/** Ways to mend a text at its error. */
type Step = (draft: Draft, sources: RepairSources) => Iterable<TextAttempt>;

/** Repairs that cannot change what a text means. */
export const ownFaults: readonly Step[] = [
  ({ text }, sources) => withServiceNames(text, sources),
  ({ text }) => withBraces(text),
];
/** Those, and others that are only offered: habits of other languages, written as in SPARQL. */
export const anyFaults: readonly Step[] = [
  ...ownFaults,
  ({ text }, { names }) => withTable(text, names),
  ({ text, error }, { names }) => withNames(text, error, names),
  withDialect,
];

/**
 * Makes a text parse that does not: takes out what stands around the query (code fences, reasoning tags, prose), closes
 * braces, reads names of endpoints, and whatever else some steps do. Every result is parsed.
 * @returns the error of an update that the text holds; undefined when nothing helps
 */
export function* repairText(
  text: string,
  sources: RepairSources,
  steps: readonly Step[],
): Steps<ReadText | UnrepairedText | undefined> {
  if (text.length > longestRepaired) return undefined;
  const budget = { characters: mostParsed };
  for (const { start, end, repairs } of querySlices(text).take(mostAttempts)) {
    if (budget.characters < 0) break;
    const core = text.slice(start, end);
    const found = yield* repairedCore(core, sources, { steps, budget });
    if (!(found instanceof FedwayError)) return { ...found, repairs: [...repairs, ...found.repairs] };
    const isUpdate = found.code === "UPDATE_REFUSED" && updateVerb(text, start) !== undefined;
    if (isUpdate) return { core, error: movedBy(found, text, start) };
  }
  return undefined;
}

interface Repairing {
  readonly steps: readonly Step[];
  /** Remaining budget. */
  readonly budget: { characters: number };
}

/** Work between whose steps others may have a turn (`inTurns`): each parses a text, or finds one to parse. */
export type Steps<Result> = Generator<void, Result>;

/** The query in a part of the text, with its own faults mended one after the other; else its error. */
function* repairedCore(
  core: string,
  sources: RepairSources,
  { steps, budget }: Repairing,
): Steps<ReadText | FedwayError> {
  const read = ({ text, repairs }: TextAttempt): ReadText | Draft => {
    budget.characters -= Math.max(text.length, fewestOfAttempt);
    const found = sources.read(text);
    if (found instanceof FedwayError) return { text, error: found, repairs };
    return { ...found, repairs: [...repairs, ...found.repairs] };
  };
  const first = read({ text: core, repairs: [] });
  if ("parsed" in first) return first;
  const seen = new Set([core]);
  const open = [branchOf(first, steps, sources)];
  while (open.length > 0 && budget.characters >= 0) {
    // Finding the next attempt may take as long as parsing one.
    yield;
    const nearest = open.reduce((best, each) => (each.left < best.left ? each : best));
    const { done, value: attempt } = nearest.attempts.next();
    if (done === true) open.splice(open.indexOf(nearest), 1);
    if (attempt === undefined || seen.has(attempt.text)) continue;
    seen.add(attempt.text);
    yield;
    const next = read({ text: attempt.text, repairs: [...nearest.draft.repairs, ...attempt.repairs] });
    if ("parsed" in next) return next;
    if (next.repairs.length < mostSteps) open.push(branchOf(next, steps, sources));
  }
  return first.error;
}

/** A text on its way with what can still be tried at its error. */
interface Branch {
  readonly draft: Draft;
  /** Unread characters, and a little for each change. */
  readonly left: number;
  readonly attempts: Iterator<TextAttempt>;
}

const branchOf = (draft: Draft, steps: readonly Step[], sources: RepairSources): Branch => ({
  draft,
  left: unread(draft) + costOfChange * draft.repairs.length,
  attempts: attemptsOf(draft, steps, sources),
});

const costOfChange = 2;

function* attemptsOf(draft: Draft, steps: readonly Step[], sources: RepairSources): Generator<TextAttempt> {
  // Beyond the bounds of a text nothing can be read of it.
  if (readTokens(draft.text) !== undefined) for (const step of steps) yield* step(draft, sources);
}

/** Characters from the error on. */
const unread = (draft: Draft): number => draft.text.length - placeOf(draft);

const placeOf = ({ text, error }: Draft): number => {
  const { line = 1, column = 1 } = error.details.where ?? {};
  return offsetAt(text, line, column - 1);
};

function* withDialect(draft: Draft): Generator<TextAttempt> {
  const { text, error } = draft;
  for (const { kind, why, edit } of dialectEdits(text, placeOf(draft), error.message)) {
    const written = substituted(text, edit).text;
    if (written === text) continue;
    const before = shown(edit.map(({ start, end }) => text.slice(start, end)));
    const after = shown(edit.map((part) => part.text));
    yield { text: written, repairs: [{ kind: `dialect-${kind}`, before, after, applied: false, why }] };
  }
}

const shown = (parts: readonly string[]): string =>
  parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join(" ... ");

/** The error of a part, at its place in the whole. */
function movedBy(error: FedwayError, whole: string, start: number): FedwayError {
  const moved = substituted(whole, [{ start: 0, end: start, text: "" }]).relocated(error);
  return moved instanceof FedwayError ? moved : error;
}
