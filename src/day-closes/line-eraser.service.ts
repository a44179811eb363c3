// Erases what is personal in a certified line, together with the salt that could prove a guess of it. Its seal stays, so
// that the chain is as provable as it was.
import type { Database } from '../database.service.js';
import { renameUnreadableLineBreaks } from '../reconciliation/statement-breaks.queries.js';
import { eraseLine } from '../statement/line-erasure.queries.js';
import { deleteSalt, isCertified } from './erasure.queries.js';

export type Erased = 'erased' | 'not_found' | 'not_certified';

export class LineEraser {
  constructor(private readonly database: Database) {}

  /** A line that no certificate has is left as it is: nothing would prove afterwards what it was. */
  async erase(account: string, nsu: bigint, reason: string): Promise<Erased> {
    return this.database.transaction(async (tx) => {
      const found = await tx.bankAccount.findUnique({ where: { slug: account } });
      if (!found) return 'not_found';
      if (!(await isCertified(tx, found.id, nsu)))
        return (await tx.statementLine.count({ where: { accountId: found.id, nsu } })) > 0
          ? 'not_certified'
          : 'not_found';
      await renameUnreadableLineBreaks(tx, found.id, await eraseLine(tx, found.id, nsu, reason));
      await deleteSalt(tx, found.id, nsu);
      return 'erased';
    });
  }
}
