// How the benches count statements between a process and PostgreSQL.
import { expect, it } from '@jest/globals';
import { messageReader } from '../bench/harness/statement-counter.js';

const message = (type: string, length: number) => {
  const bytes = Buffer.alloc(type.length + 4 + length, 'Q');
  bytes.write(type);
  bytes.writeInt32BE(4 + length, type.length);
  return bytes;
};

it.each([1, 3, 7, 1_000])('reads each message once, in chunks of %i bytes', (size) => {
  const stream = Buffer.concat([
    message('', 20),
    message('p', 9),
    message('Q', 12),
    message('P', 30),
    message('E', 0),
    message('S', 0),
  ]);
  const types: string[] = [];
  const read = messageReader((type) => types.push(String.fromCharCode(type)));
  for (let at = 0; at < stream.length; at += size) read(stream.subarray(at, at + size));
  expect(types).toEqual(['p', 'Q', 'P', 'E', 'S']);
});
