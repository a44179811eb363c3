// The matcher with the statement lines of the sandbox bank: requests are recorded as the modules
// record them, and sent to the sandbox.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { formatCounterparty } from '../../../src/statement/expected-payments/counterparty.js';
import { parseJson } from '../../../src/platform/json/exact-json.js';
import { parseStatementLine } from '../../../src/statement/lines/statement-line.js';
import { insertStatementLines } from '../../../src/statement/lines/statement.queries.js';
import {
  eventually,
  sandboxUnderTest,
  type SandboxUnderTest,
} from '../../contract/bank-under-test.js';
import { SentMoneyFixture, type SentOperation } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

describe('sent money on the statement of the sandbox', () => {
  let service: ServiceDatabase;
  let bank: SandboxUnderTest;
  const { addOperation, run, setOperationState, reconcile, outcomes, openBreaks } =
    new SentMoneyFixture(() => service);

  beforeAll(async () => {
    [service, bank] = await Promise.all([serviceDatabase(), sandboxUnderTest()]);
  });
  afterAll(async () => {
    await bank.stop();
    await service.drop();
  });
  beforeEach(async () => {
    await call('POST', '/sandbox/reset');
    await call('PATCH', '/sandbox/modes', {
      ...{ pixStepMs: 0, pixDebit: 'at-acceptance' },
      ...{ lineOriginalId: 'present', lineExternalId: 'present' },
    });
    const { id } = await service.database.prisma.bankAccount.create({
      data: { slug: `a${service.accountId + 1}`, goLiveAt: new Date(0) },
    });
    service.accountId = id;
  });

  const call = async (method: string, path: string, body?: unknown, headers = {}) => {
    const response = await bank.call(method, path, { headers, ...(body ? { body } : {}) });
    expect([path, response.status]).toEqual([path, 200]);
    return response.body;
  };
  const fault = (endpoint: string) =>
    call('POST', '/sandbox/faults', { endpoint, kind: 'async-error', times: 1, delayMs: 0 });
  /** Records the operation, then calls the bank with its key, as the journal does. */
  const callForOperation = async (
    fields: SentOperation,
    method: string,
    path: string,
    body: unknown,
  ) => {
    const operation = await addOperation({ age: 0, ...fields });
    if (fields.kind === 'refund_pix')
      await run(
        `INSERT INTO refund (account_id, id, original_nsu, amount_cents, state, expected_payment_id)
         SELECT account_id, operation_id, 1, amount_cents, 'requested', id
         FROM expected_payment WHERE account_id = $1 AND operation_id = $2`,
        ...[service.accountId, operation.operationId],
      );
    return {
      ...operation,
      response: await call(method, path, body, { IdempotencyKey: operation.operationId }),
    };
  };
  /** Reconciles once the statement has so many lines, and returns their outcomes. */
  const decideLines = async (count: number) => {
    const lines = await eventually(async () => {
      const { text } = await bank.call('GET', '/baas/api/v2/transactions?limit=100');
      const raw = parseJson(text) as unknown[];
      expect(raw.length).toBeGreaterThanOrEqual(count);
      return raw.map((entry) => {
        const parsed = parseStatementLine(entry);
        if (!parsed.ok) throw new Error(parsed.reason);
        return parsed.line;
      });
    });
    const { _max: stored } = await service.database.prisma.statementLine.aggregate({
      where: { accountId: service.accountId },
      _max: { nsu: true },
    });
    const news = lines.filter(({ nsu }) => nsu > (stored.nsu ?? 0n));
    await service.database.transaction((tx) => insertStatementLines(tx, service.accountId, news));
    await reconcile();
    return (await outcomes()).map(({ outcome }) => outcome);
  };

  const manual = (number = '7654321') => ({
    amount: 10,
    beneficiary: {
      ...{ number, branch: '0001', type: 'CURRENT', participantIspb: '88888888' },
      holder: { document: '52998224725', name: 'João da Silva', type: 'NATURAL' },
    },
  });
  const counterparty = formatCounterparty({ ispb: '88888888', branch: '0001', number: '7654321' });

  it('a Pix without a response is matched by its key, and reversed when it fails', async () => {
    await fault('transfers');
    await callForOperation({}, 'POST', '/baas/api/v2/transfers', manual());
    expect(await decideLines(2)).toEqual(['payment by reference', 'reversal by reversal']);
  });

  it('a Pix that is debited only when effective is matched by its line alone', async () => {
    await call('PATCH', '/sandbox/modes', { pixDebit: 'when-effective' });
    await callForOperation({}, 'POST', '/baas/api/v2/transfers', manual());
    expect(await decideLines(1)).toEqual(['payment by reference']);
  });

  it.each(['present', 'absent'])(
    'a refund without a response is reversed under its own id (original id %s)',
    async (lineOriginalId) => {
      await call('PATCH', '/sandbox/modes', { lineOriginalId });
      const { endToEndId } = await call('POST', '/sandbox/pix/received', { amount: 10 });
      expect(await decideLines(1)).toEqual(['unexpected']);
      await fault('refunds');
      const path = `/baas/api/v1/transactions/${endToEndId}/refund?filterBy=END_TO_END_ID`;
      const references = [{ kind: 'original_end_to_end_id' as const, value: endToEndId as string }];
      const { operationId } = await callForOperation(
        { kind: 'refund_pix', references },
        'PUT',
        path,
        {
          amount: 10,
        },
      );
      const expected = ['unexpected', 'payment by original', 'reversal by reversal'];
      if (lineOriginalId === 'present') return expect(await decideLines(3)).toEqual(expected);
      // The line has no reference: it is pending while the operation is, and then in a break.
      expect((await decideLines(3))[1]).toBe('pending');
      await setOperationState(operationId, 'needs_operator');
      await reconcile();
      // The operation is still open: a person decides whether the debit is its.
      expect((await outcomes())[1]?.outcome).toBe('ambiguous');
    },
  );

  it('a bill that is paid and reversed is matched by its code', async () => {
    // Ten in the morning of a business day in São Paulo.
    await call('POST', '/sandbox/clock', { now: '2027-11-18T13:00:00Z' });
    const bill = await call('POST', '/sandbox/bills', {
      ...{ type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 80 },
    });
    await fault('bill-payments');
    const { barCode } = bill as { barCode: string };
    const references = [{ kind: 'bill_code' as const, value: barCode }];
    const operation = { kind: 'pay_bill', amountCents: 8_000, references };
    await callForOperation(operation, 'POST', '/baas/api/v1/bill-payments', {
      amount: 80,
      barCode,
    });
    expect(await decideLines(2)).toEqual(['payment by reference', 'reversal by reversal']);
  });

  it('an account transfer is matched by its counterparty when lines have no external id', async () => {
    await call('PATCH', '/sandbox/modes', { lineExternalId: 'absent' });
    const externalId = randomUUID();
    const references = [
      { kind: 'external_id' as const, value: externalId },
      { kind: 'counterparty' as const, value: '1000002' },
    ];
    const body = { amount: 10, beneficiaryAccount: '1000002', externalId };
    await callForOperation({ references }, 'POST', '/baas/api/v2/transfers', body);
    expect(await decideLines(1)).toEqual(['payment by counterparty']);
  });

  it('part of a Pix that its beneficiary returns is a reversal of it', async () => {
    const references = [{ kind: 'counterparty' as const, value: counterparty }];
    const { response } = await callForOperation(
      { references },
      'POST',
      '/baas/api/v2/transfers',
      manual(),
    );
    const { endToEndId } = response as { endToEndId: string };
    await eventually(async () => {
      const body = { endToEndId, amount: 4 };
      expect((await bank.call('POST', '/sandbox/pix/returned', { body })).status).toBe(200);
    });
    expect(await decideLines(2)).toEqual(['payment by reference', 'reversal by reversal']);
    expect(await openBreaks()).toEqual([]);
  });
});
