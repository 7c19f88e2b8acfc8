import { type Static, Type } from "typebox";
import { createCollection, type Versioned } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import { type Example, type ExampleOrigin, outcomeSchema, type RawExample } from "./example.ts";

interface ExperienceOptions {
  readonly store: Store;
  readonly clock: { now(): number };
  /** Pairs that are kept. */
  readonly keepRuns: number;
  /** Hears of each pair that is there now, or not any more. */
  readonly onChange: (id: string, example: Example | undefined) => void;
  readonly toExample: (raw: RawExample, origin: ExampleOrigin) => Example | undefined;
}

const schema = Type.Object({
  /** Milliseconds since the epoch. */
  at: Type.Number(),
  question: Type.String(),
  query: Type.String(),
  targets: Type.Array(Type.String()),
  outcome: outcomeSchema,
  feedback: Type.Optional(Type.String()),
});

type Known = Versioned<Static<typeof schema>>;

/** What is kept of runs. */
export type Experience = ReturnType<typeof createExperience>;

/** Pairs of question and query with how they ended, in the store; several processes may share them. */
export function createExperience({ store, clock, keepRuns, onChange, toExample }: ExperienceOptions) {
  const pairs = createCollection({ store, prefix: "experience/", schema, removesInvalid: true });
  const known = new Map<string, Known>();

  function take(id: string, version: Known): void {
    known.set(id, version);
    onChange(id, version.document && toExample(version.document, { kind: "run", name: id }));
  }

  async function drop(id: string): Promise<void> {
    await pairs.delete(id);
    known.delete(id);
    onChange(id, undefined);
  }

  async function dropOldest(): Promise<void> {
    if (known.size <= keepRuns) return;
    const oldest = [...known]
      .map(([id, { document }]) => ({ id, at: document?.at ?? 0 }))
      .toSorted((one, other) => one.at - other.at);
    for (const { id } of oldest.slice(0, known.size - keepRuns)) await drop(id);
  }

  return {
    /**
     * Keeps how a query that was meant to answer a question ended; the same pair again takes the place of the earlier one.
     * Beyond the bound the oldest go. @throws FedwayError `STORE_FAILED`
     */
    async add(pair: RawExample): Promise<void> {
      const example = toExample(pair, { kind: "run", name: "" });
      if (example === undefined) return;
      const { id, question, query, targets, outcome, feedback } = example;
      const document = {
        at: clock.now(),
        question,
        query,
        targets: [...targets],
        outcome,
        ...(feedback !== undefined && { feedback }),
      };
      const version = await pairs.put(id, document);
      take(id, { version: version ?? 0, document });
      await dropOldest();
    },
    /** Takes in what other processes keep. @throws FedwayError `STORE_FAILED` */
    async refresh(): Promise<void> {
      const seen = new Set<string>();
      for await (const [id, version] of pairs.versionedEntries("", (name) => known.get(name))) {
        seen.add(id);
        if (known.get(id) !== version) take(id, version);
      }
      for (const id of [...known.keys()].filter((name) => !seen.has(name))) {
        known.delete(id);
        onChange(id, undefined);
      }
      await dropOldest();
    },
  };
}
