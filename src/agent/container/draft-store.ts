import { FedwayError } from "../../errors/fedway-error.ts";
import type { Step } from "./draft.ts";

/** A query under construction; as JSON it is a few kilobytes. */
export interface StoredDraft {
  readonly handle: string;
  readonly owner: string;
  /** Ids of the endpoints. */
  readonly endpoints: readonly string[];
  readonly steps: readonly Step[];
  /** Of its query, as they were counted; null: unknown. */
  readonly rows: number | null;
  readonly expiresAtMs: number;
}

interface StoreBounds {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Time without a call after which a draft is forgotten; default 30 minutes. */
  readonly keepMs?: number;
  /** Of all owners, default 1,000; the oldest goes first. */
  readonly most?: number;
  /** Of one owner, default 20. */
  readonly mostOfOwner?: number;
}

/** Drafts by handle, in the order of their last use. */
export function createDraftStore({ now, keepMs = 30 * 60_000, most = 1_000, mostOfOwner = 20 }: StoreBounds) {
  const drafts = new Map<string, StoredDraft>();
  const sweep = (): void => {
    for (const [handle, { expiresAtMs }] of drafts) if (expiresAtMs <= now()) drafts.delete(handle);
  };
  const dropFirst = (isOne: (draft: StoredDraft) => boolean): void => {
    const oldest = drafts.values().find((draft) => isOne(draft));
    if (oldest) drafts.delete(oldest.handle);
  };
  return {
    /** Keeps a draft, and gives it its time again. */
    put(draft: Omit<StoredDraft, "expiresAtMs">): void {
      sweep();
      drafts.delete(draft.handle);
      if (drafts.size >= most) dropFirst(() => true);
      const own = drafts.values().filter(({ owner }) => owner === draft.owner);
      if ([...own].length >= mostOfOwner) dropFirst(({ owner }) => owner === draft.owner);
      drafts.set(draft.handle, { ...draft, expiresAtMs: now() + keepMs });
    },
    /** @throws FedwayError `DRAFT_UNKNOWN` for one that never was, has expired or is somebody else's: all alike */
    get(handle: string, owner: string): StoredDraft {
      sweep();
      const draft = drafts.get(handle);
      if (draft?.owner === owner) return draft;
      throw new FedwayError(
        "DRAFT_UNKNOWN",
        "There is no query under construction with this handle; unused ones are dropped after half an hour.",
        {
          next: "Open one: step open with the ids of endpoints.",
        },
      );
    },
  };
}
