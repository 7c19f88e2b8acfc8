import { expectedSize } from "./expected-size.ts";
import { type Baseline, isFound, learnedRuns, type Outcome, type Run, type Watch } from "./watch.ts";

const mostPoints = 256;
const pointEveryMs = 2 * 3_600_000;
const mostKinds = 16;
const mostResults = 30;
/** With the name of the watch it fits in an incident. */
const longestSummary = 190;

type Deviations = Readonly<Record<string, string>>;

/** How a run differs from the baseline, in a sentence for each kind. */
export function deviationsOf(base: Baseline | undefined, outcome: Outcome): Deviations {
  if (base === undefined || outcome.status === "not run") return {};
  if (outcome.status === "failed") {
    const isNews = base.fails !== true && base.runs >= learnedRuns;
    return isNews ? { error: `The query fails: ${outcome.why ?? ""}` } : {};
  }
  return { ...shapeOf(base, outcome), ...slowness(base, outcome), ...undescribed(base, outcome) };
}

/** A term that is gone explains all other differences. */
function shapeOf(base: Baseline, outcome: Outcome): Deviations {
  const expected = expectedSize(base.points, outcome);
  const columns = columnsOf(base, outcome);
  const gone = goneOf(base, outcome);
  // Where the answer is as expected, as on each Sunday, a term may be missing for a while.
  const mayLack = expected?.fits !== true || Object.keys(columns).length > 0;
  if (mayLack && gone.length > 0) return { term: `The endpoint has no ${listed(gone)} any more.` };
  return expected?.fits === false ? { ...sizeText(outcome, expected.size), ...columns } : columns;
}

const goneOf = (base: Baseline, { terms = {} }: Outcome): readonly string[] =>
  Object.keys(terms).filter((term) => terms[term] === 0 && (base.terms[term] ?? 0) > 0);

function sizeText({ size }: Outcome, expected: number): Deviations {
  const usual = `usually about ${Math.round(expected)}`;
  if (size === 0) return { empty: `The answer is empty; its size is ${usual}.` };
  return { count: `The size of the answer is ${size}, ${usual}.` };
}

const listed = (texts: readonly string[]): string =>
  texts.length > 3 ? `${texts.slice(0, 3).join(", ")} and ${texts.length - 3} more` : texts.join(", ");

function columnsOf({ columns, runs }: Baseline, outcome: Outcome): Deviations {
  if (runs < learnedRuns || outcome.size === 0) return {};
  for (const [name, { least, kinds, newAt }] of Object.entries(columns)) {
    // Endpoints choose the names, such as "constructor".
    const column = Object.hasOwn(outcome.columns, name) ? outcome.columns[name] : undefined;
    const { bound, kinds: found } = column ?? { bound: 0, kinds: {} };
    const isSure = least > 0.9 || least * outcome.size >= 5;
    if (isSure && bound === 0) return { column: `?${name} is unbound.` };
    const unseen = Object.keys(found).filter((kind) => !kinds.includes(kind));
    const share = unseen.reduce((sum, kind) => sum + (found[kind] ?? 0), 0);
    // Columns in which new kinds go on to appear are not judged by them.
    const isSettled = runs - newAt >= Math.max(learnedRuns - 1, runs / 2) && kinds.length < mostKinds;
    if (isSettled && share > 0.5) return { kind: `?${name} is ${listed(unseen)}, before ${listed(kinds)}.` };
  }
  return {};
}

/** An order of magnitude, and beyond all that was seen. */
function slowness({ points, runs }: Baseline, { ms }: Outcome): Deviations {
  const sorted = points.map((point) => point.ms).toSorted((one, other) => one - other);
  const median = sorted[sorted.length >> 1] ?? ms;
  const isSlow = runs >= 2 * learnedRuns && ms >= 2_000 && ms >= 10 * median && ms >= 2 * (sorted.at(-1) ?? ms);
  return isSlow ? { slow: `It takes ${Math.round(ms)} ms, usually ${Math.round(median)} ms.` } : {};
}

function undescribed(base: Baseline, { described = {}, terms = {} }: Outcome): Deviations {
  const lost = Object.keys(terms).filter((term) => described[term] === false && base.described[term] === true);
  const held = lost.filter((term) => (terms[term] ?? 0) > 0);
  return held.length === 0
    ? {}
    : { description: `The renewed description lacks ${listed(held)}, which the endpoint still has.` };
}

