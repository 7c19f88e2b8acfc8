import type { ComparedFigure } from "../statistics/compared-figures.ts";
import { figureText } from "./words.ts";

/** Figures under a name: of one dataset, or of datasets whose shards were made alike. */
export interface FigureColumn {
  readonly title: string;
  readonly figures: readonly ComparedFigure[];
}

/** One figure of each column beside the published one, in words. */
export interface FigureRow extends Pick<ComparedFigure, "id" | "title" | "definition"> {
  /** In the order of the columns; undefined where it is not known. */
  readonly values: readonly (string | undefined)[];
  /** Undefined where nothing comparable was published. */
  readonly published: string | undefined;
}

/** Every figure that any of the columns has, in the order in which they come first. */
export function figureRows(columns: readonly FigureColumn[]): readonly FigureRow[] {
  const known = columns.map(({ figures }) => new Map(figures.map((figure) => [figure.id, figure])));
  const each = new Map(columns.flatMap(({ figures }) => figures.map((figure) => [figure.id, figure])));
  return [...each.values()].map(({ id, title, definition, unit, published }) => ({
    id,
    title,
    definition,
    values: known.map((figures) => {
      const value = figures.get(id)?.value;
      return value === undefined ? undefined : figureText(value, unit);
    }),
    published: published === undefined ? undefined : figureText(published, unit),
  }));
}
