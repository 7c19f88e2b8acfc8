import type { FlowJob, FlowProducer, Queue } from "bullmq";
import { forAll } from "../life/family.ts";
import { isOpen, type JobRecord } from "../life/job-record.ts";
import { asArray, type RedisLink } from "./redis-link.ts";

/**
 * The tickets of all kinds. A ticket is the BullMQ job that stands for a job of ours: it says when and in which order
 * workers come to look at the job's document, which alone says what the job is and how far. Tickets may be lost, late or
 * too many; documents not. Each kind has a queue of its own, so that none waits for another.
 */
export interface Tickets {
  /** Makes sure that an open job has a ticket. @throws FedwayError `STORE_FAILED` */
  add(record: JobRecord): Promise<void>;
  /**
   * Makes sure that an open job and these open children of it have tickets, as a flow: BullMQ moves the job's ticket on
   * when the last child's ticket has gone. @throws FedwayError `STORE_FAILED`
   */
  addFlow(parent: JobRecord, children: readonly JobRecord[]): Promise<void>;
  /**
   * Takes back the tickets of jobs that will not run, a parent before its children; one that a worker holds stays.
   * @throws FedwayError `STORE_FAILED`
   */
  remove(records: readonly JobRecord[]): Promise<void>;
  /** Takes back what is left of the flows of a kind whose jobs have ended. @throws FedwayError `STORE_FAILED` */
  removeStrays(kind: string): Promise<void>;
  close(): Promise<void>;
}

/** What tickets need beside the link. */
export interface TicketOptions {
  readonly now: () => number;
  /** Beginning of BullMQ's keys for the kinds' queues. */
  readonly kindKeys: string;
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

/** Flows that one look for stray ones goes through; those that have waited longest. */
const mostStrays = 1_000;

/** What BullMQ is told of a ticket that comes at a moment. */
const optionsOf = (record: JobRecord, delay: number) => ({
  jobId: ticketOf(record),
  priority: middlePriority - record.priority,
  delay: Math.max(0, delay),
  // What became of a job stands in its document.
  removeOnComplete: true,
  removeOnFail: true,
});

/** Tickets over a link. */
export function createTickets(link: RedisLink, { now, kindKeys }: TicketOptions): Tickets {
  const queues = new Map<string, Queue>();
  let flows: FlowProducer | undefined;
  const queueOf = (kind: string): Queue => {
    const queue = queues.get(kind) ?? link.openQueue(kind);
    queues.set(kind, queue);
    return queue;
  };
  const flowOf = (record: JobRecord, delay: number): FlowJob => {
    // A queue that is open has its settings in Redis.
    const { name } = queueOf(record.kind);
    return { name: "ticket", queueName: name, data: null, opts: optionsOf(record, delay) };
  };
  const remove = (kind: string, ticket: string): Promise<number> =>
    link.wait(queueOf(kind).remove(ticket, { removeChildren: false }));
  return {
    async add(record) {
      if (!isOpen(record.state)) return;
      await link.wait(queueOf(record.kind).add("ticket", null, optionsOf(record, record.runAtMs - now())));
    },
    async addFlow(parent, children) {
      flows ??= link.openFlows();
      // BullMQ would count the parent's delay from the end of its children.
      const parts = children.map((child) => flowOf(child, child.runAtMs - now()));
      await link.wait(flows.add({ ...flowOf(parent, 0), children: parts }));
    },
    async remove(records) {
      // Not BullMQ's own way to remove children: it removes none when a worker holds one of them.
      await forAll(records, (record) => remove(record.kind, ticketOf(record)));
    },
    async removeStrays(kind) {
      const strays = await link.run("strays", `${kindKeys}:${kind}`, mostStrays);
      await forAll(asArray(strays), (ticket) => remove(kind, String(ticket)));
    },
    async close() {
      await Promise.all(Array.from(queues.values(), (queue) => queue.close()));
      await flows?.close();
    },
  };
}
