// A browser of the tests without a browser: it stores cookies, reads forms from pages, and sends
// them as a browser does.
import { Database } from '../../src/platform/postgres/database.service.js';
import { codeAt } from '../../src/access/people/totp.js';
import { Operators, commandLine, type Grant } from '../../src/access/people/operators.service.js';
import { roleNames, type PersonRole } from '../../src/access/people/roles.js';
import type { ServiceProcess } from './service-application.js';

export interface VisitedPage {
  status: number;
  location: string | null;
  headers: Headers;
  text: string;
}

/** The fields of a form; a list for one that has several. */
export type FormContent = Record<string, string | readonly string[]>;

export const goodPassword = 'correct horse battery';

export function visitorOf(service: Pick<ServiceProcess, 'url'>) {
  const cookies = new Map<string, string>();
  const send = async (path: string, init: RequestInit = {}): Promise<VisitedPage> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${service.url}${path}`, {
      redirect: 'manual',
      ...init,
      headers: {
        'accept-language': 'en',
        // A kept connection may be closed by a process that was busy for seconds, as it is used.
        connection: 'close',
        ...(cookie ? { cookie } : {}),
        ...init.headers,
      },
    });
    for (const one of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      if (/max-age=0/i.test(one)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const { status, headers } = response;
    return { status, headers, location: headers.get('location'), text: await response.text() };
  };
  const get = (path: string, headers: Record<string, string> = {}) => send(path, { headers });
  const post = (path: string, fields: FormContent, headers: Record<string, string> = {}) =>
    send(path, {
      method: 'POST',
      body: new URLSearchParams(
        Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one) => [name, one])),
      ),
      headers: { origin: service.url, ...headers },
    });
  /** Sends a form with the token of the session, which a page shows in each of its forms. */
  const submit = async (path: string, fields: FormContent = {}) =>
    post(path, { csrf: csrfOf((await get('/console/nowhere')).text), ...fields });
  /** Opens the page that asks once more, and returns what its form for `path` sends. */
  const confirm = async (path: string, asked: FormContent, page = `${path}/confirm`) => {
    const { status, text } = await submit(page, asked);
    const fields: Record<string, string[]> = {};
    for (const [name, value] of hiddenIn(text, path)) (fields[name] ??= []).push(value);
    return { status, text, fields };
  };
  return { cookies, get, post, submit, confirm, send };
}

/** The hidden fields of the form of a page that is sent to `path`. */
export function hiddenIn(text: string, path: string): [name: string, value: string][] {
  const form = text.split(`action="${path}"`)[1]?.split('</form>')[0] ?? '';
  const fields = form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return [...fields].map(([, name = '', value = '']) => [name, unescaped(value)]);
}

function unescaped(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}

export type Visitor = ReturnType<typeof visitorOf>;

export function csrfOf(text: string): string {
  return /name="csrf" value="([0-9a-f]{64})"/.exec(text)?.[1] ?? '';
}

/** Sends a form with a file, as a browser does. */
export async function sendFileForm(
  service: Pick<ServiceProcess, 'url'>,
  visitor: Visitor,
  path: string,
  sent: {
    fields?: Record<string, string>;
    name: string;
    content: string | Uint8Array<ArrayBuffer>;
    headers?: Record<string, string>;
  },
): Promise<VisitedPage> {
  const form = new FormData();
  const csrf = sent.fields?.csrf ?? csrfOf((await visitor.get('/console/nowhere')).text);
  for (const [name, value] of Object.entries({ ...sent.fields, csrf })) form.set(name, value);
  form.set('file', new Blob([sent.content]), sent.name);
  const encoded = new Response(form);
  return visitor.send(path, {
    method: 'POST',
    body: Buffer.from(await encoded.arrayBuffer()),
    headers: {
      origin: service.url,
      'content-type': encoded.headers.get('content-type') ?? '',
      ...sent.headers,
    },
  });
}

/** The code of an authenticator, some steps from now. */
export function codeOf(secret: string, offset = 0): string {
  return codeAt(secret, new Date(Date.now() + offset * 30_000));
}

/** A person with that role, who has signed in with password and code. */
/** The people of a suite sign in from one address, which may not do so that often. */
export async function signedInPerson(service: ServiceProcess, email: string, grant: Grant) {
  const { pool } = service.application.get(Database, { strict: false });
  await pool.query('DELETE FROM sign_in_limit');
  const operators = service.application.get(Operators, { strict: false });
  const { id, linkToken } = await operators.invite(commandLine, email, grant);
  const visitor = visitorOf(service);
  const given = await signInByLink(visitor, `/console/link/${linkToken}`);
  return { ...visitor, ...given, id, email };
}

export type SignedIn = Awaited<ReturnType<typeof signedInPerson>>;

/** A person of each role in the account. */
export async function personOfEachRole(
  service: ServiceProcess,
  accountId: number,
): Promise<Record<PersonRole, SignedIn>> {
  const people = {} as Record<PersonRole, SignedIn>;
  for (const role of roleNames)
    people[role] = await signedInPerson(service, `${role}@example.com`, { accountId, role });
  return people;
}

/** Sets password and authenticator by a link, as a person does who was invited. */
export async function signInByLink(
  visitor: Visitor,
  link: string,
): Promise<{ secret: string; recoveryCodes: string[] }> {
  await visitor.post(link, { password: goodPassword });
  const { text } = await visitor.get('/console/authenticator');
  const secret = secretOf(text);
  // The code before the present one: the next step-up takes the present one. It is refused when a
  // step begins meanwhile, and then it is given again.
  const setUp = () => visitor.submit('/console/authenticator', { code: codeOf(secret, -1) });
  const first = await setUp();
  const done = first.status === 200 && first.text.includes('<li>') ? first : await setUp();
  const recoveryCodes = [...done.text.matchAll(/<li>([a-z0-9-]{14})<\/li>/g)].map(
    ([, code = '']) => code,
  );
  return { secret, recoveryCodes };
}

export function secretOf(text: string): string {
  return (/<code>([A-Z2-7 ]+)<\/code>/.exec(text)?.[1] ?? '').replaceAll(' ', '');
}
