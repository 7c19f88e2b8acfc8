import { FedwayError } from "../errors/fedway-error.ts";

interface BudgetOptions {
  /** The budget that it is a part of. */
  readonly whole?: RequestBudget;
  readonly withoutCredentials?: boolean | undefined;
}

/** How many requests to endpoints one call may still cause, and to which; handed down to whatever the call starts. */
export class RequestBudget {
  readonly most: number;
  /** The call may not ask endpoints that need the operator's credentials. */
  readonly withoutCredentials: boolean;
  readonly #whole: RequestBudget | undefined;
  #spent = 0;

  constructor(most: number, { whole, withoutCredentials = false }: BudgetOptions = {}) {
    this.most = most;
    this.withoutCredentials = withoutCredentials;
    this.#whole = whole;
  }

  get spent(): number {
    return this.#spent;
  }

  /** A part of it, for one thing among others that the call does. */
  part(most: number): RequestBudget {
    const { withoutCredentials } = this;
    return new RequestBudget(Math.min(most, this.most), { whole: this, withoutCredentials });
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
