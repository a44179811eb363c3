// The true book of a busy account: what was asked for, what the bank did, and what the service must make of each line.
import { createHash } from 'node:crypto';
import { Dice } from '../chaos/dice.js';

/** What the book must say of a line in the end. */
export interface LineTruth {
  /** The live match that it has: a payment, or what came back; null where it has none. */
  match: 'payment' | 'reversal' | null;
  /** Its classification's category. */
  category: 'before_go_live' | 'fee' | 'own_account_transfer' | null;
  /** The one open break that it stands in. */
  breakKind: string | null;
}

/** By its own number, once the year is laid out, and with its balances. */
export interface Line {
  scenario: string;
  /** Milliseconds, by the bank's clock. */
  at: number;
  cents: number;
  isCredit: boolean;
  typeName: string;
  correlationId: string | null;
  notes: string | null;
  proof: Record<string, unknown>;
  /** What it pays or brings back. */
  expectation: Expectation | null;
  truth: LineTruth;
  nsu: number;
  previousCents: number;
  currentCents: number;
  /** `late`: withheld until all others were read. `shifting`: committed while the pages are being read. */
  shown: 'at once' | 'late' | 'shifting';
}

export interface Expectation {
  scenario: string;
  id: string;
  operationId: string;
  kind: string;
  operationState: 'succeeded' | 'rejected' | 'unknown';
  isCredit: boolean;
  /** Null when the payer chooses. */
  cents: number | null;
  isMultiUse: boolean;
  dueDate: string | null;
  terms: string | null;
  /** By the bank's clock. */
  createdAt: number;
  isWithdrawn: boolean;
  references: { kind: string; value: string }[];
  /** Its reference `nsu` is this line's, once that is numbered. */
  reportedNsuOf: Line | null;
  charge: { correlationId: string; type: string; cancelledAt?: number; expiredAt?: number } | null;
  transfer: { counterparty: string; endToEndId: string; externalId: string; bankId: string } | null;
  billCode: string | null;
  /** The received Pix that a refund of ours gives back. */
  refundOf: Line | null;
  /** What was matched to it as payments. */
  paidCents: number;
  /** The kinds of the open breaks that name it. */
  breaks: string[];
  /** Its line is in a break that names it: whether it is also missing is the service's to say. */
  mayBeMissing: boolean;
}

type NewLine = Pick<Line, 'at' | 'cents' | 'typeName'> &
  Partial<Pick<Line, 'correlationId' | 'notes' | 'proof' | 'expectation'>> & {
    truth: Partial<LineTruth>;
  };
type NewExpectation = Pick<Expectation, 'kind' | 'cents' | 'createdAt'> &
  Partial<Omit<Expectation, 'id' | 'operationId' | 'scenario'>>;

export class Book {
  readonly lines: Line[] = [];
  readonly expectations: Expectation[] = [];
  /** Debits of another account of ours that are the other side of our credits. */
  readonly otherSides: { endToEndId: string; cents: number; at: number }[] = [];
  scenario = '';

  constructor(
    private readonly seed: number,
    readonly dice = new Dice(seed),
  ) {}

  line({ truth, ...line }: NewLine): Line {
    const whole: Line = {
      ...{ correlationId: null, notes: null, proof: {}, expectation: null },
      ...line,
      scenario: this.scenario,
      isCredit: line.typeName.startsWith('CREDIT'),
      truth: { match: null, category: null, breakKind: null, ...truth },
      ...{ nsu: 0, previousCents: 0, currentCents: 0, shown: 'at once' },
    };
    this.lines.push(whole);
    if (whole.expectation && truth.match === 'payment') whole.expectation.paidCents += line.cents;
    return whole;
  }

  expectation(expected: NewExpectation): Expectation {
    const number = this.expectations.length;
    const operationId = this.uuid('operation', number);
    const whole: Expectation = {
      ...{ operationState: 'succeeded', isCredit: true, isMultiUse: false, isWithdrawn: false },
      ...{ dueDate: null, terms: null, references: [], reportedNsuOf: null, charge: null },
      ...{ transfer: null, billCode: null, refundOf: null, paidCents: 0, breaks: [] },
      ...{ mayBeMissing: false },
      ...expected,
      scenario: this.scenario,
      id: this.uuid('expectation', number),
      operationId,
    };
    if (!whole.isCredit)
      whole.references = [...whole.references, { kind: 'idempotency_key', value: operationId }];
    this.expectations.push(whole);
    return whole;
  }

  /** A name that nothing else has. */
  name(prefix: string): string {
    return `${prefix}-${this.expectations.length}-${this.lines.length}`;
  }

  endToEndId(): string {
    const place = `${this.expectations.length}.${this.lines.length}`;
    return `E12345678${this.hash('e2e', place).slice(0, 23)}`;
  }

  uuid(...of: (string | number)[]): string {
    const hash = this.hash(...of);
    const parts = [hash.slice(0, 8), hash.slice(8, 12), `4${hash.slice(13, 16)}`];
    return [...parts, `8${hash.slice(17, 20)}`, hash.slice(20, 32)].join('-');
  }

  private hash(...of: (string | number)[]): string {
    return createHash('sha256')
      .update([this.seed, ...of].join(' '))
      .digest('hex');
  }
}
