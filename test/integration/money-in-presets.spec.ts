// Every way in which money moves ends as it is declared, in each preset of the sandbox bank, and no
// line is ever explained by a payment that is not its own.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ReconciliationService } from '../../src/reconciliation/reconciliation.service.js';
import { presets } from '../../src/sandbox/presets/presets.js';
import {
  bankTime,
  moneyScenarios,
  MoneyWorld,
  type PlayedLine,
} from '../support/money-scenarios.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../support/service-on-sandbox.js';

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
  return states.every((state) => state === 'matched') ? 'by itself' : 'by a person';
}

describe.each(presets)('with the preset %s', (preset) => {
  let service: ServiceOnSandbox;
  let world: MoneyWorld;
  beforeAll(async () => {
    service = await serviceOnSandbox({ SANDBOX_PRESET: preset });
    world = new MoneyWorld(service);
    const body = { now: bankTime };
    await service.bank.call('POST', '/sandbox/clock', { body });
    await service.bank.call('PATCH', '/sandbox/modes', { body: { pixStepMs: 0 } });
    await service.sync();
  });
  afterAll(() => service.stop());

  it.each(moneyScenarios)('$name', async ({ results, play }) => {
    const lines = await play(world);
    await service.sync();
    await service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId: service.accountId });
    expect(await resultOf(service, lines)).toBe(results[preset]);
  });
});

it('is what docs/presets.md says', () => {
  const rows = moneyScenarios.map(
    ({ name, results }) => `| ${[name, ...presets.map((preset) => results[preset])].join(' | ')} |`,
  );
  const page = readFileSync(new URL('../../docs/presets.md', import.meta.url), 'utf8');
  const cells = (row: string) => row.split('|').map((cell) => cell.trim());
  const table = page.split('\n').filter((line) => line.startsWith('| '));
  expect(table.slice(2).map(cells)).toEqual(rows.map(cells));
});
