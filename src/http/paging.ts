import { Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";

/** Parameters of routes that list; `next` in an answer is the cursor of the page after it. */
export const paging = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  cursor: Type.Optional(Type.String({ maxLength: 400, description: "`next` of the page before." })),
};

interface Paging {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

const unknownCursor = () =>
  new FedwayError("REQUEST_INVALID", "The cursor is not one that a page of this list gave.", {
    next: "Leave it out to begin with the first page.",
  });

/** Number of items before the page that a cursor names. @throws FedwayError `REQUEST_INVALID` */
export function offsetOf(cursor = "0"): number {
  if (/^\d{1,7}$/.test(cursor)) return Number(cursor);
  throw unknownCursor();
}

/** Cursor of the page that begins behind these of a total; undefined when there is none. */
export const nextOf = (before: number, total: number): string | undefined =>
  before < total ? String(before) : undefined;

/** A page of a list whose order stays. */
export function pageAt<Item>(all: readonly Item[], { limit, cursor }: Paging) {
  const from = offsetOf(cursor);
  return { items: all.slice(from, from + limit), next: nextOf(from + limit, all.length) };
}

/** Place of an item in a list that grows at its beginning: newest first. */
interface Place {
  readonly atMs: number;
  readonly id: string;
}

/** @throws FedwayError `REQUEST_INVALID` */
export function placeOf(cursor: string): Place {
  const [, atMs, id] = /^(\d{1,15})~(.{1,300})$/.exec(cursor) ?? [];
  if (id === undefined) throw unknownCursor();
  return { atMs: Number(atMs), id };
}

/** The first of items that come newest first, and the cursor of those behind them. */
export function firstOf<Item>(items: readonly Item[], limit: number, place: (item: Item) => Place) {
  const shown = items.slice(0, limit);
  const last = items.length > limit ? shown.map(place).at(-1) : undefined;
  return { items: shown, next: last && `${last.atMs}~${last.id}` };
}
