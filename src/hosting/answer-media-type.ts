import { FedwayError } from "../errors/fedway-error.ts";
import { resultFormats } from "../results/formats.ts";
import type { AnswerKind } from "../results/model.ts";
import { negotiateFormat } from "../results/negotiation.ts";

/**
 * The media type that a hosted endpoint answers with; the store writes every format that Fedway writes.
 * @throws FedwayError `NOT_ACCEPTABLE`
 */
export function answerMediaType(kind: AnswerKind, accept: string): string {
  const format = negotiateFormat(kind, { accept });
  if (format !== undefined) return format.mediaType;
  const offered = resultFormats.filter(({ writable, kinds }) => writable && kinds.includes(kind));
  throw new FedwayError("NOT_ACCEPTABLE", "The hosted endpoint cannot answer in an accepted format.", {
    next: `Accept one of ${offered.map(({ mediaType }) => mediaType).join(", ")}.`,
  });
}
