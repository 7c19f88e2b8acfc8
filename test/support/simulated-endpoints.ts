import type { Asker, WholeAnswer } from "../../src/outbound/whole-answer.ts";
import type * as RDF from "@rdfjs/types";
import { DataFactory } from "n3";
import type { ErrorCode } from "../../src/errors/codes.ts";
import { type ErrorDetails, FedwayError, type FaultKind } from "../../src/errors/fedway-error.ts";

/** A trouble that makes one incident. */
export interface InjectedOutage {
  readonly startedMs: number;
  readonly openedMs: number;
  closedMs?: number;
  readonly fault: FaultKind;
}

/** What was really injected into one endpoint. */
export interface InjectedTruth {
  probes: number;
  good: number;
  readonly faults: Partial<Record<FaultKind, number>>;
  readonly outages: InjectedOutage[];
  /** Faults, fewer than an incident takes, between good answers. */
  blips: number;
  /** Good answers, fewer than a recovery takes, inside an outage. */
  goodInside: number;
  /** First tries that failed and were made good by the second. */
  transient: number;
  /** Questions that ended without saying anything of the endpoint. */
  silent: number;
}

/** How many faults make an outage and how many good answers end it. */
export interface OutageRules {
  readonly incidentAfter: number;
  readonly recoveredAfter: number;
}

/** Endpoints with a random life of their own, and what is true of them. */
export interface SimulatedEndpoints {
  readonly asker: Asker;
  truthOf(endpoint: string): InjectedTruth;
}

/** Random numbers in [0, 1) from a seed (Mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const integer = (value: number): ReadonlyMap<string, RDF.Term> =>
  new Map([
    ["x", DataFactory.literal(String(value), DataFactory.namedNode("http://www.w3.org/2001/XMLSchema#integer"))],
  ]);

const answer = (rows: readonly number[], more: Partial<WholeAnswer> = {}): WholeAnswer => ({
  rows: rows.map(integer),
  variables: ["x"],
  quads: [],
  httpStatus: 200,
  mediaType: "application/sparql-results+json",
  bytes: 100,
  durationMs: 20,
  requests: 1,
  ...more,
});

const rightAnswer = answer([1, 2, 3]);

const failing = (code: ErrorCode, details: ErrorDetails) => (): Promise<WholeAnswer> =>
  Promise.reject(new FedwayError(code, `${code} was injected.`, details));

/** Every way to fail, as the transport tells it; two of one kind where it has two codes. */
const faulty: readonly (readonly [fault: FaultKind, give: () => Promise<WholeAnswer>])[] = [
  ["dns", failing("ENDPOINT_UNREACHABLE", { fault: "dns" })],
  ["connect", failing("ENDPOINT_UNREACHABLE", { fault: "connect" })],
  ["tls", failing("ENDPOINT_UNREACHABLE", { fault: "tls" })],
  ["reset", failing("ENDPOINT_UNREACHABLE", { fault: "reset" })],
  ["reset", failing("ENDPOINT_BROKE_OFF", { fault: "reset" })],
  ["timeout", failing("ENDPOINT_TIMEOUT", { fault: "timeout" })],
  ["timeout", failing("DEADLINE_EXCEEDED", { fault: "timeout" })],
  ["address", failing("ADDRESS_REFUSED", {})],
  ["http-3xx", failing("ENDPOINT_REDIRECT", { fault: "http-3xx", upstreamStatus: 302 })],
  ["http-4xx", failing("ENDPOINT_REFUSED", { fault: "http-4xx", upstreamStatus: 404 })],
  ["http-429", failing("ENDPOINT_RATE_LIMITED", { fault: "http-429", upstreamStatus: 429 })],
  ["http-5xx", failing("ENDPOINT_FAILED", { fault: "http-5xx", upstreamStatus: 503 })],
  ["wrong-media-type", failing("ENDPOINT_NOT_SPARQL", { fault: "wrong-media-type", upstreamStatus: 200 })],
  ["malformed", failing("ENDPOINT_MALFORMED", { upstreamStatus: 200 })],
  ["malformed", failing("ENDPOINT_BROKE_OFF", { fault: "malformed" })],
  ["too-large", failing("ANSWER_TOO_LARGE", { fault: "too-large" })],
  ["wrong-answer", () => Promise.resolve(answer([]))],
  ["wrong-answer", () => Promise.resolve(answer([1, 2, 4]))],
  ["partial", () => Promise.resolve(answer([1], { partial: { how: "status-206", detail: "Marked as partial." } }))],
];

const silent = [
  failing("CIRCUIT_OPEN", { fault: "circuit-open" }),
  failing("ENDPOINT_BUSY", { fault: "busy" }),
  failing("CANCELLED", {}),
  failing("ENDPOINT_RATE_LIMITED", { fault: "http-429" }),
];

const right = (): Promise<WholeAnswer> => Promise.resolve(rightAnswer);

/** Faults that the probe asks about once more before it believes them. */
const retried: ReadonlySet<FaultKind> = new Set(["dns", "connect", "tls", "timeout", "reset", "http-5xx"]);

type Give = () => Promise<WholeAnswer>;

/** One probe: what its tries get, and what it is then counted as. */
interface Planned {
  readonly tries: readonly Give[];
  readonly count: (atMs: number) => void;
}

interface Life {
  readonly truth: InjectedTruth;
  /** What comes next, as far as it is planned. */
  ahead: readonly Planned[];
  /** How far in that. */
  next: number;
  /** Tries that the probe under way has left. */
  tries: readonly Give[];
}

