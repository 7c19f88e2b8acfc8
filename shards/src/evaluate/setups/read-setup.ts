import type { AskSetup } from "../../../../src/agent/ask/ask-answer.ts";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { readBoundedFile } from "../../bounded-file.ts";
import { type Guard, isCount, isFlag, isListOf, isShape, isText, parsedAs } from "../../guards.ts";
import type { BenchmarkPackage } from "../../package/open-package.ts";
import baseline from "./baseline.json" with { type: "json" };
import full from "./full.json" with { type: "json" };
import highLevel from "./high-level.json" with { type: "json" };
import oneDataset from "./one-dataset.json" with { type: "json" };
import voidTool from "./void-tool.json" with { type: "json" };

/** An agent that is compared with others: its tools, prompt and limits. */
export interface Setup {
  readonly name: string;
  readonly tools: readonly string[];
  /** Endpoints and terms are looked up, with its tools, before the model is asked. */
  readonly lookup: boolean;
  /** Lines; `{endpoints}`, `{topics}` and `{dataset}` stand for what the package has. */
  readonly prompt: readonly string[];
  /** Of one question; `rounds` are corrections of queries that are written as text. */
  readonly limits: {
    readonly turns: number;
    readonly rounds: number;
    readonly tokens: number;
    readonly timeoutMs: number;
  };
}

const shipped: readonly Setup[] = [baseline, highLevel, voidTool, full, oneDataset];
const maxBytes = 1024 * 1024;

const isLimits = isShape({ turns: isCount, rounds: isCount, tokens: isCount, timeoutMs: isCount });
const isSetup: Guard<Setup> = isShape({
  name: isText,
  tools: isListOf(isText),
  lookup: isFlag,
  prompt: isListOf(isText),
  limits: isLimits,
});

/** A setup by its name, or from a JSON file. @throws FedwayError `REQUEST_INVALID` */
export async function readSetup(name: string): Promise<Setup> {
  const found = shipped.find((setup) => setup.name === name);
  if (found !== undefined) return found;
  const bytes = await readBoundedFile(name, maxBytes, (fault, cause) => unknownSetup(name, `is ${fault}`, cause));
  const setup = parsedAs(bytes.toString("utf8"), isSetup);
  if (setup === undefined) throw unknownSetup(name, "has not all of name, tools, lookup, prompt and limits");
  return setup;
}

const unknownSetup = (name: string, why: string, cause?: unknown): FedwayError =>
  new FedwayError("REQUEST_INVALID", `There is no setup ${name}: the file ${why}.`, {
    next: `Name a JSON file, or one of ${shipped.map((setup) => setup.name).join(", ")}.`,
    cause,
  });

/** Part of a setup that is sent to `/api/ask`: the prompt names the endpoints of the package. */
export function askSetupOf(
  { tools, lookup, prompt, limits }: Setup,
  { endpoints, manifest }: BenchmarkPackage,
): AskSetup {
  const { turns, tokens, timeoutMs } = limits;
  const texts: Readonly<Record<string, string>> = {
    endpoints: endpoints.map(({ url }) => `- ${url}`).join("\n"),
    topics: endpoints.map(({ url, topic }) => `- ${url}: ${topic}`).join("\n"),
    dataset: manifest.dataset,
  };
  const text = prompt.join("\n").replaceAll(/\{(\w+)\}/gu, (all, name: string) => texts[name] ?? all);
  return { tools, prompt: text, lookup, turns, tokens, timeoutMs };
}
