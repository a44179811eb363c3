// Stands between a process and its PostgreSQL and counts the statements that pass, so that none is
// missed and none of PostgreSQL's own is counted.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Types of a client's messages: a simple query, and the execution of a prepared one. */
const statementTypes = new Set(['Q', 'E'].map((type) => type.charCodeAt(0)));
const headerBytes = 5;

export interface StatementCounter {
  /** The database's URL, by way of the counter. */
  url: string;
  statements(): number;
  close(): void;
}

export async function countStatements(databaseUrl: string): Promise<StatementCounter> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
    client.on(
      'data',
      messageReader((type) => {
        if (statementTypes.has(type)) count += 1;
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    statements: () => count,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Calls `onMessage` with the type of each message of a client's byte stream. */
export function messageReader(onMessage: (type: number) => void): (chunk: Buffer) => void {
  // The first message, which names the user and the database, has no type: only its length.
  let isStarted = false;
  let rest: Buffer = Buffer.alloc(0);
  let toSkip = 0;
  return (chunk) => {
    let bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (;;) {
      const skipped = Math.min(toSkip, bytes.length);
      toSkip -= skipped;
      bytes = bytes.subarray(skipped);
      const needed = isStarted ? headerBytes : headerBytes - 1;
      if (toSkip > 0 || bytes.length < needed) break;
      if (isStarted) onMessage(bytes[0] ?? 0);
      toSkip = bytes.readInt32BE(needed - 4) + needed - 4;
      isStarted = true;
    }
    rest = bytes;
  };
}
