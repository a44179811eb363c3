// Sends HTTP requests at full speed over keep-alive connections, from a process of its own, so that
// neither the harness nor the server pays for it. Each connection sends its next request when the
// response to the one before has arrived.
//
//   const load = await startHttpLoad();            the process; reused for all rounds
//   const result = await load.run({ port, path: '/webhooks/bank/main', connections: 64,
//     headers: { 'x-secret': 'abc' }, body: '{"nsu":{number}}', forMs: 3_000 });
//   await load.stop();
//
// `{number}` in the path, in headers and in the body becomes the request's own number, of 11 digits
// and never used before by this process: an nsu, the end of an endToEndId, or the end of a UUID.
// Requests that are under way at the end of `forMs` are completed and count. The run fails if a
// connection breaks or a response does not come within 30 s.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface HttpLoad {
  port: number;
  path: string;
  method?: 'POST' | 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string>;
  /** UTF-8 text. None by default. */
  body?: string;
  connections: number;
  /** Either the time during which requests are begun, or how many there are. */
  forMs?: number;
  requests?: number;
}

export interface HttpLoadResult {
  requests: number;
  perSecond: number;
  seconds: number;
  /** How many responses had a status outside 200–299. */
  failed: number;
  /** How many responses had which status. */
  statuses: Record<string, number>;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** The numbers of this run are consecutive. */
  firstNumber: number;
  lastNumber: number;
  /** The numbers of those in `failed`. */
  failedNumbers: number[];
  /** CPU time of the process that sends the requests: it must be far from a whole core. */
  cpuSeconds: number;
}

export interface HttpLoadProcess {
  run(load: HttpLoad): Promise<HttpLoadResult>;
  stop(): Promise<void>;
}

/** What the process sends back. */
export type HttpLoadMessage = { result: HttpLoadResult } | { error: string };

export async function startHttpLoad(): Promise<HttpLoadProcess> {
  const child = fork(new URL('http-load-process.ts', import.meta.url));
  await once(child, 'spawn');
  return {
    run: (load) => runLoad(child, load),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

function runLoad(child: ChildProcess, load: HttpLoad): Promise<HttpLoadResult> {
  return new Promise((resolve, reject) => {
    const end = (message: HttpLoadMessage) => {
      child.off('message', end).off('exit', fail);
      if ('result' in message) resolve(message.result);
      else reject(new Error(`HTTP load failed: ${message.error}`));
    };
    const fail = () => end({ error: 'the process ended' });
    child.on('message', end).on('exit', fail);
    child.send(load);
  });
}
