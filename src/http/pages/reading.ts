import { FedwayError } from "../../errors/fedway-error.ts";
import { type Html, html } from "../../html.ts";

/** What came of reading something that one section of a page shows: the rest of the page is worth having without it. */
export type Reading<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false };

/** Waits for a value; errors of ours become a reading that failed, others are thrown. */
export async function readingOf<Value>(promise: Promise<Value>): Promise<Reading<Value>> {
  try {
    return { ok: true, value: await promise };
  } catch (error) {
    if (!(error instanceof FedwayError)) throw error;
    return { ok: false };
  }
}

/** What `show` makes of the value; a plain word where it could not be read, so that it is not taken for nothing. */
export const shownReading = <Value>(reading: Reading<Value>, show: (value: Value) => Html): Html =>
  reading.ok
    ? show(reading.value)
    : html`<p class="banner down">This could not be read now. It may be there all the same.</p>`;
