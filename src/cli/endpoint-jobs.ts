import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Job } from "../jobs/job-queue.ts";
import { parsedJson } from "../json.ts";
import { isOnceId, onceId } from "../registry/catalog/once-id.ts";
import { type CliIo, UsageError } from "./cli-io.ts";
import { isCode, RemoteProblem, type Service } from "./service.ts";

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
  const [bare = target] = target.split("#", 1);
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
    throw new FedwayError("ADDRESS_REFUSED", error.problem.detail, {
      next: "FEDWAY_ALLOW_ADDRESSES names the private addresses that the service may ask, such as 127.0.0.0/8.",
    });
  });
}

interface Page {
  readonly endpoints: readonly { readonly id: string; readonly url: string }[];
  readonly next?: string;
}

const isPage = (value: unknown): value is Page => typeof value === "object" && value !== null && "endpoints" in value;

async function idOf(service: Service, url: string, cursor = ""): Promise<string | undefined> {
  const page = `/api/endpoints?limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
  const answer: unknown = await (await service.ask(page)).json();
  const { endpoints = [], next }: Partial<Page> = isPage(answer) ? answer : {};
  const found = endpoints.find((endpoint) => endpoint.url === url)?.id;
  return found ?? (next === undefined ? undefined : idOf(service, url, next));
}

/**
 * Has a job run to its end and shows how far it is; an interruption cancels it. Resolves to the job, also a cancelled one.
 * @throws RemoteProblem, FedwayError the error of its first attempt that failed, with `next`
 */
export async function runJob(
  { interrupted }: CliIo,
  { service, path, next }: { readonly service: Service; readonly path: string; readonly next: string },
  show: (progress: NonNullable<Job["progress"]>) => void,
): Promise<Job> {
  const accepted: unknown = await (await service.ask(path, { method: "POST" })).json();
  if (!isJob(accepted)) throw notFollowed();
  let job = accepted;
  const at = `/api/jobs/${encodeURIComponent(job.id)}`;
  try {
    while (!hasEnded(job)) {
      for await (job of eventsOf(await service.ask(`${at}/events`))) {
        if (hasEnded(job)) break;
        if (job.progress) show(job.progress);
      }
    }
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

const notFollowed = (): FedwayError => new FedwayError("ENDPOINT_MALFORMED", "The service did not answer with a job.");

const isJob = (value: unknown): value is Job =>
  typeof value === "object" && value !== null && "id" in value && "state" in value;

async function* eventsOf({ body }: Response): AsyncGenerator<Job> {
  if (body === null) throw notFollowed();
  for await (const line of createInterface({ input: Readable.fromWeb(body) })) {
    const job = line.startsWith("data: ") ? parsedJson(line.slice("data: ".length)) : undefined;
    if (isJob(job)) yield job;
  }
}
