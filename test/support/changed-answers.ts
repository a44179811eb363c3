// A bank whose answers have fields that are missing, null, renamed or strange: a proxy in front of
// another bank, which changes the answers of one route.
import type { Route } from '../../src/bank-contract/route.js';
import { listenHttp } from './http-listener.js';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** How a field of an answer is changed. */
export const changes = {
  dropped: (fields: Record<string, Json>, name: string) => void delete fields[name],
  null: (fields: Record<string, Json>, name: string) => void (fields[name] = null),
  renamed: (fields: Record<string, Json>, name: string) => {
    fields[`${name}Novo`] = fields[name] as Json;
    delete fields[name];
  },
  strange: (fields: Record<string, Json>, name: string) =>
    void (fields[name] = typeof fields[name] === 'string' ? { novo: 1 } : 'novo'),
};
export type Change = keyof typeof changes;

/** The paths of all fields, such as `payer.holder.name` or `[].id`. An array is its first item. */
export function pathsOf(answer: unknown, prefix = ''): string[] {
  if (Array.isArray(answer)) return answer.length > 0 ? pathsOf(answer[0], `${prefix}[].`) : [];
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.entries(answer).flatMap(([name, value]) => [
    `${prefix}${name}`,
    ...pathsOf(value, `${prefix}${name}${Array.isArray(value) ? '' : '.'}`),
  ]);
}

/** The answer with one field changed; in an array, of each item. */
export function changeField(answer: unknown, path: string, change: Change): void {
  if (Array.isArray(answer)) {
    for (const item of answer) changeField(item, path.replace(/^\[\]\./, ''), change);
    return;
  }
  if (typeof answer !== 'object' || answer === null) return;
  const fields = answer as Record<string, Json>;
  const name = Object.keys(fields).find((one) => path === one);
  if (name !== undefined) return changes[change](fields, name);
  const parent = Object.keys(fields).find((one) => new RegExp(`^${one}(\\.|\\[)`).test(path));
  if (parent !== undefined)
    changeField(fields[parent], path.slice(parent.length).replace(/^\./, ''), change);
}

export async function changedAnswers(bankUrl: string) {
  let changed: { route: Route; change: (answer: unknown) => void } | null = null;
  const answers = new Map<string, string>();
  const listener = await listenHttp(async ({ method, path, headers, text }, response) => {
    const { host: _, connection: __, 'content-length': ___, ...sent } = headers;
    const answer = await fetch(bankUrl + path, {
      method,
      headers: sent as Record<string, string>,
      ...(text === '' ? {} : { body: text }),
    });
    let body = await answer.text();
    if (changed && answer.ok && isOf(changed.route, method, path)) {
      answers.set(changed.route.name, body);
      const json: unknown = body === '' ? null : JSON.parse(body);
      changed.change(json);
      body = JSON.stringify(json);
    }
    const date = answer.headers.get('date');
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      ...(date ? { date } : {}),
    });
    response.end(body);
  });
  return {
    url: listener.url,
    close: listener.close,
    /** The last answer of the bank to the route while its answers were changed. */
    answerTo: ({ name }: Route): string => answers.get(name) ?? '',
    /** Runs `work` while the answers to the route are changed. */
    whileChanged: async <T>(
      route: Route,
      change: (answer: unknown) => void,
      work: () => Promise<T>,
    ): Promise<T> => {
      changed = { route, change };
      try {
        return await work();
      } finally {
        changed = null;
      }
    },
  };
}

function isOf(route: Route, method: string, path: string): boolean {
  const pattern = route.path.replace(/\{\w+\}/g, '[^/]+');
  return method === route.method && new RegExp(`^${pattern}$`).test(path.split('?')[0] ?? '');
}
