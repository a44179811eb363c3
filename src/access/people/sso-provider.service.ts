// Speaks OpenID Connect with the identity provider: authorization code with PKCE, state and nonce.
// The provider is asked when somebody signs in: no start of the service waits for it. What a flow
// must remember travels encrypted in a cookie of its browser, and opens only with its state. Codes,
// tokens and claims reach no log: failures are logged by their kind.
import { Injectable } from '@nestjs/common';
import type { ClientAuth, Configuration } from 'openid-client';
import { invariant } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { Addresses } from '../../platform/http/http.js';
import { Log } from '../../platform/log.js';
import { Database } from '../../platform/postgres/database.service.js';
import { SecretBox } from '../../platform/secret-box.js';
import { Settings } from '../../platform/settings/config.js';
import { lacksClaims, readIdentity, type SsoIdentity } from './sso-claims.js';

const timeoutSeconds = 10;
/** How far the clocks of provider and database may differ. */
const toleranceSeconds = 60;
export const flowSeconds = 600;
/** Many sign-ins at once ask the provider once where its endpoints are. */
const freshSeconds = 5;

/** What one way to the provider and back remembers. */
interface Flow {
  /** Of the session that it begins: no flow begins two. */
  id: string;
  nonce: string;
  verifier: string;
  next: string;
  /** The CSRF token of the session that it confirms; null where it signs in. */
  confirms: string | null;
  /** In seconds. */
  startedAt: number;
}

export interface StartedFlow {
  url: string;
  state: string;
  /** For the cookie of that state. */
  sealed: string;
}

/** Why a person comes from the provider without having signed in. */
export type ProviderProblem =
  'unavailable' | 'denied' | 'invalid' | 'expired' | 'not_authenticated_again';

export type Returned =
  | { outcome: 'refused'; reason: ProviderProblem }
  | { outcome: 'authenticated'; flow: Flow; identity: SsoIdentity; idToken: string };

type Client = typeof import('openid-client');
interface Connection {
  client: Client;
  configuration: Configuration;
  /** The ways to send the secret that the provider may accept; the first is used. */
  ways: ClientAuth[];
}

@Injectable()
export class SsoProvider {
  private connection: Promise<Connection> | null = null;
  /** In seconds, as PostgreSQL counts them. */
  private connectedAt = 0;
  /** Whether the secret was last accepted in the body of a request, and not in its header. */
  private postsSecret = false;

  constructor(
    private readonly settings: Settings,
    private readonly addresses: Addresses,
    private readonly database: Database,
    private readonly secretBox: SecretBox,
    private readonly log: Log,
  ) {}

  /** Null where the provider cannot be reached. `confirms`: the person must sign in there anew. */
  async start(next: string, confirms: string | null): Promise<StartedFlow | null> {
    const startedAt = await this.now();
    // Asked again, the provider shows that it is there before the browser is sent to it.
    if (startedAt - this.connectedAt > freshSeconds) {
      this.connectedAt = startedAt;
      this.connection = null;
    }
    const connection = await this.connect().catch((error: unknown) => this.failed(error));
    if (typeof connection === 'string') return null;
    const { client, configuration } = connection;
    const [state, nonce] = [client.randomState(), client.randomNonce()];
    const verifier = client.randomPKCECodeVerifier();
    const url = client.buildAuthorizationUrl(configuration, {
      ...{ redirect_uri: this.url('/console/sso/callback'), scope: this.sso.scopes, state, nonce },
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(confirms !== null && { prompt: 'login', max_age: '0' }),
    });
    const flow: Flow = { id: newId(), nonce, verifier, next, confirms, startedAt };
    const sealed = this.secretBox.encrypt(JSON.stringify(flow), ownerOfFlow(state));
    return { url: url.href, state, sealed };
  }

  /** `query`: of the address at which the provider has sent the browser back. */
  async finish(query: URLSearchParams, sealed: string | undefined): Promise<Returned> {
    const state = query.get('state') ?? '';
    const flow = sealed ? this.open<Flow>(sealed, ownerOfFlow(state)) : null;
    if (!flow || (await this.now()) - flow.startedAt > flowSeconds)
      return { outcome: 'refused', reason: 'expired' };
    try {
      const connection = await this.connect();
      const { identity, idToken } = await this.exchange(connection, query, state, flow);
      const isFresh = (identity.authenticatedAt ?? 0) >= flow.startedAt - toleranceSeconds;
      if (flow.confirms !== null && !isFresh)
        return { outcome: 'refused', reason: 'not_authenticated_again' };
      return { outcome: 'authenticated', flow, identity, idToken };
    } catch (error) {
      return { outcome: 'refused', reason: this.failed(error) };
    }
  }

