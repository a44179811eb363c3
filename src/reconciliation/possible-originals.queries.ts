// Of which Pix a debit may be the refund that carries no id of its Pix.
import { refundWindowDays } from '../contract/refunds.js';
import { opaqueAccountId, opaqueArray } from '../database.service.js';
import type { Reader } from '../shared-reads.queries.js';
import type { ExpectedPaymentFacts, StatementLineFacts } from './decide/model.js';

/**
 * The received Pix of the counterparty of each debit, by tax id or account, that the debit may
 * refund: within the window of refunds, with as much left as the statement shows. Read only for
 * debits without an original whose amount a refund without a response has.
 */
export async function findPossibleOriginals(
  db: Reader,
  accountId: number,
  lines: readonly StatementLineFacts[],
  payments: readonly ExpectedPaymentFacts[],
): Promise<Map<bigint, bigint[]>> {
  const amounts = new Set(
    payments
      .filter((payment) => payment.refundOfNsu !== null && payment.isWithoutResponse)
      .flatMap(({ amountCents }) => amountCents ?? []),
  );
  const debits = lines.filter(
    ({ isCredit, originalEndToEndId, amountCents }) =>
      !isCredit && originalEndToEndId === null && amounts.has(amountCents),
  );
  const found = new Map<bigint, bigint[]>();
  if (debits.length === 0) return found;
  const rows = await db.$queryRaw<{ nsu: bigint; originals: bigint[] }[]>`
    SELECT debit.nsu, array_agg(pix.nsu ORDER BY pix.nsu) AS originals
    FROM unnest(${opaqueArray(
      debits.map(({ nsu }) => nsu),
      'bigint',
    )}) AS wanted(nsu)
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = wanted.nsu OFFSET 0
    ) debit
    JOIN statement_line pix ON pix.account_id = debit.account_id AND pix.is_credit
      AND pix.end_to_end_id LIKE 'E%' AND pix.amount_cents >= debit.amount_cents
      AND pix.occurred_at <= debit.occurred_at
      AND pix.occurred_at >= debit.occurred_at - ${refundWindowDays + 1} * interval '1 day'
      AND (pix.counterparty_document = debit.counterparty_document
        OR pix.counterparty = debit.counterparty)
    WHERE pix.amount_cents - COALESCE((
      SELECT sum(named.amount_cents) FROM (
        SELECT account_id, nsu, amount_cents, end_to_end_id FROM statement_line
        WHERE account_id = pix.account_id AND NOT is_credit
          AND original_end_to_end_id = pix.end_to_end_id
        UNION
        SELECT own.account_id, own.nsu, own.amount_cents, own.end_to_end_id FROM refund r
        JOIN expected_payment_reference named ON named.account_id = r.account_id
          AND named.expected_payment_id = r.expected_payment_id AND named.kind = 'nsu'
        JOIN statement_line own ON own.account_id = r.account_id
          AND own.nsu = CASE WHEN named.kind = 'nsu' THEN named.value::bigint END
        WHERE r.account_id = pix.account_id AND r.original_nsu = pix.nsu
      ) named
      WHERE NOT EXISTS (
        SELECT FROM statement_line reversal
        WHERE reversal.account_id = named.account_id AND reversal.is_credit
          AND reversal.end_to_end_id = named.end_to_end_id)
    ), 0) >= debit.amount_cents
    GROUP BY debit.nsu`;
  for (const { nsu, originals } of rows) found.set(nsu, originals);
  return found;
}
