import { unknownId } from "../../errors/unknown-id.ts";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Job, JobKind, JobQueue } from "../../jobs/job-queue.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { catalogId } from "../catalog/statements.ts";
import type { DescriptionService } from "./description-service.ts";
import { type LinkSide, type LinksetFinder, withLinksets } from "./linkset-finder.ts";

interface LinksetServiceOptions {
  readonly catalog: Pick<Catalog, "byId" | "entries">;
  readonly finder: LinksetFinder;
  readonly descriptions: Pick<DescriptionService, "get" | "put">;
  readonly jobs: Pick<JobQueue, "enqueue">;
}

const kindName = "find-linksets";
const longestJobId = 128;
const payloads = Compile(Type.Object({ from: catalogId, to: catalogId }));

function payloadOf(payload: unknown) {
  if (payloads.Check(payload) && payload.from !== payload.to) return payload;
  throw new FedwayError("REQUEST_INVALID", `A ${kindName} job needs the ids of two different endpoints.`);
}

async function sideOf({ catalog, descriptions }: LinksetServiceOptions, id: string): Promise<LinkSide> {
  const entry = catalog.byId(id);
  if (!entry) throw unknownId("endpoint", id, catalog);
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
export function createLinksetService(options: LinksetServiceOptions) {
  const { descriptions, finder, jobs } = options;
  const run: JobKind["run"] = async (payload, { signal, progress }) => {
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
    /** The job that looks for the links of one pair; to be started with the queue. */
    kind: { name: kindName, validate: (payload: unknown) => void payloadOf(payload), run },
    /** @throws FedwayError `ENDPOINT_UNKNOWN`, `DESCRIPTION_UNKNOWN`, `REQUEST_INVALID`, `STORE_FAILED` */
    async request(from: string, to: string): Promise<Job> {
      const payload = payloadOf({ from, to });
      await Promise.all([sideOf(options, from), sideOf(options, to)]);
      const id = `links.${from}.${to}`;
      return jobs.enqueue(kindName, payload, id.length <= longestJobId ? { id } : {});
    },
  };
}
