// Secrets are stored only as salted scrypt hashes. A short number can be guessed from any hash:
// scrypt makes each guess expensive, and the salt limits it to one customer.
import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number }, Buffer>(
  scrypt,
);
const cost = { N: 16_384, r: 8, p: 1 };
const saltBytes = 16;
const hashBytes = 32;

@Injectable()
export class Passwords {
  /** `scrypt:N:r:p:salt:hash`, the last two in base64. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(saltBytes);
    const hash = await derive(password, salt, hashBytes, cost);
    const { N, r, p } = cost;
    return ['scrypt', N, r, p, salt.toString('base64'), hash.toString('base64')].join(':');
  }
}
