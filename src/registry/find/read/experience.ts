import { Type } from "typebox";
import { createCollection } from "../../../store/collection.ts";
import { Mirror } from "../../../store/mirror.ts";
import type { Store } from "../../../store/store.ts";
import { type Example, type ExampleOrigin, outcomeSchema, type RawExample } from "./example.ts";

interface ExperienceOptions {
  readonly store: Store;
  readonly clock: { now(): number };
  /** Pairs that are kept. */
  readonly keepRuns: number;
  /** Called with each pair that was added or removed. */
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

/** Stored runs. */
export type Experience = ReturnType<typeof createExperience>;

/** Pairs of question and query with how they ended, in the store; several processes may share them. */
export function createExperience({ store, clock, keepRuns, onChange, toExample }: ExperienceOptions) {
  const pairs = new Mirror(
    createCollection({
      store,
      prefix: "experience/",
      schema,
      removesInvalid: true,
      lost: "A learned pair of question and query is gone.",
    }),
  );

  function changed(id: string): void {
    const pair = pairs.get(id);
    onChange(id, pair && toExample(pair, { kind: "run", name: id }));
  }

  async function dropOldest(): Promise<void> {
    const kept = [...pairs.entries()];
    if (kept.length <= keepRuns) return;
    const oldest = kept.toSorted(([, one], [, other]) => one.at - other.at).slice(0, kept.length - keepRuns);
    for (const [id] of oldest) {
      await pairs.delete(id);
      changed(id);
    }
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
      await pairs.put(id, document);
      changed(id);
      await dropOldest();
    },
    /** Takes in what other processes keep. @throws FedwayError `STORE_FAILED` */
    async refresh(): Promise<void> {
      for (const id of await pairs.refresh()) changed(id);
      await dropOldest();
    },
  };
}
