import { join } from "node:path";
import type { Slice } from "../load/slices.ts";
import type { SubjectClasses } from "../load/subject-classes.ts";
import type { Pattern } from "../problem.ts";
import type { SliceRequest } from "./gather-slice.ts";
import type { Place } from "./publish.ts";
import { rangesBetween } from "./ranges.ts";

/** What readers of slices need beside their slices and the subjects; a JSON value. */
export interface GatherPlan {
  /** See `CellQuestions`. */
  readonly buckets: number;
  readonly patterns: readonly (readonly Pattern[])[];
  readonly fingerprint: string;
  readonly slices: readonly Slice[];
  /** Where one range ends and the next begins, in base64. */
  readonly splitters: readonly string[];
}

/** The folder of a slice's statements. */
export const sliceFolder = ({ parts }: Pick<Place, "parts">, slice: number): string => join(parts, String(slice));

/** What the reader of a slice is asked for. */
export function sliceRequest(
  place: Pick<Place, "parts">,
  { plan, slice, subjects }: { readonly plan: GatherPlan; readonly slice: number; readonly subjects: SubjectClasses },
): SliceRequest {
  const { buckets, patterns, fingerprint, splitters, slices } = plan;
  const ranges = rangesBetween(splitters.map((splitter) => Buffer.from(splitter, "base64")));
  const inputs = slices[slice];
  if (inputs === undefined) throw new RangeError(`there is no slice ${slice} among ${slices.length}`);
  return { subjects, buckets, patterns, fingerprint, ranges, slice: inputs, folder: sliceFolder(place, slice) };
}
