// Computes how often the statement is synced: more often if webhooks are lost or late, less often
// if every line was notified. A webhook triggers a sync of its own, whatever the interval.

/** A statement line of a type that the bank sends webhooks for. */
export interface NotifiableLine {
  /** A webhook references the line. */
  isNotified: boolean;
  /** The line is too recent for its webhook to count as lost. */
  isWaiting: boolean;
  /** A scheduled sync recorded the line well before its webhook came, or no webhook has come. */
  wasSyncedBeforeWebhook: boolean;
}

const minIntervalMs = 1_000;
/** The interval is doubled only if at least this many lines were notified. */
const minHealthyLines = 20;
/** The newest lines show whether the bank has just stopped sending webhooks. */
const newestLines = 10;
const minNewestLines = 3;
/** Losing more than one webhook in fifty shortens the interval. */
const linesPerToleratedLoss = 50;

/**
 * The interval between syncs in milliseconds; null if the setting applies unchanged. `lines` are in
 * order, the newest first.
 */
export function syncIntervalFor(
  lines: readonly NotifiableLine[],
  settingMs: number,
): number | null {
  const lost = lines.filter(({ isNotified, isWaiting }) => !isNotified && !isWaiting).length;
  const expected = lines.filter(({ isNotified, isWaiting }) => isNotified || !isWaiting).length;
  const newest = lines.slice(0, newestLines);
  const synced = newest.filter(({ wasSyncedBeforeWebhook }) => wasSyncedBeforeWebhook).length;
  const areWebhooksLate = newest.length >= minNewestLines && synced * 2 > newest.length;
  if (lost * linesPerToleratedLoss > expected || areWebhooksLate) {
    const quarterMs = Math.max(minIntervalMs, Math.floor(settingMs / 4));
    return quarterMs < settingMs ? quarterMs : null;
  }
  return lost === 0 && expected >= minHealthyLines ? Math.max(minIntervalMs, settingMs * 2) : null;
}
