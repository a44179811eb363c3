// The page of a break: what it shows, to whom, and what its forms do.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  breakForms,
  breakReason as reason,
  breaksPath as breaks,
  startBreakPages,
  type BreakPagesSetup,
} from '../../support/break-pages.js';
import { BreaksFixture } from '../../support/breaks.js';

describe('the page of a break', () => {
  let setup: BreakPagesSetup;
  let service: BreakPagesSetup['service'];
  let analyst: BreakPagesSetup['analyst'];
  let viewer: BreakPagesSetup['viewer'];
  const fixture = new BreaksFixture(() => setup.service);
  const { sql, get, actions } = fixture;
  const { open, send, resolveAll } = breakForms(() => setup, fixture);
  beforeAll(async () => {
    setup = await startBreakPages();
    ({ service, analyst, viewer } = setup);
  });
  afterAll(() => setup.service.stop());
  beforeEach(resolveAll);

  const audited = async (subject: string) =>
    sql(
      `SELECT action, operator_id::text AS person, reason, shown FROM audit_entry
       WHERE subject = $1 ORDER BY id`,
      subject,
    );

  describe('the page of a break', () => {
    it('says what happened, and compares its line with each candidate', async () => {
      const { id } = await fixture.addUnexpectedLine({
        amountCents: 10_000,
        document: '52998224725',
      });
      await fixture.addExpectedPayment({ amountCents: 9_500, document: '52998224725' });
      const { text } = await open(id);
      expect(text).toContain('The statement shows R$ 100,00 that no charge');
      expect(text).toMatch(/✗<\/span> Differs<span class="difference">R\$\s5,00 more/);
      expect(text).toContain('same CPF/CNPJ');
      expect(text).toContain('name="candidate"');
    });

    it('is as old as its line, in the list, the totals, the file, the API and on Hoje', async () => {
      const { id, nsu } = await fixture.addUnexpectedLine({ daysAgo: 40, amountCents: 4_321 });
      await fixture.addUnexpectedLine();
      const [{ day }] = await sql(
        `SELECT day_of_line(occurred_at) AS day FROM statement_line WHERE nsu = $1`,
        nsu,
      );
      expect((await get(id)).ageDays).toBe(40);
      const listed = await service.call('GET', '/v1/breaks?sort=age&limit=1');
      expect(listed.body.data).toMatchObject([{ id, ageDays: 40 }]);
      const { text } = await analyst.get(`${breaks}?openedTo=${day}`);
      expect([text.includes('40 d<'), text.includes('Total: 1 · R$ 43,21')]).toEqual([true, true]);
      const file = await service.call('GET', '/v1/exports/breaks');
      expect(file.text).toMatch(new RegExp(`,${day},40,43.21,`));
      const today = await analyst.get('/console/accounts/main/today');
      expect(today.text).toMatch(/more than 30 days<\/dt><dd><a[^>]*>1</);
    });

    it('of every kind opens, in both languages, and offers to accept it', async () => {
      const { breakKinds } =
        await import('../../../src/reconciliation/decide/break-kind-declarations.js');
      for (const kind of Object.keys(breakKinds)) {
        const id = await fixture.addBreak(kind, `of every kind ${kind}`, { amountCents: 100 });
        for (const language of ['pt-BR', 'en']) {
          const { status, text } = await analyst.get(`${breaks}/${id}`, {
            'accept-language': language,
          });
          expect([kind, language, status]).toEqual([kind, language, 200]);
          expect(text).toContain(`/breaks/${id}/accept?`);
          expect(text).not.toContain('undefined');
        }
      }
    });

    it('is not found for another account, and for what is no id', async () => {
      for (const absent of [randomUUID(), 'nothing', 'bulk/nothing'])
        expect((await analyst.get(`${breaks}/${absent}`)).status).toBe(404);
      const { id } = await fixture.addUnexpectedLine();
      expect((await analyst.get(`/console/accounts/other/breaks/${id}`)).status).toBe(404);
    });

    it('links the chosen candidate, and opens the next break of the list', async () => {
      const older = await fixture.addUnexpectedLine({ amountCents: 700 });
      const { id, nsu } = await fixture.addUnexpectedLine();
      const candidate = await fixture.addExpectedPayment();
      const { status, location } = await send(id, 'link', { candidate });
      expect([status, location]).toEqual([
        303,
        `${breaks}/${older.id}?state=open&did=link&from=${id}`,
      ]);
      expect(await fixture.liveMatches(nsu)).toMatchObject([{ rule: 'manual', cents: 1_000 }]);
      const next = await analyst.get(location!);
      expect(next.text).toContain('Linked.');
      const last = await send(older.id, 'accept');
      expect(last.location).toBe(`${breaks}?state=open&did=accept&from=${older.id}&last=1`);
      expect((await analyst.get(last.location!)).text).toContain('It was the last one');
    });

    it('records the person, the reason and what they saw in the audit and in the history', async () => {
      const { id } = await fixture.addUnexpectedLine();
      const { shown } = await open(id);
      await send(id, 'accept');
      expect(await audited(`break ${id}`)).toEqual([
        { action: 'accept break', person: analyst.id, reason, shown },
      ]);
      expect((await get(id)).history.at(-1)).toMatchObject({
        action: 'resolved',
        actor: `person:${analyst.id}`,
        reason,
      });
      const { text } = await open(id);
      expect(text).toContain('Accepted · analyst@example.com');
      expect((await viewer.get(`${breaks}/${id}`)).text).toContain('Accepted · a***');
    });

    it('splits a line over several payments, whose parts must sum to it', async () => {
      const { id, nsu } = await fixture.addUnexpectedLine();
      const [one, other] = [
        await fixture.addExpectedPayment({ amountCents: 400 }),
        await fixture.addExpectedPayment({ amountCents: 600 }),
      ];
      const parts = { split: '1', id0: one, part0: '4,00', id1: other };
      const refused = await send(id, 'link', { ...parts, part1: '5,99' });
      expect([refused.status, refused.text.includes('must sum to the amount')]).toEqual([
        422,
        true,
      ]);
      expect(refused.text).toContain('value="5,99"');
      expect((await send(id, 'link', { ...parts, part1: 'six' })).status).toBe(400);
      expect((await send(id, 'link', { ...parts, part1: '6,00' })).status).toBe(303);
      expect(await fixture.liveMatches(nsu)).toHaveLength(2);
    });

    it('finds what else may be linked by amount, day, id and name, and links it', async () => {
      const { id, nsu } = await fixture.addUnexpectedLine({ amountCents: 50_000 });
      // Too long before the line for a candidate.
      const far = await fixture.addExpectedPayment({ amountCents: 50_000 });
      await fixture.addExpectedPayment({ amountCents: 77_700, isCredit: false });
      await sql(
        `UPDATE expected_payment SET counterparty_name = 'Padaria Sol', due_date = '2026-12-24',
           created_at = now() - interval '90 days'
         WHERE id = $1`,
        far,
      );
      const find = async (text: string) => {
        const { csrf } = await open(id);
        const page = await analyst.post(`${breaks}/${id}/find?state=open&break=${id}`, {
          ...{ csrf, find: text },
        });
        const found = page.text.matchAll(/name="candidate" value="([^"]*)"/g);
        return { ...page, ids: [...found].map(([, one]) => one) };
      };
      for (const text of ['500', 'R$ 500,00', '24/12/2026', far, 'padaria'])
        expect([text, (await find(text)).ids]).toEqual([text, [far]]);
      expect((await find('777')).ids).toEqual([]);
      expect((await find('no such name')).text).toContain(
        'Nothing that can be linked was found for no such name.',
      );
      expect((await send(id, 'link', { candidate: far })).status).toBe(303);
      expect(await fixture.liveMatches(nsu)).toMatchObject([{ rule: 'manual' }]);
    });

    it('links the line that pays a missing payment, by its NSU', async () => {
      await service.sync();
      const { nsu } = await fixture.addUnexpectedLine();
      const id = await fixture.letDeadlinePass(await fixture.addExpectedPayment());
      const { text } = await open(id);
      expect(text).toContain(`Line NSU ${nsu}`);
      expect((await send(id, 'link', { candidate: String(nsu) })).status).toBe(303);
      expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'link' });
    });

    it('reopens what a person resolved, and says why it cannot reopen the rest', async () => {
      const { id } = await fixture.addUnexpectedLine();
      await fixture.act(id, 'accept');
      expect((await send(id, 'reopen')).location).toContain(
        `${breaks}/${id}?state=open&did=reopen`,
      );
      expect((await get(id)).state).toBe('open');
      await sql(`UPDATE break SET state = 'resolved', resolved_at = now() WHERE id = $1`, id);
      expect((await open(id)).text).not.toContain(`/breaks/${id}/reopen`);
      const refused = await send(id, 'reopen');
      expect([refused.status, refused.text.includes('resolved automatically')]).toEqual([
        409,
        true,
      ]);
    });

    it('stays open with a note, and shows it', async () => {
      const { id } = await fixture.addUnexpectedLine();
      expect((await send(id, 'note')).location).toBe(`${breaks}/${id}?state=open&did=note`);
      expect(await actions(id)).toEqual(['opened', 'note']);
      expect((await open(id)).text).toContain(reason);
    });

    it('asks for a reason, a candidate and an amount, and stores nothing without them', async () => {
      const { id } = await fixture.addUnexpectedLine();
      const wrong: [string, Record<string, string>][] = [
        ['accept', { reason: '' }],
        ['accept', { reason: ' x ' }],
        ['link', {}],
        ['link', { candidate: 'x' }],
        ['link', { candidate: `${randomUUID()}x` }],
        ['refund', { amount: '-1' }],
        ['refund', { amount: '1,234' }],
        ['comment', { text: '  ' }],
        ['comment', { text: 'x'.repeat(2_001) }],
      ];
      for (const [action, fields] of wrong) {
        const { status, text } = await send(id, action, fields);
        expect([action, fields, status, text.includes('role="alert"')]).toEqual([
          action,
          fields,
          400,
          true,
        ]);
      }
      expect(await actions(id)).toEqual(['opened']);
    });

    it('is not decided once it has changed since it was shown', async () => {
      const { id } = await fixture.addUnexpectedLine();
      const { csrf, shown } = await open(id);
      await sql(`UPDATE break SET amount_cents = 2000 WHERE id = $1`, id);
      for (const action of ['accept', 'link', 'note']) {
        const fields = { csrf, shown, reason, candidate: randomUUID() };
        const { status, text } = await analyst.post(`${breaks}/${id}/${action}`, fields);
        expect([action, status]).toEqual([action, 409]);
        expect(text).toContain('has changed since the page was opened');
        expect(text).toContain('R$ 20,00');
      }
      expect(await actions(id)).toEqual(['opened', 'revised']);
      const entries = await audited(`break ${id}`);
      expect(entries.map(({ action }) => action as string)).toEqual([
        'accept break',
        'link break',
        'note break',
      ]);
      const refused = await sql(`SELECT count(*)::int AS n FROM audit_entry
        WHERE action = 'refused' AND reason = 'validation_failed'`);
      expect(refused[0].n).toBeGreaterThanOrEqual(3);
    });

    it('can be changed by no form of a viewer', async () => {
      const { id } = await fixture.addUnexpectedLine();
      const forms = ['link', 'accept', 'refund', 'resend', 'reopen', 'note', 'comment'];
      const { shown } = await open(id);
      for (const action of forms) {
        const fields = { reason, shown, text: 'x', candidate: randomUUID() };
        const { status } = await viewer.submit(`${breaks}/${id}/${action}`, fields);
        expect([action, status]).toEqual([action, 403]);
      }
      for (const action of ['accept', 'refund', 'reopen', 'note']) {
        const fields = { reason, break: id, version: shown, key: randomUUID() };
        const { status } = await viewer.submit(`${breaks}/bulk/${action}`, fields);
        expect([action, status]).toEqual([action, 403]);
      }
      expect(await actions(id)).toEqual(['opened']);
    });
  });

  describe('comments', () => {
    it('show who wrote what, with line breaks, to those who may see personal data', async () => {
      const { id } = await fixture.addUnexpectedLine();
      const text = 'Ana called.\nShe pays again on Friday.';
      expect((await send(id, 'comment', { text })).location).toContain('did=comment');
      const page = await open(id);
      expect(page.text).toContain(text);
      expect(page.text).toContain('analyst@example.com');
      const seen = (await viewer.get(`${breaks}/${id}`)).text;
      expect([seen.includes('Ana called'), seen.includes('(hidden:')]).toEqual([false, true]);
      expect(JSON.stringify(await audited(`break ${id}`))).not.toContain('Ana');
    });
  });

  describe('what happened before with the same counterparty', () => {
    it('lists its earlier lines with what became of them, where it is known', async () => {
      const document = '11144477735';
      const earlier = await fixture.addUnexpectedLine({ amountCents: 4_321, document });
      await fixture.act(earlier.id, 'accept');
      const stranger = { amountCents: 9_876, document: '52998224725' };
      const other = await fixture.addUnexpectedLine(stranger);
      const { id } = await fixture.addUnexpectedLine({ document });
      const { text } = await open(id);
      const section = text.slice(text.indexOf('Before, with the same'), text.indexOf('Comments'));
      expect(section).toContain('R$ 43,21');
      expect(section).toContain(`/breaks/${earlier.id}"`);
      expect(section).toContain('Accepted');
      expect(section).not.toContain('R$ 98,76');
      expect(section).not.toContain(other.id);
      const unknown = await fixture.addUnexpectedLine();
      expect((await open(unknown.id)).text).toContain('not known by a full CPF or CNPJ');
    });
  });

  it('run and break nothing that a payer writes', async () => {
    const hostile = [
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      '\u202Egnp.exe',
      'x'.repeat(2_000),
      '🙂'.repeat(100),
      "'; DROP TABLE break; --",
    ];
    for (const name of hostile) {
      const { id, nsu } = await fixture.addUnexpectedLine({ notes: name });
      await sql(
        `INSERT INTO webhook_counterparty (account_id, reference_kind, reference, is_credit, name,
           message)
         VALUES ($1, 'nsu', $2, true, $3, $3)`,
        service.accountId,
        String(nsu),
        name,
      );
      await send(id, 'comment', { text: name });
      for (const path of [breaks, `${breaks}/${id}`, `${breaks}/bulk?action=accept&break=${id}`]) {
        const { status, text } = await analyst.get(path);
        expect(status).toBe(200);
        expect(text).not.toContain('<script>alert');
        expect(text).not.toContain('<img');
      }
    }
  });
});
