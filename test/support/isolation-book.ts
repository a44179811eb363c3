// What stands in an account's book, for the test of isolation: a certificate with a hash that nobody else may see.
import type { Database } from '../../src/database.service.js';

const hash = 'isolation-canary-certificate';
const amounts = { count: 0, credits: '0.00', debits: '0.00' };
const certificate = {
  format: 'concilia-day-close/1',
  ...{ accountId: 1, date: '2026-03-02', revision: 1, sequence: 1, reason: null },
  ...{ opening: '0.00', credits: '0.00', debits: '0.00', closing: '0.00', lines: 0 },
  ...{ matched: amounts, classified: {}, inBreak: {}, firstNsu: null, lastNsu: null },
  ...{
    balanceNsu: null,
    balance: '0.00',
    reconcilingItems: [],
    added: [],
    linesHash: 'x',
    earlier: null,
  },
  ...{ previousHash: 'x', closedUntil: null, madeAt: '2026-03-03T03:00:00.000Z' },
};

export async function dayCloseOf(database: Database, accountId: number) {
  const { date } = certificate;
  await database.prisma.dayClose.create({
    data: {
      ...{ accountId, sequence: 1, date, revision: 1, lineCount: 0 },
      ...{ openingCents: 0, creditCents: 0, debitCents: 0, closingCents: 0 },
      ...{ certificate: JSON.stringify(certificate), linesHash: 'x', previousHash: 'x', hash },
    },
  });
  return { date, hash };
}
