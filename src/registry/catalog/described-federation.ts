import type { Federation } from "./catalog.ts";

/** The federation of everything that is described; no file or change may have its id. */
export const describedFederation = Object.freeze({
  id: "catalog",
  title: "All described endpoints",
  description: "Every endpoint of the catalogue that has been described belongs to it, and no other.",
  members: [],
  memberKeywords: [],
  builtIn: true,
} as const satisfies Federation);
