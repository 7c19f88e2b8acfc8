import { FedwayError } from "../errors/fedway-error.ts";
import { resultFormats } from "../results/formats.ts";
import type { AnswerKind } from "../results/model.ts";

const maxRanges = 50;

/**
 * The media type a hosted endpoint answers with: of those the store can write, the one the Accept header wants most
 * (RFC 9110, section 12.5.1), ties in the order of `resultFormats`.
 * @throws FedwayError `NOT_ACCEPTABLE`
 */
export function answerMediaType(kind: AnswerKind, accept: string): string {
  const writable = resultFormats.filter((format) => format.writable && format.kinds.includes(kind));
  const ranges = accept.trim() === "" ? [anything] : accept.split(",", maxRanges).map(parseRange);
  let best = { mediaType: "", quality: 0 };
  for (const { mediaType } of writable) {
    const quality = qualityOf(mediaType, ranges);
    if (quality > best.quality) best = { mediaType, quality };
  }
  if (best.quality > 0) return best.mediaType;
  const offered = writable.map((format) => format.mediaType);
  throw new FedwayError("NOT_ACCEPTABLE", "The hosted endpoint cannot answer in an accepted format.", {
    next: `Accept one of ${offered.join(", ")}.`,
  });
}

interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

const anything: MediaRange = { type: "*/*", quality: 1 };

function parseRange(text: string): MediaRange {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith("q="));
  const quality = q === undefined ? 1 : Number.parseFloat(q.slice(2));
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 };
}

/** The most specific range that matches decides. */
function qualityOf(mediaType: string, ranges: readonly MediaRange[]): number {
  const wildcard = `${mediaType.slice(0, mediaType.indexOf("/"))}/*`;
  for (const wanted of [mediaType, wildcard, anything.type]) {
    const range = ranges.find((candidate) => candidate.type === wanted);
    if (range !== undefined) return range.quality;
  }
  return 0;
}
