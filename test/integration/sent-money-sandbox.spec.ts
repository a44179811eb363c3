// The judge against lines as a bank writes them: what the rooms would expect, and what the sandbox shows of it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { formatCounterparty } from '../../src/expected-payments/counterparty.js';
import { parseJson } from '../../src/platform/exact-json.js';
import { parseStatementLine } from '../../src/statement/statement-line.js';
import { insertStatementLines } from '../../src/statement/statement.queries.js';
import {
  eventually,
  sandboxUnderTest,
  type SandboxUnderTest,
} from '../contract/bank-under-test.js';
import { SentMoney, type Sending } from '../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

describe('what the sandbox shows of money that was sent', () => {
  let service: ServiceDatabase;
  let bank: SandboxUnderTest;
  const { send, setState, reconcile, outcomes, openBreaks } = new SentMoney(() => service);

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
    const answer = await bank.call(method, path, { headers, ...(body ? { body } : {}) });
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.body;
  };
  const fault = (endpoint: string) =>
    call('POST', '/sandbox/faults', { endpoint, kind: 'async-error', times: 1, delayMs: 0 });
  /** Commits the intent, then asks the bank under its key, as the journal does. */
  const ask = async (sending: Sending, method: string, path: string, body: unknown) => {
    const sent = await send({ age: 0, ...sending });
    return {
      ...sent,
      answer: await call(method, path, body, { IdempotencyKey: sent.operationId }),
    };
  };
  /** Judges the statement once it has so many lines. */
  const decideLines = async (count: number) => {
    const lines = await eventually(async () => {
      const { text } = await bank.call('GET', '/baas/api/v2/transactions?limit=100');
      const raw = parseJson(text) as unknown[];
      expect(raw.length).toBeGreaterThanOrEqual(count);
      return raw.map((one) => {
        const read = parseStatementLine(one);
        if (!read.ok) throw new Error(read.reason);
        return read.line;
      });
    });
    await service.database.transaction((tx) => insertStatementLines(tx, service.accountId, lines));
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
  const outside = formatCounterparty({ ispb: '88888888', branch: '0001', number: '7654321' });

  it('a Pix that nobody answered is known by its key, and comes back when it fails', async () => {
    await fault('transfers');
    await ask({}, 'POST', '/baas/api/v2/transfers', manual());
    expect(await decideLines(2)).toEqual(['payment by reference', 'reversal by reversal']);
  });

  it('a Pix whose line waits for its end is told by its line alone', async () => {
    await call('PATCH', '/sandbox/modes', { pixDebit: 'when-effective' });
    await ask({}, 'POST', '/baas/api/v2/transfers', manual());
    expect(await decideLines(1)).toEqual(['payment by reference']);
  });

  it.each(['present', 'absent'])(
    'a refund that nobody answered comes back under its own id (original id %s)',
    async (lineOriginalId) => {
      await call('PATCH', '/sandbox/modes', { lineOriginalId });
      const { endToEndId } = await call('POST', '/sandbox/pix/received', { amount: 10 });
      await fault('refunds');
      const path = `/baas/api/v1/transactions/${endToEndId}/refund?filterBy=END_TO_END_ID`;
      const references = [{ kind: 'original_end_to_end_id' as const, value: endToEndId as string }];
      const { operationId } = await ask({ kind: 'refund_pix', references }, 'PUT', path, {
        amount: 10,
      });
      const told = ['unexpected', 'payment by original', 'reversal by reversal'];
      if (lineOriginalId === 'present') return expect(await decideLines(3)).toEqual(told);
      // Nothing on its line ties it to anything: it waits for the operation, and then is somebody's to settle.
      expect((await decideLines(3))[1]).toBe('waits');
      await setState(operationId, 'needs_operator');
      await reconcile();
      expect((await outcomes())[1]?.outcome).toBe('unexpected');
    },
  );

  it('a bill that is paid and charged back is known by its code', async () => {
    // Ten in the morning of a business day in São Paulo.
    await call('POST', '/sandbox/clock', { now: '2027-11-18T13:00:00Z' });
    const bill = await call('POST', '/sandbox/bills', {
      ...{ type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 80 },
    });
    await fault('bill-payments');
    const { barCode } = bill as { barCode: string };
    const references = [{ kind: 'bill_code' as const, value: barCode }];
    const sending = { kind: 'pay_bill', amountCents: 8_000, references };
    await ask(sending, 'POST', '/baas/api/v1/bill-payments', { amount: 80, barCode });
    expect(await decideLines(2)).toEqual(['payment by reference', 'reversal by reversal']);
  });

  it('a transfer between accounts is known by who gets it where lines carry no id of the client’s', async () => {
    await call('PATCH', '/sandbox/modes', { lineExternalId: 'absent' });
    const externalId = randomUUID();
    const references = [
      { kind: 'external_id' as const, value: externalId },
      { kind: 'counterparty' as const, value: '1000002' },
    ];
    const body = { amount: 10, beneficiaryAccount: '1000002', externalId };
    await ask({ references }, 'POST', '/baas/api/v2/transfers', body);
    expect(await decideLines(1)).toEqual(['payment by counterparty']);
  });

  it('part of a Pix that its beneficiary sends back is a return of it', async () => {
    const references = [{ kind: 'counterparty' as const, value: outside }];
    const { answer } = await ask({ references }, 'POST', '/baas/api/v2/transfers', manual());
    const { endToEndId } = answer as { endToEndId: string };
    await eventually(async () => {
      const body = { endToEndId, amount: 4 };
      expect((await bank.call('POST', '/sandbox/pix/returned', { body })).status).toBe(200);
    });
    expect(await decideLines(2)).toEqual(['payment by reference', 'reversal by reversal']);
    expect(await openBreaks()).toEqual([]);
  });
});
