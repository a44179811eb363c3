// Calls the running service over HTTP, as its other clients do, for commands that read or change
// what the service has. So one process checks, records and enqueues; a key's scopes decide what a
// reader sees; and a command needs neither the database nor the credentials key.
import { z } from 'zod';
import { encodePathAndQuery } from '../bank/request-encoding.js';
import { fieldErrorOf, fieldMessage } from '../bank-contract/field-errors.js';
import { adminKeyHeader, apiKeyHeader, type Route } from '../bank-contract/route.js';
import { parseJson, stringifyJson, tolerantJson } from '../platform/json/exact-json.js';
import type { ClientSettings } from '../platform/settings/client-settings.js';
import { CommandFailure } from './exit.js';

const deadlineMs = 60_000;
const pageSize = 500;

interface RequestParts<R extends Route> {
  params?: z.output<R['params']>;
  query?: z.output<R['query']>;
  /** As it is sent. */
  body?: z.input<R['body']>;
}

/** The JSON of a response, with exact numbers. */
type Answer<R extends Route> = z.input<R['response']>;

interface Page<Item> {
  data: Item[];
  next: string | null;
}

export class ServiceClient {
  constructor(private readonly settings: ClientSettings) {}

  async call<R extends Route>(route: R, parts: RequestParts<R> = {}): Promise<Answer<R>> {
    const response = await this.open(route, parts, AbortSignal.timeout(deadlineMs));
    return parseJson(await response.text(), tolerantJson) as Answer<R>;
  }

  /** Every item of a list, page by page. */
  async listAll<Item>(route: Route, params: object = {}): Promise<Item[]> {
    const items: Item[] = [];
    for (let cursor: string | undefined = undefined; ;) {
      const query = { limit: pageSize, cursor };
      const page = (await this.call(route, { params, query })) as Page<Item>;
      items.push(...page.data);
      if (page.next === null) return items;
      cursor = page.next;
    }
  }

  /** The response, whose body is not yet read. Throws CommandFailure for every refusal. */
  async open<R extends Route>(
    route: R,
    { body, ...parts }: RequestParts<R>,
    signal?: AbortSignal,
  ): Promise<Response> {
    const { url } = this.settings;
    const request = fetch(url + addressOf(route, parts), {
      method: route.method,
      headers: {
        ...this.keyOf(route),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      redirect: 'error',
      ...(body === undefined ? {} : { body: stringifyJson(body) }),
      ...(signal ? { signal } : {}),
    });
    const response = await request.catch((cause: unknown) => {
      const { message, cause: reason } = cause as Error & { cause?: { code?: string } };
      throw new CommandFailure(
        `The service does not answer at ${url} (${reason?.code ?? message}). ` +
          'Start it, or give its address with --url.',
        { cause },
      );
    });
    if (response.ok) return response;
    throw new CommandFailure(await describeRefusal(response));
  }

  private keyOf({ authentication }: Route): Record<string, string> {
    const isAdmin = authentication === 'admin-key';
    const key = isAdmin ? this.settings.keys.admin : this.settings.keys.api;
    const setting = isAdmin ? 'CONCILIA_ADMIN_KEY' : 'CONCILIA_API_KEY';
    if (key === null) throw new CommandFailure(`${setting} is missing.`);
    return { [isAdmin ? adminKeyHeader : apiKeyHeader]: key };
  }
}

/** Throws CommandFailure for what the service would refuse by its form. */
function addressOf(route: Route, parts: Parameters<typeof encodePathAndQuery>[1]): string {
  try {
    return encodePathAndQuery(route, parts);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const problems = error.issues.map(
      (issue) => `${issue.path.join('.')}: ${fieldMessage(fieldErrorOf(issue))}`,
    );
    throw new CommandFailure(problems.join('\n'), { cause: error });
  }
}

/** What the service says is wrong: its title, the reason code, and each wrong field. */
async function describeRefusal(response: Response): Promise<string> {
  const body = (await response.json().catch(() => ({}))) as {
    title?: string;
    code?: string;
    errors?: Record<string, string[]>;
  };
  const fields = Object.entries(body.errors ?? {}).map(
    ([path, messages]) => `\n  ${path}: ${messages.join(' ')}`,
  );
  const code = body.code ? `, ${body.code}` : '';
  return `The service refuses (${response.status}${code}): ${body.title ?? ''}${fields.join('')}`;
}
