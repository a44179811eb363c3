// An identity provider that others wrote: the package oidc-provider on a port of its own, with the
// people of a test. A browser of the tests signs in on its pages.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { visitorOf, type VisitedPage, type Visitor } from './console-visitor.js';
import type { ServiceProcess } from './service-application.js';

export const clientSecret = 'canary-client-secret';
const scopes = 'openid profile email';
const newKey = (kid: string, { privateKey }: { privateKey: KeyObject }) => ({
  ...{ ...privateKey.export({ format: 'jwk' }), kid, use: 'sig' },
});
const keys = [
  newKey('es', generateKeyPairSync('ec', { namedCurve: 'P-256' })),
  newKey('rs', generateKeyPairSync('rsa', { modulusLength: 2_048 })),
];

export async function identityProvider() {
  /** The claims of each person, by subject. */
  const people = new Map<string, Record<string, unknown>>();
  let respond: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
    response.writeHead(503).end();
  const server = createServer((request, response) => respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** It answers from now on; `more` is configuration of the package. */
  const serve = (
    service: Pick<ServiceProcess, 'url'>,
    client: Record<string, unknown> = {},
    more: Record<string, unknown> = {},
  ) => {
    const provider: Provider = new Provider(issuer, {
      clients: [
        {
          ...{ client_id: 'concilia', client_secret: clientSecret },
          redirect_uris: [`${service.url}/console/sso/callback`],
          post_logout_redirect_uris: [`${service.url}/console/sign-in`],
          id_token_signed_response_alg: 'ES256',
          ...client,
        },
      ],
      jwks: { keys },
      cookies: { keys: ['of-tests'] },
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['name', 'groups', 'realm_access'],
      },
      findAccount: (_: unknown, sub: string) =>
        people.has(sub)
          ? { accountId: sub, claims: () => ({ sub, ...people.get(sub) }) }
          : undefined,
      /** Nobody is asked to consent. */
      loadExistingGrant: async (context: {
        oidc: { client: { clientId: string }; session: { accountId: string } };
      }) => {
        const { client, session } = context.oidc;
        const grant = new provider.Grant({
          ...{ clientId: client.clientId, accountId: session.accountId },
        });
        grant.addOIDCScope(scopes);
        await grant.save();
        return grant;
      },
      ...more,
    });
    respond = provider.callback();
  };
  return {
    ...{ issuer, people, serve },
    goDown: () => {
      respond = (_, response) => response.writeHead(503).end();
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export type IdentityProvider = Awaited<ReturnType<typeof identityProvider>>;

/** A person's browser, at the service and at the provider. */
export function ssoBrowser(service: ServiceProcess, provider: IdentityProvider) {
  const [here, there] = [visitorOf(service), visitorOf({ url: provider.issuer })];
  /** Follows the provider's pages from an address there, and returns the one that leads back. */
  const authenticate = async (url: string, sub: string): Promise<string> => {
    let page: VisitedPage = await there.get(pathIn(url));
    for (let step = 0; step < 10; step += 1) {
      if (page.location?.startsWith(service.url)) return pathIn(page.location);
      if (page.location) page = await there.get(pathIn(page.location));
      else page = await there.post(actionIn(page), { prompt: 'login', login: sub, password: 'x' });
    }
    throw new Error(`the provider does not lead back: ${page.status} ${page.text}`);
  };
  const signIn = async (sub: string, start = '/console/sso'): Promise<VisitedPage> => {
    const { location, text } = await here.get(start);
    if (!location?.startsWith(provider.issuer)) throw new Error(`not at the provider: ${text}`);
    return here.get(await authenticate(location, sub));
  };
  return { ...here, here, there, authenticate, signIn };
}

export type SsoBrowser = Visitor & ReturnType<typeof ssoBrowser>;

function pathIn(url: string): string {
  const { pathname, search } = new URL(url, 'http://provider');
  return `${pathname}${search}`;
}

const actionIn = ({ text }: VisitedPage) => pathIn(/action="([^"]+)"/.exec(text)?.[1] ?? '/');
