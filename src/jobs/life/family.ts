import { FedwayError } from "../../errors/fedway-error.ts";
import { isLargeFamily } from "../bounds.ts";
import type { JobCore, PublicError } from "./job-core.ts";
import { childId, isChildOf, isOpen, type JobRecord, type VersionedRecord } from "./job-record.ts";

/** Children that are looked at side by side. */
const atOnce = 32;

/** What the children of a job allow it to do. */
export type Family =
  /** All are done. */
  | { readonly kind: "ready"; readonly children: readonly JobRecord[] }
  | { readonly kind: "waiting"; readonly open: readonly JobRecord[] }
  /** One of them cannot become done any more. */
  | { readonly kind: "broken"; readonly error: PublicError };

/** Applies `work` to all items, some at a time, and gives what came of it in their order. */
export async function forAll<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    const batch = items.slice(from, from + atOnce);
    results.push(...(await Promise.all(batch.map((item, index) => work(item, from + index)))));
  }
  return results;
}

/** The children of a job, as they stand now; undefined for one that is not there. @throws FedwayError `STORE_FAILED` */
export async function childrenOf(core: JobCore, parent: JobRecord): Promise<readonly (VersionedRecord | undefined)[]> {
  return forAll(parent.children ?? [], async (name) => {
    const held = await core.documents.read(childId(parent.id, name));
    return held !== undefined && isChildOf(held.record, parent) ? held : undefined;
  });
}

/** How the children of a job stand, all of which were there once. @throws FedwayError `STORE_FAILED` */
export async function readFamily(core: JobCore, parent: JobRecord): Promise<Family> {
  const names = parent.children ?? [];
  const children: JobRecord[] = [];
  for (const [index, held] of (await childrenOf(core, parent)).entries()) {
    const error = brokenBy(names[index] ?? "", held?.record);
    if (error !== undefined) return { kind: "broken", error };
    if (held !== undefined) children.push(held.record);
  }
  const open = children.filter(({ state }) => isOpen(state));
  return open.length > 0 ? { kind: "waiting", open } : { kind: "ready", children };
}

/** Why a child with this record lets its parent fail. */
export function brokenBy(name: string, record: JobRecord | undefined): PublicError | undefined {
  if (record === undefined) return { code: "INTERNAL", message: `The part ${name} of the job was lost.` };
  if (record.state === "cancelled") return { code: "CANCELLED", message: `The part ${name} was cancelled.` };
  if (record.state !== "failed") return undefined;
  const { code, message } = record.error ?? { code: "INTERNAL", message: "Nothing is known of why." };
  return { code, message: `The part ${name} failed: ${message}` };
}

/**
 * What the handlers of these children gave.
 * @throws FedwayError `STORE_FAILED`; `INTERNAL` when results are lost, or too large to be read at once
 */
export async function readResults(core: JobCore, children: readonly JobRecord[]): Promise<readonly unknown[]> {
  if (isLargeFamily(children.map(({ resultBytes = 0 }) => resultBytes))) {
    throw new FedwayError("INTERNAL", "The results of the job's parts are larger than 16 MiB together.");
  }
  return forAll(children, async ({ id, resultKey }) => {
    if (resultKey === undefined) return undefined;
    const result = await core.documents.readResult(resultKey);
    if (result === undefined) throw new FedwayError("INTERNAL", `The result of the part ${id} was lost.`);
    return result;
  });
}
