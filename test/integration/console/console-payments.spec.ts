// The pages of charges, transfers, bills, refunds and operations: what they show to whom, and what
// people request from there.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PersonRole } from '../../../src/access/people/roles.js';
import { pixSlip, slip, staticQr, newKeyHeader } from '../../contract/samples.js';
import { manualTransfer } from '../../contract/transfer-samples.js';
import { BreaksFixture } from '../../support/breaks.js';
import { signedInPerson, type FormContent, type SignedIn } from '../../support/console-visitor.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

const hostile = `<script>alert(1)</script>\u202e${'x'.repeat(60)}🙂`;

describe('the pages of payments', () => {
  let service: ServiceOnSandbox;
  const people = {} as Record<PersonRole, SignedIn>;
  const fixture = new BreaksFixture(() => service);
  const { sql } = fixture;
  const base = '/console/accounts/main';

  beforeAll(async () => {
    service = await serviceOnSandbox();
    const { accountId } = service;
    for (const role of ['viewer', 'analyst'] as const) {
      people[role] = await signedInPerson(service as never, `${role}@example.com`, {
        accountId,
        role,
      });
    }
  });
  afterAll(() => service.stop());

  const see = (page: string, headers: Record<string, string> = {}) =>
    people.analyst.get(`${base}/${page}`, headers);
  const textOf = async (page: string, headers: Record<string, string> = {}) => {
    const { status, text } = await see(page, headers);
    expect([page, status]).toEqual([page, 200]);
    return text;
  };
  const portuguese = { 'accept-language': 'pt-BR' };
  const syncAndReconcile = async () => {
    await service.sync();
    await fixture.reconcile();
  };
  const issue = async (request: { correlationId: string }) => {
    const { status } = await service.call('POST', '/baas/v1/charges', { body: request });
    expect(status).toBe(200);
    return request.correlationId;
  };
  const receivePix = async (amount: number, payer?: object): Promise<number> => {
    const { body } = await service.bank.call('POST', '/sandbox/pix/received', {
      body: { amount, payer },
    });
    await syncAndReconcile();
    return body.nsu;
  };
  const fieldOf = (text: string, name: string) =>
    new RegExp(`name="${name}"[^>]* value="([^"]*)"`).exec(text)?.[1] ?? '';
  const refundsOf = (nsu: number) => sql('SELECT * FROM refund WHERE original_nsu = $1', nsu);
  const auditOf = (action: string) =>
    sql('SELECT * FROM audit_entry WHERE action = $1 ORDER BY at DESC LIMIT 1', action);

  const refundPage = (nsu: number) => `${base}/refunds/new/${nsu}`;
  /** Asks for a refund; what the form of its confirmation sends. */
  const confirmRefund = async (nsu: number, amount: string) => {
    const key = fieldOf(await textOf(`refunds/new/${nsu}`), 'key');
    const asked = { key, amount, reason: 'sent back' };
    return (await people.analyst.confirm(refundPage(nsu), asked)).fields;
  };
  const sendRefund = (nsu: number, fields: FormContent) =>
    people.analyst.submit(refundPage(nsu), fields);

  describe('a charge', () => {
    it('is followed from its request to its settlement', async () => {
      const id = await issue(pixSlip({ correlationId: 'story-1', Amount: 1234.56 }));
      await service.bank.call('POST', `/baas/v1/charges/${id}/pay`, {});
      await syncAndReconcile();
      const text = await textOf(`charges/${id}`);
      for (const part of [
        'Requested: charge, through API',
        'Sent to the bank (attempt 1)',
        'The bank responded with HTTP 200: accepted',
        'Credit of R$\u00a01.234,56 on the statement',
        'Matched: R$\u00a01.234,56 of line',
        'The line carries an id of this payment.',
        'Event recorded',
        '<code>charge.paid</code>',
        "By the bank's clock",
      ])
        expect(text).toContain(part);
      const order = ['Requested', 'Sent to the bank', 'responded', 'Credit of', 'Matched', 'Event'];
      const found = order.map((one) => text.search(new RegExp(`<strong>[^<]*${one}`)));
      expect(found).toEqual([...found].sort((a, b) => a - b));
      expect(found[0]).toBeGreaterThan(0);
      const inPortuguese = await textOf(`charges/${id}`, portuguese);
      expect(inPortuguese).toContain('O banco respondeu com o código 200: aceitou');
      expect(inPortuguese).toContain('Liquidada');
    });

    it('shows the codes to pay it with, as texts and drawn', async () => {
      const slipText = await textOf(`charges/${await issue(slip({ correlationId: 'story-2' }))}`);
      expect(slipText).toMatch(/<div class="bars" role="img" aria-label="Bar code"><svg/);
      expect(fieldOfLabel(slipText, 'Digitable line')).toMatch(/^\d{47}$/);
      expect(slipText).not.toContain('class="qr"');
      const id = await issue(pixSlip({ correlationId: 'story-3' }));
      const both = await textOf(`charges/${id}`);
      expect(both).toMatch(/<div class="qr" role="img" aria-label="Pix QR code"><svg/);
      expect(fieldOfLabel(both, 'Pix code to copy')).toMatch(/^000201/);
      expect(both).toContain('class="bars"');
      const qr = staticQr({ correlationId: 'story-4' });
      const path = '/baas/api/v2/pix/qrcode/static';
      await service.call('POST', path, { body: qr, headers: newKeyHeader() });
      expect(await textOf('charges/story-4')).toContain('Pix QR code');
    });

    it('shows the payer masked to a viewer, and whole to an analyst', async () => {
      const payer = { name: 'Maria da Silva', document: '12345678909' };
      const id = await issue(slip({ correlationId: 'story-5', payer }));
      const { text } = await people.viewer.get(`${base}/charges/${id}`);
      expect(text).toContain('M*** d*** S***');
      expect(text).not.toMatch(/Maria da Silva|12345678909/);
      expect(await textOf(`charges/${id}`)).toContain('Maria da Silva');
    });

    it('breaks by nothing that a payer or a business system writes', async () => {
      const payer = { name: hostile, document: '12345678909' };
      const correlationId = `story/"><img src=x>&%2F?#6`;
      const id = await issue(slip({ correlationId, payer }));
      const text = await textOf(`charges/${encodeURIComponent(id)}`);
      expect(text).not.toMatch(/<script>alert|<img/);
      expect(text).toContain('&lt;script>alert(1)');
      const voided = `/charges/${encodeURIComponent(id)}/void`;
      expect(text).toContain(`href="${base}${voided.replaceAll("'", '&#39;')}"`);
      expect((await people.analyst.get(`${base}${voided}`)).status).toBe(200);
    });

    it('is voided once by a form that is sent twice, with its reason in the audit', async () => {
      const id = await issue(slip({ correlationId: 'story-7' }));
      const page = `charges/${id}/void`;
      const text = await textOf(page);
      // Whose it is and how much, in words: no route, and no code.
      expect(text).not.toContain('/baas/v1');
      expect(text).toMatch(
        /<button class="danger">Void the charge of R\$.[\d.,]+ of [^<]+<\/button>/,
      );
      const fields = { key: fieldOf(text, 'key'), reason: 'ordered twice', shown: 'seen' };
      for (let sent = 0; sent < 2; sent += 1) {
        const { status, location } = await people.analyst.submit(`${base}/${page}`, fields);
        expect([status, location]).toEqual([303, `${base}/charges/${id}`]);
      }
      const operations = await sql(`SELECT * FROM operation WHERE kind = 'void_charge'`);
      expect(operations).toMatchObject([
        { source: 'console', requested_by: `person:${people.analyst.id}`, state: 'succeeded' },
      ]);
      const shown = await textOf(`charges/${id}`);
      expect(shown).toContain('Requested: void of a charge, through the console');
      expect(shown).toContain('By analyst@example.com');
      expect(shown).not.toContain('Void the charge…');
      const { text: toViewer } = await people.viewer.get(`${base}/charges/${id}`);
      expect(toViewer).toContain('By a***');
      expect(await auditOf('void charge')).toMatchObject([
        { subject: `charge ${id}`, reason: 'ordered twice', shown: 'seen' },
      ]);
    });

    it('that the bank does not void leads to the operation with its answer', async () => {
      const id = await issue(slip({ correlationId: 'story-8' }));
      const text = await textOf(`charges/${id}/void`);
      await service.bank.call('POST', `/baas/v1/charges/${id}/pay`, {});
      const fields = { key: fieldOf(text, 'key'), reason: 'late' };
      const { location } = await people.analyst.submit(`${base}/charges/${id}/void`, fields);
      expect(location).toMatch(/\/operations\/[0-9a-f-]{36}$/);
      const { text: operation } = await people.analyst.get(location ?? '');
      expect(operation).toContain('Rejected by the bank');
      expect(operation).toContain(`href="${base}/charges/${id}"`);
    });
  });

  describe('a refund', () => {
    it('is requested in part after a page that says whom it pays, and how much', async () => {
      const payer = { name: 'Comércio de Calçados', document: '11222333000181' };
      const nsu = await receivePix(10, payer);
      const first = await textOf(`refunds/new/${nsu}`);
      expect(fieldOf(first, 'amount')).toBe('10,00');
      const asked = { key: fieldOf(first, 'key'), amount: '2,50', reason: 'sent back' };
      const { text, fields } = await people.analyst.confirm(refundPage(nsu), asked);
      expect(text).toContain('<div class="payee"><strong>Comércio de Calçados</strong>');
      expect(text).toContain('11.222.333/0001-81');
      expect(text).toContain('<button>Refund R$\u00a02,50 to Comércio de Calçados</button>');
      expect(text).toMatch(/Balance, as of [^<]+<\/dt><dd><span class="amount">R\$/);
      expect(text).toMatch(/Balance after<\/dt><dd><span class="amount">R\$/);
      expect(text).toMatch(/analyst@example\.com, at \d/);
      expect(text).toContain(`PUT /baas/api/v1/transactions/${nsu}/refund?filterBy=NSU`);
      expect(text).toContain('{&quot;amount&quot;:2.5}');
      expect(await refundsOf(nsu)).toEqual([]);
      const { status, location } = await sendRefund(nsu, fields);
      const [refund] = await refundsOf(nsu);
      expect([status, location]).toEqual([303, `${base}/refunds/${refund.id}`]);
      expect(refund).toMatchObject({ amount_cents: '250', state: 'accepted' });
      await syncAndReconcile();
      const page = await textOf(`refunds/${refund.id}`);
      expect(page).toContain('Debit of R$\u00a02,50 on the statement');
      expect(page).toContain('By analyst@example.com');
      expect(page).toContain(`href="${base}/statement/${nsu}"`);
      expect(await textOf(`refunds/new/${nsu}`)).toContain('R$\u00a07,50');
      expect(await auditOf('request refund')).toMatchObject([
        {
          subject: `line ${nsu}`,
          reason: 'sent back',
          shown: `nsu ${nsu}, refundable R$\u00a010,00, amount R$\u00a02,50`,
        },
      ]);
    });

    it('is shown again, with what has changed, and moves nothing meanwhile', async () => {
      const nsu = await receivePix(10);
      const [first, second] = [await confirmRefund(nsu, '3'), await confirmRefund(nsu, '2')];
      await sendRefund(nsu, first);
      const { status, text } = await sendRefund(nsu, second);
      expect(status).toBe(409);
      expect(text).toContain('Refundable: was R$\u00a010,00, is now R$\u00a07,00');
      const unseen = await sendRefund(nsu, { ...second, seen: [] });
      expect([unseen.status, (await refundsOf(nsu)).length]).toEqual([409, 1]);
    });

    it('is made once by a form that is sent many times at once', async () => {
      const nsu = await receivePix(10);
      const fields = await confirmRefund(nsu, '1');
      const answers = await Promise.all(Array.from({ length: 5 }, () => sendRefund(nsu, fields)));
      expect(new Set(answers.map(({ location }) => location)).size).toBe(1);
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303]);
      expect(await refundsOf(nsu)).toHaveLength(1);
      await service.sync();
      const lines = await sql(
        `SELECT 1 FROM statement_line l JOIN refund r ON r.nsu = l.nsu WHERE r.original_nsu = $1`,
        nsu,
      );
      expect(lines).toHaveLength(1);
    });

    it('of another amount is refused under the key of a form that was sent', async () => {
      const nsu = await receivePix(10);
      const fields = await confirmRefund(nsu, '1');
      await sendRefund(nsu, fields);
      const { status, text } = await sendRefund(nsu, { ...fields, amount: '2,00' });
      expect(status).toBe(422);
      expect(text).toContain('This form was already sent with another amount');
      expect(await refundsOf(nsu)).toHaveLength(1);
    });

    it('is refused in the language of the person where the amount is refunded already', async () => {
      const nsu = await receivePix(10);
      const [first, second] = [await confirmRefund(nsu, '10'), await confirmRefund(nsu, '10')];
      await sendRefund(nsu, first);
      const answer = await sendRefund(nsu, { ...second, duplicate: 'yes' });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('exceeds what can still be refunded');
      expect(await textOf(`refunds/new/${nsu}`, portuguese)).toContain(
        'O valor passa do que ainda pode ser devolvido deste Pix.',
      );
      expect(await refundsOf(nsu)).toHaveLength(1);
    });

    it('with an unknown outcome is not shown as failed, and another is a possible duplicate', async () => {
      const nsu = await receivePix(10);
      const fault = { endpoint: 'refunds', kind: 'hang-after-effect', times: 1, delayMs: 20_000 };
      const [first, second] = [await confirmRefund(nsu, '3'), await confirmRefund(nsu, '3')];
      await service.bank.call('POST', '/sandbox/faults', { body: fault });
      await sendRefund(nsu, first);
      const [{ id }] = await refundsOf(nsu);
      const page = await textOf(`refunds/${id}`);
      expect(page).toContain('The outcome is not known yet');
      expect(page).toContain('outcome unknown');
      expect(page).not.toContain('rejected');
      const { fields } = await people.analyst.confirm(refundPage(nsu), second, refundPage(nsu));
      const again = await sendRefund(nsu, fields);
      expect(again.status).toBe(409);
      expect(again.text).toContain(`href="${base}/operations/${id}"`);
      expect(again.text).toContain('name="duplicate"');
      const sent = await sendRefund(nsu, { ...fields, duplicate: 'yes' });
      expect(sent.status).toBe(303);
      expect(await refundsOf(nsu)).toHaveLength(2);
    }, 60_000);

    it.each(['0', '-1', 'abc', '11', '1e1'])('asks again for the amount %j', async (amount) => {
      const nsu = await receivePix(10);
      const asked = { key: randomUUID(), amount, reason: 'x' };
      const { status, text, fields } = await people.analyst.confirm(refundPage(nsu), asked);
      expect([status, fields]).toEqual([400, {}]);
      expect(text).toContain('Must be more than R$\u00a00,00 and at most R$\u00a010,00.');
    });

    it('is only of a received Pix', async () => {
      const nsu = await fixture.addLine({ isCredit: false });
      const { status, text } = await see(`refunds/new/${nsu}`, portuguese);
      expect(status).toBe(422);
      expect(text).toContain('Só um Pix recebido pode ser devolvido.');
      expect((await see('refunds/new/123456789')).status).toBe(404);
      expect((await see('refunds/new/x')).status).toBe(404);
    });

    it('is not requested without a key, a reason or an amount', async () => {
      const nsu = await receivePix(10);
      const fields = await confirmRefund(nsu, '1');
      const statuses = [
        await sendRefund(nsu, { ...fields, key: '' }),
        await sendRefund(nsu, { ...fields, reason: ' ' }),
        await sendRefund(nsu, { ...fields, amount: '0' }),
      ].map(({ status }) => status);
      expect(statuses).toEqual([404, 400, 400]);
      expect(await refundsOf(nsu)).toEqual([]);
    });
  });

  describe('a viewer', () => {
    it('requests nothing, and sees no way to', async () => {
      const nsu = await receivePix(10);
      const id = await issue(slip({ correlationId: 'story-9' }));
      const { text } = await people.viewer.get(`${base}/charges/${id}`);
      expect(text).not.toContain(`${id}/void`);
      const pages = [`refunds/new/${nsu}`, `charges/${id}/void`];
      for (const page of pages) {
        const { status } = await people.viewer.get(`${base}/${page}`);
        const fields = { key: randomUUID(), amount: '1', reason: 'mine' };
        const sent = await people.viewer.submit(`${base}/${page}`, fields);
        expect([page, status, sent.status]).toEqual([page, 403, 403]);
      }
      expect(await refundsOf(nsu)).toEqual([]);
    });
  });

  describe('money that we sent', () => {
    it('is shown with its operation, its line and its story', async () => {
      const { body } = await service.call('POST', '/baas/api/v2/transfers', {
        body: manualTransfer({ amount: 7.77 }),
        headers: newKeyHeader(),
      });
      await syncAndReconcile();
      const [{ id }] = await sql('SELECT id FROM transfer WHERE bank_id = $1', body.id);
      const text = await textOf(`transfers/${id}`);
      for (const part of [
        'R$\u00a07,77',
        'settled',
        'João da Silva',
        'Debit of',
        `operations/${id}`,
      ])
        expect(text).toContain(part);
      const { text: toViewer } = await people.viewer.get(`${base}/transfers/${id}`);
      expect(toViewer).not.toContain('João');
      const operation = await textOf(`operations/${id}`);
      expect(operation).toContain('Operation: transfer');
      expect(operation).toContain(`href="${base}/transfers/${id}"`);
    });

    it('includes bills, with their bar code', async () => {
      const { body: bill } = await service.bank.call('POST', '/sandbox/bills', {
        body: { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 80 },
      });
      const { status } = await service.call('POST', '/baas/api/v1/bill-payments', {
        body: { digitableLine: bill.digitableLine, amount: 80 },
        headers: newKeyHeader(),
      });
      expect(status).toBeLessThan(300);
      const [{ id }] = await sql('SELECT id FROM bill_payment');
      const text = await textOf(`bills/${id}`);
      expect(text).toContain('class="bars"');
      expect(text).toContain(bill.digitableLine);
    });
  });

  describe('an operation with an unknown outcome', () => {
    it('is resent once, by a form that is sent twice', async () => {
      await service.call('POST', '/baas/api/v2/transfers', {
        body: manualTransfer({ amount: 3.21 }),
        headers: { IdempotencyKey: 'sent-again' },
      });
      const [{ id }] = await sql(`SELECT id FROM operation WHERE idempotency_key = 'sent-again'`);
      await sql(
        `UPDATE operation SET state = 'needs_operator', reason = 'no_response',
           response_status = NULL, response_body = NULL WHERE id = $1`,
        id,
      );
      expect(await textOf(`operations/${id}`)).not.toContain('/resend');
      await fixture.addBreak('unknown_outcome', `operation:${id}`, { operationId: id });
      const text = await textOf(`operations/${id}`);
      expect(text).toContain('a person must decide');
      expect((await people.viewer.get(`${base}/operations/${id}`)).text).not.toContain('/resend');
      const page = `${base}/operations/${id}/resend`;
      const asked = { reason: 'the bank lost it' };
      const confirmation = await people.analyst.confirm(page, asked);
      expect(confirmation.text).toContain('<strong>João da Silva</strong>');
      expect(confirmation.text).toContain('Send R$\u00a03,21 to João da Silva again</button>');
      expect((await people.analyst.submit(page, asked)).status).toBe(303);
      for (let sent = 0; sent < 2; sent += 1) {
        const { status, location } = await people.analyst.submit(page, confirmation.fields);
        expect([status, location]).toEqual([303, `${base}/operations/${id}`]);
      }
      const [operation] = await sql('SELECT state, attempts FROM operation WHERE id = $1', id);
      expect(operation).toEqual({ state: 'succeeded', attempts: 2 });
      expect(await textOf(`operations/${id}`)).toContain('Sent to the bank again (attempt 2)');
    });
  });

  it.each(['charges', 'transfers', 'bills', 'refunds', 'operations'])(
    'answers 404 for %s of another account, unknown ones and hostile addresses',
    async (list) => {
      const ids = [randomUUID(), 'x%00y', 'x'.repeat(200), '%3Cscript%3E'];
      for (const id of ids) expect([id, (await see(`${list}/${id}`)).status]).toEqual([id, 404]);
      const other = await people.analyst.get(`/console/accounts/other/${list}/${randomUUID()}`);
      expect(other.status).toBe(404);
    },
  );
});

/** The value of the field with this label. */
function fieldOfLabel(text: string, label: string): string {
  return new RegExp(`<label>${label}<input[^>]* value="([^"]*)"`).exec(text)?.[1] ?? '';
}
