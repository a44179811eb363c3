import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { PageStream, writeEvent } from './page-stream.js';

const newStream = () => new PageStream('en', new Readable({ read: () => undefined }));
const read = ({ body }: PageStream) => String(body.read() ?? '');

describe('the stream of a page', () => {
  it('writes each line of a text as a field of its own, so that no text ends an event', () => {
    expect(writeEvent('today', 'a\n\ndata: b\r\nc')).toBe(
      'event: today\ndata: a\ndata: \ndata: data: b\ndata: c\n\n',
    );
  });

  it('sends a part once while it stays the same', () => {
    const stream = newStream();
    expect(read(stream)).toBe('retry: 3000\n\n');
    expect(stream.isNew).toBe(true);
    expect([stream.sendPart('<p>'), stream.sendPart('<p>'), stream.isNew]).toEqual([
      ...[true, false, false],
    ]);
    expect(read(stream)).toBe('event: today\ndata: <p>\n\n');
    expect(stream.sendPart('<b>')).toBe(true);
  });

  it('sends nothing after its end', () => {
    const stream = newStream();
    stream.end();
    stream.end();
    stream.sendPart('late');
    stream.sendHeartbeat();
    expect(read(stream)).toBe('retry: 3000\n\nevent: ended\ndata: \n\n');
    expect(stream.body.readableEnded || stream.body.read() === null).toBe(true);
  });

  it('is cut off when nobody reads it', () => {
    const stream = newStream();
    stream.sendPart('x'.repeat(2 * 1024 * 1024));
    expect(stream.body.destroyed).toBe(true);
  });
});
