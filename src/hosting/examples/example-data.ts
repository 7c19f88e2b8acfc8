import { libraryData } from "./library-data.ts";
import { museumsData } from "./museums-data.ts";
import { peopleData } from "./people-data.ts";
import { placesData } from "./places-data.ts";
import { weatherData } from "./weather-data.ts";
import { createWorld, type World } from "./world.ts";

const generators: ReadonlyMap<string, (world: World) => string> = new Map([
  ["museums", museumsData],
  ["people", peopleData],
  ["places", placesData],
  ["library", libraryData],
  ["weather", weatherData],
]);

/** Catalogue ids of the example endpoints, the one nobody needs last. */
export const exampleIds: readonly string[] = [...generators.keys()];

/**
 * The data of one example endpoint as N-Triples; the same text each time.
 * @throws RangeError for an unknown id
 */
export function exampleData(id: string): string {
  const generate = generators.get(id);
  if (generate === undefined) throw new RangeError(`no example endpoint ${id}`);
  return generate(createWorld());
}
