import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { WebhookRegistration } from '../../bank-contract/webhook-registrations.js';
import { registeredEventTypes } from '../processing/webhook-body.js';
import {
  describeRegistrations,
  planRegistrations,
  type RegistrationPlan,
  type WebhookAddress,
} from './registration.js';

const address: WebhookAddress = {
  publicUrl: 'https://concilia.example',
  slug: 'main',
  secret: 's3cret',
  allowsLoopback: false,
};
const empty: RegistrationPlan = { create: [], update: [], foreign: [] };
const foreign = (eventType: string, url = 'https://other.example/hook'): WebhookRegistration => ({
  id: `foreign ${eventType}`,
  eventType,
  url,
  authorizationScheme: 'NONE',
});

/** The bank's registrations after the plan was carried out. */
function apply(plan: RegistrationPlan, before: readonly WebhookRegistration[]) {
  const changed = before.map((registration) => ({
    ...registration,
    ...plan.update.find(({ id }) => id === registration.id)?.wanted,
  }));
  const created = plan.create.map((wanted, index) => ({ id: `new ${index}`, ...wanted }));
  return [...changed, ...created];
}

describe('planRegistrations', () => {
  it('registers each event type once at a bank without registrations', () => {
    const plan = planRegistrations(address, []);
    expect(plan.create.map(({ eventType }) => eventType)).toEqual([...registeredEventTypes]);
    expect(plan.create[0]).toEqual({
      eventType: 'CHARGE_PAID',
      url: 'https://concilia.example/webhooks/bank/main/CHARGE_PAID',
      authorizationScheme: 'HEADER',
      authorization: 'x-webhook-key: s3cret',
    });
    expect(new Set(plan.create.map(({ url }) => url)).size).toBe(registeredEventTypes.length);
  });

  it.each<[string, Partial<WebhookRegistration>]>([
    ['another secret', { authorization: 'x-webhook-key: old' }],
    ['a secret that the bank does not show', { authorization: null }],
    ['another scheme', { authorizationScheme: 'NONE' }],
    ['another path under our address', { url: `${address.publicUrl}/webhooks/bank/main/old` }],
  ])('updates our registration that has %s, and creates no second one', (_, change) => {
    const [first, ...rest] = apply(planRegistrations(address, []), []);
    const plan = planRegistrations(address, [
      { ...first, ...change } as WebhookRegistration,
      ...rest,
    ]);
    expect(plan).toEqual({
      ...empty,
      update: [{ id: 'new 0', wanted: expect.objectContaining({ eventType: 'CHARGE_PAID' }) }],
    });
  });

  it('accepts the scheme in lower case as the same', () => {
    const registered = apply(planRegistrations(address, []), []);
    const lowerCase = registered.map((registration) => ({
      ...registration,
      authorizationScheme: 'header',
    }));
    expect(planRegistrations(address, lowerCase)).toEqual(empty);
  });

  it.each([
    'https://other.example/webhooks/bank/main/CHARGE_PAID',
    'https://concilia.example.evil.example/webhooks/bank/main/CHARGE_PAID',
    'https://concilia.example/webhooks/bank/second/CHARGE_PAID',
    'https://concilia.example/webhooks/bank/main-2/CHARGE_PAID',
    'http://concilia.example/webhooks/bank/main/CHARGE_PAID',
    'http://127.0.0.1:3000/webhooks/bank/main/CHARGE_PAID',
    'no url',
  ])('leaves a registration at %s unchanged and reports it as foreign', (url) => {
    const plan = planRegistrations(address, [foreign('CHARGE_PAID', url)]);
    expect(plan.foreign).toEqual(['CHARGE_PAID']);
    expect(plan.update).toEqual([]);
    expect(plan.create.map(({ eventType }) => eventType)).not.toContain('CHARGE_PAID');
  });

  it('does not report event types that it does not register', () => {
    const registered = apply(planRegistrations(address, []), [foreign('SOMETHING_NEW')]);
    expect(planRegistrations(address, registered)).toEqual(empty);
  });

  it('treats any loopback address with our webhook path as ours, in development only', () => {
    const local = { ...address, publicUrl: 'http://127.0.0.1:3000', allowsLoopback: true };
    const old = apply(planRegistrations({ ...local, publicUrl: 'http://localhost:4000' }, []), []);
    expect(planRegistrations(local, old).update).toHaveLength(registeredEventTypes.length);
    expect(planRegistrations(local, apply(planRegistrations(local, old), old))).toEqual(empty);
    const others = [foreign('CHARGE_PAID', 'http://127.0.0.1:9/else')];
    expect(planRegistrations(local, others).foreign).toEqual(['CHARGE_PAID']);
  });

  it('leaves no registration of ours with another secret', () => {
    const registered = apply(planRegistrations(address, []), []);
    const stale = { ...registered[0], id: 'stale', authorization: 'x-webhook-key: old' };
    const all = [...registered, stale as WebhookRegistration];
    const after = apply(planRegistrations(address, all), all);
    const ours = after.filter(({ url }) => url.startsWith(address.publicUrl));
    expect(ours.filter(({ authorization }) => authorization !== 'x-webhook-key: s3cret')).toEqual(
      [],
    );
  });

  const anyRegistration = fc.record<Omit<WebhookRegistration, 'id'>>({
    eventType: fc.constantFrom(...registeredEventTypes, 'SOMETHING_NEW'),
    url: fc.constantFrom(
      `${address.publicUrl}/webhooks/bank/main/CHARGE_PAID`,
      `${address.publicUrl}/webhooks/bank/main/old`,
      'https://other.example/hook',
      'no url',
    ),
    authorizationScheme: fc.constantFrom('HEADER', 'BASIC', 'NONE'),
    authorization: fc.constantFrom(null, 'x-webhook-key: s3cret', 'x-webhook-key: old'),
  });
  const anyList = fc
    .array(anyRegistration, { maxLength: 15 })
    .map((list) =>
      list.map(
        (registration, index) => ({ id: `id ${index}`, ...registration }) as WebhookRegistration,
      ),
    );

  it('plans no change once its plan was carried out', () => {
    fc.assert(
      fc.property(anyList, (before) => {
        const plan = planRegistrations(address, before);
        const again = planRegistrations(address, apply(plan, before));
        expect(again).toEqual({ ...empty, foreign: plan.foreign });
      }),
    );
  });

  it('never changes a registration that is not under our address', () => {
    fc.assert(
      fc.property(anyList, (before) => {
        const others = before.filter(({ url }) => !url.startsWith(address.publicUrl));
        const after = apply(planRegistrations(address, before), before);
        for (const other of others) expect(after).toContainEqual(other);
      }),
    );
  });
});

describe('describeRegistrations', () => {
  it('distinguishes what is registered, outdated, foreign and missing, by its host only', () => {
    const [paid, overdue] = apply(planRegistrations(address, []), []);
    const described = describeRegistrations(address, [
      paid!,
      { ...overdue!, authorization: 'x-webhook-key: old' },
      foreign('PIX_RECEIVED', 'https://user:token@other.example/hook?token=s3cret'),
    ]);
    const byType = new Map(described.map(({ eventType, ...rest }) => [eventType, rest]));
    expect(described).toHaveLength(registeredEventTypes.length);
    expect(byType.get('CHARGE_PAID')).toEqual({ state: 'registered', host: 'concilia.example' });
    expect(byType.get('CHARGE_OVERDUE')).toEqual({ state: 'outdated', host: 'concilia.example' });
    expect(byType.get('PIX_RECEIVED')).toEqual({ state: 'foreign', host: 'other.example' });
    expect(byType.get('CHARGE_VOIDED')).toEqual({ state: 'missing', host: null });
  });
});
