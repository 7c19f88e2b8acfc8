import type * as RDF from "@rdfjs/types";
import type { FederatedClause, PlannedEndpoint } from "../../plan/query-plan.ts";
import type { Bindings } from "../../results/model.ts";
import { iriText } from "../../rdf/term-text.ts";
import { hasBlankNode, termToText } from "../../results/terms.ts";
import type { BlockSizes, KeyBlock } from "../clause-query.ts";
import { type AskMember, BlankMirror, hasBlank, namedParts, splitKeys } from "./blank-mirror.ts";
import type { ClauseExecutor } from "../clause-executor.ts";
import { checkedSummary, demandedClause, summarisedClause } from "../demand.ts";
import { unitedClause } from "../united-clause.ts";
import { areWritable } from "../unwritable-keys.ts";
import { interleave } from "../interleave.ts";
import type { Member, MemberQuestion, QueryNeeds } from "./member.ts";
import { unitVariables } from "./pattern-units.ts";
import { type Graphs, patternVariable, placesOf, type TriplePattern } from "./triple-pattern.ts";

/** Options of asking a SPARQL member. */
interface SparqlMemberOptions {
  readonly endpoint: PlannedEndpoint;
  readonly executor: ClauseExecutor;
  readonly needs: QueryNeeds;
  readonly sizes: BlockSizes;
}

// Blocks of one pattern under way at once; the outbound client bounds the endpoint as a whole.
const BLOCKS_IN_FLIGHT = 3;
// They are at hand: nothing comes earlier when the first block has fewer.
const FEWEST_KEYS = 128;

/**
 * A member that speaks SPARQL: a question and a block of keys are one request. SPARQL has no name for a blank node of an
 * earlier answer. As soon as a blank node appears that the query joins or distinguishes, such solutions are put aside,
 * and come from a mirror of all triples with blank nodes.
 */
export function createSparqlMember(options: SparqlMemberOptions): Member {
  const { endpoint, executor, needs } = options;
  const asks: AskMember = (question, keys) => inBlocks(options, questionClause(endpoint, question), keys);
  const mirror = new BlankMirror(() => executor.solutions(blankClause(endpoint, needs.patterns)), asks);
  const mirrored: AskMember = (question, keys) =>
    executor.reported(toClause(endpoint, { pattern: "", variables: [] }), () =>
      mirror.solutions(question, keys, identifiedIn(question, needs)),
    );

  async function* solutions(question: MemberQuestion, keys: KeyBlock | undefined): AsyncIterable<readonly Bindings[]> {
    if (question.patterns.some(hasBlank)) {
      yield* mirrored(question, keys);
      return;
    }
    const isAside = identifiedIn(question, needs);
    const [named, blank] = splitKeys(keys);
    const aside: Bindings[] = [];
    if (!keys || named) {
      for await (const batch of asks(question, named)) {
        const passed: Bindings[] = [];
        for (const row of batch) (isAside(row) ? aside : passed).push(row);
        yield passed;
      }
    }
    if (aside.length > 0) yield* mirrored(question, namedParts(aside) ?? named);
    if (blank) yield* mirrored(question, blank);
  }

  /** Groups have no blank nodes: keys that are some have none. */
  async function* summaries(question: MemberQuestion, keys: KeyBlock | undefined): AsyncIterable<readonly Bindings[]> {
    const [named] = splitKeys(keys);
    if (keys && !named) return;
    const { summary, known = () => undefined } = question;
    for await (const batch of asks(question, named))
      yield summary ? checkedSummary(batch, summary, { known, endpoint }) : batch;
  }

  /** None of their variables that need one label has blank nodes. */
  async function* united(
    branches: ReadonlyMap<number, MemberQuestion>,
    keys: KeyBlock | undefined,
  ): AsyncIterable<readonly Bindings[]> {
    const [named] = splitKeys(keys);
    const clauses = [...branches].map(([number, one]) => [number, questionClause(endpoint, one)] as const);
    const clause = unitedClause(new Map(clauses));
    if (clause && (!keys || named)) yield* inBlocks(options, clause, named);
  }

  async function* nodes(among: readonly RDF.Term[], graphs: Graphs | undefined): AsyncIterable<readonly Bindings[]> {
    const [named, blank] = splitKeys({ variables: ["node"], rows: among.map((node) => [node]) });
    if (blank) yield (await mirror.nodes(blank.rows.flat(), graphs)).map((node) => new Map([["node", node]]));
    if (!named || graphs?.length === 0) return;
    const existence = areWritable(named) ? endpoint.existence : "join";
    yield* inBlocks(options, nodeClause({ ...endpoint, existence }, graphs), named);
  }

  return {
    endpoint,
    solutions: (question, keys) => (isGrouped(question) ? summaries : solutions)(question, keys),
    united,
    nodes,
    estimate: async () => undefined,
  };
}

/** The first solutions in an order are solutions. */
const isGrouped = ({ summary }: MemberQuestion): boolean => summary !== undefined && "by" in summary;

/** A clause's solutions, asked for with as many keys at once as the endpoint digests. */
async function* inBlocks(
  { endpoint, executor, sizes }: SparqlMemberOptions,
  clause: FederatedClause,
  keys: KeyBlock | undefined,
): AsyncIterable<readonly Bindings[]> {
  async function* blocks(all: KeyBlock): AsyncIterable<AsyncIterable<readonly Bindings[]>> {
    const { variables, rows } = all;
    const digested = sizes.at(endpoint.url, FEWEST_KEYS);
    for (let from = 0; from < rows.length; ) {
      const to = from + Math.min(digested.next(), endpoint.maxValuesRows ?? rows.length);
      yield executor.solutions(clause, { variables, rows: rows.slice(from, to) });
      from = to;
    }
  }
  yield* keys ? interleave(blocks(keys), BLOCKS_IN_FLIGHT) : executor.solutions(clause);
}

