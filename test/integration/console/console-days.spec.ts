// The days of the statement: certificates, what the next day waits for, files, and what each role
// may do.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formatAmount } from '../../../src/console/formats.js';
import { ClosedDays } from '../../support/closed-days.js';
import { signedInPerson } from '../../support/console-visitor.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

type Person = Awaited<ReturnType<typeof signedInPerson>>;
const slug = 'book';
const days = `/console/accounts/${slug}/days`;
const lines = [
  { nsu: 1, at: '2026-03-02T12:00:00.000Z', cents: 1_000 },
  { nsu: 2, at: '2026-03-02T15:00:00.000Z', cents: -280 },
  { nsu: 3, at: '2026-03-04T12:00:00.000Z', cents: 5_000 },
  { nsu: 4, at: '2026-03-04T13:00:00.000Z', cents: -1 },
];
const late = { nsu: 5, at: '2026-03-03T12:00:00.000Z', cents: 700 };

describe('the pages of days', () => {
  let service: ServiceApplication;
  let account: { id: number; goLiveAt: Date };
  let viewer: Person;
  let analyst: Person;
  const closedDays = new ClosedDays(() => ({
    ...{ database: service.database, accountId: 0 },
    drop: () => Promise.resolve(),
  }));
  const { run } = closedDays;
  const portuguese = { 'accept-language': 'pt-BR' };

  beforeAll(async () => {
    service = await serviceApplication();
    account = await closedDays.account(slug);
    const accountId = account.id;
    viewer = await signedInPerson(service, 'v@example.com', { accountId, role: 'viewer' });
    analyst = await signedInPerson(service, 'a@example.com', { accountId, role: 'analyst' });
  });
  afterAll(() => service.stop());

  it('say how they fill, and why no day is certified', async () => {
    const { text } = await viewer.get(days);
    expect(text).toContain('No certified day in this period');
    expect(text).toContain('No day is certified yet');
    expect((await viewer.get(days, portuguese)).text).toContain('Nenhum dia foi certificado ainda');
  });

  it('list each certified day with its balances, newest first, and draw the balance', async () => {
    await closedDays.arrive(account.id, lines);
    await closedDays.decide(account.id);
    await closedDays.closedUntil(account.id, '2026-03-05');
    await closedDays.close(account);
    const { text } = await viewer.get(days);
    const listed = [...text.matchAll(/days\/(\d{4}-\d\d-\d\d)">([^<]*)</g)];
    expect(listed.map(([, date, shown]) => [date, shown])).toEqual([
      ['2026-03-04', '04/03/2026'],
      ['2026-03-03', '03/03/2026'],
      ['2026-03-02', '02/03/2026'],
    ]);
    for (const cents of [10_000n, 10_720n, 15_719n]) expect(text).toContain(formatAmount(cents));
    expect(text).toContain('Balance at the end of each day');
    expect(text.match(/<path class="balance" d="M[^L"]+(L[^L"]+){5}"/g)).toHaveLength(1);
  });

  it('select days by address, and name a filter that is not valid', async () => {
    const { text } = await viewer.get(`${days}?from=2026-03-03&to=2026-03-03`);
    expect(text.match(/days\/2026-03-\d\d"/g)).toEqual(['days/2026-03-03"']);
    const { status, text: all } = await viewer.get(`${days}?from=never`);
    expect([status, all.includes('Filters left out')]).toEqual([200, true]);
    expect(all.match(/days\/2026-03-\d\d"/g)).toHaveLength(3);
  });

  it('name what the next day waits for, with a link', async () => {
    const waiting = async () =>
      /<div class="notice [^>]*>(.*?)<\/div>/.exec((await viewer.get(days)).text)?.[1];
    expect(await waiting()).toContain('The day 05/03/2026 waits: it is not proven yet');
    expect(await waiting()).toContain(`/console/accounts/${slug}/statement?day=2026-03-05`);
    await closedDays.closedUntil(account.id, '2026-03-06');
    expect(await waiting()).toContain('The day 05/03/2026 is being certified');
    const breakId = '01a1fcf2-0000-7000-8000-000000000001';
    await run(
      `INSERT INTO break (account_id, id, kind, state, subject, evidence)
       VALUES ($1, $2, 'broken_balance_chain', 'open', 'day:2026-03-05', '{}')`,
      ...[account.id, breakId],
    );
    expect(await waiting()).toContain('do not add up');
    expect(await waiting()).toContain(`/console/accounts/${slug}/breaks/${breakId}`);
    await run(`UPDATE break SET state = 'resolved', resolved_at = now()`);
    await closedDays.closedUntil(account.id, '2026-03-05');
  });

  describe('a day', () => {
    it('shows its figures, its lines by outcome and its place in the chain', async () => {
      const { text } = await viewer.get(`${days}/2026-03-04`);
      const [, , last] = await closedDays.chain(account.id);
      expect(text).toContain('Day 04/03/2026');
      expect(text).toContain(last!.hash);
      expect(text).toContain(last!.previousHash);
      expect(text).toContain(`statement?day=2026-03-04&amp;state=classified">Classified: accepted`);
      expect(text).toContain('No outcome has changed');
    });

    it('is checked on request, and says what does not hold', async () => {
      const check = async (date: string) =>
        /<div class="notice (\w+)"[^>]*>([^<]*)/.exec(
          (await viewer.get(`${days}/${date}?check=1`)).text,
        );
      expect((await check('2026-03-04'))?.slice(1)).toEqual([
        'good',
        'The certificate holds: hashes, place in the chain, and 2 lines with their outcomes.',
      ]);
      await closedDays.save(account.id);
      await closedDays.tamper(
        'UPDATE statement_line SET amount_cents = 9 WHERE account_id = $1 AND nsu = 3',
        account.id,
      );
      expect((await check('2026-03-04'))?.[2]).toContain('does not hold in “credits”');
      await closedDays.tamper(
        `UPDATE day_close SET hash = repeat('0', 64) WHERE account_id = $1 AND sequence = 2`,
        account.id,
      );
      for (const date of ['2026-03-03', '2026-03-04']) expect((await check(date))?.[1]).toBe('bad');
      await closedDays.restore(account.id);
      expect((await check('2026-03-03'))?.[1]).toBe('good');
    });

    it('gives the exact text of its certificate, whose hash it states', async () => {
      const { text, headers } = await viewer.get(`${days}/2026-03-04/certificate`);
      const [, , last] = await closedDays.chain(account.id);
      expect(createHash('sha256').update(text).digest('hex')).toBe(last!.hash);
      expect(headers.get('content-disposition')).toContain('2026-03-04-certificate-1.json');
      expect((await viewer.get(`${days}/2026-03-04/certificate?revision=2`)).status).toBe(404);
    });

    it('without a certificate says what it waits for; what is no day is not there', async () => {
      const { status, text } = await viewer.get(`${days}/2026-03-05`);
      expect([status, text.includes('it is not proven yet')]).toEqual([200, true]);
      for (const none of ['2026-02-30', 'today', '2026-02-27', '%00'])
        expect([none, (await viewer.get(`${days}/${none}`)).status]).toEqual([none, 404]);
    });

    it('shows an amendment with all revisions, and the late line that caused it', async () => {
      await closedDays.arrive(account.id, [...lines, late], ({ nsu }) => nsu === late.nsu);
      await closedDays.decide(account.id);
      await closedDays.close(account);
      const { text } = await viewer.get(`${days}/2026-03-03`);
      expect(text).toContain('Amended (revision 2)');
      expect(text).toContain('certificate?revision=1');
      expect(text).toContain('Differences stated in the certificate');
      expect((await viewer.get(`${days}/2026-03-03`, portuguese)).text).toContain(
        'Retificado (2ª versão)',
      );
      expect((await viewer.get(days)).text).toContain('Amended (revision 2)');
    });
  });

  describe('files', () => {
    const take = (who: Person, file: string, fields: Record<string, string>) =>
      who.submit(`${days}/${file}`, fields);
    const march = { from: '2026-03-01', to: '2026-03-31', format: 'csv' };

    it('of statement and month are for those who may take files, and each stands in the audit', async () => {
      const { status, headers, text } = await take(analyst, 'files', march);
      expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([200, 'text/csv']);
      expect(text.trim().split('\n').length).toBeGreaterThanOrEqual(1 + lines.length);
      const report = await take(analyst, 'report', { month: '2026-03' });
      expect(report.headers.get('content-disposition')).toContain(`${slug}-2026-03.html`);
      const { rows } = await run(
        `SELECT operator_id::text, subject FROM audit_entry WHERE action = 'take file' ORDER BY id`,
      );
      expect(rows).toEqual(
        ['file statement csv 2026-03-01 2026-03-31', 'file month 2026-03'].map((subject) => ({
          operator_id: analyst.id,
          subject,
        })),
      );
      for (const [file, fields] of [['files', march] as const, ['report', march] as const]) {
        expect((await take(viewer, file, fields)).status).toBe(403);
        expect((await analyst.get(`${days}/${file}?format=csv&month=2026-03`)).status).toBe(404);
      }
      expect((await viewer.get(days)).text).not.toContain('days/files');
      expect((await analyst.get(days)).text).toContain('days/files');
    });

    it('of one day are offered by forms of its page, and by no link', async () => {
      const { text } = await analyst.get(`${days}/2026-03-02`);
      expect(text).toContain('<input type="hidden" name="from" value="2026-03-02"/>');
      expect(text).toContain('<button class="plain" name="format" value="csv">');
      expect(text).toContain('<input type="hidden" name="month" value="2026-03"/>');
      expect(text).not.toMatch(/href="[^"]*days\/(files|report)/);
    });

    it.each([
      ['files', { from: '2026-03-09', to: '2026-03-02' }, 400, '1 to 366 days'],
      ['files', { from: 'never' }, 400, '1 to 366 days'],
      ['report', { month: '2199-01' }, 404, 'no statement of this month'],
      ['report', { month: 'x' }, 400, '1 to 366 days'],
    ])('that cannot be made say why: %s %j', async (file, fields, status, words) => {
      const page = await take(analyst, file, fields as Record<string, string>);
      expect([page.status, page.text.includes(words)]).toEqual([status, true]);
      const { rows } = await run('SELECT action FROM audit_entry ORDER BY id DESC LIMIT 1');
      expect(rows).toEqual([{ action: 'refused' }]);
    });

    it('show no text of an address', async () => {
      const { text } = await viewer.get(`${days}?problem=<script>alert(1)</script>`);
      expect(text).not.toContain('alert(1)');
    });
  });

  it('start a reconciliation with a reason, which the audit names, and not for a viewer', async () => {
    const runs = async () =>
      (await run('SELECT requested_by FROM reconciliation_run')).rows as unknown[];
    const entries = async () =>
      (await run(`SELECT action, subject, reason FROM audit_entry ORDER BY id DESC LIMIT 1`)).rows;
    expect((await viewer.submit(`${days}/run`, { reason: 'because' })).status).toBe(403);
    expect((await analyst.submit(`${days}/run`)).status).toBe(400);
    expect(await runs()).toEqual([]);
    const { status, location } = await analyst.submit(`${days}/run`, { reason: 'month end' });
    expect([status, location]).toEqual([303, `${days}?started=1`]);
    expect(await runs()).toEqual([{ requested_by: `person:${analyst.id}` }]);
    expect(await entries()).toEqual([
      { action: 'start reconciliation', subject: `account ${slug}`, reason: 'month end' },
    ]);
    expect((await analyst.get(location!)).text).toContain('The reconciliation has started');
  });
});
