import type * as RDF from "@rdfjs/types";
import { canonicalLabels, compareText } from "./canonical.ts";
import { vocabularyPrefixes, rdf, xsd } from "./vocabularies.ts";
import { iriText, literalText, stringText } from "./term-text.ts";
import { valueFor } from "../values.ts";

/** Choices of taste. */
interface TurtleStyle {
  /** IRIs below it are written relative to it; the reader has to know it, the text does not name it. */
  readonly baseIri?: string;
  /** Predicates that come first, in this order, behind `a`; the others follow by IRI. */
  readonly predicateOrder?: readonly string[];
}

const lineLength = 110;
/** Nesting of brackets; what lies deeper gets a label. */
const maxDepth = 16;
const maxListItems = 1_000;

/**
 * Turtle 1.1 as one would write it by hand: prefixes that are used, one block a subject, `a` first, blank nodes in
 * brackets and lists in parentheses where that is possible. The text depends on the set of triples alone.
 * @param prefixes by namespace
 * @throws TypeError for triples in named graphs and for triple terms (RDF 1.2)
 */
export function writeTurtle(
  quads: Iterable<RDF.Quad>,
  prefixes: ReadonlyMap<string, string> = vocabularyPrefixes,
  style: TurtleStyle = {},
): string {
  const writer = new TurtleWriter(quads, prefixes, style);
  const blocks = writer.blocks();
  return [writer.head(), ...blocks].filter((part) => part !== "").join("\n");
}

/** A node's statements: its objects by predicate. */
type Statements = Map<string, ObjectList>;

/** The objects of a predicate, each once; of most there is one, whose key nothing needs. */
class ObjectList {
  readonly #first: RDF.Term;
  #byKey: Map<string, RDF.Term> | undefined;

  constructor(first: RDF.Term) {
    this.#first = first;
  }

  get terms(): readonly RDF.Term[] {
    return this.#byKey === undefined ? [this.#first] : [...this.#byKey.values()];
  }

  /** False for one that is there already. */
  add(term: RDF.Term): boolean {
    this.#byKey ??= new Map([[keyOf(this.#first), this.#first]]);
    const { size } = this.#byKey;
    return this.#byKey.set(keyOf(term), term).size > size;
  }
}

/** A term with its text in N-Triples, by which IRIs and literals are ordered. */
interface KeyedTerm {
  readonly term: RDF.Term;
  readonly key: string;
}

interface Layout {
  readonly indent: string;
  readonly depth: number;
}

class TurtleWriter {
  readonly #prefixes: ReadonlyMap<string, string>;
  readonly #base: string | undefined;
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #labels: ReadonlyMap<string, string>;
  readonly #nodes = new Map<string, { readonly term: RDF.Term; readonly statements: Statements }>();
  /** How often a node is an object. */
  readonly #references = new Map<string, number>();
  readonly #started = new Set<string>();
  readonly #brokenLists = new Set<string>();
  readonly #usedPrefixes = new Set<string>();

  constructor(quads: Iterable<RDF.Quad>, prefixes: ReadonlyMap<string, string>, style: TurtleStyle) {
    this.#prefixes = prefixes;
    this.#base = style.baseIri;
    this.#ranks = new Map([rdf.type, ...(style.predicateOrder ?? [])].map((iri, rank) => [iri, rank]));
    const ofBlankNodes: RDF.Quad[] = [];
    for (const quad of quads) {
      this.#take(quad);
      if (quad.subject.termType === "BlankNode" || quad.object.termType === "BlankNode") ofBlankNodes.push(quad);
    }
    this.#labels = canonicalLabels(ofBlankNodes);
  }

