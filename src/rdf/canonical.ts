import { hash } from "node:crypto";
import type * as RDF from "@rdfjs/types";
import { iriText, literalText } from "./term-text.ts";
import { itemAt, valueFor } from "../values.ts";

/** Nodes and edges that are looked at, at most; some ten thousand blank nodes stay below it. */
const maxWork = 200_000;

/**
 * Labels for the blank nodes of some triples, `b0`, `b1`, ..., that depend on the triples alone and not on the labels or
 * the order they came with. Nodes are distinguished by what surrounds them (colour refinement), ties by choosing one. Two
 * isomorphic graphs get the same labels unless they have nodes that look alike everywhere and still are not
 * interchangeable, or more blank nodes than the work limit allows; both only cost a false "has changed".
 */
export function canonicalLabels(quads: readonly RDF.Quad[]): ReadonlyMap<string, string> {
  const nodes = nodesOf(quads);
  const colours = new Map(nodes.map(({ label, fixed }) => [label, hashed(fixed)]));
  let alike = sharing(nodes, colours);
  for (let work = 0; alike.length > 0 && work < maxWork; ) {
    const before = countOf(alike, colours);
    work += refine(alike, colours);
    if (countOf(alike, colours) === before) chooseOne(alike, colours);
    alike = sharing(alike, colours);
  }
  const ordered = [...colours].toSorted(([, left], [, right]) => compareText(left, right));
  return new Map(ordered.map(([label], index) => [label, `b${index}`]));
}

/**
 * The triples as sorted lines of N-Triples without repetitions and with `canonicalLabels`: equal for equal graphs, fit
 * for storing and for hashing. Named graphs are ignored.
 * @throws TypeError for triple terms (RDF 1.2)
 */
export function canonicalNTriples(quads: readonly RDF.Quad[]): readonly string[] {
  const labels = canonicalLabels(quads);
  const text = (term: RDF.Term): string =>
    term.termType === "BlankNode" ? `_:${labels.get(term.value) ?? term.value}` : constantText(term);
  const lines = quads.map(({ subject, predicate, object }) => `${text(subject)} ${text(predicate)} ${text(object)} .`);
  return [...new Set(lines)].toSorted(compareText);
}

/** Order of UTF-16 code units: the same everywhere. */
export const compareText = (left: string, right: string): number => (left < right ? -1 : Number(left > right));

function constantText(term: RDF.Term): string {
  if (term.termType === "NamedNode") return iriText(term.value);
  if (term.termType === "Literal") return literalText(term);
  throw new TypeError(`A ${term.termType} cannot be written as N-Triples.`);
}

const termText = (term: RDF.Term): string => (term.termType === "BlankNode" ? `_:${term.value}` : constantText(term));

/** A blank node and the triples around it. */
interface BlankNodeUse {
  readonly label: string;
  /** Triples with no other blank node. */
  readonly fixed: string[];
  /** Predicate and direction of the others, with the label at the other end. */
  readonly edges: { readonly text: string; readonly other: string }[];
}

function nodesOf(quads: readonly RDF.Quad[]): readonly BlankNodeUse[] {
  const nodes = new Map<string, BlankNodeUse>();
  const use = ({ value: label }: RDF.BlankNode): BlankNodeUse => {
    const known = nodes.get(label) ?? { label, fixed: [], edges: [] };
    nodes.set(label, known);
    return known;
  };
  for (const { subject, predicate, object } of distinct(quads)) {
    const arrow = constantText(predicate);
    if (subject.termType !== "BlankNode") {
      if (object.termType === "BlankNode") use(object).fixed.push(`${constantText(subject)} ${arrow} .`);
    } else if (object.termType !== "BlankNode") {
      use(subject).fixed.push(`. ${arrow} ${constantText(object)}`);
    } else if (subject.value === object.value) {
      use(subject).fixed.push(`. ${arrow} .`);
    } else {
      use(subject).edges.push({ text: `> ${arrow}`, other: object.value });
      use(object).edges.push({ text: `< ${arrow}`, other: subject.value });
    }
  }
  return [...nodes.values()];
}

/** The triples with blank nodes, each once. */
function distinct(quads: readonly RDF.Quad[]): Iterable<RDF.Quad> {
  const found = new Map<string, RDF.Quad>();
  for (const quad of quads) {
    const { subject, predicate, object } = quad;
    if (subject.termType !== "BlankNode" && object.termType !== "BlankNode") continue;
    found.set(`${termText(subject)} ${termText(predicate)} ${termText(object)}`, quad);
  }
  return found.values();
}

type Colours = Map<string, string>;

const colourOf = ({ label }: BlankNodeUse, colours: Colours): string => valueFor(colours, label);

const countOf = (nodes: readonly BlankNodeUse[], colours: Colours): number =>
  new Set(nodes.map((node) => colourOf(node, colours))).size;

/** The nodes that another one shares its colour with. */
function sharing(nodes: readonly BlankNodeUse[], colours: Colours): readonly BlankNodeUse[] {
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(colourOf(node, colours), (counts.get(colourOf(node, colours)) ?? 0) + 1);
  return nodes.filter((node) => counts.get(colourOf(node, colours)) !== 1);
}

/** One round: each node's colour takes in its neighbours'. Answers how much was looked at. */
function refine(nodes: readonly BlankNodeUse[], colours: Colours): number {
  const next = nodes.map((node) => {
    const lines = node.edges.map(({ text, other }) => `${text} ${valueFor(colours, other)}`);
    return hashed([colourOf(node, colours), hashed(lines)]);
  });
  for (const [index, { label }] of nodes.entries()) colours.set(label, itemAt(next, index));
  return nodes.reduce((work, { edges }) => work + 1 + edges.length, 0);
}

/** Gives the first node of the first colour a colour of its own. */
function chooseOne(nodes: readonly BlankNodeUse[], colours: Colours): void {
  const [first] = nodes.toSorted((left, right) => compareText(colourOf(left, colours), colourOf(right, colours)));
  if (first !== undefined) colours.set(first.label, hashed(["chosen", colourOf(first, colours)]));
}

/** One colour of some lines, in whatever order. */
const hashed = (lines: readonly string[]): string =>
  hash("sha256", lines.toSorted(compareText).join("\n"), "base64url");
