// Provides all random values of the bank. A test that replaces this class by a seeded source makes
// a run repeatable.
import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

@Injectable()
export class Random {
  /** Letters and digits, uniformly distributed. */
  alphanumeric(length: number): string {
    let text = '';
    while (text.length < length) {
      for (const byte of randomBytes(length * 2)) {
        // 248 is the largest multiple of 62 in a byte; higher bytes would favour the first letters.
        if (byte < 248 && text.length < length) text += alphabet[byte % alphabet.length];
      }
    }
    return text;
  }

  uuid(): string {
    return randomUUID();
  }
}