const toClause = (
  endpoint: PlannedEndpoint,
  made: Pick<FederatedClause, "pattern" | "variables" | "opening" | "estimate">,
): FederatedClause => ({ iri: "urn:fedway:pattern", endpoint, silent: false, prologue: "", selectivity: 0, ...made });

/** The patterns as a SERVICE clause would have them, asked for no more than is wanted. */
function questionClause(endpoint: PlannedEndpoint, question: MemberQuestion): FederatedClause {
  const { patterns, optionals = [], summary, size, variables } = question;
  const opening = unitVariables({ patterns });
  const others = unitVariables({ patterns: optionals.flat() }).filter((name) => !opening.includes(name));
  const added = optionals.map((own) => ` OPTIONAL { ${patternTexts(own)} }`).join("");
  const clause = toClause(endpoint, {
    pattern: `{ ${patternTexts(patterns)}${added} }`,
    variables: [
      ...opening.map((name) => ({ name, certain: true })),
      ...others.map((name) => ({ name, certain: false })),
    ],
    opening,
    estimate: size,
  });
  if (!summary) return demandedClause(clause, question);
  const shown = clause.variables.filter(({ name }) => "by" in summary || variables.has(name));
  return summarisedClause({ ...clause, variables: shown }, summary);
}

const patternTexts = (patterns: readonly TriplePattern[]): string =>
  patterns.map((one) => patternClauseText(one)).join(" . ");

function patternClauseText(pattern: TriplePattern): string {
  const { graphs } = pattern;
  if (!graphs) return tripleText(pattern);
  const texts = graphs.map((graph) => `GRAPH ${termToText(graph)} { ${tripleText(pattern)} }`);
  return texts.length === 1 ? texts.join("") : texts.map((text) => `{ ${text} }`).join(" UNION ");
}

function tripleText(pattern: TriplePattern): string {
  const text = (["subject", "predicate", "object"] as const).map((place) => termToText(pattern[place])).join(" ");
  const not = pattern.not?.map((iri) => iriText(iri)) ?? [];
  return not.length > 0 ? `${text} FILTER(${termToText(pattern.predicate)} NOT IN (${not.join(", ")}))` : text;
}

/** Returns a test for solutions with a blank node that needs one label in all answers. */
function identifiedIn(question: MemberQuestion, needs: QueryNeeds): (row: Bindings) => boolean {
  const { patterns, optionals = [], variables } = question;
  const asked = [...patterns, ...optionals.flat()];
  const identified = unitVariables({ patterns }).filter(
    (name) => variables.has(name) && needs.identified(name, placesOf(name, asked)),
  );
  return (row) => identified.some((name) => hasBlankNode(row.get(name)));
}

/** Sent with keys for `?node` only; a FILTER without braces, so that it sees them. */
function nodeClause(endpoint: PlannedEndpoint, graphs: Graphs | undefined): FederatedClause {
  const textOf = (s: string, p: string, o: string): string => {
    const [subject, predicate, object] = [patternVariable(s), patternVariable(p), patternVariable(o)];
    return patternClauseText({ subject, predicate, object, graphs });
  };
  const [subject, object] = [textOf("node", "p", "o"), textOf("s", "q", "node")];
  const variables = [{ name: "node", certain: true }];
  if (endpoint.existence === "join" || endpoint.keys !== undefined) {
    const pattern = `{ { ${subject} } UNION { ${object} } }`;
    return { ...toClause(endpoint, { pattern, variables }), distinct: true };
  }
  return toClause(endpoint, { pattern: `FILTER(EXISTS { ${subject} } || EXISTS { ${object} })`, variables });
}

/** All triples with a blank node that one of the patterns could match. */
function blankClause(endpoint: PlannedEndpoint, patterns: readonly TriplePattern[]): FederatedClause {
  const branches = new Set(
    patterns.filter((pattern) => !hasBlank(pattern)).flatMap((pattern) => blankBranches(pattern)),
  );
  const variables = ["s", "p", "o", "g"].map((name) => ({ name, certain: name !== "g" }));
  return toClause(endpoint, { pattern: `{ ${[...branches].join(" UNION ")} }`, variables });
}

const isOpen = ({ termType }: RDF.Term): boolean => termType === "Variable";

/** One for each of its graphs, which stands for `?g`. */
const blankBranches = (pattern: TriplePattern): readonly string[] =>
  (pattern.graphs ?? [undefined]).map((graph) => blankBranch(pattern, graph));

function blankBranch({ subject, predicate, object }: TriplePattern, graph: RDF.Term | undefined): string {
  const places = [
    ["?s", subject],
    ["?p", predicate],
    ["?o", object],
    ...(graph ? [["?g", graph] as const] : []),
  ] as const;
  const parts = places.map(([name, term]) => (isOpen(term) ? name : termToText(term)));
  const binds = places.map(([name, term]) => (isOpen(term) ? "" : ` BIND(${termToText(term)} AS ${name})`));
  const [s, p, o, g] = parts;
  const inside = g === undefined ? `${s} ${p} ${o} .` : `GRAPH ${g} { ${s} ${p} ${o} }`;
  const isBlank = `isBlank(?s) || isBlank(?o)${g === "?g" ? " || isBlank(?g)" : ""}`;
  return `{ ${inside}${binds.join("")} FILTER(${isBlank}) }`;
}
