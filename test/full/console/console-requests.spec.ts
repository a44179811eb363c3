// Requests that no page offers: forms of a role that may not send them, without the token of the
// session, of another account, without a recent code, and hostile texts in addresses and forms.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Operators } from '../../../src/access/people/operators.service.js';
import {
  isAllowed,
  roleNames,
  stepUpActions,
  type Action,
  type PersonRole,
} from '../../../src/access/people/roles.js';
import { signedInPerson, personOfEachRole, type SignedIn } from '../../support/console-visitor.js';
import {
  exampleAddress,
  listConsoleHandlers,
  needsOfNoAccount,
} from '../../support/console-handlers.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const hostileTexts = [
  'a\u0000b',
  '"><img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u{1F600}%ZZ',
  'javascript:alert(3)',
];
const placeNames = ['cursor', 'after', 'limit'];
/** Of all pages: filters, and what a form before the page has done. */
const queryNames = [
  ...['q', 'state', 'kind', 'type', 'reference', 'externalId'],
  ...['correlationId', 'idempotencyKey', 'metadata', 'nsu', 'day', 'from', 'to', 'since', 'of'],
  ...['eventType', 'endpointId', 'ruleId', 'severity', 'minAmount', 'openedFrom', 'break', 'did'],
  ...['action', 'operation', 'done', 'count', 'charge', 'line', 'version', 'revision', 'month'],
  ...['amount', 'next', 'problem', 'preview', 'what', 'decide', 'figure', 'check', 'days', 'read'],
];

/** Of all forms. */
const fieldNames = [
  ...['reason', 'shown', 'name', 'email', 'role', 'where', 'kind', 'scope', 'overlap', 'mode'],
  ...['slug', 'apiKey', 'webhookSecret', 'certificate', 'privateKey', 'weight', 'branch'],
  ...['account', 'bankCode', 'holderName', 'holderTaxId', 'agreement', 'goLiveAt'],
  ...['aboveAmount', 'kinds', 'sources', 'approvals', 'expiresAfterHours', 'newBeneficiary'],
  ...['perDay', 'perHour', 'coolingOffHours', 'nightFromHour', 'nightUntilHour', 'ispb'],
  ...['number', 'accountNumber', 'bill', 'operation', 'decision', 'upload', 'afterLine'],
  ...['break', 'version', 'key', 'candidate', 'amount', 'part', 'category', 'text', 'note'],
  ...['url', 'description', 'eventTypes', 'recipients', 'language', 'endpointId', 'channelIds'],
  ...['what', 'since', 'after', 'eventType', 'state', 'from', 'to', 'do', 'ruleId', 'condition'],
  ...['priority', 'value', 'document', 'notes', 'notesPattern', 'types', 'direction', 'then'],
  ...['externalId', 'dateFrom', 'dateTo', 'dueDate', 'metadata', 'payerName', 'payerDocument'],
  ...['correlationId', 'attempts', 'duplicate', 'format', 'month', 'delimiter', 'day'],
  ...['taxId', 'counterpartyName', 'counterpartyTaxId', 'groupSeconds', 'severity', 'code'],
];
/** With them, a form is read further. */
const sharedFields = {
  ...{ reason: 'because', shown: '1', kind: 'charges', decision: 'approve', format: 'csv' },
  ...{ key: '01a20de1-79c9-7020-8f3b-8ea3e4e75e81', attempts: '0', overlap: '0', version: '1' },
};

