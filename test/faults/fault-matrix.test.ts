import { request as send, type IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../src/app.ts";
import type { RunRecord } from "../../src/query/records.ts";
import { federationTurtle } from "../support/catalog-folder.ts";
import { until } from "../support/eventually.ts";
import { type EndpointFault, endpointFaults, startFaultyEndpoints } from "../support/faulty-endpoint.ts";
import { openService } from "../support/running-service.ts";

// Every way in which a member can fail, at every place in a query, on every route, with and without partial answers: none is
// silent, each reason is the right one, and nothing is left running at the member.

const count = 40;
const rowsOf = (predicate: string): string =>
  Array.from({ length: count }, (_, n) => `<x:s${n}> <x:${predicate}> "${predicate}${n}" .`).join("\n");
const data = { p: rowsOf("p"), q: rowsOf("q"), r: rowsOf("r"), none: "" };

const members = ["first", "middle", "last", "only"] as const;
const routes = ["/sparql", "/endpoints/{id}/sparql", "/federations/{id}/sparql", "/api/query"] as const;
type Member = (typeof members)[number];
type Route = (typeof routes)[number];

interface Cell {
  readonly fault: EndpointFault;
  readonly member: Member;
  readonly route: Route;
  readonly partial: boolean;
  /** Catalogue id of the endpoint that fails; each cell has its own, as what is learned of one stays. */
  readonly bad: string;
}

const cells: readonly Cell[] = routes
  .flatMap((route) => members.map((member) => ({ route, member })))
  .flatMap((place) => endpointFaults.map((fault) => Object.assign({ fault }, place)))
  .flatMap((failing) => [false, true].map((partial) => Object.assign({ partial }, failing)))
  .map((cell, index) => Object.assign({ bad: `bad${index}` }, cell));

const timedOut = /^ENDPOINT_TIMEOUT$/;

/** What may be said of a member with this fault. */
const reasons: Readonly<Record<EndpointFault, RegExp>> = {
  refused: /^ENDPOINT_UNREACHABLE$/,
  hang: timedOut,
  "hang in the body": timedOut,
  reset: /^ENDPOINT_BROKE_OFF$/,
  429: /^ENDPOINT_RATE_LIMITED$/,
  500: /^ENDPOINT_FAILED$/,
  206: /^(?:ENDPOINT_PARTIAL|status-206)$/,
  truncated: /^ENDPOINT_(?:MALFORMED|BROKE_OFF)$/,
  "wrong type": /^ENDPOINT_NOT_SPARQL$/,
  drip: timedOut,
};

/** Where one endpoint answers the query, all of its time is that endpoint's. */
const reasonsOf = ({ fault, member, route }: Cell): RegExp =>
  reasons[fault] === timedOut && member === "only" && !route.startsWith("/federations")
    ? /^DEADLINE_EXCEEDED$/
    : reasons[fault];

/** What of the whole answer does not need the member. */
const rowsLeft: Readonly<Record<Member, number>> = { first: count, middle: count, last: count, only: 0 };
/**
 * A fifth of it is what the others have where a member hangs: enough on a busy machine. The member that answers 429 asks for
 * 30 s, which are not to be waited for. Nothing else comes near it.
 */
const timeoutMsOf = ({ fault }: Cell): number => (reasons[fault] === timedOut || fault === "429" ? 20_000 : 240_000);
const atOnce = 32;

/** What a cell's query came to. */
interface Outcome {
  /** Of the response; undefined when its body broke off. */
  readonly status: number | undefined;
  readonly problem: { readonly code?: string; readonly next?: string } | undefined;
  /** Known at the end: by header, trailer or body. */
  readonly said: string | undefined;
  readonly rows: number | undefined;
  readonly record: RunRecord | undefined;
  readonly leftOpen: number;
}

let endpoints: Awaited<ReturnType<typeof startFaultyEndpoints>>;
let app: App;
let base: string;
const outcomes = new Map<Cell, Outcome>();
const urls = new Map<string, string>();

const storeOf = (member: Member): "p" | "q" | "r" => ({ first: "p", middle: "q", last: "r", only: "p" })[member] as "p";

beforeAll(async () => {
  endpoints = await startFaultyEndpoints(data);
  for (const name of ["p", "q", "r", "none"]) urls.set(name, endpoints.url("none", name, name));
  for (const { bad, fault, member } of cells) urls.set(bad, endpoints.url(fault, storeOf(member), bad));
  const files = Object.fromEntries(
    ["good", ...cells.filter(({ route }) => route.startsWith("/federations")).map(({ bad }) => bad)].map((id) => {
      const cell = cells.find(({ bad }) => bad === id);
      const ids = cell ? membersOf(cell) : ["p", "q", "r"];
      return [
        `all-${id}.ttl`,
        federationTurtle(`all-${id}`, `fedway:member ${ids.map((each) => `"${each}"`).join(", ")}`),
      ];
    }),
  );
  app = await openService(Object.fromEntries(urls), { FEDWAY_HOST_RATE: "0", FEDWAY_RUNS: "2000" }, files);
  base = await app.listen();
});

afterAll(async () => {
  await app?.close();
  await endpoints?.close();
});

/** The members of a cell's query, in the order in which they stand there. */
function membersOf({ member, bad }: Cell): readonly string[] {
  if (member === "only") return [bad, "none"];
  return members.slice(0, 3).map((place) => (place === member ? bad : storeOf(place)));
}

const service = (id: string, pattern: string): string => `SERVICE <${urls.get(id)}> { ${pattern} }`;

function queryOf(cell: Cell): string {
  const { member, route } = cell;
  const [first = "", middle = "", last = ""] = membersOf(cell);
  const isFederation = route.startsWith("/federations");
  const inPlace = (id: string, pattern: string): string => (isFederation ? pattern : service(id, pattern));
  const here = route.startsWith("/endpoints") ? "?s <x:p> ?p" : inPlace(first, "?s <x:p> ?p");
  if (member === "only") return `SELECT ?s ?p { ${here} }`;
  const joined = `${here} . ${inPlace(middle, "?s <x:q> ?q")}`.replace("} .", "}");
  return `SELECT * { { ${joined} } UNION { ${inPlace(last, "?s <x:r> ?r")} } }`;
}

function pathOf(cell: Cell): string {
  const [first = ""] = membersOf(cell);
  return cell.route.replace("{id}", cell.route.startsWith("/federations") ? `all-${cell.bad}` : first);
}

async function ask(cell: Cell, timeoutMs = timeoutMsOf(cell)): Promise<Outcome> {
  const query = queryOf(cell);
  const { partial, route } = cell;
  const response =
    route === "/api/query"
      ? await post(`${base}${route}`, JSON.stringify({ query, partial, timeoutMs }), "application/json")
      : await post(
          `${base}${pathOf(cell)}`,
          new URLSearchParams({ query, timeout: String(timeoutMs), partial: String(partial) }).toString(),
          "application/x-www-form-urlencoded",
        );
  const body = await readText(response).catch(() => undefined);
  const record = await recordOf(String(response.headers["fedway-run"]));
  const leftOpen = await openAt(urls.get(cell.bad) ?? "");
  const { trailers, headers, statusCode } = response;
  const said = String(trailers["fedway-status"] ?? headers["fedway-status"]);
  if (body === undefined) return { status: undefined, problem: undefined, said, rows: undefined, record, leftOpen };
  const document = JSON.parse(body);
  const problem = "code" in document ? document : document.diagnosis;
  const rows = document.rows ?? document.results?.bindings;
  return { status: statusCode, problem, said, rows: rows?.length, record, leftOpen };
}

const post = (url: string, body: string, type: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { "Content-Type": type, Accept: "application/json", TE: "trailers", Connection: "close, TE" };
    send(url, { method: "POST", headers }, resolve).once("error", reject).end(body);
  });

