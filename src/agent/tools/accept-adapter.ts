import { Type } from "typebox";
import type { AcceptAdapter } from "../../diagnosis/accept-adapter.ts";
import { keyExpressions } from "../../rdf/key-rule.ts";
import { plainText } from "../../rdf/display-text.ts";
import { defineTool } from "../tool.ts";

const iri = (description: string) => Type.String({ minLength: 1, maxLength: 2_000, description });
const id = (description: string) => Type.String({ minLength: 1, maxLength: 64, description });

/** Has keys of two endpoints that are written differently joined in all queries. */
export const acceptAdapter = ({ accept }: { readonly accept: AcceptAdapter }) =>
  defineTool({
    name: "accept_adapter",
    title: "Join unlike keys",
    text: [
      "Finds and verifies how keys of two endpoints that are written differently are joined, and does it in all queries.",
    ],
    input: Type.Object({
      endpoint: id("Endpoint id"),
      key: iri("IRI of a property, or of a class whose IRIs are the keys"),
      other: id("Id of the other endpoint"),
      other_key: iri("IRI of the property or class there"),
    }),
    output: { rule: "object", matches: "integer" },
    annotations: { readOnlyHint: false, openWorldHint: true },
    async run({ endpoint, key, other, other_key: otherKey }, { signal, owner, admitted }) {
      const iriIn = (text: string): string => text.trim().replace(/^<(.*)>$/u, "$1");
      const wanted = { endpoint, key: iriIn(key), other, otherKey: iriIn(otherKey) };
      const adapter = await accept({ ...wanted, signal, owner, admitted });
      const { left, right } = keyExpressions(adapter.rule);
      const how = right ? `${left("?here")} = ${right("?there")}` : left("?here");
      const status = `accepted: ${adapter.matches ?? 0} values met; queries that join them use ${plainText(how, 300)}`;
      return { status, data: { ...adapter } };
    },
  });
