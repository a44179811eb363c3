// Every route, file and page, as a caller without the scope `personal-data` gets it: none shows the
// person whom objects of each kind name.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scopes } from '../../../src/access/accounts/scope.decorator.js';
import { servedRoutes } from '../../../src/platform/http/api-reference.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { DayClosing } from '../../../src/reporting/day-closes/day-closing.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { Notices } from '../../../src/webhooks/processing/notices.service.js';
import { WebhookInbox } from '../../../src/webhooks/inbox/webhook-inbox.service.js';
import { exampleAddress, listConsoleHandlers } from '../../support/console-handlers.js';
import { signedInPerson, type SignedIn } from '../../support/console-visitor.js';
import { operatorOf } from '../../support/operator.js';
import { sampleChargeRequest } from '../../support/payments.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { storeRawLine } from '../../support/stored-line.js';

const ana = {
  ...{ name: 'Zuleika Quaresma', document: '52998224725', email: 'zuleika@canario.example' },
  ...{ phone: '5511987650123', street: 'Rua do Canário', number: '77665544', branch: '0001' },
};
const canaries =
  /zuleika|quaresma|canario\.example|canário|52998224725|529\.982\.247-25|7766-?5544|987650123/i;
const otherBank = { ispb: '60701190', name: 'OUTRO BANCO' };
const party = {
  ...{ number: ana.number, branch: ana.branch, type: 'CURRENT', participant: otherBank },
  holder: { document: ana.document, name: ana.name, type: 'NATURAL' },
};

let service: ServiceApplication;
let account: { id: number; goLiveAt: Date | null };
let viewer: SignedIn;
let key: string;
/** Ids of every kind, for whatever a path asks for. */
let ids: string[];

const { createKey, asOperator } = operatorOf(() => service);
const query = async <Row>(sql: string, ...values: unknown[]): Promise<Row[]> =>
  (await service.database.pool.query(sql, values)).rows as Row[];
const provider = <Provider>(type: new (...args: never[]) => Provider) =>
  service.application.get<Provider>(type, { strict: false });

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const all = { IdempotencyKey: randomUUID(), ...headers };
  const response = await service.call('POST', path, { body, headers: all });
  expect([path, response.status < 300, response.status < 300 || response.text]).toEqual([
    ...[path, true, true],
  ]);
  return response;
}

/** Requests of each kind that name the person. */
async function requestAll() {
  const transfer = (changes: object = {}) => ({
    ...{ amount: 2.5, description: 'Nota 7' },
    beneficiary: {
      ...{ number: ana.number, branch: ana.branch, type: 'CURRENT' },
      ...{ participantIspb: otherBank.ispb, holder: party.holder },
    },
    ...changes,
  });
  await post('/baas/api/v2/transfers', transfer());
  const policy = { aboveAmount: 3, kinds: [], approvals: 1 };
  expect((await service.call('PUT', '/v1/approval-policy', { body: policy })).status).toBe(200);
  await post('/baas/api/v2/transfers', transfer({ amount: 4 }));
  const rows = { 'content-type': 'application/x-ndjson' };
  const row = JSON.stringify(transfer({ amount: 5, externalId: 'bulk-1' }));
  await post('/v1/transfers/bulk', `${row}\n`, rows);
  const payer = { name: ana.name, document: ana.document };
  await post('/baas/v1/charges', { ...sampleChargeRequest('canary-charge', 12.34), payer });
  await post('/v1/expected-payments', {
    ...{ externalId: 'canary-declared', direction: 'debit', amount: 1, dateFrom: '2026-06-05' },
    counterparty: { taxId: ana.document, name: ana.name },
  });
  const rule = (name: string, when: object) => ({
    ...{ name, when, priority: 10, reason: 'canary' },
    then: { classify: 'ignored', reason: 'canary' },
  });
  await post('/v1/rules', rule('by document', { document: ana.document }));
  const account = { ispb: otherBank.ispb, branch: ana.branch, number: ana.number };
  await post('/v1/rules', rule('by account', { counterparty: account }));
  const added = await asOperator('POST', '/v1/accounts/main/beneficiaries', {
    ...{ name: ana.name, account, actor: 'ops', reason: 'canary' },
  });
  expect(added.status).toBe(201);
  await post('/v1/webhook-endpoints', { url: 'http://127.0.0.1:4000/events' });
}