/** The record of a run that is over. */
const recordOf = (run: string): Promise<RunRecord | undefined> =>
  until(async () => {
    const record = await app.queries.runRecord(run);
    return record === undefined || record.status !== "running" ? { record } : undefined;
  }).then((found) => found?.record);

/** Requests that are still under way at an endpoint, once none is or as many seconds have passed as no busy machine needs. */
async function openAt(url: string): Promise<number> {
  for (let tries = 0; tries < 1_000 && endpoints.open(url) > 0; tries++) {
    await new Promise((resolve) => {
      setTimeout(resolve, 40);
    });
  }
  return endpoints.open(url);
}

async function runAll(): Promise<void> {
  const left = cells.toReversed();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let cell = left.pop(); cell; cell = left.pop()) outcomes.set(cell, await ask(cell));
    }),
  );
  // On a busy machine the others may not have had enough of the time, or an evaluator, either: asked again, with less beside
  // them. A member that used up the time is left alone, but not by a query that has much more.
  for (const [cell, { record, problem }] of outcomes) {
    const code = record?.code ?? problem?.code ?? "";
    const ranOut = ["DEADLINE_EXCEEDED", "SERVICE_BUSY"].includes(code) && !reasonsOf(cell).test(code);
    if (ranOut) outcomes.set(cell, await ask(cell, 2 * timeoutMsOf(cell)));
  }
}

