import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { createDescriber } from "../../../../src/registry/descriptions/compute/describer.ts";
import { systemClock } from "../../../../src/clock.ts";
import { scriptedAsker } from "../../../support/scripted-asker.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const url = "http://virtuoso.example/sparql";
const data = `
  <urn:g> { <urn:s> a <urn:C> ; <urn:p> 1 . }
  <http://www.openlinksw.com/schemas/virtrdf#> { <http://www.openlinksw.com/schemas/virtrdf#x> a <urn:SystemClass> . }
  <urn:s> a <urn:C> ; <urn:p> 1 .
  <http://www.openlinksw.com/schemas/virtrdf#x> a <urn:SystemClass> .`;
const instant = { ...systemClock, setTimeout: (run: () => void) => systemClock.setTimeout(run, 0) };

/** Describes a Virtuoso that does not list its graphs so many times. */
async function describedAfter(refusals: number): Promise<{ found: VoidDescription; asked: number }> {
  let asked = 0;
  const asker = scriptedAsker({
    data: { [url]: data },
    interfere({ query }) {
      if (!query.startsWith("SELECT DISTINCT ?g WHERE")) return undefined;
      asked += 1;
      return asked > refusals ? undefined : new FedwayError("ENDPOINT_TIMEOUT", "too slow", { fault: "timeout" });
    },
  });
  const describer = createDescriber({ asker, clock: instant, pauseMs: 0 });
  const target = { endpoint: { url } };
  const { description } = await describer.describe(target, { signal: new AbortController().signal });
  return { found: description, asked };
}

const classesOf = ({ classPartitions }: VoidDescription): readonly string[] =>
  classPartitions.map((partition) => partition.class).toSorted();

describe("the system graphs of Virtuoso", () => {
  it("are left out", async () => {
    const { found, asked } = await describedAfter(0);
    expect(classesOf(found)).toEqual(["urn:C"]);
    expect(asked).toBe(1);
  });

  it("are left out by one that lists its graphs when it is asked again", async () => {
    const { found, asked } = await describedAfter(1);
    expect(classesOf(found)).toEqual(["urn:C"]);
    expect(asked).toBe(2);
    expect(found.unfinished).toBe(false);
  });

  it("are in the description of one that does not, which says so", async () => {
    const { found } = await describedAfter(9);
    expect(classesOf(found)).toEqual(["urn:C", "urn:SystemClass"]);
    expect(JSON.stringify(found)).toContain("data without the system graphs of Virtuoso");
  });
});
