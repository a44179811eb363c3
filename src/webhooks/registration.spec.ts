import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { WebhookRegistration } from '../contract/webhook-registrations.js';
import { registeredEventTypes } from './webhook-body.js';
import { planRegistrations, type WebhookAddress, type RegistrationPlan } from './registration.js';

const door: WebhookAddress = {
  publicUrl: 'https://concilia.example',
  slug: 'main',
  secret: 's3cret',
  isOnLoopback: false,
};
const empty: RegistrationPlan = { create: [], update: [], foreign: [] };
const foreign = (eventType: string, url = 'https://other.example/hook'): WebhookRegistration => ({
  id: `foreign ${eventType}`,
  eventType,
  url,
  authorizationScheme: 'NONE',
});

/** The bank's list after it has done as the plan says. */
function apply(plan: RegistrationPlan, before: readonly WebhookRegistration[]) {
  const changed = before.map((registration) => ({
    ...registration,
    ...plan.update.find(({ id }) => id === registration.id)?.wanted,
  }));
  const made = plan.create.map((wanted, index) => ({ id: `new ${index}`, ...wanted }));
  return [...changed, ...made];
}

describe('planRegistrations', () => {
  it('registers each kind once at a bank that knows nothing', () => {
    const plan = planRegistrations(door, []);
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
    ['another path under our address', { url: `${door.publicUrl}/webhooks/bank/main/old` }],
  ])('mends a registration of ours that has %s, and makes no second', (_, change) => {
    const [first, ...rest] = apply(planRegistrations(door, []), []);
    const plan = planRegistrations(door, [{ ...first, ...change } as WebhookRegistration, ...rest]);
    expect(plan).toEqual({
      ...empty,
      update: [{ id: 'new 0', wanted: expect.objectContaining({ eventType: 'CHARGE_PAID' }) }],
    });
  });

  it('takes the scheme in small letters for the same', () => {
    const known = apply(planRegistrations(door, []), []);
    const small = known.map((one) => ({ ...one, authorizationScheme: 'header' }));
    expect(planRegistrations(door, small)).toEqual(empty);
  });

  it.each([
    'https://other.example/webhooks/bank/main/CHARGE_PAID',
    'https://concilia.example.evil.example/webhooks/bank/main/CHARGE_PAID',
    'https://concilia.example/webhooks/bank/second/CHARGE_PAID',
    'https://concilia.example/webhooks/bank/main-2/CHARGE_PAID',
    'http://concilia.example/webhooks/bank/main/CHARGE_PAID',
    'http://127.0.0.1:3000/webhooks/bank/main/CHARGE_PAID',
    'no url',
  ])('leaves %s as it is, which is not under our address, and tells of it', (url) => {
    const plan = planRegistrations(door, [foreign('CHARGE_PAID', url)]);
    expect(plan.foreign).toEqual(['CHARGE_PAID']);
    expect(plan.update).toEqual([]);
    expect(plan.create.map(({ eventType }) => eventType)).not.toContain('CHARGE_PAID');
  });

  it('says nothing of kinds that it does not ask for', () => {
    const known = apply(planRegistrations(door, []), [foreign('MED_REQUESTED')]);
    expect(planRegistrations(door, known)).toEqual(empty);
  });

  it('takes any loopback address that leads to the door for ours in development, and only there', () => {
    const local = { ...door, publicUrl: 'http://127.0.0.1:3000', isOnLoopback: true };
    const old = apply(planRegistrations({ ...local, publicUrl: 'http://localhost:4000' }, []), []);
    expect(planRegistrations(local, old).update).toHaveLength(registeredEventTypes.length);
    expect(planRegistrations(local, apply(planRegistrations(local, old), old))).toEqual(empty);
    const others = [foreign('CHARGE_PAID', 'http://127.0.0.1:9/else')];
    expect(planRegistrations(local, others).foreign).toEqual(['CHARGE_PAID']);
  });

  it('leaves no registration of ours behind that asks for another secret', () => {
    const known = apply(planRegistrations(door, []), []);
    const stale = { ...known[0], id: 'stale', authorization: 'x-webhook-key: old' };
    const all = [...known, stale as WebhookRegistration];
    const after = apply(planRegistrations(door, all), all);
    const ours = after.filter(({ url }) => url.startsWith(door.publicUrl));
    expect(ours.filter(({ authorization }) => authorization !== 'x-webhook-key: s3cret')).toEqual(
      [],
    );
  });

  const anyRegistration = fc.record<Omit<WebhookRegistration, 'id'>>({
    eventType: fc.constantFrom(...registeredEventTypes, 'MED_REQUESTED'),
    url: fc.constantFrom(
      `${door.publicUrl}/webhooks/bank/main/CHARGE_PAID`,
      `${door.publicUrl}/webhooks/bank/main/old`,
      'https://other.example/hook',
      'no url',
    ),
    authorizationScheme: fc.constantFrom('HEADER', 'BASIC', 'NONE'),
    authorization: fc.constantFrom(null, 'x-webhook-key: s3cret', 'x-webhook-key: old'),
  });
  const anyList = fc
    .array(anyRegistration, { maxLength: 15 })
    .map((list) =>
      list.map((one, index) => ({ id: `id ${index}`, ...one }) as WebhookRegistration),
    );

  it('converges: there is nothing left to do once its plan was followed', () => {
    fc.assert(
      fc.property(anyList, (before) => {
        const plan = planRegistrations(door, before);
        const again = planRegistrations(door, apply(plan, before));
        expect(again).toEqual({ ...empty, foreign: plan.foreign });
      }),
    );
  });

  it('never touches what is not under our address', () => {
    fc.assert(
      fc.property(anyList, (before) => {
        const others = before.filter(({ url }) => !url.startsWith(door.publicUrl));
        const after = apply(planRegistrations(door, before), before);
        for (const other of others) expect(after).toContainEqual(other);
      }),
    );
  });
});
