import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { constructEvent, SignatureError, type ConciliaEvent } from './index.js';

const [oldSecret, newSecret] = ['b2xkIHNlY3JldA==', 'bmV3IHNlY3JldA=='];
const body =
  '{"type":"charge.paid","timestamp":"2026-11-29T10:00:00Z","resource":{"kind":"charge","id":"1"},' +
  '"sequence":1,"data":{"correlationId":"order-1","amount":9007199254740993.01,"nsu":7}}';

function signed(text: string, secrets: readonly string[] = [oldSecret], at = new Date()) {
  return {
    'Webhook-Id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((one) => new Webhook(one).sign('msg_1', at, text)).join(' '),
  };
}

/** Compiles only where `type` says what `data` is. */
function describeEvent(event: ConciliaEvent): string {
  switch (event.type) {
    case 'charge.paid':
      return `${event.data.correlationId} ${event.data.amount satisfies string}`;
    case 'break.opened':
      return event.resource.id;
    default:
      return `another: ${event.type}`;
  }
}

describe('an event', () => {
  it('is returned with its id and exact amounts', () => {
    const event = constructEvent(Buffer.from(body), signed(body), oldSecret);
    expect(event).toMatchObject({ id: 'msg_1', data: { amount: '9007199254740993.01', nsu: '7' } });
    expect(describeEvent(event)).toBe('order-1 9007199254740993.01');
  });

  it('is accepted by either secret, with the headers of fetch too', () => {
    const headers = new Headers(signed(body, [newSecret, oldSecret]));
    for (const secret of [oldSecret, newSecret, ['b3RoZXI=', newSecret]])
      expect(constructEvent(body, headers, secret).type).toBe('charge.paid');
    expect(constructEvent(body, signed(body), [newSecret, oldSecret]).id).toBe('msg_1');
  });

  it('may have a type that this version does not know', () => {
    const later = body.replace('charge.paid', 'charge.teleported');
    const event = constructEvent(later, signed(later), oldSecret);
    expect(describeEvent(event)).toBe('another: charge.teleported');
    expect(event.data).toMatchObject({ amount: '9007199254740993.01' });
  });

  it.each<[string, () => unknown]>([
    ['another body', () => constructEvent(`${body} `, signed(body), oldSecret)],
    ['another secret', () => constructEvent(body, signed(body), newSecret)],
    ['no secret', () => constructEvent(body, signed(body), [])],
    ['no signature', () => constructEvent(body, {}, oldSecret)],
    [
      'an old signature',
      () =>
        constructEvent(body, signed(body, [oldSecret], new Date(Date.now() - 301_000)), oldSecret),
    ],
  ])('is refused with %s', (_, construct) => expect(construct).toThrow(SignatureError));
});
