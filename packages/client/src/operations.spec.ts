// Every operation of the API reference can be called, and its types hold.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { Concilia, List, type Page } from './index.js';

const reference = join(import.meta.dirname, '..', '..', '..', 'docs', 'reference', 'openapi.json');

interface Reference {
  paths: Record<string, Record<string, { parameters: { name: string }[] }>>;
}

/** As `POST /v1/charges/{}/void keyed`. */
const described = (method: string, path: string, isKeyed: boolean) =>
  `${method.toUpperCase()} ${path.replace(/\{\w*\}/g, '{}')}${isKeyed ? ' keyed' : ''}`;

const sent: string[] = [];
const client = new Concilia({
  ...{ baseUrl: 'http://127.0.0.1', apiKey: 'a', adminKey: 'b', partnerKey: 'c' },
  fetch: ((url: URL, { method = '', headers }: RequestInit) => {
    const isKeyed = new Headers(headers).has('IdempotencyKey');
    sent.push(described(method, decodeURIComponent(url.pathname), isKeyed));
    return Promise.resolve(new Response('{"data":[],"next":null}'));
  }) as typeof fetch,
});

type Method = (...given: string[]) => Promise<unknown> | List<Page>;

it('sends every operation of the reference, and no other', async () => {
  const { paths } = JSON.parse(readFileSync(reference, 'utf8')) as Reference;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters }]) =>
      described(
        method,
        path,
        parameters.some(({ name }) => name === 'IdempotencyKey'),
      ),
    ),
  );
  for (const resource of Object.values(client) as Record<string, Method>[])
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(resource))) {
      if (name === 'constructor') continue;
      const result = resource[name]?.('{}', '{}', '{}', '{}');
      await (result instanceof List ? result.page() : result);
    }
  expect(operations.length).toBeGreaterThan(140);
  expect(sent.sort()).toEqual(operations.sort());
});

/** Compiles only while amounts are texts, and lists have the type of their items. */
export async function typesHold(): Promise<string> {
  // @ts-expect-error an amount is a text
  await client.refunds.refundTransaction(1, { amount: 92.51 }, { filterBy: 'NSU' });
  // @ts-expect-error a field of the reference is missing
  await client.charges.create({ type: 'BANKSLIP', correlationId: '1', dueDate: '2030-12-31' });
  // @ts-expect-error no state of the reference
  client.operations.list({ state: 'lost' });
  for await (const { amount } of client.reconciliation.listBookTransactions())
    return amount satisfies string;
  const { settlement } = await client.charges.get('order-1');
  return settlement satisfies 'open' | 'settled' | (string & {});
}
