// SQL of the files that people have chosen and not sent yet.
import type { BulkFilePart } from '../../generated/service/client.js';
import type { Db, Tx } from '../../platform/postgres/database.service.js';

/** Deletes the files of a person but for the `most` newest ones: their ids are in order of time. */
export async function deleteOlderFiles(
  tx: Tx,
  { accountId, actor }: Pick<BulkFilePart, 'accountId' | 'actor'>,
  most: number,
): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM bulk_file_part p
    WHERE p.account_id = ${accountId} AND p.actor = ${actor} AND p.file_id NOT IN (
      SELECT n.file_id FROM bulk_file_part n
      WHERE n.account_id = ${accountId} AND n.actor = ${actor} AND n.part = 0
      ORDER BY n.file_id DESC LIMIT ${most})`;
}

export async function deleteOldFiles(db: Db, hours: number): Promise<void> {
  await db.$executeRaw`
    DELETE FROM bulk_file_part WHERE (account_id, file_id) IN (
      SELECT account_id, file_id FROM bulk_file_part
      WHERE part = 0 AND created_at < (SELECT clock_timestamp() - ${hours} * interval '1 hour'))`;
}
