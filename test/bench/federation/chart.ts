import { rounded } from "../proxy/report.ts";
import type { Measured } from "./compare.ts";

const colours = ["#8a8f98", "#1f6feb", "#d9730d", "#8b5cf6", "#2f9e6e"];
const width = 960;
const panelHeight = 190;
const plotHeight = 130;
const left = 56;
const top = 34;

/** Results as a picture: for each size and latency a panel of requests and one of time, a group of bars a query. */
export function chart(title: string, results: readonly Measured[]): string {
  const peers = [...new Set(results.map(({ peer }) => peer))];
  const groups = Map.groupBy(results, ({ members, latencyMs }) => `${members} members, ${latencyMs} ms latency`);
  const panels: string[] = [];
  for (const [where, group] of groups) {
    for (const [what, of] of [
      ["requests", (each: Measured) => each.requests],
      ["milliseconds", (each: Measured) => each.ms],
    ] as const) {
      panels.push(
        `<g transform="translate(0 ${60 + panels.length * panelHeight})">${panel(`${where}: ${what}`, group, { peers, of })}</g>`,
      );
    }
  }
  const legend = peers.map((peer, index) => {
    const x = left + index * 120;
    return `<rect x="${x}" y="34" width="10" height="10" fill="${colourOf(index)}"/><text x="${x + 15}" y="43">${escaped(peer)}</text>`;
  });
  const height = 80 + panels.length * panelHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"
  font-family="sans-serif" font-size="11" fill="#24292f"><rect width="${width}" height="${height}" fill="#fff"/>
<text x="${left}" y="22" font-size="15">${escaped(title)} (log scale; T: time-out, W: wrong answer, F: failed)</text>
${[...legend, ...panels].join("\n")}
</svg>
`;
}

const colourOf = (index: number): string => colours[index % colours.length] ?? "#000";

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

interface Bars {
  readonly peers: readonly string[];
  readonly of: (each: Measured) => number;
}

function panel(title: string, results: readonly Measured[], { peers, of }: Bars): string {
  const decades = Math.max(1, Math.ceil(Math.log10(Math.max(2, ...results.map(of)))));
  const heightOf = (value: number): number => (Math.log10(Math.max(value, 1)) / decades) * plotHeight;
  const parts = [`<text x="${left}" y="20" font-weight="bold">${escaped(title)}</text>`];
  for (let decade = 0; decade <= decades; decade++) {
    const y = top + plotHeight - (decade / decades) * plotHeight;
    parts.push(
      `<line x1="${left}" x2="${width - 10}" y1="${y}" y2="${y}" stroke="#e4e7eb"/><text x="${left - 6}" y="${y + 4}" text-anchor="end">${10 ** decade}</text>`,
    );
  }
  const queries = [...Map.groupBy(results, ({ query }) => query)];
  const step = (width - left - 10) / Math.max(1, queries.length);
  const bar = (step * 0.8) / Math.max(1, peers.length);
  for (const [place, [query, each]] of queries.entries()) {
    const x = left + place * step + step * 0.1;
    for (const measured of each) {
      const index = peers.indexOf(measured.peer);
      // One request and less than a millisecond are seen, too.
      const height = Math.max(2, heightOf(of(measured)));
      const at = x + index * bar;
      const isRight = measured.outcome === "right";
      parts.push(
        `<rect x="${at.toFixed(1)}" y="${(top + plotHeight - height).toFixed(1)}" width="${(bar * 0.9).toFixed(1)}" height="${height.toFixed(1)}" fill="${colourOf(index)}" fill-opacity="${isRight ? 1 : 0.35}"><title>${escaped(`${query}, ${measured.peer}: ${rounded(of(measured))}`)}</title></rect>`,
      );
      if (!isRight) {
        const letter = measured.outcome.slice(0, 1).toUpperCase();
        parts.push(
          `<text x="${(at + bar * 0.45).toFixed(1)}" y="${(top + plotHeight - height - 3).toFixed(1)}" text-anchor="middle">${letter}</text>`,
        );
      }
    }
    parts.push(
      `<text x="${(x + step * 0.4).toFixed(1)}" y="${top + plotHeight + 14}" text-anchor="middle">${escaped(shortened(query, step))}</text>`,
    );
  }
  return parts.join("");
}

/** Some six points a letter. */
const shortened = (text: string, room: number): string =>
  text.length * 6 > room ? `${text.slice(0, Math.max(3, Math.floor(room / 6) - 1))}.` : text;
