import { FedwayError } from "../../errors/fedway-error.ts";
import { type CharacterSet, has } from "./character-sets.ts";
import { isWordCharacter, type Pattern } from "./xpath-pattern.ts";

/** Flags that change where a pattern matches. */
interface MatchFlags {
  /** `i`: references match in either case. */
  readonly ignoresCase: boolean;
  /** `m`: `^` and `$` match at line ends, too. */
  readonly multiline: boolean;
}

/** Where a match and its groups begin and end: of group `n`, at `2 * n` and `2 * n + 1`; -1 where it took no part. */
export type Match = readonly number[];

type Instruction =
  | { readonly does: "take"; readonly set: CharacterSet }
  | { readonly does: "assert"; readonly is: (Pattern & { kind: "assertion" })["is"] }
  | { readonly does: "repeat-group"; readonly number: number }
  /** Goes on at `first`, and at `second` when that has failed. */
  | { readonly does: "try"; readonly first: number; readonly second: number }
  | { readonly does: "go"; readonly to: number }
  | { readonly does: "save"; readonly slot: number }
  /** Fails where nothing was taken since the slot was saved: an endless loop. */
  | { readonly does: "progress"; readonly slot: number }
  | { readonly does: "end" };

interface Way {
  readonly text: string;
  readonly position: number;
  readonly saved: number[];
  readonly ways: number[];
  readonly budget: { steps: number };
}

const end: Instruction = { does: "end" };
const mostInstructions = 10_000;
const mostSteps = 2 ** 22;

/**
 * Finds matches of patterns with references, which no automaton can: by trying one way after the other, with a bound of steps.
 * The time of RE2 does not grow like that; it matches all other patterns.
 */
export class BacktrackingPattern {
  readonly #text: string;
  readonly #flags: MatchFlags;
  readonly #slots: number;
  readonly #program: readonly Instruction[];

  /**
   * @param text as the query has it, for messages
   * @throws FedwayError `EVALUATION_TOO_LARGE` for a pattern that repeats too much
   */
  constructor(text: string, pattern: Pattern, groups: number, flags: MatchFlags) {
    this.#text = text;
    this.#flags = flags;
    const compiler = new Compiler(groups, () => this.#tooMuch());
    compiler.add({ kind: "group", number: 0, part: pattern });
    this.#program = [...compiler.program, end];
    this.#slots = compiler.slots;
  }

  /** The matches from left to right, none within another. @throws FedwayError `EVALUATION_TOO_LARGE` for one that takes long */
  *matches(text: string): Generator<Match> {
    let budget = { steps: mostSteps };
    for (let start = 0; start <= text.length; ) {
      const match = this.#matchAt(text, start, budget);
      if (match) {
        yield match;
        budget = { steps: mostSteps };
      }
      const behind = match?.[1] ?? start;
      start = behind > start ? behind : start + widthAt(text, start);
    }
  }

  #matchAt(text: string, start: number, budget: { steps: number }): Match | undefined {
    const saved = Array.from({ length: this.#slots }, () => -1);
    // Ways not tried yet: an instruction and a position. Below zero, the slot to be restored and what it held.
    const ways = [0, start];
    while (ways.length > 0) {
      const position = ways.pop() ?? 0;
      const at = ways.pop() ?? 0;
      if (at < 0) saved[-1 - at] = position;
      else if (this.#follow(at, { text, position, saved, ways, budget })) return saved;
    }
    return undefined;
  }

  /** Goes one way until it matches, which is true, or fails. */
  #follow(from: number, { text, position, saved, ways, budget }: Way): boolean {
    let at = from;
    let here = position;
    for (;;) {
      if (budget.steps-- <= 0) throw this.#tooMuch();
      const instruction = this.#program[at] ?? end;
      at += 1;
      if (instruction.does === "end") return true;
      if (instruction.does === "go") at = instruction.to;
      else if (instruction.does === "try") {
        ways.push(instruction.second, here);
        at = instruction.first;
      } else if (instruction.does === "save") {
        ways.push(-1 - instruction.slot, saved[instruction.slot] ?? -1);
        saved[instruction.slot] = here;
      } else {
        const next = this.#after(instruction, text, here, saved);
        if (next === undefined) return false;
        here = next;
      }
    }
  }

  /** The position behind what an instruction matches; undefined where it does not match. */
  #after(
    instruction: Instruction & { does: "take" | "assert" | "repeat-group" | "progress" },
    text: string,
    position: number,
    saved: Match,
  ): number | undefined {
    switch (instruction.does) {
      case "take": {
        const character = text.codePointAt(position);
        return character !== undefined && has(instruction.set, character)
          ? position + widthAt(text, position)
          : undefined;
      }
      case "progress":
        return saved[instruction.slot] === position ? undefined : position;
      case "repeat-group": {
        const group = text.slice(saved[2 * instruction.number], saved[2 * instruction.number + 1]);
        const behind = position + group.length;
        return this.#isSame(group, text.slice(position, behind)) ? behind : undefined;
      }
      default:
        return this.#holds(instruction.is, text, position) ? position : undefined;
    }
  }

  #isSame(one: string, other: string): boolean {
    return one === other || (this.#flags.ignoresCase && one.toLowerCase() === other.toLowerCase());
  }

  #holds(assertion: (Pattern & { kind: "assertion" })["is"], text: string, position: number): boolean {
    const [before, behind] = [text[position - 1], text[position]];
    if (assertion === "start") return position === 0 || (this.#flags.multiline && before === "\n");
    if (assertion === "end") return position === text.length || (this.#flags.multiline && behind === "\n");
    return (isWordCharacter(before) !== isWordCharacter(behind)) === (assertion === "boundary");
  }

  #tooMuch(): FedwayError {
    return new FedwayError(
      "EVALUATION_TOO_LARGE",
      `The regular expression ${JSON.stringify(this.#text.slice(0, 100))} takes too many steps.`,
      { next: "Write it without references such as \\1, or with smaller repetitions." },
    );
  }
}

const widthAt = (text: string, position: number): number => ((text.codePointAt(position) ?? 0) > 0xff_ff ? 2 : 1);

class Compiler {
  readonly program: Instruction[] = [];
  slots: number;
  readonly #tooMuch: () => FedwayError;

