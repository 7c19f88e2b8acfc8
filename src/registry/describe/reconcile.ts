import type { Count } from "../void/void-description.ts";
import { classFact, type FactBase, type Known, propertyFact } from "./fact-base.ts";

/**
 * Makes the facts agree with each other. Whatever is seen anywhere belongs into the lists: one that lacked it was not
 * complete. A part that exceeds its whole shows that both were counted wrongly or at different times: neither is exact.
 */
export function reconcile(base: FactBase): void {
  for (const fact of base.classes.values()) {
    for (const [property, within] of fact.properties) {
      if (base.properties.has(property)) continue;
      base.propertiesComplete = false;
      propertyFact(base.properties, property, existing(within));
    }
  }
  const holders = [base, ...base.classes.values()].flatMap(({ properties }) => Array.from(properties.values()));
  for (const { objectClasses } of holders) {
    for (const [iri, object] of objectClasses) {
      if (base.classes.has(iri)) continue;
      base.classesComplete = false;
      classFact(base, iri, existing(object));
    }
  }
  compareCounts(base);
  weaken(base);
}

const existing = ({ status, record }: Known): Known => ({
  status: status === "exact" || status === "lowerBound" ? "exists" : status,
  record,
});

interface Counts {
  triples?: Count;
  entities?: Count;
  distinctSubjects?: Count;
  distinctObjects?: Count;
}

function compareCounts(base: FactBase): void {
  const totals: Counts = Object.fromEntries(base.totals);
  for (const property of base.properties.values()) {
    compare(property, "triples", { of: totals, as: "triples" });
    compare(property, "distinctSubjects", { of: totals, as: "distinctSubjects" });
    compare(property, "distinctObjects", { of: totals, as: "distinctObjects" });
  }
  for (const fact of base.classes.values()) {
    compare(fact, "entities", { of: totals, as: "distinctSubjects" });
    for (const [iri, within] of fact.properties) {
      const whole = base.properties.get(iri) ?? {};
      compare(within, "triples", { of: whole, as: "triples" });
      compare(within, "distinctSubjects", { of: whole, as: "distinctSubjects" });
      compare(within, "distinctObjects", { of: whole, as: "distinctObjects" });
      compare(within, "distinctSubjects", { of: fact, as: "entities" });
    }
  }
  for (const name of ["triples", "distinctSubjects", "distinctObjects"] as const) {
    const count = totals[name];
    if (count) base.totals.set(name, count);
  }
}

function compare(part: Counts, name: keyof Counts, whole: { readonly of: Counts; readonly as: keyof Counts }): void {
  const inner = part[name];
  const outer = whole.of[whole.as];
  if (!inner || !outer || inner.value <= outer.value || outer.status === "lowerBound") return;
  if (inner.status === "claimed" || outer.status === "claimed") return;
  part[name] = { ...inner, status: "lowerBound" };
  whole.of[whole.as] = { ...outer, status: "lowerBound" };
}

/** Counts of a complete list's totals are exact only while the list is. */
function weaken(base: FactBase): void {
  const classes = base.totals.get("classes");
  const properties = base.totals.get("properties");
  if (classes?.status === "exact" && !base.classesComplete)
    base.totals.set("classes", { ...classes, value: Math.max(classes.value, base.classes.size), status: "lowerBound" });
  if (properties?.status === "exact" && !base.propertiesComplete)
    base.totals.set("properties", {
      ...properties,
      value: Math.max(properties.value, base.properties.size),
      status: "lowerBound",
    });
}
