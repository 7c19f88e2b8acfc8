/** Milliseconds that all parsers together may hold one turn of the event loop. */
const shareMs = 10;

/** When parsers began to work in this turn; undefined before. */
let beganMs: number | undefined;
/** Those whose turn comes, one in each turn of the loop. */
const waiting: (() => void)[] = [];

/**
 * Lets the event loop have its turn between two steps of a long piece of work. Gives undefined while this turn has time
 * left, so that the work goes on at once; else a promise of a later turn. Those that wait are served in order, so
 * many parsers at once hold the loop no longer than one.
 */
export function nextTurn(): Promise<void> | undefined {
  const nowMs = performance.now();
  if (beganMs === undefined) {
    beganMs = nowMs;
    setImmediate(begin);
    return undefined;
  }
  if (nowMs - beganMs < shareMs) return undefined;
  return new Promise((resolve) => {
    waiting.push(resolve);
  });
}

function begin(): void {
  const first = waiting.shift();
  beganMs = first === undefined ? undefined : performance.now();
  if (first === undefined) return;
  setImmediate(begin);
  first();
}