describe('a request that no page offers', () => {
  let service: ServiceApplication;
  let otherSlug: string;
  let people: Record<PersonRole, SignedIn>;
  let owner: SignedIn;

  const update = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const person = (email: string, role: PersonRole, account: number | null) =>
    signedInPerson(service, email, { accountId: account, role });
  const { addAccount } = operatorOf(() => service);

  beforeAll(async () => {
    service = await serviceApplication();
    const operators = service.application.get(Operators, { strict: false });
    const accountId = (await operators.findAccountId('main')) ?? 0;
    otherSlug = (await addAccount({ apiKey: 'sandbox-dev-key-2' })).slug;
    people = await personOfEachRole(service, accountId);
    owner = await person('owner@example.com', 'admin', null);
  });
  afterAll(() => service.stop());

  const listHandlers = () => listConsoleHandlers(service);
  const own = needsOfNoAccount;
  /** The forms of an account. The search is one, too: everybody may send it. */
  const listForms = () =>
    listHandlers().flatMap(({ isForm, needs, path }) =>
      isForm && !own.includes(needs) ? [{ path, needs: needs as Action }] : [],
    );
  const example = (path: string) => exampleAddress(path, people.analyst.id);

  it('is refused for a form that needs a higher role', async () => {
    const before = await update('SELECT count(*) FROM audit_entry');
    for (const role of roleNames)
      for (const { path, needs } of listForms()) {
        if (isAllowed(role, needs)) continue;
        const { status } = await people[role].submit(example(path), { reason: 'because' });
        expect([role, path, status]).toEqual([role, path, 403]);
      }
    expect((await update('SELECT count(*) FROM audit_entry')).rows).toEqual(before.rows);
  });

  describe('a form of an account', () => {
    it('is not there for a person without a role in the account', async () => {
      for (const { path } of listForms()) {
        const foreign = example(path.replace(':account', otherSlug));
        const { status } = await people.admin.submit(foreign, { reason: 'because' });
        expect([foreign, status]).toEqual([foreign, 404]);
      }
    });

    it('is refused without the token of the session, also with a file', async () => {
      const multipart = new FormData();
      multipart.set('reason', 'because');
      multipart.set('file', new Blob(['x']), 'x.csv');
      for (const { path } of listForms()) {
        const address = example(path);
        const plain = await people.admin.post(address, { reason: 'because' });
        const headers = { origin: service.url };
        const filed = await people.admin.send(address, {
          ...{ method: 'POST', body: multipart, headers },
        });
        expect([path, plain.status, [403, 415].includes(filed.status)]).toEqual([path, 403, true]);
      }
    });

    it('asks for a code where the last one is old, and does nothing before', async () => {
      await update(`UPDATE operator_session SET code_at = now() - interval '6 minutes'`);
      const before = await update('SELECT count(*) FROM audit_entry');
      const forms = listForms().filter(({ needs }) => stepUpActions.includes(needs));
      expect(forms.length).toBeGreaterThanOrEqual(20);
      for (const { path } of forms) {
        const { text } = await people.admin.submit(example(path), { reason: 'because' });
        expect([path, text.includes('name="held"')]).toEqual([path, true]);
      }
      expect((await update('SELECT count(*) FROM audit_entry')).rows).toEqual(before.rows);
      await update('UPDATE operator_session SET code_at = now()');
    });
  });

  it('is no fault of a page, whatever its address holds', async () => {
    const pages = listHandlers().filter(({ isForm, path }) => !isForm && !/events$/.test(path));
    const faults: string[] = [];
    for (const { path } of pages)
      for (const text of hostileTexts) {
        const inPath = example(path).replaceAll(people.analyst.id, encodeURIComponent(text));
        // What is no place of a list is refused before the filters are read.
        const queries = [placeNames, queryNames].map((names) => {
          const query = new URLSearchParams(names.map((name) => [name, text]));
          return `${example(path)}?${query.toString()}`;
        });
        for (const address of new Set([inPath, ...queries])) {
          const { status, text: shown } = await owner.get(address);
          if (status >= 500 || /<script>alert|<img|href="javascript/.test(shown))
            faults.push(`${status} ${address}`);
        }
      }
    expect(faults).toEqual([]);
  }, 180_000);

  it('is no fault of a form, whatever its fields hold', async () => {
    const faults: string[] = [];
    // The demonstration has no field, and takes its time: demo-shop.spec.ts opens it.
    const forms = listForms().filter(({ path }) => !path.endsWith('/first-steps/demo'));
    for (const { path } of forms)
      for (const text of hostileTexts.slice(0, 2))
        for (const shared of [{}, sharedFields]) {
          const fields = Object.fromEntries(fieldNames.map((name) => [name, text]));
          const address = example(path).replaceAll(people.analyst.id, randomUUID());
          const { status, text: shown } = await owner.submit(address, { ...fields, ...shared });
          if (status >= 500 || /<script>alert|<img|href="javascript/.test(shown))
            faults.push(`${status} ${address} ${text.slice(0, 30)} ${JSON.stringify(shared)}`);
        }
    expect(faults).toEqual([]);
  }, 180_000);
});
