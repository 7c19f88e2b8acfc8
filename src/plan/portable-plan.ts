import { itemAt } from "../values.ts";
import { literalText } from "../rdf/term-text.ts";
import {
  type Query,
  type Element,
  type Group,
  type TokenRange,
  type TextEdit,
  isWord,
  parseQuery,
} from "../sparql/query.ts";
import { type TripleText, tripleTexts } from "../sparql/patterns.ts";
import type { DirectPlan, FederatedPlan, MergedMembers, PlanNote } from "./query-plan.ts";
import { patternSources } from "./source-selection.ts";

/** A plan as one query that any SPARQL 1.1 engine with federated query can run, or why there is none. */
export type PortablePlan =
  | { readonly query: string; readonly notes?: readonly PlanNote[] | undefined }
  | NoPortablePlan;

/** Reason why there is no portable plan, and a next step. */
interface NoPortablePlan {
  readonly why: string;
  readonly next?: string;
}

/** Writes a plan as one SPARQL 1.1 query that gives every pattern to its endpoint in a SERVICE. */
export const portablePlan = (plan: DirectPlan | FederatedPlan): PortablePlan =>
  plan.kind === "direct" ? portableDirect(plan) : portableFederated(plan);

/** The query with each of its outermost groups in a SERVICE. */
function portableDirect({ endpoint, query, silent, notes, defaultGraphs, namedGraphs }: DirectPlan): PortablePlan {
  if (notes.some(({ code }) => code === "RAW_QUERY" || code === "SPARQL_1_2"))
    return { why: "The query is not SPARQL 1.1." };
  const parsed = parseQuery(query);
  const { outline } = parsed;
  if (defaultGraphs.length + namedGraphs.length + outline.datasets.length > 0)
    return { why: "SERVICE cannot name the dataset of its endpoint; leave out FROM and the dataset parameters." };
  const hindered = formHindrance(parsed);
  if (hindered) return hindered;
  if (silent && !isNothing(parseQuery(silent.query).outline.where))
    return { why: "After a failure more than the endpoint's part would be missing." };
  const service = `SERVICE ${silent ? "SILENT " : ""}<${endpoint.url}>`;
  const groups = outline.groups;
  return {
    query: parsed.cut(groups.map((range) => inGroup(`${service} ${parsed.textOf(range)}`, range))),
  };
}

const inGroup = (text: string, range: TokenRange): TextEdit => ({ range, replacement: `{ ${text} }` });

/** True if a group has one solution without bindings. */
const isNothing = (group: Group | undefined): boolean =>
  group?.select === undefined &&
  (group?.elements ?? []).every(
    (element) => element.kind === "union" && element.groups.length === 1 && isNothing(element.groups[0]),
  );

/**
 * Writes a federated plan as one SPARQL 1.1 query in which every pattern stands in a SERVICE. A pattern that several members
 * may have is the set of their matches, `SELECT DISTINCT` over a UNION: the members' data are one graph (RDF 1.1 Semantics,
 * section 4.1), and a triple that two of them have counts once. Neighbouring patterns of one member share a SERVICE.
 * SPARQL has no name for a blank node of an earlier answer, so two SERVICE clauses do not join on one. Where patterns may have
 * to, the plan has the note `PORTABLE_BLANK_NODES`.
 */
function portableFederated(plan: FederatedPlan): PortablePlan {
  const other = plan.members.find(({ endpoint }) => endpoint.interface !== undefined);
  if (other) return { why: `${other.endpoint.id ?? other.endpoint.url} does not speak SPARQL.` };
  // Another engine asks this service for what a federation has.
  const here = plan.clauses.find(({ endpoint, evaluatedHere }) => evaluatedHere && !endpoint.over);
  if (here) return { why: `${here.endpoint.id ?? here.endpoint.url} does not support a feature that its clause uses.` };
  if (!plan.over) return { query: plan.query };
  const query = parseQuery(plan.query);
  const hindered = hindrance(query);
  if (hindered) return hindered;
  const writer = new PatternWriter(query, homesIn(plan.over));
  const written = writtenQuery(query, writer);
  if ("why" in written) return written;
  return { ...written, notes: joinsNodes(query, writer.nodes) ? [blankNodesNote] : undefined };
}

/** Which endpoints have matches of a pattern. */
export interface PatternHomes {
  /** URLs, each once. */
  urlsOf(triple: TripleText): readonly string[];
  /** Where no two endpoints have a triple in common: a UNION then has each match once. */
  readonly disjoint?: {
    /** True if all matches with one subject are at one of these, so that patterns of one subject are asked together. */
    keepSubjects(urls: readonly string[]): boolean;
  };
}

