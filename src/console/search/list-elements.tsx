// What the lists of payments have in common: their tones, amounts and counterparties, and the
// requests that fill them.
import type { Counterparty } from '../../access/counterparties/resolution.js';
import { writeTaxId } from '../formats.js';
import { Badge, type Tone } from '../kit/elements.js';
import type { ListColumn } from '../kit/table.js';
import { useVisit } from '../visit.js';

const tones: Record<string, Tone> = {
  // Of charges and of money that we sent, by the statement.
  settled: 'good',
  partially_settled: 'warn',
  overpaid: 'warn',
  partially_reversed: 'warn',
  reversed: 'warn',
  // Of transfers, bills and refunds.
  effective: 'good',
  paid: 'good',
  failed: 'bad',
  rejected: 'bad',
  // Of operations.
  succeeded: 'good',
  unknown: 'warn',
  needs_operator: 'bad',
  awaiting_approval: 'warn',
  // Of lines.
  matched: 'good',
  in_break: 'bad',
  pending: 'warn',
};

export function StateBadge({ state, text }: { state: string; text: string }) {
  return <Badge tone={tones[state] ?? 'plain'} text={text} />;
}

/** The nsus of lines, as links. */
export function LineLink({ nsu }: { nsu: bigint | null }) {
  const { to, t } = useVisit();
  if (nsu === null) return <>{t('app.none')}</>;
  return <a href={to(`statement/${nsu}`)}>{nsu.toString()}</a>;
}

/** Name and tax id, as the reader may see them. */
export function partyColumn<Row>(
  of: (row: Row) => Counterparty,
  /** Where neither a name nor an account is known. */
  other?: (row: Row) => string,
): ListColumn<Row> {
  return {
    wide: (row) => {
      const { name, account } = of(row);
      return <bdi>{name ?? account ?? other?.(row)}</bdi>;
    },
    below: {
      label: 'list.taxId',
      cell: (row) => writeTaxId(of(row).taxId),
    },
  };
}

const curlTo = (path: string, body: string, options: readonly string[] = []) =>
  [
    `curl -s "$CONCILIA_URL${path}" -H "x-service-api-key: $KEY"`,
    "-H 'content-type: application/json'",
    ...options,
    `-d '${body}'`,
  ].join(' \\\n  ');
const withKey = '-H "IdempotencyKey: $(uuidgen)"';

/** Requests that fill the lists. */
export const examples = {
  charges: curlTo(
    '/baas/v1/charges',
    '{"type": "BANKSLIP_PIX", "correlationId": "order-1", "yourNumber": "1", ' +
      '"dueDate": "2030-12-31", "Amount": 149.90, ' +
      '"payer": {"name": "Maria da Silva", "document": "12345678909"}}',
  ),
  transfers: curlTo(
    '/baas/api/v2/transfers',
    '{"amount": 10.50, "initiationType": "KEY", "endToEndId": "E…"}',
    [withKey],
  ),
  bills: curlTo('/baas/api/v1/bill-payments', '{"barCode": "…", "amount": 10.50}', [withKey]),
  refunds: curlTo('/baas/api/v1/transactions/1/refund?filterBy=NSU', '{"amount": 10.50}', [
    '-X PUT',
    withKey,
  ]),
};

/** `31/12/2030`, in every language: the bank writes days so. */
export function writeDay(day: string): string {
  return day.split('-').reverse().join('/');
}
