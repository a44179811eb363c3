// A proxy in front of a sandbox bank. It records which requests reach the bank, holds one back
// before it reaches the bank, or cuts its response off.
import { listenHttp } from './http-listener.js';

interface Held {
  /** Resolves when the request has left the service. */
  hasArrived: Promise<void>;
  release(): void;
}

export async function recordingBank(bankUrl: string) {
  /** Method and path, without the query. */
  let requests: string[] = [];
  const bodies: string[] = [];
  let hold: { request: string; arrive: () => void; released: Promise<void> } | null = null;
  let cut: string | null = null;
  /** What the next such request is on its way; null: it never arrives. */
  let onItsWay: { request: string; change: object | null } | null = null;
  const listener = await listenHttp(async ({ method, path, headers, text: sent }, response) => {
    let text = sent;
    const request = `${method} ${path.split('?')[0]}`;
    requests.push(request);
    if (text !== '') bodies.push(text);
    if (hold?.request === request) {
      const { arrive, released } = hold;
      hold = null;
      arrive();
      await released;
    }
    if (onItsWay?.request === request) {
      const { change } = onItsWay;
      onItsWay = null;
      if (!change) return void response.destroy();
      text = JSON.stringify(changed(JSON.parse(text) as object, change));
    }
    const { host: _, connection: __, 'content-length': ___, ...forwarded } = headers;
    const answer = await fetch(bankUrl + path, {
      method,
      headers: forwarded as Record<string, string>,
      ...(text === '' ? {} : { body: text }),
    });
    const body = await answer.text();
    if (cut === request) return void response.destroy();
    const contentType = answer.headers.get('content-type') ?? 'application/json';
    const date = answer.headers.get('date') ?? new Date().toUTCString();
    response.writeHead(answer.status, { 'content-type': contentType, date }).end(body);
  });
  return {
    url: listener.url,
    /** The requests since the last call of this function that may change something at the bank. */
    takeChanges: (): string[] => {
      const changes = requests.filter(
        (request) => !request.startsWith('GET ') && !request.endsWith('/payment-initialization'),
      );
      requests = [];
      return changes;
    },
    /** The exact bodies of all requests. */
    bodies: bodies as readonly string[],
    holdNext: (request: string): Held => {
      let [arrive, release] = [() => undefined as void, () => undefined as void];
      const hasArrived = new Promise<void>((resolve) => (arrive = resolve));
      const released = new Promise<void>((resolve) => (release = resolve));
      hold = { request, arrive: () => arrive(), released };
      return { hasArrived, release: () => release() };
    },
    /** The bank gets these requests, and the service gets no response; null ends it. */
    cutResponsesOf: (request: string | null) => {
      cut = request;
    },
    alterNext: (request: string, change: object) => {
      onItsWay = { request, change };
    },
    loseNext: (request: string) => {
      onItsWay = { request, change: null };
    },
    close: () => listener.close(),
  };
}

/** The fields of `change` replace those of the body, also within its objects. */
function changed(body: object, change: object): object {
  const fields = body as Record<string, unknown>;
  const inner = (name: string, value: unknown) =>
    typeof value === 'object' && value !== null
      ? changed((fields[name] ?? {}) as object, value)
      : value;
  return {
    ...body,
    ...Object.fromEntries(
      Object.entries(change).map(([name, value]) => [name, inner(name, value)]),
    ),
  };
}

export type RecordingBank = Awaited<ReturnType<typeof recordingBank>>;
