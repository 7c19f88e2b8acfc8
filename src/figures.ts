// How numbers, sizes and times are written wherever people read them: texts, pages and browsers.

const grouping = new Intl.NumberFormat("en");
const oneDecimal = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** `1,234`. */
export const numberText = (value: number): string => grouping.format(value);

const pluralOf = (one: string): string => (/(?:s|x|ch|sh)$/.test(one) ? `${one}es` : `${one}s`);

/** `3 endpoints`, `1 endpoint`, `2 classes`. */
export const amountText = (value: number, one: string, several = pluralOf(one)): string =>
  `${numberText(value)} ${value === 1 ? one : several}`;

const sizes = [
  ["GB", 1e9],
  ["MB", 1e6],
] as const;

/** `0.3 kB`, `12.5 MB`; bytes that are not nothing are never 0 kB. */
export function sizeText(bytes: number): string {
  if (bytes > 0 && bytes < 50) return "< 0.1 kB";
  const [unit, size] = sizes.find(([, least]) => bytes >= least) ?? ["kB", 1000];
  return `${oneDecimal.format(bytes / size)} ${unit}`;
}

/** `85 ms`, `1.25 s`. */
export function latencyText(ms: number): string {
  if (ms < 1) return "< 1 ms";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

const units = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "min", ms: 60_000 },
  { name: "s", ms: 1000 },
] as const;

/** `3 h 12 min`: the two largest units. */
export function durationText(ms: number): string {
  const first = units.findIndex((unit) => ms >= unit.ms);
  if (first === -1) return "less than 1 s";
  let rest = ms;
  const parts = units.slice(first, first + 2).map(({ name, ms: size }) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return { name, count };
  });
  return parts
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${count} ${name}`)
    .join(" ");
}

/**
 * A share in percent with two decimals, cut off, never rounded up: only what never failed is 100 %, and only what never
 * worked is 0 %.
 */
export function percentText(part: number, whole: number): string {
  if (part === whole) return "100 %";
  if (part === 0) return "0 %";
  return `${Math.max(0.01, Math.floor((part / whole) * 10_000) / 100).toFixed(2)} %`;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** `12 Mar 2026`, of a moment in ISO 8601. */
export const dayText = (iso: string): string =>
  `${Number(iso.slice(8, 10))} ${months[Number(iso.slice(5, 7)) - 1] ?? ""} ${iso.slice(0, 4)}`;

/** `12 Mar 2026 10:05 UTC`, of a moment in ISO 8601. */
export const momentText = (iso: string): string => `${dayText(iso)} ${iso.slice(11, 16)} UTC`;
