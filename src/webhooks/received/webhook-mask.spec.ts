import { describe, expect, it } from '@jest/globals';
import { parseJson, stringifyJson } from '../../platform/json/exact-json.js';
import { hiddenText, maskWebhook } from './webhook-mask.js';

const masked = (fields: object) =>
  JSON.parse(
    stringifyJson(maskWebhook(parseJson(JSON.stringify(fields)) as Record<string, unknown>)),
  );

describe('a masked webhook', () => {
  it('shows ids, kinds, times and numbers', () => {
    const fields = {
      ...{ eventType: 'PIX_RECEIVED', nsu: '12345678901', amount: 10.5, paidAt: '2026-11-24' },
      ...{ endToEndId: 'E9999999920260302120000000000001', correlationId: 'order-1' },
    };
    expect(masked(fields)).toEqual(fields);
  });

  it('hides what says who paid, whatever its field is called', () => {
    const secrets = {
      payer: { name: 'Maria das Dores', document: '12345678909', fancy: 'Maria das Dores' },
      nome: 'Maria das Dores',
      ...{ payerTaxId: '123.456.789-09', customerId: '12345678909', id: '12345678909' },
      ...{ list: ['Maria das Dores'], message: 'de Maria das Dores', pixKey: 'maria@x.example' },
      deep: { other: [{ text: 'Maria das Dores' }], amount: 'Maria das Dores'.repeat(20) },
    };
    const text = JSON.stringify(masked(secrets));
    expect(text).not.toMatch(/Maria das|123\.456|12345678909|maria@/);
    expect(text).toContain(hiddenText);
  });
});
