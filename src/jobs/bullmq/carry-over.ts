import { FedwayError } from "../../errors/fedway-error.ts";
import { childId } from "../bounds.ts";
import type { Intake } from "./intake.ts";
import { forAll, type RedisLink } from "./redis-link.ts";

/** An open job as versions before 0.2 stored it. */
interface FormerJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: unknown;
  readonly priority: number;
  readonly parent?: { readonly id: string };
  readonly children?: readonly string[];
}

const pageSize = 500;
const claimMs = 30_000;

/**
 * Enqueues the open jobs that a former version left in Redis, as documents of its own, and forgets these. A job that a
 * worker of that version still runs, in a rolling update, waits for the next call; parents run all of their children again.
 * @throws FedwayError `STORE_FAILED`
 */
export async function carryOver(link: RedisLink, prefix: string, intake: Intake): Promise<void> {
  const former = formerJobs(link, `${prefix}jobs:`);
  const ids = await former.open();
  for (const id of ids) {
    const seen = await former.read(id);
    // Children come with their parents.
    if (seen?.parent !== undefined && ids.includes(seen.parent.id)) continue;
    await carryJob(former, intake, [id, ...(seen?.children ?? []).map((name) => childId(id, name))]);
  }
}

async function carryJob(former: FormerJobs, intake: Intake, ids: readonly string[]): Promise<void> {
  const claimed = await forAll(ids, (id) => former.claim(id));
  try {
    if (claimed.includes(false)) return;
    // Another process may have been quicker.
    const [job, ...children] = await forAll(ids, (id) => former.read(id));
    if (job !== undefined && job.parent === undefined) await enqueueAgain(intake, job, children);
    await former.remove(ids);
  } catch (error) {
    // Of a kind that this version does not have: it stays for one that does.
    if (!(error instanceof FedwayError && error.code === "REQUEST_INVALID")) throw error;
  } finally {
    await forAll(ids, async (id, index) => claimed[index] && former.release(id));
  }
}

async function enqueueAgain(intake: Intake, job: FormerJob, found: readonly (FormerJob | undefined)[]): Promise<void> {
  const { id, kind, payload, priority, children: names = [] } = job;
  const children = found.flatMap((child, index) =>
    child === undefined ? [] : [{ name: names[index] ?? "", kind: child.kind, payload: child.payload }],
  );
  await intake.enqueue(kind, payload, { id, priority, children: children.length > 0 ? children : undefined });
}

type FormerJobs = ReturnType<typeof formerJobs>;

function formerJobs(link: RedisLink, own: string) {
  const leaseOf = (id: string): string => `${own}lease:${id}`;
  return {
    async open(): Promise<readonly string[]> {
      const ids = await link.command("zrange", `${own}open`, 0, pageSize - 1);
      return Array.isArray(ids) ? ids.map(String) : [];
    },
    async read(id: string): Promise<FormerJob | undefined> {
      const text = await link.command("hget", `${own}job:${id}`, "record");
      return typeof text === "string" ? JSON.parse(text) : undefined;
    },
    /** False while a worker of that version runs the job, or another process carries it over. */
    claim: async (id: string): Promise<boolean> =>
      (await link.command("set", leaseOf(id), "carrying over", "PX", claimMs, "NX")) !== null,
    release: (id: string): Promise<unknown> => link.command("del", leaseOf(id)),
    async remove(ids: readonly string[]): Promise<void> {
      await link.command("del", ...ids.map((id) => `${own}job:${id}`));
      await link.command("zrem", `${own}open`, ...ids);
    },
  };
}
