import { FedwayError } from "../errors/fedway-error.ts";
import type { ResultFormat } from "./formats.ts";

/** Remark for the reader of a document, known only while it was written: the document is not the whole answer. */
export interface Remark {
  /** Relation to the true answer. */
  readonly partial: "subset" | "uncertain";
  /** The endpoints that gave less than they have. */
  readonly sources: readonly {
    readonly endpoint: string;
    readonly status: string;
    readonly reason?: string | undefined;
  }[];
}

/** Returns the remark on a document that is being written. */
export interface Remarks {
  /** The remark as far as it is known now; asked for at the start of a document and at its end. */
  readonly known: () => Remark | undefined;
  /** True if the head of the response says it, or will: it has not left yet. */
  readonly isTold: () => boolean;
}

/** As a member of a JSON object, a comma before it; nothing where there is nothing to say. */
export const remarkMember = (remark: Remark | undefined): string =>
  remark === undefined ? "" : `,"fedway":${JSON.stringify({ status: "partial", ...remark })}`;

/** As text for a comment: one line, without what would end a comment of XML. */
export function remarkText({ partial, sources }: Remark): string {
  const named = sources.map(({ endpoint, status, reason }) => `${endpoint} ${status}${reason ? ` (${reason})` : ""}`);
  const text = `Fedway: this answer is partial (${partial}): ${named.join(", ")}`;
  return text.replaceAll(/[\p{C}\s]+/gu, " ").replaceAll(/-{2,}/gu, "-");
}

/** The error that cuts a document off whose format has no way to say that it is partial. */
export const cannotSay = (format: ResultFormat, remark: Remark): FedwayError =>
  new FedwayError(
    "ENDPOINT_PARTIAL",
    `${remarkText(remark).replace("Fedway: this", "The")}. That became known after its first bytes had left, and ${format.mediaType} cannot say it.`,
    {
      fault: "partial",
      where: remark.sources[0] && { endpoint: remark.sources[0].endpoint },
      next: "Ask for JSON or XML, which say at their end that rows are missing.",
    },
  );
