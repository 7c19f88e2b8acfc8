/** What is measured, and with whom. */
export interface FederationOptions {
  /** 20 ms latency only, and few repetitions. */
  readonly quick: boolean;
  /** Sizes of the shop. */
  readonly members: readonly number[];
  /** Names of peers in lower case; empty: all that are installed. */
  readonly peers: readonly string[];
  /** Names of queries; empty: all. */
  readonly queries: readonly string[];
  /** Milliseconds before each answer of a member; empty: 0, 20 and 200. */
  readonly latencies: readonly number[];
  /** Queries say with SERVICE where things are. */
  readonly withService?: boolean;
  /** Larger members are described by queries; absent: as in the product. */
  readonly readBytes?: number | undefined;
}

const lists = ["members", "peers", "queries", "latencies"] as const;

/** Reads `--members=20,200`, `--peers=fedway,fedx`, `--queries=q01`, `--latencies=0,20`, `--quick`. @throws Error for another */
export function readOptions(flags: readonly string[]): FederationOptions {
  const told: Partial<Record<(typeof lists)[number], readonly string[]>> = {};
  for (const flag of flags.filter((each) => each !== "--quick")) {
    const [, name = "", values = ""] = /^--(\w+)=(.+)$/u.exec(flag) ?? [];
    const list = lists.find((each) => each === name);
    if (list === undefined)
      throw new Error(`unknown option ${flag}; there are --quick, ${lists.map((each) => `--${each}=`).join(", ")}`);
    told[list] = values.split(",");
  }
  return {
    quick: flags.includes("--quick"),
    members: (told.members ?? ["20", "200"]).map(Number),
    peers: told.peers ?? [],
    queries: told.queries ?? [],
    latencies: (told.latencies ?? []).map(Number),
  };
}

/** Latencies to measure at. */
export const latenciesOf = ({ latencies, quick }: FederationOptions): readonly number[] =>
  latencies.length > 0 ? latencies : quick ? [20] : [0, 20, 200];

/** Whether a peer is wanted. */
export const wants = ({ peers }: FederationOptions, name: string): boolean =>
  peers.length === 0 || peers.includes(name);
