import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** An instrument with labels. Their values come from closed sets or are catalogue ids. */
type Instrument = readonly [name: string, help: string, labels: readonly string[]];

/** Children by the value of their first label, those below it by the next one's. */
interface Branch<Child> {
  readonly labels: readonly string[];
  child: Child | undefined;
  readonly below: Map<string, Branch<Child>>;
}

/** A metric's children by their labels, kept: looking one up costs more than counting in it. */
export class Series<Child> {
  readonly #root: Branch<Child> = { labels: [], child: undefined, below: new Map() };
  readonly #make: (labels: readonly string[]) => Child;
  readonly #remove: (labels: readonly string[]) => void;

  constructor(make: (labels: readonly string[]) => Child, remove: (labels: readonly string[]) => void) {
    this.#make = make;
    this.#remove = remove;
  }

  /** The child with these labels, in the order of the metric's label names. */
  of(...labels: readonly string[]): Child {
    let branch = this.#root;
    for (const label of labels) branch = branch.below.get(label) ?? grow(branch, label);
    branch.child ??= this.#make(branch.labels);
    return branch.child;
  }

  /** Values of the first label that have children. */
  firstLabels(): ReadonlySet<string> {
    return new Set(this.#root.below.keys());
  }

  /** Drops the children whose first label has this value. */
  forget(first: string): void {
    const branch = this.#root.below.get(first);
    if (branch === undefined) return;
    this.#root.below.delete(first);
    for (const { child, labels } of branchesOf(branch)) if (child !== undefined) this.#remove(labels);
  }
}

function grow<Child>({ labels, below }: Branch<Child>, label: string): Branch<Child> {
  const branch: Branch<Child> = { labels: [...labels, label], child: undefined, below: new Map() };
  below.set(label, branch);
  return branch;
}

/** A branch and all below it. */
function* branchesOf<Child>(branch: Branch<Child>): Iterable<Branch<Child>> {
  yield branch;
  for (const next of branch.below.values()) yield* branchesOf(next);
}

/** A child of a histogram. */
interface Timer {
  /** Seconds; what is no number is not counted. */
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

/** prom-client throws at what is no number. */
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
     * on: what nobody reads is unknown, not 0.
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
    // A scrape tells the rest all the same.
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
