import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { bankFees } from '../../src/reconciliation/rules/default-rules.js';
import { matchRule, paysByRule, RulesSetup } from '../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const anna = '11144477735';

describe('what a declared rule matched', () => {
  let service: ServiceDatabase;
  let account = 0;
  const room = new RulesSetup(() => ({ ...service, accountId: account }));
  const findings = async () => {
    const { rows } = await room.run(
      `SELECT kind, amount_cents::int AS cents FROM break WHERE account_id = $1 AND state = 'open' ORDER BY nsu`,
      account,
    );
    return rows;
  };

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    const made = await service.database.prisma.bankAccount.create({
      data: { slug: `s${account}`, goLiveAt: new Date(0) },
    });
    account = made.id;
  });

  it('and a person unlinked no rule matches again, alone or among several, and the line may pay another', async () => {
    const ids = [
      await room.expect({ cents: 400, document: anna }),
      await room.expect({ cents: 600, document: anna }),
    ];
    await room.rule(matchRule({ combines: true }));
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.decide();
    expect(await room.book()).toEqual({
      1: [paysByRule(ids[0] ?? '', 400), paysByRule(ids[1] ?? '', 600)].sort(),
    });
    await room.unlink(1);
    for (const _ of ['once', 'twice']) await room.decide();
    expect(await room.book()).toEqual({ 1: ['unexpected'] });
    const other = await room.expect({ cents: 1_000, document: anna });
    await room.decide();
    expect(await room.book()).toEqual({ 1: [paysByRule(other, 1_000)] });
  });

  it('and a person unlinked is weighed for the lines that were at odds with it', async () => {
    const id = await room.expect({ cents: 1_000, document: anna });
    await room.rule(matchRule({}));
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.decide();
    await room.unlink(1);
    await room.line({ nsu: 2, cents: 1_000, document: anna });
    await room.decide();
    expect(await room.book()).toEqual({ 1: ['unexpected'], 2: [paysByRule(id, 1_000)] });
  });

  it.each([
    ['while the window of its line is open', []],
    ['after the window of its line is closed', ['2026-06-20']],
  ])('stays when the charge is cancelled %s, and is what it was', async (_, closed) => {
    const id = await room.expect({ cents: 1_000, document: anna });
    await room.rule(matchRule({}));
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.decide();
    for (const day of closed) await room.closeUntil(day);
    await room.cancel(id);
    await room.line({ nsu: 2, cents: 1_000, document: anna, day: '2026-06-21' });
    const again = await room.expect({ cents: 1_000, document: anna, dueDate: '2026-08-01' });
    for (const __ of ['once', 'twice']) await room.decide();
    expect(await room.book()).toEqual({
      1: [paysByRule(id, 1_000)],
      2: [paysByRule(again, 1_000)],
    });
  });

  it('with a difference that it tolerates is in no break, of a charge, in parts, beside others or of a QR code', async () => {
    const terms = { tolerance: { amount: 10n }, combines: true, instalments: true };
    await room.rule(matchRule({ ...terms, by: ['notes', 'amount'] }));
    await room.expect({ cents: 1_000, correlationId: 'SHORT' });
    await room.expect({ cents: 2_000, correlationId: 'MORE' });
    await room.expect({ cents: 3_000, correlationId: 'PARTS' });
    await room.expect({ cents: 400, correlationId: 'ONE1' });
    await room.expect({ cents: 600, correlationId: 'TWO2' });
    await room.expect({ cents: 500, correlationId: 'CODE', isMultiUse: true });
    await room.line({ nsu: 1, cents: 992, notes: 'SHORT' });
    await room.line({ nsu: 2, cents: 2_009, notes: 'MORE' });
    await room.line({ nsu: 3, cents: 1_000, notes: 'PARTS' });
    await room.line({ nsu: 4, cents: 1_000, notes: 'ONE1 TWO2' });
    await room.line({ nsu: 5, cents: 495, notes: 'CODE' });
    await room.line({ nsu: 6, cents: 508, notes: 'CODE' });
    await room.decide();
    expect(await findings()).toEqual([{ kind: 'underpaid', cents: 2_000 }]);
    await room.line({ nsu: 7, cents: 1_500, notes: 'PARTS', day: '2026-06-11' });
    await room.decide();
    expect(await findings()).toEqual([{ kind: 'underpaid', cents: 500 }]);
    await room.line({ nsu: 8, cents: 493, notes: 'PARTS', day: '2026-06-12' });
    await room.decide();
    expect(await findings()).toEqual([]);
  });

  const came = { nsu: 1, cents: 1_000, document: anna, endToEndId: 'E1' };
  const went = { nsu: 2, cents: 1_000, originalEndToEndId: 'E1', isCredit: false };
  const back = { ...went, typeName: 'DEBIT_PIX_REFUND' };

  it.each([
    ['the charge and the rule', false],
    ['the rule', true],
  ])('is no Pix that had gone back before there was %s, nor by hand', async (_, isExpected) => {
    const owed = { cents: 1_000, document: anna };
    const early = isExpected ? await room.expect(owed) : null;
    await room.line(came);
    await room.line(back);
    await room.decide();
    const id = early ?? (await room.expect(owed));
    await room.rule(matchRule({}));
    for (const __ of ['once', 'twice']) await room.decide();
    expect(await room.book()).toEqual({ 1: ['unexpected'], 2: ['unexpected'] });
    expect((await room.events()).filter(({ type }) => type.startsWith('charge.'))).toEqual([]);
    await expect(room.link(1, id)).rejects.toThrow('has gone back');
  });

  it.each([
    ['the Pix first', [came], [back]],
    ['its return first', [back], [came]],
    ['both at once', [came, back], []],
  ])('and went back after that is a payment and its return, %s', async (_, first, second) => {
    const id = await room.expect({ cents: 1_000, document: anna });
    await room.rule(matchRule({}));
    for (const line of first) await room.line(line);
    await room.decide();
    for (const line of second) await room.line(line);
    for (const __ of ['once', 'twice']) await room.decide();
    expect(await room.book()).toEqual({
      1: [paysByRule(id, 1_000)],
      2: [`return ${id} 1000`],
    });
  });

  it('is a fee also where it stood in a break before the account had any rule', async () => {
    await room.line({ nsu: 1, cents: 150, isCredit: false, typeName: 'DEBIT_FEE_PIX' });
    await room.decide();
    await room.catalog().retire(room.by(), bankFees(account).id, 1);
    await room.decide();
    expect(await room.book()).toEqual({ 1: ['unexpected'] });
    for (const table of ['rule_version', 'rule'])
      await room.run(`DELETE FROM ${table} WHERE account_id = $1`, account);
    for (const _ of ['made', 'held against breaks']) await room.decide();
    expect(await room.book()).toEqual({ 1: ['fee'] });
  });
});