  constructor(groups: number, tooMuch: () => FedwayError) {
    this.slots = 2 * (groups + 1);
    this.#tooMuch = tooMuch;
  }

  add(pattern: Pattern): void {
    if (this.program.length > mostInstructions) throw this.#tooMuch();
    switch (pattern.kind) {
      case "character":
        this.program.push({ does: "take", set: pattern.set });
        break;
      case "assertion":
        this.program.push({ does: "assert", is: pattern.is });
        break;
      case "reference":
        this.program.push({ does: "repeat-group", number: pattern.number });
        break;
      case "sequence":
        for (const part of pattern.parts) this.add(part);
        break;
      case "group":
        this.#addGroup(pattern.number, pattern.part);
        break;
      case "choice":
        this.#addChoice(pattern.parts);
        break;
      case "repeat":
        this.#addRepeat(pattern);
        break;
    }
  }

  #addGroup(number: number | undefined, part: Pattern): void {
    if (number !== undefined) this.program.push({ does: "save", slot: 2 * number });
    this.add(part);
    if (number !== undefined) this.program.push({ does: "save", slot: 2 * number + 1 });
  }

  #addChoice([first, ...rest]: readonly Pattern[]): void {
    if (first === undefined) return;
    if (rest.length === 0) {
      this.add(first);
      return;
    }
    const choice = this.#reserve();
    this.add(first);
    const exit = this.#reserve();
    this.program[choice] = { does: "try", first: choice + 1, second: this.program.length };
    this.#addChoice(rest);
    this.program[exit] = { does: "go", to: this.program.length };
  }

  #addRepeat({ part, least, most, lazy }: Pattern & { kind: "repeat" }): void {
    if (least > mostInstructions || (most < Number.POSITIVE_INFINITY && most > mostInstructions)) throw this.#tooMuch();
    for (let count = 0; count < least; count += 1) this.add(part);
    if (most === Number.POSITIVE_INFINITY) {
      const loop = this.#reserve();
      const slot = this.slots++;
      this.program.push({ does: "save", slot });
      this.add(part);
      this.program.push({ does: "progress", slot }, { does: "go", to: loop });
      this.program[loop] = way(loop + 1, this.program.length, lazy);
      return;
    }
    const exits: number[] = [];
    for (let count = least; count < most; count += 1) {
      exits.push(this.#reserve());
      this.add(part);
    }
    for (const exit of exits) this.program[exit] = way(exit + 1, this.program.length, lazy);
  }

  /** A place for an instruction that is known later. */
  #reserve(): number {
    return this.program.push(end) - 1;
  }
}

const way = (into: number, past: number, lazy: boolean): Instruction =>
  lazy ? { does: "try", first: past, second: into } : { does: "try", first: into, second: past };
