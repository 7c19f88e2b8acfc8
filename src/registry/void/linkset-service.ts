import { FedwayError } from "../../errors/fedway-error.ts";
import type { Job, JobContext, JobKind, JobQueue } from "../../jobs/job-queue.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { endpointUnknown } from "../catalog/endpoint-unknown.ts";
import type { DescriptionService } from "./description-service.ts";
import { type LinkSide, type LinksetFinder, withLinksets } from "./linkset-finder.ts";

/** The two endpoints between which links are looked for. */
interface Payload {
  readonly from: string;
  readonly to: string;
}

/** What a run of the job gives. */
interface LinkSummary extends Payload {
  /** Properties that link them. */
  readonly linksets: number;
  readonly requests: number;
  /** What could not be found out. */
  readonly unknown: readonly string[];
}

/** Links between catalogue endpoints, found on request and kept with the description they start from. */
export interface LinksetService {
  /** The job that looks for the links of one pair; to be started with the queue. */
  readonly kind: JobKind;
  /** @throws FedwayError `ENDPOINT_UNKNOWN`, `DESCRIPTION_UNKNOWN`, `REQUEST_INVALID`, `STORE_FAILED` */
  request(from: string, to: string): Promise<Job>;
}

/** What the service works with. */
interface LinksetServiceOptions {
  readonly catalog: Pick<Catalog, "byId">;
  readonly finder: LinksetFinder;
  readonly descriptions: Pick<DescriptionService, "get" | "put">;
  readonly jobs: Pick<JobQueue, "enqueue">;
}

const kindName = "find-linksets";
const longestJobId = 128;
const idPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/u;
const field = (payload: unknown, name: string): unknown =>
  typeof payload === "object" && payload !== null ? new Map(Object.entries(payload)).get(name) : undefined;

function payloadOf(payload: unknown): Payload {
  const from = field(payload, "from");
  const to = field(payload, "to");
  if (typeof from === "string" && typeof to === "string" && idPattern.test(from) && idPattern.test(to) && from !== to) {
    return { from, to };
  }
  throw new FedwayError("REQUEST_INVALID", `A ${kindName} job needs the ids of two different endpoints.`);
}

async function sideOf({ catalog, descriptions }: LinksetServiceOptions, id: string): Promise<LinkSide> {
  const entry = catalog.byId(id);
  if (!entry) throw endpointUnknown(id);
  const description = await descriptions.get(id);
  if (description) {
    const { url, method } = entry;
    return { endpoint: { id, url, method }, description };
  }
  throw new FedwayError("DESCRIPTION_UNKNOWN", `The endpoint "${id}" has not been described yet.`, {
    next: `POST /api/endpoints/${id}/describe has it described; links are looked for after that.`,
  });
}

/** The service over a finder and the stored descriptions. */
export function createLinksetService(options: LinksetServiceOptions): LinksetService {
  const { descriptions, finder, jobs } = options;
  const run = async (payload: unknown, { signal, progress }: JobContext): Promise<LinkSummary> => {
    const { from, to } = payloadOf(payload);
    progress({ stage: `looking for links to ${to}`, done: 0 });
    const [start, end] = await Promise.all([sideOf(options, from), sideOf(options, to)]);
    const found = await finder.find(start, end, { signal });
    // Read again: the description may have been renewed meanwhile.
    await descriptions.put(from, withLinksets((await sideOf(options, from)).description, to, found));
    const { linksets, records, unknown } = found;
    return { from, to, linksets: linksets.length, requests: records.length, unknown: unknown.map(({ what }) => what) };
  };
  return {
    kind: {
      name: kindName,
      validate(payload) {
        payloadOf(payload);
      },
      run,
    },
    async request(from, to) {
      const payload = payloadOf({ from, to });
      await Promise.all([sideOf(options, from), sideOf(options, to)]);
      const id = `links.${from}.${to}`;
      return jobs.enqueue(kindName, payload, id.length <= longestJobId ? { id } : {});
    },
  };
}
