import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shardIdsOf } from "../../../../shards/src/rules/shard-names.ts";

const ex = "http://example.org";

function shouldName(ids: Readonly<Record<string, string>>): void {
  const keys = Object.keys(ids);
  it(`names ${keys.join(" and ").slice(0, 120)}`, () => {
    expect(Object.fromEntries(shardIdsOf(keys))).toEqual(ids);
    expect(Object.fromEntries(shardIdsOf(keys.toReversed()))).toEqual(ids);
  });
}

describe("readable ids", () => {
  shouldName({ base: "base" });
  shouldName({ [`v/${ex}/vocab#birthName`]: "birth-name" });
  shouldName({ [`h/${ex}/Person/0`]: "person-1", [`h/${ex}/Person/11`]: "person-12" });
  shouldName({ "c/urn:x:Über Größe/": "uber-gro-e" });
  shouldName({ [`c/${ex}/../../etc/passwd`]: "passwd" });
  shouldName({ [`v/${ex}/people#name`]: "people-name", [`v/${ex}/pets#name`]: "pets-name" });
  shouldName({ [`v/${ex}/${"long".repeat(20)}`]: "long".repeat(10) });
  shouldName({ [`c/${ex}/v#Ferry`]: "ferry-class", [`v/${ex}/v#ferry`]: "ferry-property" });
  // What an id is taken by: the base shard, a bucket, an id that two others would have.
  shouldName({ base: "base", [`c/${ex}/Base`]: "example-org-base" });
  shouldName({ [`h/${ex}/a/Pet/0`]: "a-pet-1", [`v/${ex}/b/pet-1`]: "b-pet-1" });
  shouldName({
    [`v/${ex}/people#name`]: "people-name.952bdf0c5f",
    [`v/${ex}/pets#name`]: "pets-name.c19107be09",
    [`v/${ex}/peopleName`]: "people-name",
    [`v/${ex}/people/name`]: "people-name.917cbd546a",
  });
  shouldName({ "v/http://例え.jp/名": "jp.0abfe09c03" });
  shouldName({ "v/urn:名": "urn.12c3ae2e9e", "v/:名": "v.401d46340d" });
});

describe.each(["readable", "opaque"] as const)("%s ids", (naming) => {
  it("are fit for file names, and another for each key", () => {
    const iri = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(fc.constantFrom("a", "b", "A", "1", "#", "/", "-", ".", "é", "base"), { maxLength: 8 })
        .map((of) => of.join("")),
    );
    const key = fc
      .tuple(fc.constantFrom("h", "c", "v"), iri, fc.nat(9))
      .map(([kind, of, bucket]) => (kind === "h" ? `h/${of}/${bucket}` : `${kind}/${of}`));
    fc.assert(
      fc.property(fc.uniqueArray(key), (found) => {
        const keys = [...found, "base"];
        const ids = shardIdsOf(keys, naming);
        for (const id of ids.values())
          expect(id).toMatch(naming === "opaque" ? /^s[0-9a-f]{10}$/ : /^[a-z0-9][a-z0-9.-]{0,63}$/);
        expect(new Set(ids.values()).size).toBe(keys.length);
      }),
    );
  });
});
