/** Why a run ends before everything is known. */
export type StopReason = "budget" | "timeouts" | "busy" | "unreachable" | "cancelled";

/** Ends a run from any depth; never leaves the describer. */
export class StopRun extends Error {
  override readonly name = "StopRun";
  readonly reason: StopReason;

  constructor(reason: StopReason, cause?: unknown) {
    super(`The run ends: ${reason}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
