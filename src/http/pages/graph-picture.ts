import { itemAt } from "../../values.ts";
import { type Html, html, type Piece } from "../../html.ts";
import { table } from "./layout.ts";

/** A box of a picture. */
interface PictureNode {
  readonly id: string;
  readonly title: string;
  /** A second line, such as a count. */
  readonly detail: string;
  readonly path?: string;
}

/** An arrow between boxes, or one that only the table has because its ends are the same. */
export interface PictureEdge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  readonly count: string;
}

/** Boxes that a picture shows, and arrows. */
export const mostNodes = 12;
const mostEdges = 30;
const [width, height, boxWidth, boxHeight] = [760, 480, 138, 42] as const;

interface Placed extends PictureNode {
  readonly x: number;
  readonly y: number;
}

/** On an ellipse, the first at the top; a fixed order gives a fixed picture. */
const place = (nodes: readonly PictureNode[]): readonly Placed[] =>
  nodes.map((node, at) => {
    const angle = (2 * Math.PI * at) / nodes.length - Math.PI / 2;
    const [rx, ry] = [(width - boxWidth) / 2 - 4, (height - boxHeight) / 2 - 4];
    return {
      ...node,
      x: Math.round(width / 2 + rx * Math.cos(angle)),
      y: Math.round(height / 2 + ry * Math.sin(angle)),
    };
  });

const cut = (text: string, most: number): string => {
  const letters = Array.from(text);
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
};

const box = ({ title, detail, x, y }: Placed): Html =>
  html`<g class="node"><title>${title}: ${detail}</title><rect x="${x - boxWidth / 2}" y="${y - boxHeight / 2}" width="${boxWidth}" height="${boxHeight}" rx="6"/><text x="${x}" y="${y - 3}">${cut(title, 17)}</text><text class="detail" x="${x}" y="${y + 13}">${cut(detail, 22)}</text></g>
`;

interface Arrow {
  readonly from: Placed;
  readonly to: Placed;
  readonly edges: readonly PictureEdge[];
}

/** Where the line from one box meets the border of another. */
function border({ x, y }: Placed, from: { readonly x: number; readonly y: number }) {
  const [dx, dy] = [from.x - x, from.y - y];
  const share = Math.min(1, (boxWidth / 2 + 3) / Math.abs(dx || 1), (boxHeight / 2 + 3) / Math.abs(dy || 1));
  return { x: Math.round(x + dx * share), y: Math.round(y + dy * share) };
}

/** Of a label: nearer to the start than to the middle, where many lines cross. */
const at = (a: number, b: number, c: number): number => Math.round(0.42 * a + 0.46 * b + 0.12 * c);

/** A line that bends to its left, so that the way back is another one. */
function arrow({ from, to, edges }: Arrow): Html {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const bend = 22 / Math.hypot(dx, dy);
  const middle = { x: Math.round((from.x + to.x) / 2 - dy * bend), y: Math.round((from.y + to.y) / 2 + dx * bend) };
  const [start, end] = [border(from, middle), border(to, middle)];
  const { label: name, count } = itemAt(edges, 0);
  const label =
    edges.length > 1
      ? `${cut(name, 16)} +${edges.length - 1}`
      : `${cut(name, 20)}${/\d/.test(count) ? `, ${count}` : ""}`;
  return html`<g class="edge"><title>${from.title} to ${to.title}: ${edges.map((each) => each.label).join(", ")}</title><path d="M${start.x} ${start.y}Q${middle.x} ${middle.y} ${end.x} ${end.y}" marker-end="url(#tip)"/><text x="${at(start.x, middle.x, end.x)}" y="${at(start.y, middle.y, end.y)}">${label}</text></g>
`;
}

function arrowsOf(placed: readonly Placed[], edges: readonly PictureEdge[]): readonly Arrow[] {
  const byId = new Map(placed.map((node) => [node.id, node]));
  const pairs = Map.groupBy(edges, ({ from, to }) => JSON.stringify([from, to]));
  return [...pairs.values()]
    .flatMap((same) => {
      const edge = itemAt(same, 0);
      const [from, to] = [byId.get(edge.from), byId.get(edge.to)];
      return from && to && from !== to ? [{ from, to, edges: same }] : [];
    })
    .slice(0, mostEdges);
}

const linked = (node: PictureNode | undefined, id: string): Piece =>
  node?.path === undefined ? (node?.title ?? id) : html`<a href="${node.path}">${node.title}</a>`;

interface Picture {
  readonly name: string;
  readonly nodes: readonly PictureNode[];
  readonly edges: readonly PictureEdge[];
}

/** Boxes and arrows as inline SVG, and the same as a table. */
export function graphPicture({ name, nodes: allNodes, edges }: Picture): Html {
  const nodes = allNodes.slice(0, mostNodes);
  const placed = place(nodes);
  const byId = new Map(allNodes.map((node) => [node.id, node]));
  const left = allNodes.length - nodes.length;
  return html`<div class="scroll" role="group" aria-label="${name}" tabindex="0"><svg class="graph" viewBox="0 0 ${width} ${height}" role="img" aria-label="${name}; the table below says the same">
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>
${arrowsOf(placed, edges).map(arrow)}${placed.map(box)}</svg></div>
${left > 0 ? html`<p class="small muted">${nodes.length} of ${allNodes.length} are drawn.</p>\n` : ""}${
  edges.length === 0
    ? ""
    : html`<details><summary>The same as a table</summary>
${table({
  name: `${name} as a table`,
  columns: [
    ["From", ({ from }) => linked(byId.get(from), from)],
    ["Property", ({ label }) => label],
    ["To", ({ to }) => linked(byId.get(to), to)],
    ["#Links", ({ count }) => count],
  ],
  rows: edges,
})}</details>
`
}`;
}
