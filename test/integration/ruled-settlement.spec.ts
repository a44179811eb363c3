import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { bankFees } from '../../src/reconciliation/rules/stored-rule.js';
import { matchRule, matchedByRule, RulesSetup } from '../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';
import { deleteRows } from '../support/parent-rows.js';

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

  it.each([
    ['while the period of its line is open', []],
    ['after the period of its line is closed', ['2026-06-20']],
  ])('stays unchanged when the charge is cancelled %s', async (_, closed) => {
    const id = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.decide();
    for (const day of closed) await setup.closePeriodUntil(day);
    await setup.addCancelledCharge(id);
    await setup.addLine({ nsu: 2, cents: 1_000, document: anna, day: '2026-06-21' });
    const nextId = await setup.addExpectedPayment({
      cents: 1_000,
      document: anna,
      dueDate: '2026-08-01',
    });
    for (const __ of ['once', 'twice']) await setup.decide();
    expect(await setup.outcomes()).toEqual({
      1: [matchedByRule(id, 1_000)],
      2: [matchedByRule(nextId, 1_000)],
    });
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

  it('classifies a fee that was in a break before the account had any rule', async () => {
    await setup.addLine({ nsu: 1, cents: 150, isCredit: false, typeName: 'DEBIT_FEE_PIX' });
    await setup.decide();
    await setup.catalog().retire(setup.actor(), bankFees(account).id, 1);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'] });
    await deleteRows(service.database.pool, ['rule_history_entry', 'rule_version', 'rule']);
    for (const _ of ['created', 'applied to breaks']) await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['fee'] });
  });
});
