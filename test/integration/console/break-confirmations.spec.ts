// What a break moves is confirmed: its refund, and a link that leaves a rest.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BreaksFixture } from '../../support/breaks.js';
import { signedInPerson, type SignedIn } from '../../support/console-visitor.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

const breaks = '/console/accounts/main/breaks';
const reason = 'agreed with the payer';

describe('a break that moves money', () => {
  let service: ServiceOnSandbox;
  let analyst: SignedIn;
  const fixture = new BreaksFixture(() => service);

  beforeAll(async () => {
    service = await serviceOnSandbox();
    const grant = { accountId: service.accountId, role: 'analyst' } as const;
    analyst = await signedInPerson(service, 'analyst@example.com', grant);
  });
  afterAll(() => service.stop());

  const open = async (id: string) => {
    const { text } = await analyst.get(`${breaks}/${id}`);
    return { text, shown: /name="shown" value="([0-9a-f]{32})"/.exec(text)?.[1] ?? '' };
  };
  const send = async (id: string, action: string, fields: Record<string, string> = {}) =>
    analyst.submit(`${breaks}/${id}/${action}`, {
      ...{ shown: (await open(id)).shown, reason },
      ...fields,
    });
  const receivePix = async (amount: number) => {
    const { body } = await service.bank.call('POST', '/sandbox/pix/received', { body: { amount } });
    await service.sync();
    await fixture.reconcile();
    const found = await service.call('GET', `/v1/breaks?nsu=${body.nsu}&state=open`);
    return { nsu: body.nsu as number, id: found.body.data[0].id as string };
  };

  it('says what stays open of a payment before a line of another amount is linked', async () => {
    await service.sync();
    const { nsu } = await fixture.addUnexpectedLine({ amountCents: 700 });
    const payment = await fixture.addExpectedPayment({ amountCents: 1_000 });
    const id = await fixture.letDeadlinePass(payment);
    const action = `${breaks}/${id}/link?state=open`;
    const asked = { shown: (await open(id)).shown, reason, candidate: String(nsu) };
    const { status, text, fields } = await analyst.confirm(action, asked, action);
    expect([status, (await fixture.liveMatches(nsu)).length]).toEqual([409, 0]);
    expect(text).toContain('Stays open</dt><dd>R$\u00a03,00');
    expect((await analyst.submit(action, fields)).status).toBe(303);
    expect(await fixture.liveMatches(nsu)).toHaveLength(1);
  });

  it('requests the refund of a Pix once, for the amount that is typed', async () => {
    const { nsu, id } = await receivePix(9);
    const page = `${breaks}/${id}/refund`;
    const asked = { shown: (await open(id)).shown, reason, amount: '4,00' };
    const action = `${page}?state=open`;
    const { text, fields } = await analyst.confirm(action, asked, `${page}/confirm`);
    expect(text).toMatch(/<div class="payee"><strong>[^<]+<\/strong><dl><dt>CPF\/CNPJ/);
    expect(text).toContain('Refund R$\u00a04,00 to');
    expect((await send(id, 'refund', { amount: '4,00' })).status).toBe(409);
    const both = [await analyst.submit(action, fields), await analyst.submit(action, fields)];
    expect(both.map(({ status }) => status)).toEqual([303, 303]);
    expect(both[0]!.location).toBe(`${breaks}/${id}?state=open&did=refund`);
    const { body } = await service.call('GET', `/v1/refunds?originalNsu=${nsu}`);
    expect(body.data).toMatchObject([{ amount: 4 }]);
    expect((await open(id)).text).toContain('Refund in progress · analyst@example.com');
    const refused = await send(id, 'accept');
    expect([refused.status, refused.text.includes('A refund is in progress')]).toEqual([409, true]);
  });
});
