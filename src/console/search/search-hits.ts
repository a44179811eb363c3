// What a search has found, in the groups of its page. A record stands in one group: its operation
// and its expected payment lead to nothing else.
import type { FoundBreak, FoundLine, FoundOperation, FoundPayment } from './search.queries.js';

export interface FoundRecords {
  payments: readonly FoundPayment[];
  lines: readonly FoundLine[];
  operations: readonly FoundOperation[];
  breaks: readonly FoundBreak[];
}

/** In the order of the page. Each is also the page of its list. */
export const groups = [
  ...(['charges', 'transfers', 'bills', 'refunds', 'operations'] as const),
  ...(['statement', 'breaks', 'expected-payments'] as const),
] as const;
export type Group = (typeof groups)[number];

export type Hit = { group: Group; path: string; at: Date; amountCents: bigint | null } & (
  | { of: 'payment'; payment: FoundPayment }
  | { of: 'operation'; operation: FoundOperation }
  | { of: 'line'; line: FoundLine }
  | { of: 'break'; found: FoundBreak }
);

export function hitsOf({ payments, lines, operations, breaks }: FoundRecords): Hit[] {
  const ofRecords = payments.map((payment): Hit => {
    const { amountCents, createdAt: at } = payment;
    return { ...placeOf(payment), of: 'payment', payment, amountCents, at };
  });
  const known = new Set(ofRecords.map(({ path }) => path));
  const ofOperations = operations
    .filter((operation) => !isShownByRecord(operation, payments, known))
    .map((operation): Hit => {
      const { id, amountCents, createdAt: at } = operation;
      return {
        ...{ group: 'operations', path: `operations/${id}` },
        ...{ of: 'operation', operation, amountCents, at },
      };
    });
  const ofLines = lines.map((line): Hit => {
    const { nsu, amountCents, occurredAt: at } = line;
    return {
      ...{ group: 'statement', path: `statement/${nsu}` },
      ...{ of: 'line', line, amountCents, at },
    };
  });
  const ofBreaks = breaks.map((found): Hit => {
    const { id, amountCents, openedAt: at } = found;
    return { ...{ group: 'breaks', path: `breaks/${id}` }, of: 'break', found, amountCents, at };
  });
  return [...ofRecords, ...ofOperations, ...ofLines, ...ofBreaks].sort(
    (one, other) => groups.indexOf(one.group) - groups.indexOf(other.group),
  );
}

function placeOf(payment: FoundPayment): Pick<Hit, 'group' | 'path'> {
  const { id, operationId, correlationId, transferId, billId, refundId } = payment;
  if (correlationId !== null) return { group: 'charges', path: `charges/${operationId}` };
  if (transferId !== null) return { group: 'transfers', path: `transfers/${transferId}` };
  if (billId !== null) return { group: 'bills', path: `bills/${billId}` };
  if (refundId !== null) return { group: 'refunds', path: `refunds/${refundId}` };
  return { group: 'expected-payments', path: `expected-payments/${id}` };
}

/** A batch has several transfers, and is shown beside them. */
function isShownByRecord(
  { id }: FoundOperation,
  payments: readonly FoundPayment[],
  known: ReadonlySet<string>,
): boolean {
  const records = payments.filter(({ operationId }) => operationId === id);
  const isOwnRecord = ['charges', 'transfers', 'bills', 'refunds'].some((page) =>
    known.has(`${page}/${id}`),
  );
  return records.length === 1 && isOwnRecord;
}
