/**
 * The items of several async iterables as they come, at most `width` of them open at once. The outer iterable is read
 * only when there is room. The first failure ends everything; so does leaving early.
 */
export async function* interleave<T>(sources: AsyncIterable<AsyncIterable<T>>, width: number): AsyncIterable<T> {
  const outer = sources[Symbol.asyncIterator]();
  const active = new Map<AsyncIterator<T>, Promise<Step<T>>>();
  let opening: Promise<Step<T>> | undefined;
  let exhausted = false;
  try {
    for (;;) {
      if (!exhausted && !opening && active.size < width) opening = open(outer);
      const pending = [...active.values(), ...(opening ? [opening] : [])];
      if (pending.length === 0) return;
      const step = await Promise.race(pending);
      if (step.from === undefined) {
        opening = undefined;
        exhausted = step.opened === undefined;
        if (step.opened) active.set(step.opened, advance(step.opened));
      } else if (step.done) {
        active.delete(step.from);
      } else {
        active.set(step.from, advance(step.from));
        yield step.value;
      }
    }
  } finally {
    for (const step of active.values()) step.catch(() => {});
    opening?.catch(() => {});
    for (const iterator of active.keys()) void iterator.return?.().catch(() => {});
    void outer.return?.().catch(() => {});
  }
}

type Step<T> =
  | { readonly from: undefined; readonly opened: AsyncIterator<T> | undefined }
  | { readonly from: AsyncIterator<T>; readonly done: true }
  | { readonly from: AsyncIterator<T>; readonly done: false; readonly value: T };

async function open<T>(outer: AsyncIterator<AsyncIterable<T>>): Promise<Step<T>> {
  const next = await outer.next();
  return { from: undefined, opened: next.done ? undefined : next.value[Symbol.asyncIterator]() };
}

async function advance<T>(from: AsyncIterator<T>): Promise<Step<T>> {
  const next = await from.next();
  return next.done ? { from, done: true } : { from, done: false, value: next.value };
}
