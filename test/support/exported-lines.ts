// Builds the statement lines that export files are written from.
import type { ExplainedLine } from '../../src/exports/exported-line.js';

export function explainedLine(line: Partial<ExplainedLine> = {}): ExplainedLine {
  return {
    nsu: 101n,
    occurredAt: new Date('2026-03-10T15:04:05.678Z'),
    typeName: 'CREDIT_PIX',
    isCredit: true,
    amountCents: 123_456n,
    balancePreviousCents: 0n,
    currentBalanceCents: 123_456n,
    correlationId: null,
    endToEndId: null,
    externalId: null,
    notes: null,
    state: 'pending',
    rule: null,
    category: null,
    breakKind: null,
    expectedPaymentIds: [],
    ...line,
  };
}
