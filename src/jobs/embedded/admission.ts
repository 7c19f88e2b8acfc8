import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { childId, areTooLarge } from "../bounds.ts";
import { forAll } from "../for-all.ts";
import { brokenBy, failParent, settleLostChild } from "./completion.ts";
import { createChildren } from "./intake.ts";
import type { JobCore, PublicError } from "./job-core.ts";
import { isChildOf, isOpen, type JobRecord, type VersionedRecord } from "./job-record.ts";

/** What the children of a job allow it to do. */
type ChildrenState =
  /** All are done. */
  | { readonly kind: "ready"; readonly children: readonly JobRecord[] }
  | { readonly kind: "waiting"; readonly open: readonly JobRecord[] }
  /** One of them cannot become done any more. */
  | { readonly kind: "broken"; readonly error: PublicError };

/** The children of a job, as they stand now; undefined for one that is not there. @throws FedwayError `STORE_FAILED` */
async function childrenOf(core: JobCore, parent: JobRecord): Promise<readonly (VersionedRecord | undefined)[]> {
  return forAll(parent.children ?? [], async (name) => {
    const held = await core.documents.read(childId(parent.id, name));
    return held !== undefined && isChildOf(held.record, parent) ? held : undefined;
  });
}

/** How the children of a job stand, all of which were there once. @throws FedwayError `STORE_FAILED` */
async function readChildren(core: JobCore, parent: JobRecord): Promise<ChildrenState> {
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

/**
 * What the handlers of these children gave.
 * @throws FedwayError `STORE_FAILED`; `INTERNAL` when results are lost, or too large to be read at once
 */
async function readResults(core: JobCore, children: readonly JobRecord[]): Promise<readonly unknown[]> {
  if (areTooLarge(children.map(({ resultBytes = 0 }) => resultBytes))) {
    throw new FedwayError("INTERNAL", "The results of the job's parts are larger than 16 MiB together.");
  }
  return forAll(children, async ({ id, resultKey }) => {
    if (resultKey === undefined) return undefined;
    const result = await core.documents.readResult(resultKey);
    if (result === undefined) throw new FedwayError("INTERNAL", `The result of the part ${id} was lost.`);
    return result;
  });
}

/** What the children, or the parent, of a job say to running it now. */
type Admission =
  | { readonly kind: "run"; readonly children: readonly unknown[] }
  /** Its children are not done, or it has just changed: to be looked at again after this time. */
  | { readonly kind: "later"; readonly ms: number }
  /** It has been ended: nobody waits for it, or its children will never be done. */
  | { readonly kind: "never" };

const changed: Admission = { kind: "later", ms: 500 };
/** The last child brings the parent's turn; coming too early is rare, and looking at a thousand children is work. */
const tooEarly: Admission = { kind: "later", ms: 5_000 };

/**
 * Whether an open job may run now: a child, when its parent waits for it; a parent, when its children are done, whose
 * results it then gets. @throws FedwayError `STORE_FAILED`
 */
export async function admit(core: JobCore, held: VersionedRecord): Promise<Admission> {
  const { record } = held;
  if (record.parent !== undefined && !(await core.documents.isOpen(record.parent))) {
    await settleLostChild(core, record.id);
    return { kind: "never" };
  }
  if (record.children === undefined) return { kind: "run", children: [] };
  const state = await reviewChildren(core, held);
  if (state === undefined) return changed;
  if (state.kind === "waiting") return tooEarly;
  return state.kind === "ready" ? admitParent(core, record, state.children) : { kind: "never" };
}

async function admitParent(core: JobCore, record: JobRecord, children: readonly JobRecord[]): Promise<Admission> {
  try {
    return { kind: "run", children: await readResults(core, children) };
  } catch (thrown) {
    const error = toFedwayError(thrown);
    if (error.code === "STORE_FAILED") throw error;
    await failParent(core, record, error);
    return { kind: "never" };
  }
}

/**
 * Makes good what a crash left undone with the children of an open parent: creates missing children, fails a parent whose
 * children cannot all become done. Resolves to how they stand; undefined when they have just been created.
 * @throws FedwayError `STORE_FAILED`
 */
export async function reviewChildren(core: JobCore, held: VersionedRecord): Promise<ChildrenState | undefined> {
  const { record } = held;
  if (record.planKey !== undefined) {
    await createChildren(core, record);
    return undefined;
  }
  const state = await readChildren(core, record);
  if (state.kind === "broken") await failParent(core, record, state.error);
  return state;
}
