// Transfers between two accounts of one installation. Whether one holder has both accounts is what
// the bank says of payer and beneficiary.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { internalTransfer, keyTransfer } from '../../contract/transfer-samples.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { until } from '../../support/until.js';

const company = '11222333000181';
const person = '12345678909';
const apiKeys = ['sandbox-dev-key', 'sandbox-dev-key-2'];

let service: ServiceApplication;
let accountIds: number[];
beforeAll(async () => {
  service = await serviceApplication();
  await operatorOf(() => service).addAccount({ apiKey: apiKeys[1] });
  const accounts = await service.database.prisma.bankAccount.findMany({ orderBy: { id: 'asc' } });
  accountIds = accounts.map(({ id }) => id);
});
afterAll(() => service.stop());

let amount = 1;
const linesAtBank = async (apiKey: string | undefined) => {
  const range = 'startDate=2020-01-01&endDate=2100-01-01';
  const path = `/baas/api/v2/transactions?${range}`;
  const { body } = await service.sandbox.call('GET', path, apiKey ? { apiKey } : {});
  return (body as { amount: number }[]).filter((line) => line.amount === amount);
};
const readAndDecide = async (accountId: number) => {
  await service.application.get(StatementSync, { strict: false }).sync(accountId);
  await decide(accountId);
};
const decide = (accountId: number) =>
  service.application.get(ReconciliationService, { strict: false }).reconcile({ accountId });
const outcomesOf = async (accountId: number) => {
  const { rows } = await service.database.pool.query(
    `SELECT COALESCE(m.rule, c.category::text, b.kind) AS outcome FROM statement_line t
     LEFT JOIN match m ON m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL
     LEFT JOIN classification c ON c.account_id = t.account_id AND c.nsu = t.nsu
     LEFT JOIN break b ON b.account_id = t.account_id AND b.nsu = t.nsu AND b.state = 'open'
     WHERE t.account_id = $1 AND t.amount_cents = $2`,
    [accountId, amount * 100],
  );
  return rows.map(({ outcome }) => outcome as string);
};
const bodies = {
  'between accounts of the bank': () => Promise.resolve(internalTransfer({ amount })),
  'a Pix': async () => {
    // Look-ups of one second that show different holders start no transfer.
    await service.database.pool.query(
      `UPDATE pix_lookup SET looked_up_at = looked_up_at - interval '1 minute'`,
    );
    const { body } = await service.call('POST', '/baas/api/v2/pix/dict/payment-initialization', {
      body: { key: 'maria@pessoa-dois.example' },
    });
    return keyTransfer(body.endToEndId, { amount });
  },
};

it.each(
  (['between accounts of the bank', 'a Pix'] as const).flatMap((kind) =>
    (['sender first', 'receiver first'] as const).flatMap((order) =>
      ([company, person] as const).map((holder) => [kind, order, holder] as const),
    ),
  ),
)('a transfer is own only to an account of the same holder: %s, %s, to %s', async (...of) => {
  const [kind, order, holder] = of;
  amount += 1;
  await service.sandbox.pool.query(
    `UPDATE account SET holder_document = $1, holder_type = $2 WHERE number = '1000002'`,
    [holder, holder === company ? 'LEGAL' : 'NATURAL'],
  );
  const sent = await service.call('POST', '/baas/api/v2/transfers', {
    body: await bodies[kind](),
    headers: { IdempotencyKey: `transfer-${amount}` },
  });
  expect(sent.status).toBe(200);
  for (const apiKey of apiKeys)
    await until('the statement shows it', async () => (await linesAtBank(apiKey)).length === 1);
  const [sender = 0, receiver = 0] = accountIds;
  const inOrder = order === 'sender first' ? [sender, receiver] : [receiver, sender];
  for (const accountId of inOrder) await readAndDecide(accountId);
  // The job that the sender's lines enqueue.
  await decide(receiver);
  expect(await outcomesOf(sender)).toEqual(['reference']);
  expect(await outcomesOf(receiver)).toEqual([
    holder === company ? 'own_account_transfer' : 'unexpected',
  ]);
});
