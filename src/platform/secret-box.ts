// Encrypts secrets before they are stored, and computes the keyed hashes by which keys and bodies
// are compared. Both keys are derived from the credentials key, so a changed credentials key makes
// stored secrets unreadable.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Webhook } from 'standardwebhooks';
import { Settings } from '../config.js';
import { invariant } from './errors.js';

@Injectable()
export class SecretBox {
  private readonly encryptionKey: Buffer;
  private readonly hashingKey: Buffer;

  constructor(settings: Settings) {
    this.encryptionKey = deriveKey(settings.credentialsKey, 'encrypt');
    this.hashingKey = deriveKey(settings.credentialsKey, 'hash');
  }

  /**
   * Encrypts with AES-256-GCM. The result is nonce, authentication tag and ciphertext, in base64.
   */
  encrypt(secret: string): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.encryptionKey, nonce);
    const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64');
  }

  /** Throws when the text was changed or was encrypted with another key. */
  decrypt(encrypted: string): string {
    const bytes = Buffer.from(encrypted, 'base64');
    invariant(bytes.length >= 28, 'an encrypted secret has at least 28 bytes');
    const decipher = createDecipheriv('aes-256-gcm', this.encryptionKey, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
  }

  /** HMAC-SHA-256 in hex. Texts of different purposes have different hashes. */
  hash(purpose: string, text: string): string {
    return createHmac('sha256', this.hashingKey).update(`${purpose}\0${text}`).digest('hex');
  }
}

function deriveKey(credentialsKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', credentialsKey, 'concilia', purpose, 32));
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
