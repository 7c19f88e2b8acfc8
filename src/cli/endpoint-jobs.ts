import type { Command } from "commander";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Job } from "../jobs/job-queue.ts";
import { linesOf } from "../lines.ts";
import { parsedJson } from "../values.ts";
import type { Capabilities } from "../registry/capabilities.ts";
import { isOnceId, onceId, withoutFragment } from "./once-id.ts";
import type { View } from "../views/view.ts";
import { type CliIo, exitCodes, type Options, type Running, serviceCommand, UsageError } from "./cli-io.ts";
import { writeView } from "./noun.ts";
import { writeJson } from "./output.ts";
import { hasFields, isCode, RemoteProblem, searchOf, type Service, withService } from "./service.ts";

/** Adds `probe`. */
export function addProbe(program: Command, running: Running): void {
  serviceCommand(program, "probe", { about: "show if an endpoint is up, what it can do and how fast it is" })
    .argument("<endpoint>", "URL of a SPARQL endpoint, or its id in the catalogue")
    .option("--json", "the findings as JSON")
    .action(running(runProbe));
}

/** `fedway probe`: has the service probe an endpoint. Resolves to the exit code, a failure for one that is down. */
const runProbe = (io: CliIo, target: string, { url, json }: Options): Promise<number> =>
  withService(io, { url, jobs: endpointJobs, argument: withoutFragment(target) }, (service) =>
    withEndpoint(service, target, async (id) => {
      const path = `/api/endpoints/${encodeURIComponent(id)}/capabilities`;
      const next = "Check the URL, and that the endpoint can be reached from here.";
      const { state } = await runJob(io, { service, path, next });
      if (state === "cancelled") return exitCodes.interrupted;
      const found = await service.read<Capabilities>(path, {}, "constructs", "methods");
      await (json ? writeJson(io, found) : writeView(io, findingsView(found)));
      return found.reachable ? exitCodes.ok : exitCodes.failed;
    }),
  );

function findingsView({ constructs, methods, formats, rowCap, maxValuesRows, ...found }: Capabilities): View {
  const outcomes = Object.entries(constructs);
  const by = (verdict: string) =>
    outcomes.flatMap(([name, outcome]) => (outcome.verdict === verdict ? name : [])).join(", ") || undefined;
  const times = outcomes.map(([, { durationMs }]) => durationMs).toSorted((one, other) => one - other);
  const median = times[Math.floor(times.length / 2)];
  return {
    title: found.endpoint,
    facts: [
      ["state:", found.reachable ? "up" : "down: it did not answer the first query rightly"],
      ["median time:", median === undefined ? undefined : `${Math.round(median)} ms`],
      ["can do:", by("right")],
      ["wrong answers:", by("wrong")],
      ["refused:", by("refused")],
      ["failed:", by("failed")],
      ["requests by:", methods.join(", ") || undefined],
      ["formats:", formats.join(", ") || undefined],
      ["cuts answers at:", rowCap === undefined ? undefined : `${rowCap} rows`],
      ["keys at once:", maxValuesRows === undefined ? undefined : String(maxValuesRows)],
      ["unfinished:", found.unfinished ? "it stopped answering" : undefined],
    ],
  };
}

/** Kinds of jobs that a service of one command runs for the commands of endpoints. */
export const endpointJobs = ["describe-endpoint", "describe-lists", "probe-capabilities"];

const afterwardsMs = 10_000;

/** Requests that are sent also after an interruption. */
export const afterwards = () => ({ signal: AbortSignal.timeout(afterwardsMs) });

/**
 * Uses the catalogue id of an endpoint that is named by it or by its URL. A URL that is not in the catalogue is added for as
 * long as that takes.
 * @throws RemoteProblem, FedwayError, UsageError
 */
export async function withEndpoint<Result>(
  service: Service,
  target: string,
  use: (id: string) => Promise<Result>,
): Promise<Result> {
  const url = URL.parse(target);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    if (/^[a-z0-9][a-z0-9-]*$/.test(target)) return use(target);
    throw new UsageError("neither an http(s) URL nor the id of a catalogue entry: https://example.org/sparql, people");
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError("the URL holds a user name or a password; set FEDWAY_CREDENTIALS instead");
  }
  const bare = withoutFragment(target);
  const known = await idOf(service, bare);
  // A command that was killed leaves its entry to the next one.
  if (known !== undefined && !isOnceId(known)) return use(known);
  const id = known ?? onceId(bare);
  if (known === undefined) await addEntry(service, { id, title: bare, url: bare });
  try {
    return await use(id);
  } finally {
    await service.send(`/api/endpoints/${id}`, { method: "DELETE", ...afterwards() });
  }
}

/** @throws RemoteProblem, FedwayError `ADDRESS_REFUSED` */
async function addEntry(service: Service, body: object): Promise<void> {
  await service.ask("/api/endpoints", { body }).catch((error: unknown) => {
    if (!(error instanceof RemoteProblem && error.problem.detail.includes("address"))) throw error;
    // Its detail says what helps.
    throw new FedwayError("ADDRESS_REFUSED", error.problem.detail);
  });
}

interface Page {
  readonly endpoints: readonly { readonly id: string; readonly url: string }[];
  readonly next?: string;
}

async function idOf(service: Service, url: string, cursor?: string): Promise<string | undefined> {
  const path = `/api/endpoints${searchOf({ limit: 1_000, cursor })}`;
  const { endpoints, next } = await service.read<Page>(path, {}, "endpoints");
  const found = endpoints.find((endpoint) => endpoint.url === url)?.id;
  return found ?? (next === undefined ? undefined : idOf(service, url, next));
}

/**
 * Has a job run to its end and shows how far it is on standard error; an interruption cancels it. Resolves to the job, also a cancelled one.
 * @throws RemoteProblem, FedwayError the error of its first attempt that failed, with `next`
 */
export async function runJob(
  { interrupted, stderr }: CliIo,
  { service, path, next }: { readonly service: Service; readonly path: string; readonly next: string },
): Promise<Job> {
  let job = await service.read<Job>(path, { method: "POST" }, "id", "state");
  const at = `/api/jobs/${encodeURIComponent(job.id)}`;
  try {
    // Other commands start without it.
    const { withProgress } = await import("./progress.ts");
    await withProgress(stderr, async (show) => {
      while (!hasEnded(job)) {
        for await (job of eventsOf(await service.ask(`${at}/events`))) {
          if (hasEnded(job)) break;
          if (job.progress) show(job.progress);
        }
      }
    });
  } catch (error) {
    if (!interrupted.aborted) throw error;
    await service.send(at, { method: "DELETE", ...afterwards() });
    return { ...job, state: "cancelled" };
  }
  if (job.error !== undefined)
    throw new FedwayError(isCode(job.error.code) ? job.error.code : "INTERNAL", job.error.message, { next });
  return job;
}

/** Also when it would be tried again later: a person decides on that. */
const hasEnded = ({ state, error }: Job): boolean =>
  error !== undefined || !(state === "waiting" || state === "running");

async function* eventsOf({ body }: Response): AsyncGenerator<Job> {
  if (body === null) throw new FedwayError("ENDPOINT_MALFORMED", "The service did not answer with a job.");
  for await (const line of linesOf(body)) {
    const job = line.startsWith("data: ") ? parsedJson(line.slice("data: ".length)) : undefined;
    if (hasFields<Job>(job, "id", "state")) yield job;
  }
}
