// Reads the refunds of charges' payments.
import type { Db } from '../database.service.js';
import type { Refund, Settlement } from '../generated/service/client.js';

export interface ChargeRefundRow extends Pick<
  Refund,
  'id' | 'originalNsu' | 'amountCents' | 'state' | 'nsu'
> {
  orderedBy: 'us' | 'bank';
  isWithdrawn: boolean;
  /** Null while the refund was not decided. */
  stored: Settlement | null;
}

/**
 * The refunds of payments, oldest first: our own refunds, and refunds that the bank made without
 * our request.
 */
export async function listChargeRefunds(
  db: Db,
  accountId: number,
  nsus: bigint[],
): Promise<ChargeRefundRow[]> {
  return db.$queryRaw`
    SELECT r.id, r.original_nsu, r.amount_cents, r.state, r.nsu,
           'us' AS "orderedBy", e.withdrawn_at IS NOT NULL AS "isWithdrawn",
           total.settlement::text AS stored
    FROM refund r
    JOIN expected_payment e ON e.account_id = r.account_id AND e.id = r.expected_payment_id
    LEFT JOIN expected_payment_total total
      ON total.account_id = r.account_id AND total.expected_payment_id = r.expected_payment_id
    WHERE r.account_id = ${accountId} AND r.original_nsu = ANY (${nsus}::bigint[])
    UNION ALL
    SELECT m.id, credit.nsu, m.amount_cents, 'accepted', debit.nsu, 'bank', false, 'settled'
    FROM statement_line credit
    JOIN statement_line debit ON debit.account_id = credit.account_id AND NOT debit.is_credit
      AND debit.original_end_to_end_id = credit.end_to_end_id
    JOIN match m ON m.account_id = debit.account_id AND m.nsu = debit.nsu AND m.unlinked_at IS NULL
      AND m.role = 'reversal'
    WHERE credit.account_id = ${accountId} AND credit.nsu = ANY (${nsus}::bigint[])
    ORDER BY id`;
}
