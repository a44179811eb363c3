// The list of breaks, the one that is chosen beside it, and actions on many.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  breakForms,
  breakReason as reason,
  breaksPath as breaks,
  startBreakPages,
  type BreakPagesSetup,
} from '../../support/break-pages.js';
import { ReasonCodes } from '../../../src/reconciliation/breaks/reason-codes.service.js';
import { BreaksFixture } from '../../support/breaks.js';
import { csrfOf } from '../../support/console-visitor.js';

describe('the queue of breaks', () => {
  let setup: BreakPagesSetup;
  let service: BreakPagesSetup['service'];
  let analyst: BreakPagesSetup['analyst'];
  let viewer: BreakPagesSetup['viewer'];
  const fixture = new BreaksFixture(() => setup.service);
  const { sql, get, actions } = fixture;
  const { receivePix, resolveAll } = breakForms(() => setup, fixture);
  beforeAll(async () => {
    setup = await startBreakPages();
    ({ service, analyst, viewer } = setup);
  });
  afterAll(() => setup.service.stop());
  beforeEach(resolveAll);

  const listedIds = (text: string) =>
    [...text.matchAll(/<input type="checkbox" name="break" value="([0-9a-f-]{36})"/g)].map(
      ([, id]) => id,
    );

  describe('the list', () => {
    it('shows open breaks, the most severe first, and every state where the filter says so', async () => {
      const [first, second] = [
        await fixture.addUnexpectedLine({ amountCents: 123_456 }),
        await fixture.addUnexpectedLine(),
      ];
      const mismatch = await fixture.addBreak('balance_mismatch', 'first', { amountCents: 1 });
      const { text } = await analyst.get(breaks);
      expect(listedIds(text)).toEqual([mismatch, first.id, second.id]);
      await fixture.act(mismatch, 'accept');
      expect(text).toContain('>+R$ 1.234,56<');
      expect(text).toMatch(/data-label="Day">\d\d\/\d\d\/\d{4}</);
      expect(text).toContain('Unexpected line');
      await fixture.act(first.id, 'accept');
      expect(listedIds((await analyst.get(breaks)).text)).toEqual([second.id]);
      const all = listedIds((await analyst.get(`${breaks}?state=`)).text);
      expect(all.filter((id) => id !== mismatch).slice(0, 2)).toEqual([second.id, first.id]);
    });

    it('keeps its filters in the address of its pages and of the breaks', async () => {
      const ids = [];
      for (const amountCents of [500, 1_000, 1_500])
        ids.push((await fixture.addUnexpectedLine({ amountCents })).id);
      const { text } = await analyst.get(
        `${breaks}?minAmount=10,00&maxAmount=15,00&kind=unexpected`,
      );
      expect(listedIds(text)).toEqual([ids[2], ids[1]]);
      const query = 'state=open&amp;kind=unexpected&amp;minAmount=10.00&amp;maxAmount=15.00';
      expect(text).toContain(`${breaks}?${query}&amp;break=${ids[2]}`);
      const wrong = await analyst.get(`${breaks}?minAmount=much`);
      expect([wrong.status, wrong.text.includes('Amount from.')]).toEqual([200, true]);
    });

    it('sums what its filter selects by kind and by age, each of which is a filter', async () => {
      await fixture.addUnexpectedLine({ amountCents: 123_456 });
      await fixture.addUnexpectedLine({ amountCents: 44 });
      await fixture.addBreak('balance_mismatch', 'balance', { amountCents: 100 });
      const { text } = await analyst.get(`${breaks}?minAmount=0,50`);
      expect(text).toContain('Total: 2 · R$ 1.235,56');
      const sums = [...text.matchAll(/<a href="([^"]*)">([^<]*) <span class="amount">([^<]*)</g)];
      expect(sums.map(([, , name, amount]) => [name, amount])).toEqual([
        ['Unexpected line', '1 · R$ 1.234,56'],
        ['Balance mismatch', '1 · R$ 1,00'],
        ['0 to 1 days', '2 · R$ 1.235,56'],
      ]);
      const ofKind = await analyst.get(sums[0]![1]!.replaceAll('&amp;', '&'));
      expect(ofKind.text).toContain('Total: 1 · R$ 1.234,56');
    });

    it('is ordered by amount, either way, and keeps that with other filters', async () => {
      const ids: string[] = [];
      for (const amountCents of [700, 900, 800])
        ids.push((await fixture.addUnexpectedLine({ amountCents })).id);
      const [seven, nine, eight] = ids;
      const { text } = await analyst.get(`${breaks}?sort=amount`);
      expect(listedIds(text)).toEqual([nine, eight, seven]);
      expect(text).toContain('<input type="hidden" name="sort" value="amount"/>');
      const rising = await analyst.get(`${breaks}?sort=amount&order=asc`);
      expect(listedIds(rising.text)).toEqual([seven, eight, nine]);
    });

    it('has the chosen break beside it, and the next one after an action, by links and forms', async () => {
      const [least, most] = [
        await fixture.addUnexpectedLine({ amountCents: 800 }),
        await fixture.addUnexpectedLine({ amountCents: 900, document: '11144477735' }),
      ];
      const candidate = await fixture.addExpectedPayment({
        ...{ amountCents: 900, document: '11144477735' },
      });
      const list = `${breaks}?state=open&sort=amount`;
      const links = (await analyst.get(`${breaks}?sort=amount`)).text.match(
        /(?<=<a href=")[^"]*break=[^"]*/g,
      );
      const [first] = links!.map((link) => link.replaceAll('&amp;', '&'));
      expect(first).toBe(`${list}&break=${most.id}`);
      const { text } = await analyst.get(first!);
      expect(listedIds(text)).toEqual([most.id, least.id]);
      expect(text).toContain('Unexpected line · R$ 9,00');
      // What is only near is listed, and not proposed.
      const near = await fixture.addExpectedPayment({ amountCents: 790 });
      const doubtful = (await analyst.get(`${list}&break=${least.id}`)).text;
      expect(doubtful).toContain(`name="candidate" value="${near}"`);
      expect(doubtful).not.toMatch(/name="candidate"[^>]*checked|Candidate checked/);
      // What the page proposes is sent as it is.
      const link = /<form[^>]*action="([^"]*\/link\?[^"]*)".*?<\/form>/s.exec(text)!;
      const valueOf = (name: string) =>
        new RegExp(`name="${name}" value="([^"]*)"`).exec(link[0])?.[1] ?? '';
      expect(link[0]).toMatch(new RegExp(`value="${candidate}"[^>]*checked`));
      const fields = { csrf: csrfOf(text), shown: valueOf('shown'), reason: valueOf('reason') };
      const action = link[1]!.replaceAll('&amp;', '&');
      const wrong = await analyst.post(action, { ...fields, candidate: 'x' });
      expect([wrong.status, listedIds(wrong.text)]).toEqual([400, [most.id, least.id]]);
      expect(wrong.text).toContain('Choose a candidate');
      const done = await analyst.post(action, { ...fields, candidate });
      expect([done.status, done.location]).toEqual([
        303,
        `${list}&did=link&from=${most.id}&break=${least.id}`,
      ]);
      const next = await analyst.get(done.location!);
      expect(next.text).toContain('Linked.');
      expect(next.text).toContain('Unexpected line · R$ 8,00');
      expect((await analyst.get(`${breaks}?break=${randomUUID()}`)).status).toBe(404);
    });

    it('says how it fills when it is empty, in both languages', async () => {
      expect((await analyst.get(breaks)).text).toContain('No open break with these filters');
      const portuguese = await analyst.get(breaks, { 'accept-language': 'pt-BR' });
      expect(portuguese.text).toContain('Nenhuma divergência aberta com estes filtros');
    });

    it('offers a viewer no action, and masks who paid', async () => {
      const { id, nsu } = await fixture.addUnexpectedLine();
      await sql(
        `INSERT INTO webhook_counterparty (account_id, reference_kind, reference, is_credit, name)
         VALUES ($1, 'nsu', $2, true, 'Ana Souza')`,
        service.accountId,
        String(nsu),
      );
      expect((await analyst.get(breaks)).text).toContain('Ana Souza');
      for (const path of [breaks, `${breaks}/${id}`]) {
        const { status, text } = await viewer.get(path);
        expect([path, status, text.includes('Ana Souza')]).toEqual([path, 200, false]);
        expect(text).not.toMatch(/<(input|button)[^>]*name="(break|candidate|reason)"/);
      }
      expect((await viewer.get(`${breaks}/bulk?action=accept&break=${id}`)).status).toBe(403);
    });
  });

  describe('bulk actions', () => {
    const preview = async (query: string) => {
      const { status, text } = await analyst.get(`${breaks}/bulk?${query}`);
      const values = (name: string) =>
        [...text.matchAll(new RegExp(`name="${name}" value="([0-9a-f-]+)"`, 'g'))].map(
          ([, value = '']) => value,
        );
      const fields = new URLSearchParams({ csrf: csrfOf(text), reason });
      for (const name of ['shown', 'key', 'break', 'version'])
        for (const value of values(name)) fields.append(name, value);
      for (const [, seen = ''] of text.matchAll(/name="seen" value="([^"]+)"/g))
        fields.append('seen', seen.replace('R$ ', 'R$\u00a0'));
      return { status, text, fields, ids: values('break') };
    };
    const confirm = (action: string, fields: URLSearchParams) =>
      analyst.send(`${breaks}/bulk/${action}?state=open`, {
        method: 'POST',
        body: fields,
        headers: { origin: service.url },
      });

    it('show what would happen to each, change nothing, and then do just that', async () => {
      const [accepted, resolved] = [
        await fixture.addUnexpectedLine(),
        await fixture.addUnexpectedLine(),
      ];
      await fixture.act(resolved.id, 'link', {
        expectedPaymentId: await fixture.addExpectedPayment(),
      });
      const before = [await get(accepted.id), await get(resolved.id)];
      const query = `action=accept&of=ticked&break=${accepted.id}&break=${resolved.id}`;
      const { text, fields, ids } = await preview(query);
      expect(ids).toEqual([accepted.id, resolved.id]);
      expect(text).toContain('Of 2: 1 would change, 0 are so already, 1 cannot.');
      expect(text).toContain('Will be accepted and resolved');
      expect(text).toContain('Cannot: It is already resolved.');
      expect([await get(accepted.id), await get(resolved.id)]).toEqual(before);

      const { status, location } = await confirm('accept', fields);
      expect(status).toBe(303);
      const result = (await analyst.get(location!)).text;
      expect(result).toContain('Done: 1. So already: 0. Refused: 1.');
      expect(result).toContain('Refused: It is already resolved.');
      expect(await get(accepted.id)).toMatchObject({ state: 'resolved', resolution: 'accept' });
      expect(await actions(accepted.id)).toEqual(['opened', 'accept', 'resolved']);
    });

    it('do nothing at all once a break has changed since the preview', async () => {
      const both = [await fixture.addUnexpectedLine(), await fixture.addUnexpectedLine()];
      const { fields } = await preview('action=accept&of=filter&state=open');
      await sql(`UPDATE break SET amount_cents = 777 WHERE id = $1`, both[0]!.id);
      const { status, text } = await confirm('accept', fields);
      expect(status).toBe(409);
      expect(text).toContain('Something changed since the preview');
      expect(text).toContain('R$ 7,77');
      expect(text).toContain(`value="${reason}"`);
      for (const { id } of both) expect((await get(id)).state).toBe('open');
    });

    it('do each break once when the form is sent twice, with its reason code', async () => {
      const codes = service.application.get(ReasonCodes, { strict: false });
      const coding = { costCentre: 'Loja' };
      const code = { code: 'PAPEL', name: 'Pago em papel', coding, isActive: true, reason };
      await codes.change(service.accountId, code, 'test');
      const { id } = await fixture.addUnexpectedLine();
      const { fields, text } = await preview(`action=note&of=ticked&break=${id}`);
      expect(text).toContain('<option value="PAPEL">PAPEL · Pago em papel</option>');
      fields.set('reasonCode', 'PAPEL');
      const both = await Promise.all([confirm('note', fields), confirm('note', fields)]);
      expect(both.map(({ status }) => status)).toEqual([303, 303]);
      expect(both[0]!.location).toBe(both[1]!.location);
      expect(await actions(id)).toEqual(['opened', 'note']);
      expect(
        await sql(
          `SELECT detail FROM break_history_entry WHERE break_id = $1 AND action = 'note'`,
          id,
        ),
      ).toMatchObject([{ detail: { reasonCode: 'PAPEL', coding } }]);
    });

    it('take the breaks that the filter selects', async () => {
      await fixture.addUnexpectedLine({ amountCents: 100 });
      const { id } = await fixture.addUnexpectedLine({ amountCents: 90_000 });
      const { ids } = await preview('action=accept&of=filter&state=open&minAmount=500.00');
      expect(ids).toEqual([id]);
    });

    it('act on all of a filter after its totals, some at a time, and not on what has changed', async () => {
      const why = 'Settled on paper in September';
      await sql(
        `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, evidence)
         SELECT $1, gen_random_uuid(), 'disputed', 'open', 'batch ' || n, 100, '{}'
         FROM generate_series(1, 52) n`,
        service.accountId,
      );
      const csrf = csrfOf((await analyst.get(`${breaks}?kind=disputed`)).text);
      const begun = await analyst.post(`${breaks}/batches?kind=disputed`, { csrf, action: 'note' });
      expect(begun.status).toBe(303);
      const [page = ''] = begun.location!.split('?');
      const totals = await analyst.get(begun.location!);
      expect(totals.text).toContain('52 breaks · R$ 52,00');
      expect(
        await sql(`SELECT 1 FROM break_history_entry WHERE action = 'note' AND reason = $1`, why),
      ).toEqual([]);
      await sql(`UPDATE break SET amount_cents = 200 WHERE subject = 'batch 7'`);
      await sql(`UPDATE break SET amount_cents = 200 WHERE subject = 'batch 8'`);
      expect((await analyst.post(`${page}/note`, { csrf, reason: 'x' })).status).toBe(400);
      expect((await analyst.post(`${page}/accept`, { csrf, reason: why })).status).toBe(404);
      // Two steps at once decide nothing twice.
      const form = { csrf, reason: why, reasonCode: 'PAPEL' };
      const both = [1, 2].map(() => analyst.post(`${page}/note`, form));
      expect((await Promise.all(both)).map(({ status }) => status)).toEqual([303, 303]);
      let { text } = await analyst.get(page);
      // The second step may read after a decision of the first.
      expect(text).toMatch(/Left: [12]\./);
      await analyst.post(`${page}/note`, { csrf });
      ({ text } = await analyst.get(page));
      expect(text).toContain('Done: 50. Refused: 2. Left: 0.');
      expect(text).toContain('The break has changed since');
      const noted = await sql(
        `SELECT count(*)::int AS entries, count(DISTINCT break_id)::int AS breaks
         FROM break_history_entry WHERE action = 'note' AND reason = $1
           AND detail ->> 'reasonCode' = 'PAPEL'
           AND break_id IN (SELECT id FROM break WHERE kind = 'disputed')`,
        why,
      );
      expect(noted).toEqual([{ entries: 50, breaks: 50 }]);
      expect((await viewer.get(page)).status).toBe(403);
    });

    it('say what a refund would send, and refuse what has no Pix to refund', async () => {
      const { id } = await fixture.addUnexpectedLine();
      const missing = await fixture.addBreak('balance_mismatch', 'balance:1', { amountCents: 5 });
      const { text } = await preview(`action=refund&of=ticked&break=${id}&break=${missing}`);
      expect(text).toContain('Cannot: There is no received Pix to refund');
      expect(text).toContain('This action is possible for none of these breaks.');
    });

    it('refund each Pix by the amount that the preview shows', async () => {
      const both = [await receivePix(3), await receivePix(5)];
      const query = both.map(({ id }) => `break=${id}`).join('&');
      const { text, fields } = await preview(`action=refund&of=ticked&${query}`);
      expect(text).toContain('Will request a refund of R$ 3,00');
      expect(text).toMatch(/<button>Refund R\$ 8,00 to 2 payers<\/button>/);
      expect(text).toContain('Balance after');
      const other = new URLSearchParams(fields);
      other.set('seen', 'word.payments 2');
      other.set('key', randomUUID());
      expect((await confirm('refund', other)).status).toBe(409);
      const { location } = await confirm('refund', fields);
      expect((await analyst.get(location!)).text).toContain('Done: 2.');
      for (const { nsu } of both)
        expect(
          (await service.call('GET', `/v1/refunds?originalNsu=${nsu}`)).body.data,
        ).toHaveLength(1);
    });

    it('are not found for an unknown action, and show nothing without a ticked break', async () => {
      expect((await preview('action=drop')).status).toBe(404);
      expect((await preview('action=accept&break=x')).text).toContain('No break is ticked');
    });
  });
});