/** Writes a query without SERVICE as one in which every pattern stands in a SERVICE at each of its homes. */
export function serviceQuery(parsed: Query, homes: PatternHomes): PortablePlan {
  const query = parsed;
  const hindered = hindrance(query);
  return hindered ?? writtenQuery(query, new PatternWriter(parsed, homes));
}

function writtenQuery(query: Query, writer: PatternWriter): PortablePlan {
  const edits = query.outside.map((range) => ({ range, replacement: writer.block(range) }));
  const blocked = writer.hindrance ?? (writer.addsVariables ? helperHindrance(query) : undefined);
  if (blocked) return blocked;
  return { query: query.cut(writer.addsVariables ? [...edits, ...explicit(query)] : edits) };
}

/** The members of a federation whose facts do not leave them out of a pattern. */
const homesIn = ({ members, selection }: MergedMembers): PatternHomes => ({
  urlsOf({ subject, predicate, object }) {
    const terms = { subject: keyText(subject), predicate: keyText(predicate), object: keyText(object) };
    const isKnown = predicate.term !== undefined && selection !== undefined;
    const sources = isKnown ? patternSources(selection, terms)?.sources : undefined;
    return (sources?.flatMap(({ member }) => members[member] ?? []) ?? members).map(({ url }) => url);
  },
});

const blankNodesNote: PlanNote = {
  code: "PORTABLE_BLANK_NODES",
  message:
    "Rows that join two patterns on a blank node are missing from another engine's answer: SPARQL has no name for a blank node of an earlier answer.",
};

function formHindrance({ form, outline }: Query): NoPortablePlan | undefined {
  if (form === "DESCRIBE") return { why: "Engines describe a resource differently.", next: "Use CONSTRUCT." };
  if (!outline.shortConstruct) return undefined;
  return { why: "CONSTRUCT WHERE has no place for SERVICE.", next: "Write its template out." };
}

function hindrance(query: Query): NoPortablePlan | undefined {
  const hindered = formHindrance(query);
  if (hindered) return hindered;
  const isGraph = ({ from }: TokenRange): boolean => itemAt(query.tokens, from).text === "GRAPH";
  if (!query.outside.some(isGraph) && query.datasets.length === 0) return undefined;
  return { why: "Named graphs of one name at several members are one graph, which SERVICE cannot say." };
}

/** Why a query cannot have more variables than were written. */
function helperHindrance(query: Query): NoPortablePlan | undefined {
  const { tokens } = query;
  const starAt = (at: number): boolean => isWord(tokens[at], "DISTINCT") && tokens[at + 1]?.text === "*";
  if (tokens.some((token, at) => isWord(token, "COUNT") && starAt(at + 2)))
    return { why: "COUNT(DISTINCT *) would count the variables that its patterns need in SERVICE clauses." };
  if (starsOf(query).some((select) => query.projected(select).size === 0))
    return { why: "SPARQL cannot write out a SELECT * that has no variable.", next: "Use ASK, or select a variable." };
  return undefined;
}

/** `SELECT *` with its variables written out, so that those of brackets and path steps do not show. */
const explicit = (query: Query): TextEdit[] =>
  starsOf(query).map((select) => ({
    range: { from: select.head.to - 1, to: select.head.to },
    replacement: Array.from(query.projected(select), (name) => `?${name}`).join(" "),
  }));

/** Each SELECT, subqueries included, that projects all variables: the star ends its head. */
const starsOf = ({ selects }: Query) => selects.filter(({ projectsAll }) => projectsAll);

/** Variables that may be blank nodes, of each SERVICE that a block of triples becomes, by the block's first token. */
type BlockNodes = ReadonlyMap<number, readonly ReadonlySet<string>[]>;

/** True if a variable that may be a blank node stands in patterns of two SERVICEs that are joined. */
function joinsNodes(query: Query, blocks: BlockNodes): boolean {
  let found = false;
  const joined = (parts: Iterable<ReadonlySet<string>>): Set<string> => {
    const all = new Set<string>();
    for (const part of parts) {
      found ||= !all.isDisjointFrom(part);
      for (const name of part) all.add(name);
    }
    return all;
  };
  const nodesOf = (element: Element): Set<string> => {
    const groups = element.groups.map(nodesIn);
    return element.kind === "union"
      ? new Set(groups.flatMap((names) => [...names]))
      : joined([...(blocks.get(element.from) ?? []), ...groups]);
  };
  const nodesIn = ({ select, elements }: Group): Set<string> => {
    if (!select) return joined(elements.map(nodesOf));
    const inner = joined(select.groups.map(nodesIn));
    return inner.intersection(query.projected(select));
  };
  joined(query.outline.groups.map(nodesIn));
  return found;
}

