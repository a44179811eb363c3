// Every route that the service serves: it requires a key and a scope, and neither shows nor changes
// data of another account.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scopes, type Scope } from '../../../src/access/accounts/scope.decorator.js';
import type { Route } from '../../../src/bank-contract/route.js';
import { EventsService } from '../../../src/events/events.service.js';
import { servedRoutes } from '../../../src/platform/http/api-reference.js';
import { customer, dayFromToday, slip, staticQr } from '../../contract/samples.js';
import { manualTransfer } from '../../contract/transfer-samples.js';
import { insertLineForExports } from '../../support/exported-statement.js';
import * as application from '../../support/service-application.js';
import {
  createAlertOfA,
  createRuleOfA,
  insertBreakAndMatch,
  insertDayCloseOf,
  insertDisputeOf,
  queryNamesOf,
  routeHasBody,
  startRunOfA,
} from '../../support/isolation-fixtures.js';
import type { ServiceApplication } from '../../support/service-application.js';
import { insertUnreadableLine } from '../../support/unreadable-lines.js';

const { adminKey, apiKey, partnerKey, serviceApplication } = application;
const keyHeaders = {
  'api-key': 'x-service-api-key',
  'partner-key': 'x-service-partner-key',
} as const;

const declarationOfA = {
  ...{ externalId: 'fatura-0612', direction: 'debit', amount: 1, dateFrom: '2026-06-05' },
};
const relayOfA = { eventType: 'CHARGE_PAID', authorizationScheme: 'NONE' };

