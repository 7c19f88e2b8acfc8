import { reviewFamily } from "../life/admission.ts";
import type { JobCore } from "../life/job-core.ts";
import { isOpen, type JobRecord } from "../life/job-record.ts";
import type { Tickets } from "./tickets.ts";

/**
 * Makes sure that an open job has a ticket, and so have its open children. @throws FedwayError `STORE_FAILED`
 */
export async function putUp(core: JobCore, tickets: Tickets, job: JobRecord): Promise<void> {
  if (job.children === undefined) return tickets.add(job);
  const held = await core.documents.read(job.id);
  if (held === undefined || held.record.order !== job.order || !isOpen(held.record.state)) return;
  const family = await reviewFamily(core, held);
  // Created just now, by whoever comes next to put them up.
  if (family === undefined) return putUp(core, tickets, job);
  if (family.kind === "waiting") await tickets.addFlow(held.record, family.open);
  else if (family.kind === "ready") await tickets.add(held.record);
}

/** Gets a parent going whose ticket waits for tickets that are gone. @throws FedwayError `STORE_FAILED` */
export async function putUpAgain(core: JobCore, tickets: Tickets, job: JobRecord): Promise<void> {
  const held = await core.documents.read(job.id);
  if (held === undefined || held.record.order !== job.order || !isOpen(held.record.state)) return;
  const family = await reviewFamily(core, held);
  if (family?.kind !== "ready") return;
  await tickets.remove([held.record]);
  await tickets.add(held.record);
}
