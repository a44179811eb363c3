// *Today*: its figures and where they lead, its charts, and its stream, by a real HTTP client.
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { formatAmount, formatTime } from '../../../src/console/formats.js';
import { TodayFactsReader } from '../../../src/console/today/today-facts.service.js';
import { TodayStreams } from '../../../src/console/today/today-streams.service.js';
import { Operators } from '../../../src/access/people/operators.service.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { WebhookInbox } from '../../../src/webhooks/inbox/webhook-inbox.service.js';
import { slip } from '../../contract/samples.js';
import { signedInPerson } from '../../support/console-visitor.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { until } from '../../support/until.js';

type Person = Awaited<ReturnType<typeof signedInPerson>>;
const page = '/console/accounts/main/today';

describe('Today', () => {
  let service: ServiceApplication;
  let accountId: number;
  let viewer: Person;
  let analyst: Person;
  const streams = () => service.application.get(TodayStreams, { strict: false });
  const query = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);

  beforeAll(async () => {
    service = await serviceApplication();
    const operators = service.application.get(Operators, { strict: false });
    accountId = (await operators.findAccountId('main')) ?? 0;
    viewer = await signedInPerson(service, 'v@example.com', { accountId, role: 'viewer' });
    analyst = await signedInPerson(service, 'a@example.com', { accountId, role: 'analyst' });
  });
  afterAll(() => service.stop());

  const receive = async (correlationId: string, amount: number) => {
    const body = slip({ correlationId, Amount: amount });
    await service.sandbox.call('POST', '/baas/v1/charges', { body });
    await service.sandbox.call('POST', `/baas/v1/charges/${correlationId}/pay`, {});
    await service.application.get(StatementSync, { strict: false }).sync(accountId);
    await service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId });
  };

  it('says how an empty account fills, without charts', async () => {
    const { text } = await viewer.get(page);
    expect(text).toContain('The statement has no lines yet');
    expect(text).toContain('The charts appear with the first one');
    expect(text).not.toContain('<figure');
  });

  it('draws the money and the lines of the last 30 days, with the same figures in a table', async () => {
    await receive('seen-1', 1234.56);
    await receive('seen-2', 100);
    const { text } = await viewer.get(page);
    expect(text.match(/<svg class="plot"[^>]* role="img"/g)).toHaveLength(2);
    expect(text.match(/class="bar-in" x=/g)).toHaveLength(1);
    expect(text.match(/fill="url\(#outcomes-in_break\)" x=/g)).toHaveLength(1);
    const { rows } = await query(
      `SELECT sum(amount_cents) AS cents, count(*)::int AS lines FROM statement_line`,
    );
    expect(rows).toEqual([{ cents: '133456', lines: 2 }]);
    const [, figures = ''] = text.split('id="figures"');
    const cells = [
      ...figures.matchAll(/<td class="number"[^>]*>(?:<span class="amount">)?([^<]*)/g),
    ];
    expect(cells.map(([, cell]) => cell)).toEqual([
      ...[formatAmount(133_456n), formatAmount(0n), '0', '0', '2', '0'],
    ]);
    expect(text).toContain('<div class="unseen" id="figures"><table');
    const shown = (await viewer.get(`${page}?table=1`)).text;
    expect(shown).toContain(`sse-connect="${page}/events?table=1"`);
    expect(shown).not.toContain('class="unseen"');
  });

  it('leads from each figure to its list', async () => {
    const { text } = await viewer.get(page);
    const account = '/console/accounts/main';
    for (const list of [
      'breaks?state=open',
      'breaks?state=open&amp;kind=unexpected',
      'breaks?state=open&amp;severity=medium',
      'statement?state=in_break',
      'days',
    ])
      expect(text).toContain(`href="${account}/${list}"`);
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(20);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('counts open breaks by severity and age in Portuguese too', async () => {
    const { text } = await viewer.get(page, { 'accept-language': 'pt-BR' });
    expect(text).toContain('Nem tudo está explicado. Divergências abertas: 2.');
    expect(text).toMatch(/Gravidade média<\/dt><dd><a [^>]*>1<\/a>/);
    expect(text).toMatch(/Gravidade baixa<\/dt><dd><a [^>]*>1<\/a>/);
    expect(text).toMatch(/De hoje ou de ontem<\/dt><dd><a [^>]*>2<\/a>/);
    expect(text).toContain('Entradas e saídas por dia');
  });

  it('says what to do now, in reais, and of when the balance is', async () => {
    const { text } = await viewer.get(page);
    const plain = text
      .replaceAll('\u00a0', ' ')
      .replace(/<[^>]*>/g, '|')
      .replace(/\|+/g, '|');
    expect(plain).toMatch(/What to do now\|.*\|Unexpected[^|]*\|2\|R\$ 1\.334,56\|/);
    const { occurredAt } = await service.database.prisma.statementLine.findFirstOrThrow({
      orderBy: { nsu: 'desc' },
    });
    expect(plain).toContain(`by the newest line, of ${formatTime(occurredAt, 'en')}.`);
  });

  it('is an overview for the finance director, with of when each figure is', async () => {
    const { text } = await viewer.get('/console/accounts/main/overview');
    const plain = text
      .replaceAll('\u00a0', ' ')
      .replace(/<[^>]*>/g, '|')
      .replace(/\|+/g, '|');
    expect(plain).toMatch(/\|Cash now\|R\$ [\d.,]+\|by the newest line, of [^|]+\|/);
    expect(plain).toContain('|In today|R$ 1.334,56|Out today|R$ 0,00|Expected in, 7 days|R$ 0,00|');
    expect(plain).toContain('|Unexplained|R$ 1.334,56|Breaks: 2. 30 days ago: R$ 0,00.|');
    expect(plain).toContain('|Await approval|R$ 0,00|Payments: 0|');
    expect(text).toMatch(/<path class="balance" d="M/);
    await query(
      `UPDATE statement_state SET live_balance_cents = 5, live_balance_at = clock_timestamp(),
         balance_differs_since = clock_timestamp(),
         live_balance_nsu = COALESCE(last_nsu, 0)
       WHERE account_id = 1`,
    );
    const message = await until('the overview is read anew', async () => {
      const doubted = (await viewer.get('/console/accounts/main/overview')).text;
      return /class="([^"]*)"[^>]*><div>The bank says that the balance is ([^(]*)/.exec(doubted);
    });
    expect(message.slice(1)).toEqual([expect.stringContaining('bad'), 'R$\u00a00,05 ']);
    // Every page that shows a balance says that another fact contradicts it.
    for (const other of ['statement', 'days', 'forecast']) {
      const { text: doubted } = await viewer.get(`/console/accounts/main/${other}`);
      expect([other, doubted.includes('The bank says that the balance is')]).toEqual([other, true]);
      expect(doubted).toMatch(/Difference: −?R\$/);
    }
    await query(
      `UPDATE statement_state SET live_balance_cents = NULL, live_balance_at = NULL,
         balance_differs_since = NULL, live_balance_nsu = NULL`,
    );
    const { rows } = await query(`SELECT id FROM break ORDER BY amount_cents LIMIT 1`);
    await query(
      `UPDATE break SET state = 'resolved', resolved_at = clock_timestamp(), resolution = 'accept'
       WHERE id = $1`,
      rows[0].id,
    );
    const after = await viewer.get('/console/accounts/main/overview');
    expect(after.text.replaceAll('\u00a0', ' ')).toContain('R$ 1.234,56');
    await query(
      `UPDATE break SET state = 'open', resolved_at = NULL, resolution = NULL WHERE id = $1`,
      rows[0].id,
    );
  });

  it('leaves webhooks to Connections, with since when and what to do', async () => {
    const connections = '/console/accounts/main/connections';
    const textOf = async () =>
      (await viewer.get(connections)).text.replace(/<[^>]*>/g, '|').replace(/\|+/g, '|');
    expect(await textOf()).toContain('|Webhooks in quarantine|In order|0|');
    const inbox = service.application.get(WebhookInbox, { strict: false });
    await inbox.store(accountId, 'SOMETHING_NEW', Buffer.from('{"nsu":7}'));
    const text = await textOf();
    expect(text).toMatch(
      /\|Webhooks in quarantine\|Failing\|1\|\d\d\/\d\d\/\d{4}, [\d:]+\|See and decide\|/,
    );
    expect(text).toMatch(/\|Sync of the statement by account\|.*\|main\|Live/);
    expect((await viewer.get(connections)).text).toContain('webhooks?state=quarantined"');
  });

  describe('its stream', () => {
    interface Stream {
      response: IncomingMessage;
      text: () => string;
      isEnded: () => boolean;
      close: () => void;
    }

    const open = async (person: Person, headers: Record<string, string> = {}): Promise<Stream> => {
      const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const request = get(`${service.url}${page}/events`, {
        agent: false,
        headers: { cookie, accept: 'text/event-stream', 'accept-language': 'en', ...headers },
      });
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request.once('response', resolve).once('error', reject);
      });
      let text = '';
      let isEnded = false;
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('close', () => (isEnded = true));
      response.on('error', () => undefined);
      return { response, text: () => text, isEnded: () => isEnded, close: () => request.destroy() };
    };
    const parts = (stream: Stream) => stream.text().match(/event: today\n/g)?.length ?? 0;
    const noneOpen = () => until('no page is open', () => streams().size === 0);

    it('sends the page, and sends it again when something has changed', async () => {
      const stream = await open(viewer);
      const { statusCode, headers } = stream.response;
      expect([statusCode, headers['content-type']]).toEqual([
        ...[200, 'text/event-stream; charset=utf-8'],
      ]);
      expect(headers).toMatchObject({
        ...{ 'x-accel-buffering': 'no', 'cache-control': 'no-store, no-transform' },
      });
      expect(headers['content-encoding']).toBeUndefined();
      await until('the page is sent', () => parts(stream) > 0);
      expect(stream.text()).toContain('Open breaks: 2.');
      await receive('seen-3', 3);
      await until('the change is sent', () => stream.text().includes('Open breaks: 3.'));
      stream.close();
      await noneOpen();
    });

    it('is read once for all pages of an account, and written in each language', async () => {
      const reader = service.application.get(TodayFactsReader, { strict: false });
      const read = jest.spyOn(reader, 'readAnew');
      const pages = await Promise.all([
        ...[open(viewer), open(viewer), open(analyst)],
        open(analyst, { 'accept-language': 'pt-BR' }),
      ]);
      await until('all have the page', () => pages.every((one) => parts(one) > 0));
      expect(pages.map((one) => one.text().includes('Divergências abertas: 3.'))).toEqual([
        ...[false, false, false, true],
      ]);
      // One reading for the four, and maybe one of a webhook that has come meanwhile.
      expect(read.mock.calls.length).toBeLessThanOrEqual(2);
      read.mockRestore();
      for (const one of pages) one.close();
      await noneOpen();
    });

    it('gives way to the newest pages of a person', async () => {
      const pages: Stream[] = [];
      for (let count = 0; count < 5; count += 1) pages.push(await open(viewer));
      await until('the oldest has ended', () => pages[0]!.isEnded());
      expect(pages[0]!.text()).toContain('event: ended');
      expect(streams().size).toBe(4);
      for (const one of pages) one.close();
      await noneOpen();
    });

    it('is no use of the session, and ends with it', async () => {
      await query(`UPDATE operator_session SET last_used_at = now() - interval '20 minutes'`);
      const used = async () =>
        (await query('SELECT last_used_at FROM operator_session ORDER BY id')).rows;
      const before = await used();
      const stream = await open(viewer);
      await until('the page is sent', () => parts(stream) > 0);
      expect(await used()).toEqual(before);
      await viewer.get(page, { 'hx-request': 'true' });
      expect(await used()).toEqual(before);
      await viewer.get(page, { 'hx-request': 'true', 'x-asked': 'true' });
      expect(await used()).not.toEqual(before);
      await query('UPDATE operator_session SET ended_at = now() WHERE operator_id = $1', viewer.id);
      await receive('seen-4', 4);
      await until('the stream has ended', () => stream.isEnded());
      expect(stream.text()).toContain('event: ended');
      expect(stream.text()).not.toContain('Open breaks: 4.');
      const { status, headers } = await viewer.get(page, { 'hx-request': 'true' });
      expect([status, headers.get('hx-redirect')]).toEqual([
        ...[200, `/console/sign-in?next=${encodeURIComponent(page)}`],
      ]);
    });

    it('ends when the role of its person changes', async () => {
      const stream = await open(analyst);
      await until('the page is sent', () => parts(stream) > 0);
      await query(`UPDATE operator_role SET role = 'viewer' WHERE operator_id = $1`, analyst.id);
      await receive('seen-5', 5);
      await until('the stream has ended', () => stream.isEnded());
      await noneOpen();
    });

    it('is not there for people without a role, nor without a session', async () => {
      const { status } = await analyst.get('/console/accounts/other/today/events');
      expect(status).toBe(404);
      analyst.cookies.clear();
      expect((await analyst.get(`${page}/events`)).status).toBe(303);
    });

    it('ends promptly when the service stops', async () => {
      const last = await signedInPerson(service, 'l@example.com', { accountId, role: 'viewer' });
      const stream = await open(last);
      await until('the page is sent', () => parts(stream) > 0);
      const began = performance.now();
      await streams().cutAll();
      await until('the stream has ended', () => stream.isEnded());
      expect(performance.now() - began).toBeLessThan(2_000);
      expect((await last.get(`${page}/events`)).status).toBe(503);
    });
  });
});
