/**
 * Processor time of this process so far, all its threads together, in milliseconds. A budget of it buys the same work
 * on a busy machine as on an idle one.
 */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Calls back when this much more processor time has been used. @returns ends the waiting */
export function afterProcessorMs(ms: number, done: () => void): () => void {
  const endMs = processorMs() + ms;
  let timer: NodeJS.Timeout | undefined;
  // Several threads may work at once: each look comes before two could have used what is left.
  const look = (): void => {
    const leftMs = endMs - processorMs();
    if (leftMs <= 0) done();
    else timer = setTimeout(look, Math.max(leftMs / 2, shortestMs));
  };
  timer = setTimeout(look, ms / 2);
  return () => clearTimeout(timer);
}

/** Between two looks. */
const shortestMs = 5;
