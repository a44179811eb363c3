import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { classifyResponse } from '../../../src/bank/response-classification.js';
import * as batches from '../../../src/bank-contract/batch-transfers.js';
import * as bills from '../../../src/bank-contract/bill-payments.js';
import * as charges from '../../../src/bank-contract/charges.js';
import * as customers from '../../../src/bank-contract/customers.js';
import * as lookups from '../../../src/bank-contract/pix-lookup.js';
import * as refunds from '../../../src/bank-contract/refunds.js';
import type { Route } from '../../../src/bank-contract/route.js';
import * as statement from '../../../src/bank-contract/statement.js';
import * as qrs from '../../../src/bank-contract/static-qr.js';
import * as teds from '../../../src/bank-contract/ted-transfers.js';
import * as transfers from '../../../src/bank-contract/transfers.js';
import * as registrations from '../../../src/bank-contract/webhook-registrations.js';
import { Health } from '../../../src/platform/http/health.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { TransferStatusChecks } from '../../../src/outbound/transfers/transfer-status-checks.service.js';
import { WebhookRegistrar } from '../../../src/webhooks/registration/webhook-registrar.service.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';
import { customer, pixSlip, slip, staticQr } from '../../contract/samples.js';
import {
  batchItem,
  internalTransfer,
  keyTransfer,
  manualTransfer,
} from '../../contract/transfer-samples.js';
import {
  changeField,
  changedAnswers,
  changes,
  pathsOf,
  type Change,
} from '../../support/changed-answers.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { partnerKey, serviceProcess } from '../../support/service-application.js';
import type { ServiceProcess } from '../../support/service-application.js';

const chapters = [
  ...[batches, bills, charges, customers, lookups, refunds, statement, qrs, teds, transfers],
];
const isRoute = (value: unknown): value is Route =>
  typeof value === 'object' && value !== null && 'path' in value && 'response' in value;
const allRoutes = [...chapters, registrations].flatMap((chapter) =>
  Object.values(chapter as Record<string, unknown>).filter(isRoute),
);

/** A request to the service that makes it call the bank's route. */
interface Flow {
  name: string;
  route: Route;
  /** The fields that a rule needs: amounts, and the ids that were sent or are used later. */
  needed: string[];
  /** Returns the status of the service's response. */
  request: () => Promise<number>;
}

