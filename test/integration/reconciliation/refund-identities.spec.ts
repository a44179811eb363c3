// Verification by identities over facts: what no recomputation by the same code would notice.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bankProfileOf } from '../../../src/bank/profiles.js';
import { Recomputation } from '../../../src/reconciliation/runs/recomputation.service.js';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

describe('the identities of refunds', () => {
  let service: ServiceDatabase;
  let charge: string;
  const fixture = new SentMoneyFixture(() => service);
  const profile = bankProfileOf({ profile: 'sandbox' });
  const pix = { isCredit: true, typeName: 'CREDIT_PIX' };
  const refund = { typeName: 'DEBIT_PIX_REFUND' };

  beforeAll(async () => {
    service = await serviceDatabase();
    const { accountId } = service;
    const data = { accountId, lastSyncStartedAt: new Date() };
    await service.database.prisma.statementState.create({ data });
    charge = await fixture.addCharge('one');
    await fixture.addLines(
      { ...pix, nsu: 1, externalId: 'one', endToEndId: 'E1', age: 9 },
      { ...refund, nsu: 2, originalEndToEndId: 'E1', amountCents: 400, age: 8 },
      { ...pix, nsu: 3, endToEndId: 'E3', age: 7 },
      { ...refund, nsu: 4, endToEndId: 'D4', amountCents: 300, age: 6 },
      { ...refund, nsu: 5, endToEndId: 'D5', amountCents: 1_000, age: 5 },
    );
    await fixture.reconcile();
    await link(4, 3, 300);
    await fixture.reconcile();
  });
  afterAll(() => service.drop());

  const link = (nsu: number, originalNsu: number, cents: number) =>
    run(
      `WITH made AS (
         INSERT INTO line_decision (account_id, nsu, action, allocations, actor, reason)
         VALUES ($1, $2, 'link', '[]', 'test', 'as agreed') RETURNING account_id, sequence
       ), part AS (
         INSERT INTO linked_original
           (account_id, sequence, ordinal, nsu, original_nsu, amount_cents)
         SELECT account_id, sequence, 0, $2, $3, $4 FROM made RETURNING account_id
       )
       INSERT INTO reconciliation_task (account_id, kind, nsu, due_at)
       SELECT account_id, 'line', $2, now() FROM part`,
      service.accountId,
      ...[nsu, originalNsu, cents],
    );
  const run = (text: string, ...values: unknown[]) => service.database.pool.query(text, values);
  const compare = async () => {
    const { database, accountId } = service;
    const { differences } = await new Recomputation(database, profile).compareAccount(accountId);
    return differences.map(({ subject, stored, computed }) => `${subject}: ${stored}; ${computed}`);
  };
  /** What verification finds while the change stands. Triggers do not see it. */
  const foundAfter = async (change: string, back: string, ...values: unknown[]) => {
    const silently = async (text: string) => {
      await run(`SET session_replication_role = replica`);
      await run(text, ...values);
      await run(`SET session_replication_role = origin`);
    };
    await silently(change);
    try {
      return await compare();
    } finally {
      await silently(back);
    }
  };

  it('hold of what the service has stored', async () => expect(await compare()).toEqual([]));

  it('find more refunded of a Pix than was received', async () =>
    expect(
      await foundAfter(
        `UPDATE statement_line SET amount_cents = 1001 WHERE nsu = 2`,
        `UPDATE statement_line SET amount_cents = 400 WHERE nsu = 2`,
      ),
    ).toContain('refunds of Pix 1: received 1000; refunded 1001'));

  it('find a debit that is of two Pix', async () =>
    expect(
      await foundAfter(
        `UPDATE statement_line SET original_end_to_end_id = 'E1' WHERE nsu = 4`,
        `UPDATE statement_line SET original_end_to_end_id = NULL WHERE nsu = 4`,
      ),
    ).toContain('debit 4: amount 300; of Pix 1, 3 600'));

  it('find a debit of which only a part is of a Pix', async () =>
    expect(
      await foundAfter(
        `UPDATE linked_original SET amount_cents = 299`,
        `UPDATE linked_original SET amount_cents = 300`,
      ),
    ).toContain('debit 4: amount 300; of Pix 3 299'));

  it('find a refunded amount that its Pix do not add up to', async () =>
    expect(
      await foundAfter(
        `UPDATE expected_payment_total SET refunded_cents = 399 WHERE refunded_cents = 400`,
        `UPDATE expected_payment_total SET refunded_cents = 400 WHERE refunded_cents = 399`,
      ),
    ).toContain(`refunded of payment ${charge}: refunded 399; refunded 400`));

  it('find a reversal of a received payment by a debit of no Pix', async () =>
    expect(
      await foundAfter(
        `UPDATE statement_line SET original_end_to_end_id = NULL WHERE nsu = 2`,
        `UPDATE statement_line SET original_end_to_end_id = 'E1' WHERE nsu = 2`,
      ),
    ).toContain(`reversal by debit 2: of no Pix; of payment ${charge}`));

  it('are compared with recomputation for lines that are stored as pending too', async () =>
    expect(
      await foundAfter(
        `UPDATE line_outcome SET state = 'pending' WHERE nsu = 4`,
        `UPDATE line_outcome SET state = 'classified' WHERE nsu = 4`,
      ),
    ).toContainEqual(
      expect.stringMatching(/^line 4: is pending, refunded by manual; is classified/),
    ));
});
