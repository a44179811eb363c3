// Time-based one-time passwords (RFC 6238) as every authenticator app computes them: HMAC-SHA-1,
// six digits, steps of 30 seconds.
import { Secret, TOTP } from 'otpauth';

/** The clocks of telephones are seldom further from ours than one step. */
const toleratedSteps = 1;

const totpOf = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) });

/** A new secret in base32, as authenticator apps read it. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32;
}

export function stepAt(time: Date): bigint {
  return BigInt(TOTP.counter({ timestamp: time.getTime() }));
}

export function codeAt(secret: string, time: Date): string {
  return totpOf(secret).generate({ timestamp: time.getTime() });
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
  // The library fails for other characters.
  if (!/^\d{6}$/.test(code)) return null;
  const timestamp = now.getTime();
  const delta = totpOf(secret).validate({ token: code, timestamp, window: toleratedSteps });
  if (delta === null) return null;
  const step = stepAt(now) + BigInt(delta);
  return step > (lastStep ?? -1n) ? step : null;
}

/** The address that an authenticator app reads from a QR code. */
export function authenticatorUrl(secret: string, email: string): string {
  const label = encodeURIComponent(`Concilia:${email}`);
  return `otpauth://totp/${label}?secret=${secret}&issuer=Concilia`;
}
