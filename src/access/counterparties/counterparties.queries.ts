// Reads what each source says about the counterparty of a line or of an expected payment. It is the
// only place that does: whoever shows a counterparty takes it from here, and masks it for its
// caller. Nothing is decided by it.
import { lookUpKinds, namingKinds } from '../../bank-contract/operation-kinds.js';
import { opaqueArray, type Db } from '../../platform/postgres/database.service.js';
import { Prisma, type Operation } from '../../generated/service/client.js';
import { parseJson, tolerantJson } from '../../platform/json/exact-json.js';
import { fieldOf, readParty, type PaymentParty } from './party.js';
import {
  resolveCounterparty,
  unknownCounterparty,
  type Counterparty,
  type CounterpartySource,
  type SourcedParty,
} from './resolution.js';

type SourceRow = PaymentParty &
  Pick<Counterparty, 'message'> &
  Pick<Operation, 'requestBody' | 'responseBody'> & { source: CounterpartySource };

/**
 * What the request of an expected payment says: the payer of a charge, the beneficiary of a
 * transfer, or whom another system expects. Of a transfer by key, the bank's response names the
 * beneficiary: the look-up of the key is stored without its holder. A transfer's account is
 * `ispb/branch/number`, or its last part alone.
 */
const requested = (accountId: number, expectedPaymentId: Prisma.Sql) => Prisma.sql`
  SELECT CASE WHEN e.operation_id IS NULL THEN 'declared'
              WHEN e.is_credit THEN 'charge' ELSE 'transfer' END AS source,
         e.counterparty_name AS name, e.counterparty_document AS tax_id,
         ${partsOf(Prisma.sql`t.counterparty`)},
         NULL::text AS message, o.request_body,
         CASE WHEN o.kind = ANY (${lookUpKinds}::text[]) AND o.state = 'succeeded'
           THEN o.response_body END AS response_body
  FROM expected_payment e
  LEFT JOIN transfer t ON t.account_id = e.account_id AND t.expected_payment_id = e.id
    AND t.shape <> 'key'
  LEFT JOIN operation o ON o.account_id = e.account_id AND o.id = e.operation_id
    AND e.kind = ANY (${namingKinds}::text[])
  WHERE e.account_id = ${accountId} AND e.id = ${expectedPaymentId}`;

