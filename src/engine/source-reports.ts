import type { SourceReport } from "./federation-engine.ts";

/** The report of one endpoint, made on its first request. */
export function sourceReport(sources: Map<string, SourceReport>, endpoint: string): SourceReport {
  let report = sources.get(endpoint);
  if (!report) {
    report = { endpoint, requests: 0, bytes: 0, ms: 0, status: "pending" };
    sources.set(endpoint, report);
  }
  return report;
}

// A later request may only make the verdict on an endpoint worse.
const gravity: Record<SourceReport["status"], number> = {
  pending: 0,
  ok: 1,
  cancelled: 2,
  partial: 3,
  silenced: 4,
  failed: 5,
};

/** Notes that SILENT has taken an endpoint's failure for an answer; nothing is missing any more. */
export function noteSilenced(report: SourceReport, reason: string): void {
  report.status = "silenced";
  report.reason = reason;
}

/** Notes how one request ended; the worst end of all its requests is the endpoint's status. */
export function noteStatus(report: SourceReport, status: SourceReport["status"], reason?: string): void {
  if (gravity[status] < gravity[report.status]) return;
  report.status = status;
  if (reason !== undefined) report.reason = reason;
}
