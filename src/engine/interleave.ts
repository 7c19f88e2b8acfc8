/**
 * The items of several async iterables as they come, at most `width` of them open at once. The outer iterable is read
 * only when there is room. The first failure ends everything; so does leaving early.
 */
export async function* interleave<T>(sources: AsyncIterable<AsyncIterable<T>>, width: number): AsyncIterable<T> {
  const outer = sources[Symbol.asyncIterator]();
  /** The next step of each open iterable. */
  const steps = new Map<AsyncIterator<T>, Promise<Step<T>>>();
  let opening: Promise<Step<T>> | undefined;
  let isExhausted = false;
  const advance = (items: AsyncIterator<T>): void => void steps.set(items, watched(stepOf(items)));
  try {
    for (;;) {
      if (!isExhausted && steps.size < width) opening ??= watched(open(outer));
      const waiting = [...steps.values(), ...(opening ? [opening] : [])];
      if (waiting.length === 0) return;
      const step = await Promise.race(waiting);
      if (step.kind === "item") {
        advance(step.of);
        yield step.value;
      } else if (step.kind === "done") steps.delete(step.of);
      else {
        opening = undefined;
        if (step.of) advance(step.of);
        else isExhausted = true;
      }
    }
  } finally {
    // Failures of steps still under way are of no further interest.
    for (const items of [...steps.keys(), outer]) end(items);
  }
}

type Step<T> =
  | { readonly kind: "opened"; readonly of: AsyncIterator<T> | undefined }
  | { readonly kind: "item"; readonly of: AsyncIterator<T>; readonly value: T }
  | { readonly kind: "done"; readonly of: AsyncIterator<T> };

function end(items: AsyncIterator<unknown>): void {
  items.return?.().catch(() => {});
}

async function open<T>(outer: AsyncIterator<AsyncIterable<T>>): Promise<Step<T>> {
  const next = await outer.next();
  return { kind: "opened", of: next.done ? undefined : next.value[Symbol.asyncIterator]() };
}

async function stepOf<T>(of: AsyncIterator<T>): Promise<Step<T>> {
  const next = await of.next();
  return next.done ? { kind: "done", of } : { kind: "item", of, value: next.value };
}

/**
 * A step may fail while its reader is busy with an item: the reader gets the error when it returns, and until then the
 * failure must not count as an unhandled rejection, which would end the process.
 */
function watched<T>(step: Promise<Step<T>>): Promise<Step<T>> {
  step.catch(() => {});
  return step;
}
