// A server of a test's own on loopback that hands over each request whole.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WholeRequest {
  path: string;
  headers: IncomingMessage['headers'];
  text: string;
}

export interface HttpListener {
  url: string;
  close: () => void;
}

/** `answer` ends the response, or lets the caller hang. */
export async function listenHttp(
  answer: (request: WholeRequest, response: ServerResponse) => void,
): Promise<HttpListener> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      answer({ path, headers, text: Buffer.concat(chunks).toString('utf8') }, response);
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
