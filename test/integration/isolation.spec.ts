// Every route that the service serves, whoever wrote it: nothing without a key, nothing without its scope, and
// nothing of another account's, neither to see nor to change.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scopes, type Scope } from '../../src/accounts/scopes.js';
import type { Route } from '../../src/contract/route.js';
import { EventsService } from '../../src/events/events.service.js';
import { servedRoutes } from '../../src/platform/api-reference.js';
import { customer, slip } from '../contract/samples.js';
import { manual } from '../contract/transfer-samples.js';
import { exportedThings } from '../support/exported-things.js';
import { hasBody, queryNames } from '../support/route-parts.js';
import * as application from '../support/service-application.js';
import { makeOutcomes } from '../support/isolated-outcomes.js';
import { isolatedRule } from '../support/isolated-rules.js';
import { dayCloseOf } from '../support/isolation-book.js';
import type { ServiceApplication } from '../support/service-application.js';
import { setLineAside } from '../support/statement-things.js';
import { runOfA } from '../support/isolation-runs.js';

const { adminKey, apiKey, partnerKey, serviceApplication } = application;
const ours = { 'api-key': 'x-service-api-key', 'partner-key': 'x-service-partner-key' } as const;

describe('the doors of the service', () => {
  let service: ServiceApplication;
  let routes: Route[];
  let accountId: number;
  /** Keys of account B, one for each scope and one for all, and a partner's. */
  const keys = new Map<Scope | 'all' | 'partner', string>();
  /** What A has: by the path up to the parameter, what stands in its place. */
  const ids = new Map<string, string>();
  /** Bodies that are good but for whose things they are about, by route name; an empty object otherwise. */
  const bodies: Record<string, unknown> = {};
  /** Queries that routes need, by their name. */
  const queries: Record<string, string> = {};
  /** What must not be seen by B, wherever it stands. */
  const canaries: string[] = [];
  /** Query parameters that name a thing, and a thing of A's. */
  const queryIds: Record<string, string> = {};

  beforeAll(async () => {
    service = await serviceApplication();
    routes = servedRoutes(service.application);
    ({ id: accountId } = await service.database.prisma.bankAccount.findUniqueOrThrow({
      where: { slug: 'main' },
    }));
    await makeAccountB();
    await makeThingsOfA();
  });
  afterAll(() => service.stop());

  async function makeAccountB() {
    const asOperator = (path: string, body: unknown) =>
      service.call('POST', path, { body, apiKey: adminKey });
    const credentials = { apiKey: 'sandbox-dev-key-2', partnerKey: 'sandbox-dev-partner' };
    await asOperator('/v1/accounts', { slug: 'b', credentials });
    const make = async (
      name: Scope | 'all' | 'partner',
      kind: string,
      asked: readonly string[],
    ) => {
      const made = await asOperator('/v1/accounts/b/keys', { name, kind, scopes: asked });
      keys.set(name, made.body.key as string);
    };
    for (const scope of scopes) await make(scope, 'api', [scope]);
    await make('all', 'api', scopes);
    await make('partner', 'partner', ['onboard']);
  }

  async function makeThingsOfA() {
    const correlationId = 'isolation-canary-1';
    const charge = await service.call('POST', '/baas/v1/charges', {
      body: slip({ correlationId }),
    });
    expect(charge.status).toBe(200);
    const operations = await service.call('GET', '/v1/operations');
    const operationId = operations.body.data[0].id as string;
    const endpoint = await service.call('POST', '/v1/webhook-endpoints', {
      body: { url: `${service.url}/events` },
    });
    const endpointId = endpoint.body.id as string;
    await service.database.transaction((tx) =>
      service.application
        .get(EventsService)
        .record(tx, accountId, [{ type: 'charge.paid', data: { correlationId } }]),
    );
    await makeMoneyOutOfA();
    const delivery = await service.database.prisma.delivery.findFirstOrThrow();
    const exported = await exportedThings(service, accountId, canaries);
    const { breakId, matchId } = await makeOutcomes(service.database, accountId, bodies);
    const dayClose = await dayCloseOf(service.database, accountId);
    for (const [place, id] of [
      ...exported,
      ['/v1/charges/', correlationId],
      ['/v1/day-closes/', dayClose.date],
      ['/baas/v1/charges/', correlationId],
      ['/v1/operations/', operationId],
      ['/v1/webhook-endpoints/', endpointId],
      ['/v1/deliveries/', delivery.id],
      ['/v1/breaks/', breakId],
      await setLineAside(service.database.pool, accountId),
      ['/v1/matches/', matchId],
    ] as const)
      ids.set(place, id);
    const rule = await isolatedRule(service);
    for (const [place, id] of rule.ids) ids.set(place, id);
    Object.assign(bodies, rule.bodies);
    canaries.push(...rule.canaries);
    const { eventId } = delivery;
    canaries.push(correlationId, operationId, endpointId, delivery.id, eventId, breakId, matchId);
    canaries.push(dayClose.hash);
    Object.assign(queryIds, { operationId, endpointId, eventId, reference: correlationId });
  }

  /** Money that A has sent, and what A has asked for besides. */
  async function makeMoneyOutOfA() {
    const key = { IdempotencyKey: 'isolation-canary-key' };
    const post = async (path: string, body: unknown, headers: Record<string, string> = key) => {
      const answer = await service.call('POST', path, { body, headers });
      expect([path, Math.floor(answer.status / 100)]).toEqual([path, 2]);
      return answer;
    };
    await post('/baas/api/v2/transfers', manual());
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
    const newest = async (path: string) =>
      (await service.call('GET', path)).body.data[0].id as string;
    const [onboarding] = await service.database.prisma.customer.findMany();
    for (const [place, id] of [
      ...(await runOfA(service)),
      ['/v1/transfers/', await newest('/v1/transfers')],
      ['/v1/bill-payments/', await newest('/v1/bill-payments')],
      ['/v1/refunds/', await newest('/v1/refunds')],
      ['/v1/customers/', onboarding?.id ?? ''],
      ['/v1/bulk/', bulk.body.id as string],
      ['/baas/api/v1/transactions/', endToEndId as string],
    ] as const) {
      ids.set(place, id);
      canaries.push(id);
    }
    queries.refundTransaction = 'filterBy=END_TO_END_ID';
    bodies.refundTransaction = { amount: 0.01 };
    Object.assign(queryIds, { endToEndId });
  }

  /** A bill is in the bank's register, and nobody's. */
  const isOfAnAccount = ({ name, path }: Route) => path.includes('{') && name !== 'getBill';
  const businessRoutes = () =>
    routes.filter(({ authentication }) => authentication in ours) as (Route & {
      authentication: keyof typeof ours;
    })[];
  const ask = (route: Route, path: string, headers: Record<string, string>, body?: unknown) =>
    service.call(route.method, path, {
      apiKey: null,
      headers: { ...headers, IdempotencyKey: `isolation-${route.name}` },
      ...(hasBody(route) ? { body: body ?? {} } : {}),
    });
  const shown = (route: Route, key: string) => ({
    [ours[route.authentication as keyof typeof ours]]: key,
  });
  const keyOfAll = (route: Route) =>
    keys.get(route.authentication === 'partner-key' ? 'partner' : 'all') ?? '';

  /** The route's path with things of A's in it. */
  function pathOfA(route: Route): string {
    const path = route.path.replace(/\{(\w+)\}/g, (_, name: string, at: number) => {
      const id = ids.get(route.path.slice(0, at));
      if (id === undefined) throw new Error(`teach me an id for {${name}} of ${route.path}`);
      return encodeURIComponent(id);
    });
    const query = queries[route.name];
    return query === undefined ? path : `${path}?${query}`;
  }

  it('are many', () => expect(businessRoutes().length).toBeGreaterThan(20));

  it('let in nobody without a key, or with a key that is none', async () => {
    for (const route of routes.filter(({ authentication }) => authentication !== 'none')) {
      const path = route.path.replace(/\{\w+\}/g, 'x');
      const wrong = { 'x-service-api-key': 'wrong', 'x-service-partner-key': 'wrong' };
      const statuses = [
        (await ask(route, path, {})).status,
        (await ask(route, path, wrong)).status,
      ];
      expect([route.name, ...statuses]).toEqual([route.name, 401, 401]);
    }
  });

  it('let in the operator where the operator works, and nobody else there', async () => {
    for (const route of routes.filter(({ authentication }) => authentication === 'admin-key')) {
      const path = route.path.replace(/\{\w+\}/g, 'x');
      const business = { 'x-service-api-key': keys.get('all') ?? '' };
      const partners = { 'x-service-partner-key': keys.get('partner') ?? '' };
      const statuses = [
        (await ask(route, path, business)).status,
        (await ask(route, path, partners)).status,
      ];
      expect([route.name, ...statuses]).toEqual([route.name, 403, 403]);
    }
    for (const route of businessRoutes()) {
      const path = route.path.replace(/\{\w+\}/g, 'x');
      const { status } = await ask(route, path, shown(route, adminKey));
      expect([route.name, status]).toEqual([route.name, 403]);
    }
  });

  it('take one scope each, which for reading is read', async () => {
    for (const route of businessRoutes()) {
      const path = route.path.replace(/\{\w+\}/g, 'x');
      if (route.authentication === 'partner-key') {
        const { status } = await ask(route, path, shown(route, keys.get('all') ?? ''));
        expect([route.name, status]).toEqual([route.name, 401]);
        continue;
      }
      const admitted: Scope[] = [];
      for (const scope of scopes) {
        const { status } = await ask(route, path, shown(route, keys.get(scope) ?? ''));
        expect(status).not.toBe(401);
        if (status !== 403) admitted.push(scope);
      }
      expect([route.name, admitted.length]).toEqual([route.name, 1]);
      if (route.method === 'GET') expect([route.name, ...admitted]).toEqual([route.name, 'read']);
    }
  });

  it('show A its own things: what follows is not true of nothing', async () => {
    for (const route of businessRoutes().filter((one) => isOfAnAccount(one))) {
      if (route.method !== 'GET') continue;
      const key = route.authentication === 'partner-key' ? partnerKey : apiKey;
      const { status } = await ask(route, pathOfA(route), shown(route, key));
      expect([route.name, status]).toEqual([route.name, 200]);
    }
  });

  it('answer 404 to B for each thing of A’s, and nothing of A changes', async () => {
    const before = await everythingOfA();
    for (const route of businessRoutes().filter((one) => isOfAnAccount(one))) {
      const [path, headers] = [pathOfA(route), shown(route, keyOfAll(route))];
      const { status, text } = await ask(route, path, headers, bodies[route.name]);
      if (status === 400) throw new Error(`teach me a body for ${route.name}: ${text}`);
      expect([route.name, status]).toEqual([route.name, 404]);
    }
    expect(await everythingOfA()).toEqual(before);
  });

  it('list nothing of A’s to B, also when B asks for it by name', async () => {
    for (const route of businessRoutes().filter(
      ({ method, path }) => method === 'GET' && !path.includes('{'),
    )) {
      const named = queryNames(route)
        .filter((name) => name in queryIds)
        .map((name) => `${name}=${encodeURIComponent(queryIds[name] ?? '')}`);
      for (const query of ['', ...named]) {
        const path = `${route.path}?${query}`;
        const { status, text } = await ask(route, path, shown(route, keyOfAll(route)));
        expect([route.name, query, status]).not.toEqual([route.name, query, 500]);
        for (const canary of canaries)
          expect([route.name, text]).not.toEqual([route.name, expect.stringContaining(canary)]);
      }
    }
  });

  /** Each row that the database has for A, by table. */
  async function everythingOfA(): Promise<Record<string, unknown>> {
    const { pool } = service.database;
    const { rows: tables } = await pool.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name = 'account_id' ORDER BY 1`,
    );
    const found: Record<string, unknown> = {};
    for (const { name } of tables) {
      const sql = `SELECT to_jsonb(t) AS row FROM "${name}" t WHERE account_id = $1 ORDER BY t::text`;
      found[name] = (await pool.query(sql, [accountId])).rows;
    }
    return found;
  }
});
