import { describe, expect, it } from '@jest/globals';
import { AppError } from '../../platform/errors.js';
import {
  readWebhookFilters,
  webhookQuery,
} from '../../webhooks/received/received-webhooks.schema.js';
import { readFilters } from '../list-query.js';
import { readPlace, readWebhookId, webhookIdOf, writePlace } from './webhook-address.js';

const bodyHash = 'ab'.repeat(32);
const key = { eventType: 'CHARGE_PAID', bodyHash };

describe('the address of a webhook page', () => {
  it('names a webhook and a place in the list', () => {
    expect(readWebhookId(webhookIdOf(key))).toEqual(key);
    const place = { ...key, receivedAt: new Date('2026-11-24T12:00:00.123Z') };
    expect(readPlace(writePlace(place))).toEqual(place);
  });

  it.each(['', 'x', `CHARGE PAID.${bodyHash}`, `.${bodyHash}`, 'CHARGE_PAID.abc'])(
    'that is %p names none',
    (text) => {
      expect(() => readWebhookId(text)).toThrow(AppError);
      expect(readPlace(text)).toBeNull();
    },
  );

  it('has days in São Paulo, both included, and leaves out what is wrong', () => {
    const query = new URLSearchParams(
      'state=processed&eventType=charge_paid&from=2026-11-23&to=2026-11-24',
    );
    expect(readWebhookFilters(readFilters(webhookQuery, query).filters)).toEqual({
      ...{ state: 'processed', eventType: 'CHARGE_PAID' },
      from: new Date('2026-11-23T03:00:00Z'),
      until: new Date('2026-11-25T03:00:00Z'),
    });
    const wrong = new URLSearchParams('state=lost&eventType=%00&from=2026-13-01&to=');
    expect(readFilters(webhookQuery, wrong)).toEqual({
      filters: {},
      wrong: ['state', 'eventType', 'from'],
    });
  });
});
