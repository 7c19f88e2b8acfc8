import { amountText, numberText } from "../figures.ts";
import type { Capabilities } from "../registry/capabilities.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import type { VoidDescription } from "../registry/descriptions.ts";
import type { Score, ScorePart, WindowName, WindowSummary } from "./monitor.ts";

/** Inputs of a score; undefined means unknown. */
export interface ScoreInput {
  readonly entry: CatalogEntry;
  readonly windows: readonly WindowSummary[];
  readonly capabilities: Capabilities | undefined;
  readonly description: VoidDescription | undefined;
}

const outOf = { reachable: 40, correct: 25, described: 20, fast: 15 } as const;

/** Up to this p90 an endpoint gets all points for being fast, and from the other on none. */
const fastMs = 300;
const slowMs = 10_000;

/** How good an endpoint is to work with: the sum of its parts, out of those of which anything is known. */
export function scoreOf(input: ScoreInput): Score {
  const parts = [reachable(input), correct(input), described(input), fast(input)];
  const known = parts.filter(({ points }) => points !== undefined);
  if (known.length === 0) return { parts };
  const most = known.reduce((sum, one) => sum + one.outOf, 0);
  const got = known.reduce((sum, { points = 0 }) => sum + points, 0);
  return { points: rounded((100 * got) / most), parts };
}

const rounded = (points: number): number => Math.round(points * 10) / 10;

interface Judgement {
  /** 0 to 1; absent when nothing is known. */
  readonly share?: number | undefined;
  readonly why: string;
}

function part(name: ScorePart["name"], { entry }: ScoreInput, { share, why }: Judgement): ScorePart {
  const paths = { reachable: "availability", correct: "capabilities", described: "void", fast: "availability" };
  const measurement = `/api/endpoints/${encodeURIComponent(entry.id)}/${paths[name]}`;
  const points = share === undefined ? {} : { points: rounded(outOf[name] * share) };
  return { name, ...points, outOf: outOf[name], why, measurement };
}

const words: Readonly<Record<WindowName, string>> = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "90d": "90 days",
};

/** 99.96 % never becomes 100 %. */
const percent = (share: number): string => `${Math.floor(share * 1000) / 10} %`;

function reachable(input: ScoreInput): ScorePart {
  const known = (["30d", "90d", "7d", "24h"] as const)
    .map((name) => input.windows.find(({ window }) => window === name))
    .find((window) => window?.uptime !== undefined);
  if (known?.uptime === undefined) return part("reachable", input, { why: "It has not been probed yet." });
  const { good, probes, uptime, window } = known;
  const why = `${numberText(good)} of ${amountText(probes, "probe")} of the last ${words[window]} were good (${percent(uptime)}).`;
  return part("reachable", input, { share: uptime, why });
}

function correct(input: ScoreInput): ScorePart {
  const { capabilities } = input;
  const outcomes = Object.values(capabilities?.constructs ?? {});
  if (capabilities?.reachable === false) {
    return part("correct", input, { why: "It could not be reached when its answers were to be checked." });
  }
  if (outcomes.length === 0) return part("correct", input, { why: "None of its answers has been checked yet." });
  const count = (verdict: string): number => outcomes.filter((outcome) => outcome.verdict === verdict).length;
  const rest = (["wrong", "refused", "failed"] as const)
    .filter((verdict) => count(verdict) > 0)
    .map((verdict) => `${count(verdict)} ${verdict}`);
  const details = rest.length === 0 ? "" : ` (${rest.join(", ")})`;
  const why = `${count("right")} of ${amountText(outcomes.length, "construct")} gave the right answer${details}.`;
  return part("correct", input, { share: count("right") / outcomes.length, why });
}

type Fact = readonly [what: string, holds: boolean, weight: number];

const isThere = (...texts: readonly (string | undefined)[]): boolean =>
  texts.some((text) => text !== undefined && text.trim() !== "");

const entryFacts = ({ entry, description }: ScoreInput): readonly Fact[] => [
  ["title", isThere(entry.title), 2],
  ["description", isThere(entry.description, description?.description), 2],
  ["licence", isThere(entry.license, description?.license), 2],
  ["homepage", isThere(entry.homepage), 2],
];

function descriptionFacts(description: VoidDescription | undefined): readonly Fact[] {
  const { classPartitions = [], propertyPartitions = [], triples } = description ?? {};
  return [
    ["VoID description", classPartitions.length + propertyPartitions.length > 0 || triples !== undefined, 6],
    ["complete list of classes", description?.classesComplete === true, 3],
    ["complete list of properties", description?.propertiesComplete === true, 3],
  ];
}

function described(input: ScoreInput): ScorePart {
  const facts = [...entryFacts(input), ...descriptionFacts(input.description)];
  const names = (there: boolean): string =>
    facts.flatMap(([what, holds]) => (holds === there ? [what] : [])).join(", ") || "nothing";
  const weights = facts.reduce((sum, [, , weight]) => sum + weight, 0);
  const got = facts.reduce((sum, [, holds, weight]) => sum + (holds ? weight : 0), 0);
  return part("described", input, { share: got / weights, why: `There: ${names(true)}; missing: ${names(false)}.` });
}

function fast(input: ScoreInput): ScorePart {
  const p90Ms = input.windows.find(({ window }) => window === "7d")?.p90Ms;
  if (p90Ms === undefined) return part("fast", input, { why: "No probe of the last 7 days was good." });
  const share = Math.log(slowMs / p90Ms) / Math.log(slowMs / fastMs);
  const why = `90 % of the good probes of the last 7 days took at most ${Math.round(p90Ms)} ms.`;
  return part("fast", input, { share: Math.min(1, Math.max(0, share)), why });
}
