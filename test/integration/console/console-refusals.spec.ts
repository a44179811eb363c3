// Pages in Portuguese say each refusal in Portuguese: no message that the service writes in English
// for programmers reaches a person.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayFromToday } from '../../contract/samples.js';
import { csrfOf, signedInPerson, type SignedIn } from '../../support/console-visitor.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const base = '/console/accounts/main';
const nobody = crypto.randomUUID();
const reason = 'porque sim';
const payment = { direction: 'credit', amount: '10', dateFrom: dayFromToday(0), externalId: 'p-1' };
const rule = { name: 'Regra', priority: '1', reason, action: 'classify', category: 'fee' };
const charge = { payerName: 'Maria', payerDocument: '11144477735', amount: '10' };
const channel = { kind: 'webhook', name: 'Canal', language: 'pt' };
const longNames = { name: 'x'.repeat(101), reason };

/** Words of English sentences that no text of the console has in Portuguese. */
const english = /\b(?:the|must|not|is|are|was|has|have|cannot|be|of|with|only|invalid|field)\b/i;

/** What a reader sees, without the values that they typed themselves. */
function wordsOf(html: string): string {
  return html
    .replace(/<(script|style|svg|code|textarea)\b[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
}

function englishIn(html: string): string[] {
  const words = wordsOf(html);
  const found = english.exec(words);
  return found ? [words.slice(Math.max(0, found.index - 60), found.index + 60)] : [];
}

describe('a refusal on a page in Portuguese', () => {
  let service: ServiceApplication;
  let owner: SignedIn;

  beforeAll(async () => {
    service = await serviceApplication();
    owner = await signedInPerson(service, 'owner@example.com', { accountId: null, role: 'admin' });
    await owner.submit('/console/language', { language: 'pt', next: '/console' });
    await owner.submit(`${base}/expected-payments/new`, payment);
  }, 60_000);
  afterAll(() => service.stop());

  it.each<[string, string, Record<string, string>]>([
    ['wrong fields', 'expected-payments/new', { ...payment, amount: '1,001', taxId: '12' }],
    ['absent fields', 'expected-payments/new', {}],
    ['terms that exclude each other', 'expected-payments/new', { ...payment, amountFrom: '1' }],
    ['days in the wrong order', 'expected-payments/new', { ...payment, dateTo: '2020-01-01' }],
    ['a pattern of nothing', 'expected-payments/new', { ...payment, text: '.*' }],
    ['a conflict', 'expected-payments/new', { ...payment, amount: '11' }],
    ['an unknown payment', `expected-payments/${nobody}/cancel`, { reason, shown: '1' }],
    ['a rule without a condition', 'rules/new', rule],
    ['a rule with wrong numbers', 'rules/new', { ...rule, priority: 'x', categoryReason: '' }],
    ['an unknown rule', `rules/${nobody}/activate`, { reason, version: '1' }],
    ['a wrong weight', 'account', { name: 'Conta', weight: '101' }],
    ['wrong bank details', 'account/details', { bankCode: '12', branch: 'x', ispb: 'y' }],
    ['wrong credentials', 'account/credentials', { clientCertificate: 'x', clientKey: 'y' }],
    ['half of a pair', 'account/credentials', { ca: 'x', apiKey: 'ção' }],
    [
      'an account that exists',
      'account/new',
      { slug: 'main', apiKey: 'k', mode: 'live', isKeyUntried: 'yes' },
    ],
    ['a wrong slug', 'account/new', { slug: 'Á', mode: 'live' }],
    ['a key without a scope', 'keys', { ...longNames, formId: nobody }],
    ['an unknown key', `keys/${nobody}/rotate`, { overlap: '0' }],
    ['a wrong charge', 'first-steps', { ...charge, key: nobody, dueDate: 'ontem' }],
    ['a wrong channel', 'alert-channels', { ...channel, url: 'http://10.0.0.1/' }],
    ['a wrong endpoint', 'endpoints', { url: 'ftp://x', events: 'charge.paid' }],
    ['an address that is not public', 'endpoints', { url: 'https://localhost/', description: '' }],
    ['a wrong approval policy', 'approval-policy', { aboveAmount: 'x', approvals: '9', reason }],
    ['wrong payment controls', 'payment-controls', { perDay: '-1', reason }],
    ['a payee without an account', 'payment-controls/beneficiaries', longNames],
    ['a refund of no Pix', 'refunds/new/999', { amount: '1', key: nobody, shown: 'x', reason }],
    ['a repeated operation of nobody', `operations/${nobody}/resend`, { reason }],
    ['too long a period', 'exports/statement', { from: '2020-01-01', to: '2024-01-01' }],
    ['a period in the wrong order', 'exports/statement', { from: '2024-02-01', to: '2024-01-01' }],
    ['a file without bank details', 'days/files', { format: 'ofx', from: '2024-01-01' }],
    ['a month without lines', 'days/report', { month: '2020-01' }],
    ['a note on no break', `breaks/${nobody}/note`, { reason }],
    ['a bad invitation', 'people', { email: 'x', role: 'viewer' }],
  ])('of %s (%s) has no English sentence', async (_, page, fields) => {
    const { status, text } = await owner.submit(`${base}/${page}`, fields);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(englishIn(text)).toEqual([]);
  });

  it.each([
    ['without rows', 'externalId,amount\n', 422],
    // The page asks what its columns are.
    ['with other headers', 'a b,amount\n1,2\n', 200],
    ['with a quotation mark in a cell', 'externalId;amount\nx;Bar do "Ze"\n', 422],
    ['that is none', '', 422],
  ])('of a file %s has no English sentence', async (_, content, expected) => {
    const form = new FormData();
    form.set('csrf', csrfOf((await owner.get('/console/nowhere')).text));
    form.set('kind', 'expected_payments');
    form.set('file', new Blob([content]), 'file.csv');
    const encoded = new Response(form);
    const { status, text } = await owner.send(`${base}/bulk`, {
      method: 'POST',
      body: Buffer.from(await encoded.arrayBuffer()),
      headers: {
        origin: service.url,
        'content-type': encoded.headers.get('content-type') ?? '',
      },
    });
    expect([status, englishIn(text)]).toEqual([expected, []]);
  });

  it('is noticed where a page has one', () => {
    expect(englishIn('<p>valor</p><span>Must be a URL.</span>')).toHaveLength(1);
  });
});
