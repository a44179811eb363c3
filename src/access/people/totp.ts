// Time-based one-time passwords (RFC 6238, with HMAC-SHA-1, six digits and steps of 30 seconds:
// what every authenticator app computes). The standard is some lines over HMAC and has published
// vectors, so no library is used.
import { createHmac, timingSafeEqual } from 'node:crypto';

const stepSeconds = 30;
const digits = 6;
/** The clocks of telephones are seldom further from ours than one step. */
const toleratedSteps = 1n;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 of RFC 4648 without padding, as authenticator apps read secrets. */
export function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  let [bits, count] = [0, 0];
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    for (count += 8; count >= 5; count -= 5) text += alphabet[(bits >>> (count - 5)) & 31];
    bits &= 31;
  }
  return count > 0 ? text + alphabet[(bits << (5 - count)) & 31] : text;
}

function decodeBase32(text: string): Buffer {
  const bytes: number[] = [];
  let [bits, count] = [0, 0];
  for (const letter of text) {
    bits = ((bits & 127) << 5) | alphabet.indexOf(letter);
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes.push((bits >>> count) & 255);
  }
  return Buffer.from(bytes);
}

export function stepAt(time: Date): bigint {
  return BigInt(Math.floor(time.getTime() / 1_000 / stepSeconds));
}

/** The code of a step: the dynamic truncation of RFC 4226. */
export function codeOfStep(secret: string, step: bigint): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(step);
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * The step of a code that is valid now and newer than the last accepted one; null for any other
 * text. A code is accepted once: whoever sees it entered cannot use it.
 */
export function findStep(
  secret: string,
  code: string,
  now: Date,
  lastStep: bigint | null,
): bigint | null {
  if (!/^\d{6}$/.test(code)) return null;
  const current = stepAt(now);
  let found: bigint | null = null;
  for (let step = current - toleratedSteps; step <= current + toleratedSteps; step += 1n) {
    const isSame = timingSafeEqual(Buffer.from(codeOfStep(secret, step)), Buffer.from(code));
    if (isSame && step > (lastStep ?? -1n)) found ??= step;
  }
  return found;
}

/** The address that an authenticator app reads from a QR code. */
export function authenticatorUrl(secret: string, email: string): string {
  const label = encodeURIComponent(`Concilia:${email}`);
  return `otpauth://totp/${label}?secret=${secret}&issuer=Concilia`;
}