/** Institution, branch and account number of an account in its normal form. */
function partsOf(key: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    CASE WHEN ${key} LIKE '%/%/%' THEN lpad(split_part(${key}, '/', 1), 8, '0') END AS ispb,
    CASE WHEN ${key} LIKE '%/%/%' THEN lpad(split_part(${key}, '/', 2), 4, '0') END AS branch,
    CASE WHEN ${key} LIKE '%/%/%' THEN split_part(${key}, '/', 3) ELSE ${key} END AS account`;
}

/**
 * The counterparties of lines, by nsu. A line that is erased has none, whatever other sources say.
 * Sources beside the line are read only where it leaves something open.
 */
export async function findCounterparties(
  db: Db,
  accountId: number,
  nsus: readonly bigint[],
): Promise<Map<bigint, Counterparty>> {
  if (nsus.length === 0) return new Map();
  const rows = await db.$queryRaw<(SourceRow & { nsu: bigint })[]>`
    WITH line AS MATERIALIZED (
      SELECT t.*, t.name IS NULL OR t.document IS NULL AS is_unnamed
      FROM unnest(${opaqueArray(new Set(nsus), 'bigint')}) wanted (nsu)
      CROSS JOIN LATERAL (
        SELECT nsu, is_credit, end_to_end_id, counterparty_name AS name,
               counterparty_document AS document,
               COALESCE(counterparty_document, counterparty_masked_tax_id) AS tax_id,
               counterparty_ispb AS ispb, counterparty_branch AS branch,
               counterparty_account AS account, message
        FROM statement_line
        WHERE account_id = ${accountId} AND nsu = wanted.nsu AND salt IS NOT NULL OFFSET 0
      ) t
    )
    SELECT nsu, 'line' AS source, name, tax_id, ispb, branch, account, message,
           NULL::text AS request_body, NULL::text AS response_body
    FROM line
    UNION ALL
    SELECT line.nsu, 'webhook', w.name, w.tax_id, w.ispb, w.branch, w.account_number, w.message,
           NULL, NULL
    FROM line CROSS JOIN LATERAL (
      SELECT * FROM webhook_counterparty
      WHERE account_id = ${accountId} AND reference_kind = 'nsu'
        AND reference = line.nsu::text AND is_credit = line.is_credit
      UNION ALL
      SELECT * FROM webhook_counterparty
      WHERE account_id = ${accountId} AND reference_kind = 'end_to_end_id'
        AND reference = line.end_to_end_id AND is_credit = line.is_credit
    ) w
    WHERE line.is_unnamed OR line.account IS NULL
    UNION ALL
    SELECT line.nsu, 'look_up', NULL, NULL,
           ${partsOf(Prisma.sql`l.counterparty`)}, NULL, NULL, NULL
    FROM line JOIN pix_lookup l ON l.account_id = ${accountId}
      AND l.end_to_end_id = line.end_to_end_id AND l.counterparty LIKE '%/%/%'
    WHERE NOT line.is_credit AND (line.is_unnamed OR line.account IS NULL)
    UNION ALL
    SELECT line.nsu, request.*
    FROM line
    CROSS JOIN LATERAL (
      SELECT min(expected_payment_id::text)::uuid AS id FROM match
      WHERE account_id = ${accountId} AND nsu = line.nsu AND unlinked_at IS NULL
        AND role = 'payment'
      HAVING count(DISTINCT expected_payment_id) = 1
    ) paid
    CROSS JOIN LATERAL (${requested(accountId, Prisma.sql`paid.id`)}) request
    WHERE line.is_unnamed`;
  return resolved(rows, ({ nsu }) => nsu);
}

/** The counterparties of expected payments, by id, as the requests for them name them. */
export async function findExpectedCounterparties(
  db: Db,
  accountId: number,
  ids: readonly string[],
): Promise<Map<string, Counterparty>> {
  if (ids.length === 0) return new Map();
  const rows = await db.$queryRaw<(SourceRow & { id: string })[]>`
    SELECT wanted.id::text, request.*
    FROM unnest(${opaqueArray(new Set(ids), 'uuid')}) wanted (id)
    CROSS JOIN LATERAL (${requested(accountId, Prisma.sql`wanted.id`)}) request`;
  return resolved(rows, ({ id }) => id);
}

function resolved<Row extends SourceRow, Key>(
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
): Map<Key, Counterparty> {
  const sources = new Map<Key, SourcedParty[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const party = partyOf(row);
    sources.set(key, [...(sources.get(key) ?? []), ...(isKnown(party) ? [party] : [])]);
  }
  return new Map([...sources].map(([key, parties]) => [key, resolveCounterparty(parties)]));
}

function partyOf({ source, message, ...row }: SourceRow): SourcedParty {
  const { requestBody, responseBody, ...columns } = row;
  const { name, taxId, ispb, branch, account } = columns;
  const stored = { name, taxId, ispb, branch, account };
  if (requestBody === null) return { ...stored, source, message };
  const request = parseJson(requestBody, tolerantJson);
  const response = responseBody === null ? null : parseJson(responseBody, tolerantJson);
  const asked = readParty(
    fieldOf(request, 'payer') ??
      fieldOf(request, 'beneficiary') ??
      fieldOf(response, 'beneficiary'),
  );
  return {
    name: stored.name ?? asked.name,
    taxId: stored.taxId ?? asked.taxId,
    ispb: asked.ispb ?? stored.ispb,
    branch: asked.branch ?? stored.branch,
    account: asked.account ?? stored.account,
    ...{ source, message },
  };
}

function isKnown({ source: _, ...fields }: SourcedParty): boolean {
  return Object.values(fields).some((value) => value !== null);
}

/** The counterparty of a line that is not stored, or is erased, is unknown. */
export function counterpartyIn<Key>(found: Map<Key, Counterparty>, key: Key): Counterparty {
  return found.get(key) ?? unknownCounterparty;
}
