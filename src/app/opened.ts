type Closing = () => void | Promise<void>;

/** What was opened, to be closed in reverse order. */
export interface Opened {
  add(closing: Closing): void;
  /**
   * Closes everything, also when something fails; the first failure is thrown at the end. What was closed once is not
   * closed again, and whoever asks meanwhile waits for the same end.
   */
  close(): Promise<void>;
}

/** Nothing yet. */
export function createOpened(): Opened {
  const closings: Closing[] = [];
  let last: Promise<void> = Promise.resolve();
  const closeAll = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (let closing = closings.pop(); closing !== undefined; closing = closings.pop()) {
      try {
        await closing();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  return {
    add: (closing) => void closings.push(closing),
    close() {
      last = last.then(closeAll, closeAll);
      return last;
    },
  };
}
