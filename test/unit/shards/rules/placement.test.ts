import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashOf, placementOf } from "../../../../shards/src/rules/placement.ts";
import type { Precedence, Rule } from "../../../../shards/src/rules/problem.ts";

const ex = (name: string): string => `http://example.org/${name}`;
const rules: readonly Rule[] = [
  { kind: "horizontal", class: ex("Person"), buckets: 2 },
  { kind: "horizontal", class: ex("Band"), buckets: 3 },
  { kind: "vertical", predicates: [ex("name"), ex("year")] },
  { kind: "class", classes: [ex("City"), ex("Song")] },
];

interface Placed {
  readonly types?: readonly string[];
  readonly predicate?: string;
  readonly bucket?: number;
  readonly precedence?: Precedence;
}

function shouldPlace({ types = [], predicate = "other", bucket = 0, precedence }: Placed, key: string): void {
  it(`puts ${types.join("+") || "untyped"} ${predicate} ${bucket} into ${key}`, () => {
    const place = placementOf(rules, precedence);
    expect(place(types.map(ex).toSorted(), ex(predicate), bucket)).toBe(key);
  });
}

describe("placementOf", () => {
  shouldPlace({}, "base");
  shouldPlace({ predicate: "name" }, "v/http://example.org/name");
  shouldPlace({ types: ["Thing"] }, "base");
  shouldPlace({ types: ["City"] }, "c/http://example.org/City");
  shouldPlace({ types: ["Song"], predicate: "year" }, "v/http://example.org/year");
  shouldPlace({ types: ["Song", "City"] }, "c/http://example.org/City");
  shouldPlace({ types: ["Person"], bucket: 1 }, "h/http://example.org/Person/1");
  shouldPlace({ types: ["Person"], predicate: "name" }, "h/http://example.org/Person/0");
  shouldPlace({ types: ["City", "Person"] }, "h/http://example.org/Person/0");
  shouldPlace({ types: ["Person", "Band"], bucket: 5 }, "h/http://example.org/Band/2");
  const classFirst: Precedence = ["class", "vertical", "horizontal"];
  shouldPlace({ types: ["City", "Person"], precedence: classFirst }, "c/http://example.org/City");
  shouldPlace({ types: ["Person"], predicate: "name", precedence: classFirst }, "v/http://example.org/name");

  it("takes the fewest buckets of two rules for one class", () => {
    const place = placementOf([5, 2, 3].map((buckets) => ({ kind: "horizontal", class: ex("A"), buckets })));
    expect(place([ex("A")], ex("p"), 5)).toBe("h/http://example.org/A/1");
  });

  it("does not depend on the order of the rules", () => {
    const types = fc.subarray(["Person", "Band", "City", "Song", "Thing"].map(ex));
    const question = fc.tuple(types, fc.constantFrom("name", "year", "other"), fc.nat(5));
    fc.assert(
      fc.property(fc.shuffledSubarray([...rules], { minLength: rules.length }), question, (shuffled, asked) => {
        const [of, predicate, bucket] = asked;
        expect(placementOf(shuffled)(of, ex(predicate), bucket)).toBe(placementOf(rules)(of, ex(predicate), bucket));
      }),
    );
  });
});

describe("hashOf", () => {
  it("is the first 8 hex digits of the md5 of the IRI", () => {
    // printf 'http://example.org/a' | md5sum
    expect(createHash("md5").update("http://example.org/a").digest("hex").slice(0, 8)).toBe("6209df8e");
    expect(hashOf("http://example.org/a")).toBe(0x6209df8e);
    expect(hashOf("http://example.org/a") % 7).toBe(0x6209df8e % 7);
    expect(hashOf(Buffer.from("http://example.org/é"))).toBe(hashOf("http://example.org/é"));
  });
});
