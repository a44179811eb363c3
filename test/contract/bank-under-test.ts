// The bank that the contract suite tests: the bank of the environment variables (a real bank's
// homologation, or the service in front of a bank), or else a new sandbox bank with a new database.
import { createLog } from '../../src/platform/log.js';
import type { Preset } from '../../src/sandbox/presets/presets.js';
import { SandboxDatabase } from '../../src/sandbox/sandbox-database.service.js';
import { createSandbox } from '../../src/sandbox/sandbox.module.js';
import { testDatabase } from '../support/postgres.js';
import { referenceCheck, type Application } from '../support/reference-check.js';

export interface TestResponse {
  status: number;
  headers: Headers;
  text: string;
  // Bodies are asserted on field by field; a wrong shape fails the assertion that reads it.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

export interface CallOptions {
  /** Sent as JSON. A string is sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Null sends no key. The default is the suite's own key. */
  apiKey?: string | null;
  /** A fault of the bank, or what the test made up, spoils the answer: it is not compared. */
  mayBeSpoiled?: boolean;
}

/** Answers of the preset `published` have the form of the real service, not the reference's. */
export const inPublishedForm = { mayBeSpoiled: true } as const;

export interface BankUnderTest {
  call(method: string, path: string, options?: CallOptions): Promise<TestResponse>;
  /** The key of another account, or null if the environment has none. */
  otherApiKey: string | null;
  stop(): Promise<void>;
}

/** The suite calls our service instead of a bank. A real bank's answers are not compared. */
export const applicationInFront = process.env.TEST_SERVICE_IN_FRONT ? 'service' : null;

export async function bankUnderTest(): Promise<BankUnderTest> {
  const { CONTRACT_BASE_URL, CONTRACT_API_KEY, CONTRACT_OTHER_API_KEY } = process.env;
  if (!CONTRACT_BASE_URL) return sandboxUnderTest();
  if (!CONTRACT_API_KEY) throw new Error('CONTRACT_API_KEY is unset');
  return {
    call: createCaller(CONTRACT_BASE_URL.replace(/\/+$/, ''), CONTRACT_API_KEY, applicationInFront),
    otherApiKey: CONTRACT_OTHER_API_KEY ?? null,
    stop: async () => undefined,
  };
}

/**
 * Starts a sandbox bank on a free port, independent of the environment. Most tests need to see all
 * that the bank knows, so its preset is `complete` unless a test names another.
 */
export async function sandboxUnderTest(preset: Preset = 'complete') {
  const database = await testDatabase('sandbox');
  const start = async () => {
    const application = await createSandbox({
      databaseUrl: database.url,
      log: createLog(process.env.TEST_LOG_LEVEL ?? 'silent', 'sandbox'),
      settings: { apiKey: 'sandbox-dev-key', partnerKey: 'sandbox-dev-partner', preset },
    });
    await application.listen(0, '127.0.0.1');
    return application;
  };
  const application = await start();
  return {
    application,
    pool: database.pool,
    /** Starts another process of the same bank. */
    start,
    call: createCaller(await application.getUrl(), 'sandbox-dev-key', 'sandbox'),
    otherApiKey: 'sandbox-dev-key-2',
    /**
     * Opens all database connections of the bank. Requests run concurrently only if no request has
     * to wait for a new connection.
     */
    warmUp: async () => {
      const { pool } = application.get(SandboxDatabase);
      const queries = Array.from({ length: 24 }, () => pool.query('SELECT pg_sleep(0.1)'));
      await Promise.all(queries);
    },
    stop: async () => {
      await application.close();
      await database.drop();
    },
  };
}

export type SandboxUnderTest = Awaited<ReturnType<typeof sandboxUnderTest>>;

/**
 * Creates the function that calls a bank at `baseUrl`, with `ownApiKey` unless the call has a key.
 * With `application`, it throws when what is answered is not as the API reference has it.
 */
export function createCaller(
  baseUrl: string,
  ownApiKey: string,
  application: Application | null,
): BankUnderTest['call'] {
  const keyHeader = process.env.CONTRACT_API_KEY_HEADER ?? 'x-service-api-key';
  return async (method, path, options = {}) => {
    const { body, headers = {}, apiKey = ownApiKey, mayBeSpoiled = false } = options;
    const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        ...(apiKey === null ? {} : { [keyHeader]: apiKey }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text };
    if (application && !mayBeSpoiled)
      referenceCheck(application).assert({
        ...{ method, url: path, sent, sentType: headers['content-type'], ...answer },
      });
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = undefined;
    }
    return { ...answer, body: parsed };
  };
}

/**
 * Retries until `attempt` succeeds: a service in front of a bank syncs the statement a moment
 * later.
 */
export async function eventually<Result>(
  attempt: () => Promise<Result>,
  timeoutMs = 20_000,
): Promise<Result> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
