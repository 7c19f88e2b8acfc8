import { type Static, Type } from "typebox";

const id = (of: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: `Id of the ${of} that the query is for.` }));
const offset = (description: string) => Type.Integer({ minimum: 0, description });
const kinds = ["class", "property", "value", "service", "prefix", "keyword", "variable"] as const;
const kind = Type.Unsafe<(typeof kinds)[number]>({ type: "string", enum: kinds });
const text = (description: string) => Type.String({ description });

/** A cursor in a query, for /sparql where neither endpoint nor federation is named. */
export const CompletionRequest = Type.Object(
  {
    query: Type.String({ maxLength: 100_000, description: "It may be incomplete or wrong." }),
    position: offset("Of the cursor, in UTF-16 code units."),
    endpoint: id("endpoint"),
    federation: id("federation"),
  },
  {
    additionalProperties: false,
    examples: [{ query: "SELECT * { SERVICE <people> { ?p a foaf:Person ; foaf:na } }", position: 56 }],
  },
);

const Option = Type.Object(
  {
    kind,
    label: text("For readers, on one line."),
    insert: text("Takes the place of what is completed."),
    detail: Type.Optional(text("Label, counts, and which of several endpoints have it.")),
    declare: Type.Optional(text("Line to put before the query, where the option has a prefix that is not declared.")),
  },
  { title: "CompletionOption" },
);

/** Completion at a cursor. */
export const Completion = Type.Object(
  {
    from: offset("First UTF-16 code unit of what an option takes the place of."),
    to: offset("Behind the last one."),
    kind: Type.Unsafe<Option["kind"] | "none">({ enum: [...kinds, "none"], description: "Of the first option." }),
    options: Type.Array(Option, { maxItems: 50, description: "Best first." }),
    isIncomplete: Type.Boolean({ description: "There are more." }),
    why: Type.Optional(text("Why nothing, or nothing of the endpoints, is offered.")),
  },
  { title: "Completion" },
);

export type CompletionRequest = Static<typeof CompletionRequest>;
export type Completion = Omit<Static<typeof Completion>, "options"> & { readonly options: readonly Option[] };
/** A text that fits at the cursor. */
export type Option = Readonly<Omit<Static<typeof Option>, "declare">> & { readonly declare?: string | undefined };
