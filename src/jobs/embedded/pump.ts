import type { Timer } from "../../clock.ts";
import type { QueueCore } from "./queue-core.ts";
import type { Schedules } from "./schedules.ts";
import { survey, trim } from "./survey.ts";
import type { Worker } from "./worker.ts";

/** What makes a queue go. */
export interface Pump {
  /** Starts what can be started, and plans the next look. */
  readonly run: () => void;
  /** Looks through the whole store. */
  readonly survey: () => Promise<void>;
  /** Ends all looks; resolves when none is under way. */
  readonly stop: () => Promise<void>;
}

/** What is made to go. */
export interface PumpOptions {
  readonly core: QueueCore;
  readonly worker: Worker;
  readonly schedules: Schedules;
  readonly soleOwner: boolean;
  readonly surveyEveryMs: number;
  readonly keepFinished: number;
}

const longestWaitMs = 3_600_000;

/** Fills the worker whenever something has changed, and wakes up for what is due later. Stands still until surveyed. */
export function createPump(options: PumpOptions): Pump {
  const { core, worker, schedules, soleOwner, surveyEveryMs, keepFinished } = options;
  const { clock } = core;
  let nextSurveyMs = Number.POSITIVE_INFINITY;
  let timer: Timer | undefined;
  let stopped = true;
  let busy: Promise<void> = Promise.resolve();

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    busy = busy.then(work).catch(core.fault);
    return busy;
  };
  const run = (): void => {
    if (stopped) return;
    // Read before the worker looks: what becomes due after its look must still be ahead here.
    const now = clock.now();
    worker.fill();
    void inTurn(() => trim(core, keepFinished));
    const next = Math.min(nextSurveyMs, core.mirror.nextTimeMs(now), schedules.nextTimeMs());
    clock.clearTimeout(timer);
    timer = clock.setTimeout(wake, Math.min(Math.max(1, next - now), longestWaitMs));
  };
  const look = async (): Promise<void> => {
    nextSurveyMs = clock.now() + surveyEveryMs;
    await schedules.refresh();
    await survey(core, { worker, soleOwner });
  };
  const wake = (): void => {
    void inTurn(async () => {
      if (stopped) return;
      await schedules.tick();
      if (clock.now() >= nextSurveyMs) await look();
    }).then(run);
  };
  return {
    run,
    async survey() {
      await look();
      stopped = false;
      run();
    },
    stop() {
      stopped = true;
      clock.clearTimeout(timer);
      return busy;
    },
  };
}
