import { type SessionCall, type SessionFigures, sessionFigures } from "../../../../src/query/session-figures.ts";
import type { BenchmarkPackage, PackagedQuestion } from "../../package/open-package.ts";
import type { PackagedQuery } from "../../package/package-items.ts";
import type { CallRecord, QuestionRecord } from "../records.ts";
import type { Accuracy } from "./accuracy.ts";
import { faultOfCode, type QueryFault, readFinal, type Targets } from "./final-query.ts";

/** The final query of a question over the package's data. */
export interface JudgedFinal {
  /** Absent where the package has no gold answer. */
  readonly accuracy?: Accuracy | undefined;
  /** Why it has no answer. */
  readonly fault?: QueryFault | undefined;
  readonly why?: string | undefined;
  /** Right over the data, but not over an altered copy; absent where no copy was asked. */
  readonly lucky?: boolean | undefined;
}

/** Score of one question; a line of `scores.json`. */
export interface QuestionScore extends Omit<QuestionRecord, "calls" | "final" | "turns" | "ms" | "tokens"> {
  /** Submitted, with the rows of the gold answer; null where there is none. */
  readonly right: boolean | null;
  readonly final: JudgedFinal;
  /** Groups of questions that it is counted in, beside all. */
  readonly groups: readonly string[];
  /** Null here and below: the record does not say. */
  readonly turns: number | null;
  readonly ms: number | null;
  readonly tokens: QuestionRecord["tokens"] | null;
  /** Null where calls are not known: of traces without them, and of missing records. */
  readonly figures: Figures | null;
  /** Queries by fault; right ones are not included. */
  readonly faults: Readonly<Partial<Record<QueryFault, number>>>;
  /** Other calls that failed. */
  readonly toolErrors: number;
}

/** Figures of a question's session; `naming`: queries that name endpoints. */
type Figures = Omit<SessionFigures, "informed" | "validity" | "requests" | "bytes"> & {
  readonly naming: number;
  readonly requests: number | null;
  readonly bytes: number | null;
};

/** A question with the parts of the package that its score depends on. */
interface ScoredQuestion {
  readonly question: PackagedQuestion;
  readonly query: PackagedQuery;
  readonly pkg: BenchmarkPackage;
  readonly targets: Targets;
}

/** Scores what an agent did for a question, and its final query as it was judged. */
export function questionScore(record: QuestionRecord, final: JudgedFinal, of: ScoredQuestion): QuestionScore {
  const { calls = noCalls, final: _, turns, ms, tokens, ...own } = record;
  const read = calls.map((call) => ({ call, ...readCall(call, of.targets) }));
  return {
    ...own,
    right: final.accuracy === undefined ? null : own.outcome === "submitted" && final.accuracy.set,
    final,
    groups: groupsOf(of),
    turns: turns || null,
    ms: ms || null,
    tokens: tokens.estimated && tokens.input + tokens.output === 0 ? null : tokens,
    figures: calls === noCalls || calls.length + turns === 0 ? null : figuresOf(read, of),
    faults: faultsOf(read),
    toolErrors: read.filter(({ call }) => call.query === undefined && call.outcome === "failed").length,
  };
}

/** Of a record that does not say what was called. */
const noCalls: readonly CallRecord[] = [];

type ReadCall = ReturnType<typeof readCall> & { readonly call: CallRecord };

function faultsOf(read: readonly ReadCall[]): QuestionScore["faults"] {
  const faults: Partial<Record<QueryFault, number>> = {};
  for (const { fault } of read) if (fault !== undefined) faults[fault] = (faults[fault] ?? 0) + 1;
  return faults;
}

function figuresOf(read: readonly ReadCall[], { pkg, query: { touched } }: ScoredQuestion): Figures {
  const ids = new Map(pkg.endpoints.flatMap(({ id, entry }) => [[entry, id] as const, [id, id] as const]));
  const calls = read.map(({ call, named }) => sessionCall(call, { named, touched, ids }));
  const offered = pkg.endpoints.map(({ id }) => id);
  const { informed: _, validity: __, ...figures } = sessionFigures(calls, { offered, holding: touched });
  const queries = read.filter(({ call }) => call.query !== undefined);
  // A refused query asked no endpoint.
  const isKnown = (name: "endpoints" | "requests" | "bytes"): boolean =>
    queries.every(({ call }) => call[name] !== undefined || call.outcome === "failed");
  return {
    ...figures,
    naming: queries.filter(({ named }) => named.length > 0).length,
    consultation: isKnown("endpoints") ? figures.consultation : null,
    requests: isKnown("requests") ? figures.requests : null,
    bytes: isKnown("bytes") ? figures.bytes : null,
  };
}

/** Groups by flags of the question and strata of its query, which has kinds of rules among them. */
const groupsOf = ({ question, query }: ScoredQuestion): readonly string[] => [
  question.flags.length > 0 ? "flagged" : "not flagged",
  ...(query.strata ?? []).map((name) => `stratum ${name}`),
];

/** Names in a call, and its fault: from its text as written, else by its failure. */
function readCall({ query, outcome, code }: CallRecord, targets: Targets) {
  if (query === undefined) return { named: [] };
  const read = readFinal(query, targets);
  const isText = "fault" in read && /^(?:parse|prefix|malformed)/u.test(read.fault);
  if (isText) return read;
  if (outcome !== "failed") return { named: read.named };
  return { named: read.named, fault: "fault" in read ? read.fault : faultOfCode(code ?? "") };
}

function sessionCall(
  call: CallRecord,
  { named, touched, ids }: Record<"named" | "touched", readonly string[]> & { ids: ReadonlyMap<string, string> },
): SessionCall {
  const { query, outcome, endpoints = [], requests = 0, bytes = 0, repairs = 0 } = call;
  if (query === undefined) return { ...call, kind: "tool", informs: false };
  return {
    ...call,
    kind: "query",
    key: query,
    status: outcome ?? statusOf(call),
    repairs,
    requests,
    bytes,
    named,
    contacted: endpoints.flatMap((name) => ids.get(name) ?? []),
    // Endpoints without a match for the question give nothing that it needs.
    gave: named.filter((name) => touched.includes(name)),
  };
}

/** Traces of other systems may lack the outcome; a query whose end is not known counts for none. */
function statusOf({ code, rows }: CallRecord): "failed" | "running" | "ok" | "empty" {
  if (code !== undefined) return "failed";
  return rows === undefined ? "running" : rows > 0 ? "ok" : "empty";
}
