// How runs are put into words wherever they are shown: in plans as text, on the console and on the pages of runs.

/** `1 row`, `1,234 rows`. */
export const counted = (amount: number, unit: string): string =>
  `${Math.round(amount).toLocaleString("en")} ${unit}${Math.round(amount) === 1 ? "" : "s"}`;

/** `0.3 kB`, `12.5 kB`; bytes that are not nothing are never 0 kB. */
export const kilobytes = (bytes: number): string =>
  bytes > 0 && bytes < 50 ? "< 0.1 kB" : `${(bytes / 1_000).toLocaleString("en", { maximumFractionDigits: 1 })} kB`;

/** Marks of states of runs and their sources, by the words of the other pages; a state without one is outlined. */
export const marks: Readonly<Record<string, string>> = {
  ok: "up",
  partial: "work",
  silenced: "work",
  skipped: "work",
  timeout: "down",
  failed: "down",
  cancelled: "down",
};
