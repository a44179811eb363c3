// Encrypts secrets before they are stored, and computes the keyed hashes by which keys and bodies
// are compared. A stored secret names the key that encrypted it, so that CREDENTIALS_KEY can be
// replaced while the service runs. The hashes have a random key of their own, which is itself such
// a stored secret: they stay the same when CREDENTIALS_KEY is replaced.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Settings } from './settings/config.js';

/** The table, the column and the row that a secret belongs to. It cannot be decrypted elsewhere. */
export type SecretOwner = readonly string[];

/** The length of a key's id, which is the beginning of each text that the key encrypted. */
export const keyIdLength = 8;
const encryptedText = /^([0-9a-f]{8})\.([A-Za-z0-9+/]{38,}={0,2})$/;
const nonceBytes = 12;
const tagBytes = 16;

/** A secret was encrypted with a key that the settings do not have. The key's id is no secret. */
export class UnknownKey extends Error {
  override readonly name = 'UnknownKey';
  constructor(readonly keyId: string) {
    super(
      `A stored secret is encrypted with the key ${keyId}, ` +
        'which is neither in CREDENTIALS_KEY nor in CREDENTIALS_OTHER_KEYS.',
    );
  }
}

/** The keys of the settings: the current key encrypts, and every key decrypts. */
export class KeyRing {
  /** Derived from the current key, so that nobody has to choose and to keep it. */
  readonly currentId: string;
  private readonly keys: ReadonlyMap<string, Buffer>;

  constructor({
    credentialsKey,
    otherCredentialsKeys,
  }: Pick<Settings, 'credentialsKey' | 'otherCredentialsKeys'>) {
    this.currentId = idOf(credentialsKey);
    this.keys = new Map(
      [credentialsKey, ...otherCredentialsKeys].map((key) => [
        idOf(key),
        derive(key, 'encrypt', 32),
      ]),
    );
  }

  get ids(): string[] {
    return [...this.keys.keys()];
  }

  /**
   * Encrypts with AES-256-GCM: the key's id, a point, and nonce, authentication tag and ciphertext
   * in base64. The id and the owner are authenticated.
   */
  encrypt(secret: string, owner: SecretOwner): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.keyOf(this.currentId), nonce);
    cipher.setAAD(authenticated(this.currentId, owner));
    const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    const bytes = Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
    return `${this.currentId}.${bytes.toString('base64')}`;
  }

  /** Throws UnknownKey, and an error when the text was changed or belongs to another owner. */
  decrypt(encrypted: string, owner: SecretOwner): string {
    const [, keyId, base64] = encryptedText.exec(encrypted) ?? [];
    if (keyId === undefined || base64 === undefined)
      throw new Error('A stored secret is not in the form of an encrypted text.');
    const bytes = Buffer.from(base64, 'base64');
    const decipher = createDecipheriv(
      'aes-256-gcm',
      this.keyOf(keyId),
      bytes.subarray(0, nonceBytes),
    );
    decipher.setAAD(authenticated(keyId, owner));
    const tagEnd = nonceBytes + tagBytes;
    decipher.setAuthTag(bytes.subarray(nonceBytes, tagEnd));
    return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString();
  }

  private keyOf(keyId: string): Buffer {
    const key = this.keys.get(keyId);
    if (!key) throw new UnknownKey(keyId);
    return key;
  }
}

/** Encrypts with the settings' keys, and hashes with the stored key. */
export class SecretBox {
  constructor(
    private readonly keyRing: KeyRing,
    private readonly hashingKey: Buffer,
  ) {}

  encrypt(secret: string, owner: SecretOwner): string {
    return this.keyRing.encrypt(secret, owner);
  }

  /** Throws like `KeyRing.decrypt`. */
  decrypt(encrypted: string, owner: SecretOwner): string {
    return this.keyRing.decrypt(encrypted, owner);
  }

  /** HMAC-SHA-256 in hex. Texts of different purposes have different hashes. */
  hash(purpose: string, text: string): string {
    return createHmac('sha256', this.hashingKey).update(`${purpose}\0${text}`).digest('hex');
  }
}

function idOf(credentialsKey: string): string {
  return derive(credentialsKey, 'key-id', keyIdLength / 2).toString('hex');
}

function derive(credentialsKey: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', credentialsKey, 'concilia', purpose, bytes));
}

function authenticated(keyId: string, owner: SecretOwner): Buffer {
  return Buffer.from(JSON.stringify([keyId, ...owner]));
}

/**
 * Signs and verifies by Standard Webhooks. A secret that begins with `whsec_` is a base64 key; any
 * other secret is used as its UTF-8 bytes. Throws when the secret is empty or not valid base64
 * after `whsec_`.
 */
export function standardWebhookOf(secret: string): Webhook {
  if (secret.startsWith('whsec_')) return new Webhook(secret);
  return new Webhook(Buffer.from(secret, 'utf8'), { format: 'raw' });
}

/** Compares digests, so that the duration reveals neither the secret's content nor its length. */
export function isSameSecret(presented: string, secret: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(presented), digest(secret));
}
