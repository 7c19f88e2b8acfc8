import { createAsker } from "../../src/outbound/whole-answer.ts";

/** An asker for queries; it fetches no documents. */
export const sparqlAsker = (options: Omit<Parameters<typeof createAsker>[0], "documents">) =>
  createAsker({ ...options, documents: { fetch: () => Promise.reject(new Error("no document is to be fetched")) } });
