// Keeps the counts of lines that webhooks reported. It follows the sync: webhooks are processed,
// and new lines compared with them, after each complete one.
import type { Database, Tx } from '../database.service.js';
import * as queries from './notification-counts.queries.js';
import { nothingProcessed, type ProcessedWebhooks } from './webhooks.queries.js';

const linesAtOnce = 2_000;

/**
 * Processes webhooks with `process`, and counts the lines that they report. Lines are compared
 * apart from it, by `compareNewLines`: a comparison that fails or takes long holds up no webhook.
 */
export async function countProcessed(
  database: Database,
  accountId: number,
  process: (tx: Tx) => Promise<ProcessedWebhooks>,
): Promise<ProcessedWebhooks> {
  if (!(await queries.hasUncounted(database.prisma, accountId))) return nothingProcessed;
  return database.transaction(async (tx) => {
    await queries.lockCounts(tx, accountId);
    const part = await process(tx);
    await queries.countReportedLines(tx, accountId, part.processed);
    return part;
  });
}

/** Compares all lines that are new with the webhooks. */
export async function compareNewLines(database: Database, accountId: number): Promise<void> {
  for (let lines = linesAtOnce; lines === linesAtOnce;)
    lines = await database.transaction(async (tx) => {
      await queries.lockCounts(tx, accountId);
      return queries.compareNextLines(tx, accountId, linesAtOnce);
    });
}
