import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { PlannedEndpoint } from "../../plan/query-plan.ts";
import type { Triple } from "../../rdf/triple-index.ts";
import type { Bindings } from "../../results/model.ts";
import { hasBlankNode, relabelled } from "../../results/terms.ts";
import { type KeyBlock, keyRows } from "../clause-query.ts";
import type { ClauseExecutor } from "../clause-executor.ts";
import type { ExecutionAccount } from "../execution-account.ts";
import { noteStatus } from "../executor.ts";
import type { SourceReport } from "../reports.ts";
import { interleave } from "../interleave.ts";
import type { Member } from "./member.ts";
import type { PatternSource } from "./pattern-source.ts";
import { matchTriple, patternText, patternVariable, substitute, type TriplePattern } from "./triple-pattern.ts";

/** Options of matching at a member that does not speak SPARQL. */
interface MatchedMemberOptions {
  readonly endpoint: PlannedEndpoint;
  readonly executor: ClauseExecutor;
  readonly source: PatternSource;
  /** Begins the labels of its blank nodes. */
  readonly prefix: string;
  readonly account: ExecutionAccount;
}

// Patterns of one block of keys that are asked at once; the outbound client bounds the host as a whole.
const PATTERNS_IN_FLIGHT = 6;

type Batches = AsyncIterable<readonly Bindings[]>;

/** A member whose triples are matched here: a pattern for each key, or all of its triples where that takes fewer requests. */
export function createMatchedMember(options: MatchedMemberOptions): Member {
  const { endpoint, executor, prefix, account } = options;
  const asClause = { iri: "urn:fedway:pattern", endpoint, silent: false } as const;

  const read = (reading: (source: PatternSource) => Batches): Batches =>
    executor.reported(asClause, (report) => {
      const source = labelledSource(options.source, { prefix, report, count: account.count });
      return timed(reading(source), { report, account, endpoint });
    });

  return {
    endpoint,
    solutions({ patterns }, keys) {
      const [pattern, ...others] = patterns;
      if (!pattern || others.length > 0) throw new Error(`${endpoint.url} is asked for one pattern at a time`);
      return read((source) => (keys ? keyed(source, pattern, keys) : solutionsOf(source, pattern, new Map())));
    },
    nodes: (among) =>
      read((source) =>
        interleave(
          each(among, (node) => firstNode(source, node)),
          PATTERNS_IN_FLIGHT,
        ),
      ),
    estimate: (pattern) => estimateOf(options.source, unlabelled(pattern, prefix) ?? pattern),
  };
}

async function* solutionsOf(source: PatternSource, pattern: TriplePattern, values: Bindings): Batches {
  for await (const triple of source.match(pattern)) {
    const solution = matchTriple(pattern, triple);
    if (solution) yield [new Map([...values, ...solution])];
  }
}

async function* keyed(source: PatternSource, pattern: TriplePattern, keys: KeyBlock): Batches {
  const wanted = narrowed(pattern, keys);
  if (wanted.length > 1 && (await wholeIsCheaper(source, pattern, wanted.length))) {
    const values = new Set(wanted.map(({ key }) => key));
    const isWanted = (row: Bindings): boolean => {
      const narrow = substitute(pattern, new Map(keys.variables.flatMap((name) => pick(row, name))));
      return narrow !== undefined && values.has(patternText(narrow));
    };
    for await (const rows of solutionsOf(source, pattern, new Map())) yield rows.filter(isWanted);
    return;
  }
  const parts = each(wanted, ({ pattern: narrow, values }) => solutionsOf(source, narrow, values));
  yield* interleave(parts, PATTERNS_IN_FLIGHT);
}

// A missing estimate is no failure; the matching that follows shows one.
const estimateOf = (source: PatternSource, pattern: TriplePattern): ReturnType<PatternSource["estimate"]> =>
  source.estimate(pattern).catch(() => undefined);

async function wholeIsCheaper(source: PatternSource, pattern: TriplePattern, requests: number): Promise<boolean> {
  const whole = await estimateOf(source, pattern);
  return whole !== undefined && whole.requests > 0 && whole.requests < requests;
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
async function* firstNode(source: PatternSource, node: RDF.Term): Batches {
  const asObject = { subject: patternVariable("s"), predicate: patternVariable("p"), object: node };
  const asSubject = { subject: node, predicate: patternVariable("p"), object: patternVariable("o") };
  for (const pattern of node.termType === "Literal" ? [asObject] : [asSubject, asObject]) {
    for await (const triple of source.match(pattern)) {
      if (!matchTriple(pattern, triple)) continue;
      yield [new Map([["node", node]])];
      return;
    }
  }
}

interface Counted {
  readonly prefix: string;
  readonly report: SourceReport;
  /** Counts a triple taken in; throws when there are too many. */
  readonly count: () => void;
}

/** The source with blank nodes of the execution; triples are counted. */
function labelledSource(source: PatternSource, { prefix, report, count }: Counted): PatternSource {
  return {
    async *match(pattern) {
      const wanted = unlabelled(pattern, prefix);
      if (!wanted) return;
      for await (const triple of source.match(wanted)) {
        count();
        report.rows = (report.rows ?? 0) + 1;
        yield labelled(triple, prefix);
      }
    },
    estimate: (pattern) => source.estimate(unlabelled(pattern, prefix) ?? pattern),
  };
}

/** The rows; their time and how they end are noted. @throws FedwayError that names the endpoint */
async function* timed(
  rows: Batches,
  { report, account, endpoint }: Pick<MatchedMemberOptions, "account" | "endpoint"> & Pick<Counted, "report">,
): Batches {
  account.elapsed(report);
  try {
    yield* rows;
    report.rows ??= 0;
    noteStatus(report, "ok");
  } catch (thrown) {
    const { code, message, details } = toFedwayError(thrown);
    const where = { ...details.where, endpoint: endpoint.id ?? endpoint.url };
    throw new FedwayError(code, message, { ...details, where });
  } finally {
    report.ms = account.elapsed(report);
  }
}

function labelled(triple: Triple, prefix: string): Triple {
  const { subject, predicate, object } = triple;
  if (!hasBlankNode(subject) && !hasBlankNode(object)) return triple;
  const label = (term: RDF.Term): RDF.Term => relabelled(term, (own) => prefix + own);
  return { subject: label(subject), predicate, object: label(object) };
}

/** The pattern in the source's own labels; undefined when it has a blank node of another source. */
function unlabelled(pattern: TriplePattern, prefix: string): TriplePattern | undefined {
  const strip = (term: RDF.Term): RDF.Term | undefined => {
    let isOwn = true;
    const stripped = relabelled(term, (label) => {
      isOwn &&= label.startsWith(prefix);
      return label.slice(prefix.length);
    });
    return isOwn ? stripped : undefined;
  };
  const subject = strip(pattern.subject);
  const object = strip(pattern.object);
  return subject && object && { ...pattern, subject, object };
}