const nothing: Omit<Baseline, "last"> = { runs: 0, points: [], columns: {}, terms: {}, termsMs: 0, described: {} };

/** The baseline with one more run. */
function learn(known: Baseline | undefined, outcome: Outcome): Baseline {
  const before = known ?? nothing;
  const { columns, terms, described, ...last } = outcome;
  const { atMs, size, ms } = last;
  const isNext = atMs - (before.points.at(-1)?.atMs ?? 0) >= pointEveryMs;
  return {
    runs: before.runs + 1,
    last,
    points: isNext ? [...before.points, { atMs, size, ms }].slice(-mostPoints) : before.points,
    columns: size === 0 ? before.columns : mergedColumns(before.columns, columns, before.runs + 1),
    ...(terms === undefined ? { terms: before.terms, termsMs: before.termsMs } : { terms, termsMs: atMs }),
    described: { ...before.described, ...described },
  };
}

function mergedColumns(before: Baseline["columns"], columns: Outcome["columns"], run: number) {
  const merged = Object.entries(columns).map(([name, { bound, kinds: found }]) => {
    const { least = bound, kinds = [], newAt = 0 } = before[name] ?? {};
    const fresh = Object.keys(found).filter((kind) => !kinds.includes(kind));
    const all = [...kinds, ...fresh].slice(0, mostKinds);
    return [name, { least: Math.min(least, bound), kinds: all, newAt: fresh.length > 0 ? run : newAt }] as const;
  });
  return Object.fromEntries(merged);
}

/** True if a run can be judged for this kind of change. */
function judges({ status, terms, described }: Outcome, kind: string): boolean {
  if (kind === "term") return terms !== undefined;
  return kind === "description" ? described !== undefined : status !== "failed" || kind === "error";
}

const runText = (when: string, { status, size, run = "", atMs, why }: Run): string =>
  `${when} ${new Date(atMs).toISOString()}: ${why ?? `${status}, size ${size}`}; run ${run}`.slice(0, 300);

/** The watch after a run at an endpoint, with its updated baseline and deviations. */
export function advance(watch: Watch, outcome: Outcome, endpoint: string): Watch {
  const { columns: _columns, terms: _terms, described: _described, ...run } = outcome;
  const found = deviationsOf(watch.baseline, outcome);
  const kinds = Object.keys(found);
  const results = [...watch.results, { ...run, ...(kinds.length > 0 && { drifts: kinds }) }].slice(-mostResults);
  const confirmed = Object.entries(watch.drifts).filter(([, drift]) => isFound(drift));
  if (outcome.status === "not run") return { ...watch, results, drifts: Object.fromEntries(confirmed) };
  const { baseline } = watch;
  const evidence = [...(baseline ? [runText("Before, at", baseline.last)] : []), runText("At", run)];
  const kept = confirmed.map(
    ([kind, one]) => [kind, judges(outcome, kind) ? { ...one, clean: one.clean + 1 } : one] as const,
  );
  const seen = kinds.map((kind) => {
    const first = {
      endpoint,
      sinceMs: outcome.atMs,
      summary: (found[kind] ?? "").slice(0, longestSummary),
      evidence,
      seen: 0,
    };
    const before = watch.drifts[kind] ?? first;
    return [kind, { ...before, seen: before.seen + 1, clean: 0 }] as const;
  });
  const isFailed = outcome.status === "failed";
  const drifts = Object.fromEntries([...kept, ...seen]);
  const latest = isFailed ? undefined : learn(undefined, outcome);
  return {
    ...watch,
    results,
    drifts,
    latest,
    baseline: isFailed || kinds.length > 0 ? baseline : learn(baseline, outcome),
  };
}

/** The watch with its latest answer as the new normal: sizes are moved to it, so that what was learned of their rhythm stays. */
export function accepted({ baseline, latest, ...watch }: Watch): Watch {
  if (baseline === undefined || latest === undefined)
    return { ...watch, drifts: {}, baseline: baseline && { ...baseline, fails: true } };
  const by = Math.log1p(latest.last.size) - Math.log1p(baseline.points.at(-1)?.size ?? 0);
  const points = baseline.points.map((one) => ({ ...one, size: Math.max(0, Math.expm1(Math.log1p(one.size) + by)) }));
  const terms = { ...baseline.terms, ...latest.terms };
  return { ...watch, drifts: {}, latest, baseline: { ...latest, runs: baseline.runs, points, terms } };
}
