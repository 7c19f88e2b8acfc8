import { amountText } from "../../../../figures.ts";
import {
  forceCenter,
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  type SimulationNodeDatum,
} from "d3-force";
import type { Cells } from "./cells.ts";
import { labelOf, sentence } from "./parts.ts";

const mostTriples = 300;
const rounds = 300;
const width = 960;
const height = 600;

interface Node extends SimulationNodeDatum {
  readonly id: string;
  readonly label: string;
  readonly isIri: boolean;
}

interface Edge {
  readonly source: Node;
  readonly target: Node;
  readonly label: string;
}

/** Draws triples as nodes and arrows, laid out by forces before they are shown. */
export function drawGraph(place: HTMLElement, { triples }: Cells): () => void {
  const shown = triples.slice(0, mostTriples);
  const { nodes, edges } = graphOf(shown);
  forceSimulation(nodes)
    .force("link", forceLink(edges).distance(120))
    .force("charge", forceManyBody().strength(-320))
    .force("collide", forceCollide(26))
    .force("centre", forceCenter(width / 2, height / 2))
    .stop()
    .tick(rounds);
  const picture = drawing("svg", { viewBox: boxOf(nodes), role: "img", "aria-label": summary(nodes, edges) });
  picture.append(arrowHead(), ...edges.map(edgeShape), ...nodes.map(nodeShape));
  const rest = triples.length > shown.length ? ` The first ${mostTriples} of ${triples.length} triples.` : "";
  place.append(sentence(`${summary(nodes, edges)}${rest}`), picture);
  return () => picture.remove();
}

function graphOf(triples: Cells["triples"]): { nodes: Node[]; edges: Edge[] } {
  const nodes = new Map<string, Node>();
  const nodeOf = (term: Cells["triples"][number]["object"]): Node => {
    const isIri = term.termType === "NamedNode";
    const id = `${term.termType} ${term.value}`;
    const node = nodes.get(id) ?? { id, isIri, label: labelOf({ value: term.value, type: isIri ? "uri" : "" }, 24) };
    nodes.set(id, node);
    return node;
  };
  const edges = triples.map(({ subject, predicate, object }) => ({
    source: nodeOf(subject),
    target: nodeOf(object),
    label: labelOf({ value: predicate.value, type: "uri" }, 24),
  }));
  return { nodes: [...nodes.values()], edges };
}

const summary = (nodes: readonly Node[], edges: readonly Edge[]): string =>
  `${amountText(nodes.length, "node")}, ${amountText(edges.length, "triple")}.`;

/** The part of the plane that the nodes take, with room for their labels. */
function boxOf(nodes: readonly Node[]): string {
  const xs = nodes.map(({ x = 0 }) => x);
  const ys = nodes.map(({ y = 0 }) => y);
  const [left, right] = [Math.min(width / 4, ...xs) - 90, Math.max((width * 3) / 4, ...xs) + 90];
  const [top, bottom] = [Math.min(height / 4, ...ys) - 75, Math.max((height * 3) / 4, ...ys) + 40];
  return [left, top, right - left, bottom - top].map(Math.round).join(" ");
}

function arrowHead(): Element {
  const marker = drawing("marker", {
    id: "arrow",
    viewBox: "0 0 8 8",
    refX: 16,
    refY: 4,
    markerWidth: 8,
    markerHeight: 8,
    orient: "auto",
  });
  marker.append(drawing("path", { d: "M0 0L8 4L0 8z" }));
  return marker;
}

function edgeShape({ source, target, label }: Edge): Element {
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = [source.x, source.y, target.x, target.y];
  const isLoop = source === target;
  // A line from a node to itself has no length: a loop leaves the node to the upper left and comes back from the right.
  const d = isLoop
    ? `M${x1} ${y1}C${x1 - 50} ${y1 - 60} ${x1 + 50} ${y1 - 60} ${x1} ${y1}`
    : `M${x1} ${y1}L${x2} ${y2}`;
  const group = drawing("g", { class: "edge" });
  group.append(
    drawing("path", { d, "marker-end": "url(#arrow)" }),
    drawing("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - (isLoop ? 49 : 3) }, label),
  );
  return group;
}

function nodeShape({ id, label, isIri, x = 0, y = 0 }: Node): Element {
  const group = drawing("g", { class: isIri ? "node" : "node literal" });
  group.append(
    drawing("title", {}, id.slice(id.indexOf(" ") + 1)),
    drawing("circle", { cx: x, cy: y, r: 8 }),
    drawing("text", { x, y: y + 22 }, label),
  );
  return group;
}

function drawing(name: string, attributes: Readonly<Record<string, string | number>>, text = ""): Element {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, typeof value === "number" ? String(Math.round(value * 10) / 10) : value);
  }
  made.append(text);
  return made;
}
