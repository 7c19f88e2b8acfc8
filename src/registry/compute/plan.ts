import type { Agenda } from "./agenda.ts";
import { type FactBase, keysOf } from "./fact-base.ts";
import type { Family } from "./families.ts";
import { familyFacts } from "./family-facts.ts";

/** The keys of a family about which something is missing: not dealt with, not proven, not told by the publisher. */
export function missingKeys(base: FactBase, family: Family, agenda: Agenda): readonly string[] {
  return agenda.open(family, keysOf(base, family).keys()).filter((key) => !familyFacts[family.name].isKnown(base, key));
}

/** Whether a run would ask for nothing. */
export function isNothingMissing(base: FactBase, families: readonly Family[], agenda: Agenda): boolean {
  return !agenda.hasChores && families.every((family) => missingKeys(base, family, agenda).length === 0);
}
