// The pages of files: uploads with their progress, exports, the reading of the statement, and the
// first steps to a reconciled payment.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { maxFileBytes } from '../../../src/outbound/bulk/bulk.schema.js';
import { PixLookupsService } from '../../../src/outbound/transfers/pix-lookups.service.js';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import { Operators } from '../../../src/access/people/operators.service.js';
import type { PersonRole } from '../../../src/access/people/roles.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { WebhookRegistrar } from '../../../src/webhooks/registration/webhook-registrar.service.js';
import {
  csrfOf,
  hiddenIn,
  sendFileForm,
  signedInPerson,
  personOfEachRole,
  type SignedIn,
} from '../../support/console-visitor.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { until } from '../../support/until.js';

const pages = '/console/accounts/main';
const kinds = ['charges', 'transfers', 'expected_payments'];

describe('the pages of files', () => {
  let service: ServiceApplication;
  let accountId: number;
  let people: Record<PersonRole, SignedIn>;

  const update = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const person = (email: string, role: PersonRole, account: number | null) =>
    signedInPerson(service, email, { accountId: account, role });
  const { addAccount } = operatorOf(() => service);

  beforeAll(async () => {
    service = await serviceApplication();
    const operators = service.application.get(Operators, { strict: false });
    accountId = (await operators.findAccountId('main')) ?? 0;
    people = await personOfEachRole(service, accountId);
  }, 60_000);
  afterAll(() => service.stop());

  /** Sends the form of uploads with a file, as a browser does. */
  const sendFile = async (
    visitor: SignedIn,
    { path = 'bulk', kind = 'expected_payments', name = 'file.csv', content = '', hash = '' },
    headers: Record<string, string> = {},
    csrf?: string,
  ) => {
    const fields = {
      kind,
      ...(hash === '' ? {} : { hash }),
      ...(csrf === undefined ? {} : { csrf }),
    };
    return sendFileForm(service, visitor, `${pages}/${path}`, { fields, name, content, headers });
  };
  const countUploads = async () =>
    Number((await update('SELECT count(*) AS n FROM bulk_upload')).rows[0].n);
  const issue = async (location: string | null) => {
    const uploadId = location?.split('/').at(-1) ?? '';
    const { prisma } = service.database;
    const upload = await prisma.bulkUpload.findFirstOrThrow({ where: { id: uploadId } });
    await service.application
      .get(BulkService, { strict: false })
      .issueNextRows({ accountId: upload.accountId, uploadId });
  };
  const declared = (rows: readonly string[]) =>
    ['externalId,direction,amount,dateFrom,text', ...rows].join('\n');
  const auditOf = async (action: string) =>
    (
      await update(
        `SELECT a.subject, a.shown, o.action AS end, o.reason FROM audit_entry a
         LEFT JOIN audit_entry o ON o.subject = 'entry ' || a.id
         WHERE a.action = $1 ORDER BY a.id`,
        action,
      )
    ).rows;

  describe('an upload', () => {
    it('is stored by a person, its rows are issued, and the page shows what became of them', async () => {
      const content = declared([
        'up-1,credit,10.50,2030-01-01,PEDIDO 1',
        'up-2,credit,0,2030-01-01,',
      ]);
      const answer = await sendFile(people.analyst, { content });
      expect(answer.status).toBe(303);
      const page = answer.location ?? '';
      expect(page).toMatch(/^\/console\/accounts\/main\/bulk\/[0-9a-f-]{36}$/);
      const running = await people.analyst.get(page);
      expect(running.text).toContain('hx-trigger="every 2s"');
      expect(running.text).toContain('1 of 2 rows');

      await issue(page);
      const { text } = await people.viewer.get(page);
      expect(text).toContain('2 of 2 rows');
      expect(text).not.toContain('hx-trigger');
      expect(text).toContain('Invalid fields. Amount: Must be greater than zero.');
      const inPortuguese = await people.viewer.get(page, { 'accept-language': 'pt-BR' });
      expect(inPortuguese.text).toContain('Campos inválidos. Valor: Precisa ser maior que zero.');
      const { text: invalid } = await people.viewer.get(`${page}?state=invalid`);
      expect([invalid.includes('up-2'), invalid.includes('up-1')]).toEqual([true, false]);
      expect((await people.viewer.get(`${pages}/bulk`)).text).toContain(page);
      const stored = await service.database.prisma.bulkUpload.findFirstOrThrow({
        where: { id: page.split('/').at(-1) ?? '' },
      });
      expect(stored).toMatchObject({ accepted: 1, rejected: 0, invalid: 1 });
      expect(stored.requestedBy).toBe(`person:${people.analyst.id}`);
    });

    it('refreshes the part that it shows, without the frame', async () => {
      const { text } = await people.viewer.get(`${pages}/bulk`, { 'hx-request': 'true' });
      expect(text).toMatch(/^<div class="card" id="list"/);
    });

    it('is only checked where that is asked for: errors are shown, and nothing is stored', async () => {
      const before = await countUploads();
      const content = declared(['x-1,credit,abc,2030-01-01,', 'x-2,credit,5,2030-01-01,PEDIDO A']);
      const bad = await sendFile(people.analyst, { path: 'bulk/check', content });
      expect(bad.status).toBe(200);
      expect(bad.text).toContain('1 of 2 rows have an error');
      expect(bad.text).toContain('Amount: Must be a number.');
      const good = await sendFile(people.analyst, {
        path: 'bulk/check',
        content: declared(['x-3,credit,5,2030-01-01,PEDIDO A']),
      });
      expect(good.text).toContain('Checked: all 1 rows are valid.');
      expect(await countUploads()).toBe(before);
      expect(await auditOf('check file')).toHaveLength(2);
    });

    it('shows count, total and payees when it is checked, and then takes no other file', async () => {
      const row = (id: string, amount: string) => `${id};${amount};maria@pessoa-dois.example`;
      const file = (...rows: string[]) => ['externalId;amount;key', ...rows].join('\n');
      const form = { kind: 'transfers', content: file(row('c-1', '1.234,50'), row('c-2', '5,50')) };
      const checked = await sendFile(people.analyst, { ...form, path: 'bulk/check' });
      for (const shown of ['1.240,00', 'maria@pessoa-dois.example', 'What would be sent'])
        expect(checked.text).toContain(shown);
      // The bank says who holds the key, and the button what it does.
      expect(checked.text).toMatch(/<strong>Maria[^<]*<\/strong>.*Pix key or code maria@/s);
      expect(checked.text).toMatch(/Balance after<\/dt>/);
      expect(checked.text).toContain('Store and send 2 payments, R$\u00a01.240,00 in total');
      const sent = Object.fromEntries(hiddenIn(checked.text, `${pages}/bulk`));
      const hash = sent.hash ?? '';
      // What follows the file is not read.
      const shownForm = /<form [^>]*multipart.*?<\/form>/s.exec(checked.text)?.[0] ?? '';
      expect([...shownForm.matchAll(/ name="(\w+)"/g)].at(-1)?.[1]).toBe('file');
      const before = await countUploads();
      const unchecked = await sendFile(people.analyst, form);
      expect([unchecked.status, await countUploads()]).toEqual([422, before]);
      expect(unchecked.text).toContain('Check the file first');
      const other = { ...form, content: file(row('c-1', '1.234,50'), row('c-2', '55,50')), hash };
      const refused = await sendFile(people.analyst, other);
      expect([refused.status, await countUploads()]).toEqual([422, before]);
      expect(refused.text).toContain('This is not the file that was checked.');
      const { status, location } = await people.analyst.submit(`${pages}/bulk`, sent);
      expect([status, await countUploads()]).toEqual([303, before + 1]);
      // The file is no longer there, and the same one is the same upload.
      expect((await people.analyst.submit(`${pages}/bulk`, sent)).status).toBe(404);
      expect((await sendFile(people.analyst, { ...form, hash })).location).toBe(location);
    });

    it('says of a key that could not be looked up why', async () => {
      const content = 'externalId;amount;key\nn-1;1;nobody@x.example';
      const form = { path: 'bulk/check', kind: 'transfers', content };
      const { text } = await sendFile(people.analyst, form);
      expect(text).toContain('<strong>Name not known</strong>');
      expect(text).toContain('The bank does not know this key');
    });

    it.each(kinds)('has an example file of %s, which is valid as it is', async (kind) => {
      const example = await people.analyst.get(`${pages}/bulk/examples/${kind}`);
      expect(example.headers.get('content-type')).toContain('text/csv');
      const checked = await sendFile(people.analyst, {
        ...{ path: 'bulk/check', kind },
        content: example.text,
      });
      expect(checked.text).toContain('Checked: all 2 rows are valid.');
    });

    it.each([
      ['a viewer', 403, () => people.viewer, {}, undefined],
      ['another site', 403, () => people.analyst, { origin: 'https://evil.example' }, undefined],
      ['a page without an origin', 403, () => people.analyst, { origin: '' }, undefined],
      ['a form with a wrong token', 403, () => people.analyst, {}, 'f'.repeat(64)],
      ['nobody who is signed in', 303, () => people.analyst, { cookie: 'a=b' }, undefined],
    ])('of %s is refused, and nothing is stored', async (_, status, visitor, headers, csrf) => {
      const before = await countUploads();
      const content = declared(['refused-1,credit,5,2030-01-01,PEDIDO A']) + ' '.repeat(200_000);
      for (const path of ['bulk', 'bulk/check']) {
        const answer = await sendFile(visitor(), { path, content }, headers, csrf);
        expect([path, answer.status]).toEqual([path, status]);
      }
      expect(await countUploads()).toBe(before);
    });

    it.each([
      ['is empty', 'x.csv', '', 'The file has no rows.'],
      ['has no rows', 'x.csv', 'externalId', 'The file has no rows.'],
      ['is not UTF-8', 'x.csv', 'latin', 'The file must be UTF-8'],
      ['has another ending', 'x.pdf', 'a', 'The name of the file must end with .csv'],
      ['has no name', '', 'a', 'Choose a file.'],
      ['is no XLSX', 'x.xlsx', 'a,b', 'The file is not XLSX.'],
    ])(
      'that %s is refused on the page, and its refusal is recorded',
      async (_, name, text, said) => {
        const content = text === 'latin' ? 'ext' : text;
        const answer = await sendFile(people.analyst, { name, content });
        if (text === 'latin') {
          const bytes = Buffer.from('externalId\n\xe9', 'latin1') as unknown as string;
          expect((await sendFile(people.analyst, { name, content: bytes })).text).toContain(said);
        } else expect(answer.text).toContain(said);
        expect(answer.status).toBe(422);
        expect((await auditOf('upload file')).at(-1)).toMatchObject({ end: 'refused' });
      },
    );

    it('that is too large is refused on its page', async () => {
      const before = await countUploads();
      const answer = await sendFile(people.analyst, { content: 'x'.repeat(maxFileBytes + 1) });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('The request is too large.');
      expect(await countUploads()).toBe(before);
    }, 30_000);

    it('of no form, and of a kind that does not exist, is refused', async () => {
      const csrf = csrfOf((await people.analyst.get('/console/nowhere')).text);
      const json = await people.analyst.send(`${pages}/bulk`, {
        method: 'POST',
        body: JSON.stringify({ csrf }),
        headers: { origin: service.url, 'content-type': 'application/json' },
      });
      expect(json.status).toBe(415);
      expect((await sendFile(people.analyst, { kind: 'people' })).status).toBe(400);
    });

    it('takes its result as a file, in the reader’s language, and the audit says so', async () => {
      const content = declared([
        'res-1,credit,1,2030-01-01,PEDIDO A',
        '=cmd(),credit,x,2030-01-01,PEDIDO B',
      ]);
      const { location } = await sendFile(people.analyst, { content });
      await issue(location);
      const file = await people.analyst.submit(`${location}/result`);
      expect(file.headers.get('content-disposition')).toContain('attachment');
      expect(file.text).toContain('2,res-1,accepted');
      expect(file.text).toContain("'=cmd()");
      expect((await people.viewer.submit(`${location}/result`)).status).toBe(403);
      expect((await auditOf('take file')).at(-1)).toMatchObject({
        subject: `upload ${location?.split('/').at(-1)}`,
        end: null,
      });
    });

    it('shows hostile texts as text', async () => {
      const hostile = '<script>alert(1)</script>';
      const content = `{"externalId":"${hostile}","direction":"credit","amount":"${hostile}"}\n`;
      const answer = await sendFile(people.analyst, { name: 'x.jsonl', content });
      const { text } = await people.viewer.get(answer.location ?? '');
      expect(text).not.toContain(hostile);
      expect(text).toContain('&lt;script>alert(1)');
    });

    it('of another account does not exist', async () => {
      const { slug } = await addAccount({ apiKey: 'sandbox-dev-key-2' });
      const owner = await person('owner@example.com', 'admin', null);
      const { location } = await sendFile(people.analyst, {
        content: declared(['mine-1,credit,1,2030-01-01,PEDIDO A']),
      });
      const elsewhere = location?.replace('/main/', `/${slug}/`) ?? '';
      expect((await owner.get(elsewhere)).status).toBe(404);
      expect((await owner.submit(`${elsewhere}/result`)).status).toBe(404);
      expect((await people.analyst.get(`${pages}/bulk/no-id`)).status).toBe(404);
    });
  });

  describe('the first steps', () => {
    it('lead an empty account to a reconciled payment on screen', async () => {
      const today = await people.viewer.get(`${pages}/today`);
      expect(today.text).toContain('First visit?');
      const waiting = await people.analyst.get(`${pages}/first-steps`);
      expect(waiting.text).toContain('The bank has not answered yet.');

      const statement = service.application.get(StatementSync, { strict: false });
      await service.application.get(WebhookRegistrar, { strict: false }).register({ accountId });
      await statement.sync(accountId);
      const { text } = await people.analyst.get(`${pages}/first-steps`);
      expect(text).toContain('The bank has answered');
      expect(text).toContain(`curl -s ${service.url}/baas/v1/charges`);
      const fieldOf = (name: string) =>
        new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(text)?.[1] ?? '';
      const names = ['key', 'correlationId', 'payerName', 'payerDocument', 'amount', 'dueDate'];
      const form = Object.fromEntries(names.map((name) => [name, fieldOf(name)]));
      const created = await people.analyst.submit(`${pages}/first-steps`, form);
      expect(created.location).toBe(`${pages}/first-steps?charge=${form.correlationId}`);
      // Sent twice, it is one charge.
      await people.analyst.submit(`${pages}/first-steps`, form);
      expect(await service.database.prisma.charge.count()).toBe(1);
      const { rows: sources } = await update(`SELECT source FROM operation`);
      expect(sources).toEqual([{ source: 'console' }]);

      const followed = await people.analyst.get(created.location ?? '');
      expect(followed.text).toContain('hx-trigger="every 1s"');
      const path = `${pages}/first-steps/${form.correlationId}/pay`;
      expect((await people.viewer.submit(path)).status).toBe(403);
      const paid = await people.analyst.submit(path);
      expect([paid.status, paid.location]).toEqual([303, created.location]);
      expect((await people.analyst.submit(path)).status).toBe(303);

      await until('the webhooks have arrived', async () => {
        const { rows } = await update('SELECT count(*) AS n FROM webhook_event');
        return Number(rows[0].n) === 2;
      });
      await statement.sync(accountId);
      await service.application
        .get(ReconciliationService, { strict: false })
        .reconcile({ accountId });
      const done = await people.viewer.get(created.location ?? '');
      expect(done.text).toMatch(
        /Reconciled: R\$\s149,90 on the statement, explained by the charge /,
      );
      expect(done.text.match(/<li class="good">/g)).toHaveLength(5);
      expect(done.text).not.toContain('hx-trigger');
      expect((await people.viewer.get(`${pages}/today`)).text).not.toContain('First visit?');
      expect((await auditOf('create first charge'))[0]).toMatchObject({
        subject: `charge ${form.correlationId}`,
        end: null,
      });
    });

    it('say what is wrong with a charge, and create none', async () => {
      const before = await service.database.prisma.charge.count();
      const form = {
        ...{ key: crypto.randomUUID(), correlationId: 'primeira-00000001' },
        ...{ payerName: '<b>x</b>', payerDocument: '123', amount: '1,999', dueDate: '2030-01-01' },
      };
      const answer = await people.analyst.submit(`${pages}/first-steps`, form);
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('Must have at most two decimals');
      expect(answer.text).toContain('value="&lt;b>x&lt;/b>"');
      expect(await service.database.prisma.charge.count()).toBe(before);
      expect((await people.viewer.submit(`${pages}/first-steps`, form)).status).toBe(403);
    });

    it('follow no charge of another account', async () => {
      expect((await people.viewer.get(`${pages}/first-steps?charge=none`)).status).toBe(404);
      expect((await people.analyst.submit(`${pages}/first-steps/none/pay`)).status).toBe(404);
    });
  });

  describe('an export', () => {
    it.each([
      ['statement', { format: 'csv', from: '2026-01-01', to: '2026-12-31' }, 'CREDIT_'],
      ['statement', { format: 'ofx' }, 'OFXHEADER'],
      ['statement', { format: 'cnab240' }, 'EMPRESA UM COMERCIO'],
      ['breaks', { format: 'csv', delimiter: 'semicolon' }, ';'],
      ['overdue', { format: 'csv' }, ','],
    ])(
      'of %s %p is a file for an analyst, and no file for a viewer',
      async (name, form, content) => {
        const file = await people.analyst.submit(`${pages}/exports/${name}`, form);
        expect([file.status, file.headers.get('content-disposition')]).toEqual([
          200,
          expect.stringMatching(/^attachment; filename="concilia-main-/),
        ]);
        expect(file.text).toContain(content);
        expect((await people.viewer.submit(`${pages}/exports/${name}`, form)).status).toBe(403);
      },
    );

    it('is recorded with what was asked for', async () => {
      const form = { format: 'csv', from: '2026-01-01', to: "2026'--" };
      await people.analyst.submit(`${pages}/exports/statement`, form);
      expect((await auditOf('take file')).at(-1)).toMatchObject({
        subject: 'file statement csv 2026-01-01 -',
        end: 'refused',
      });
    });

    it('of a month that did not begin, or of a wrong period, says so on the page', async () => {
      const month = await people.analyst.submit(`${pages}/exports/month`, { month: '2199-01' });
      expect([month.status, month.text.includes('There is no statement of this month.')]).toEqual([
        422,
        true,
      ]);
      const period = await people.analyst.submit(`${pages}/exports/statement`, {
        ...{ format: 'csv', from: '2026-02-01', to: '2026-01-01' },
      });
      expect(period.text).toContain('The period is invalid');
    });

    it('of the month is a page to print', async () => {
      const month = new Date().toISOString().slice(0, 7);
      const file = await people.analyst.submit(`${pages}/exports/month`, { month });
      expect(file.headers.get('content-type')).toContain('text/html');
      expect(file.headers.get('content-disposition')).toContain('attachment');
      const bundle = await people.analyst.submit(`${pages}/exports/bundle`, { month });
      expect(bundle.headers.get('content-type')).toBe('application/zip');
      expect(bundle.text.startsWith('PK')).toBe(true);
    });

    it('is offered to those who may take it', async () => {
      const viewer = await people.viewer.get(`${pages}/exports`);
      expect(viewer.text).toContain('Downloads need the role analyst');
      expect(viewer.text).not.toContain('/exports/statement');
      const { text } = await people.analyst.get(`${pages}/exports`, { 'accept-language': 'pt' });
      expect(text).toContain('Um arquivo CNAB 240 recebe um número');
    });
  });

  it('shows how far the statement was read', async () => {
    const { text } = await people.viewer.get(`${pages}/imports`);
    expect(text).toContain('The history was read to its beginning.');
    await update(
      'UPDATE statement_state SET is_anchored = false, import_started_at = $1',
      new Date(),
    );
    const running = await people.viewer.get(`${pages}/imports`, { 'hx-request': 'true' });
    expect(running.text).toMatch(/^<div id="reading"/);
    expect(running.text).toContain('is being read for the first time');
    expect(running.text).toContain('hx-trigger="every 2s"');
  });

  it('show who approves an upload whom its Pix keys pay', async () => {
    const policy = { aboveAmount: '0', approvals: '1', expiresAfterHours: '24', reason: 'rule' };
    const { status } = await people.admin.submit(`${pages}/approval-policy`, policy);
    expect(status).toBe(303);
    const content = 'externalId;amount;key\nk-1;8,25;maria@pessoa-dois.example';
    const form = { kind: 'transfers', content };
    const checked = await sendFile(people.analyst, { ...form, path: 'bulk/check' });
    const hash = /name="hash" value="([0-9a-f]{64})"/.exec(checked.text)?.[1] ?? '';
    await issue((await sendFile(people.analyst, { ...form, hash })).location);
    const { text } = await people.approver.get(`${pages}/approvals`);
    expect(text).toMatch(/R\$\u00a08,25.*<strong>Maria[^<]*<\/strong>.*Pix key maria@pessoa-dois/s);
    expect((await people.viewer.get(`${pages}/approvals`)).text).not.toContain('Maria');
    await update("UPDATE pix_lookup SET looked_up_at = now() - interval '401 days'");
    const lookUps = service.application.get(PixLookupsService, { strict: false });
    await lookUps.deleteOldPayees();
    expect((await update('SELECT 1 FROM pix_lookup WHERE payee IS NOT NULL')).rows).toEqual([]);
  });
});
