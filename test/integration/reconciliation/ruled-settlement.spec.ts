import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readStatementEvidence } from '../../../src/outbound/operations/evidence.queries.js';
import { matchRule, matchedByRule, RulesSetup } from '../../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { makeAllDue } from '../../support/reconciliation.js';

const anna = '11144477735';

describe('a match by a declared rule', () => {
  let service: ServiceDatabase;
  let account = 0;
  const setup = new RulesSetup(() => ({ ...service, accountId: account }));
  const findings = async () => {
    const { rows } = await setup.run(
      `SELECT kind, amount_cents::int AS cents FROM break
       WHERE account_id = $1 AND state = 'open' ORDER BY nsu`,
      account,
    );
    return rows;
  };

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    const created = await service.database.prisma.bankAccount.create({
      data: { slug: `s${account}`, goLiveAt: new Date(0) },
    });
    account = created.id;
  });

  it('is not made again after a person unlinked it, and the line may pay another payment', async () => {
    const ids = [
      await setup.addExpectedPayment({ cents: 400, document: anna }),
      await setup.addExpectedPayment({ cents: 600, document: anna }),
    ];
    await setup.declareActiveRule(matchRule({ combines: true }));
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({
      1: [matchedByRule(ids[0] ?? '', 400), matchedByRule(ids[1] ?? '', 600)].sort(),
    });
    await setup.unlink(1);
    for (const _ of ['once', 'twice']) await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'] });
    const other = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(other, 1_000)] });
  });

  it('that a person unlinked leaves the payment to the other lines that fit it', async () => {
    const id = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.decide();
    await setup.unlink(1);
    await setup.addLine({ nsu: 2, cents: 1_000, document: anna });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'], 2: [matchedByRule(id, 1_000)] });
  });

  const payment = { cents: 1_000, document: anna };
  const matched = (id: string) => [matchedByRule(id, 1_000)];

  it.each([
    ['after its line', '2026-06-15', true],
    ['before its line', '2026-06-05', false],
  ])('follows from a charge that was cancelled %s, in any order', async (_, day, isPaid) => {
    const ids = [
      await setup.addExpectedPayment(payment),
      await setup.addExpectedPayment({ ...payment, document: '52998224725' }),
    ];
    await setup.declareActiveRule(matchRule({}));
    await setup.addCancelledCharge(ids[0] ?? '', day);
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.addLine({ ...payment, nsu: 2, document: '52998224725' });
    await setup.decide();
    await setup.addCancelledCharge(ids[1] ?? '', day);
    await makeAllDue(service.database, account);
    await setup.decide();
    const outcomes = ids.map((id, index) => [index + 1, isPaid ? matched(id) : ['unexpected']]);
    expect(await setup.outcomes()).toEqual(Object.fromEntries(outcomes));
  });

  it('is final once its period is closed: a later charge or line does not compete', async () => {
    const id = await setup.addExpectedPayment(payment);
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.decide();
    await setup.closePeriodUntil('2026-06-20');
    await setup.decide();
    const nextId = await setup.addExpectedPayment(payment);
    await setup.addLine({ ...payment, nsu: 2, day: '2026-06-21' });
    for (const __ of ['once', 'twice']) await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: matched(id), 2: matched(nextId) });
  });

  it('is provisional until the lines that arrived before the closing are decided', async () => {
    await setup.addExpectedPayment(payment);
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.decide();
    await setup.addLine({ ...payment, nsu: 2 });
    await setup.closePeriodUntil('2026-06-20');
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'], 2: ['ambiguous'] });
  });

  it('of a line that comes late into a closed period is final at once', async () => {
    await setup.closePeriodUntil('2026-06-20');
    const id = await setup.addExpectedPayment(payment);
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.decide();
    await setup.addExpectedPayment(payment);
    await makeAllDue(service.database, account);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: matched(id) });
  });

  it('ends no operation before it is final', async () => {
    const id = await setup.addExpectedPayment(payment);
    const operation = await service.database.prisma.operation.findFirstOrThrow({
      where: { accountId: account, expectedPayments: { some: { id } } },
    });
    await setup.run(
      `UPDATE operation SET state = 'unknown', ended_at = NULL, next_action_at = now()
       WHERE id = $1`,
      operation.id,
    );
    const evidence = () => readStatementEvidence(service.database.prisma, operation);
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: matched(id) });
    expect(setup.advancedOperations()).toEqual([]);
    expect(await evidence()).toMatchObject({ matched: [], partlyMatched: [], unmatched: [id] });
    await setup.closePeriodUntil('2026-06-20');
    await setup.decide();
    const job = { accountId: account, operationId: operation.id };
    expect(setup.advancedOperations()).toEqual([['advanceOperation', job]]);
    expect(await evidence()).toMatchObject({ matched: [id], partlyMatched: [], unmatched: [] });
  });

  it('advances an operation when a person links what a rule had matched', async () => {
    const id = await setup.addExpectedPayment(payment);
    await setup.run(
      `UPDATE operation SET state = 'unknown', ended_at = NULL, next_action_at = now()
       WHERE account_id = $1`,
      account,
    );
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: matched(id) });
    expect((await setup.link(1, id)).operationIds).toHaveLength(1);
  });

  it('of a QR code within the tolerance settles it, also when decided again', async () => {
    const id = await setup.addExpectedPayment({
      ...{ cents: 500, correlationId: 'CODE', isMultiUse: true },
    });
    const terms = { tolerance: { amount: 10n } };
    await setup.declareActiveRule(matchRule({ ...terms, by: ['notes', 'amount'] }));
    await setup.addLine({ nsu: 1, cents: 495, notes: 'CODE' });
    const where = { accountId: account, expectedPaymentId: id };
    for (const __ of ['once', 'twice']) {
      await setup.decide();
      const total = await service.database.prisma.expectedPaymentTotal.findFirst({ where });
      expect(total).toMatchObject({ settlement: 'settled', unrefundedCents: 495n });
      await makeAllDue(service.database, account);
    }
  });

  it('follows from a person’s decision, and is final with the next batch', async () => {
    const id = await setup.addExpectedPayment(payment);
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.decide();
    await setup.link(1, id);
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ ...payment, nsu: 2 });
    await setup.closePeriodUntil('2026-06-20');
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [`manual ${id} 1000`], 2: ['unexpected'] });
    await setup.unlink(1);
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'], 2: matched(id) });
    await setup.decide();
    await setup.addExpectedPayment(payment);
    await makeAllDue(service.database, account);
    await setup.decide();
    expect((await setup.outcomes())[2]).toEqual(matched(id));
  });

  it('opens no break for a tolerated difference of a charge, instalments, several payments or a QR code', async () => {
    const terms = { tolerance: { amount: 10n }, combines: true, instalments: true };
    await setup.declareActiveRule(matchRule({ ...terms, by: ['notes', 'amount'] }));
    await setup.addExpectedPayment({ cents: 1_000, correlationId: 'SHORT' });
    await setup.addExpectedPayment({ cents: 2_000, correlationId: 'MORE' });
    await setup.addExpectedPayment({ cents: 3_000, correlationId: 'PARTS' });
    await setup.addExpectedPayment({ cents: 400, correlationId: 'ONE1' });
    await setup.addExpectedPayment({ cents: 600, correlationId: 'TWO2' });
    await setup.addExpectedPayment({ cents: 500, correlationId: 'CODE', isMultiUse: true });
    await setup.addLine({ nsu: 1, cents: 992, notes: 'SHORT' });
    await setup.addLine({ nsu: 2, cents: 2_009, notes: 'MORE' });
    await setup.addLine({ nsu: 3, cents: 1_000, notes: 'PARTS' });
    await setup.addLine({ nsu: 4, cents: 1_000, notes: 'ONE1 TWO2' });
    await setup.addLine({ nsu: 5, cents: 495, notes: 'CODE' });
    await setup.addLine({ nsu: 6, cents: 508, notes: 'CODE' });
    await setup.decide();
    expect(await findings()).toEqual([{ kind: 'underpaid', cents: 2_000 }]);
    await setup.addLine({ nsu: 7, cents: 1_500, notes: 'PARTS', day: '2026-06-11' });
    await setup.decide();
    expect(await findings()).toEqual([{ kind: 'underpaid', cents: 500 }]);
    await setup.addLine({ nsu: 8, cents: 493, notes: 'PARTS', day: '2026-06-12' });
    await setup.decide();
    expect(await findings()).toEqual([]);
  });

  const pix = { nsu: 1, cents: 1_000, document: anna, endToEndId: 'E1' };
  const debit = { nsu: 2, cents: 1_000, originalEndToEndId: 'E1', isCredit: false };
  const refund = { ...debit, typeName: 'DEBIT_PIX_REFUND' };

  it.each([
    ['the charge and the rule', false],
    ['the rule', true],
  ])(
    'is refused, like a manual link, for a Pix that was refunded before %s existed',
    async (_, isExpected) => {
      const terms = { cents: 1_000, document: anna };
      const earlyId = isExpected ? await setup.addExpectedPayment(terms) : null;
      await setup.addLine(pix);
      await setup.addLine(refund);
      await setup.decide();
      const id = earlyId ?? (await setup.addExpectedPayment(terms));
      await setup.declareActiveRule(matchRule({}));
      for (const __ of ['once', 'twice']) await setup.decide();
      expect(await setup.outcomes()).toEqual({ 1: ['unexpected'], 2: ['unexpected'] });
      expect((await setup.events()).filter(({ type }) => type.startsWith('charge.'))).toEqual([]);
      await expect(setup.link(1, id)).rejects.toMatchObject({
        details: { reason: 'already_refunded' },
      });
    },
  );

  it.each([
    ['the Pix first', [pix], [refund]],
    ['its refund first', [refund], [pix]],
    ['both at once', [pix, refund], []],
  ])(
    'matches a payment and its refund whatever line arrives first (%s)',
    async (_, first, second) => {
      const id = await setup.addExpectedPayment({ cents: 1_000, document: anna });
      await setup.declareActiveRule(matchRule({}));
      await setup.backdate('2026-06-01');
      for (const line of first) await setup.addLine(line);
      await setup.decide();
      for (const line of second) await setup.addLine(line);
      for (const __ of ['once', 'twice']) await setup.decide();
      expect(await setup.outcomes()).toEqual({
        1: [matchedByRule(id, 1_000)],
        2: [`reversal ${id} 1000`],
      });
    },
  );
});
