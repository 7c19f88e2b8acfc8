import { runBreaksBench } from "./agents/breaks.ts";
import { runContainerBench } from "./agents/container.ts";
import { runDialectsBench } from "./agents/dialects.ts";
import { runEvaluateBench } from "./agents/evaluate.ts";
import { runGrammarBench } from "./agents/grammar.ts";
import { runLinkingBench } from "./agents/linking.ts";
import { runLiteralBench } from "./agents/literal.ts";
import { runPublicBench } from "./agents/public.ts";
import { runRecoverBench } from "./agents/recover.ts";
import { runToolsBench } from "./agents/tools.ts";
import { runTypesBench } from "./agents/types.ts";
import { runValuesBench } from "./agents/values.ts";
import { runViewsBench } from "./agents/views.ts";
import { runWeakBench } from "./agents/weak.ts";
import { runWhyNotBench } from "./agents/why-not.ts";

/** A part of the agents' side that is measured. */
type Part = (options: { readonly quick: boolean }) => Promise<void>;

const parts: Readonly<Record<string, Part>> = {
  breaks: runBreaksBench,
  container: runContainerBench,
  dialects: runDialectsBench,
  evaluate: runEvaluateBench,
  grammar: runGrammarBench,
  linking: runLinkingBench,
  literal: runLiteralBench,
  public: runPublicBench,
  recover: runRecoverBench,
  tools: runToolsBench,
  types: runTypesBench,
  values: runValuesBench,
  views: runViewsBench,
  weak: runWeakBench,
  "why-not": runWhyNotBench,
};

/**
 * Measures what agents get, part by part: those that are named, else all.
 * @throws Error for an unknown part, and when a part cannot measure or finds something that cannot be right
 */
export async function runAgentsBench(
  options: { readonly quick: boolean },
  named: readonly string[] = [],
): Promise<void> {
  const unknown = named.find((name) => !Object.hasOwn(parts, name));
  if (unknown !== undefined) throw new Error(`unknown part ${unknown}; there are ${Object.keys(parts).join(", ")}`);
  for (const [name, run] of Object.entries(parts)) {
    if (named.length > 0 && !named.includes(name)) continue;
    process.stdout.write(`\n${name}\n`);
    await run(options);
  }
}