/** What a life is planned with. */
interface Planning {
  readonly random: () => number;
  readonly rules: OutageRules;
  /** Share of the stretches of trouble; the rest is good. */
  readonly goodLength: number;
}

/** Endpoints whose lives follow from a seed; `inMaintenance` says when faults are to count as nothing. */
export function createSimulatedEndpoints(options: {
  readonly seed: number;
  readonly now: () => number;
  readonly rules: OutageRules;
  readonly inMaintenance: (endpoint: string, atMs: number) => boolean;
}): SimulatedEndpoints {
  const planning: Planning = { random: createRandom(options.seed), rules: options.rules, goodLength: 80 };
  const lives = new Map<string, Life>();
  const lifeOf = (endpoint: string): Life => {
    const known = lives.get(endpoint);
    if (known !== undefined) return known;
    const counts = { probes: 0, good: 0, blips: 0, goodInside: 0, transient: 0, silent: 0 };
    const life: Life = { truth: { ...counts, faults: {}, outages: [] }, ahead: [], next: 0, tries: [] };
    lives.set(endpoint, life);
    return life;
  };
  return {
    truthOf: (endpoint) => lifeOf(endpoint).truth,
    asker: {
      fetchDocument: () => Promise.reject(new Error("There are no documents.")),
      ask({ endpoint: { id = "" } }) {
        const life = lifeOf(id);
        const [again, ...others] = life.tries;
        if (again !== undefined) {
          life.tries = others;
          return again();
        }
        const atMs = options.now();
        if (options.inMaintenance(id, atMs)) return answer503();
        if (life.next >= life.ahead.length) {
          life.ahead = plan(life, planning);
          life.next = 0;
        }
        const planned = life.ahead[life.next];
        life.next += 1;
        planned?.count(atMs);
        const [first = right, ...rest] = planned?.tries ?? [];
        life.tries = rest;
        return first();
      },
    },
  };
}

/** Not asked about again, so that maintenance needs no tries of its own. */
const answer503 = failing("ENDPOINT_REFUSED", { fault: "http-4xx", upstreamStatus: 403 });

/** Plans the next stretch of a life: good answers, and what follows them. */
function plan({ truth }: Life, { random, rules, goodLength }: Planning): readonly Planned[] {
  const planned: Planned[] = [];
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item => items[below(items.length)] as Item;
  const add = (...more: readonly Planned[]): void => void planned.push(...more);
  const goodOnes = (count: number): readonly Planned[] => Array<Planned>(count).fill(good(truth));
  const bad = (): FaultyPlan => faultyProbe(truth, pick(faulty));

  add(...goodOnes(1 + below(2 * goodLength)));
  const dice = random();
  if (dice < 0.1) add(silentProbe(truth, pick(silent)));
  else if (dice < 0.25) add(transientProbe(truth, pick(faulty.filter(([kind]) => retried.has(kind)))));
  else if (dice < 0.6) {
    for (let count = 1 + below(rules.incidentAfter - 1); count > 0; count -= 1) add(bad());
    add({ ...good(truth), count: counting(truth, () => (truth.blips += 1)) });
  } else outage();
  return planned;

  function outage(): void {
    const led = Array.from({ length: rules.incidentAfter }, bad);
    const begun: { startedMs?: number } = {};
    for (const [index, one] of led.entries()) {
      add({
        ...one,
        count(atMs) {
          one.count(atMs);
          if (index === 0) begun.startedMs = atMs;
          if (index < led.length - 1) return;
          truth.outages.push({
            startedMs: begun.startedMs ?? Number.NaN,
            openedMs: atMs,
            fault: led[0]?.kind ?? "busy",
          });
        },
      });
    }
    for (let length = below(20); length > 0; length -= 1) {
      if (random() < 0.2) {
        for (let count = below(rules.recoveredAfter); count > 0; count -= 1) {
          add({ ...good(truth), count: counting(truth, () => (truth.goodInside += 1)) });
        }
      }
      add(bad());
    }
    for (let count = 1; count <= rules.recoveredAfter; count += 1) {
      const close = (atMs: number): void => {
        const last = truth.outages.at(-1);
        if (last !== undefined && count === rules.recoveredAfter) last.closedMs = atMs;
      };
      add({ tries: [right], count: counting(truth, close) });
    }
  }
}

const counting =
  (truth: InjectedTruth, more: (atMs: number) => void = () => {}) =>
  (atMs: number): void => {
    truth.probes += 1;
    truth.good += 1;
    more(atMs);
  };

const good = (truth: InjectedTruth): Planned => ({ tries: [right], count: counting(truth) });

const silentProbe = (truth: InjectedTruth, give: Give): Planned => ({
  tries: [give],
  count() {
    truth.silent += 1;
  },
});

const transientProbe = (truth: InjectedTruth, [, give]: (typeof faulty)[number]): Planned => ({
  tries: [give, right],
  count: counting(truth, () => (truth.transient += 1)),
});

type FaultyPlan = Planned & { readonly kind: FaultKind };

function faultyProbe(truth: InjectedTruth, [kind, give]: (typeof faulty)[number]): FaultyPlan {
  return {
    kind,
    tries: retried.has(kind) ? [give, give] : [give],
    count() {
      truth.probes += 1;
      truth.faults[kind] = (truth.faults[kind] ?? 0) + 1;
    },
  };
}

/** Kinds that are injected. */
export const injectedKinds: readonly FaultKind[] = [...new Set(faulty.map(([kind]) => kind))];
