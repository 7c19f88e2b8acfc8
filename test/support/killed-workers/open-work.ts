import { openState, redisPrefix } from "../../../src/app/open-state.ts";
import { createBullmqJobQueue } from "../../../src/jobs/bullmq/bullmq-job-queue.ts";
import { EmbeddedJobQueue } from "../../../src/jobs/embedded/embedded-job-queue.ts";
import type { JobQueue } from "../../../src/jobs/job-queue.ts";
import {
  createWebhookService,
  type WebhookService,
  type WebhookServiceOptions,
} from "../../../src/monitor/receivers/webhooks.ts";
import type { Store } from "../../../src/store/store.ts";
import { createJsonClient } from "../../../src/outbound/json-client.ts";
import { catalogEntry } from "../catalog-entry.ts";
import type { Ledger } from "./ledger.ts";

/** Where the work is kept and who hears of it; the same for all processes of a deployment, but for the name. */
export interface WorkPlace {
  /** Of the process; also in the user agent of its deliveries. */
  readonly name: string;
  /** Folder of the embedded queue; nothing lies in it with `redisUrl`. */
  readonly dataDir: string;
  readonly redisUrl?: string;
  /** How long a job stays with a worker that gives no sign of life, where there are several. */
  readonly leaseMs: number;
  /** Longest wait for Redis, where it is no part of the test that Redis is slow. */
  readonly commandTimeoutMs?: number;
  /** Where webhooks are delivered to. */
  readonly receiver: string;
}

/** The secret that deliveries are signed with. */
export const workSecret = "a secret of the killed";

/** A queue that is not started, with the service whose jobs it delivers. */
export interface Work {
  readonly queue: JobQueue;
  readonly store: Store;
  readonly webhooks: WebhookService;
  close(): Promise<void>;
}

/** Opens the queue of a place as the service does, with times fit for a test. Notes what is enqueued, and faults. */
export async function openWork(place: WorkPlace, ledger: Ledger): Promise<Work> {
  const { name, dataDir, redisUrl, leaseMs, commandTimeoutMs } = place;
  const state = await openState({ dataDir, redisUrl });
  const { store } = state;
  const onFault = (fault: unknown): void => ledger.note({ worker: name, step: "fault", text: textOf(fault) });
  const times = { progressMs: 20, keepFinished: 100_000, onFault };
  const patience = {
    leaseMs,
    stalledMs: 300,
    sweepMs: 1_000,
    ...(commandTimeoutMs !== undefined && { commandTimeoutMs }),
  };
  const queue =
    redisUrl === undefined
      ? new EmbeddedJobQueue({ store, ...times })
      : createBullmqJobQueue({ url: redisUrl, prefix: redisPrefix, ...patience, ...times });
  const add = queue.enqueue.bind(queue);
  const enqueue: JobQueue["enqueue"] = async (...job) => {
    const enqueued = await add(...job);
    ledger.note({ worker: name, step: "enqueued", job: enqueued.id });
    return enqueued;
  };
  const client = createJsonClient({ version: name, contact: "ops@example.org", allowAddresses: ["127.0.0.0/8"] });
  return {
    queue: Object.assign(queue, { enqueue }),
    store,
    webhooks: createWebhookService(
      webhookOptions(place, { store, jobs: { enqueue }, send: (message) => client.post(message) }),
    ),
    async close() {
      await queue.close();
      await client.close();
      await state.close();
    },
  };
}

type Links = Pick<WebhookServiceOptions, "store" | "jobs" | "send">;

const webhookOptions = ({ receiver }: WorkPlace, links: Links): WebhookServiceOptions => ({
  ...links,
  urls: [receiver],
  secret: workSecret,
  publicUrl: "https://fedway.example",
  catalog: { byId: (id) => catalogEntry(id) },
  clock: { now: () => Date.now() },
});

/** Code and message, with what is behind a failure that the code does not tell. */
function textOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  const code = "code" in fault ? String(fault.code) : fault.name;
  const cause = fault.cause instanceof Error ? ` (${fault.cause.message})` : "";
  return `${code}: ${fault.message}${cause}`;
}
