import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { makeAllDue } from '../../support/reconciliation.js';
import {
  matchRule,
  matchedByRule,
  RulesSetup,
  type RuleSetupLine,
} from '../../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const anna = '11144477735';
const bruno = '52998224725';

describe('a declared rule', () => {
  let service: ServiceDatabase;
  let account = 0;
  const setup = new RulesSetup(() => ({ ...service, accountId: account }));

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(() => createAccount());
  const createAccount = async () => {
    const created = await service.database.prisma.bankAccount.create({
      data: { slug: `a${(account += 1)}`, goLiveAt: new Date(0) },
    });
    account = created.id;
  };

  it('classifies bank fees from the beginning, and no other debit', async () => {
    await setup.addLine({ nsu: 1, cents: 150, isCredit: false, typeName: 'DEBIT_FEE_PIX' });
    await setup.addLine({ nsu: 2, cents: 150, isCredit: false, typeName: 'DEBIT_PIX' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['fee'], 2: ['unexpected'] });
    const { rows } = await setup.run(
      `SELECT rule, reason, rule_version FROM classification WHERE account_id = $1`,
      account,
    );
    expect(rows).toEqual([
      { rule: 'declared', reason: 'The bank charged for its services.', rule_version: 1 },
    ]);
  });

  it('matches by document, amount and days around the due date, and nothing outside them', async () => {
    const id = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.addExpectedPayment({ cents: 1_000, document: anna, dueDate: '2026-07-10' });
    await setup.declareActiveRule(
      matchRule({
        by: ['document', 'amount', 'window'],
        window: { daysBefore: 2, daysAfter: 2 },
      }),
    );
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna, day: '2026-06-12' });
    await setup.addLine({ nsu: 2, cents: 1_000, document: anna, day: '2026-06-13' });
    await setup.addLine({ nsu: 3, cents: 1_000, document: bruno, day: '2026-06-12' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({
      1: [matchedByRule(id, 1_000)],
      2: ['unexpected'],
      3: ['unexpected'],
    });
  });

  it('opens no break for a line that it matches at once', async () => {
    await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.decide();
    const { rows } = await setup.run('SELECT 1 FROM break WHERE account_id = $1', account);
    expect(rows).toEqual([]);
  });

  it('tolerates a difference up to its tolerance, and counts the amount owed as paid', async () => {
    const near = await setup.addExpectedPayment({ cents: 10_000, document: anna });
    await setup.addExpectedPayment({ cents: 10_000, document: bruno });
    await setup.declareActiveRule(matchRule({ tolerance: { amount: 50n, percent: 100n } }));
    await setup.addLine({ nsu: 1, cents: 9_900, document: anna });
    await setup.addLine({ nsu: 2, cents: 9_899, document: bruno });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(near, 9_900)], 2: ['unexpected'] });
    const { rows } = await setup.run(
      `SELECT owed_cents::int AS owed, evidence ->> 'differenceCents' AS difference
       FROM match WHERE account_id = $1`,
      account,
    );
    expect(rows).toEqual([{ owed: 9_900, difference: '-100' }]);
  });

  it('matches a correlation id in the notes by whole words only', async () => {
    const id = await setup.addExpectedPayment({ cents: 1_000, correlationId: 'PED-77' });
    await setup.declareActiveRule(matchRule({ by: ['notes', 'amount'] }));
    await setup.addLine({ nsu: 1, cents: 1_000, notes: 'pedido PED-778' });
    await setup.addLine({ nsu: 2, cents: 1_000, notes: 'pagamento (PED-77), obrigada' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'], 2: [matchedByRule(id, 1_000)] });
  });

  it('matches one line to several payments in full when exactly one combination adds up to it', async () => {
    const ids = [
      await setup.addExpectedPayment({ cents: 1_000, document: anna }),
      await setup.addExpectedPayment({ cents: 2_500, document: anna }),
    ];
    await setup.addExpectedPayment({ cents: 700, document: anna });
    await setup.declareActiveRule(matchRule({ combines: true }));
    await setup.addLine({ nsu: 1, cents: 3_500, document: anna });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({
      1: [matchedByRule(ids[0] ?? '', 1_000), matchedByRule(ids[1] ?? '', 2_500)].sort(),
    });
  });

  it('matches several lines to one payment in instalments, up to the amount owed', async () => {
    const paid = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.addExpectedPayment({ cents: 1_000, document: bruno });
    await setup.declareActiveRule(matchRule({ instalments: true }));
    await setup.addLine({ nsu: 1, cents: 400, document: anna });
    await setup.addLine({ nsu: 2, cents: 600, document: anna, day: '2026-06-12' });
    await setup.addLine({ nsu: 3, cents: 600, document: bruno });
    await setup.addLine({ nsu: 4, cents: 600, document: bruno, day: '2026-06-12' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({
      1: [matchedByRule(paid, 400)],
      2: [matchedByRule(paid, 600)],
      3: ['ambiguous'],
      4: ['ambiguous'],
    });
  });

  it('undoes a match when another line fits as well, and leaves both ambiguous', async () => {
    const id = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, 1_000)] });
    await setup.addLine({ nsu: 2, cents: 1_000, document: anna });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'], 2: ['ambiguous'] });
    const { rows } = await setup.run(
      `SELECT DISTINCT evidence -> 'candidates' AS candidates FROM break WHERE account_id = $1`,
      account,
    );
    expect(rows).toEqual([
      { candidates: [{ referenceKind: 'expected_payment', referenceValue: id }] },
    ]);
  });

  it('decides an ambiguous line once references have explained the other candidate', async () => {
    const [first, second] = [
      await setup.addExpectedPayment({ cents: 1_000, document: anna, correlationId: 'first' }),
      await setup.addExpectedPayment({ cents: 1_000, document: anna, correlationId: 'second' }),
    ];
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'] });
    await setup.addLine({ nsu: 2, cents: 1_000, document: bruno, correlationId: 'first' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({
      1: [matchedByRule(second, 1_000)],
      2: [`reference ${first} 1000`],
    });
  });

  it('loses its match to a line that references the payment, and leaves its own line unexpected', async () => {
    const id = await setup.addExpectedPayment({
      cents: 1_000,
      document: anna,
      correlationId: 'named',
    });
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.decide();
    await setup.addLine({ nsu: 2, cents: 1_000, document: bruno, correlationId: 'named' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'], 2: [`reference ${id} 1000`] });
  });

  it('changes no match in a closed period', async () => {
    const id = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.decide();
    await setup.closePeriodUntil('2026-06-20');
    await setup.decide();
    await setup.addLine({ nsu: 2, cents: 1_000, document: anna, day: '2026-06-21' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, 1_000)], 2: ['unexpected'] });
  });

  it('is applied to lines in breaks once activated, and its results are undone once retired', async () => {
    const id = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.addLine({ nsu: 2, cents: 3, notes: 'Estórno de teste' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'], 2: ['unexpected'] });
    const matching = await setup.declareActiveRule(matchRule({}));
    const ignoring = await setup.declareActiveRule({
      priority: 5,
      when: { notes: { contains: 'ESTORNO' } },
      then: { classify: 'ignored', reason: 'Testing the account.' },
      reason: 'test',
    });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, 1_000)], 2: ['ignored'] });
    await setup.catalog().retire(setup.actor(), matching, 1);
    await setup.catalog().retire(setup.actor(), ignoring, 1);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'], 2: ['unexpected'] });
  });

  it('decides between two charges once the bank has cancelled one of them', async () => {
    const id = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    const other = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.run(`UPDATE expected_payment SET created_at = created_at - interval '1 hour'`);
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'] });
    await setup.addCancelledCharge(other, '2026-06-15');
    await makeAllDue(service.database, account);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, 1_000)] });
  });

  it('matches a payment that is expected only after its line arrived', async () => {
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.decide();
    const id = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, 1_000)] });
  });

  it('decides all lines of one payer together, however many there are', async () => {
    await setup.addLine({ nsu: 9_000, cents: 1_000, document: anna });
    await setup.decide();
    await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.declareActiveRule(matchRule({}));
    await setup.run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         counterparty_document, balance_previous_cents, current_balance_cents, occurred_at,
         content_hash, content)
       SELECT $1, i, 'x', true, 1000, 'CREDIT_PIX', $2, 0, 0, '2026-06-10T15:00Z', 'h', '{}'
       FROM generate_series(1, 1100) i`,
      account,
      anna,
    );
    await setup.run(
      `INSERT INTO break (account_id, id, kind, state, subject, nsu, amount_cents, evidence)
       SELECT account_id, gen_random_uuid(), 'unexpected', 'open', 'nsu:' || nsu, nsu,
         amount_cents, '{}'
       FROM statement_line WHERE account_id = $1 AND nsu < 9000`,
      account,
    );
    await setup.decide();
    const { rows } = await setup.run(
      `SELECT kind, count(*)::int FROM break
       WHERE account_id = $1 AND state = 'open' GROUP BY kind`,
      account,
    );
    expect(rows).toEqual([{ kind: 'ambiguous', count: 1_101 }]);
  });

  it('decides the same outcomes in whatever order and batches the lines arrive', async () => {
    const expectedPayments: [string, number, string][] = [
      [anna, 1_000, 'a1'],
      [anna, 2_000, 'a2'],
      [bruno, 1_000, 'b1'],
      [bruno, 1_000, 'b2'],
      [anna, 500, 'a3'],
    ];
    const received: Omit<RuleSetupLine, 'nsu'>[] = [
      { cents: 1_000, document: anna },
      { cents: 1_000, document: bruno, correlationId: 'b1' },
      { cents: 1_000, document: bruno },
      { cents: 2_500, document: anna },
      { cents: 500, document: bruno, correlationId: 'a3' },
      { cents: 9, isCredit: false, typeName: 'FEE' },
    ];
    const lines = received.map((line, index) => ({ ...line, nsu: index + 1 }));
    const allOutcomes: Record<string, unknown>[] = [];
    for (const [order, batch] of [
      [[0, 1, 2, 3, 4, 5], 6],
      [[3, 2, 0, 5, 4, 1], 1],
      [[4, 0, 3, 1, 5, 2], 2],
    ] as const) {
      await createAccount();
      const names = new Map<string, string>();
      for (const [document, cents, correlationId] of expectedPayments)
        names.set(
          await setup.addExpectedPayment({ document, cents, correlationId }),
          correlationId,
        );
      await setup.declareActiveRule(matchRule({ combines: true }));
      for (let from = 0; from < order.length; from += batch) {
        for (const index of order.slice(from, from + batch))
          await setup.addLine(lines[index] ?? { nsu: 0, cents: 1 });
        await setup.decide();
      }
      await setup.decide();
      const text = JSON.stringify(await setup.outcomes());
      const named = [...names].reduce(
        (replaced, [id, name]) => replaced.replaceAll(id, name),
        text,
      );
      allOutcomes.push(JSON.parse(named) as Record<string, unknown>);
    }
    expect(allOutcomes[0]).toEqual({
      1: ['declared a1 1000'],
      2: ['reference b1 1000'],
      3: ['declared b2 1000'],
      4: ['unexpected'],
      5: ['reference a3 500'],
      6: ['fee'],
    });
    expect(allOutcomes[1]).toEqual(allOutcomes[0]);
    expect(allOutcomes[2]).toEqual(allOutcomes[0]);
  });
});
