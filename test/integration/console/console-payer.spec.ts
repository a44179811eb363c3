// The page that plays the payer: it pays, sends, moves the clock and switches faults at the sandbox
// bank, and is not there with another bank.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chargeSettlements } from '../../../src/outbound/charges/charge-settlement.js';
import {
  clockSteps,
  modeNames,
  switchableFaults,
  switchableModes,
} from '../../../src/console/payer/sandbox-options.js';
import { findTextKey, translateInto } from '../../../src/console/texts.js';
import { LineOutcomeState } from '../../../src/generated/service/enums.js';
import { endpointsOfKind, faultKinds } from '../../../src/sandbox/faults/fault.js';
import { modes } from '../../../src/sandbox/modes/modes.schema.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { pixSlip, slip } from '../../contract/samples.js';
import { signedInPerson } from '../../support/console-visitor.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

type Person = Awaited<ReturnType<typeof signedInPerson>>;

const page = '/console/accounts/main/payer';

describe('the page of the payer', () => {
  let service: ServiceApplication;
  let accountId: number;
  let analyst: Person;
  let viewer: Person;

  beforeAll(async () => {
    service = await serviceApplication();
    accountId = (await service.database.prisma.bankAccount.findFirstOrThrow()).id;
    analyst = await signedInPerson(service, 'ana@example.com', { accountId, role: 'analyst' });
    viewer = await signedInPerson(service, 'vera@example.com', { accountId, role: 'viewer' });
  });
  afterAll(() => service.stop());

  const submit = (path: string, fields: Record<string, string> = {}) =>
    analyst.submit(`${page}/${path}`, fields);
  const charge = async (body: Record<string, unknown>) =>
    (await service.call('POST', '/baas/v1/charges', { body })).body;
  const bank = async (method: string, path: string) =>
    (await service.sandbox.call(method, path)).body;
  const lines = async () =>
    (await bank('GET', '/sandbox/ledger')).movements as { amount: number }[];
  const sync = () => service.application.get(StatementSync, { strict: false }).sync(accountId);

  it('pays a charge by a button, and shows the records that react', async () => {
    await charge(slip({ correlationId: 'by-button', Amount: 12.34 }));
    const { text } = await analyst.get(page);
    expect(text).toContain('name="correlationId" value="by-button"');
    expect((await submit('pay', { correlationId: 'by-button' })).location).toBe(
      `${page}?done=paid`,
    );
    await sync();
    const records = await analyst.get(`${page}/records`, { 'hx-request': 'true' });
    expect(records.text).toMatch(/^<div id="records"/);
    expect(records.text.match(/R\$\s12,34/g)).toHaveLength(2);
    expect(records.text).not.toContain('<html');
  });

  it('pays a scanned QR code, digitable line and bar code', async () => {
    const qr = await charge(pixSlip({ correlationId: 'by-qr', Amount: 21 }));
    const printed = await charge(slip({ correlationId: 'by-line', Amount: 22 }));
    const barred = await charge(slip({ correlationId: 'by-bar', Amount: 23 }));
    const payload = [qr.payloadPix, qr.qrCode, qr.emv].find((one) => typeof one === 'string');
    for (const code of [payload, printed.digitableLine, barred.barCode])
      expect((await submit('scan', { code: String(code) })).location).toBe(`${page}?done=paid`);
    const amounts = (await lines()).map(({ amount }) => amount);
    expect(amounts).toEqual(expect.arrayContaining([21, 22, 23]));
  });

  it('says what it cannot pay', async () => {
    for (const [fields, problem] of [
      [{ code: 'hello' }, 'This is no text of a QR code'],
      [{ code: '1'.repeat(47) }, 'None of the 200 newest charges'],
      [{ code: '000201nonsense' }, 'The sandbox bank refused'],
    ] as const) {
      const { status, text } = await submit('scan', fields);
      expect([status, text]).toEqual([422, expect.stringContaining(problem)]);
    }
    expect((await submit('send', { amount: 'much' })).status).toBe(422);
  });

  it('sends a Pix that nobody expects, and posts a fee', async () => {
    const name = '<script>alert(1)</script>';
    const sent = await submit('send', { amount: '1.234,56', name });
    expect(sent.location).toBe(`${page}?done=received`);
    expect((await submit('line', { amount: '2,50', direction: 'debit' })).status).toBe(303);
    const amounts = (await lines()).map(({ amount }) => amount);
    expect(amounts).toEqual(expect.arrayContaining([1_234.56]));
    await sync();
    expect((await analyst.get(page)).text).not.toContain(name);
  });

  it('moves the clock, and freezes it', async () => {
    const before = new Date((await bank('GET', '/sandbox/clock')).now as string).getTime();
    expect((await submit('clock', { advance: 'P1D' })).status).toBe(303);
    expect((await submit('clock', { frozen: 'yes' })).status).toBe(303);
    const { now, frozen } = await bank('GET', '/sandbox/clock');
    expect(new Date(now as string).getTime() - before).toBeGreaterThanOrEqual(86_400_000);
    expect(frozen).toBe(true);
    expect((await analyst.get(page)).text).toContain('Let it run');
    await submit('clock', { frozen: 'no' });
    expect((await bank('GET', '/sandbox/clock')).frozen).toBe(false);
    expect((await submit('clock', { advance: 'P99Y' })).status).toBe(400);
  });

  it('switches modes and faults on and off', async () => {
    expect((await submit('mode', { mode: 'statementOrder', value: 'asc' })).status).toBe(303);
    expect((await bank('GET', '/sandbox/modes')).statementOrder).toBe('asc');
    expect((await analyst.get(page)).text).toContain('<option value="asc" selected>');
    await submit('mode', { mode: 'statementOrder', value: 'desc' });
    expect((await submit('mode', { mode: 'statementOrder', value: 'up' })).status).toBe(400);
    expect((await submit('fault', { kind: 'webhook-lost', times: '2' })).status).toBe(303);
    const { text } = await analyst.get(page);
    expect(text).toContain('Webhook lost: 0 of 2');
    const [, id = ''] = /payer\/faults\/([0-9a-f-]{36})\/remove/.exec(text) ?? [];
    expect((await submit(`faults/${id}/remove`)).location).toBe(`${page}?done=faultRemoved`);
    expect((await bank('GET', '/sandbox/faults')).faults).toEqual([]);
  });

  it('records what was done, and is closed to a viewer', async () => {
    const { rows } = await service.database.pool.query<{ action: string }>(
      `SELECT DISTINCT action FROM audit_entry WHERE operator_id = $1 AND subject = 'account main'`,
      [analyst.id],
    );
    expect(rows.map(({ action }) => action).sort()).toEqual([
      'change the sandbox bank',
      'play the payer',
    ]);
    const refused = await service.database.pool.query<{ reason: string; of: string }>(
      `SELECT r.reason, e.action AS of FROM audit_entry r
       JOIN audit_entry e ON r.subject = 'entry ' || e.id WHERE r.action = 'refused'`,
    );
    expect(refused.rows).toContainEqual({ reason: 'validation_failed', of: 'play the payer' });
    expect((await viewer.get(page)).status).toBe(403);
    expect((await viewer.get('/console/accounts/main/today')).text).not.toContain(page);
    expect((await viewer.submit(`${page}/send`, { amount: '1' })).status).toBe(403);
  });

  it('offers what the sandbox bank has, each with a text', () => {
    for (const name of modeNames) {
      const shape = modes.shape[name] as { options?: readonly string[] };
      expect([name, switchableModes[name]]).toEqual([name, shape.options]);
    }
    const offered = Object.keys(switchableFaults);
    expect(offered.sort()).toEqual(faultKinds.filter((kind) => kind !== 'partial-batch').sort());
    for (const [kind, endpoint] of Object.entries(switchableFaults))
      expect([endpoint, ...(endpointsOfKind(kind as never) ?? [endpoint])]).toContain(endpoint);
    const keys = [
      ...modeNames.flatMap((name) => switchableModes[name].map((value) => `modeValue.${value}`)),
      ...clockSteps.map((step) => `payer.advance.${step}`),
      ...chargeSettlements.map((state) => `payer.state.${state}`),
      ...Object.values(LineOutcomeState).map((state) => `line.state.${state}`),
    ];
    expect(keys.filter((key) => !findTextKey(key))).toEqual([]);
  });
});

