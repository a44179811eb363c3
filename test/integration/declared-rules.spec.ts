import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { listAccountsToReview } from '../../src/reconciliation/rules/rules.queries.js';
import { matchRule, paysByRule, RulesSetup, type RuledPix } from '../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const anna = '11144477735';
const bruno = '52998224725';

describe('a declared rule', () => {
  let service: ServiceDatabase;
  let account = 0;
  const room = new RulesSetup(() => ({ ...service, accountId: account }));

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(() => beginAccount());
  const beginAccount = async () => {
    const made = await service.database.prisma.bankAccount.create({
      data: { slug: `a${(account += 1)}`, goLiveAt: new Date(0) },
    });
    account = made.id;
  };

  it('calls what the bank takes a fee from the beginning, and no other debit', async () => {
    await room.line({ nsu: 1, cents: 150, isCredit: false, typeName: 'DEBIT_FEE_PIX' });
    await room.line({ nsu: 2, cents: 150, isCredit: false, typeName: 'DEBIT_PIX' });
    await room.decide();
    expect(await room.book()).toEqual({ 1: ['fee'], 2: ['unexpected'] });
    const { rows } = await room.run(
      `SELECT rule, reason, rule_version FROM classification WHERE account_id = $1`,
      account,
    );
    expect(rows).toEqual([
      { rule: 'declared', reason: 'The bank charged for its services.', rule_version: 1 },
    ]);
  });

  it('matches by document, amount and days around the due date, and nothing outside of them', async () => {
    const id = await room.expect({ cents: 1_000, document: anna });
    await room.expect({ cents: 1_000, document: anna, dueDate: '2026-07-10' });
    await room.rule(
      matchRule({
        by: ['document', 'amount', 'window'],
        window: { daysBefore: 2, daysAfter: 2 },
      }),
    );
    await room.line({ nsu: 1, cents: 1_000, document: anna, day: '2026-06-12' });
    await room.line({ nsu: 2, cents: 1_000, document: anna, day: '2026-06-13' });
    await room.line({ nsu: 3, cents: 1_000, document: bruno, day: '2026-06-12' });
    await room.decide();
    expect(await room.book()).toEqual({
      1: [paysByRule(id, 1_000)],
      2: ['unexpected'],
      3: ['unexpected'],
    });
  });

  it('tells nobody of a break of a line that it matches at once', async () => {
    await room.expect({ cents: 1_000, document: anna });
    await room.rule(matchRule({}));
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.decide();
    const { rows } = await room.run('SELECT 1 FROM break WHERE account_id = $1', account);
    expect(rows).toEqual([]);
  });

  it('tolerates a difference up to what it says, and counts what is owed as paid', async () => {
    const near = await room.expect({ cents: 10_000, document: anna });
    await room.expect({ cents: 10_000, document: bruno });
    await room.rule(matchRule({ tolerance: { amount: 50n, percent: 100n } }));
    await room.line({ nsu: 1, cents: 9_900, document: anna });
    await room.line({ nsu: 2, cents: 9_899, document: bruno });
    await room.decide();
    expect(await room.book()).toEqual({ 1: [paysByRule(near, 9_900)], 2: ['unexpected'] });
    const { rows } = await room.run(
      `SELECT owed_cents::int AS owed, evidence ->> 'differenceCents' AS difference FROM match WHERE account_id = $1`,
      account,
    );
    expect(rows).toEqual([{ owed: 9_900, difference: '-100' }]);
  });

  it('names by whole words of the notes what a line pays', async () => {
    const id = await room.expect({ cents: 1_000, correlationId: 'PED-77' });
    await room.rule(matchRule({ by: ['notes', 'amount'] }));
    await room.line({ nsu: 1, cents: 1_000, notes: 'pedido PED-778' });
    await room.line({ nsu: 2, cents: 1_000, notes: 'pagamento (PED-77), obrigada' });
    await room.decide();
    expect(await room.book()).toEqual({ 1: ['unexpected'], 2: [paysByRule(id, 1_000)] });
  });

  it('lets one line pay several whole where they are just what it is of, in one way', async () => {
    const ids = [
      await room.expect({ cents: 1_000, document: anna }),
      await room.expect({ cents: 2_500, document: anna }),
    ];
    await room.expect({ cents: 700, document: anna });
    await room.rule(matchRule({ combines: true }));
    await room.line({ nsu: 1, cents: 3_500, document: anna });
    await room.decide();
    expect(await room.book()).toEqual({
      1: [paysByRule(ids[0] ?? '', 1_000), paysByRule(ids[1] ?? '', 2_500)].sort(),
    });
  });

  it('lets several lines pay one in parts, but not more than is owed', async () => {
    const one = await room.expect({ cents: 1_000, document: anna });
    await room.expect({ cents: 1_000, document: bruno });
    await room.rule(matchRule({ instalments: true }));
    await room.line({ nsu: 1, cents: 400, document: anna });
    await room.line({ nsu: 2, cents: 600, document: anna, day: '2026-06-12' });
    await room.line({ nsu: 3, cents: 600, document: bruno });
    await room.line({ nsu: 4, cents: 600, document: bruno, day: '2026-06-12' });
    await room.decide();
    expect(await room.book()).toEqual({
      1: [paysByRule(one, 400)],
      2: [paysByRule(one, 600)],
      3: ['ambiguous'],
      4: ['ambiguous'],
    });
  });

  it('takes a match back when another line could as well be it, and neither is it', async () => {
    const id = await room.expect({ cents: 1_000, document: anna });
    await room.rule(matchRule({}));
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.decide();
    expect(await room.book()).toEqual({ 1: [paysByRule(id, 1_000)] });
    await room.line({ nsu: 2, cents: 1_000, document: anna });
    await room.decide();
    expect(await room.book()).toEqual({ 1: ['ambiguous'], 2: ['ambiguous'] });
    const { rows } = await room.run(
      `SELECT DISTINCT evidence -> 'candidates' AS could FROM break WHERE account_id = $1`,
      account,
    );
    expect(rows).toEqual([{ could: [{ referenceKind: 'expected_payment', referenceValue: id }] }]);
  });

  it('decides what was ambiguous once ids have explained the rest', async () => {
    const [first, second] = [
      await room.expect({ cents: 1_000, document: anna, correlationId: 'first' }),
      await room.expect({ cents: 1_000, document: anna, correlationId: 'second' }),
    ];
    await room.rule(matchRule({}));
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.decide();
    expect(await room.book()).toEqual({ 1: ['ambiguous'] });
    await room.line({ nsu: 2, cents: 1_000, document: bruno, correlationId: 'first' });
    await room.decide();
    expect(await room.book()).toEqual({
      1: [paysByRule(second, 1_000)],
      2: [`reference ${first} 1000`],
    });
  });

  it('gives way to ids: the line that it had matched is explained by nothing', async () => {
    const id = await room.expect({ cents: 1_000, document: anna, correlationId: 'named' });
    await room.rule(matchRule({}));
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.decide();
    await room.line({ nsu: 2, cents: 1_000, document: bruno, correlationId: 'named' });
    await room.decide();
    expect(await room.book()).toEqual({ 1: ['unexpected'], 2: [`reference ${id} 1000`] });
  });

  it('changes nothing of what it matched in a window that is closed', async () => {
    const id = await room.expect({ cents: 1_000, document: anna });
    await room.rule(matchRule({}));
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.decide();
    await room.closeUntil('2026-06-20');
    await room.line({ nsu: 2, cents: 1_000, document: anna, day: '2026-06-21' });
    await room.decide();
    expect(await room.book()).toEqual({ 1: [paysByRule(id, 1_000)], 2: ['unexpected'] });
  });

  it('is held against lines in breaks once it is activated, and let go once it is retired', async () => {
    const id = await room.expect({ cents: 1_000, document: anna });
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.line({ nsu: 2, cents: 3, notes: 'Estórno de teste' });
    await room.decide();
    expect(await room.book()).toEqual({ 1: ['unexpected'], 2: ['unexpected'] });
    const matching = await room.rule(matchRule({}));
    const ignoring = await room.rule({
      priority: 5,
      when: { notes: { contains: 'ESTORNO' } },
      then: { classify: 'ignored', reason: 'Testing the account.' },
      reason: 'test',
    });
    await room.decide();
    expect(await room.book()).toEqual({ 1: [paysByRule(id, 1_000)], 2: ['ignored'] });
    await room.catalog().retire(room.by(), matching, 1);
    await room.catalog().retire(room.by(), ignoring, 1);
    await room.decide();
    expect(await room.book()).toEqual({ 1: ['unexpected'], 2: ['unexpected'] });
  });

  it('decides between two once the bank has cancelled one of them', async () => {
    const id = await room.expect({ cents: 1_000, document: anna });
    const other = await room.expect({ cents: 1_000, document: anna });
    await room.run(`UPDATE expected_payment SET created_at = created_at - interval '1 hour'`);
    await room.rule(matchRule({}));
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.decide();
    expect(await room.book()).toEqual({ 1: ['ambiguous'] });
    await room.cancel(other);
    const due = await listAccountsToReview(service.database.prisma, 0);
    expect(due).toContainEqual({ accountId: account });
    await room.decide();
    expect(await room.book()).toEqual({ 1: [paysByRule(id, 1_000)] });
  });

  it('finds what is expected only after its line came', async () => {
    await room.rule(matchRule({}));
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.decide();
    const id = await room.expect({ cents: 1_000, document: anna });
    await room.decide();
    expect(await room.book()).toEqual({ 1: [paysByRule(id, 1_000)] });
  });

  it('decides the lines of one payer once in a review, however many pages there are of them', async () => {
    await room.line({ nsu: 9_000, cents: 1_000, document: anna });
    await room.decide();
    await room.expect({ cents: 1_000, document: anna });
    await room.rule(matchRule({}));
    await room.run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name, counterparty_document,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       SELECT $1, i, 'x', true, 1000, 'CREDIT_PIX', $2, 0, 0, '2026-06-10T15:00Z', 'h', '{}'
       FROM generate_series(1, 1100) i`,
      account,
      anna,
    );
    await room.run(
      `INSERT INTO break (account_id, id, kind, state, subject, nsu, amount_cents, evidence)
       SELECT account_id, gen_random_uuid(), 'unexpected', 'open', 'nsu:' || nsu, nsu, amount_cents, '{}'
       FROM statement_line WHERE account_id = $1 AND nsu < 9000`,
      account,
    );
    const begin = { after: 0n, decided: new Set<bigint>(), begun: null };
    const page = await service.database.transaction(async (tx) => {
      const first = await room.declared().review(tx, account, begin);
      return [first?.next?.decided.size, first?.applied.outcomes.length];
    });
    expect(page).toEqual([1_101, 1_101]);
  });

  it('makes the same book in whatever order and batches the lines come', async () => {
    const owed: [string, number, string][] = [
      [anna, 1_000, 'a1'],
      [anna, 2_000, 'a2'],
      [bruno, 1_000, 'b1'],
      [bruno, 1_000, 'b2'],
      [anna, 500, 'a3'],
    ];
    const came: Omit<RuledPix, 'nsu'>[] = [
      { cents: 1_000, document: anna },
      { cents: 1_000, document: bruno, correlationId: 'b1' },
      { cents: 1_000, document: bruno },
      { cents: 2_500, document: anna },
      { cents: 500, document: bruno, correlationId: 'a3' },
      { cents: 9, isCredit: false, typeName: 'FEE' },
    ];
    const lines = came.map((line, at) => ({ ...line, nsu: at + 1 }));
    const books: Record<string, unknown>[] = [];
    for (const [order, batch] of [
      [[0, 1, 2, 3, 4, 5], 6],
      [[3, 2, 0, 5, 4, 1], 1],
      [[4, 0, 3, 1, 5, 2], 2],
    ] as const) {
      await beginAccount();
      const names = new Map<string, string>();
      for (const [document, cents, correlationId] of owed)
        names.set(await room.expect({ document, cents, correlationId }), correlationId);
      await room.rule(matchRule({ combines: true }));
      for (let from = 0; from < order.length; from += batch) {
        for (const at of order.slice(from, from + batch))
          await room.line(lines[at] ?? { nsu: 0, cents: 1 });
        await room.decide();
      }
      await room.decide();
      const text = JSON.stringify(await room.book());
      const named = [...names].reduce((book, [id, name]) => book.replaceAll(id, name), text);
      books.push(JSON.parse(named) as Record<string, unknown>);
    }
    expect(books[0]).toEqual({
      1: ['declared a1 1000'],
      2: ['reference b1 1000'],
      3: ['declared b2 1000'],
      4: ['unexpected'],
      5: ['reference a3 500'],
      6: ['fee'],
    });
    expect(books[1]).toEqual(books[0]);
    expect(books[2]).toEqual(books[0]);
  });
});
