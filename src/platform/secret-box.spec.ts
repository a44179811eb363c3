import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Settings } from '../config.js';
import { SecretBox } from './secret-box.js';

const boxOf = (credentialsKey: string) => new SecretBox({ credentialsKey } as Settings);
const box = boxOf('a-key-of-at-least-thirty-two-characters');
const anyText = fc.string({ unit: 'binary' });

describe('a sealed secret', () => {
  it('is opened to what it was, the empty one too', () => {
    fc.assert(fc.property(anyText, (text) => expect(box.open(box.seal(text))).toBe(text)));
    expect(box.open(box.seal(''))).toBe('');
  });

  it('is opened by a process that starts later with the same key', () => {
    const later = boxOf('a-key-of-at-least-thirty-two-characters');
    expect(later.open(box.seal('whsec_abc'))).toBe('whsec_abc');
  });

  it('does not show what it holds, nor that two hold the same', () => {
    const sealed = box.seal('whsec_canary');
    expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('canary');
    expect(box.seal('whsec_canary')).not.toBe(sealed);
  });

  it('is not opened with another key', () => {
    expect(() => boxOf('another-key-of-thirty-two-characters').open(box.seal('secret'))).toThrow();
  });

  it('is not opened when a bit of it was changed', () => {
    const sealed = Buffer.from(box.seal('secret'), 'base64');
    fc.assert(
      fc.property(fc.nat({ max: sealed.length * 8 - 1 }), (bit) => {
        const changed = Buffer.from(sealed);
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(() => box.open(changed.toString('base64'))).toThrow();
      }),
    );
  });

  it.each(['', 'x', 'whsec_abc', Buffer.alloc(28).toString('base64')])(
    'is not opened when it is none: %j',
    (text) => expect(() => box.open(text)).toThrow(),
  );
});

describe('a keyed hash', () => {
  it('is one for one text and purpose, and shows nothing of the text', () => {
    expect(box.hash('api-key', 'secret')).toMatch(/^[0-9a-f]{64}$/);
    expect(box.hash('api-key', 'secret')).toBe(box.hash('api-key', 'secret'));
  });

  it('differs with the purpose, the text and the key', () => {
    const hashes = [
      box.hash('api-key', 'secret'),
      box.hash('partner-key', 'secret'),
      box.hash('api-key', 'secret '),
      boxOf('another-key-of-thirty-two-characters').hash('api-key', 'secret'),
    ];
    expect(new Set(hashes).size).toBe(4);
  });
});
