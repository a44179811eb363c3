// Processes webhooks, and keeps the counts of lines that webhooks reported. It follows the sync:
// the webhooks that came before it are compared with the lines, and new lines with the webhooks.
import { afterCommit, type Database } from '../../platform/postgres/database.service.js';
import * as queries from './notification-counts.queries.js';
import { recordReports } from '../processing/webhook-reports.queries.js';
import {
  findProcessable,
  findShown,
  markProcessed,
  nothingProcessed,
  recordCompared,
  type ProcessedWebhooks,
} from '../processing/webhook-processing.queries.js';

const linesAtOnce = 2_000;

/** Processes webhooks, and counts the lines that they report. Returns what is left to do, too. */
export async function processWebhooks(
  database: Database,
  accountId: number,
  maxWaitMs: number,
): Promise<ProcessedWebhooks & { isComplete: boolean }> {
  if (!(await queries.hasUncounted(database.sql, accountId)))
    return { ...nothingProcessed, isComplete: true };
  return database.transaction(async (tx) => {
    await queries.lockCounts(tx, accountId);
    const found = await findProcessable(tx, accountId, maxWaitMs);
    if (!found) return { ...nothingProcessed, isComplete: true };
    const { processable, comparedFrom, isComplete } = found;
    const processed = await markProcessed(tx, accountId, processable, comparedFrom);
    await recordReports(tx, accountId, processed.reports);
    await recordCompared(tx, accountId, found);
    await queries.countReportedLines(tx, accountId, processed.places);
    return { ...processed, isComplete };
  });
}

/**
 * Compares all lines that are new with the webhooks, and processes those that waited for them. Each
 * part is a transaction of its own: a comparison that fails or takes long holds up nothing else.
 */
export async function compareNewLines(
  database: Database,
  accountId: number,
  recordProcessed: (processed: ProcessedWebhooks) => void,
): Promise<void> {
  for (let lines = linesAtOnce; lines === linesAtOnce;)
    lines = await database.transaction(async (tx) => {
      await queries.lockCounts(tx, accountId);
      const compared = await queries.compareNextLines(tx, accountId, linesAtOnce);
      if (compared.lines > 0) {
        const shown = await findShown(tx, accountId, compared);
        const processed = await markProcessed(tx, accountId, shown, null);
        await recordReports(tx, accountId, processed.reports);
        await queries.countReportedLines(tx, accountId, processed.places);
        afterCommit(tx, () => recordProcessed(processed));
      }
      return compared.lines;
    });
}
