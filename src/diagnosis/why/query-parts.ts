import { itemAt } from "../../values.ts";
import {
  type Element,
  type Group,
  type TokenRange,
  type TriplesElement,
  isWord,
  type Query,
} from "../../sparql/query.ts";
import { type TripleText, tripleTexts } from "../../sparql/patterns.ts";

/** A SERVICE, GRAPH or plain group around parts. */
export interface Wrapper {
  /** Text before its brace, such as `SERVICE <http://...>`; empty for a plain group. */
  readonly head: string;
  /** The element; its brace group is the end of it. */
  readonly range: TokenRange;
  readonly group: Group;
  /** IRI of the SERVICE. */
  readonly service?: string;
  /** Where its target is written. */
  readonly target?: TokenRange;
}

/**
 * A piece of a group that can be taken out of it. The more parts of a query are joined the fewer solutions there are, but for
 * "optional" and "bind", which neither add nor remove any of those before them.
 */
export interface QueryPart {
  readonly kind: "triple" | "filter" | "values" | "bind" | "optional" | "minus" | "block";
  /** As it is asked, without the wrappers. */
  readonly text: string;
  /** As a reader knows it. */
  readonly range: TokenRange;
  readonly triple?: TripleText;
  /** Outermost first. */
  readonly wrappers: readonly Wrapper[];
  /** The parts of a subquery, or of the first branch of a UNION: where they have no solutions, the block has none from there. */
  readonly inner?: readonly QueryPart[];
  /** Variables that it binds, or, of a filter, mentions. */
  readonly variables: ReadonlySet<string>;
}

/** Parts that any solution needs, in the order of the text; those of SERVICE, GRAPH and plain groups one by one. */
export function partsOf(query: Query): readonly QueryPart[] {
  const { where, values } = query.outline;
  const parts = where === undefined ? [] : partsOfGroup(query, where, []);
  return values === undefined || isGrouped(query) ? parts : [...parts, ...partsOfElement(query, values, [])];
}

/** Solutions are grouped, so that VALUES behind the query is joined with groups. */
const isGrouped = ({ tokens, outline: { tail, head } }: Query): boolean =>
  tokens.slice(tail.from, tail.to).some((token) => isWord(token, "GROUP")) ||
  tokens.slice(head.from, head.to).some((token) => token.text === "(");

function partsOfGroup(query: Query, group: Group, wrappers: readonly Wrapper[]): readonly QueryPart[] {
  if (group.select) {
    const text = query.textOf(group);
    const variables = query.visibleIn(group);
    const { where } = group.select;
    const inner = where === undefined ? [] : partsOfGroup(query, where, wrappers);
    return [{ kind: "block", text, range: group, wrappers, variables, inner }];
  }
  return group.elements.flatMap((element) => partsOfElement(query, element, wrappers));
}

function partsOfElement(query: Query, element: Element, wrappers: readonly Wrapper[]): readonly QueryPart[] {
  if (element.kind === "triples") return triplesOf(query, element, wrappers);
  const wrapper = wrapperOf(query, element);
  if (wrapper) return partsOfGroup(query, wrapper.group, [...wrappers, wrapper]);
  const branch = element.kind === "union" ? element.groups[0] : undefined;
  const isBlock = element.kind === "union" || element.kind === "graph" || element.kind === "service";
  return [
    {
      kind: isBlock ? "block" : element.kind,
      text: query.textOf(element),
      range: element,
      wrappers,
      ...(branch && { inner: partsOfGroup(query, branch, wrappers) }),
      variables: element.kind === "filter" ? query.variablesIn(element) : query.visibleIn(element),
    },
  ];
}

/**
 * Groups that parts can be taken out of; a SERVICE or GRAPH of a variable is asked as it stands, as the variable may be bound by it.
 */
function wrapperOf(query: Query, element: Element): Wrapper | undefined {
  const { tokens, prologue } = query;
  if (element.kind === "union") {
    const [group, ...others] = element.groups;
    const isPlain = group !== undefined && others.length === 0 && group.select === undefined;
    return isPlain ? { head: "", range: element, group } : undefined;
  }
  if (element.kind !== "service" && element.kind !== "graph") return undefined;
  const name = itemAt(tokens, element.name);
  if (name.kind === "var") return undefined;
  const head = query.textOf({ from: element.from, to: element.name + 1 });
  const { group } = element;
  if (element.kind === "graph") return { head, range: element, group };
  const target = { from: element.name, to: element.name + 1 };
  return { head, range: element, group, service: prologue.iriOf(name), target };
}

function triplesOf(query: Query, block: TriplesElement, wrappers: readonly Wrapper[]): readonly QueryPart[] {
  return tripleTexts(query, block.triples).map((triple) => {
    const ranges = [triple.subject, triple.predicate, triple.object].flatMap(({ range }) => range ?? []);
    const range = {
      from: Math.min(...ranges.map(({ from }) => from), block.to - 1),
      to: Math.max(...ranges.map(({ to }) => to), block.from + 1),
    };
    return withTriple({ kind: "triple", text: "", range, wrappers, variables: new Set() }, triple);
  });
}

/** The same part with another triple pattern. */
export function withTriple(part: QueryPart, triple: TripleText): QueryPart {
  const terms = [triple.subject, triple.predicate, triple.object];
  const names = terms.flatMap(({ term }) => (term?.kind === "variable" ? [term.name] : []));
  return { ...part, text: `${terms.map(({ text }) => text).join(" ")} .`, triple, variables: new Set(names) };
}

/** The group graph pattern of some parts, in their order, without its braces; parts of one wrapper share it. */
export function renderParts(parts: readonly QueryPart[]): string {
  const written: string[] = [];
  let open: readonly Wrapper[] = [];
  for (const { wrappers, text } of parts) {
    const shared = wrappers.findIndex((wrapper, depth) => open[depth]?.range !== wrapper.range);
    const kept = shared < 0 ? wrappers.length : shared;
    for (let depth = open.length; depth > kept; depth--) written.push("}");
    for (const { head } of wrappers.slice(kept)) written.push(`${head} {`);
    written.push(text);
    open = wrappers;
  }
  return [...written, ...open.map(() => "}")].join(" ");
}

/** Declarations of a query, and its dataset clauses. */
export function headOf(query: Query): { readonly prologue: string; readonly dataset: string } {
  const { text, tokens, prologue, outline } = query;
  const dataset = outline.datasets.map((clause) => query.textOf(clause)).join(" ");
  return { prologue: text.slice(0, itemAt(tokens, prologue.length).start), dataset };
}

/** IRI of the innermost SERVICE that a part stands in; undefined outside of every one. */
export const serviceOf = ({ wrappers }: QueryPart): string | undefined =>
  wrappers.findLast(({ service }) => service !== undefined)?.service;
