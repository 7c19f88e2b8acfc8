import { expect, it } from "vitest";
import { answerKindOf } from "../../../src/hosting/query-form.ts";

const shouldSee = (text: string, kind: string | undefined): void =>
  it(`${JSON.stringify(text.slice(0, 60))} asks for ${kind ?? "nothing known"}`, () =>
    expect(answerKindOf(text)).toBe(kind));

shouldSee("SELECT * {}", "bindings");
shouldSee("ask{}", "boolean");
shouldSee("Construct WHERE {}", "quads");
shouldSee("DESCRIBE<urn:x>", "quads");
shouldSee("# SELECT\n  ASK {}", "boolean");
shouldSee("PREFIX ask: <urn:select#> SELECT * {}", "bindings");
shouldSee("prefix:<urn:x>base<urn:y>#c\rPREFIX a.b-c: <urn:z>\nDESCRIBE a.b-c:d", "quads");
shouldSee("INSERT DATA {}", undefined);
shouldSee("SELECTED", undefined);
shouldSee("", undefined);
shouldSee(`${" ".repeat(500_000)}#${"x".repeat(500_000)}`, undefined);
shouldSee("PREFIX ".repeat(100_000), undefined);
shouldSee("PREFIX a: <".repeat(50_000), undefined);