  /** Where the browser ends its session at the provider; null where it cannot be known. */
  async findSignOut(sealedHint: string | undefined): Promise<string | null> {
    const connection = await this.connect().catch((error: unknown) => this.failed(error));
    if (typeof connection === 'string') return null;
    const { client, configuration } = connection;
    const endpoint = configuration.serverMetadata().end_session_endpoint;
    // Forms of the console lead to the issuer's own pages and to no other site.
    if (!endpoint || new URL(endpoint).origin !== new URL(this.sso.issuer).origin) return null;
    const hint = sealedHint ? this.open<string>(sealedHint, ownerOfHint) : null;
    const url = client.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: this.url('/console/sign-in'),
      ...(hint && { id_token_hint: hint }),
    });
    return url.href;
  }

  /** For the cookie that a sign-out at the provider needs; null for a token that fits in none. */
  sealHint(idToken: string): string | null {
    const sealed = this.secretBox.encrypt(JSON.stringify(idToken), ownerOfHint);
    return sealed.length <= 3_500 ? sealed : null;
  }

  private async exchange(
    connection: Connection,
    query: URLSearchParams,
    expectedState: string,
    flow: Flow,
  ): Promise<{ identity: SsoIdentity; idToken: string }> {
    const { client, configuration, ways } = connection;
    const url = new URL(`${this.url('/console/sso/callback')}?${query.toString()}`);
    const exchangeOnce = () =>
      client.authorizationCodeGrant(configuration, url, {
        ...{ expectedState, expectedNonce: flow.nonce, pkceCodeVerifier: flow.verifier },
        idTokenExpected: true,
      });
    const tokens = await exchangeOnce().catch((error: unknown) => {
      // Many a client is registered for one of the ways that its provider offers.
      const [first, second] = ways;
      if (!first || !second || !isUnknownClient(error)) throw error;
      ways.splice(0, 2, second, first);
      this.postsSecret = !this.postsSecret;
      return exchangeOnce();
    });
    const claims = tokens.claims();
    invariant(claims && tokens.id_token, 'an ID token is expected');
    const { groupsClaim } = this.sso;
    const isMore =
      configuration.serverMetadata().userinfo_endpoint && lacksClaims(claims, groupsClaim);
    const more = isMore
      ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
      : {};
    return { identity: readIdentity(claims, more, this.sso), idToken: tokens.id_token };
  }

  private connect(): Promise<Connection> {
    return (this.connection ??= this.discover().catch((error: unknown) => {
      this.connection = null;
      throw error;
    }));
  }

  private async discover(): Promise<Connection> {
    const { issuer, clientId, clientSecret } = this.sso;
    const client = await import('openid-client');
    const ways: ClientAuth[] = [];
    const authenticate: ClientAuth = (...request) => ways[0]?.(...request);
    const execute = [client.enableNonRepudiationChecks];
    if (issuer.startsWith('http:')) execute.push(client.allowInsecureRequests);
    const configuration = await client.discovery(
      new URL(issuer),
      clientId,
      { [client.clockTolerance]: toleranceSeconds },
      authenticate,
      { timeout: timeoutSeconds, execute },
    );
    const offered = configuration.serverMetadata().token_endpoint_auth_methods_supported;
    const isOffered = (way: string) => offered?.includes(way) ?? way === 'client_secret_basic';
    if (clientSecret === null) ways.push(client.None());
    else {
      const [basic, post] = [client.ClientSecretBasic, client.ClientSecretPost];
      if (isOffered('client_secret_basic')) ways.push(basic(clientSecret));
      if (isOffered('client_secret_post') || ways.length === 0) ways.push(post(clientSecret));
      if (this.postsSecret) ways.reverse();
    }
    return { client, configuration, ways };
  }

  /**
   * The kind of a failure; faults of ours are thrown again. After one of the provider, the next
   * person makes it say anew where its endpoints are.
   */
  private failed(error: unknown): ProviderProblem {
    const { code, cause, error: said, name } = error as Failure;
    if (!fromProvider.has(name) && !(name === 'TypeError' && cause)) throw error;
    this.log.warn(
      {
        ...{ reason: code ?? name, cause: cause?.code, status: cause?.status },
        said: isWord(said) ? said : undefined,
      },
      'single sign-on failed',
    );
    if (name === 'AuthorizationResponseError') return 'denied';
    if (said === 'invalid_grant') return 'expired';
    if (name === 'ClientError' && !noAnswer.test(code ?? '')) return 'invalid';
    this.connection = null;
    return 'unavailable';
  }

  /** Null for what another key, another state or somebody else has sealed. */
  private open<Value>(sealed: string, owner: readonly string[]): Value | null {
    try {
      return JSON.parse(this.secretBox.decrypt(sealed, owner)) as Value;
    } catch {
      return null;
    }
  }

  private async now(): Promise<number> {
    return (await this.database.now()).getTime() / 1_000;
  }

  private url(path: string): string {
    return `${this.settings.publicUrl ?? this.addresses.publicUrl}${path}`;
  }

  private get sso() {
    invariant(this.settings.sso, 'single sign-on is set up');
    return this.settings.sso;
  }
}

interface Failure {
  name: string;
  code?: string;
  /** The error code of OAuth 2.0. */
  error?: unknown;
  status?: number;
  cause?: { code?: string; status?: number };
}

/** Names of the library's errors; its calls without a connection throw a TypeError with a cause. */
const fromProvider = new Set([
  ...['ClientError', 'AuthorizationResponseError', 'ResponseBodyError'],
  'WWWAuthenticateChallengeError',
]);
/** Codes of the library for a provider that does not answer as one. */
const noAnswer = /TIMEOUT|ABORT|RESPONSE_IS_NOT/;

/** Of a provider's texts, only such a word is logged. */
const isWord = (text: unknown) => typeof text === 'string' && /^[a-z_]{1,40}$/.test(text);

function isUnknownClient(error: unknown): boolean {
  const { error: said, status, name } = error as Failure;
  return said === 'invalid_client' || (name === 'WWWAuthenticateChallengeError' && status === 401);
}

const ownerOfFlow = (state: string) => ['sso.flow', state];
const ownerOfHint = ['sso.hint'];
