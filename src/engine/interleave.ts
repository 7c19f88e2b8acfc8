/**
 * The items of several async iterables as they come, at most `width` of them open at once. The outer iterable is read
 * only when there is room. The first failure ends everything; so does leaving early.
 */
export async function* interleave<T>(sources: AsyncIterable<AsyncIterable<T>>, width: number): AsyncIterable<T> {
  const lanes = new Lanes(sources, width);
  try {
    for (let step = await lanes.next(); step; step = await lanes.next()) yield step.value;
  } finally {
    lanes.end();
  }
}

type Step<T> =
  | { readonly kind: "opened"; readonly lane: AsyncIterator<T> | undefined }
  | { readonly kind: "item"; readonly lane: AsyncIterator<T>; readonly value: T }
  | { readonly kind: "done"; readonly lane: AsyncIterator<T> };

class Lanes<T> {
  readonly #outer: AsyncIterator<AsyncIterable<T>>;
  readonly #width: number;
  readonly #pending = new Map<AsyncIterator<T>, Promise<Step<T>>>();
  #opening: Promise<Step<T>> | undefined;
  #exhausted = false;

  constructor(sources: AsyncIterable<AsyncIterable<T>>, width: number) {
    this.#outer = sources[Symbol.asyncIterator]();
    this.#width = width;
  }

  /** The next item of any lane; undefined when all have ended. */
  async next(): Promise<{ readonly value: T } | undefined> {
    for (;;) {
      if (!this.#exhausted && this.#pending.size < this.#width) this.#opening ??= watched(this.#open());
      const steps = [...this.#pending.values(), ...(this.#opening ? [this.#opening] : [])];
      if (steps.length === 0) return undefined;
      const step = await Promise.race(steps);
      if (step.kind === "opened") this.#opened(step.lane);
      else if (step.kind === "done") this.#pending.delete(step.lane);
      else {
        this.#advance(step.lane);
        return step;
      }
    }
  }

  /** Ends every lane; failures of what was still under way concern nobody any more. */
  end(): void {
    for (const lane of this.#pending.keys()) lane.return?.().catch(() => {});
    this.#outer.return?.().catch(() => {});
  }

  async #open(): Promise<Step<T>> {
    const next = await this.#outer.next();
    return { kind: "opened", lane: next.done ? undefined : next.value[Symbol.asyncIterator]() };
  }

  #opened(lane: AsyncIterator<T> | undefined): void {
    this.#opening = undefined;
    if (lane) this.#advance(lane);
    else this.#exhausted = true;
  }

  #advance(lane: AsyncIterator<T>): void {
    this.#pending.set(lane, watched(advance(lane)));
  }
}

/**
 * A step may fail while whoever reads is busy with an item: it is told of that when it comes back, and until then the
 * failure must not count as one that nobody sees, which would end the process.
 */
function watched<T>(step: Promise<Step<T>>): Promise<Step<T>> {
  step.catch(() => {});
  return step;
}

async function advance<T>(lane: AsyncIterator<T>): Promise<Step<T>> {
  const next = await lane.next();
  return next.done ? { kind: "done", lane } : { kind: "item", lane, value: next.value };
}