  #take({ subject, predicate, object, graph }: RDF.Quad): void {
    if (graph.termType !== "DefaultGraph") throw new TypeError("Turtle has no named graphs.");
    const key = keyOf(subject);
    let node = this.#nodes.get(key);
    if (node === undefined) {
      node = { term: subject, statements: new Map() };
      this.#nodes.set(key, node);
    }
    const objects = node.statements.get(predicate.value);
    if (objects === undefined) node.statements.set(predicate.value, new ObjectList(object));
    else if (!objects.add(object)) return;
    if (object.termType === "Literal") return;
    const objectKey = keyOf(object);
    this.#references.set(objectKey, (this.#references.get(objectKey) ?? 0) + 1);
  }

  head(): string {
    const used = [...this.#prefixes].filter(([, prefix]) => this.#usedPrefixes.has(prefix));
    return used
      .map(([namespace, prefix]) => `@prefix ${prefix}: ${iriText(namespace)} .\n`)
      .toSorted(compareText)
      .join("");
  }

  /** Unreferenced nodes come first; a node written in brackets has no block of its own. */
  blocks(): readonly string[] {
    const nodes = [...this.#nodes].map(([key, { term }]) => ({ key, term }));
    nodes.sort((left, right) => this.#compare(left, right));
    const [roots, others] = [
      nodes.filter((node) => this.#isRoot(node.key)),
      nodes.filter((node) => !this.#isRoot(node.key)),
    ];
    const named = others.filter(({ term }) => term.termType !== "BlankNode");
    const shared = others.filter(({ key, term }) => term.termType === "BlankNode" && this.#references.get(key) !== 1);
    // Blank nodes that are still left lie in a circle or too deep.
    return [roots, named, shared, others].flatMap((group) => group.flatMap(({ key, term }) => this.#block(key, term)));
  }

  #isRoot(key: string): boolean {
    return !this.#references.has(key);
  }

  #block(key: string, term: RDF.Term): readonly string[] {
    const statements = this.#nodes.get(key)?.statements;
    if (statements === undefined || this.#started.has(key)) return [];
    this.#started.add(key);
    // The text grows as they go.
    this.#nodes.delete(key);
    const subject = term.termType === "BlankNode" && this.#isRoot(key) ? "[]" : this.#plain(term);
    return [`${subject} ${this.#statements(statements, { indent: "  ", depth: 0 })} .\n`];
  }

  #statements(statements: Statements, layout: Layout): string {
    const predicates = [...statements.keys()].toSorted(
      (left, right) => this.#rank(left) - this.#rank(right) || compareText(left, right),
    );
    return predicates
      .map((predicate) => this.#property(predicate, valueFor(statements, predicate).terms, layout))
      .join(` ;\n${layout.indent}`);
  }

  #rank(predicate: string): number {
    return this.#ranks.get(predicate) ?? this.#ranks.size;
  }

  #property(predicate: string, objects: readonly RDF.Term[], layout: Layout): string {
    const name = predicate === rdf.type ? "a" : this.#iri(predicate);
    const inner = { indent: `${layout.indent}  `, depth: layout.depth + 1 };
    const texts = this.#inOrder(objects, inner);
    const line = `${name} ${texts.join(", ")}`;
    const isShort = layout.indent.length + line.length <= lineLength;
    if (texts.length === 1 || isShort || texts.some((text) => text.includes("\n"))) return line;
    return `${name}\n${inner.indent}${texts.join(` ,\n${inner.indent}`)}`;
  }

  /** Nodes in brackets are ordered by what stands in them; their labels are hashes and mean nothing to a reader. */
  #inOrder(objects: readonly RDF.Term[], layout: Layout): readonly string[] {
    const [only] = objects;
    if (only !== undefined && objects.length === 1) return [this.#object(only, layout)];
    const written = objects
      .map((term) => ({ term, key: keyOf(term) }))
      .toSorted((left, right) => this.#compare(left, right))
      .map(({ term: object }) => ({ isBlank: object.termType === "BlankNode", text: this.#object(object, layout) }));
    const [blank, other] = [written.filter((each) => each.isBlank), written.filter((each) => !each.isBlank)];
    return [...other, ...blank.toSorted((left, right) => compareText(left.text, right.text))].map(({ text }) => text);
  }

  #object(term: RDF.Term, layout: Layout): string {
    if (term.termType !== "BlankNode" || !this.#canNest(term, layout)) return this.#plain(term);
    const list = this.#list(term);
    if (list !== undefined) return this.#items(list, { indent: layout.indent, depth: layout.depth + 1 });
    const key = keyOf(term);
    this.#started.add(key);
    const statements = this.#nodes.get(key)?.statements;
    if (statements === undefined) return "[]";
    // The brackets end where the line began that they were opened in.
    const inner = { indent: layout.indent, depth: layout.depth };
    return `[\n${inner.indent}${this.#statements(statements, inner)}\n${inner.indent.slice(2)}]`;
  }

  #items(items: readonly RDF.Term[], layout: Layout): string {
    return `(${items.map((item) => ` ${this.#object(item, layout)}`).join("")} )`;
  }

  #canNest(term: RDF.BlankNode, { depth }: Layout): boolean {
    const key = keyOf(term);
    return depth <= maxDepth && this.#references.get(key) === 1 && !this.#started.has(key);
  }

  /** The items of a well-formed list that nothing else refers into; its nodes then count as written. */
  #list(head: RDF.BlankNode): readonly RDF.Term[] | undefined {
    const nodes = new Set<string>();
    const items: RDF.Term[] = [];
    let node: RDF.Term = head;
    while (node.termType === "BlankNode") {
      const key = keyOf(node);
      const cell = this.#cell(key);
      if (cell === undefined || nodes.has(key) || items.length === maxListItems) return this.#notList(nodes);
      nodes.add(key);
      items.push(cell.first);
      node = cell.rest;
    }
    if (node.value !== rdf.nil) return this.#notList(nodes);
    for (const key of nodes) this.#started.add(key);
    return items;
  }

  /** Remembered, so that a long broken list is not walked again from each of its nodes. */
  #notList(nodes: ReadonlySet<string>): undefined {
    for (const key of nodes) this.#brokenLists.add(key);
    return undefined;
  }

  #cell(key: string): { readonly first: RDF.Term; readonly rest: RDF.Term } | undefined {
    if (this.#brokenLists.has(key) || this.#started.has(key) || this.#references.get(key) !== 1) return undefined;
    const statements = this.#nodes.get(key)?.statements;
    if (statements?.size !== 2) return undefined;
    const first = onlyOne(statements.get(rdf.first)?.terms);
    const rest = onlyOne(statements.get(rdf.rest)?.terms);
    return first !== undefined && rest !== undefined ? { first, rest } : undefined;
  }

  #plain(term: RDF.Term): string {
    if (term.termType === "NamedNode") return term.value === rdf.nil ? "()" : this.#iri(term.value);
    if (term.termType === "BlankNode") return `_:${this.#labels.get(term.value) ?? term.value}`;
    if (term.termType === "Literal") return this.#literal(term);
    throw new TypeError(`A ${term.termType} cannot be written as Turtle.`);
  }

  #literal(literal: RDF.Literal): string {
    if (literal.language !== "") return literalText(literal);
    const datatype = literal.datatype.value;
    if (shorthand.get(datatype)?.test(literal.value) === true) return literal.value;
    return datatype === xsd.string ? literalText(literal) : `${stringText(literal.value)}^^${this.#iri(datatype)}`;
  }

  #iri(iri: string): string {
    const end = Math.max(iri.lastIndexOf("#"), iri.lastIndexOf("/")) + 1;
    const prefix = this.#prefixes.get(iri.slice(0, end));
    if (prefix !== undefined && plainLocalName.test(iri.slice(end))) {
      this.#usedPrefixes.add(prefix);
      return `${prefix}:${iri.slice(end)}`;
    }
    const relative = this.#base !== undefined && iri.startsWith(this.#base) ? iri.slice(this.#base.length) : undefined;
    return relative !== undefined && plainPath.test(relative) ? `<${relative}>` : iriText(iri);
  }

  /** IRIs, then literals, then blank nodes. */
  #compare({ term: left, key: leftKey }: KeyedTerm, { term: right, key: rightKey }: KeyedTerm): number {
    const [leftRank, rightRank] = [kinds.indexOf(left.termType), kinds.indexOf(right.termType)];
    if (leftRank !== rightRank) return leftRank - rightRank;
    if (left.termType === "BlankNode") return this.#labelNumber(left) - this.#labelNumber(right);
    return compareText(leftKey, rightKey);
  }

  #labelNumber(term: RDF.Term): number {
    return Number(this.#labels.get(term.value)?.slice(1));
  }
}

const kinds = ["NamedNode", "Literal", "BlankNode"];
/** Local names that need no escaping in any Turtle parser. */
const plainLocalName = /^[A-Za-z_](?:[\w.-]*[\w-])?$/;
/** Relative references that mean the same when they are resolved: no scheme, no dot segments, no query. */
const plainPath = /^(?:[\w-][\w.-]*(?:\/[\w-][\w.-]*)*)?$/;
const shorthand: ReadonlyMap<string, RegExp> = new Map([
  [xsd.boolean, /^(?:true|false)$/],
  [xsd.decimal, /^[+-]?[0-9]+\.[0-9]+$/],
  [xsd.integer, /^[+-]?[0-9]+$/],
]);

const onlyOne = (terms: readonly RDF.Term[] = []): RDF.Term | undefined => (terms.length === 1 ? terms[0] : undefined);

function keyOf(term: RDF.Term): string {
  if (term.termType === "BlankNode") return `_:${term.value}`;
  return term.termType === "Literal" ? literalText(term) : iriText(term.value);
}
