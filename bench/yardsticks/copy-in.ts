// COPY … FROM STDIN in text format, for the yardsticks that store rows.
import type pg from 'pg';

interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Copies rows to a table in one message. `columns` are in the order of the values. */
export function copyIn(
  client: pg.ClientBase,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): Promise<void> {
  const body = rows.map((row) => `${row.map(copyText).join('\t')}\n`).join('');
  return new Promise((resolve, reject) => {
    let failure: Error | null = null;
    const copy = {
      submit: (connection: CopyConnection) =>
        connection.query(`COPY ${table} (${columns.join(', ')}) FROM STDIN`),
      handleCopyInResponse: (connection: CopyConnection) => {
        connection.sendCopyFromChunk(Buffer.from(body));
        connection.endCopyFrom();
      },
      handleCommandComplete: () => undefined,
      handleError: (error: Error) => {
        failure = error;
        reject(error);
      },
      handleReadyForQuery: () => {
        if (!failure) resolve();
      },
    };
    client.query(copy as never);
  });
}

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function copyText(value: string | null): string {
  return value === null ? '\\N' : value.replace(/[\\\n\r\t]/g, (found) => escapes[found] ?? found);
}
