// Reads the stored breaks of those subjects that are being decided.
import {
  accountColumn,
  opaqueArray,
  type Reader,
} from '../../platform/postgres/database.service.js';
import { Prisma, type Break } from '../../generated/service/client.js';
import { contradictionBreakKinds, operationBreakKinds } from '../decide/break-kinds.js';

export type StoredBreak = Pick<
  Break,
  'id' | 'kind' | 'subject' | 'state' | 'nsu' | 'expectedPaymentId'
>;

interface SubjectsOfBreaks {
  nsus: readonly bigint[];
  expectedPaymentIds: readonly string[];
  /** Operations whose payments contradict what was concluded about them. */
  operationIdsOfPayments: readonly string[];
  /** Operations that have breaks about themselves. */
  operationIds: readonly string[];
}

const storedColumns = Prisma.sql`b.id, b.kind, b.subject, b.state, b.nsu, b.expected_payment_id`;

/** The breaks of these lines, expected payments and operations. */
export async function listBreaksAbout(
  db: Reader,
  accountId: number,
  { nsus, expectedPaymentIds, operationIdsOfPayments, operationIds }: SubjectsOfBreaks,
): Promise<StoredBreak[]> {
  const found = [];
  if (nsus.length > 0)
    found.push(Prisma.sql`
      SELECT ${storedColumns} FROM unnest(${opaqueArray(nsus, 'bigint')}) AS wanted(nsu)
      CROSS JOIN LATERAL (
        SELECT * FROM break WHERE account_id = account.id AND nsu = wanted.nsu OFFSET 0
      ) b`);
  if (expectedPaymentIds.length > 0)
    found.push(Prisma.sql`
      SELECT ${storedColumns} FROM unnest(${opaqueArray(expectedPaymentIds, 'uuid')}) AS wanted(id)
      CROSS JOIN LATERAL (
        SELECT * FROM break
        WHERE account_id = account.id AND expected_payment_id = wanted.id OFFSET 0
      ) b`);
  const ofOperations = [
    ...operationIdsOfPayments.flatMap((id) =>
      contradictionBreakKinds.map((kind) => ({ id, kind })),
    ),
    ...operationIds.flatMap((id) => operationBreakKinds.map((kind) => ({ id, kind }))),
  ];
  const idsOf = ofOperations.map(({ id }) => id);
  const kindsOf = ofOperations.map(({ kind }) => kind);
  if (ofOperations.length > 0)
    found.push(Prisma.sql`
      SELECT ${storedColumns} FROM unnest(
        ${opaqueArray(idsOf, 'uuid')}, ${opaqueArray(kindsOf, 'text')}
      ) AS wanted(id, kind)
      CROSS JOIN LATERAL (
        SELECT * FROM break
        WHERE account_id = account.id AND operation_id = wanted.id AND kind = wanted.kind
          AND subject = 'operation:' || wanted.id OFFSET 0
      ) b`);
  // A part without keys would be planned for nothing.
  if (found.length === 0) return [];
  return db.$queryRaw<StoredBreak[]>`
    SELECT b.id, b.kind, b.subject, b.state, b.nsu, b.expected_payment_id
    FROM ${accountColumn(accountId)}
    CROSS JOIN LATERAL (${Prisma.join(found, ' UNION ')}) b`;
}
