import { type Static, Type } from "typebox";
import { boolean, type Given, integer, number, text, texts } from "../shapes.ts";
import type { ErrorCode } from "./codes.ts";
import type { FaultKind } from "./fedway-error.ts";

const { Optional } = Type;

/** Problem document (RFC 9457) with Fedway's members. */
export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.Unsafe<ErrorCode>(text("Stable, machine-readable code.")),
    detail: Type.String(),
    retryable: boolean("The same request may succeed later."),
    where: Optional(
      Type.Object(
        {
          line: Optional(integer("Line of the query text, from 1.")),
          column: Optional(integer("Column of that line, from 1, in UTF-16 code units.")),
          endpoint: Optional(text("Catalogue id or IRI of the endpoint.")),
          pattern: Optional(text("Triple pattern or group, as SPARQL.")),
        },
        { description: "Where in the query, or at which endpoint, the failure lies." },
      ),
    ),
    next: Optional(text("What to do next.")),
    fault: Optional(Type.Unsafe<FaultKind>(Type.String())),
    upstreamStatus: Optional(integer("HTTP status that the endpoint gave.")),
    retryAfterMs: Optional(number("How long to wait before trying again.")),
    endpoints: Optional(texts("Catalogue ids that would fit, best first.")),
    repairs: Optional(
      Type.Array(
        Type.Object({
          kind: text("Kind of the fault, such as `prefix-missing`; stable."),
          before: text("Text of the query that is replaced; empty where something is added."),
          after: Type.String(),
          applied: boolean("False: only offered, as it may change what the query means."),
          why: Optional(text("How it has to be written.")),
        }),
        { description: "Changes that mend the query." },
      ),
    ),
    statements: Optional(
      Type.Array(
        Type.Object({
          claim: Type.String(),
          evidence: Type.Array(
            Type.Object({
              endpoint: Optional(text("Catalogue id of the endpoint that was asked; absent: its SERVICEs name them.")),
              federation: Optional(text("Id of the federation that was asked.")),
              query: text(
                "The question, as SPARQL; sent again to the same place it shows whether the claim still holds.",
              ),
              count: integer("Rows of its answer."),
              time: text("When it was answered, or the description made that proves the answer (ISO 8601)."),
              by: Type.Enum(["answer", "description", "query"], {
                description: "Endpoints were asked; their descriptions say so; or the query alone decides it.",
              }),
            }),
          ),
        }),
        { description: "Claims of the texts beside it, each with the questions and answers that it was made from." },
      ),
    ),
    suggested: Optional(text("The query with all that is offered; it was not run.")),
    suggestions: Optional(
      Type.Array(
        Type.Object({
          term: text("IRI or literal in N-Triples syntax, or the id of an endpoint."),
          score: number("From 0 to 1; larger is better."),
          why: Type.String(),
        }),
        { description: "What was probably meant, best first." },
      ),
    ),
    run: Optional(text("Id under which the run record is kept.")),
  },
  { title: "Problem", description: "What went wrong and what to do about it." },
);
export type Problem = Given<Static<typeof Problem>>;

/** Detail and advice, as one text. */
export const withAdvice = ({ detail, next }: Problem): string => (next === undefined ? detail : `${detail} ${next}`);
