// Builds the statement lines, accounts and periods that export files are written from.
import { toCoding } from '../../src/statement/expected-payments/coding.js';
import { unknownCounterparty } from '../../src/access/counterparties/resolution.js';
import type { CnabAccount } from '../../src/reporting/exports/cnab240-file.js';
import type { ExportedLine, StatementPeriod } from '../../src/reporting/exports/exported-line.js';

export const accountAtItau: CnabAccount = {
  bankCode: '341',
  ispb: '60701190',
  bankName: 'Itaú Unibanco S.A.',
  branch: '12',
  branchDigit: null,
  accountNumber: '34567',
  accountDigit: '8',
  holderName: 'Padaria São João Ltda',
  holderTaxId: '11222333000181',
  agreement: '00123',
};

export const marchPeriod: StatementPeriod = {
  from: '2026-03-01',
  to: '2026-03-31',
  openingCents: 7n,
  isPartial: false,
  generatedAt: new Date('2026-04-01T12:00:00Z'),
};

export function exportedLine(line: Partial<ExportedLine> = {}): ExportedLine {
  return {
    nsu: 101n,
    occurredAt: new Date('2026-03-10T15:04:05.678Z'),
    typeName: 'CREDIT_PIX',
    isCredit: true,
    amountCents: 123_456n,
    currentBalanceCents: 123_456n,
    correlationId: null,
    endToEndId: null,
    externalId: null,
    billCode: null,
    notes: null,
    counterparty: unknownCounterparty,
    clientReference: null,
    state: 'pending',
    rule: null,
    classification: null,
    coding: toCoding(),
    breakKind: null,
    expectedPaymentIds: [],
    feeCents: null,
    metadata: [],
    ...line,
  };
}
