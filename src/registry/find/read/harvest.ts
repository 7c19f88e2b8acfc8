import { type Static, Type } from "typebox";
import { type Collection, createCollection } from "../../../store/collection.ts";
import type { Store } from "../../../store/store.ts";
import { exactly, type Frozen, instant, quantity, text } from "../../descriptions/void-description.ts";

/** Rows of one endpoint that are kept at most. */
export const mostRows = 50_000;
const mostNames = 10_000;
const place = Type.Integer({ minimum: -1, maximum: mostNames });

const harvestSchema = exactly({
  /** URL. */
  endpoint: text(2_048),
  /** `finishedAt` of the description that it was made from. */
  describedAt: instant,
  harvestedAt: instant,
  /** Everything that the description names was asked for, and nothing was cut. */
  complete: Type.Boolean(),
  classes: Type.Array(text(2_048), { maxItems: mostNames }),
  properties: Type.Array(text(2_048), { maxItems: mostNames }),
  /**
   * Each with the entity's IRI (empty for a value), the literal as N-Triples, positions of class (-1: unknown) and property,
   * and the degree (-1: unknown).
   */
  rows: Type.Array(
    Type.Tuple([
      Type.String({ maxLength: 2_048 }),
      Type.String({ minLength: 2, maxLength: 4_096 }),
      place,
      place,
      Type.Integer({ minimum: -1 }),
    ]),
    { maxItems: mostRows },
  ),
  /** Pairs of class (-1: any) and property all of whose values are among the rows. */
  whole: Type.Array(Type.Tuple([place, place]), { maxItems: mostNames }),
  cost: exactly({ requests: quantity, bytes: quantity, ms: quantity }),
});

type Stored = Static<typeof harvestSchema>;

/** One row of a harvest. */
export type HarvestRow = Readonly<Stored["rows"][number]>;

/** Labels of entities and values of properties that were read from one endpoint; JSON-serialisable. */
export interface Harvest extends Frozen<Omit<Stored, "rows" | "whole">> {
  readonly rows: readonly HarvestRow[];
  readonly whole: readonly Readonly<Stored["whole"][number]>[];
}

/** Harvests by catalogue id; one that is damaged is dropped and made again with the next description. */
export function createHarvestStore(store: Store): Collection<Harvest> {
  const schema = Type.Object({ format: Type.Literal(1), harvest: harvestSchema });
  return createCollection(
    { store, prefix: "values/", schema, removesInvalid: true, lost: "Values of the endpoint are read again." },
    {
      decode: (stored): Harvest => stored.harvest,
      encode: (harvest) => JSON.stringify({ format: 1, harvest }),
    },
  );
}