/** Writes blocks of triples as SERVICE clauses. */
class PatternWriter {
  readonly #query: Query;
  readonly #homes: PatternHomes;
  /** In front of the names of variables that the query does not have. */
  readonly #helper: string;
  /** The text has variables that the query does not have. */
  addsVariables = false;
  readonly nodes = new Map<number, readonly ReadonlySet<string>[]>();
  /** Set when a pattern cannot be written. */
  hindrance: NoPortablePlan | undefined;

  constructor(query: Query, homes: PatternHomes) {
    this.#query = query;
    this.#homes = homes;
    this.#helper = freshPrefix(query);
  }

  block(range: Query["outside"][number]): string {
    const parts: Part[] = [];
    for (const triple of tripleTexts(this.#query, range.triples)) {
      const urls = this.#homes.urlsOf(triple);
      const terms = [triple.subject, triple.predicate, triple.object].map((term) => this.#named(term));
      const text = terms.map((term) => term.text).join(" ");
      const variables = terms.flatMap(variableOf);
      const nodes = [triple.subject, triple.object].flatMap(variableOf);
      if (urls.length > 1 && triple.predicate.term === undefined) this.hindrance ??= wandering(triple);
      const key = this.#keyOf(urls, triple);
      const shared = key === undefined ? undefined : parts.find((part) => part.key === key);
      if (!shared) parts.push({ urls, key, triples: [text], variables, nodes });
      else {
        shared.triples.push(text);
        shared.variables.push(...variables);
        shared.nodes.push(...nodes);
      }
    }
    this.nodes.set(
      range.from,
      parts.map(({ nodes }) => new Set(nodes)),
    );
    return parts.map((part) => this.#service(part)).join(" ");
  }

  /** Brackets and path steps as variables that the query does not have. */
  #named(term: TripleText["subject"]): TripleText["subject"] {
    const { range, term: value } = term;
    const isWritten = range !== undefined && this.#query.tokens[range.from]?.kind === "var";
    if (value?.kind !== "variable" || isWritten) return term;
    this.addsVariables = true;
    const name = `${this.#helper}${value.name}`;
    return { ...term, text: `?${name}`, term: { kind: "variable", name } };
  }

  /** Triples with the same key are asked together. */
  #keyOf(urls: readonly string[], { subject }: TripleText): string | undefined {
    if (urls.length === 1) return urls[0];
    return this.#homes.disjoint?.keepSubjects(urls) === true ? `${subject.text} ${urls.join(" ")}` : undefined;
  }

  #service({ urls, triples, variables }: Part): string {
    const clauses = urls.map((url) => `SERVICE <${url}> { ${triples.join(" . ")} }`);
    if (clauses.length === 1) return clauses[0] ?? "";
    const names = [...new Set(variables)].map((name) => `?${name}`).join(" ");
    const branches = clauses.length === 0 ? "FILTER(1 = 0)" : clauses.map((clause) => `{ ${clause} }`).join(" UNION ");
    if (this.#homes.disjoint !== undefined && clauses.length > 1) return branches;
    // SELECT would have to name a variable, which a SELECT * around it would show.
    return names === "" ? `{ FILTER EXISTS { ${branches} } }` : `{ SELECT DISTINCT ${names} WHERE { ${branches} } }`;
  }
}

/** Prefix that keeps the names of helper variables unlike those of the query: usually empty. */
function freshPrefix({ tokens }: Query): string {
  const taken = (prefix: string): boolean =>
    tokens.some(({ kind, text }) => kind === "var" && text.slice(1).startsWith(`${prefix}fedway`));
  let prefix = "";
  while (taken(prefix)) prefix += "_";
  return prefix;
}

/** Triples that the same endpoints are asked for. */
interface Part {
  readonly urls: readonly string[];
  /** Of triples that are one clause with others; absent: it stays alone. */
  readonly key: string | undefined;
  readonly triples: string[];
  readonly variables: string[];
  /** Variables that are the subject or object of a triple. */
  readonly nodes: string[];
}

const variableOf = ({ term }: TripleText["subject"]): readonly string[] =>
  term?.kind === "variable" ? [term.name] : [];

const wandering = ({ predicate }: TripleText): NoPortablePlan => ({
  why: `SPARQL 1.1 cannot say that the path ${predicate.text} may use triples of several members.`,
  next: "Paths with |, !, ?, * or + are not written as SERVICE clauses.",
});

/** The part of a `patternKey` that a term is. */
function keyText({ term }: TripleText["subject"]): string | undefined {
  if (term?.kind === "iri") return `<${term.iri}>`;
  return term?.kind === "literal" ? literalText(term.literal) : undefined;
}
