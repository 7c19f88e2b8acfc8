import { randomUUID } from "node:crypto";
import type { Writable } from "node:stream";
import { styleText } from "node:util";
import { visible } from "../html.ts";

/** True when people read the stream. */
export const isTerminal = (stream: Writable): boolean => "isTTY" in stream && stream.isTTY === true;

/** Columns of a terminal; a pipe is as wide as its lines. */
export const widthOf = (stream: Writable): number =>
  isTerminal(stream) && "columns" in stream ? Number(stream.columns) || Infinity : Infinity;

type Style = Parameters<typeof styleText>[0];

/** Stands for ESC in styled text until it is written. Foreign text cannot contain it, as it changes with each process. */
const ownEscape = `\u001B${randomUUID()}`;

/**
 * Text in this style for `write` or `pour` to a terminal, where it has no control characters but ours; plain if NO_COLOR is
 * set, and in a pipe whatever FORCE_COLOR says.
 */
export const styled = (stream: Writable, style: Style, text: string): string =>
  isTerminal(stream) ? styleText(style, visible(text), { stream }).replaceAll("\u001B", ownEscape) : text;

/** Text for a terminal: only our own styles control it, other control characters are shown by `show`. */
export const safeForTerminal = (text: string, show = visible): string => text.split(ownEscape).map(show).join("\u001B");

const styles: ReadonlyMap<string, Style> = new Map<string, Style>([
  ["ok", "green"],
  ["up", "green"],
  ["partial", "yellow"],
  ["degraded", "yellow"],
  ["flapping", "yellow"],
  ["failed", "red"],
  ["down", "red"],
]);

/** The state of an endpoint, a run or an incident. */
export function styledState(stream: Writable, state: string): string {
  const style = styles.get(state);
  return style === undefined ? state : styled(stream, style, state);
}

const [patienceMs, frameMs] = [1_000, 250];
const frames = ["|", "/", "-", "\\"];

/** Shows on a terminal that something takes long, and how long so far. Returns what wipes that away. */
export function startSpinner(stream: Writable): () => void {
  if (!isTerminal(stream)) return () => {};
  const began = Date.now();
  let frame = 0;
  const timer = setInterval(() => {
    const elapsedMs = Date.now() - began;
    if (elapsedMs < patienceMs) return;
    stream.write(`\r${frames[frame++ % frames.length]} ${Math.floor(elapsedMs / 1_000)} s`);
  }, frameMs);
  return () => {
    clearInterval(timer);
    if (frame > 0) stream.write("\r\u001B[K");
    frame = 0;
  };
}
