// Attacks by somebody who has the bank's credentials, and what a guarded account finds of each:
// test/scenarios/attacks. What is missed as an alarm is named there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { countEarlierDebits } from '../../../src/reporting/alerts/debit-notices.queries.js';
import { DebitNotices } from '../../../src/reporting/alerts/debit-notices.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';
import { newKeyHeader } from '../../contract/samples.js';
import {
  batchItem,
  internalTransfer,
  keyTransfer,
  knownBeneficiaries,
  manualTransfer,
} from '../../contract/transfer-samples.js';
import { deleteAllRows, withoutTriggers } from '../../support/parent-rows.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { recordingBank, type RecordingBank } from '../../support/recording-bank.js';
import {
  adminKey,
  serviceProcess,
  type ServiceProcess,
} from '../../support/service-application.js';

const levels = ['nothing', 'recorded', 'wait', 'alert', 'critical_alert', 'alarm'] as const;
const payments = z.enum(['internal', 'pix', 'key', 'ted', 'batch', 'bill', 'refund', 'line']);
const step = z.strictObject({
  bank: payments.optional(),
  ours: payments.optional(),
  altered: payments.optional(),
  lost: payments.optional(),
  amount: z.number().optional(),
  times: z.number().default(1),
  items: z.number().optional(),
  payee: z.string().optional(),
  typeName: z.string().optional(),
  externalId: z.string().optional(),
  change: z.record(z.string(), z.unknown()).optional(),
  priceList: z.number().optional(),
  hoursPass: z.number().optional(),
});
type Step = z.output<typeof step>;
const attackSchema = z
  .strictObject({
    attack: z.string(),
    steps: z.array(step),
    finds: z.enum(levels),
    miss: z.string().optional(),
  })
  .refine(({ finds, miss }) => (finds === 'alarm') === (miss === undefined), 'Name the miss.');
const file = join(import.meta.dirname, '../../scenarios/attacks/attacks.yaml');
const attacks = z.array(attackSchema).parse(parse(readFileSync(file, 'utf8')));

const paths = {
  transfers: '/baas/api/v2/transfers',
  lookUp: '/baas/api/v2/pix/dict/payment-initialization',
};