/** What the bank says of the person: lines, two of them explained, a dispute, and webhooks. */
async function receiveAll() {
  const payer = { name: ana.name, document: ana.document };
  const { body: paid } = await service.sandbox.call('POST', '/sandbox/pix/received', {
    body: { amount: 12.34, payer, correlationId: 'canary-charge' },
  });
  await provider(StatementSync).sync(account.id);
  const proof = { payer: party, beneficiary: party };
  const notes = `Pix de ${ana.name} ${ana.document} ${ana.phone} ${ana.email}`;
  await storeRawLine(service, account.id, 8_000_001, { amount: 3, notes, proof });
  await storeRawLine(service, account.id, 8_000_002, { amount: 2.5, notes, proof }, false);
  await storeRawLine(service, account.id, 8_000_003, { amount: 4, notes, proof }, false);
  const body = { amount: 9, nsu: 8_000_001, payer: party, beneficiary: party, notes };
  const inbox = provider(WebhookInbox);
  await inbox.store(account.id, 'PIX_RECEIVED', Buffer.from(JSON.stringify(body)));
  await inbox.store(account.id, 'UNHEARD_OF', Buffer.from(JSON.stringify(body)));
  const dispute = { ...body, endToEndId: paid.endToEndId };
  await inbox.store(account.id, 'MED_REQUESTED', Buffer.from(JSON.stringify(dispute)));
  await provider(Notices).handle({ accountId: account.id });
  await provider(ReconciliationService).reconcile({ accountId: account.id });
  await provider(DayClosing).close({ ...account, goLiveAt: account.goLiveAt! });
}

async function listIds(): Promise<string[]> {
  const columns = await query<{ table: string; column: string }>(
    `SELECT c.table_name AS table, c.column_name AS column
     FROM information_schema.columns c JOIN pg_tables t ON t.tablename = c.table_name
     WHERE t.schemaname = 'public' AND c.table_schema = 'public'
       AND (c.column_name = 'id' AND c.data_type = 'uuid'
         OR c.column_name IN ('correlation_id', 'end_to_end_id'))`,
  );
  const found = new Set<string>();
  for (const { table, column } of columns)
    for (const { id } of await query<{ id: string }>(
      `SELECT DISTINCT "${column}"::text AS id FROM "${table}"
       WHERE "${column}" IS NOT NULL ORDER BY 1 DESC LIMIT 3`,
    ))
      found.add(id);
  return [...found];
}

beforeAll(async () => {
  service = await serviceApplication();
  account = await service.database.prisma.bankAccount.findFirstOrThrow();
  // Who approves a payment sees whom it pays.
  const blind = scopes.filter((scope) => scope !== 'personal-data' && scope !== 'approve');
  ({ key } = await createKey('main', { scopes: blind }));
  viewer = await signedInPerson(service, 'viewer@example.com', {
    accountId: account.id,
    role: 'viewer',
  });
  await requestAll();
  await receiveAll();
  ids = await listIds();
}, 120_000);
afterAll(() => service.stop());

/** The texts that show the person, with the place where they stand. */
function shownIn(path: string, text: string): string[] {
  const at = text.search(canaries);
  return at < 0 ? [] : [`${path}: …${text.slice(Math.max(0, at - 120), at + 60)}`];
}

const maxAtOnce = 4;
/** Calls `read` with each item, some at a time. */
async function forEachAtOnce<Item>(items: readonly Item[], read: (item: Item) => Promise<void>) {
  const left = [...items];
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await read(item);
  };
  await Promise.all(Array.from({ length: maxAtOnce }, work));
}

/** The addresses of a path: each id in its place, a day or a name where that is asked for. */
function addressesOf(path: string): string[] {
  const day = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10);
  const known = path
    .replace('{date}', day)
    .replace('{month}', day.slice(0, 7))
    .replace('{version}', '1')
    .replace(':nsu', '8000001');
  return /\{|:id|:charge|:trial|:run|:message|:session/.test(known)
    ? ids.map((id) => exampleAddress(known, id).replace(/\{\w+\}/, encodeURIComponent(id)))
    : [exampleAddress(known, 'none')];
}

