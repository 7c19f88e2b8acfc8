import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { PlannedEndpoint } from "../../plan/query-plan.ts";
import type { Triple } from "../../rdf/triple-index.ts";
import type { Bindings } from "../../results/model.ts";
import { blankNodeFromLabel } from "../../results/terms.ts";
import { type KeyBlock, keyRows } from "../clause-query.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import { interleave } from "../interleave.ts";
import { failureStatus, noteStatus } from "../executor.ts";
import { asMemberFailure } from "../member-time.ts";
import type { Member, MemberQuestion } from "./merged-graph.ts";
import type { MatchBounds, PatternSource } from "./pattern-source.ts";
import { matchTriple, patternText, patternVariable, substitute, type TriplePattern } from "./triple-pattern.ts";

/** What a member that does not speak SPARQL is matched with. */
interface MatchedMemberOptions {
  readonly endpoint: PlannedEndpoint;
  readonly source: PatternSource;
  readonly bounds: ExecutionBounds;
  readonly report: MatchBounds["report"];
  /** Begins the labels of its blank nodes. */
  readonly prefix: string;
  /** Counts a triple taken in; throws when there are too many. */
  readonly count: () => void;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

// Patterns of one block of keys that are asked at once; the outbound client bounds the host as a whole.
const PATTERNS_IN_FLIGHT = 6;

/** A member whose triples are matched here: a pattern for each key, or all of its triples where that takes fewer requests. */
export function createMatchedMember(options: MatchedMemberOptions): Member {
  const { source } = options;
  const match = (pattern: TriplePattern): AsyncIterable<Triple> => triplesOf(options, pattern);

  async function* solutionsOf(pattern: TriplePattern, values: Bindings): AsyncIterable<Bindings> {
    for await (const triple of match(pattern)) {
      const solution = matchTriple(pattern, triple);
      if (solution) yield new Map([...values, ...solution]);
    }
  }

  async function* solutions({ patterns }: MemberQuestion, keys: KeyBlock | undefined): AsyncIterable<Bindings> {
    const [pattern, ...others] = patterns;
    if (!pattern || others.length > 0) throw new Error(`${options.endpoint.url} is asked for one pattern at a time`);
    if (!keys) {
      yield* solutionsOf(pattern, new Map());
      return;
    }
    const wanted = narrowed(pattern, keys);
    if (wanted.length > 1 && (await wholeIsCheaper(pattern, wanted.length))) {
      const values = new Set(wanted.map(({ key }) => key));
      for await (const row of solutionsOf(pattern, new Map())) {
        const narrow = substitute(pattern, new Map(keys.variables.flatMap((name) => pick(row, name))));
        if (narrow && values.has(patternText(narrow))) yield row;
      }
      return;
    }
    yield* interleave(
      each(wanted, ({ pattern: narrow, values }) => solutionsOf(narrow, values)),
      PATTERNS_IN_FLIGHT,
    );
  }

  async function wholeIsCheaper(pattern: TriplePattern, requests: number): Promise<boolean> {
    const whole = await tolerantly(options, () => source.estimate(pattern));
    return whole !== undefined && whole.requests > 0 && whole.requests < requests;
  }

  return {
    endpoint: options.endpoint,
    solutions,
    nodes: (among) =>
      interleave(
        each(among, (node) => firstNode(match, node)),
        PATTERNS_IN_FLIGHT,
      ),
    // An estimate that cannot be had is no failure; the matching that follows will say.
    estimate: (pattern) => source.estimate(unlabelled(pattern, options.prefix) ?? pattern).catch(() => undefined),
  };
}

const pick = (row: Bindings, name: string): [string, RDF.Term][] => {
  const term = row.get(name);
  return term ? [[name, term]] : [];
};

interface NarrowPattern {
  readonly key: string;
  readonly pattern: TriplePattern;
  readonly values: Bindings;
}

function narrowed(pattern: TriplePattern, keys: KeyBlock): readonly NarrowPattern[] {
  const wanted = new Map<string, NarrowPattern>();
  for (const values of keyRows(keys)) {
    const narrow = substitute(pattern, values);
    if (!narrow) continue;
    const key = patternText(narrow);
    wanted.set(key, { key, pattern: narrow, values });
  }
  return [...wanted.values()];
}

async function* each<T, U>(items: readonly T[], open: (item: T) => AsyncIterable<U>): AsyncIterable<AsyncIterable<U>> {
  for (const item of items) yield open(item);
}

/** The node, if it is subject or object of any triple. */
async function* firstNode(
  match: (pattern: TriplePattern) => AsyncIterable<Triple>,
  node: RDF.Term,
): AsyncIterable<RDF.Term> {
  const asObject = { subject: patternVariable("s"), predicate: patternVariable("p"), object: node };
  const asSubject = { subject: node, predicate: patternVariable("p"), object: patternVariable("o") };
  for (const pattern of node.termType === "Literal" ? [asObject] : [asSubject, asObject]) {
    for await (const triple of match(pattern)) {
      if (!matchTriple(pattern, triple)) continue;
      yield node;
      return;
    }
  }
}

/** The source's triples with labelled blank nodes; a failing source is reported, and with `partial` left out. */
async function* triplesOf(options: MatchedMemberOptions, pattern: TriplePattern): AsyncIterable<Triple> {
  const { source, report, prefix, count } = options;
  const wanted = unlabelled(pattern, prefix);
  if (!wanted) return;
  const stop = clockOf(options);
  try {
    for await (const triple of source.match(wanted)) {
      count();
      report.rows = (report.rows ?? 0) + 1;
      yield labelled(triple, prefix);
    }
    report.rows ??= 0;
    noteStatus(report, "ok");
  } catch (error) {
    tolerate(options, error);
  } finally {
    stop();
  }
}

async function tolerantly<T>(options: MatchedMemberOptions, work: () => Promise<T>): Promise<T | undefined> {
  const stop = clockOf(options);
  try {
    return await work();
  } catch (error) {
    tolerate(options, error);
    return undefined;
  } finally {
    stop();
  }
}

function tolerate({ report, bounds, endpoint }: MatchedMemberOptions, thrown: unknown): void {
  const { code, message, details } = toFedwayError(thrown);
  const where = { ...details.where, endpoint: endpoint.id ?? endpoint.url };
  const located = new FedwayError(code, message, { ...details, where });
  const error = asMemberFailure(located, endpoint.id ?? endpoint.url, bounds);
  noteStatus(report, bounds.signal.aborted ? "cancelled" : failureStatus(error), error.code);
  if (!bounds.partial || !error.kind.silenceable || bounds.signal.aborted) throw error;
}

/** Adds the time until it is called to the report; overlapping requests count once each. */
function clockOf({ report, now }: MatchedMemberOptions): () => void {
  const startedAt = now();
  const before = report.ms;
  return () => {
    report.ms = Math.max(report.ms, before + Math.round(now() - startedAt));
  };
}

function labelled(triple: Triple, prefix: string): Triple {
  const { subject, predicate, object } = triple;
  if (subject.termType !== "BlankNode" && object.termType !== "BlankNode") return triple;
  const label = (term: RDF.Term): RDF.Term =>
    term.termType === "BlankNode" ? blankNodeFromLabel(prefix + term.value) : term;
  return { subject: label(subject), predicate, object: label(object) };
}

/** The pattern in the source's own labels; undefined when it has a blank node of another source. */
function unlabelled(pattern: TriplePattern, prefix: string): TriplePattern | undefined {
  const strip = (term: RDF.Term): RDF.Term | undefined => {
    if (term.termType !== "BlankNode") return term;
    return term.value.startsWith(prefix) ? blankNodeFromLabel(term.value.slice(prefix.length)) : undefined;
  };
  const subject = strip(pattern.subject);
  const object = strip(pattern.object);
  return subject && object && { ...pattern, subject, object };
}
