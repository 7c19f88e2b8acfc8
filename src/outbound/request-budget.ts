import { FedwayError } from "../errors/fedway-error.ts";

/** How many requests to endpoints one call may still cause; handed down to whatever the call starts. */
export class RequestBudget {
  readonly most: number;
  readonly #whole: RequestBudget | undefined;
  #spent = 0;

  constructor(most: number, whole?: RequestBudget) {
    this.most = most;
    this.#whole = whole;
  }

  get spent(): number {
    return this.#spent;
  }

  /** A part of it, for one thing among others that the call does. */
  part(most: number): RequestBudget {
    return new RequestBudget(Math.min(most, this.most), this);
  }

  /** Takes one request. @throws FedwayError `BUDGET_SPENT` when none is left */
  take(): void {
    if (this.#spent >= this.most) throw budgetSpent(this.most);
    this.#whole?.take();
    this.#spent += 1;
  }
}

const budgetSpent = (most: number): FedwayError =>
  new FedwayError("BUDGET_SPENT", `The call has sent ${most} requests to endpoints, the most that it may.`, {
    next: "Ask fewer endpoints, or narrow what joins them; FEDWAY_CALL_REQUESTS raises the number.",
  });