describe('the routes of the service', () => {
  let service: ServiceApplication;
  let routes: Route[];
  let accountId: number;
  /** API keys of account B: one per scope, one with all scopes, and a partner key. */
  const keys = new Map<Scope | 'all' | 'partner', string>();
  /** Ids of A's objects, by the path up to the parameter. */
  const ids = new Map<string, string>();
  /** Valid bodies, by route name; a route without an entry gets an empty object. */
  const bodies: Record<string, unknown> = {};
  /** Required queries, by route name. */
  const queries: Record<string, string> = { proveLine: 'nsu=1' };
  /** Texts of A's objects that no response to B may contain. */
  const canaries: string[] = [];
  /** Ids of A's objects, by the query parameter that filters by them. */
  const queryIds: Record<string, string> = {};

  beforeAll(async () => {
    service = await serviceApplication();
    routes = servedRoutes(service.application);
    ({ id: accountId } = await service.database.prisma.bankAccount.findUniqueOrThrow({
      where: { slug: 'main' },
    }));
    await createAccountB();
    await createObjectsOfA();
  }, 120_000);
  afterAll(() => service.stop());

  async function createAccountB() {
    const asOperator = (path: string, body: unknown) =>
      service.call('POST', path, { body, apiKey: adminKey });
    const credentials = { apiKey: 'sandbox-dev-key-2', partnerKey: 'sandbox-dev-partner' };
    await asOperator('/v1/accounts', { slug: 'b', credentials });
    const createKey = async (
      name: Scope | 'all' | 'partner',
      kind: string,
      granted: readonly string[],
    ) => {
      const created = await asOperator('/v1/accounts/b/keys', { name, kind, scopes: granted });
      keys.set(name, created.body.key as string);
    };
    for (const scope of scopes) await createKey(scope, 'api', [scope]);
    await createKey('all', 'api', scopes);
    await createKey('partner', 'partner', ['onboard']);
  }

  async function createObjectsOfA() {
    const correlationId = 'isolation-canary-1';
    const charge = await service.call('POST', '/baas/v1/charges', {
      body: slip({ correlationId }),
    });
    expect(charge.status).toBe(200);
    const operations = await service.call('GET', '/v1/operations');
    const operationId = operations.body.data[0].id as string;
    const endpoint = await service.call('POST', '/v1/webhook-endpoints', {
      body: { url: 'http://127.0.0.1:4000/events' },
    });
    const endpointId = endpoint.body.id as string;
    const relay = await service.call('POST', '/baas/api/v1/webhooks', {
      body: { ...relayOfA, url: 'http://127.0.0.1:4000/relayed' },
    });
    const resource = { kind: 'charge', id: correlationId } as const;
    await service.database.transaction(async (tx) =>
      service.application
        .get(EventsService)
        .record(tx, accountId, [{ type: 'charge.paid', resource, data: { correlationId } }]),
    );
    await sendMoneyOfA();
    const delivery = await service.database.prisma.delivery.findFirstOrThrow();
    const exported = await insertLineForExports(service, accountId, canaries);
    const { breakId, matchId } = await insertBreakAndMatch(service.database, accountId, bodies);
    const dayClose = await insertDayCloseOf(service.database, accountId);
    for (const [pathPrefix, id] of [
      ...exported,
      ['/v1/charges/', correlationId],
      ['/v1/day-closes/', dayClose.date],
      ['/baas/v1/charges/', correlationId],
      ['/v1/operations/', operationId],
      ['/v1/webhook-endpoints/', endpointId],
      ['/v1/deliveries/', delivery.id],
      ['/baas/api/v1/webhooks/', relay.body.id as string],
      ['/v1/breaks/', breakId],
      await insertUnreadableLine(service.database.pool, accountId),
      ['/v1/matches/', matchId],
      await insertDisputeOf(service.database, accountId),
    ] as const)
      ids.set(pathPrefix, id);
    Object.assign(bodies, {
      acceptMonthItem: { item: 'breaks_resolved', count: 1, amount: 1, reason: 'teste' },
      signMonth: { as: 'prepare', figuresHash: 'a'.repeat(64) },
      reopenMonth: { reason: 'teste' },
    });
    const rule = await createRuleOfA(service);
    for (const [pathPrefix, id] of rule.ids) ids.set(pathPrefix, id);
    Object.assign(bodies, rule.bodies);
    canaries.push(...rule.canaries);
    const alert = await createAlertOfA(service, accountId, bodies);
    for (const [pathPrefix, id] of alert.ids) ids.set(pathPrefix, id);
    canaries.push(...alert.ids.map(([, id]) => id));
    Object.assign(queryIds, alert.queryIds);
    const { eventId } = delivery;
    canaries.push(correlationId, operationId, endpointId, delivery.id, eventId, breakId, matchId);
    canaries.push(dayClose.hash);
    Object.assign(queryIds, { operationId, endpointId, eventId, reference: correlationId });
  }

  /** Sends money of A, and makes the other requests of A. */
  async function sendMoneyOfA() {
    const key = { IdempotencyKey: 'isolation-canary-key' };
    const post = async (path: string, body: unknown, headers: Record<string, string> = key) => {
      const response = await service.call('POST', path, { body, headers });
      expect([path, Math.floor(response.status / 100)]).toEqual([path, 2]);
      return response;
    };
    const ted = await post('/baas/api/v2/transfers/ted', manualTransfer());
    const qr = await post('/baas/api/v2/pix/qrcode/static', staticQr());
    await post('/baas/api/v2/transfers', manualTransfer({ amount: 3.5 }));
    const { body: fixtures } = await service.sandbox.call('GET', '/sandbox/fixtures');
    const { barCode } = fixtures.bills.find(
      (bill: { status: string; isAllowPartialPayment: boolean }) =>
        bill.status === 'PENDING_PAYMENT' && !bill.isAllowPartialPayment,
    );
    const bill = await service.call('GET', `/baas/api/v1/bill-payments/${barCode}`);
    const amount = bill.body.paymentCalculation.chargedAmount as number;
    await post('/baas/api/v1/bill-payments', { amount, barCode });
    const received = await service.sandbox.call('POST', '/sandbox/pix/received', {
      body: { amount: 5 },
    });
    const { endToEndId } = received.body;
    const refundPath = `/baas/api/v1/transactions/${endToEndId}/refund?filterBy=END_TO_END_ID`;
    const refund = await service.call('PUT', refundPath, { body: { amount: 1 } });
    expect(refund.status).toBe(200);
    const asPartner = { ...key, 'x-service-partner-key': partnerKey };
    await post('/v1/customers', customer(), asPartner);
    const rows = { ...key, 'content-type': 'application/x-ndjson' };
    const bulk = await post('/v1/charges/bulk', JSON.stringify(slip({})), rows);
    const declared = await post('/v1/expected-payments', declarationOfA);
    bodies.amendExpectedPayment = { reason: 'canary' };
    bodies.cancelExpectedPayment = { reason: 'canary' };
    const newest = async (path: string) =>
      (await service.call('GET', path)).body.data[0].id as string;
    const [onboarding] = await service.database.prisma.customer.findMany();
    for (const [pathPrefix, id] of [
      ...(await startRunOfA(service)),
      ['/v1/transfers/', await newest('/v1/transfers')],
      ['/baas/api/v2/transfers/', await newest('/v1/transfers')],
      ['/baas/api/v2/transfers/ted/', ted.body.id as string],
      ['/baas/api/v2/pix/qrcode/static/', qr.body.correlationId as string],
      ['/v1/bill-payments/', await newest('/v1/bill-payments')],
      ['/v1/refunds/', await newest('/v1/refunds')],
      ['/v1/customers/', onboarding?.id ?? ''],
      ['/v1/bulk/', bulk.body.id as string],
      ['/v1/expected-payments/', declared.body.id as string],
      ['/baas/api/v1/transactions/', endToEndId as string],
    ] as const) {
      ids.set(pathPrefix, id);
      canaries.push(id);
    }
    queries.refundTransaction = 'filterBy=END_TO_END_ID';
    bodies.refundTransaction = { amount: 0.01 };
    bodies.decideOperation = { decision: 'decline', reason: 'canary' };
    bodies.decideBulkUpload = { decision: 'decline', reason: 'canary' };
    bodies.changeChargeDueDate = { dueDate: dayFromToday(5) };
    Object.assign(queryIds, { endToEndId });
  }

  /** A bill is in the bank's register; a reason code is added to the account of the caller. */
  const belongsToAccount = ({ name, path }: Route) =>
    path.includes('{') && !['getBill', 'changeReasonCode'].includes(name);
  const businessRoutes = () =>
    routes.filter(({ authentication }) => authentication in keyHeaders) as (Route & {
      authentication: keyof typeof keyHeaders;
    })[];
  const callRoute = (route: Route, path: string, headers: Record<string, string>, body?: unknown) =>
    service.call(route.method, path, {
      apiKey: null,
      headers: { ...headers, IdempotencyKey: randomUUID() },
      ...(routeHasBody(route) ? { body: body ?? {} } : {}),
    });
  const keyHeader = (route: Route, key: string) => ({
    [keyHeaders[route.authentication as keyof typeof keyHeaders]]: key,
  });
  const keyWithAllScopes = (route: Route) =>
    keys.get(route.authentication === 'partner-key' ? 'partner' : 'all') ?? '';

  /** The route's path with the ids of A's objects. */
  function pathOfA(route: Route): string {
    const path = route.path.replace(/\{(\w+)\}/g, (_, name: string, at: number) => {
      const id = ids.get(route.path.slice(0, at));
      if (id === undefined)
        throw new Error(`add an id for {${name}} of ${route.path} to this test`);
      return encodeURIComponent(id);
    });
    const query = queries[route.name];
    return query === undefined ? path : `${path}?${query}`;
  }

  it('are more than twenty', () => expect(businessRoutes().length).toBeGreaterThan(20));

  it('return 401 without a key and with a wrong key', async () => {
    // At once, because the response to each is held for a second.
    const answer = async (route: Route) => {
      const path = route.path.replace(/\{\w+\}/g, 'x');
      const wrong = { 'x-service-api-key': 'wrong', 'x-service-partner-key': 'wrong' };
      const responses = [callRoute(route, path, {}), callRoute(route, path, wrong)];
      return [route.name, ...(await Promise.all(responses)).map(({ status }) => status)];
    };
    const guarded = routes.filter(({ authentication }) => authentication !== 'none');
    expect(await Promise.all(guarded.map(answer))).toEqual(
      guarded.map(({ name }) => [name, 401, 401]),
    );
  });

  it('accept only the admin key on operator routes, and no admin key on the others', async () => {
    for (const route of routes.filter(({ authentication }) => authentication === 'admin-key')) {
      const path = route.path.replace(/\{\w+\}/g, 'x');
      const apiKeyHeaders = { 'x-service-api-key': keys.get('all') ?? '' };
      const partnerKeyHeaders = { 'x-service-partner-key': keys.get('partner') ?? '' };
      const statuses = [
        (await callRoute(route, path, apiKeyHeaders)).status,
        (await callRoute(route, path, partnerKeyHeaders)).status,
      ];
      expect([route.name, ...statuses]).toEqual([route.name, 403, 403]);
    }
    for (const route of businessRoutes()) {
      const path = route.path.replace(/\{\w+\}/g, 'x');
      const { status } = await callRoute(route, path, keyHeader(route, adminKey));
      expect([route.name, status]).toEqual([route.name, 403]);
    }
  });

  it('require exactly one scope each: webhooks for endpoints, otherwise read for GET', async () => {
    for (const route of businessRoutes()) {
      const path = route.path.replace(/\{\w+\}/g, 'x');
      if (route.authentication === 'partner-key') {
        const { status } = await callRoute(route, path, keyHeader(route, keys.get('all') ?? ''));
        expect([route.name, status]).toEqual([route.name, 401]);
        continue;
      }
      const statusOf = async (scope: Scope) =>
        (await callRoute(route, path, keyHeader(route, keys.get(scope) ?? ''))).status;
      const statuses = await Promise.all(scopes.map(statusOf));
      expect(statuses).not.toContain(401);
      const admitted = scopes.filter((_, index) => statuses[index] !== 403);
      expect([route.name, admitted.length]).toEqual([route.name, 1]);
      const isOfEndpoints = /webhook-endpoints|deliveries.*replay|v1\/webhooks/.test(route.path);
      const isOfRights = ['exportDecisions', 'getAuditorPack'].includes(route.name);
      const required = isOfEndpoints ? 'webhooks' : isOfRights ? 'personal-data' : 'read';
      if (isOfEndpoints || route.method === 'GET')
        expect([route.name, ...admitted]).toEqual([route.name, required]);
    }
  });

  it('return the objects of A to A, so that the 404s below prove isolation', async () => {
    for (const route of businessRoutes().filter((one) => belongsToAccount(one))) {
      if (route.method !== 'GET') continue;
      const key = route.authentication === 'partner-key' ? partnerKey : apiKey;
      const { status } = await callRoute(route, pathOfA(route), keyHeader(route, key));
      expect([route.name, status]).toEqual([route.name, 200]);
    }
  });

  it('return 404 to B for each object of A, and change nothing of A', async () => {
    const before = await rowsOfA();
    for (const route of businessRoutes().filter((one) => belongsToAccount(one))) {
      const [path, headers] = [pathOfA(route), keyHeader(route, keyWithAllScopes(route))];
      const { status, text } = await callRoute(route, path, headers, bodies[route.name]);
      if (status === 400) throw new Error(`add a body for ${route.name} to this test: ${text}`);
      expect([route.name, status]).toEqual([route.name, 404]);
    }
    expect(await rowsOfA()).toEqual(before);
  });

  it('list nothing of A to B, also when B filters by the ids of A', async () => {
    for (const route of businessRoutes().filter(
      ({ method, path }) => method === 'GET' && !path.includes('{'),
    )) {
      const idFilters = queryNamesOf(route)
        .filter((name) => name in queryIds)
        .map((name) => `${name}=${encodeURIComponent(queryIds[name] ?? '')}`);
      for (const query of ['', ...idFilters]) {
        const path = `${route.path}?${query}`;
        const { status, text } = await callRoute(
          route,
          path,
          keyHeader(route, keyWithAllScopes(route)),
        );
        expect([route.name, query, status]).not.toEqual([route.name, query, 500]);
        for (const canary of canaries)
          expect([route.name, text]).not.toEqual([route.name, expect.stringContaining(canary)]);
      }
    }
  });

  /** Every row of A in the database, by table. */
  async function rowsOfA(): Promise<Record<string, unknown>> {
    const { pool } = service.database;
    const { rows: tables } = await pool.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name = 'account_id' ORDER BY 1`,
    );
    const rowsByTable: Record<string, unknown> = {};
    for (const { name } of tables) {
      const sql = `
        SELECT to_jsonb(t) AS row FROM "${name}" t
        WHERE account_id = $1
        ORDER BY t::text`;
      rowsByTable[name] = (await pool.query(sql, [accountId])).rows;
    }
    return rowsByTable;
  }
});