it('is not there with a bank that is no sandbox', async () => {
  const secret = 'a'.repeat(32);
  const service = await serviceApplication({
    ...{ BANK_PROFILE: 'generic', BANK_BASE_URL: 'https://bank.example' },
    ...{ BANK_API_KEY: secret, BANK_PARTNER_KEY: secret, CREDENTIALS_KEY: secret },
    ...{ CONCILIA_API_KEY: 'b'.repeat(32), CONCILIA_PARTNER_KEY: 'c'.repeat(32) },
    ...{ CONCILIA_ADMIN_KEY: 'd'.repeat(32), PUBLIC_URL: 'https://concilia.example' },
  });
  const { id } = await service.database.prisma.bankAccount.findFirstOrThrow();
  const admin = await signedInPerson(service, 'adm@example.com', { accountId: id, role: 'admin' });
  expect((await admin.get(page)).status).toBe(404);
  expect((await admin.get('/console/components')).status).toBe(404);
  expect((await admin.get('/console/accounts')).text).not.toContain(
    translateInto('pt')('app.sandbox'),
  );
  expect((await admin.submit(`${page}/send`, { amount: '1' })).status).toBe(404);
  expect((await admin.get('/console/accounts/main/today')).text).not.toContain(page);
  await service.stop();
}, 60_000);
