// Debits that name a payment of ours and are not it, that come though nothing was to come, or that could be several.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { listContradictedOperations, type OperationKey } from '../../src/reconciliation/breaks.queries.js';
import { SentMoney } from '../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const side = '99999999/1/1000002';

describe('debits that disagree with what was sent', () => {
  let service: ServiceDatabase;
  const book = new SentMoney(() => service);
  const { run, woken, reconcile, send, setState, mirror, outcomes, openBreaks, events } = book;

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    woken.length = 0;
    const { id } = await service.database.prisma.bankAccount.create({
      data: { slug: `a${service.accountId + 1}`, goLiveAt: new Date(0) },
    });
    service.accountId = id;
  });

  const withdraw = (expectedPaymentId: string) =>
    run(`UPDATE expected_payment SET withdrawn_at = now() WHERE id = $1`, expectedPaymentId);
  const isWithdrawn = async (expectedPaymentId: string) => {
    const { rows } = await run(
      `SELECT withdrawn_at IS NOT NULL AS it FROM expected_payment WHERE id = $1`,
      expectedPaymentId,
    );
    return (rows[0] as { it: boolean }).it;
  };

  it.each([
    ['together', [[1, 2]]],
    ['in their order', [[1], [2]]],
    ['the later first', [[2], [1]]],
  ])('a second debit of one payment is a break, where both come %s', async (_, batches) => {
    const { operationId, expectedPaymentId } = await send({ state: 'succeeded' });
    for (const nsus of batches) {
      for (const nsu of nsus) await mirror({ nsu, idempotencyKey: operationId, age: 20 - nsu });
      await reconcile();
    }
    expect(await outcomes()).toMatchObject([
      { nsu: 1, outcome: 'payment by reference', expectedPaymentId },
      { nsu: 2, outcome: 'duplicate_payment' },
    ]);
    expect(await openBreaks()).toEqual([{ kind: 'duplicate_payment', subject: 'nsu:2' }]);
    expect((await events()).at(-1)).toMatchObject({
      type: 'transaction.unexpected',
      data: { breakKind: 'duplicate_payment', nsu: 2 },
    });
  });

  it('a debit again of what came back is a break, and the payment stays returned', async () => {
    const { operationId } = await send({
      state: 'succeeded',
      references: [{ kind: 'end_to_end_id', value: 'E' }],
    });
    const debit = { idempotencyKey: operationId };
    await mirror({ nsu: 1, ...debit, age: 9 }, { nsu: 2, isCredit: true, endToEndId: 'E', age: 8 });
    await reconcile();
    await mirror({ nsu: 3, ...debit, age: 7 });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'payment by reference' },
      { outcome: 'reversal by reversal' },
      { outcome: 'duplicate_payment' },
    ]);
  });

  it.each([['together'], ['one after another']])(
    'a second debit that the bank takes back leaves the payment settled (%s)',
    async (how) => {
      const { operationId } = await send({
        state: 'succeeded',
        references: [{ kind: 'end_to_end_id', value: 'E' }],
      });
      const debit = { idempotencyKey: operationId, endToEndId: 'E' };
      for (const one of [
        { nsu: 1, ...debit, age: 9 },
        { nsu: 2, ...debit, age: 8 },
        { nsu: 3, isCredit: true, endToEndId: 'E', age: 7 },
      ]) {
        await mirror(one);
        if (how !== 'together') await reconcile();
      }
      await reconcile();
      expect(await outcomes()).toMatchObject([
        { outcome: 'payment by reference' },
        { outcome: 'duplicate_payment' },
        { outcome: 'ambiguous' },
      ]);
      expect((await events()).map(({ type }) => type)).not.toContain('transfer.reversed');
    },
  );

  it('a debit of another amount is a break, and no evidence that anything was done', async () => {
    const { operationId, expectedPaymentId } = await send({ state: 'unknown' });
    await mirror({ nsu: 1, idempotencyKey: operationId, amountCents: 350, typeName: 'DEBIT_FEE' });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'amount_mismatch' }]);
    expect(await events()).toMatchObject([
      { type: 'transaction.unexpected', data: { breakKind: 'amount_mismatch', amount: 3.5 } },
    ]);
    expect(woken.map(([name]) => name)).not.toContain('advanceOperation');
    const { rows } = await run(
      `SELECT expected_payment_id FROM break WHERE account_id = $1`,
      service.accountId,
    );
    expect(rows).toEqual([{ expected_payment_id: expectedPaymentId }]);
    await mirror({ nsu: 2, idempotencyKey: operationId });
    await reconcile();
    expect((await outcomes())[1]).toMatchObject({ outcome: 'payment by reference' });
  });

  it('a line that ids name takes the place of one that a rule had chosen, which is judged again', async () => {
    const references = [{ kind: 'counterparty' as const, value: side }];
    const { operationId, expectedPaymentId } = await send({ references });
    await mirror({ nsu: 1, counterparty: side, age: 4 });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'payment by counterparty' }]);
    await mirror({ nsu: 2, counterparty: side, idempotencyKey: operationId, age: 3 });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'unexpected' },
      { outcome: 'payment by reference', expectedPaymentId },
    ]);
  });

  it('a bill that was taken for failed and is debited is paid, expected again and told as late', async () => {
    const { operationId, expectedPaymentId } = await send({
      kind: 'pay_bill',
      state: 'succeeded',
      references: [{ kind: 'bill_code', value: 'B' }],
    });
    await withdraw(expectedPaymentId);
    await mirror({ nsu: 1, billCode: 'B' });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'payment by reference', expectedPaymentId },
    ]);
    expect(await openBreaks()).toEqual([
      { kind: 'late_line', subject: `operation:${operationId}` },
    ]);
    expect(await isWithdrawn(expectedPaymentId)).toBe(false);
    expect(await events()).toMatchObject([{ type: 'bill_payment.settled' }]);
  });

  it('an item of a batch that the bank called failed and debited is a break until it comes back', async () => {
    const { operationId, expectedPaymentId } = await send({
      kind: 'create_transfer_batch',
      state: 'succeeded',
      references: [{ kind: 'external_id', value: 'X' }],
      transferState: 'failed',
      age: 1,
    });
    await withdraw(expectedPaymentId);
    await mirror({ nsu: 1, externalId: 'X', endToEndId: 'E', age: 0 });
    await reconcile();
    const broken = [{ kind: 'failed_but_debited', subject: `transfer:${operationId}` }];
    expect(await openBreaks()).toEqual(broken);
    expect(await isWithdrawn(expectedPaymentId)).toBe(false);
    await mirror({ nsu: 2, isCredit: true, originalEndToEndId: 'E', endToEndId: 'D', age: 0 });
    await reconcile();
    expect((await outcomes()).map(({ outcome }) => outcome)).toEqual([
      'payment by reference',
      'reversal by reversal',
    ]);
    expect(await openBreaks()).toEqual([]);
  });

  it('a payment by a look-up’s id is told by its side where the line tells no such id', async () => {
    const { expectedPaymentId } = await send({
      references: [
        { kind: 'end_to_end_id', value: 'E-looked-up' },
        { kind: 'counterparty', value: side },
      ],
    });
    await mirror({ nsu: 1, counterparty: side });
    await reconcile();
    expect(await outcomes()).toMatchObject([
      { outcome: 'payment by counterparty', expectedPaymentId },
    ]);
  });

  it('no line of one bill waits for the payment of another', async () => {
    await send({ kind: 'pay_bill', references: [{ kind: 'bill_code', value: 'A' }] });
    await mirror({ nsu: 1, billCode: 'B' }, { nsu: 2 });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'unexpected' }, { outcome: 'waits' }]);
  });

  it('no line waits for a payment that must have had its effect before', async () => {
    const { operationId } = await send({ state: 'unknown', age: 600 });
    await mirror({ nsu: 1, age: 3 });
    await reconcile();
    expect(await outcomes()).toMatchObject([{ outcome: 'unexpected' }]);
    await setState(operationId, 'sending');
    await mirror({ nsu: 2, age: 3 });
    await reconcile();
    expect((await outcomes())[1]).toMatchObject({ outcome: 'waits' });
  });

  it('verdicts that the statement contradicts are listed to the last, however many stay', async () => {
    const sent = [];
    for (let nsu = 1; nsu <= 3; nsu++) {
      const { operationId } = await send({ state: 'needs_operator' });
      await mirror({ nsu, idempotencyKey: operationId });
      sent.push(operationId);
    }
    await reconcile();
    const listed: string[] = [];
    let last: OperationKey | null = null;
    do {
      const page: OperationKey[] = await listContradictedOperations(service.database.prisma, last, 2);
      listed.push(...page.map(({ operationId }) => operationId));
      last = page.at(-1) ?? null;
    } while (last !== null);
    expect(listed).toEqual(expect.arrayContaining(sent));
    expect(new Set(listed).size).toBe(listed.length);
  });
});
