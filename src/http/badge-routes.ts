import type { FastifyReply } from "fastify";
import { type Static, Type } from "typebox";
import { type Html, html } from "../html.ts";
import type { Availability } from "../monitor/monitor.ts";
import { anyOriginHeaders, hasTag, keptFor, tagOf } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { unseen } from "./monitor-routes.ts";
import { percentText } from "../figures.ts";
import { knownEntry } from "./registry-routes.ts";
import { answersAs, IdPath, view, documented } from "./schemas.ts";

const doc = documented("Availability");
const keptSeconds = 300;
const longestLabel = 40;
const hourMs = 3_600_000;

const BadgeView = view("Badge", {
  schemaVersion: Type.Literal(1),
  label: Type.String(),
  message: Type.String(),
  color: Type.String({ description: "RGB, hexadecimal." }),
  isError: Type.Boolean(),
  cacheSeconds: Type.Integer(),
});

/** A badge by the endpoint schema of shields.io. */
type Badge = Static<typeof BadgeView>;

const grey = "595959";
/** Dark enough for white text; an unknown state is grey. */
const colors: Readonly<Record<string, string>> = {
  up: "207a3c",
  down: "b3261e",
  degraded: "8a5a00",
  flapping: "8a5a00",
  maintenance: "1f5fa8",
};

/** The time that an uptime is of: hours of the first day, else days up to 30. */
function spanText(ms: number): string {
  const hours = Math.max(1, Math.ceil(ms / hourMs));
  return hours < 24 ? `${hours} h` : `${Math.min(30, Math.ceil(hours / 24))} d`;
}

function badgeOf(title: string, { health, windows }: Availability, nowMs: number): Badge {
  const state = health.maintenanceUntilMs === undefined ? health.state : "maintenance";
  const { probes = 0, good = 0, firstMs = nowMs } = windows.find(({ window }) => window === "30d") ?? {};
  const uptime = probes === 0 ? "" : ` · ${percentText(good, probes)} in ${spanText(nowMs - firstMs)}`;
  return {
    schemaVersion: 1,
    label: Array.from(title.toWellFormed()).slice(0, longestLabel).join(""),
    message: `${state}${uptime}`,
    color: colors[state] ?? grey,
    isError: state === "down",
    cacheSeconds: keptSeconds,
  };
}

/** Of 11 pixels of a usual sans serif; the text is fitted to it. */
const widthOf = (text: string): number => 10 + Math.ceil(Array.from(text).length * 6.5);

const svgText = (words: string, x: number, width: number): Html =>
  html`<text x="${x + width / 2}" y="14" textLength="${width - 10}" lengthAdjust="spacingAndGlyphs">${words}</text>`;

function badgeSvg({ label, message, color }: Badge): string {
  const [left, right] = [widthOf(label), widthOf(message)];
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-labelledby="t"><title id="t">${label}: ${message}</title><rect width="${left}" height="20" fill="#333"/><rect x="${left}" width="${right}" height="20" fill="#${color}"/><g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" aria-hidden="true">${svgText(label, 0, left)}${svgText(message, left, right)}</g></svg>
`.html;
}

function sendKept(reply: FastifyReply, type: string, body: string): FastifyReply {
  const etag = tagOf(body);
  void reply.headers({ ...anyOriginHeaders, ETag: etag });
  return hasTag(reply.request.headers["if-none-match"], etag) ? reply.code(304).send() : reply.type(type).send(body);
}

/** `GET /endpoints/{id}/badge.svg` and `badge.json`: state and uptime, for other sites. */
export function addBadgeRoutes(app: TypedApp, shell: HttpShell): void {
  const { monitor, config, now = Date.now } = shell;
  const kept = keptFor(keptSeconds, config);
  const badge = async (id: string): Promise<Badge> => {
    const entry = knownEntry(shell, id);
    return badgeOf(entry.title, (await monitor.availability(id)) ?? unseen(entry), now());
  };
  const summary = "State and uptime of an endpoint";
  app.get("/endpoints/:id/badge.svg", {
    schema: { ...doc("getBadge", `${summary}, as an image`), params: IdPath, response: answersAs(["image/svg+xml"]) },
    handler: async (request, reply) =>
      sendKept(reply.headers(kept), "image/svg+xml", badgeSvg(await badge(request.params.id))),
  });
  app.get("/endpoints/:id/badge.json", {
    schema: { ...doc("getBadgeData", `${summary}, for shields.io`, BadgeView), params: IdPath },
    handler: async (request, reply) =>
      sendKept(reply.headers(kept), "application/json", JSON.stringify(await badge(request.params.id))),
  });
}
