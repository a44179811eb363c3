// A secret box for tests of single modules: its keys are the same in every call, unless given.
import { KeyRing, SecretBox } from '../../src/platform/secret-box.js';

export const testCredentialsKey = 'x'.repeat(32);

export function secretBoxOf(
  credentialsKey = testCredentialsKey,
  otherCredentialsKeys: string[] = [],
): SecretBox {
  const keyRing = new KeyRing({ credentialsKey, otherCredentialsKeys });
  return new SecretBox(keyRing, Buffer.alloc(32, 'hashing key of tests'));
}
