import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

let service: ServiceDatabase;
let nsu = 0;
beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());
beforeEach(async () => {
  nsu += 10;
  const { id } = await service.database.prisma.bankAccount.create({
    data: { slug: `a${nsu}`, goLiveAt: new Date(0) },
  });
  service.accountId = id;
});

const fixture = new SentMoneyFixture(() => service);
const { run, addCharge } = fixture;
const listBreaks = () => fixture.listBreaksFrom(nsu);
const outcomes = async () =>
  (await fixture.outcomes()).filter((line) => line.nsu >= nsu).map(({ outcome }) => outcome);

const pix = { isCredit: true, typeName: 'CREDIT_PIX' };

describe('a line is decided again', () => {
  it('but not when a rule matched it in a closed period: the referencing line is a duplicate', async () => {
    const id = await addCharge('closed');
    await fixture.addLines({ ...pix, nsu, age: 3_600 });
    await fixture.reconcile();
    await run(
      `WITH resolved AS (UPDATE break SET state = 'resolved', resolved_at = now() WHERE nsu = $2),
            closed AS (INSERT INTO statement_state (account_id, closed_from, closed_until)
              VALUES ($1, now() - interval '1 day', now() - interval '1 minute')),
            declared AS (INSERT INTO rule (account_id, id, name) VALUES ($1, $3, 'any')),
            version AS (
              INSERT INTO rule_version (account_id, rule_id, version, state, priority, action,
                definition) VALUES ($1, $3, 1, 'retired', 1, 'match', '{}'))
       INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, rule_id,
         rule_version, final_at, evidence)
       VALUES ($1, gen_random_uuid(), $2, $3, 1000, 'declared', $3, 1, now(), '{}')`,
      service.accountId,
      nsu,
      id,
    );
    await fixture.addLines({ ...pix, nsu: nsu + 1, externalId: 'closed' });
    await fixture.reconcile();
    expect(await outcomes()).toEqual(['payment by declared', 'payment by reference']);
    expect(await listBreaks()).toContainEqual({
      ...{ kind: 'duplicate_payment', state: 'open' },
      nsu: nsu + 1,
    });
  });

  it('when another account proves to have sent it, even after 30 days', async () => {
    const { rows } = await run(
      `INSERT INTO bank_account
       SELECT (jsonb_populate_record(a, jsonb_build_object('id', 9999, 'slug', 'other'))).*
       FROM bank_account a WHERE id = $1 RETURNING id`,
      service.accountId,
    );
    const transfer = { ...pix, typeName: 'CREDIT_TRANSFER_INTERNAL' };
    await fixture.addLines({ ...transfer, nsu, movementId: 'inner', hasOneHolder: true });
    await fixture.reconcile();
    await run(`UPDATE break SET opened_at = now() - interval '30 days' WHERE nsu = $1`, nsu);
    expect(await listBreaks()).toEqual([{ kind: 'unexpected', state: 'open', nsu }]);
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         movement_id, balance_previous_cents, current_balance_cents, occurred_at, content_hash,
         content)
       VALUES ($1, 1, 'x', false, 1000, 'DEBIT_TRANSFER_INTERNAL', 'inner', 0, 0, now(), 'h',
         '{}')`,
      rows[0].id,
    );
    await fixture.reconciliationParts().reconciliation.reconcile({ accountId: rows[0].id });
    expect(fixture.enqueuedJobs).toContainEqual(['reconcile', { accountId: service.accountId }]);
    await fixture.reconcile();
    expect((await listBreaks()).map(({ state }) => state)).toEqual(['resolved']);
    const classified = await run(
      `SELECT category, evidence FROM classification WHERE nsu = $1`,
      nsu,
    );
    expect(classified.rows).toEqual([{ category: 'own_account_transfer', evidence: {} }]);
    expect(await outcomes()).toEqual([null]);
  });

  it('when a reference of an old operation is recorded long after the break was opened', async () => {
    await fixture.addLines({ nsu, age: 9 });
    await fixture.reconcile();
    await run(`UPDATE break SET opened_at = now() - interval '30 days' WHERE nsu = $1`, nsu);
    const { expectedPaymentId } = await fixture.addOperation({ state: 'succeeded', age: 20 });
    await fixture.reconcile();
    await fixture.addReferences(expectedPaymentId, { kind: 'nsu', value: String(nsu) });
    await fixture.reconcile();
    expect(await outcomes()).toEqual(['payment by reference']);
    expect(await listBreaks()).toEqual([{ kind: 'unexpected', state: 'resolved', nsu }]);
  });
});

describe('a Pix from the account to a key of the same account', () => {
  // Both lines show this account: without that, the credit undoes the debit.
  const self = { hasOneHolder: true, counterparty: 'this account' };
  const legs = (id: string) =>
    ({
      debit: { ...self, nsu, endToEndId: id },
      credit: { ...self, ...pix, nsu: nsu + 1, endToEndId: id },
    }) as const;
  const categories = async () =>
    (
      await run(
        `SELECT nsu::int, category FROM classification WHERE nsu BETWEEN $1 AND $1 + 9`,
        nsu,
      )
    ).rows;

  it.each([
    ['together', [['debit', 'credit']]],
    ['debit first', [['debit'], ['credit']]],
    ['credit first', [['credit'], ['debit']]],
  ] as const)(
    'has both lines explained when they arrive in this order: %s',
    async (order, batches) => {
      const id = `E own ${order}`;
      await fixture.addOperation({
        state: 'succeeded',
        transferState: 'effective',
        references: [{ kind: 'end_to_end_id', value: id }],
      });
      for (const batch of batches) {
        await fixture.addLines(...batch.map((leg) => legs(id)[leg]));
        await fixture.reconcile();
      }
      expect(await outcomes()).toEqual(['payment by reference', null]);
      expect(await categories()).toEqual([{ nsu: nsu + 1, category: 'own_account_transfer' }]);
    },
  );

  it('has both lines explained when a person links the debit, however late', async () => {
    const amountCents = 777;
    const { expectedPaymentId } = await fixture.addOperation({
      ...{ state: 'succeeded', transferState: 'accepted', amountCents },
    });
    const { debit, credit } = legs('E manual');
    await fixture.addLines({ ...debit, amountCents }, { ...credit, amountCents });
    await fixture.reconcile();
    expect(await outcomes()).toEqual(['unexpected', 'unexpected']);
    await run(`UPDATE break SET opened_at = now() - interval '30 days' WHERE nsu = $1`, nsu + 1);
    const allocations = [{ expectedPaymentId, amountCents: null }];
    const by = { actor: 'anna', reason: 'test' };
    await service.database.transaction((tx) =>
      fixture.manualMatches().link(tx, service.accountId, { nsu: BigInt(nsu), allocations }, by),
    );
    await fixture.reconcile();
    expect(await outcomes()).toEqual(['payment by manual', null]);
    expect(await categories()).toEqual([{ nsu: nsu + 1, category: 'own_account_transfer' }]);
  });

  it('is not an own transfer when no operation requested its debit', async () => {
    const { debit, credit } = legs('E stranger');
    await fixture.addLines(debit, credit);
    await fixture.reconcile();
    expect(await outcomes()).toEqual(['unexpected', 'unexpected']);
  });

  it('explains only a credit of the same amount', async () => {
    const id = 'E own once';
    await fixture.addOperation({
      state: 'succeeded',
      transferState: 'effective',
      references: [{ kind: 'end_to_end_id', value: id }],
    });
    const { debit, credit } = legs(id);
    await fixture.addLines(debit, credit);
    await fixture.reconcile();
    await fixture.addLines({ ...credit, nsu: nsu + 2, amountCents: 999 });
    await fixture.reconcile();
    expect((await outcomes()).at(-1)).toBe('unexpected');
  });
});
