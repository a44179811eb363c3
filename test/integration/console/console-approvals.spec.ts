// The pages of approvals: people decide about payments that wait, and the account's policy and
// controls are shown and changed. The service in front of a sandbox bank, without a browser.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import { commandLine, Operators } from '../../../src/access/people/operators.service.js';
import type { PersonRole } from '../../../src/access/people/roles.js';
import { newKeyHeader } from '../../contract/samples.js';
import { batchItem, internalTransfer } from '../../contract/transfer-samples.js';
import {
  approvalsSetup,
  transferCall,
  type ApprovalsSetup,
} from '../../support/approvals-setup.js';
import {
  codeOf,
  csrfOf,
  hiddenIn,
  signedInPerson,
  visitorOf,
  type Visitor,
} from '../../support/console-visitor.js';

const base = '/console/accounts/main';
const approvals = `${base}/approvals`;

describe('the pages of approvals', () => {
  let setup: ApprovalsSetup;
  let ana: Awaited<ReturnType<typeof signedInPerson>>;
  let bruno: typeof ana;
  let admin: typeof ana;
  let viewer: typeof ana;
  let analyst: typeof ana;

  const person = (name: string, role: PersonRole) =>
    signedInPerson(setup.one, `${name}@example.com`, { accountId: setup.accountId, role });

  beforeAll(async () => {
    setup = await approvalsSetup();
    ana = await person('ana', 'approver');
    bruno = await person('bruno', 'approver');
    admin = await person('carla', 'admin');
    viewer = await person('vera', 'viewer');
    analyst = await person('andre', 'analyst');
  });
  afterAll(() => setup.stop());
  afterEach(async () => {
    setup.bank.takeChanges();
    await setup.test.pool.query(`UPDATE operator_session SET code_at = now()`);
  });

  const taken = () => setup.bank.takeChanges();
  /** Decides by the form of a page, as a browser sends it. */
  const decideOn = async (
    visitor: Visitor,
    page: string,
    decision: string,
    changes: Record<string, string> = {},
  ) => {
    const { text } = await visitor.get(page);
    const fields = new URLSearchParams({ csrf: csrfOf(text), reason: 'invoice seen', decision });
    for (const [, operation = ''] of text.matchAll(/name="operation" value="([^"]+ [^"]+)"/g))
      fields.append('operation', operation);
    const [, upload] = /name="upload" value="([^"]+)"/.exec(text) ?? [];
    if (upload) fields.set('upload', upload);
    for (const [name, value] of Object.entries(changes)) fields.set(name, value);
    const send = (path: string, body: URLSearchParams) =>
      visitor.send(path, {
        ...{ method: 'POST', body },
        headers: { origin: setup.one.url, referer: `${setup.one.url}${page}` },
      });
    if (decision === 'decline') return send(`${approvals}/decide`, fields);
    const asked = await send(`${approvals}/confirm`, fields);
    const confirmed = hiddenIn(asked.text, `${approvals}/decide`);
    return confirmed.length === 0 || !asked.text.includes('class="money"')
      ? asked
      : send(`${approvals}/decide`, new URLSearchParams(confirmed));
  };
  const stateOf = async (id: string) => (await setup.operation(id)).state;
  /** A page with plain spaces in its amounts. */
  const textOf = async (visitor: Visitor, path: string) =>
    (await visitor.get(path)).text.replaceAll('\u00a0', ' ');

  it('let two people approve a transfer, which is then sent once; one cannot', async () => {
    await setup.setPolicy({ approvals: 2 });
    const id = await setup.sendWaiting(internalTransfer({ amount: 1_234.56 }));
    const list = await textOf(ana, approvals);
    expect(list).toContain('R$ 1.234,56');
    expect(list).toContain('0 of 2');
    expect(list).toContain(`${approvals}/${id}`);
    const page = `${approvals}/${id}`;
    const shown = await ana.get(page);
    expect(shown.text).toContain('account 1000002');
    expect(shown.text).toContain('The amount needs approval');
    expect(shown.text).toContain('Approve R$\u00a01.234,56 to 1000002</button>');
    const operation = `${id} ${(await setup.operation(id)).approval.requestHash}`;
    const asked = { operation, reason: 'invoice seen', decision: 'approve' };
    const { text } = await ana.confirm(`${approvals}/decide`, asked, `${approvals}/confirm`);
    expect(text).toMatch(/<div class="payee"><strong>[^<]+<\/strong><dl><dt>Account<.*1000002/);
    expect(text).toContain('Approve R$\u00a01.234,56 to');
    expect((await setup.operation(id)).approval.given).toBe(0);

    const first = await decideOn(ana, page, 'approve');
    expect([first.status, first.location]).toEqual([303, `${approvals}?done=approve&count=1`]);
    expect((await ana.get(page)).text).toContain('You have decided about this payment');
    // The form that another session of the same person still shows counts once.
    const again = await ana.get(page);
    expect(again.text).not.toContain('name="decision"');
    const { requestHash } = (await setup.operation(id)).approval;
    const repeat = await decideOn(ana, page, 'approve', { operation: `${id} ${requestHash}` });
    expect(repeat.status).toBe(303);
    expect(await stateOf(id)).toBe('awaiting_approval');
    await setup.advance(id);
    expect(taken()).toEqual([]);

    expect((await decideOn(bruno, page, 'approve')).status).toBe(303);
    expect(await stateOf(id)).toBe('received');
    await setup.advance(id);
    expect(taken()).toEqual([transferCall]);
    const ended = await bruno.get(page);
    expect(ended.text).toContain('ana@example.com approved');
    expect(ended.text).toContain('bruno@example.com approved');
  });

  it('lead to the next payment that the person can decide', async () => {
    await setup.setPolicy({ approvals: 1 });
    await setup.setPolicy({ approvals: 1 }, setup.ana.key);
    const one = await setup.sendWaiting(internalTransfer({ amount: 21 }));
    const other = await setup.sendWaiting(internalTransfer({ amount: 22 }));
    const first = await decideOn(ana, `${approvals}/${one}`, 'approve');
    expect(first.location).toBe(`${approvals}/${other}?done=approve&count=1`);
    expect((await ana.get(first.location ?? '')).text).toContain('The approval was recorded');
    const last = await decideOn(ana, `${approvals}/${other}`, 'decline');
    expect(last.location).toBe(`${approvals}?done=decline&count=1`);
    expect(await stateOf(other)).toBe('declined');
    expect((await ana.get(approvals)).text).toContain('No payment awaits approval');
  });

  it('refuse viewers and analysts, and show them no form', async () => {
    const id = await setup.sendWaiting(internalTransfer({ amount: 31 }));
    const { requestHash } = (await setup.operation(id)).approval;
    for (const visitor of [viewer, analyst]) {
      const page = await visitor.get(`${approvals}/${id}`);
      expect(page.status).toBe(200);
      expect(page.text).not.toContain('name="decision"');
      const operation = `${id} ${requestHash}`;
      const sent = await decideOn(visitor, `${approvals}/${id}`, 'approve', { operation });
      expect(sent.status).toBe(403);
    }
    // A viewer does not see the account; an analyst does.
    expect((await viewer.get(`${approvals}/${id}`)).text).not.toContain('1000002');
    expect((await analyst.get(`${approvals}/${id}`)).text).toContain('1000002');
    for (const path of ['approval-policy', 'payment-controls'])
      for (const visitor of [viewer, ana])
        expect((await visitor.submit(`${base}/${path}`, { reason: 'x' })).status).toBe(403);
    expect(await stateOf(id)).toBe('awaiting_approval');
    expect((await decideOn(ana, `${approvals}/${id}`, 'decline')).status).toBe(303);
  });

  it('show a viewer neither the name of a beneficiary nor the accounts of a batch', async () => {
    const beneficiaries = `${base}/payment-controls/beneficiaries`;
    const named = { name: 'Fornecedor Beta', accountNumber: '1000002', reason: 'contract' };
    expect((await admin.submit(beneficiaries, named)).status).toBe(303);
    const one = await setup.sendWaiting(internalTransfer({ amount: 41 }));
    const batch = await setup.one.call('POST', '/baas/v1/transfers/batch', {
      ...{ body: [batchItem(), batchItem()], headers: newKeyHeader() },
    });
    const [{ operationId }] = batch.body;
    const [ofOne, ofBatch] = [`${approvals}/${one}`, `${approvals}/${operationId}`];
    const opened = [approvals, ofOne, ofBatch, `${base}/operations/${operationId}`];
    for (const page of opened) {
      const { status, text } = await viewer.get(page);
      expect([page, status]).toEqual([page, 200]);
      expect([page, text.includes('Beta'), text.includes('1000002')]).toEqual([page, false, false]);
    }
    expect((await analyst.get(ofOne)).text).toContain('Fornecedor Beta');
    expect((await analyst.get(ofBatch)).text).toContain('1000002');
    for (const page of [ofOne, ofBatch])
      expect((await decideOn(ana, page, 'decline')).status).toBe(303);
    const { text } = await admin.get(`${base}/payment-controls`);
    const [remove = ''] = /[^"]+\/beneficiaries\/[^"]+\/remove/.exec(text) ?? [];
    expect((await admin.submit(remove, { reason: 'ended' })).status).toBe(303);
  });

  it('ask for a code first, and come back to the payment', async () => {
    const id = await setup.sendWaiting(internalTransfer({ amount: 41 }));
    const page = `${approvals}/${id}`;
    await setup.test.pool.query(
      `UPDATE operator_session SET code_at = now() - interval '6 minutes'`,
    );
    const refused = await decideOn(ana, page, 'approve');
    expect([refused.status, refused.location]).toEqual([403, null]);
    expect((await setup.operation(id)).approval.given).toBe(0);
    const code = codeOf(ana.secret);
    const batch = `${approvals}/batch?operation=${id}`;
    const chosen = await decideOn(ana, batch, 'approve');
    expect(chosen.text).toContain('name="held"');
    const stepped = await ana.submit('/console/step-up', { code, next: page });
    expect(stepped.location).toBe(page);
    expect((await decideOn(ana, page, 'approve')).status).toBe(303);
    expect(await stateOf(id)).toBe('received');
    await setup.advance(id);
  });

  it('refuse another request than the one that was shown, and a missing reason', async () => {
    const id = await setup.sendWaiting(internalTransfer({ amount: 51 }));
    const page = `${approvals}/${id}`;
    const other = await decideOn(ana, page, 'approve', { operation: `${id} other` });
    expect(other.status).toBe(409);
    expect(other.text).toContain('The request is not the one that the page showed');
    const silent = await decideOn(ana, page, 'approve', { reason: '  ' });
    expect([silent.status, silent.text.includes('Give the reason.')]).toEqual([409, true]);
    expect((await setup.operation(id)).approval.given).toBe(0);
    const portuguese = await ana.send(page, { headers: { 'accept-language': 'pt-BR' } });
    expect(portuguese.text).toContain('Pagamento a aprovar');
    expect((await decideOn(ana, page, 'decline')).status).toBe(303);
  });

  it('record each decision in the audit, and what was refused', async () => {
    const id = await setup.sendWaiting(internalTransfer({ amount: 61 }));
    const { requestHash } = (await setup.operation(id)).approval;
    await decideOn(ana, `${approvals}/${id}`, 'approve', { operation: `${id} other` });
    await decideOn(ana, `${approvals}/${id}`, 'decline');
    const { rows } = await setup.test.pool.query(
      `SELECT action, subject, reason, shown FROM audit_entry
       WHERE operator_id = $1 ORDER BY id DESC LIMIT 3`,
      [ana.id],
    );
    const subject = `operation ${id}`;
    const reason = 'invoice seen';
    expect(rows).toEqual([
      { action: 'decline payment', subject, reason, shown: requestHash },
      { action: 'refused', subject: expect.any(String), reason: 'request_differs', shown: null },
      { action: 'approve payment', subject, reason, shown: 'other' },
    ]);
  });

  it('decide several payments together, after showing them with their total', async () => {
    const ids = [
      await setup.sendWaiting(internalTransfer({ amount: 71.5 })),
      await setup.sendWaiting(internalTransfer({ amount: 72.25 })),
    ];
    const preview = `${approvals}/batch?${ids.map((id) => `operation=${id}`).join('&')}`;
    const text = await textOf(bruno, preview);
    expect(text).toContain('2 payments. Total:');
    expect(text).toContain('R$ 143,75');
    const operation = [...text.matchAll(/name="operation" value="([^"]+ [^"]+)"/g)].map(
      ([, one = '']) => one,
    );
    const decide = `${approvals}/decide`;
    const asked = { operation, reason: 'x', decision: 'approve' };
    const confirmed = await bruno.confirm(decide, asked, `${approvals}/confirm`);
    expect(confirmed.text).toContain('Approve 2 payments, R$\u00a0143,75 in total</button>');
    // Meanwhile another person declines one of them.
    await decideOn(ana, `${approvals}/${ids[0]}`, 'decline');
    const changed = await bruno.confirm(decide, confirmed.fields, decide);
    expect(changed.status).toBe(409);
    expect(changed.text).toContain('Amount: was R$\u00a0143,75, is now R$\u00a072,25');
    expect(await Promise.all(ids.map(stateOf))).toEqual(['declined', 'awaiting_approval']);
    expect((await bruno.submit(decide, changed.fields)).status).toBe(303);
    expect(await Promise.all(ids.map(stateOf))).toEqual(['declined', 'received']);
    await setup.advance(ids[1] ?? '');
    expect((await bruno.get(`${approvals}/batch`)).location).toBe(approvals);
  });

  it('decide the rows of a file together, by the requests that were shown', async () => {
    const { call, application } = setup.one;
    const rows = [201, 202, 203].map((amount) => JSON.stringify(internalTransfer({ amount })));
    const { body: upload } = await call('POST', '/v1/transfers/bulk', {
      body: rows.join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    const bulk = application.get(BulkService, { strict: false });
    await bulk.issueNextRows({ accountId: setup.accountId, uploadId: upload.id });
    const page = `${approvals}/uploads/${upload.id}`;
    expect((await ana.get(approvals)).text).toContain(page);
    // The page of the file shows no payee and no total: it leads to the page that does.
    const file = `${base}/bulk/${upload.id}`;
    expect((await ana.get(file)).text).toContain(`href="${page}"`);
    expect((await ana.submit(`${file}/approve`, { reason: 'unseen' })).status).toBe(404);
    const text = await textOf(ana, page);
    expect(text).toContain('3 payments. Total:');
    expect(text).toContain('R$ 606,00');
    expect(text).toContain('File, row 2');
    const decided = await decideOn(ana, page, 'approve');
    expect(decided.location).toBe(`${approvals}?done=approve&count=3`);
    expect((await ana.get(page)).text).toContain('None of these payments');
    const { body } = await call('GET', `/v1/bulk/${upload.id}/rows`);
    for (const { operationId, operationState } of body.data) {
      expect(operationState).toBe('received');
      await setup.advance(operationId);
    }
    taken();
  });

  it('show a person their own request without a form', async () => {
    const { body: key } = await setup.asOperator('POST', '/v1/accounts/main/keys', {
      ...{ name: 'ana', scopes: ['transfer'], holder: `person:${ana.id}` },
    });
    const sent = await setup.one.call('POST', '/baas/api/v2/transfers', {
      ...{ body: internalTransfer({ amount: 301 }), headers: newKeyHeader(), apiKey: key.key },
    });
    const page = `${approvals}/${sent.body.id}`;
    const { text } = await ana.get(page);
    expect(text).toContain('You made this request');
    expect(text).not.toContain('name="decision"');
    expect((await ana.get(approvals)).text).toContain('Your request');
    const { requestHash } = (await setup.operation(sent.body.id)).approval;
    const operation = `${sent.body.id} ${requestHash}`;
    const refused = await decideOn(ana, page, 'approve', { operation });
    expect([refused.status, refused.text.includes('Who made the request')]).toEqual([409, true]);
    expect((await decideOn(bruno, page, 'decline')).status).toBe(303);
  });

  it('say of a disabled person’s approval that it counts no more', async () => {
    await setup.setPolicy({ approvals: 2 });
    const eva = await person('eva', 'approver');
    const id = await setup.sendWaiting(internalTransfer({ amount: 81 }));
    const page = `${approvals}/${id}`;
    expect((await decideOn(eva, page, 'approve')).status).toBe(303);
    const operators = setup.one.application.get(Operators, { strict: false });
    await operators.disable(commandLine, eva.id, 'left');
    expect((await ana.get(page)).text).toContain('It counts no more');
    expect((await decideOn(ana, page, 'approve')).status).toBe(303);
    expect(await stateOf(id)).toBe('awaiting_approval');
    expect((await decideOn(bruno, page, 'approve')).status).toBe(303);
    expect(await stateOf(id)).toBe('received');
    await setup.advance(id);
  });

  it('send a payment once when two people approve it at the same moment', async () => {
    await setup.setPolicy({ approvals: 2 });
    taken();
    for (let round = 0; round < 5; round += 1) {
      const id = await setup.sendWaiting(internalTransfer({ amount: 100 + round }));
      const page = `${approvals}/${id}`;
      const results = await Promise.all([
        decideOn(ana, page, 'approve'),
        decideOn(bruno, page, 'approve'),
      ]);
      expect(results.map(({ status }) => status)).toEqual([303, 303]);
      await Promise.all([setup.advance(id), setup.advance(id, setup.other)]);
      expect(taken()).toEqual([transferCall]);
    }
  });

  it('show an expired payment without a form', async () => {
    const id = await setup.sendWaiting(internalTransfer({ amount: 91 }));
    const page = `${approvals}/${id}`;
    const { requestHash } = (await setup.operation(id)).approval;
    await setup.passExpiry();
    expect((await ana.get(page)).text).toContain('The time to approve has passed');
    expect((await ana.get(approvals)).text).toContain('Expired');
    const operation = `${id} ${requestHash}`;
    expect((await decideOn(ana, page, 'approve', { operation })).status).toBe(409);
    await setup.advance(id);
    expect(await stateOf(id)).toBe('expired');
  });

  it('show hostile texts as texts, and what they cannot read as not found', async () => {
    const description = '<script>alert(1)</script>\u202e\u{1F600}';
    const id = await setup.sendWaiting(internalTransfer({ amount: 92, description }));
    const { text } = await ana.get(`${approvals}/${id}`);
    expect(text).toContain('&lt;script>alert(1)');
    expect(text).not.toContain('<script>alert');
    expect((await ana.get(`${approvals}/none`)).status).toBe(404);
    expect((await ana.get(`${approvals}/${ana.id}`)).status).toBe(404);
    expect((await ana.get(`${approvals}?cursor=x`)).status).toBe(400);
    const stranger = visitorOf(setup.one);
    expect((await stranger.get(`${approvals}/${id}`)).location).toMatch(/^\/console\/sign-in/);
    await decideOn(ana, `${approvals}/${id}`, 'decline');
  });

  it('change the policy: stricter at once, weaker with another person', async () => {
    const policy = `${base}/approval-policy`;
    const fields = {
      ...{ aboveAmount: '0', approvals: '2', expiresAfterHours: '24', reason: 'stricter' },
      newBeneficiary: 'yes',
    };
    const stricter = await admin.submit(policy, fields);
    expect(stricter.location).toBe(`${policy}?done=saved`);
    expect((await viewer.get(policy)).text).toContain('Every payment needs approval');
    const weaker = { ...fields, aboveAmount: '1.000,00', reason: 'less work' };
    expect((await admin.submit(policy, weaker)).location).toBe(`${policy}?done=waiting`);
    const own = await admin.get(policy);
    expect(own.text).toContain('Your proposal');
    expect(own.text).not.toContain('Confirm the proposal');
    const dora = await person('dora', 'admin');
    const text = await textOf(dora, policy);
    expect(text).toContain('Payments above R$ 1.000,00 need approval');
    expect(text).toContain('Confirm the proposal');
    expect((await dora.submit(policy, weaker)).location).toBe(`${policy}?done=saved`);
    expect(await textOf(viewer, policy)).toContain('Payments above R$ 1.000,00 need approval');
    const wrong = await admin.submit(policy, { ...fields, aboveAmount: 'x', approvals: '1' });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('id="error-aboveAmount"');
    // What was typed stays, and another form of the page has nothing of it.
    expect(wrong.text).toMatch(/name="aboveAmount" value="x"/);
    expect(wrong.text).toMatch(/name="reason" value="stricter"/);
  });

  it('change the payment controls, by an admin with a reason', async () => {
    const controls = `${base}/payment-controls`;
    const fields = {
      ...{ perDay: '10.000,00', perOperation: '', perHour: '', perNight: '' },
      ...{ perKeyPerDay: '', perCounterpartyPerDay: '', checksPayee: 'yes' },
      ...{ coolingOffHours: '0', nightFromHour: '20', nightUntilHour: '6', reason: 'rule 7' },
      ...{
        intervalSeconds: '',
        bankContact: '0800',
        alarmAbove: '1.000,00',
        declaredDebits: 'DEBIT_TAX; 50,00\nDEBIT_CARD;9;1/2/3\n',
      },
    };
    expect((await admin.submit(controls, fields)).location).toBe(`${controls}?done=saved`);
    const { text: saved } = await admin.get(controls);
    expect(saved).toContain('DEBIT_TAX; 50,00\nDEBIT_CARD; 9,00; 1/2/3</textarea>');
    const empty = { ...fields, alarmAbove: '', declaredDebits: '' };
    expect((await admin.submit(controls, empty)).location).toBe(`${controls}?done=saved`);
    await setup.setPolicy({ aboveAmount: 5_000, kinds: [], approvals: 2 }, setup.ana.key);
    await setup.setPolicy({ aboveAmount: 5_000, kinds: [], approvals: 2 }, setup.bia.key);
    // What was sent before the limit was set counts too.
    const usedCents = async () => {
      const [, used = ''] =
        /Used: R\$ ([\d.,]+)\. Left:/.exec(await textOf(viewer, controls)) ?? [];
      return Number(used.replace(/\D/g, ''));
    };
    const before = await usedCents();
    expect((await setup.send(internalTransfer({ amount: 1_000 }))).status).toBe(200);
    expect(await usedCents()).toBe(before + 1_000_00);
    const shown = await textOf(viewer, controls);
    expect(shown).toContain('c***');
    expect((await admin.get(controls)).text).toContain('carla@example.com');
    const wrong = await admin.submit(controls, { ...fields, perDay: '-1', nightUntilHour: '20' });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('id="error-perDay"');
    expect(wrong.text).toMatch(/name="perDay" value="-1"/);

    const beneficiary = { name: 'Fornecedor Ltda', accountNumber: '1000002', reason: 'contract' };
    const added = await admin.submit(`${controls}/beneficiaries`, beneficiary);
    expect(added.location).toBe(`${controls}?done=saved`);
    const { text } = await admin.get(controls);
    expect(text).toContain('Fornecedor Ltda');
    expect((await viewer.get(controls)).text).not.toContain('Fornecedor Ltda');
    const [remove = ''] = /[^"]+\/beneficiaries\/[^"]+\/remove/.exec(text) ?? [];
    expect((await admin.submit(remove, { reason: 'ended' })).location).toMatch(/done=saved$/);
    expect((await admin.get(controls)).text).toContain('No beneficiary');
    const none = await admin.submit(`${controls}/beneficiaries`, { name: 'x', reason: 'y' });
    expect(none.status).toBe(400);
    expect(none.text).toMatch(/name="name" value="x"/);
    // The form of the controls still has what is stored: sent as it is, it removes no limit.
    expect(none.text).toMatch(/name="perDay" value="10000,00"/);
    const same = await admin.submit(controls, { ...fields, nightUntilHour: '20' });
    expect([same.status, same.text.includes('id="error-nightUntilHour"')]).toEqual([400, true]);
  });
});
