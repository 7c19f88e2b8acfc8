import { setTimeout as sleep } from "node:timers/promises";
import { residentBytes } from "../../support/child-processes.ts";
import { machineTicks, stolenShare } from "../proxy/process-stats.ts";

/** What a soak showed. */
export interface SoakReport {
  readonly requests: number;
  readonly perSecond: number;
  /** Answers that were not as they should be, by what they were. */
  readonly errors: Readonly<Record<string, number>>;
  /** Of each minute: how many of them, and the share of the machine's processor time that its host gave to others. */
  readonly minutes: readonly { readonly errors: number; readonly stolen: number | undefined }[];
  /** After the warm-up. */
  readonly residentSlopeMbPerMinute: number;
  readonly heapSlopeMbPerMinute: number;
  readonly residentMb: readonly number[];
  readonly heapMb: readonly number[];
}

/** How a service is soaked. */
export interface SoakOptions {
  readonly url: string;
  readonly pid: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Share of the time before memory is looked at. */
  readonly warmUp: number;
}

const mb = 1024 * 1024;

/** Slope of the least-squares line. */
function slope(points: readonly (readonly [number, number])[]): number {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length;
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return above / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

async function heapBytes(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^nodejs_heap_size_used_bytes (\S+)$/mu.exec(text)?.[1] ?? Number.NaN);
}

const query = (text: string): RequestInit => ({
  method: "POST",
  headers: { Accept: "application/sparql-results+json" },
  body: new URLSearchParams({ query: text }),
});

/** What users of all kinds ask for; most of it queries. */
function mix(url: string): readonly (() => Promise<Response>)[] {
  const people = "SELECT ?s ?o WHERE { ?s a ?o } LIMIT 10";
  const ask = (): Promise<Response> => fetch(`${url}/endpoints/people/sparql`, query(people));
  const wrapped = (): Promise<Response> =>
    fetch(`${url}/sparql`, query(`SELECT * { SERVICE <${url}/hosted/places/sparql> { ?s ?p ?o } } LIMIT 10`));
  const join = `SELECT * {
    SERVICE <${url}/hosted/people/sparql> { { SELECT ?s ?c { ?s a ?c } LIMIT 5 } }
    SERVICE <${url}/hosted/places/sparql> { { SELECT ?p ?d { ?p a ?d } LIMIT 2 } } }`;
  const federated = (): Promise<Response> => fetch(`${url}/sparql`, query(join));
  const list = (): Promise<Response> => fetch(`${url}/api/endpoints?q=people&limit=5`);
  const page = (): Promise<Response> => fetch(`${url}/status`);
  const wrong = (): Promise<Response> => fetch(`${url}/sparql`, query("SELECT * WHERE { ?s ?p"));
  return [ask, wrapped, ask, list, ask, wrapped, ask, ask, federated, wrapped, ask, page, ask, wrapped, ask, wrong];
}

/** Asks at a steady rate, whatever the answers do. */
export async function soak({ url, pid, seconds, perSecond, warmUp }: SoakOptions): Promise<SoakReport> {
  const requests = mix(url);
  const errors: Record<string, number> = {};
  const memory: { readonly atMs: number; readonly resident: number; readonly heap: number }[] = [];
  const open = new Set<Promise<void>>();
  const startedMs = performance.now();
  const minutes: { errors: number; stolen: number | undefined }[] = [{ errors: 0, stolen: undefined }];
  let ticks = machineTicks();
  const note = (what: string): void => {
    errors[what] = (errors[what] ?? 0) + 1;
    minutes.at(-1)!.errors += 1;
  };
  const ask = async (index: number): Promise<void> => {
    const request = requests[index % requests.length];
    const isWrong = index % requests.length === requests.length - 1;
    try {
      const response = await request?.();
      await response?.arrayBuffer();
      if (response?.status !== (isWrong ? 400 : 200)) note(`${index % requests.length}: ${response?.status}`);
    } catch (error) {
      note(`${index % requests.length}: ${error instanceof Error ? `${error.message} ${String(error.cause)}` : "?"}`);
    }
  };
  let sent = 0;
  let sampledMs = 0;
  for (;;) {
    const elapsedMs = performance.now() - startedMs;
    minutes.at(-1)!.stolen = stolenShare(ticks);
    if (elapsedMs >= seconds * 1_000) break;
    if (elapsedMs >= minutes.length * 60_000) {
      minutes.push({ errors: 0, stolen: undefined });
      ticks = machineTicks();
    }
    for (const due = (elapsedMs / 1_000) * perSecond; sent < due; sent++) {
      const asked = ask(sent).finally(() => open.delete(asked));
      open.add(asked);
    }
    if (elapsedMs - sampledMs > 2_000) {
      sampledMs = elapsedMs;
      const heap = await heapBytes(url).catch(() => Number.NaN);
      if (Number.isFinite(heap)) memory.push({ atMs: elapsedMs, resident: residentBytes(pid), heap });
    }
    await sleep(5);
  }
  await Promise.all(open);
  const late = memory.filter(({ atMs }) => atMs > warmUp * seconds * 1_000);
  const line = (read: (sample: (typeof memory)[number]) => number): number =>
    slope(late.map((sample) => [sample.atMs / 60_000, read(sample) / mb]));
  const tenth = memory.filter((_, index) => index % Math.max(1, Math.floor(memory.length / 10)) === 0);
  return {
    requests: sent,
    perSecond: sent / ((performance.now() - startedMs) / 1_000),
    errors,
    minutes,
    residentSlopeMbPerMinute: line(({ resident }) => resident),
    heapSlopeMbPerMinute: line(({ heap }) => heap),
    residentMb: tenth.map(({ resident }) => Math.round(resident / mb)),
    heapMb: tenth.map(({ heap }) => Math.round(heap / mb)),
  };
}
