import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Settings } from '../config.js';
import { SecretBox } from './secret-box.js';

const boxOf = (credentialsKey: string) => new SecretBox({ credentialsKey } as Settings);
const box = boxOf('a-key-of-at-least-thirty-two-characters');
const anyText = fc.string({ unit: 'binary' });

describe('an encrypted secret', () => {
  it('is decrypted to the original text, also to the empty text', () => {
    fc.assert(fc.property(anyText, (text) => expect(box.decrypt(box.encrypt(text))).toBe(text)));
    expect(box.decrypt(box.encrypt(''))).toBe('');
  });

  it('is decrypted by a process that starts later with the same key', () => {
    const later = boxOf('a-key-of-at-least-thirty-two-characters');
    expect(later.decrypt(box.encrypt('whsec_abc'))).toBe('whsec_abc');
  });

  it('does not contain its text, and differs between two encryptions of the same text', () => {
    const encrypted = box.encrypt('whsec_canary');
    expect(Buffer.from(encrypted, 'base64').toString('latin1')).not.toContain('canary');
    expect(box.encrypt('whsec_canary')).not.toBe(encrypted);
  });

  it('is not decrypted with another key', () => {
    expect(() =>
      boxOf('another-key-of-thirty-two-characters').decrypt(box.encrypt('secret')),
    ).toThrow();
  });

  it('is not decrypted when one of its bits was changed', () => {
    const encrypted = Buffer.from(box.encrypt('secret'), 'base64');
    fc.assert(
      fc.property(fc.nat({ max: encrypted.length * 8 - 1 }), (bit) => {
        const changed = Buffer.from(encrypted);
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(() => box.decrypt(changed.toString('base64'))).toThrow();
      }),
    );
  });

  it.each(['', 'x', 'whsec_abc', Buffer.alloc(28).toString('base64')])(
    'is not decrypted from the invalid text %j',
    (text) => expect(() => box.decrypt(text)).toThrow(),
  );
});

describe('a keyed hash', () => {
  it('is the same for the same text and purpose, and does not contain the text', () => {
    expect(box.hash('api-key', 'secret')).toMatch(/^[0-9a-f]{64}$/);
    expect(box.hash('api-key', 'secret')).toBe(box.hash('api-key', 'secret'));
  });

  it('depends on the purpose, the text and the key', () => {
    const hashes = [
      box.hash('api-key', 'secret'),
      box.hash('partner-key', 'secret'),
      box.hash('api-key', 'secret '),
      boxOf('another-key-of-thirty-two-characters').hash('api-key', 'secret'),
    ];
    expect(new Set(hashes).size).toBe(4);
  });
});