describe('without the scope `personal-data`', () => {
  it('the objects are there, and name the person to whoever may see it', async () => {
    for (const path of ['/v1/transactions', '/v1/operations', '/v1/breaks', '/v1/events']) {
      const { text } = await service.call('GET', path);
      expect([path, JSON.parse(text).data.length > 0]).toEqual([path, true]);
    }
    const { text } = await service.call('GET', '/v1/transactions');
    expect(text).toMatch(canaries);
    const { body: disputes } = await service.call('GET', '/v1/disputes');
    const evidence = `/v1/disputes/${disputes.data[0].id}/evidence`;
    const { body } = await service.call('GET', evidence);
    expect(JSON.stringify(body.transaction)).toMatch(canaries);
    expect(body.charges).toHaveLength(1);
    expect(ids.length).toBeGreaterThan(20);
  });

  it('no route shows the person', async () => {
    const routes = servedRoutes(service.application).filter(
      ({ method, path, authentication }) =>
        method === 'GET' && path.startsWith('/v1/') && authentication === 'api-key',
    );
    expect(routes.length).toBeGreaterThan(40);
    const shown: string[] = [];
    const reached = new Set<string>();
    const addresses = routes.flatMap(({ path }) =>
      addressesOf(path).map((address) => ({ path, address })),
    );
    await forEachAtOnce(addresses, async ({ path, address }) => {
      const { status, text } = await service.call('GET', address, { apiKey: key });
      if (status < 300) reached.add(path);
      shown.push(...shownIn(path, text));
    });
    expect(shown).toEqual([]);
    // Of what an account seldom has, there is none here.
    const rare =
      /alert|day-closes\/|unreadable-lines\/|customers|reconciliations\/|refunds\/|bill-payments\/|deliveries\//;
    const missed = routes.map(({ path }) => path).filter((path) => !reached.has(path));
    // The log of decisions is shown to nobody without the scope.
    expect(missed.filter((path) => !rare.test(path)).sort()).toEqual([
      ...['/v1/exports/decisions', '/v1/months/{month}/auditor-pack'],
    ]);
  }, 300_000);

  it('no file shows the person', async () => {
    const day = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10);
    const paths = [
      ...['csv', 'ofx', 'cnab240'].map(
        (format) => `/v1/exports/transactions?format=${format}&from=2026-03-01&to=${day}`,
      ),
      '/v1/exports/breaks',
      '/v1/exports/expected-payments',
    ];
    for (const path of paths) {
      const { status, text } = await service.call('GET', path, { apiKey: key });
      expect([path, status, shownIn(path, text)]).toEqual([path, 200, []]);
    }
  });

  it('nothing is found by the account of a payee', async () => {
    const find = async (apiKey?: string) => {
      const reference = encodeURIComponent(`${otherBank.ispb}/1/${ana.number}`);
      const path = `/v1/expected-payments?reference=${reference}`;
      const { body } = await service.call('GET', path, apiKey ? { apiKey } : {});
      return body.data.length as number;
    };
    expect(await find()).toBeGreaterThan(0);
    expect(await find(key)).toBe(0);
  });

  it('no page of the console shows the person to a viewer', async () => {
    const pages = listConsoleHandlers(service).filter(({ isForm }) => !isForm);
    const shown: string[] = [];
    const addresses = pages.flatMap(({ path }) =>
      addressesOf(path).map((address) => ({ path, address })),
    );
    addresses.push({ path: 'rules', address: '/console/accounts/main/rules?all=true' });
    let reached = 0;
    await forEachAtOnce(
      // Its events go on for ever.
      addresses.filter(({ address }) => !address.endsWith('/today/events')),
      async ({ path, address }) => {
        const { status, text } = await viewer.get(address);
        if (status === 200) reached += 1;
        shown.push(...shownIn(path, text));
      },
    );
    expect(shown).toEqual([]);
    expect(reached).toBeGreaterThan(40);
  }, 300_000);
});
