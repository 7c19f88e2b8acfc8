import type { Digest, DigestSpool } from "./digest-spool.ts";

/** The file number of all inputs; shards count from 1. */
export const inputNumber = 0;

/** What can be wrong with a triple, and in which files it was found: first 0 for the input, then shards. */
export type Fault = "missing" | "foreign" | "shared" | "repeated";

/** One kind of fault: how often, and some examples. */
export interface Faults {
  readonly count: number;
  /** At most five. */
  readonly examples: readonly { readonly digest: Digest; readonly files: readonly number[] }[];
}

/** What comparing the shards with the inputs found. */
export interface Comparison {
  /** All parts were compared. */
  readonly isWhole: boolean;
  /** Different triples in inputs and shards, as far as they were compared. */
  readonly triples: number;
  readonly faults: Readonly<Record<Fault, Faults>>;
}

const mostExamples = 5;

interface Counted {
  count: number;
  readonly examples: { digest: Digest; files: readonly number[] }[];
}

const none = (): Counted => ({ count: 0, examples: [] });

/** In which files a triple was found: in the input, first in which shard, and in which others. */
interface Found {
  inInput: boolean;
  shard: number;
  more: number[] | undefined;
}

function gather(records: Iterable<readonly [Digest, number]>): Map<Digest, Found> {
  const found = new Map<Digest, Found>();
  for (const [digest, file] of records) {
    let entry = found.get(digest);
    if (entry === undefined) {
      entry = { inInput: false, shard: 0, more: undefined };
      found.set(digest, entry);
    }
    if (file === inputNumber) entry.inInput = true;
    else if (entry.shard === 0) entry.shard = file;
    else (entry.more ??= []).push(file);
  }
  return found;
}

function faultsOf({ inInput, shard, more }: Found): readonly Fault[] {
  const faults: Fault[] = [];
  if (inInput && shard === 0) faults.push("missing");
  if (!inInput && shard > 0) faults.push("foreign");
  if (more?.some((file) => file !== shard) === true) faults.push("shared");
  else if (more !== undefined) faults.push("repeated");
  return faults;
}

/**
 * Compares part by part, for as long as `onPart` says that there is time: each triple of the input is in exactly one
 * shard, once, and nothing else is. A part has all of its triples, so that faults are faults when others were not seen.
 */
export async function compareTriples(
  spool: DigestSpool,
  onPart: (done: number, total: number) => boolean,
): Promise<Comparison> {
  const faults: Record<Fault, Counted> = {
    missing: none(),
    foreign: none(),
    shared: none(),
    repeated: none(),
  };
  let triples = 0;
  let parts = 0;
  await spool.eachPart((records) => {
    const found = gather(records);
    triples += found.size;
    for (const [digest, entry] of found) {
      for (const fault of faultsOf(entry)) {
        const { examples } = faults[fault];
        faults[fault].count += 1;
        if (examples.length < mostExamples) examples.push({ digest, files: [entry.shard, ...(entry.more ?? [])] });
      }
    }
    parts += 1;
    return onPart(parts, spool.parts);
  });
  return { isWhole: parts === spool.parts, triples, faults };
}
