/** Formats of `fedway describe`; "json" is the description as a value, the others are RDF views of it. */
export const descriptionFormats = ["turtle", "ntriples", "jsonld", "json"] as const;

/** How a description is written down. */
export interface DescriptionStyle {
  readonly format: (typeof descriptionFormats)[number];
  /** "agent": everything, with how it is known; "planner": only what planners may rely on. */
  readonly view: "agent" | "planner";
  readonly variant: "standard" | "extended";
  /** Text for people and language models instead of a format. */
  readonly summary: boolean;
}
