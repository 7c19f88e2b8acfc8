import type { Queue } from "bullmq";
import { isOpen, type JobRecord } from "../life/job-record.ts";
import type { RedisLink } from "./redis-link.ts";

/**
 * The tickets of all kinds. A ticket is the BullMQ job that stands for a job of ours: it says when and in which order
 * workers come to look at the job's document, which alone says what the job is and how far. Tickets may be lost, late or
 * too many; documents not. Each kind has a queue of its own, so that none waits for another.
 */
export interface Tickets {
  /** Makes sure that an open job has a ticket. @throws FedwayError `STORE_FAILED` */
  add(record: JobRecord): Promise<void>;
  /** Takes back the ticket of a job that will not run; one that a worker holds stays. */
  remove(record: JobRecord): Promise<void>;
  close(): Promise<void>;
}

/** In BullMQ a lower number comes first, and 0 before all others. */
const middlePriority = 1_048_576;

/** BullMQ's id of a job's ticket; another one each time that the job's id is used. No colon: BullMQ forbids it. */
export function ticketOf({ id, order }: Pick<JobRecord, "id" | "order">): string {
  return `${id}~${order}`;
}

/** The id of the job that a ticket stands for. */
export function jobIdOf(ticketId: string): string {
  return ticketId.slice(0, ticketId.lastIndexOf("~"));
}

/** Tickets over a link. */
export function createTickets(link: RedisLink, now: () => number): Tickets {
  const queues = new Map<string, Queue>();
  const queueOf = (kind: string): Queue => {
    const queue = queues.get(kind) ?? link.openQueue(kind);
    queues.set(kind, queue);
    return queue;
  };
  return {
    async add(record) {
      if (!isOpen(record.state)) return;
      const options = {
        jobId: ticketOf(record),
        priority: middlePriority - record.priority,
        delay: Math.max(0, record.runAtMs - now()),
        // What became of a job stands in its document.
        removeOnComplete: true,
        removeOnFail: true,
      };
      await link.wait(queueOf(record.kind).add("ticket", null, options));
    },
    async remove(record) {
      await link.wait(queueOf(record.kind).remove(ticketOf(record)));
    },
    async close() {
      await Promise.all(Array.from(queues.values(), (queue) => queue.close()));
    },
  };
}
