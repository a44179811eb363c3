// The calls of an operator in tests: accounts and API keys, through the API.
import { adminKey, type ServiceApplication } from './service-application.js';

/** `service` is read at each call, so that a test may start it later. */
export function operatorOf(service: () => ServiceApplication) {
  let count = 0;
  const asOperator = (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => service().call(method, path, { body, headers, apiKey: adminKey });
  const addAccount = async (credentials: Record<string, unknown> = {}) => {
    const slug = `account-${(count += 1)}`;
    const body = { slug, credentials: { apiKey: `key-of-${slug}`, ...credentials } };
    return { slug, response: await asOperator('POST', '/v1/accounts', body) };
  };
  const createKey = async (slug: string, overrides: Record<string, unknown> = {}) =>
    (
      await asOperator('POST', `/v1/accounts/${slug}/keys`, {
        name: 'a system',
        scopes: ['read'],
        ...overrides,
      })
    ).body as { id: string; key: string; hint: string };
  const statusWith = async (key: string) =>
    (await service().call('GET', '/v1/operations', { apiKey: key })).status;
  return { asOperator, addAccount, createKey, statusWith };
}
