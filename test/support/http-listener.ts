// An HTTP server on loopback for one test, which receives requests with their complete bodies.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  text: string;
}

export interface HttpListener {
  url: string;
  close: () => void;
}

/** `respond` must end the response, unless the test needs a caller that waits for ever. */
export async function listenHttp(
  respond: (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>,
): Promise<HttpListener> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      void respond(
        { method, path, headers, text: Buffer.concat(chunks).toString('utf8') },
        response,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
