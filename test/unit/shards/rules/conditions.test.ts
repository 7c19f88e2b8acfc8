import { describe, expect, it } from "vitest";
import { type Condition, type Conditions, conditionsOf } from "../../../../shards/src/rules/conditions.ts";
import { evaluateChoice, federationInstance, type Places } from "../../../../shards/src/rules/federation-instance.ts";
import { federationFacts, shardFacts } from "../../../../shards/src/rules/federation-program.ts";
import { randomOf, randomPlacement } from "../../../support/shard-problems.ts";

/** What the solver would conclude from the conditions. */
function concluded({ makes }: Places, conditions: Conditions, chosen: readonly number[]) {
  const made = new Set(chosen.flatMap((rule) => makes[rule] ?? []));
  const { grown, parting, stays, holds, shares } = conditions;
  const isParted = (set: number): boolean => {
    const found = grown[set];
    return found !== undefined && (made.has(found.claim) || isParted(found.parent));
  };
  const isMade = ({ claim }: Condition): boolean => claim === undefined || made.has(claim);
  const lies = (condition: Condition): boolean => isMade(condition) && !isParted(condition.set);
  const staysOne = (one: Condition): boolean =>
    isMade(one) && parting[one.set]?.some((claim) => made.has(claim)) !== true;
  return {
    unfederated: stays.flatMap((found, query) => (found.some(staysOne) ? [query] : [])),
    used: holds.filter((found) => found.some(lies)).length,
    sizes: shares.map((found) => found.filter(lies).reduce((sum, { triples }) => sum + triples, 0)),
  };
}

describe("conditions", () => {
  it("say the same as the places, for every choice of the rules", () => {
    let choices = 0;
    for (let seed = 1; seed <= 120; seed += 1) {
      const problem = randomPlacement(seed);
      const instance = federationInstance(problem, problem.placement);
      const { rules, numbered } = instance;
      const conditions = conditionsOf(numbered);
      const random = randomOf(seed);
      for (let round = 0; round < 40; round += 1) {
        const chosen = [...rules.keys()].filter(() => random() < round / 40);
        const { costs, unfederated } = evaluateChoice(instance, chosen);
        const found = concluded(numbered, conditions, chosen);
        expect(found.unfederated).toEqual(unfederated);
        expect(found.used).toBe(costs.fewest_shards);
        expect(found.sizes.filter((size) => size > 0)).toHaveLength(costs.fewest_shards);
        expect(found.sizes.reduce((sum, size) => sum + size, 0)).toBe(
          problem.placement.cells.reduce((sum, { triples }) => sum + triples, 0),
        );
        choices += found.unfederated.length;
      }
    }
    expect(choices).toBeGreaterThan(1_000);
  });

  it("stay few where each query matches thousands of places", () => {
    const classes = Array.from({ length: 60 }, (_, at) => `urn:C${String(at).padStart(2, "0")}`);
    const cells = Array.from({ length: 20_000 }, (_, at) => ({
      types: [classes[at % 60]!, classes[(at * 7) % 59]!].toSorted(),
      predicate: `urn:p${at % 83}`,
      bucket: at % 2,
      triples: 1 + (at % 5),
    }));
    const touches = Array.from({ length: 400 }, (_, query) =>
      [...cells.keys()].filter((cell) => (cell * 31 + query) % 4 === 0),
    );
    const candidates = classes.map((iri) => ({
      rule: { kind: "horizontal", class: iri, buckets: 2 } as const,
      covers: [],
    }));
    const placement = { precedence: ["horizontal", "vertical", "class"], cells, touches } as const;
    const instance = federationInstance({ queries: [], candidates, placement }, placement);
    const conditions = conditionsOf(instance.numbered);
    const facts = [...federationFacts(instance, conditions), ...shardFacts(instance, conditions)];
    expect(touches.flat().length).toBe(2_000_000);
    expect(facts.join("\n").length).toBeLessThan(200_000);
  });
});
