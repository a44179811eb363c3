import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../test/support/any-text.js';
import { KeyRing, SecretBox, UnknownKey } from './secret-box.js';

const key = 'a-key-of-at-least-thirty-two-characters';
const otherKey = 'another-key-of-thirty-two-characters';
const ringOf = (credentialsKey: string, ...otherCredentialsKeys: string[]) =>
  new KeyRing({ credentialsKey, otherCredentialsKeys });
const ring = ringOf(key);
const owner = ['webhook_endpoint.secret', '1', 'a'];

describe('an encrypted secret', () => {
  it('is decrypted to the original text, also to the empty text', () => {
    fc.assert(
      fc.property(anyText, (text) =>
        expect(ring.decrypt(ring.encrypt(text, owner), owner)).toBe(text),
      ),
    );
    expect(ring.decrypt(ring.encrypt('', owner), owner)).toBe('');
  });

  it('is decrypted by a process that starts later with the same key', () => {
    expect(ringOf(key).decrypt(ring.encrypt('whsec_abc', owner), owner)).toBe('whsec_abc');
  });

  it('does not contain its text, and differs between two encryptions of the same text', () => {
    const encrypted = ring.encrypt('whsec_canary', owner);
    const [, base64 = ''] = encrypted.split('.');
    expect(Buffer.from(base64, 'base64').toString('latin1')).not.toContain('canary');
    expect(ring.encrypt('whsec_canary', owner)).not.toBe(encrypted);
  });

  it('names its key by an id that every process derives, and that is not part of the key', () => {
    expect(ring.encrypt('secret', owner)).toMatch(new RegExp(`^${ring.currentId}\\.`));
    expect(ring.currentId).toMatch(/^[0-9a-f]{8}$/);
    expect(ringOf(key).currentId).toBe(ring.currentId);
    expect(ringOf(otherKey).currentId).not.toBe(ring.currentId);
  });

  it('is decrypted with a key that is no longer, or not yet, the current one', () => {
    const [before, after] = [ringOf(key, otherKey), ringOf(otherKey, key)];
    expect(before.encrypt('x', owner)).toMatch(new RegExp(`^${ring.currentId}\\.`));
    expect(after.decrypt(before.encrypt('x', owner), owner)).toBe('x');
    expect(before.decrypt(after.encrypt('x', owner), owner)).toBe('x');
    expect(ring.decrypt(before.encrypt('x', owner), owner)).toBe('x');
  });

  it('is not decrypted without its key: the error has the id of the key and no key', () => {
    const decrypt = () => ringOf(otherKey).decrypt(ring.encrypt('secret', owner), owner);
    expect(decrypt).toThrow(UnknownKey);
    expect(decrypt).toThrow(ring.currentId);
    expect(decrypt).not.toThrow(key);
  });

  it('is not decrypted in the row of another owner, however the parts are divided', () => {
    const encrypted = ring.encrypt('secret', owner);
    for (const other of [
      ['webhook_endpoint.secret', '1', 'b'],
      ['webhook_endpoint.secret', '1a'],
      ['bank_account.credentials', '1', 'a'],
      [],
    ])
      expect(() => ring.decrypt(encrypted, other)).toThrow();
  });

  it('is not decrypted under the id of another known key', () => {
    const both = ringOf(key, otherKey);
    const moved = both.encrypt('secret', owner).replace(ring.currentId, ringOf(otherKey).currentId);
    expect(() => both.decrypt(moved, owner)).toThrow();
  });

  it('is not decrypted when one of its bits was changed', () => {
    const [id = '', base64 = ''] = ring.encrypt('secret', owner).split('.');
    const encrypted = Buffer.from(base64, 'base64');
    fc.assert(
      fc.property(fc.nat({ max: encrypted.length * 8 - 1 }), (bit) => {
        const changed = Buffer.from(encrypted);
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(() => ring.decrypt(`${id}.${changed.toString('base64')}`, owner)).toThrow();
      }),
    );
  });

  it.each(['', 'x', 'whsec_abc', Buffer.alloc(28).toString('base64'), `${ring.currentId}.AAAA`])(
    'is not decrypted from the invalid text %j',
    (text) => expect(() => ring.decrypt(text, owner)).toThrow(),
  );
});

describe('a keyed hash', () => {
  const boxOf = (ofRing: KeyRing, byte = 7) => new SecretBox(ofRing, Buffer.alloc(32, byte));
  const box = boxOf(ring);

  it('is the same for the same text and purpose, and does not contain the text', () => {
    expect(box.hash('api-key', 'secret')).toMatch(/^[0-9a-f]{64}$/);
    expect(box.hash('api-key', 'secret')).toBe(box.hash('api-key', 'secret'));
  });

  it('depends on the purpose, the text and the hashing key', () => {
    const hashes = [
      box.hash('api-key', 'secret'),
      box.hash('partner-key', 'secret'),
      box.hash('api-key', 'secret '),
      boxOf(ring, 8).hash('api-key', 'secret'),
    ];
    expect(new Set(hashes).size).toBe(4);
  });

  it('stays the same when the credentials key is replaced', () => {
    expect(boxOf(ringOf(otherKey)).hash('api-key', 'secret')).toBe(box.hash('api-key', 'secret'));
  });
});
