import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** An instrument with labels. Their values come from closed sets or are catalogue ids. */
type Instrument = readonly [name: string, help: string, labels: readonly string[]];

/** A metric's children by their labels, kept: looking one up costs more than counting in it. */
export class Series<Child> {
  readonly #children = new Map<string, { readonly labels: readonly string[]; readonly child: Child }>();
  readonly #make: (labels: readonly string[]) => Child;
  readonly #remove: (labels: readonly string[]) => void;

  constructor(make: (labels: readonly string[]) => Child, remove: (labels: readonly string[]) => void) {
    this.#make = make;
    this.#remove = remove;
  }

  /** The child with these labels, in the order of the metric's label names. */
  of(...labels: readonly string[]): Child {
    const key = labels.join("\n");
    const known = this.#children.get(key);
    if (known !== undefined) return known.child;
    const child = this.#make(labels);
    this.#children.set(key, { labels, child });
    return child;
  }

  /** Drops the children whose first label is not kept. */
  retain(isKept: (first: string) => boolean): void {
    for (const [key, { labels }] of this.#children) {
      if (isKept(labels[0] ?? "")) continue;
      this.#children.delete(key);
      this.#remove(labels);
    }
  }
}

/** A child of a histogram. */
interface Timer {
  /** Seconds; values that are no numbers are not counted. */
  observe(seconds: number): void;
}

/** Values with their labels, in the order of the label names. */
export type Readings = readonly { readonly labels: readonly string[]; readonly value: number }[];

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

interface Labelled<Child> {
  labels(...values: string[]): Child;
  remove(...values: string[]): void;
}

const seriesOf = <Child>(metric: Labelled<Child>, wrap = (child: Child): Child => child): Series<Child> =>
  new Series(
    (labels) => wrap(metric.labels(...labels)),
    (labels) => metric.remove(...labels),
  );

/** prom-client throws at values that are no numbers. */
const finite = (child: Timer): Timer => ({
  observe(duration) {
    if (Number.isFinite(duration)) child.observe(duration);
  },
});

/** Makes instruments on one registry. */
export type Instruments = ReturnType<typeof createInstruments>;

/** Instruments on `registry`. */
export function createInstruments(registry: Registry) {
  const registers = [registry];
  const configured = (name: string, help: string, labels: readonly string[] = []) => ({
    name,
    help,
    labelNames: [...labels],
    registers,
  });
  return {
    timers: (...[name, help, labels]: Instrument) =>
      seriesOf<Timer>(new Histogram({ ...configured(name, help, labels), buckets: seconds }), finite),
    counts: (...[name, help, labels]: Instrument) =>
      seriesOf<Counter.Internal>(new Counter(configured(name, help, labels))),
    levels: (...[name, help, labels]: Instrument) =>
      seriesOf<Gauge.Internal<string>>(new Gauge(configured(name, help, labels))),
    /** A counter without labels. */
    count: (name: string, help: string) => new Counter(configured(name, help)),
    /**
     * A number that is read at every scrape and absent while `read` gives undefined or throws. It is there from this call
     * on: a value that is never read is unknown, not 0.
     */
    reading: (name: string, help: string, read: () => number | undefined): void => {
      const gauge: Gauge = new Gauge({ ...configured(name, help), collect: () => show(gauge, read) });
    },
    /** The same with labels: all values are replaced at every scrape, and absent when reading them fails. */
    readings: ([name, help, labels]: Instrument, read: () => Readings | Promise<Readings>): void => {
      const gauge: Gauge = new Gauge({
        ...configured(name, help, labels),
        async collect() {
          const values = await settled(read);
          gauge.reset();
          for (const each of values) gauge.labels(...each.labels).set(each.value);
        },
      });
    },
  };
}

function show(gauge: Gauge, read: () => number | undefined): void {
  let value: number | undefined;
  try {
    value = read();
  } catch {
    // The scrape goes on with the other metrics.
  }
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}

async function settled(read: () => Readings | Promise<Readings>): Promise<Readings> {
  try {
    return await read();
  } catch {
    return [];
  }
}
