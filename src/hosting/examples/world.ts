import { type Country, countries } from "./countries.ts";

/** A city of the invented world. */
export interface City {
  /** Identifier that all endpoints know, e.g. `IS-03`. */
  readonly id: string;
  readonly name: string;
  readonly country: Country;
  /** Degrees, four decimals. */
  readonly latitude: string;
  readonly longitude: string;
  readonly population: number;
}

/** A person of the invented world. */
export interface Person {
  /** Authority number that all endpoints know, e.g. `P-000123`. */
  readonly id: string;
  readonly given: string;
  readonly family: string;
  readonly born: DayOfLife;
  readonly died: DayOfLife | undefined;
  readonly birthplace: City;
  readonly occupation: "painter" | "sculptor" | "writer" | "historian";
}

interface DayOfLife {
  readonly year: number;
  /** `YYYY-MM-DD` */
  readonly date: string;
}

/** What the endpoints have in common. Each of them tells another part of it, in its own words. */
export interface World {
  readonly cities: readonly City[];
  readonly persons: readonly Person[];
  /** Painters and sculptors. */
  readonly artists: readonly Person[];
  /** Writers and historians. */
  readonly authors: readonly Person[];
}

const worldSeed = 20_240_229;
const personCount = 620;
const lastYear = 2023;

const isArtist = ({ occupation }: Person): boolean => occupation === "painter" || occupation === "sculptor";

/** Builds the world; the same one each time. */
export function createWorld(): World {
  const random = createRandom(worldSeed);
  const cities = countries.flatMap((country) => citiesOf(country, random));
  const persons = Array.from({ length: personCount }, (_, index) => personOf(index, cities, random));
  return {
    cities,
    persons,
    artists: persons.filter(isArtist),
    authors: persons.filter((person) => !isArtist(person)),
  };
}

/** `7` with width 3 is `007`. */
export const padded = (value: number, width: number): string => String(value).padStart(width, "0");

export const fullName = ({ given, family }: Person): string => `${given} ${family}`;

function citiesOf(country: Country, random: Random): readonly City[] {
  const names = country.cityHeads.flatMap((head) => country.cityTails.map((tail) => head + tail));
  return names.map((name, index) => ({
    id: `${country.code}-${padded(index + 1, 2)}`,
    name,
    country,
    latitude: degrees(country.latitude, random),
    longitude: degrees(country.longitude, random),
    population: 900 + random.below(400_000),
  }));
}

/** Within two degrees of the centre, in integer arithmetic until the last step. */
function degrees(centre: number, random: Random): string {
  return (centre + (random.below(40_001) - 20_000) / 10_000).toFixed(4);
}

function personOf(index: number, cities: readonly City[], random: Random): Person {
  const birthplace = random.pick(cities);
  const born = dayIn(1780 + random.below(180), random);
  const died = dayIn(born.year + 25 + random.below(60), random);
  const { given, family } = birthplace.country;
  const woman = random.chance(0.5);
  return {
    id: `P-${padded(index + 1, 6)}`,
    given: random.pick(forWoman(given, woman)),
    family: random.pick(forWoman(family, woman)),
    born,
    died: died.year > lastYear ? undefined : died,
    birthplace,
    occupation: random.pick(["painter", "painter", "sculptor", "writer", "historian"]),
  };
}

const forWoman = (names: readonly string[], woman: boolean): readonly string[] =>
  names.filter((_, index) => (index % 2 === 0) === woman);

function dayIn(year: number, random: Random): DayOfLife {
  return { year, date: `${year}-${padded(1 + random.below(12), 2)}-${padded(1 + random.below(28), 2)}` };
}

/** A seeded source of numbers: the same seed gives the same sequence on every machine. */
export interface Random {
  /** An integer, `0 <= n < bound`. */
  below(bound: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of the items. */
  pick<Item>(items: readonly Item[]): Item;
}

/** Mulberry32: 32 bits of state, integer arithmetic only. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (bound: number): number => next() % bound;
  return {
    below,
    chance: (probability) => next() < probability * 2 ** 32,
    pick<Item>(items: readonly Item[]): Item {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError("nothing to pick from");
      return item;
    },
  };
}
