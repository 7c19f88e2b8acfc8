import { estimateTokens } from "../../../src/token-estimate.ts";
import { parseTurtle } from "../../../src/rdf/turtle.ts";
import { writeTurtle } from "../../../src/rdf/write-turtle.ts";
import { type SchemaDetail } from "../../../src/registry/schema/schema-view.ts";
import { describedUnits } from "../../support/described-data.ts";
import { truthfulDescription } from "../../support/truthful-description.ts";
import { truthOf } from "../../support/void-truth.ts";
import { printRows } from "../void/print-rows.ts";
import { schemaView } from "../../../src/registry/schema.ts";
import { descriptionQuads, type VoidDescription } from "../../../src/registry/descriptions.ts";

const details: readonly SchemaDetail[] = ["summary", "classes", "lines", "paths", "void"];
const budget = 2_000;

/** Measures views of generated schemas of 10 to 2,000 classes. @throws Error when one breaks its budget or is no Turtle */
export async function runViewsBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const sizes = quick ? [10, 100] : [10, 50, 200, 500, 1_000, 2_000];
  const rows = [["classes", "triples", "everything", ...details.map((detail) => `${detail} (ms)`)]];
  for (const classes of sizes) {
    const description = generated(classes);
    const whole = estimateTokens(
      writeTurtle([...descriptionQuads(description, { view: "agent", variant: "standard" })]),
    );
    const cells = details.map((detail) => {
      for (const maxTokens of [500, budget, 8_000]) checkView(description, detail, maxTokens);
      const began = performance.now();
      const { estimatedTokens } = schemaView(description, { detail, maxTokens: budget });
      return `${estimatedTokens} (${(performance.now() - began).toFixed(0)})`;
    });
    rows.push([String(classes), String(description.triples?.value ?? "?"), String(whole), ...cells]);
  }
  printRows(`Tokens of views with a budget of ${budget}, beside VoID with everything`, rows);
}

function generated(classes: number): VoidDescription {
  const shape = { seed: 7, triples: classes * 40, classes, maxProperties: 12, blankNodes: false };
  return {
    ...truthfulDescription(truthOf([...describedUnits(shape)].flat())),
    endpoint: "http://generated.example/sparql",
  };
}

function checkView(description: VoidDescription, detail: SchemaDetail, maxTokens: number): void {
  const { text, estimatedTokens } = schemaView(description, { detail, maxTokens });
  if (estimatedTokens > maxTokens) throw new Error(`${detail}: ${estimatedTokens} tokens of ${maxTokens}`);
  if (detail !== "void") return;
  const quads = parseTurtle(text, { baseIri: "http://unused.example/", maxBytes: 1e8, maxQuads: 1e6 });
  if (quads.length === 0) throw new Error("the VoID has no triples");
}
