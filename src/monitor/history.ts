import type { DaySummary, HourSummary, Observation, WindowSummary } from "./monitor.ts";

/**
 * The observations of endpoints over time: raw ones for 7 days, summaries of hours for 90 days and of days for 2 years.
 * Summaries hold mergeable histograms of durations, so that percentiles of any window are those of its observations.
 * Every method throws FedwayError `STORE_FAILED`.
 */
export interface History {
  /** Keeps one observation. */
  record(endpoint: string, observation: Observation): Promise<void>;
  /** The latest observations of all sources, oldest first. */
  recent(
    endpoint: string,
    options: { readonly fromMs: number; readonly limit?: number },
  ): Promise<readonly Observation[]>;
  /** Hours with turns, oldest first, the running one included. */
  hours(endpoint: string, range: { readonly fromMs: number; readonly toMs: number }): Promise<readonly HourSummary[]>;
  /** Days (UTC) with turns, oldest first, the running one included. */
  days(endpoint: string, range: { readonly fromMs: number; readonly toMs: number }): Promise<readonly DaySummary[]>;
  /** 24 h, 7, 30 and 90 days up to now. */
  windows(endpoint: string, nowMs: number): Promise<readonly WindowSummary[]>;
  /**
   * Writes the summaries of hours and days that are over, of these endpoints. Doing it twice, or again after a crash in
   * the middle, changes nothing; hours that were missed are made up for while their observations are kept.
   */
  rollUp(endpoints: readonly string[], nowMs: number, signal: AbortSignal): Promise<void>;
  remove(endpoint: string): Promise<void>;
}