describe('an answer of the bank', () => {
  let bank: SandboxUnderTest;
  let proxy: Awaited<ReturnType<typeof changedAnswers>>;
  let test: TestDatabase;
  let service: ServiceProcess;
  let accountId: number;

  beforeAll(async () => {
    bank = await sandboxUnderTest();
    proxy = await changedAnswers(await bank.application.getUrl());
    test = await testDatabase('service');
    service = await serviceProcess(test, proxy.url);
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
    await bank.call('PATCH', '/sandbox/modes', {
      body: { billPaymentHours: { open: 0, close: 24 } },
    });
  });
  afterAll(async () => {
    await service.stop();
    await test.drop();
    proxy.close();
    await bank.stop();
  });

  const get = <Service>(type: abstract new (...parameters: never[]) => Service): Service =>
    service.application.get(type as never, { strict: false });
  const call = async (method: string, path: string, body?: unknown, headers = {}) => {
    const response = await service.call(method, path, {
      ...(body === undefined ? {} : { body }),
      // What the bank answers is changed, and passed on.
      mayBeSpoiled: true,
      headers: {
        IdempotencyKey: randomUUID(),
        'Concilia-Allow-Duplicate': 'true',
        ...headers,
      },
    });
    return response.status;
  };
  const created = async (method: string, path: string, body: unknown) => {
    const options = { body, headers: { IdempotencyKey: randomUUID() } };
    return (await bank.call(method, path, options)).body;
  };
  const newCharge = async (): Promise<string> => {
    const body = slip();
    expect(await call('POST', charges.createCharge.path, body)).toBe(200);
    return body.correlationId;
  };
  const newBill = () =>
    created('POST', '/sandbox/bills', { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 80 });
  const payNewBill = async () => {
    const { barCode } = await newBill();
    return call('POST', bills.payBill.path, { barCode, amount: 80 });
  };
  const at = (route: Route, id: string) => route.path.replace(/\{\w+\}/, encodeURIComponent(id));
  const direct = async (route: Route, id: string) =>
    (
      await fetch(proxy.url + at(route, id), {
        method: route.method,
        headers: { 'x-service-api-key': 'sandbox-dev-key' },
      })
    ).status;
  const register = async () => {
    await get(WebhookRegistrar).register({ accountId });
    return 200;
  };
  const registrationId = async () =>
    (
      (await created('GET', registrations.listWebhookRegistrations.path, undefined))[0] as {
        id: string;
      }
    ).id;
  const transfersPath = transfers.createTransfer.path;

  const flows: Flow[] = [
    {
      name: 'a key look-up',
      route: lookups.lookUpPixKey,
      needed: ['endToEndId'],
      request: () => call('POST', lookups.lookUpPixKey.path, { key: 'maria@pessoa-dois.example' }),
    },
    {
      name: 'a transfer by key',
      route: transfers.createTransfer,
      needed: ['id', 'amount', 'endToEndId'],
      request: async () => {
        const { endToEndId } = await created('POST', lookups.lookUpPixKey.path, {
          key: 'maria@pessoa-dois.example',
        });
        return call('POST', transfersPath, keyTransfer(endToEndId, { amount: 0.01 }));
      },
    },
    {
      name: 'a transfer by account data',
      route: transfers.createTransfer,
      needed: ['id', 'amount'],
      request: () => call('POST', transfersPath, manualTransfer({ amount: 0.01 })),
    },
    {
      name: 'a transfer between accounts',
      route: transfers.createTransfer,
      needed: ['id', 'amount'],
      request: () => call('POST', transfersPath, internalTransfer({ amount: 0.01 })),
    },
    {
      name: 'a TED',
      route: teds.createTed,
      needed: ['id', 'amount'],
      request: () => call('POST', teds.createTed.path, manualTransfer({ amount: 0.01 })),
    },
    {
      name: 'a TED that is read',
      route: teds.getTed,
      needed: ['id', 'amount'],
      request: async () => {
        const { id } = await created('POST', teds.createTed.path, manualTransfer({ amount: 0.01 }));
        return call('GET', at(teds.getTed, id));
      },
    },
    {
      name: 'a batch',
      route: batches.createTransferBatch,
      needed: ['[].id', '[].amount'],
      request: () => call('POST', batches.createTransferBatch.path, [batchItem({ amount: 0.01 })]),
    },
    {
      name: 'a transfer that is read',
      route: transfers.getTransfer,
      needed: ['id', 'amount'],
      request: async () => {
        const { id } = await created('POST', transfersPath, manualTransfer({ amount: 0.01 }));
        return call('GET', at(transfers.getTransfer, id));
      },
    },
    {
      name: 'a slip',
      route: charges.createCharge,
      needed: ['correlationId', 'amount'],
      request: () => call('POST', charges.createCharge.path, slip()),
    },
    {
      name: 'a slip with a QR code',
      route: charges.createCharge,
      needed: ['correlationId', 'amount'],
      request: () => call('POST', charges.createCharge.path, pixSlip()),
    },
    {
      name: 'a static QR code',
      route: qrs.createStaticQr,
      needed: ['correlationId', 'amount'],
      request: () => call('POST', qrs.createStaticQr.path, staticQr()),
    },
    {
      name: 'a static QR code that is read',
      route: qrs.getStaticQr,
      needed: ['correlationId', 'amount'],
      request: async () => {
        const { correlationId } = await created('POST', qrs.createStaticQr.path, staticQr());
        return call('GET', at(qrs.getStaticQr, correlationId));
      },
    },
    {
      name: 'the payments of a static QR code',
      route: qrs.listStaticQrPayments,
      needed: [],
      request: async () => {
        const { correlationId } = await created('POST', qrs.createStaticQr.path, staticQr());
        await created('POST', '/sandbox/pix/received', { correlationId });
        return call('GET', at(qrs.listStaticQrPayments, correlationId));
      },
    },
    {
      name: 'a charge that is read',
      route: charges.getCharge,
      needed: ['correlationId'],
      request: async () => call('GET', at(charges.getCharge, await newCharge())),
    },
    {
      name: 'a list of charges',
      route: charges.listCharges,
      needed: [],
      request: () => call('GET', charges.listCharges.path),
    },
    {
      name: 'a charge that is paid',
      route: charges.payCharge,
      needed: [],
      request: async () => call('POST', at(charges.payCharge, await newCharge())),
    },
    {
      name: 'a charge that expires',
      route: charges.expireCharge,
      needed: [],
      request: async () => call('PUT', at(charges.expireCharge, await newCharge())),
    },
    {
      name: 'a new due date',
      route: charges.changeDueDate,
      needed: [],
      request: async () => {
        const body = { dueDate: slip().dueDate };
        return call('PATCH', at(charges.changeDueDate, await newCharge()), body);
      },
    },
    {
      name: 'a void',
      route: charges.voidCharge,
      needed: [],
      request: async () => call('POST', at(charges.voidCharge, await newCharge())),
    },
    {
      name: 'a bill that is read',
      route: bills.getBill,
      needed: ['status', 'paymentCalculation.chargedAmount'],
      request: async () => call('GET', at(bills.getBill, (await newBill()).barCode)),
    },
    {
      name: 'a bill before it is paid',
      route: bills.getBill,
      needed: ['status', 'paymentCalculation.chargedAmount', 'barCode'],
      request: payNewBill,
    },
    {
      name: 'a bill payment',
      route: bills.payBill,
      needed: ['id', 'paidAmount', 'barCode'],
      request: payNewBill,
    },
    {
      name: 'a refund',
      route: refunds.refundTransaction,
      needed: ['amount'],
      request: async () => {
        const { nsu } = await created('POST', '/sandbox/pix/received', { amount: 5 });
        await get(StatementSync).sync(accountId);
        const path = at(refunds.refundTransaction, String(nsu));
        return call('PUT', `${path}?filterBy=NSU`, { amount: 5 });
      },
    },
    {
      name: 'the statement',
      route: statement.listTransactions,
      needed: [],
      request: () => call('GET', `${statement.listTransactions.path}?limit=2`),
    },
    {
      name: 'the statement of v1',
      route: statement.listTransactionsV1,
      needed: [],
      request: () => call('GET', `${statement.listTransactionsV1.path}?limit=2`),
    },
    {
      name: 'the balance',
      route: statement.readBalances,
      needed: ['amountAvailable'],
      request: () => call('GET', statement.readBalances.path),
    },
    {
      name: 'a customer',
      route: customers.createCustomer,
      needed: [],
      request: () =>
        call('POST', customers.createCustomer.path, customer(), {
          'x-service-partner-key': partnerKey,
        }),
    },
    {
      name: 'a new webhook registration',
      route: registrations.createWebhookRegistration,
      needed: [],
      request: async () => {
        await bank.pool.query('DELETE FROM webhook_registration');
        return register();
      },
    },
    {
      name: 'a changed webhook registration',
      route: registrations.updateWebhookRegistration,
      needed: [],
      request: async () => {
        await bank.pool.query(`UPDATE webhook_registration SET "authorization" = 'x: y'`);
        return register();
      },
    },
    {
      name: 'the webhook registrations',
      route: registrations.listWebhookRegistrations,
      needed: ['[].id', '[].eventType', '[].url'],
      request: register,
    },
    {
      name: 'one webhook registration',
      route: registrations.getWebhookRegistration,
      needed: [],
      request: async () => direct(registrations.getWebhookRegistration, await registrationId()),
    },
    {
      name: 'a removed webhook registration',
      route: registrations.deleteWebhookRegistration,
      needed: [],
      request: async () => direct(registrations.deleteWebhookRegistration, await registrationId()),
    },
  ];
  const withRoutes = flows.map((flow) => [flow.name, flow] as const);
  const kinds = Object.keys(changes) as Change[];
  /** Where a field is needed, the object that holds it is, too. */
  const isNeeded = ({ needed }: Flow, path: string) =>
    needed.some((one) => one === path || one.startsWith(`${path}.`));

  it('is tested for each route of the contract', () => {
    const tested = new Set(flows.map(({ route }) => route.name));
    const untested = allRoutes.map(({ name }) => name).filter((name) => !tested.has(name));
    // Only the sandbox has it.
    expect(untested).toEqual(['readSandboxAccount']);
  });

  it.each(withRoutes)('needs no other fields than its rules do: %s', async (_, flow) => {
    const { route, request } = flow;
    expect(await proxy.whileChanged(route, () => undefined, request)).toBe(200);
    const answer = proxy.answerTo(route);
    const paths = pathsOf(JSON.parse(answer === '' ? 'null' : answer));
    for (const path of paths.filter((one) => !isNeeded(flow, one)))
      for (const change of kinds) {
        const json: unknown = JSON.parse(answer);
        changeField(json, path, change);
        const body = Buffer.from(JSON.stringify(json));
        const { outcome } = classifyResponse(route, { status: 200, body, date: null }, () => true);
        expect([path, change, outcome]).toEqual([path, change, 'success']);
      }
  });

  it.each(
    withRoutes.flatMap(([name, flow]) => kinds.map((change) => [name, change, flow] as const)),
  )('serves its caller with every other field changed: %s, %s', async (_, change, flow) => {
    const alter = (answer: unknown) => {
      const others = pathsOf(answer).filter((path) => !isNeeded(flow, path));
      for (const path of others.reverse()) changeField(answer, path, change);
    };
    expect(await proxy.whileChanged(flow.route, alter, flow.request)).toBe(200);
  });

  it.each([
    ['a transfer by key', ['amount', 'id', 'endToEndId']],
    ['a batch', ['[].amount', '[].id']],
    ['a slip', ['amount', 'correlationId']],
    ['a bill payment', ['paidAmount', 'id']],
    ['a refund', ['amount']],
  ])('is no success without what a rule needs: %s', async (name, needed) => {
    const flow = flows.find((one) => one.name === name)!;
    for (const path of needed) {
      const drop = (answer: unknown) => changeField(answer, path, 'dropped');
      expect([path, await proxy.whileChanged(flow.route, drop, flow.request)]).toEqual([path, 202]);
    }
  });

  it('has open types and ids that are numbers', async () => {
    const rename = (answer: unknown) =>
      [answer].flat().forEach((one) => Object.assign(one as object, { type: 'PIX_DYNAMIC' }));
    const list = () => call('GET', charges.listCharges.path);
    expect(await proxy.whileChanged(charges.listCharges, rename, list)).toBe(200);
    const pay = () => call('POST', charges.createCharge.path, pixSlip());
    expect(await proxy.whileChanged(charges.createCharge, rename, pay)).toBe(200);
    const number = (answer: unknown) => Object.assign(answer as object, { id: 7 });
    const send = () => call('POST', transfersPath, internalTransfer({ amount: 0.01 }));
    expect(await proxy.whileChanged(transfers.createTransfer, number, send)).toBe(200);
  });

  it('with one strange item in a list leaves the others readable', async () => {
    const strange = (answer: unknown) =>
      void (answer as unknown[]).unshift('novo', null, { id: 1 });
    for (const route of [charges.listCharges, statement.listTransactions])
      expect(await proxy.whileChanged(route, strange, () => call('GET', route.path))).toBe(200);
    await register();
    const listed = await proxy.whileChanged(
      registrations.listWebhookRegistrations,
      (answer) => {
        strange(answer);
        for (const one of answer as { id: unknown }[])
          if (typeof one === 'object' && one !== null) one.id = Number(`9${String(one.id).length}`);
      },
      () => get(WebhookRegistrar).list(accountId),
    );
    expect(new Set(listed.map(({ state }) => state))).toEqual(new Set(['registered']));
  });

  it('is read by a status check without what the check does not need', async () => {
    const { body } = await service.call('POST', transfersPath, {
      body: manualTransfer({ amount: 0.02 }),
      headers: { IdempotencyKey: randomUUID() },
    });
    const drop = (answer: unknown) => {
      const kept = ['id', 'amount', 'status'];
      for (const path of pathsOf(answer)
        .filter((one) => !kept.includes(one))
        .reverse())
        changeField(answer, path, 'null');
    };
    await bank.call('POST', '/sandbox/clock', { body: { advance: 'PT1M' } });
    await service.database.pool.query('UPDATE transfer SET next_check_at = now()');
    await proxy.whileChanged(transfers.getTransfer, drop, () =>
      get(TransferStatusChecks).check({ accountId }),
    );
    const read = await service.call('GET', `/v1/transfers/${body.id}`);
    expect(read.body).toMatchObject({ state: 'effective', bankStatus: 'PIX_EFFECTIVE' });
  });

  it('that fails a registration is shown until one succeeds', async () => {
    const shown = async () => {
      const { body } = await service.call('GET', '/v1/summary');
      const { warnings } = (await get(Health).examine()).facts;
      return [
        body.webhooks.registrationFailure,
        warnings.filter((warning) => /registered webhooks/.test(warning)),
      ];
    };
    await bank.call('POST', '/sandbox/faults', {
      body: { endpoint: '*', method: 'GET', kind: 'error-before-effect', times: 1 },
    });
    await expect(register()).rejects.toMatchObject({ code: 'bank_refused' });
    expect(await shown()).toEqual([
      'bank_error',
      ['Bank accounts without registered webhooks: 1.'],
    ]);
    await register();
    expect(await shown()).toEqual([null, []]);
  });
});
