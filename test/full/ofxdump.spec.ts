// The statement as OFX, read by libofx, on which GnuCash, KMyMoney and others import. `ofxdump` is
// Debian's package `ofx`.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { insertMarchLines } from '../support/exported-statement.js';
import { dumpOfx, hasOfxDump } from '../support/ofx-readers.js';
import {
  apiKey,
  serviceApplication,
  type ServiceApplication,
} from '../support/service-application.js';

const lineCount = 5_300;

if (!hasOfxDump)
  process.stderr.write('The test that libofx reads OFX is skipped: ofxdump is not installed.\n');
const run = hasOfxDump ? describe : describe.skip;

run('libofx', () => {
  let service: ServiceApplication;
  beforeAll(async () => {
    service = await serviceApplication();
    const { id } = await service.database.prisma.bankAccount.findFirstOrThrow();
    await insertMarchLines(service, id, lineCount, 400);
  });
  afterAll(() => service.stop());

  it('reads account, period, balance and each line of the statement', async () => {
    const response = await fetch(
      `${service.url}/v1/exports/transactions?format=ofx&from=2026-03-01&to=2026-03-31`,
      { headers: { 'x-service-api-key': apiKey } },
    );
    const file = Buffer.from(await response.arrayBuffer());
    const valuesOf = dumpOfx(file);
    expect([valuesOf('Bank ID'), valuesOf('Branch ID'), valuesOf('Account #')]).toEqual([
      ...[['999'], ['0001'], ['1000001']],
    ]);
    const amounts = valuesOf('Total money amount').map(Number);
    expect(amounts).toHaveLength(lineCount);
    const cents = amounts.reduce((sum, amount) => sum + Math.round(amount * 100), 0);
    expect(valuesOf('Ledger balance')).toEqual([(cents / 100).toFixed(2)]);
    expect(valuesOf("Financial institution's ID for this transaction").map(Number)).toEqual(
      Array.from({ length: lineCount }, (_, index) => index + 1),
    );
    const names = valuesOf('Name of payee or transaction description');
    expect(new Set(names)).toEqual(new Set(['CREDIT_PIX', 'DEBIT_PIX']));
    expect(valuesOf('Reference number').slice(0, 2)).toEqual(['c-1', 'c-2']);
  });
});
