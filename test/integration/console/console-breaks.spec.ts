// The pages of breaks: what they show, to whom, and what their forms do.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PersonRole } from '../../../src/access/people/roles.js';
import { BreaksFixture } from '../../support/breaks.js';
import {
  csrfOf,
  signedInPerson,
  type VisitedPage,
  type Visitor,
} from '../../support/console-visitor.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

const breaks = '/console/accounts/main/breaks';
const reason = 'as agreed with the payer';

describe('the pages of breaks', () => {
  let service: ServiceOnSandbox;
  let analyst: Visitor & { id: string };
  let viewer: Visitor & { id: string };
  const fixture = new BreaksFixture(() => service);
  const { sql, get, actions } = fixture;

  /** Amounts have a space that does not break: here it is a plain one. */
  const plainly =
    <Of extends unknown[]>(ask: (...of: Of) => Promise<VisitedPage>) =>
    async (...of: Of) => {
      const page = await ask(...of);
      return { ...page, text: page.text.replaceAll('\u00a0', ' ') };
    };
  const person = async (role: PersonRole) => {
    const grant = { accountId: service.accountId, role };
    const visitor = await signedInPerson(service, `${role}@example.com`, grant);
    const { get, post, send } = visitor;
    return { ...visitor, get: plainly(get), post: plainly(post), send: plainly(send) };
  };

  beforeAll(async () => {
    service = await serviceOnSandbox();
    analyst = await person('analyst');
    viewer = await person('viewer');
  });
  afterAll(() => service.stop());
  // Each test has breaks of its own.
  beforeEach(() =>
    sql(`UPDATE break SET state = 'resolved', resolved_at = now() WHERE state = 'open'`),
  );

  const open = async (id: string, query = '') => {
    const page = await analyst.get(`${breaks}/${id}${query}`);
    expect(page.status).toBe(200);
    const shown = /name="shown" value="([0-9a-f]{32})"/.exec(page.text)?.[1] ?? '';
    return { ...page, csrf: csrfOf(page.text), shown };
  };
  /** Sends a form of the page of a break, as it is shown now. */
  const send = async (id: string, action: string, fields: Record<string, string> = {}) => {
    const { csrf, shown } = await open(id);
    return analyst.post(`${breaks}/${id}/${action}`, { csrf, shown, reason, ...fields });
  };
  /** A Pix that the bank shows, and that nothing explains. */
  const receivePix = async (amount: number) => {
    const { body } = await service.bank.call('POST', '/sandbox/pix/received', { body: { amount } });
    await service.sync();
    await fixture.reconcile();
    const found = await service.call('GET', `/v1/breaks?nsu=${body.nsu}&state=open`);
    return { nsu: body.nsu as number, id: found.body.data[0].id as string };
  };
  const listedIds = (text: string) =>
    [...text.matchAll(/<input type="checkbox" name="break" value="([0-9a-f-]{36})"/g)].map(
      ([, id]) => id,
    );
  const audited = async (subject: string) =>
    sql(
      `SELECT action, operator_id::text AS person, reason, shown FROM audit_entry
       WHERE subject = $1 ORDER BY id`,
      subject,
    );

  describe('the list', () => {
    it('shows open breaks, newest first, and every state where the filter says so', async () => {
      const [first, second] = [
        await fixture.addUnexpectedLine({ amountCents: 123_456 }),
        await fixture.addUnexpectedLine(),
      ];
      const { text } = await analyst.get(breaks);
      expect(listedIds(text)).toEqual([second.id, first.id]);
      expect(text).toContain('R$ 1.234,56');
      expect(text).toContain('Unexpected line');
      await fixture.act(first.id, 'accept');
      expect(listedIds((await analyst.get(breaks)).text)).toEqual([second.id]);
      const all = listedIds((await analyst.get(`${breaks}?state=`)).text);
      expect(all.slice(0, 2)).toEqual([second.id, first.id]);
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
      expect(text).toContain(`${breaks}/${ids[2]}?${query}`);
      const wrong = await analyst.get(`${breaks}?minAmount=much`);
      expect([wrong.status, wrong.text.includes('Amount from.')]).toEqual([200, true]);
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

    it('links the line that pays a missing payment, by its NSU', async () => {
      await service.sync();
      const { nsu } = await fixture.addUnexpectedLine();
      const id = await fixture.letDeadlinePass(await fixture.addExpectedPayment());
      const { text } = await open(id);
      expect(text).toContain(`Line NSU ${nsu}`);
      expect((await send(id, 'link', { candidate: '', other: String(nsu) })).status).toBe(303);
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
        ['link', { other: `${randomUUID()}x` }],
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

    it('do each break once when the form is sent twice', async () => {
      const { id } = await fixture.addUnexpectedLine();
      const { fields } = await preview(`action=note&of=ticked&break=${id}`);
      const both = await Promise.all([confirm('note', fields), confirm('note', fields)]);
      expect(both.map(({ status }) => status)).toEqual([303, 303]);
      expect(both[0]!.location).toBe(both[1]!.location);
      expect(await actions(id)).toEqual(['opened', 'note']);
    });

    it('take the breaks that the filter selects', async () => {
      await fixture.addUnexpectedLine({ amountCents: 100 });
      const { id } = await fixture.addUnexpectedLine({ amountCents: 90_000 });
      const { ids } = await preview('action=accept&of=filter&state=open&minAmount=500.00');
      expect(ids).toEqual([id]);
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
      expect(text).toContain('Total to refund: R$ 8,00');
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
