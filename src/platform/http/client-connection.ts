// The connection on which a client waits for its response.
import type { ServerResponse } from 'node:http';

export type ClientConnection = Pick<ServerResponse, 'destroyed' | 'once' | 'off'>;

/**
 * Resolves when `ended` has, after `maxMs`, or when the client disconnects, whichever is first. 0
 * is no time limit.
 */
export function waitWhileConnected(
  client: ClientConnection,
  maxMs: number,
  ended?: Promise<unknown>,
): Promise<void> {
  if (client.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      client.off('close', end);
      resolve();
    };
    const timer = maxMs > 0 ? setTimeout(end, maxMs) : undefined;
    client.once('close', end);
    void ended?.then(end);
  });
}
