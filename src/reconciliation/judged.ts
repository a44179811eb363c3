// What the judge is given, and what it says: lines, the records of ours that they could be, and verdicts.
import type { PaidSettlement } from '../expected-payments/settlement.js';

export interface JudgedLine {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
  endToEndId: string | null;
  originalEndToEndId: string | null;
  occurredAt: Date;
  /** It came so lately that the line of what it gives back may still be on its way. */
  isFresh: boolean;
}

/** An expected payment that a reference on the line names. */
export interface Candidate {
  expectedPaymentId: string;
  operationId: string;
  /** The kind of the operation. */
  kind: string;
  /** Null when the operation is not in the journal. */
  operationState: string | null;
  isCredit: boolean;
  /** Null when the payer chooses. */
  amountCents: bigint | null;
  /** Live payments before this line, in cents. */
  paidCents: bigint;
  /** What of them has come back before this line, in cents. */
  returnedCents: bigint;
  isMultiUse: boolean;
  dueDate: string | null;
  terms: string | null;
  /** Nothing was to come any more: the bank had rejected the operation. */
  isWithdrawn: boolean;
  referenceKind: string;
  referenceValue: string;
  /** The line names it as what it gives back, and not by an id of its own. */
  isOriginal: boolean;
}

/** A payment that should go out and was not seen, of an operation that the bank has not answered. */
export interface OpenDebit extends Candidate {
  amountCents: bigint;
  /** By which shared reference it and the line agree; null where one of them tells none. */
  tie: 'original' | 'counterparty' | null;
  /** It has a reference that the bank told: a line that is it would carry that. */
  isKnownToBank: boolean;
  createdAt: Date;
  /** When its movement can have happened, by the bank's clock. */
  from: Date;
  until: Date;
}

export interface Evidence {
  referenceKind: string;
  referenceValue: string;
}

export type ReturnSettlement = 'returned' | 'partially_returned';

interface MatchedAs {
  verdict: 'matched';
  nsu: bigint;
  expectedPaymentId: string;
  operation: Pick<Candidate, 'operationId' | 'kind' | 'operationState'>;
  amountCents: bigint;
  evidence: Evidence;
  /** What was owed in all on the day; null when the payer chose, and for what came back. */
  owedCents: bigint | null;
}

export type Matched = MatchedAs &
  (
    | {
        role: 'payment';
        rule: 'reference' | 'original' | 'counterparty';
        settlement: PaidSettlement;
      }
    | { role: 'return'; rule: 'return'; settlement: ReturnSettlement }
  );

export interface Classified {
  verdict: 'classified';
  nsu: bigint;
  rule: 'opening_line';
}

export interface Broken {
  verdict: 'break';
  nsu: bigint;
  kind: 'unexpected' | 'ambiguous';
  amountCents: bigint;
  /** The expected payments that a reference names, where that did not decide it. */
  candidates: Evidence[];
}

/** What is under way may explain the line: it is judged again. */
export interface Deferred {
  verdict: 'deferred';
  nsu: bigint;
  amountCents: bigint;
}

export type Verdict = Matched | Classified | Broken | Deferred;

export function evidenceOf({ referenceKind, referenceValue }: Evidence): Evidence {
  return { referenceKind, referenceValue };
}

/** What lines of one batch have paid and given back so far, on top of what was there before. */
export class Tally {
  private readonly paid = new Map<string, bigint>();
  private readonly returned = new Map<string, bigint>();

  paidCents({ expectedPaymentId, paidCents }: Candidate): bigint {
    return paidCents + (this.paid.get(expectedPaymentId) ?? 0n);
  }

  returnedCents({ expectedPaymentId, returnedCents }: Candidate): bigint {
    return returnedCents + (this.returned.get(expectedPaymentId) ?? 0n);
  }

  add({ expectedPaymentId, role, amountCents }: Matched): void {
    const sums = role === 'payment' ? this.paid : this.returned;
    sums.set(expectedPaymentId, (sums.get(expectedPaymentId) ?? 0n) + amountCents);
  }
}
