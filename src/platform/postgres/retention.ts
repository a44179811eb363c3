// How a module deletes what is older than the days of a setting: in short statements, a limited
// number in each run, so that neither a long backlog nor a shutdown has to wait for another.

/** Rows of one statement: their locks are held briefly. */
const rowsPerBatch = 500;
const batchesPerRun = 20;

/**
 * Calls `deleteBatch` until it finds less than a full batch. `deleteBatch` deletes or empties up to
 * `limit` rows that are older than `days`, and returns how many it has found. With 0 days
 * everything is kept for ever.
 */
export async function deleteInBatches(
  days: number,
  deleteBatch: (days: number, limit: number) => Promise<number>,
): Promise<void> {
  if (days === 0) return;
  for (let batch = 0; batch < batchesPerRun; batch += 1)
    if ((await deleteBatch(days, rowsPerBatch)) < rowsPerBatch) return;
}
