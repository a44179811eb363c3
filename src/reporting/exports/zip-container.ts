// A ZIP file whose last entry is compressed while it is written.
import type { PassThrough, Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** The local time that ZIP files begin with, so that the same rows make the same bytes. */
export const zipEntryOptions = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true };

/** An error of the last entry destroys the file, and the end of its reader ends the entry. */
export function zipContainer(
  parts: readonly { name: string; text: string }[],
  streamedName: string,
): (entry: Readable) => Readable {
  return (entry) => {
    const zip = new ZipFile();
    for (const { name, text } of parts) zip.addBuffer(Buffer.from(text), name, zipEntryOptions);
    zip.addReadStream(entry, streamedName, { ...zipEntryOptions, compressionLevel: 3 });
    zip.end();
    const file = zip.outputStream as PassThrough;
    entry.once('error', (error) => file.destroy(error));
    file.once('close', () => entry.destroy());
    return file;
  };
}
