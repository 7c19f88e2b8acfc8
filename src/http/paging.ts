import { FedwayError } from "../errors/fedway-error.ts";

/** What a client asks of a list; `cursor` is `next` of the page before. */
interface Paging {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** How many items come before the page that a cursor names. @throws FedwayError `REQUEST_INVALID` */
export function offsetOf(cursor = "0"): number {
  if (/^\d{1,7}$/.test(cursor)) return Number(cursor);
  throw unknownCursor();
}

/** A page of a list whose order stays. */
export function pageAt<Item>(all: readonly Item[], { limit, cursor }: Paging) {
  const from = offsetOf(cursor);
  return { items: all.slice(from, from + limit), next: nextOf(from + limit, all.length) };
}

/** Cursor of the page that begins behind so many of a total; undefined when there is none. */
export const nextOf = (before: number, total: number): string | undefined =>
  before < total ? String(before) : undefined;

const unknownCursor = () =>
  new FedwayError("REQUEST_INVALID", "The cursor is not one that a page of this list gave.", {
    next: "Leave it out to begin with the first page.",
  });
