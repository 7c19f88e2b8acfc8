import { toFedwayError } from "../../errors/fedway-error.ts";
import { createChildren } from "./children.ts";
import { failParent, settleOrphan } from "./endings.ts";
import { type Family, readFamily, readResults } from "./family.ts";
import type { JobCore } from "./job-core.ts";
import type { JobRecord, VersionedRecord } from "./job-record.ts";

/** What the family of a job says to running it now. */
export type Admission =
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
    await settleOrphan(core, record.id);
    return { kind: "never" };
  }
  if (record.children === undefined) return { kind: "run", children: [] };
  const family = await reviewFamily(core, held);
  if (family === undefined) return changed;
  if (family.kind === "waiting") return tooEarly;
  return family.kind === "ready" ? admitParent(core, record, family.children) : { kind: "never" };
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
 * Makes good what a crash left undone in the family of an open parent: creates missing children, fails a parent whose
 * children cannot all become done. Resolves to how they stand; undefined when they have just been created.
 * @throws FedwayError `STORE_FAILED`
 */
export async function reviewFamily(core: JobCore, held: VersionedRecord): Promise<Family | undefined> {
  const { record } = held;
  if (record.planKey !== undefined) {
    await createChildren(core, record);
    return undefined;
  }
  const family = await readFamily(core, record);
  if (family.kind === "broken") await failParent(core, record, family.error);
  return family;
}
