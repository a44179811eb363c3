// Every way in which money moves ends as it is declared, in each preset of the sandbox bank, and no
// line is ever explained by a payment that is not its own.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { presets } from '../../../src/sandbox/presets/presets.js';
import { TransferStatusChecks } from '../../../src/outbound/transfers/transfer-status-checks.service.js';
import { WebhookInbox } from '../../../src/webhooks/inbox/webhook-inbox.service.js';
import { expectTable } from '../../support/docs-table.js';
import { moneyScenarios } from '../../support/money-scenarios.js';
import { bankTime, MoneyWorld, type PlayedLine } from '../../support/money-world.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

async function resultOf(service: ServiceOnSandbox, lines: readonly PlayedLine[]): Promise<string> {
  const { accountId, pool } = service;
  const states: string[] = [];
  for (const { nsu, explainedBy } of lines) {
    const { rows } = await pool.query(
      `SELECT o.state, array_agg(m.expected_payment_id) FILTER (WHERE m.nsu IS NOT NULL) AS ids
       FROM statement_line t
       JOIN line_outcome o USING (account_id, nsu)
       LEFT JOIN match m ON m.account_id = t.account_id AND m.nsu = t.nsu
         AND m.unlinked_at IS NULL
       WHERE t.account_id = $1 AND t.nsu = $2 GROUP BY o.state`,
      [accountId, nsu],
    );
    expect(rows).toHaveLength(1);
    const { state, ids } = rows[0] as { state: string; ids: string[] | null };
    if (ids?.some((id) => id !== explainedBy)) return 'wrong';
    states.push(state);
  }
  if (states.includes('pending')) return 'frozen';
  const isExplained = (state: string) => ['matched', 'classified'].includes(state);
  return states.every(isExplained) ? 'alone' : 'person';
}

/** What the service does by itself with what the bank shows. */
async function reconcile({ application, accountId, pool, sync }: ServiceOnSandbox): Promise<void> {
  const get = <Type>(type: new (...of: never[]) => Type) =>
    application.get<Type>(type as never, { strict: false });
  await sync();
  await get(WebhookInbox).process({ accountId });
  await get(ReconciliationService).reconcile({ accountId });
  await pool.query('UPDATE transfer SET next_check_at = now() WHERE next_check_at IS NOT NULL');
  await get(TransferStatusChecks).check({ accountId });
  await get(ReconciliationService).reconcile({ accountId });
}

describe.each(presets)('with the preset %s', (preset) => {
  let service: ServiceOnSandbox;
  let world: MoneyWorld;
  beforeAll(async () => {
    service = await serviceOnSandbox({ SANDBOX_PRESET: preset });
    world = new MoneyWorld(service);
    const body = { now: bankTime };
    await service.bank.call('POST', '/sandbox/clock', { body });
    await service.sync();
  });
  afterEach(() => service.bank.call('DELETE', '/sandbox/faults'));
  afterAll(() => service.stop());

  it.each(moneyScenarios)('$name', async ({ results, modes, play }) => {
    await service.bank.call('PATCH', '/sandbox/modes', {
      body: { preset, pixStepMs: 0, ...modes },
    });
    if (results[preset] === 'not offered')
      return expect(play(world)).rejects.toThrow('"status":404');
    const lines = await play(world);
    await reconcile(service);
    expect(await resultOf(service, lines)).toBe(results[preset]);
  });
});

it('is what docs/reference/presets.md says, which WRITE_DOCS=1 writes', () =>
  expectTable(
    'docs/reference/presets.md',
    ['what happens', ...presets.map((preset) => `\`${preset}\``)],
    moneyScenarios.map(({ name, results }) => [name, ...presets.map((one) => results[one])]),
  ));
