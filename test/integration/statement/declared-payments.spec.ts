import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { expectDeclaredEvents } from '../../support/declared-events.js';
import { DeclaredPaymentsSetup } from '../../support/declared-payments-setup.js';
import { matchRule, matchedByRule, RulesSetup } from '../../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const anna = '11144477735';
const bruno = '52998224725';
const debit = { isCredit: false, typeName: 'DEBIT_TED' };

describe('a declared payment', () => {
  let service: ServiceDatabase;
  let account = 0;
  const current = () => ({ ...service, accountId: account });
  const setup = new RulesSetup(current);
  const declared = new DeclaredPaymentsSetup(current);
  const line = (nsu: number, change: Partial<Parameters<typeof setup.addLine>[0]> = {}) =>
    setup.addLine({ nsu, cents: 10_000, ...debit, ...change });
  const breaks = async () => {
    const { rows } = await setup.run(
      `SELECT kind, amount_cents::int AS cents FROM break
       WHERE account_id = $1 AND state = 'open' ORDER BY kind, nsu`,
      account,
    );
    return rows as { kind: string; cents: number }[];
  };
  const asOf = (at: string) =>
    setup.run(
      `INSERT INTO statement_state (account_id, last_sync_started_at, clock_offset_ms)
       VALUES ($1, $2::timestamptz, 0)
       ON CONFLICT (account_id) DO UPDATE SET last_sync_started_at = $2`,
      account,
      at,
    );
  const eventTypes = async () => (await setup.events()).map(({ type }) => type);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(async () => {
    await expectDeclaredEvents(service.database.pool, [
      'expected_payment.paid',
      'expected_payment.partially_paid',
      'expected_payment.overpaid',
      'expected_payment.missing',
      'expected_payment.cancelled',
      'transaction.unexpected',
      'match.unlinked',
    ]);
    await service.drop();
  });
  beforeEach(async () => {
    const created = await service.database.prisma.bankAccount.create({
      data: { slug: `a${(account += 1)}`, goLiveAt: new Date(0) },
    });
    account = created.id;
  });

  it('is paid by the line that carries its reference, whatever its window', async () => {
    const id = await declared.declare('t1', {
      references: [{ kind: 'correlationId', value: 'ped-1' }],
    });
    await line(1, { correlationId: 'ped-1', day: '2026-06-30' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [`reference ${id} 10000`] });
    expect(await declared.get('t1')).toMatchObject({ id, settlement: 'settled' });
    expect(await eventTypes()).toEqual(['expected_payment.paid']);
  });

  it.each([
    ['tax id', { counterparty: { taxId: anna } }, { document: anna }],
    ['text', { text: 'salário.*junho' }, { notes: 'PAGTO SALARIO REF JUNHO' }],
    ['amount alone, when it is unique', {}, {}],
    ['tolerance', { tolerance: 0.5 }, { cents: 10_050 }],
    [
      'range and text',
      { amountFrom: 90, amountTo: 120, text: '^cielo' },
      { cents: 11_234, notes: 'Cielo vendas' },
    ],
  ])('is paid without a rule by its own conditions: %s', async (_name, terms, shown) => {
    const id = await declared.declare('t1', terms);
    await line(1, shown);
    await setup.decide();
    const { cents = 10_000 } = shown as { cents?: number };
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, cents)] });
    expect(await breaks()).toEqual([]);
    expect(await declared.get(id)).toMatchObject({
      settlement: 'settled',
      payments: [{ nsu: 1n, rule: 'declared', isProvisional: true }],
    });
  });

  it.each([
    ['another direction', {}, { isCredit: true }],
    ['another amount', {}, { cents: 10_001 }],
    ['a day before its window', {}, { day: '2026-06-07' }],
    ['a day after its window', {}, { day: '2026-06-13' }],
    ['another tax id', { counterparty: { taxId: anna } }, { document: bruno }],
    ['no tax id', { counterparty: { taxId: anna } }, {}],
    ['another text', { text: 'salario' }, { notes: 'FERIAS' }],
    ['no text', { text: 'salario' }, {}],
    [
      'another id of a kind that it names',
      { references: [{ kind: 'correlationId', value: 'ped-1' }] },
      { correlationId: 'ped-2' },
    ],
  ])('is not paid by a line with %s', async (_name, terms, shown) => {
    await declared.declare('t1', terms);
    await line(1, shown);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'] });
    expect((await declared.get('t1')).settlement).toBe('overdue');
  });

  it('is matched whichever of the two is stored first', async () => {
    await line(1, { document: anna });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'] });
    const id = await declared.declare('t1', { counterparty: { taxId: anna } });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, 10_000)] });
  });

  it('leaves two lines or two payments that fit ambiguous, until one of them leaves', async () => {
    const first = await declared.declare('t1');
    await line(1);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(first, 10_000)] });
    const second = await declared.declare('t2');
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'] });
    await line(2);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'], 2: ['ambiguous'] });
    await setup.link(2, second);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({
      1: [matchedByRule(first, 10_000)],
      2: [`manual ${second} 10000`],
    });
  });

  it('is ambiguous where a rule of the account could match the line to a charge', async () => {
    const charge = await setup.addExpectedPayment({ cents: 10_000, document: anna });
    await setup.declareActiveRule(matchRule({}));
    const credit = { isCredit: true, document: anna };
    await line(1, credit);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(charge, 10_000)] });
    const id = await declared.declare('t1', { direction: 'credit' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'] });
    await declared.cancel(id);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(charge, 10_000)] });
  });

  it('gives way to a line that carries its reference', async () => {
    const id = await declared.declare('t1', {
      references: [{ kind: 'correlation_id', value: 'ped-1' }],
    });
    await line(1);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, 10_000)] });
    await line(2, { correlationId: 'ped-1' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'], 2: [`reference ${id} 10000`] });
    expect(await eventTypes()).toEqual([
      'expected_payment.paid',
      'match.unlinked',
      'expected_payment.paid',
      'transaction.unexpected',
    ]);
  });

  it('takes no line from an operation that names the same id', async () => {
    const charge = await setup.addExpectedPayment({ cents: 10_000, correlationId: 'ped-1' });
    await declared.declare('t1', {
      direction: 'credit',
      references: [{ kind: 'correlation_id', value: 'ped-1' }],
    });
    await line(1, { isCredit: true, correlationId: 'ped-1' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [`reference ${charge} 10000`] });
  });

  it.each([['before'], ['after']])(
    'takes no debit that an accepted operation may have made, declared %s it, until that has its own',
    async (order) => {
      if (order === 'before') {
        await declared.declare('t1');
        await line(1);
        await setup.decide();
      }
      await setup.addSent(10_000, 'sent-1');
      await setup.decide();
      if (order === 'after') {
        await declared.declare('t1');
        await line(1);
        await setup.decide();
      }
      expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'] });
      await line(2, { correlationId: 'sent-1' });
      await setup.decide();
      const { id } = await declared.get('t1');
      expect((await setup.outcomes())[1]).toEqual([matchedByRule(id, 10_000)]);
      expect(await breaks()).toEqual([]);
    },
  );

  it('is decided again when it is amended, with the lines that competed for it', async () => {
    const first = await declared.declare('t1');
    const second = await declared.declare('t2');
    await line(1);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'] });
    await declared.amend('t2', { amount: 101 });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(first, 10_000)] });
    await declared.amend(first, { amount: 101 });
    await declared.amend(second, { amount: 100, category: 'Folha' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(second, 10_000)] });
    expect(await declared.get(second)).toMatchObject({
      category: 'Folha',
      version: 3,
      history: [
        { version: 3, action: 'amended', actor: 'key', reason: 'corrected', amount: 10_000n },
        { version: 2, action: 'amended', amount: 10_100n },
        { version: 1, action: 'declared', reason: null },
      ],
    });
  });

  it('keeps a final match when it is amended, and a break shows the difference', async () => {
    const id = await declared.declare('t1');
    await line(1);
    await setup.decide();
    await setup.closePeriodUntil('2026-06-20');
    await setup.decide();
    await declared.amend('t1', { amount: 120 });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, 10_000), 'underpaid'] });
    expect(await breaks()).toEqual([{ kind: 'underpaid', cents: 2_000 }]);
    await declared.amend('t1', { amount: 90 });
    await setup.decide();
    expect(await breaks()).toEqual([{ kind: 'overpaid', cents: 1_000 }]);
    expect((await declared.get('t1')).settlement).toBe('overpaid');
    await declared.amend('t1', { amount: 100 });
    await setup.decide();
    expect(await breaks()).toEqual([]);
    await expect(declared.cancel('t1')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('releases a provisional match when it is cancelled', async () => {
    await declared.declare('t1');
    await line(1);
    await setup.decide();
    await declared.cancel('t1');
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'] });
    expect(await declared.get('t1')).toMatchObject({ settlement: 'cancelled', payments: [] });
    await expect(declared.amend('t1', { amount: 0.01 })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await eventTypes()).toEqual([
      'expected_payment.paid',
      'expected_payment.cancelled',
      'match.unlinked',
      'transaction.unexpected',
    ]);
  });

  it.each([true, false])(
    'is a break when it is paid after its end (credit: %s)',
    async (isCredit) => {
      const id = await declared.declare('t1', {
        direction: isCredit ? 'credit' : 'debit',
        references: [{ kind: 'correlation_id', value: 'ped-1' }],
      });
      await declared.cancel('t1');
      await line(1, { isCredit, correlationId: 'ped-1' });
      await setup.decide();
      expect(await setup.outcomes()).toEqual({
        1: [`reference ${id} 10000`, 'paid_after_cancellation'],
      });
      await setup.decide();
      expect(await breaks()).toEqual([{ kind: 'paid_after_cancellation', cents: 10_000 }]);
    },
  );

  it('is missing once the statement is complete after its window, and found when it comes', async () => {
    await declared.declare('t1', { amountFrom: 90, amountTo: 110, text: 'cielo' });
    await setup.decide();
    await asOf('2026-06-15T12:00:00Z');
    await setup.decide();
    expect(await breaks()).toEqual([]);
    await asOf('2026-06-17T12:00:00Z');
    await setup.decide();
    expect(await breaks()).toEqual([{ kind: 'missing', cents: 9_000 }]);
    await line(1, { notes: 'CIELO', cents: 10_300, day: '2026-06-12' });
    await setup.decide();
    expect(await breaks()).toEqual([]);
    const events = await setup.events();
    expect(events.map(({ type }) => type)).toEqual([
      'expected_payment.missing',
      'expected_payment.paid',
    ]);
    expect(events[0]).toMatchObject({ data: { externalId: 't1' } });
  });

  it('accepts each amount of its range by reference, and no other', async () => {
    const terms = { amountFrom: 90, amountTo: 110, direction: 'credit' };
    const references = (value: string) => [{ kind: 'correlation_id', value }];
    await declared.declare('in', { ...terms, references: references('in') });
    await declared.declare('less', { ...terms, references: references('less') });
    await declared.declare('more', { ...terms, references: references('more') });
    await line(1, { isCredit: true, correlationId: 'in', cents: 9_000 });
    await line(2, { isCredit: true, correlationId: 'less', cents: 8_000 });
    await line(3, { isCredit: true, correlationId: 'more', cents: 11_500 });
    await setup.decide();
    expect(await breaks()).toEqual([
      { kind: 'overpaid', cents: 500 },
      { kind: 'underpaid', cents: 1_000 },
    ]);
    expect(await eventTypes()).toEqual(
      expect.arrayContaining([
        'expected_payment.paid',
        'expected_payment.partially_paid',
        'expected_payment.overpaid',
      ]),
    );
  });

  it('is paid by the net amount of a receipt, and names the part that is off', async () => {
    const parts = [
      { kind: 'ibs', amount: 1.5 },
      { kind: 'fee', amount: 0.4 },
    ];
    const receipt = (value: string) => ({
      ...{ direction: 'credit', parts, references: [{ kind: 'correlation_id', value }] },
    });
    await declared.declare('net', receipt('net'));
    await declared.declare('gross', receipt('gross'));
    await line(1, { isCredit: true, correlationId: 'net', cents: 10_000 });
    await line(2, { isCredit: true, correlationId: 'gross', cents: 10_150 });
    await setup.decide();
    expect(await breaks()).toEqual([{ kind: 'overpaid', cents: 150 }]);
    const { rows } = await setup.run(`SELECT evidence FROM break WHERE account_id = $1`, account);
    expect(rows).toEqual([
      {
        evidence: {
          ...{ owed: '100', paid: '101.5' },
          parts: [{ kind: 'ibs', expectedCents: '150', actualCents: '0' }],
        },
      },
    ]);
    expect(await declared.get('net')).toMatchObject({
      ...{ settlement: 'settled', amount: 10_000n, grossAmount: 10_190n },
      parts: [
        { kind: 'fee', amount: 40n },
        { kind: 'ibs', amount: 150n },
      ],
    });
    await declared.amend('gross', { amount: 101.5, parts: [parts[1]] });
    await setup.decide();
    expect(await breaks()).toEqual([]);
    await declared.amend('gross', { amountFrom: 100, amountTo: 102, parts: null });
    expect(await declared.get('gross')).toMatchObject({ parts: [], grossAmount: null });
  });

  it('leaves a debit with its reference and an amount that it does not accept as a break', async () => {
    await declared.declare('t1', { references: [{ kind: 'correlation_id', value: 'ped-1' }] });
    await line(1, { correlationId: 'ped-1', cents: 9_999 });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['amount_mismatch'] });
  });

  it('can be linked to a debit of another amount, and a break shows the difference', async () => {
    const id = await declared.declare('t1', { tolerance: 1 });
    await line(1, { cents: 10_300 });
    await line(2, { cents: 9_900, day: '2026-06-20' });
    await setup.decide();
    await setup.link(1, id);
    await setup.decide();
    expect(await breaks()).toEqual([
      { kind: 'overpaid', cents: 300 },
      { kind: 'unexpected', cents: 9_900 },
    ]);
  });

  it('is stored once for each externalId', async () => {
    const id = await declared.declare('t1', { counterparty: { taxId: '111.444.777-35' } });
    expect(await declared.declare('t1', { counterparty: { taxId: anna } })).toBe(id);
    await declared.amend('t1', { amount: 0.01 });
    expect(await declared.declare('t1', { counterparty: { taxId: anna } })).toBe(id);
    await expect(declared.declare('t1', { counterparty: { taxId: bruno } })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });
});
