import type { AskRequest, WholeAnswer } from "../../../src/outbound/whole-answer.ts";
import { DataFactory } from "n3";
import { describe, expect, it } from "vitest";
import { type ErrorDetails, FedwayError } from "../../../src/errors/fedway-error.ts";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import type { CatalogEntry } from "../../../src/registry/catalog.ts";
import type { EndpointView } from "../../../src/registry/capabilities/capabilities.ts";
import { createEndpointProbe } from "../../../src/monitor/probe-endpoint.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { createSimulatedClock } from "../../support/simulated-clock.ts";

const rowsOf = (...values: readonly string[]) => values.map((value) => new Map([["x", DataFactory.literal(value)]]));
const answer = (rows: WholeAnswer["rows"], more: Partial<WholeAnswer> = {}): WholeAnswer => ({
  rows,
  quads: [],
  variables: ["x"],
  httpStatus: 200,
  mediaType: "application/sparql-results+json",
  bytes: 100,
  durationMs: 1,
  requests: 1,
  ...more,
});
const right = answer(rowsOf("3", "1", "2"));

type Step = WholeAnswer | FedwayError;
const failed = (code: ErrorCode, details: ErrorDetails = {}) => new FedwayError(code, `${code}!`, details);

function probing(
  steps: readonly Step[],
  options: { entry?: Partial<CatalogEntry>; view?: Partial<EndpointView> } = {},
) {
  const clock = createSimulatedClock(1_000);
  const asked: AskRequest[] = [];
  const view = options.view && { lacks: new Set<never>(), formats: [], ...options.view };
  const probe = createEndpointProbe({
    asker: {
      async ask(request) {
        const step = steps[asked.length] ?? expect.fail("asked too often");
        asked.push(request);
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 40));
        if (step instanceof FedwayError) throw step;
        return step;
      },
      fetchDocument: () => expect.fail("no document is to be fetched"),
    },
    capabilities: { view: () => view },
    clock,
  });
  const controller = new AbortController();
  const found = probe(catalogEntry("people", options.entry), controller.signal);
  return { found, asked, clock, controller };
}

/** What a probe of these answers finds. */
async function findingOf(...[steps, options]: Parameters<typeof probing>) {
  const { found, asked, clock } = probing(steps, options);
  await clock.advance(10_000);
  return { finding: await found, asked };
}

const shouldFind = (name: string, steps: readonly Step[], expected: Record<string, unknown>): void =>
  it(name, async () => {
    const { finding, asked } = await findingOf(steps);
    expect(finding).toMatchObject({ ms: 40, ...expected });
    expect(asked).toHaveLength(steps.length);
  });

describe("answers", () => {
  shouldFind("the three rows, in any order, are right", [right], { ok: true, tries: 1 });
  shouldFind("two rows are not", [answer(rowsOf("1", "2"))], { ok: false, fault: "wrong-answer", tries: 1 });
  shouldFind("nor are none", [answer([])], { ok: false, fault: "wrong-answer" });
  shouldFind("nor other ones", [answer(rowsOf("1", "2", "4"))], {
    ok: false,
    fault: "wrong-answer",
    detail: "Asked for the rows 1, 2 and 3 it answered with 3 rows: 1 | 2 | 4.",
  });
  shouldFind(
    "a partial answer",
    [answer(rowsOf("1"), { partial: { how: "virtuoso-anytime", detail: "Out of time." } })],
    {
      ok: false,
      fault: "partial",
      detail: "Out of time.",
    },
  );
  shouldFind(
    "an answer that says it is partial",
    [answer(right.rows, { partial: { how: "status-206", detail: "206" } })],
    {
      ok: false,
      fault: "partial",
    },
  );
  shouldFind(
    "three rows where three is the cap",
    [answer(right.rows, { partial: { how: "virtuoso-maxrows", detail: "3" } })],
    {
      ok: true,
    },
  );
});

describe("what is asked a second time", () => {
  for (const kind of ["dns", "connect", "tls", "reset", "timeout", "http-5xx"] as const) {
    const error = failed("ENDPOINT_UNREACHABLE", { fault: kind });
    shouldFind(`${kind}, gone in the next moment`, [error, right], { ok: true, tries: 2 });
    shouldFind(`${kind}, and again`, [error, error], { ok: false, fault: kind, tries: 2 });
  }
  const refused = failed("ENDPOINT_REFUSED", { fault: "http-4xx", upstreamStatus: 404 });
  shouldFind("not 404", [refused], { ok: false, fault: "http-4xx", status: 404, tries: 1 });
  shouldFind("nor 429", [failed("ENDPOINT_RATE_LIMITED", { upstreamStatus: 429 })], { fault: "http-429", tries: 1 });
  shouldFind("the second try decides", [failed("ENDPOINT_FAILED"), refused], {
    fault: "http-4xx",
    status: 404,
    tries: 2,
  });
});

describe("what says nothing", () => {
  for (const code of ["CANCELLED", "CIRCUIT_OPEN", "ENDPOINT_BUSY", "INTERNAL"] as const) {
    it(code, async () => expect((await findingOf([failed(code)])).finding).toBeUndefined());
  }

  it("an answer that came after the end", async () => {
    const { found, clock, controller } = probing([right]);
    controller.abort();
    await clock.advance(100);
    expect(await found).toBeUndefined();
  });

  it("a probe that is ended before its second try, at once", async () => {
    const { found, clock, controller, asked } = probing([failed("ENDPOINT_FAILED")]);
    await clock.advance(100);
    controller.abort();
    expect(await found).toBeUndefined();
    expect(asked).toHaveLength(1);
  });
});

describe("how it is asked", () => {
  it("by VALUES", async () => {
    const { asked } = await findingOf([right]);
    expect(asked[0]?.query).toBe("SELECT ?x WHERE { VALUES ?x { 1 2 3 } }");
    expect(asked[0]?.endpoint).toEqual({ id: "people", url: "http://people.example/sparql" });
    expect(asked[0]?.timeoutMs).toBe(30_000);
  });

  it("by ASK, where VALUES is not known", async () => {
    const { asked } = await findingOf([right], { view: { lacks: new Set(["values"]) } });
    expect(asked[0]).toMatchObject({ query: "ASK {}", kind: "boolean" });
  });

  it("in the way that is known to work", async () => {
    const { asked } = await findingOf([right], { view: { method: "get", formats: ["text/csv"] } });
    expect(asked[0]?.endpoint).toMatchObject({ learned: { method: "get" }, formats: ["text/csv"] });
    const given = await findingOf([right], { view: { method: "get" }, entry: { method: "post-direct" } });
    expect(given.asked[0]?.endpoint).toMatchObject({ method: "post-direct" });
  });
});

it("a clock that is set meanwhile makes no impossible duration", async () => {
  for (const [shiftMs, ms] of [
    [-3_600_000, 0],
    [3_600_000, 30_000],
  ] as const) {
    const { found, clock } = probing([right]);
    clock.set(clock.now() + shiftMs);
    await clock.advance(100);
    expect(await found).toMatchObject({ ok: true, ms });
  }
});
