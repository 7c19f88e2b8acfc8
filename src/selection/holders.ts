import type { HeldRows, HolderQuestion } from "../plan/source-selection.ts";
import type { FactTable } from "./fact-table.ts";
import { hashTerm } from "./term-filter.ts";

/** Which rows members may have, by the filters over all terms of the places that were read. */
export function holdersOf({ members, places, rows }: HolderQuestion, table: FactTable): HeldRows {
  const hashed = rows.map((row) => row.map((iri) => (iri === "" ? undefined : hashTerm(iri))));
  return members.map(({ id, url }) => {
    const facts = table.get(id, url);
    const filters = places.flatMap(({ column, place, property }) => {
      const of = property === undefined ? facts?.all : facts?.properties?.get(property);
      const filter = of?.[place]?.filter;
      return filter === undefined ? [] : [{ column, filter }];
    });
    if (filters.length === 0) return null;
    return hashed.flatMap((row, index) => {
      const isHeld = filters.every(({ column, filter }) => {
        const hash = row[column];
        return hash === undefined || filter.has(hash);
      });
      return isHeld ? index : [];
    });
  });
}
