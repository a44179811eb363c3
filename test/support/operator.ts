// What an operator does over and over: accounts and keys, by the API.
import { adminKey, type ServiceApplication } from './service-application.js';

/** The calls of an operator, on a service that is there when they are made. */
export function operatorOf(service: () => ServiceApplication) {
  let count = 0;
  const asOperator = (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => service().call(method, path, { body, headers, apiKey: adminKey });
  const add = async (credentials: Record<string, unknown> = {}) => {
    const slug = `account-${(count += 1)}`;
    const body = { slug, credentials: { apiKey: `key-of-${slug}`, ...credentials } };
    return { slug, answer: await asOperator('POST', '/v1/accounts', body) };
  };
  const makeKey = async (slug: string, over: Record<string, unknown> = {}) =>
    (
      await asOperator('POST', `/v1/accounts/${slug}/keys`, {
        name: 'a system',
        scopes: ['read'],
        ...over,
      })
    ).body as { id: string; key: string; hint: string };
  const statusWith = async (key: string) =>
    (await service().call('GET', '/v1/operations', { apiKey: key })).status;
  return { asOperator, add, makeKey, statusWith };
}
