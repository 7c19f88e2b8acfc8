import { Readable } from "node:stream";
import { visible } from "../html.ts";
import { writeTurtle } from "../rdf/write-turtle.ts";
import { descriptionQuads } from "../registry/void/description-quads.ts";
import type { VoidDescription } from "../registry/void/void-description.ts";
import { schemaView } from "../registry/schema/schema-view.ts";
import { resultFormats } from "../results/formats.ts";
import { serializeResult } from "../results/serialize.ts";
import type { DescriptionStyle } from "./registry-commands.ts";

const mostTokens = 100_000;

/** The description as it is written to a file or to standard output. */
export function descriptionText(description: VoidDescription, style: DescriptionStyle): Buffer | Readable {
  const { format, view, variant } = style;
  if (style.summary) return Buffer.from(visible(summaryText(description)));
  if (format === "json") return Buffer.from(`${JSON.stringify(description, undefined, 2)}\n`);
  const quads = descriptionQuads(description, { view, variant });
  if (format === "turtle") return Buffer.from(writeTurtle([...quads]));
  const resultFormat = resultFormats.find(({ name }) => name === format);
  if (resultFormat === undefined) throw new Error(`There is no format ${format}.`);
  return serializeResult({ kind: "quads", quads: Readable.from(quads) }, resultFormat);
}

/** Counts first, then a line a class. */
function summaryText(description: VoidDescription): string {
  const texts = (["summary", "lines"] as const).map(
    (detail) => schemaView(description, { detail, maxTokens: mostTokens }).text,
  );
  return `${texts.map((text) => text.trimEnd()).join("\n\n")}\n`;
}
