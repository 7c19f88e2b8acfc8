import { type AskAgent, type AskOptions, createAskAgent } from "../agent/ask/ask-agent.ts";
import { createGrammars } from "../agent/grammar/create-grammars.ts";
import type { Toolbox } from "../agent/toolbox.ts";
import { steadyClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { JsonClient } from "../outbound/json-client.ts";
import type { Tracer } from "../telemetry/tracing.ts";

/** A small model's server reads a grammar anew for each answer. */
const grammarBytes = 32_768;

interface AskParts {
  readonly config: Pick<Config, "chat" | "limits">;
  readonly client: Pick<JsonClient, "post">;
  readonly agents: Pick<AskOptions, "toolboxOf"> & { toolbox(profile: "full"): Toolbox };
  readonly registry: Parameters<typeof createGrammars>[0];
  readonly tracer?: Tracer | undefined;
}

/** The reference agent; undefined when no model is configured. @throws FedwayError `CONFIG_INVALID` */
export function openAsk({ config, client, agents, registry, tracer }: AskParts): AskAgent | undefined {
  const { url, model, key, mode, price, tokens: mostTokens, timeoutMs } = config.chat;
  if (url === undefined) return undefined;
  if (model === undefined) {
    throw new FedwayError("CONFIG_INVALID", "FEDWAY_CHAT names an API, but FEDWAY_CHAT_MODEL no model.", {
      next: "Set FEDWAY_CHAT_MODEL to a name that the API knows.",
    });
  }
  const grammars = createGrammars(registry);
  return createAskAgent({
    api: { what: "chat API", setting: "FEDWAY_CHAT", url, model, key, client },
    mode,
    price,
    mostTokens,
    timeoutMs,
    toolbox: agents.toolbox("full"),
    toolboxOf: agents.toolboxOf,
    callRequests: config.limits.callRequests,
    grammarOf: (endpoints) => grammars.ofEndpoints(endpoints, { dialect: "gbnf", maxBytes: grammarBytes }),
    tracer,
    clock: steadyClock,
  });
}
