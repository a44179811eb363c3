// A file that a request brings, on disk while it is worked on. So memory holds one chunk of it, and
// the caller sends it at its own pace.
import { createHash, randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pausesBetweenSlices } from '../slots.js';
import { bodyTooLarge, chunksOf } from '../http/request-body.js';

const chunkBytes = 65_536;
/** What is done with one piece is not interrupted. */
const pieceBytes = 4_096;

export interface ReceivedFile {
  bytes: number;
  sha256: string;
  /** Reads the file from its beginning. Other work goes on meanwhile, however long it is read. */
  chunks(): AsyncGenerator<Uint8Array>;
}

/** Receives a file and calls `work` with it. Throws `body_too_large`. */
export async function withReceivedFile<Result>(
  body: Readable,
  maxBytes: number,
  work: (file: ReceivedFile) => Promise<Result>,
): Promise<Result> {
  const path = join(tmpdir(), `concilia-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  try {
    // Without a name, the file ends with this process, however it ends.
    await unlink(path);
    const received = await receive(handle, body, maxBytes);
    return await work({ ...received, chunks: () => read(handle, received.bytes) });
  } finally {
    await handle.close();
  }
}

async function receive(handle: FileHandle, body: Readable, maxBytes: number) {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunksOf(body)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw bodyTooLarge(maxBytes);
    hash.update(chunk);
    await handle.appendFile(chunk);
  }
  return { bytes, sha256: hash.digest('hex') };
}

async function* read(handle: FileHandle, bytes: number): AsyncGenerator<Uint8Array> {
  const pause = pausesBetweenSlices();
  for (let position = 0; position < bytes;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(chunkBytes), { position });
    position += bytesRead;
    for (let start = 0; start < bytesRead; start += pieceBytes) {
      await pause();
      yield buffer.subarray(start, Math.min(start + pieceBytes, bytesRead));
    }
  }
}
