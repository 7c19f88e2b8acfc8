// Read once: the property is computed anew each time.
const startedMs = performance.timeOrigin;

/** Milliseconds since the epoch, with fractions and never going back: the one clock of all deadlines. */
export const now = (): number => startedMs + performance.now();

/** The same with timers, for what waits. */
export const clock = { now, setTimeout, clearTimeout } as const;

/** The time that calendars show, which jumps when somebody sets it: for what is dated, and compared with other machines. */
export const wallClock = { now: () => Date.now(), setTimeout, clearTimeout } as const;
