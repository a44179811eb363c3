// Collects the generated statement lines and expected payments of a busy account, each with the
// result that the service must reach.
import { createHash } from 'node:crypto';
import { Dice } from '../chaos/dice.js';

/** The result that the service must reach for a line. */
export interface CorrectOutcome {
  /** The role of its active match, or null where it has none. */
  match: 'payment' | 'reversal' | null;
  /** The category of its classification. */
  category: 'before_go_live' | 'fee' | 'own_account_transfer' | null;
  /** The kind of its open break. */
  breakKind: string | null;
}

/** A statement line. `generate.ts` sets its number and balances when the year is complete. */
export interface YearLine {
  scenario: string;
  /** Milliseconds, by the bank's clock. */
  at: number;
  cents: number;
  isCredit: boolean;
  typeName: string;
  correlationId: string | null;
  notes: string | null;
  proof: Record<string, unknown>;
  /** The expected payment that the line settles or reverses. */
  payment: YearPayment | null;
  correct: CorrectOutcome;
  nsu: number;
  previousCents: number;
  currentCents: number;
  /** `late`: after all others were read. `shifting`: while the pages are being read. */
  appears: 'at once' | 'late' | 'shifting';
}

/** An expected payment, with its operation and its charge, transfer, bill payment or refund. */
export interface YearPayment {
  scenario: string;
  id: string;
  operationId: string;
  kind: string;
  operationState: 'succeeded' | 'rejected' | 'unknown';
  isCredit: boolean;
  /** Null where the payer chooses the amount. */
  cents: number | null;
  isMultiUse: boolean;
  dueDate: string | null;
  terms: string | null;
  /** Milliseconds, by the bank's clock. */
  createdAt: number;
  isWithdrawn: boolean;
  references: { kind: string; value: string }[];
  /** The line whose number becomes the reference `nsu`, when the lines are numbered. */
  reportedNsuOf: YearLine | null;
  charge: { correlationId: string; type: string; cancelledAt?: number; expiredAt?: number } | null;
  transfer: { counterparty: string; endToEndId: string; externalId: string; bankId: string } | null;
  billCode: string | null;
  /** The received Pix that the payment refunds. */
  refundOf: YearLine | null;
  /** The sum of the lines that must be matched to it with the role `payment`. */
  paidCents: number;
  /** The kinds of its open breaks. */
  breaks: string[];
  /** Its line is in a break. The service may or may not open a break `missing` as well. */
  mayBeMissing: boolean;
}

type NewLine = Pick<YearLine, 'at' | 'cents' | 'typeName'> &
  Partial<Pick<YearLine, 'correlationId' | 'notes' | 'proof' | 'payment'>> & {
    correct: Partial<CorrectOutcome>;
  };
type NewPayment = Pick<YearPayment, 'kind' | 'cents' | 'createdAt'> &
  Partial<Omit<YearPayment, 'id' | 'operationId' | 'scenario'>>;

export class YearBuilder {
  readonly lines: YearLine[] = [];
  readonly payments: YearPayment[] = [];
  /** Debits of another own account. Each is the counterpart of a credit of this account. */
  readonly ownTransferDebits: { endToEndId: string; cents: number; at: number }[] = [];
  /** The name that new lines and payments get. */
  scenario = '';

  constructor(
    private readonly seed: number,
    readonly dice = new Dice(seed),
  ) {}

  addLine({ correct, ...newLine }: NewLine): YearLine {
    const line: YearLine = {
      ...{ correlationId: null, notes: null, proof: {}, payment: null },
      ...newLine,
      scenario: this.scenario,
      isCredit: newLine.typeName.startsWith('CREDIT'),
      correct: { match: null, category: null, breakKind: null, ...correct },
      ...{ nsu: 0, previousCents: 0, currentCents: 0, appears: 'at once' },
    };
    this.lines.push(line);
    if (line.payment && correct.match === 'payment') line.payment.paidCents += line.cents;
    return line;
  }

  addPayment(newPayment: NewPayment): YearPayment {
    const number = this.payments.length;
    const operationId = this.uuid('operation', number);
    const payment: YearPayment = {
      ...{ operationState: 'succeeded', isCredit: true, isMultiUse: false, isWithdrawn: false },
      ...{ dueDate: null, terms: null, references: [], reportedNsuOf: null, charge: null },
      ...{ transfer: null, billCode: null, refundOf: null, paidCents: 0, breaks: [] },
      ...{ mayBeMissing: false },
      ...newPayment,
      scenario: this.scenario,
      id: this.uuid('expectation', number),
      operationId,
    };
    if (!payment.isCredit)
      payment.references = [...payment.references, { kind: 'idempotency_key', value: operationId }];
    this.payments.push(payment);
    return payment;
  }

  uniqueName(prefix: string): string {
    return `${prefix}-${this.payments.length}-${this.lines.length}`;
  }

  endToEndId(): string {
    const position = `${this.payments.length}.${this.lines.length}`;
    return `E12345678${this.hash('e2e', position).slice(0, 23)}`;
  }

  uuid(...parts: (string | number)[]): string {
    const hash = this.hash(...parts);
    const groups = [hash.slice(0, 8), hash.slice(8, 12), `4${hash.slice(13, 16)}`];
    return [...groups, `8${hash.slice(17, 20)}`, hash.slice(20, 32)].join('-');
  }

  private hash(...parts: (string | number)[]): string {
    return createHash('sha256')
      .update([this.seed, ...parts].join(' '))
      .digest('hex');
  }
}