describe('of an attack', () => {
  let sandbox: SandboxUnderTest;
  let bank: RecordingBank;
  let test: TestDatabase;
  let service: ServiceProcess;
  let accountId: number;
  beforeAll(async () => {
    sandbox = await sandboxUnderTest();
    bank = await recordingBank(await sandbox.application.getUrl());
    test = await testDatabase('service');
    service = await serviceProcess(test, bank.url);
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
    await read();
  });
  afterEach(async () => {
    await sandbox.call('POST', '/sandbox/reset');
    await deleteAllRows(test.pool, {
      except: ['bank_account', 'api_key', 'service_secret', 'statement_state'],
    });
  });
  afterAll(async () => {
    await service.stop();
    await test.drop();
    bank.close();
    await sandbox.stop();
  });

  const get = <Class>(type: new (...args: never[]) => Class) =>
    service.application.get(type, { strict: false });
  const read = async () => {
    await get(StatementSync).sync(accountId, { sliceMs: 10_000 });
    await get(ReconciliationService).reconcile({ accountId });
  };
  const guard = async () => {
    const declaredDebits = [{ typeName: 'DEBIT_TAX', maximum: 500 }];
    const body = {
      ...{ guard: { intervalSeconds: 3, alarmAbove: 100, declaredDebits } },
      ...{ actor: 'Ana', reason: 'policy 9' },
    };
    const path = '/v1/accounts/main/payment-controls';
    expect((await service.call('PUT', path, { body, apiKey: adminKey })).status).toBe(200);
  };

  /** One payment, at the bank itself or by the service. */
  const pay = async (
    at: Pick<ServiceProcess, 'call'>,
    kind: z.output<typeof payments>,
    of: Step,
  ) => {
    const { amount = 1, typeName, externalId, payee } = of;
    const post = async (path: string, body: unknown) => {
      const { status } = await at.call('POST', path, { body, headers: newKeyHeader() });
      expect(status).toBeLessThan(300);
    };
    const known = manualTransfer().beneficiary as object;
    const beneficiary = { ...known, ...(payee ? { number: payee } : {}) };
    const manual = manualTransfer({ amount, beneficiary });
    switch (kind) {
      case 'internal':
        return post(
          paths.transfers,
          internalTransfer({ amount, ...(externalId ? { externalId } : {}) }),
        );
      case 'pix':
        return post(paths.transfers, manual);
      case 'key': {
        const body = { key: knownBeneficiaries.dictKey };
        const { endToEndId } = (await at.call('POST', paths.lookUp, { body })).body;
        return post(paths.transfers, keyTransfer(endToEndId, { amount }));
      }
      case 'ted':
        return post(`${paths.transfers}/ted`, manual);
      case 'batch':
        return post(
          '/baas/v1/transfers/batch',
          Array.from({ length: of.items ?? 1 }, () => batchItem({ amount })),
        );
      case 'bill': {
        const body = { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount };
        const { barCode } = (await sandbox.call('POST', '/sandbox/bills', { body })).body;
        return post('/baas/api/v1/bill-payments', { barCode, amount });
      }
      case 'refund': {
        const received = await sandbox.call('POST', '/sandbox/pix/received', { body: { amount } });
        const path = `/baas/api/v1/transactions/${received.body.nsu}/refund?filterBy=NSU`;
        const { status } = await at.call('PUT', path, { body: { amount } });
        return expect(status).toBeLessThan(300);
      }
      case 'line':
        return post('/sandbox/transactions', {
          ...{ amount, typeName, isCredit: false },
          ...(externalId ? { externalId } : {}),
        });
    }
  };

  const doStep = async (of: Step) => {
    const { bank: theirs, ours, altered, lost, times, change, priceList, hoursPass } = of;
    for (let time = 0; time < times; time += 1) {
      if (theirs) await pay(sandbox, theirs, of);
      if (ours) await pay(service, ours, of);
      if (altered) bank.alterNext(`POST ${paths.transfers}`, change ?? {});
      if (lost) bank.loseNext(`POST ${paths.transfers}`);
      const requested = altered ?? lost;
      if (requested) await pay(service, requested, of);
    }
    if (priceList !== undefined) {
      const tariffs = [{ kind: 'pix_sent', period: 'each', price: priceList }];
      const body = { validFrom: '2020-01-01', tariffs, reason: 'contract' };
      const headers = newKeyHeader();
      expect((await service.call('PUT', '/v1/price-list', { body, headers })).status).toBe(200);
    }
    if (hoursPass !== undefined) {
      const now = new Date(Date.now() + hoursPass * 3_600_000).toISOString();
      expect((await sandbox.call('POST', '/sandbox/clock', { body: { now } })).status).toBe(200);
    }
  };

  const debits = () =>
    service.database.prisma.statementLine.findMany({ where: { accountId, isCredit: false } });

  /** The highest notice of a debit of the attacker, at once or after a minute. */
  const highest = async (ours: ReadonlySet<bigint>) => {
    const notices = await get(DebitNotices).listAll(accountId);
    const ofOurs = notices.filter(({ nsu, notice }) => ours.has(nsu) && notice !== 'nothing');
    expect(ofOurs).toEqual([]);
    const found = notices.filter(({ nsu }) => !ours.has(nsu)).map(({ notice }) => notice);
    const earlier = await countEarlierDebits(service.database.prisma, accountId);
    const known = [...found, ...(earlier > 0 ? (['recorded'] as const) : [])];
    return levels[Math.max(0, ...known.map((one) => levels.indexOf(one)))];
  };

  const found = new Map<string, string>();
  it.each(attacks)('$attack: finds $finds', async ({ attack, steps, finds }) => {
    await guard();
    const ours = new Set<bigint>();
    for (const one of steps) {
      await doStep(one);
      if (!one.ours) continue;
      await read();
      for (const { nsu } of await debits()) ours.add(nsu);
      expect(ours.size).toBeGreaterThan(0);
    }
    await read();
    let notice = await highest(ours);
    if (notice === 'wait') {
      await withoutTriggers(test.pool, async (client) => {
        await client.query(
          `UPDATE statement_line SET recorded_at = recorded_at - interval '61 seconds'`,
        );
      });
      notice = await highest(ours);
    }
    found.set(attack, notice ?? '');
    expect(notice).toBe(finds);
  });

  it('the share that is an alarm is printed, and most are', () => {
    const alarms = [...found.values()].filter((notice) => notice === 'alarm').length;
    const noticed = [...found.values()].filter((notice) => notice !== 'nothing').length;
    const recall = (count: number) => `${count} of ${found.size}`;
    process.stdout.write(`attacks: alarm ${recall(alarms)}, notified ${recall(noticed)}\n`);
    expect([found.size, alarms, noticed]).toEqual([attacks.length, 18, 22]);
  });
});
