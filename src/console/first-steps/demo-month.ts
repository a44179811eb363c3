// What the books of the demonstration shop expect of the lines of its statement: nearly all of
// them. What is left out, or differs, is what a person finds among the breaks.
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import { statementDayOf } from '../../brazil/statement-day.js';
import { countBy } from '../../platform/grouping.js';
import type { DeclaredTerms } from '../../statement/expected-payments/declared-terms.js';
import type { Reference } from '../../statement/expected-payments/references.js';

/** A line of the shop's statement, as the sandbox bank's ledger shows it. */
export interface ShopLine {
  nsu: bigint;
  amountCents: bigint;
  isCredit: boolean;
  type: string;
  endToEndId: string | null;
  correlationId: string | null;
  createdAt: Date;
}

export interface ShopPayment {
  externalId: string;
  terms: DeclaredTerms;
}

/** One in so many lines of its kind is missing in the books, or has another amount there. */
const oddOnes = {
  unknownCredit: 110,
  unknownDebit: 60,
  lessPaid: 200,
  morePaid: 300,
  twicePaid: 8,
  twoInvoices: 20,
  unknownRefund: 5,
} as const;
/** Debits below it without any id are the bank's fees: no record of the books. */
const feesBelowCents = 500n;
const daysAhead = 24;
const daysOverdue = 9;

/** The payments that the books expect, of the lines of the past and of the coming weeks. */
export function shopPayments(lines: readonly ShopLine[], today: PlainDate): ShopPayment[] {
  const uses = countBy(lines, ({ correlationId }) => correlationId);
  const counts = new Map<string, number>();
  const isOdd = (kind: keyof typeof oddOnes) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count % oddOnes[kind] === 0;
  };
  /** The codes that were paid twice by mistake: the books know one sale. */
  const twice = new Set(
    [...uses].flatMap(([id, count]) =>
      id !== null && count === 2 && isOdd('twicePaid') ? id : [],
    ),
  );
  const known = new Set<string>();
  const payments: ShopPayment[] = [];
  for (const line of lines) {
    const { isCredit, amountCents, correlationId, endToEndId } = line;
    const isNamed = correlationId !== null || endToEndId !== null;
    if (!isCredit && !isNamed && amountCents < feesBelowCents) continue;
    if (
      line.type.includes('REFUND')
        ? isOdd('unknownRefund')
        : isOdd(isCredit ? 'unknownCredit' : 'unknownDebit')
    )
      continue;
    if (correlationId !== null && twice.has(correlationId)) {
      if (!known.has(correlationId)) payments.push(paymentOf(line, true));
      known.add(correlationId);
      continue;
    }
    const isOwnId = correlationId !== null && uses.get(correlationId) === 1;
    const payment = paymentOf(line, isOwnId);
    if (isCredit && isOdd('lessPaid')) payment.terms.amountCents = amountCents + 1_000n;
    else if (isCredit && amountCents > 5_000n && isOdd('morePaid'))
      payment.terms.amountCents = amountCents - 1_000n;
    payments.push(payment);
    if (!isNamed && isOdd('twoInvoices'))
      payments.push({ ...payment, externalId: `${payment.externalId}-b` });
  }
  return [...payments, ...comingPayments(today)];
}

/** `isOwnId`: whether no other line has its correlationId. */
function paymentOf(line: ShopLine, isOwnId: boolean): ShopPayment {
  const { isCredit, amountCents, correlationId, endToEndId } = line;
  const references: Reference[] = [];
  if (isOwnId && correlationId !== null)
    references.push({ kind: 'correlation_id', value: correlationId });
  else if (endToEndId !== null) references.push({ kind: 'end_to_end_id', value: endToEndId });
  const day = statementDayOf(line.createdAt);
  return {
    externalId: `${isCredit ? 'pedido' : 'nota'}-${line.nsu}`,
    terms: {
      ...emptyTerms(isCredit, day, references.length > 0 ? addDays(day, 3) : day),
      amountCents,
      references,
      text: references.length > 0 ? null : line.type,
    },
  };
}

/** Sales on credit and monthly bills: of some the day has passed. */
function comingPayments(today: PlainDate): ShopPayment[] {
  return Array.from({ length: daysOverdue + daysAhead }, (_, index) => {
    const isCredit = index % 3 !== 0;
    const day = addDays(today, index - daysOverdue);
    const name = `${isCredit ? 'pedido' : 'nota'}-aberto-${index + 1}`;
    return {
      externalId: name,
      terms: {
        ...emptyTerms(isCredit, day, day),
        amountCents: BigInt(12_900 + 3_170 * index),
        counterpartyName: isCredit ? 'Cliente a prazo' : 'Fornecedor mensal',
        references: [{ kind: 'external_id', value: name }],
      },
    };
  });
}

function emptyTerms(isCredit: boolean, dateFrom: PlainDate, dateTo: PlainDate): DeclaredTerms {
  return {
    isCredit,
    amountCents: null,
    amountFromCents: null,
    amountToCents: null,
    toleranceCents: 0n,
    dateFrom,
    dateTo,
    references: [],
    taxId: null,
    counterpartyName: null,
    text: null,
    category: isCredit ? 'Vendas' : 'Fornecedores',
    costCentre: 'Loja 1',
    project: null,
    metadata: null,
  };
}