it("the queries have whole answers where nothing fails", async () => {
  for (const route of routes) {
    for (const member of members) {
      const good = storeOf(member);
      const cell: Cell = { fault: "500", member, route, partial: false, bad: good };
      if (route.startsWith("/federations")) continue;
      const { status, rows } = await ask(cell);
      expect({ status, rows }, `${route} ${member}`).toEqual({
        status: 200,
        rows: member === "only" ? count : 2 * count,
      });
    }
  }
});

it("all cells are asked side by side", runAll, 1_200_000);

describe.each(routes)("on %s", (route) => {
  describe.each(members)("the %s member", (member) => {
    const here = cells.filter((cell) => cell.route === route && cell.member === member);
    it.each(here.map((cell) => [cell.fault, cell.partial ? "with" : "without", cell] as const))(
      "%s, %s partial answers",
      (_fault, _partial, cell) => {
        const outcome = outcomes.get(cell);
        expect(outcome).toBeDefined();
        if (!outcome) return;
        if (outcome.status === 200 && outcome.record?.status === "partial") shouldBePartial(cell, outcome);
        else shouldBeAnError(cell, outcome);
        expect(outcome.leftOpen).toBe(0);
      },
    );
  });
});

/** The answer lacks what the member would have given, and says so. */
function shouldBePartial(cell: Cell, { said, rows = 0, record }: Outcome): void {
  expect(cell.partial).toBe(true);
  expect(said).toBe("partial");
  expect(record).toMatchObject({ status: "partial", partial: "subset" });
  expect(rows).toBeGreaterThanOrEqual(rowsLeft[cell.member]);
  const source = record?.sources.find(({ endpoint }) => endpoint === cell.bad);
  expect(["failed", "timeout", "partial", "skipped"]).toContain(source?.status);
  expect(source?.reason).toMatch(reasonsOf(cell));
}

/** An error that names the member, or a body that broke off and a record that says why. */
function shouldBeAnError(cell: Cell, { status, problem, record }: Outcome): void {
  expect(record).toMatchObject({ status: "failed" });
  expect(record?.code).toMatch(reasonsOf(cell));
  expect(record?.sources.find(({ endpoint }) => endpoint === cell.bad)?.reason).toMatch(reasonsOf(cell));
  // With partial answers only a query that has nothing else may fail.
  if (cell.partial) expect(cell.member).toBe("only");
  if (status === undefined) return;
  expect(status).toBeGreaterThanOrEqual(400);
  expect(problem).toMatchObject({ code: record?.code, where: { endpoint: cell.bad } });
  expect(problem?.next?.includes("partial=true")).toBe(partialHelps(cell));
}

/** Nobody is told to ask for what was asked for, nor for what would not help. */
const partialHelps = ({ partial, member, fault, route }: Cell): boolean =>
  !partial && (member !== "only" || fault === "206" || route.startsWith("/federations"));
