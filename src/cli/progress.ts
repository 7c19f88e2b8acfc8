import type { Writable } from "node:stream";
import cliProgress from "cli-progress";
import type { JobProgress } from "../jobs/job-queue.ts";
import { oneLine } from "./output.ts";
import { isTerminal } from "./terminal.ts";

/** Does work and shows how far it is. */
export async function withProgress<Result>(
  stream: Writable,
  work: (show: (progress: JobProgress) => void) => Promise<Result>,
): Promise<Result> {
  const display = createProgressDisplay(stream);
  try {
    return await work(display.show);
  } finally {
    display.end();
  }
}

/** Shows how far a long command has come. */
interface ProgressDisplay {
  readonly show: (progress: JobProgress) => void;
  /** Clears what was shown; nothing is written after it. */
  readonly end: () => void;
}

const lineEveryMs = 5_000;

/** A bar on a terminal, elsewhere a line every five seconds. */
export function createProgressDisplay(stream: Writable): ProgressDisplay {
  return isTerminal(stream) ? createBar(stream) : createLines(stream);
}

function createBar(stream: Writable): ProgressDisplay {
  const bar = new cliProgress.SingleBar({
    stream,
    format: "{bar} {stage} {units}{figures}",
    barsize: 20,
    hideCursor: true,
    clearOnComplete: true,
    linewrap: false,
    // Names of characters would make old terminals show question marks.
    barCompleteChar: "#",
    barIncompleteChar: "-",
  });
  let started = false;
  return {
    show(progress) {
      const { stage, done, total } = progress;
      const payload = { stage: oneLine(stage), units: unitsText(progress), figures: figuresText(progress) };
      const scale = total === undefined || total === 0 ? 1 : total;
      if (started) bar.setTotal(scale);
      else bar.start(scale, 0, payload);
      started = true;
      bar.update(total === undefined ? 0 : Math.min(done, scale), payload);
    },
    end: () => (started ? bar.stop() : undefined),
  };
}

function createLines(stream: Writable): ProgressDisplay {
  let line = "";
  const timer = setInterval(() => stream.write(line), lineEveryMs).unref();
  return {
    show(progress) {
      line = `${oneLine(progress.stage)} ${unitsText(progress)}${figuresText(progress)}\n`;
    },
    end: () => clearInterval(timer),
  };
}

/** Empty for a single unit: the name of the stage says enough. */
const unitsText = ({ done, total }: JobProgress): string =>
  total === undefined || total <= 1 ? "" : `${done}/${total} `;

function figuresText({ figures = {} }: JobProgress): string {
  const texts = Object.entries(figures).map(([name, value]) => `${value} ${name}`);
  return texts.length === 0 ? "" : `(${texts.join(", ")})`;
}
