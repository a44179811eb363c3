// Seals secrets before they are stored, and derives the keyed hashes by which keys and bodies are compared.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Settings } from '../config.js';
import { invariant } from './errors.js';

@Injectable()
export class SecretBox {
  private readonly sealingKey: Buffer;
  private readonly hashingKey: Buffer;

  constructor(settings: Settings) {
    this.sealingKey = derive(settings.credentialsKey, 'seal');
    this.hashingKey = derive(settings.credentialsKey, 'hash');
  }

  /** AES-256-GCM: nonce, tag and text, in base64. */
  seal(secret: string): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.sealingKey, nonce);
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
  }

  open(sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64');
    invariant(bytes.length >= 28, 'a sealed secret is too short');
    const decipher = createDecipheriv('aes-256-gcm', this.sealingKey, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
  }

  /** A keyed hash in hex; `purpose` keeps hashes of different things apart. */
  hash(purpose: string, text: string): string {
    return createHmac('sha256', this.hashingKey).update(`${purpose}\0${text}`).digest('hex');
  }
}

function derive(credentialsKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', credentialsKey, 'concilia', purpose, 32));
}
