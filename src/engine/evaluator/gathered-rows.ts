import type { Bindings } from "../../results/model.ts";
import { takenIn } from "../held-bytes.ts";
import type { Execution, Rows } from "./execution.ts";

/** Solutions that are taken in before they are read. */
export class GatheredRows {
  readonly #gather: () => Promise<readonly Bindings[]>;
  #gathered: Promise<readonly Bindings[]> | undefined;

  constructor(rows: Rows, { held }: Execution) {
    this.#gather = () => takenIn(rows, held.open());
  }

  begin(): void {
    this.#gathered ??= this.#gather();
    // The reader of the rows gets the failure.
    this.#gathered.catch(() => {});
  }

  async *rows(): Rows {
    this.begin();
    if (this.#gathered) yield await this.#gathered;
  }
}
