import { InvalidArgumentError } from "commander";

const whole = (text: string, what: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError(`A whole number ${what} is expected.`);
  return Number(text);
};

/** Milliseconds of an option, at least one. */
export const milliseconds = (text: string): number => whole(text, "of milliseconds");

/** A number of requests, at least one. */
export const requests = (text: string): number => whole(text, "of requests");

/** An http(s) URL. */
export function httpUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new InvalidArgumentError("An http(s) URL is expected.");
  return text;
}

/** Examples below the help of a command. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ fedway ${line}`).join("\n")}`;
