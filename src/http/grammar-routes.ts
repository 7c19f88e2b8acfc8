import { Type } from "typebox";
import { leastBytes } from "../agent/grammar/sparql-grammar.ts";
import { createGrammars, type GrammarOptions } from "../agent/grammar/create-grammars.ts";
import { anyOriginHeaders } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { answersAs, documented, IdPath, strictObject } from "./schemas.ts";

const doc = documented("Descriptions");
const GrammarParameters = strictObject({
  format: Type.Optional(
    Type.Enum(["gbnf", "lark"], {
      description: "gbnf (default) for llama.cpp and XGrammar; lark for llguidance, Outlines, vLLM and SGLang.",
    }),
  ),
  maxBytes: Type.Optional(
    Type.Integer({
      minimum: leastBytes,
      maximum: 1_000_000,
      default: 65_536,
      description: "Largest size; the largest classes and properties come first.",
    }),
  ),
});

const routes = [
  { of: "endpoint", operationId: "getGrammar", whose: "an endpoint's" },
  { of: "federation", operationId: "getFederationGrammar", whose: "a federation's" },
] as const;

/** Grammars for decoders: what a model writes under one of them is a valid query over known terms. */
export function addGrammarRoutes(app: TypedApp, shell: HttpShell): void {
  const grammars = createGrammars(shell);
  for (const { of, operationId, whose } of routes) {
    app.get(`/api/${of}s/:id/grammar`, {
      schema: {
        ...doc(operationId, `A grammar of SPARQL over ${whose} own classes and properties, for a model's decoder`),
        params: IdPath,
        querystring: GrammarParameters,
        response: answersAs(["text/plain"]),
      },
      handler: async (request, reply) => {
        const { format = "gbnf", maxBytes = 65_536 } = request.query;
        const options: GrammarOptions = { dialect: format, maxBytes };
        const { id } = request.params;
        const text = await (of === "endpoint" ? grammars.ofEndpoint(id, options) : grammars.ofFederation(id, options));
        return reply.headers(anyOriginHeaders).type("text/plain; charset=utf-8").send(text);
      },
    });
  }
}
